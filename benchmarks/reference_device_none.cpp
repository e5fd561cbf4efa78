#include "reference_device.hpp"
#include "world.hpp"

namespace baton::bench {

namespace {

[[noreturn]] void missing() { throw Error("this build has no CUDA to verify results with"); }

}  // namespace

void fill_device(const Pattern &, void *, std::size_t, void *) { missing(); }
void check_copy_device(const Pattern &, baton_type, std::uint64_t, const void *, std::size_t, Check *, void *) {
    missing();
}
void check_reduction_device(const Reduction &, baton_type, std::uint64_t, const void *, std::size_t, Check *, void *) {
    missing();
}
void write_reduction_device(const Reduction &, baton_type, std::uint64_t, void *, std::size_t, void *) { missing(); }

}  // namespace baton::bench
