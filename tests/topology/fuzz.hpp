#pragma once

#include <string_view>

namespace baton::topology {

/// Reads hostile text with one reader, and uses what it accepts as a program would. Refusals are fine. Anything else
/// that goes wrong ends the process, or is found by a sanitizer. Used by the fuzz targets and by the test with mutated
/// seeds.
void fuzz_hwloc_xml(std::string_view text);
void fuzz_nccl_xml(std::string_view text);
void fuzz_snapshot_json(std::string_view text);
void fuzz_override(std::string_view text);

}  // namespace baton::topology
