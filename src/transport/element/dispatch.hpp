#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "transport/element/reduce.hpp"

namespace baton::core {

/// Returns body.template operator()<T>() for the C++ type behind `type`. Host only. REQUIRES: the type has been
/// checked. Does without util/failure.hpp, because every kernel file includes this one and nvcc is slow on fmt.
template <class Body>
decltype(auto) dispatch_type(baton_type type, Body &&body) {
    switch (type) {
        case BATON_INT8:
            return body.template operator()<std::int8_t>();
        case BATON_UINT8:
            return body.template operator()<std::uint8_t>();
        case BATON_INT16:
            return body.template operator()<std::int16_t>();
        case BATON_UINT16:
            return body.template operator()<std::uint16_t>();
        case BATON_INT32:
            return body.template operator()<std::int32_t>();
        case BATON_UINT32:
            return body.template operator()<std::uint32_t>();
        case BATON_INT64:
            return body.template operator()<std::int64_t>();
        case BATON_UINT64:
            return body.template operator()<std::uint64_t>();
        case BATON_FLOAT16:
            return body.template operator()<Float16>();
        case BATON_BFLOAT16:
            return body.template operator()<BFloat16>();
        case BATON_FLOAT32:
            return body.template operator()<float>();
        case BATON_FLOAT64:
            return body.template operator()<double>();
        case BATON_FLOAT8_E4M3:
            return body.template operator()<Float8E4M3>();
        case BATON_FLOAT8_E5M2:
            return body.template operator()<Float8E5M2>();
        default:
            break;
    }
    throw std::logic_error("baton_type " + std::to_string(static_cast<int>(type)) +
                           " has come past the argument checks");
}

}  // namespace baton::core
