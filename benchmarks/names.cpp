#include "names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <sstream>

#include "util/byte_count.hpp"

namespace baton::bench {

namespace {

struct TypeAlias {
    const char *name;
    baton_type type;
};

// The first name of a type is the one that OSU-style output prints.
constexpr std::array type_aliases{
    TypeAlias{"mpi_char", BATON_INT8},
    TypeAlias{"mpi_unsigned_char", BATON_UINT8},
    TypeAlias{"mpi_short", BATON_INT16},
    TypeAlias{"mpi_unsigned_short", BATON_UINT16},
    TypeAlias{"mpi_int", BATON_INT32},
    TypeAlias{"mpi_unsigned", BATON_UINT32},
    TypeAlias{"mpi_long", BATON_INT64},
    TypeAlias{"mpi_unsigned_long", BATON_UINT64},
    TypeAlias{"fp16", BATON_FLOAT16},
    TypeAlias{"bf16", BATON_BFLOAT16},
    TypeAlias{"mpi_float", BATON_FLOAT32},
    TypeAlias{"mpi_double", BATON_FLOAT64},
    TypeAlias{"fp8_e4m3", BATON_FLOAT8_E4M3},
    TypeAlias{"fp8_e5m2", BATON_FLOAT8_E5M2},
    TypeAlias{"mpi_signed_char", BATON_INT8},
    TypeAlias{"mpi_byte", BATON_UINT8},
    TypeAlias{"mpi_int8_t", BATON_INT8},
    TypeAlias{"mpi_uint8_t", BATON_UINT8},
    TypeAlias{"mpi_int16_t", BATON_INT16},
    TypeAlias{"mpi_uint16_t", BATON_UINT16},
    TypeAlias{"mpi_int32_t", BATON_INT32},
    TypeAlias{"mpi_uint32_t", BATON_UINT32},
    TypeAlias{"mpi_int64_t", BATON_INT64},
    TypeAlias{"mpi_uint64_t", BATON_UINT64},
    TypeAlias{"mpi_long_long", BATON_INT64},
    TypeAlias{"mpi_unsigned_long_long", BATON_UINT64},
    TypeAlias{"char", BATON_INT8},
    TypeAlias{"int", BATON_INT32},
    TypeAlias{"half", BATON_FLOAT16},
    TypeAlias{"float", BATON_FLOAT32},
    TypeAlias{"fp32", BATON_FLOAT32},
    TypeAlias{"double", BATON_FLOAT64},
    TypeAlias{"fp64", BATON_FLOAT64},
};

}  // namespace

std::optional<baton_type> parse_type(const std::string &name) {
    const std::string wanted = lower(name);
    for (const TypeAlias &alias : type_aliases) {
        if (wanted == alias.name) {
            return alias.type;
        }
    }
    for (const baton_type type : all_types()) {
        if (wanted == baton_type_name(type)) {
            return type;
        }
    }
    return std::nullopt;
}

std::string mpi_style_name(baton_type type) {
    std::string name = "unknown";
    for (const TypeAlias &alias : type_aliases) {
        if (alias.type == type) {
            name = alias.name;
            break;
        }
    }
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    return name;
}

std::vector<baton_type> all_types() {
    std::vector<baton_type> types;
    for (int type = 0; type < BATON_TYPE_COUNT; ++type) {
        types.push_back(static_cast<baton_type>(type));
    }
    return types;
}

std::vector<baton_op> all_ops() {
    std::vector<baton_op> ops;
    for (int op = 0; op < BATON_OP_COUNT; ++op) {
        ops.push_back(static_cast<baton_op>(op));
    }
    return ops;
}

bool is_floating(baton_type type) { return type >= BATON_FLOAT16 && type < BATON_TYPE_COUNT; }

std::optional<std::size_t> parse_size(const std::string &text) {
    const std::optional<std::uint64_t> bytes = core::parse_byte_count(text);
    return bytes && *bytes <= largest_size ? bytes : std::nullopt;
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

std::vector<std::string> split(const std::string &text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) {
        parts.push_back(part);
    }
    return parts;
}

}  // namespace baton::bench
