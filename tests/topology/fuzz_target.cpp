#include <cstddef>
#include <cstdint>

#include "tests/topology/fuzz.hpp"

// libFuzzer's entry for the reader that BATON_FUZZED names.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    baton::topology::BATON_FUZZED({reinterpret_cast<const char *>(data), size});
    return 0;
}
