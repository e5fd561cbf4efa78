#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tests/topology/edited.hpp"
#include "tests/topology/fuzz.hpp"

// libFuzzer's entry for the reader that BATON_FUZZED names.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    baton::topology::BATON_FUZZED({reinterpret_cast<const char *>(data), size});
    return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t *data, std::size_t size, std::size_t limit);

// Half of the changes are libFuzzer's, of bytes; the others leave XML and JSON whole.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t *data, std::size_t size, std::size_t limit, unsigned seed) {
    std::mt19937 random(seed);
    if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, limit);
    const std::string text = baton::topology::edited({reinterpret_cast<const char *>(data), size}, random);
    return static_cast<std::size_t>(std::copy_n(text.begin(), std::min(text.size(), limit), data) - data);
}
