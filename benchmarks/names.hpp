#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "baton/baton.h"

namespace baton::bench {

/// Names as people type them, in any case: Baton's ("float32"), MPI's ("mpi_float") and the usual short ones ("half").
std::optional<baton_type> parse_type(const std::string &name);

/// The name in the MPI manner that OSU-style output prints: "MPI_CHAR", and "FP16" where MPI has no such type.
std::string mpi_style_name(baton_type type);

std::vector<baton_type> all_types();
std::vector<baton_op> all_ops();
bool is_floating(baton_type type);

/// More bytes than any machine has, and few enough to calculate with.
inline constexpr std::size_t largest_size = std::size_t{1} << 48;

/// Like parse_byte_count(), up to largest_size.
std::optional<std::size_t> parse_size(const std::string &text);

std::string lower(std::string text);
std::vector<std::string> split(const std::string &text, char separator);

}  // namespace baton::bench
