#include "verifier.hpp"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "gpu.hpp"
#include "names.hpp"
#include "reference_device.hpp"

namespace baton::bench {

namespace {

constexpr int poison_byte = 0xDB;

}  // namespace

Verifier::Verifier(const Communicator &communicator) : Verifier(communicator, communicator.memory_space()) {}

Verifier::Verifier(const Communicator &communicator, MemorySpace memory_space) : communicator_(communicator) {
    if (memory_space == MemorySpace::gpu) {
        result_ = gpu::allocate(sizeof(Check));
        try {
            compare_kernels_with_host();
        } catch (...) {
            gpu::release(result_);
            throw;
        }
    }
}

Verifier::~Verifier() {
    if (result_ != nullptr) {
        gpu::release(result_);
    }
}

void Verifier::poison(void *data, std::size_t bytes) const {
    if (result_ == nullptr) {
        std::memset(data, poison_byte, bytes);
        return;
    }
    gpu::set_bytes(data, poison_byte, bytes, communicator_.stream());
    communicator_.synchronize();
}

void Verifier::fill(const Pattern &pattern, void *data, std::size_t bytes) const {
    if (result_ == nullptr) {
        fill_host(pattern, data, bytes);
        return;
    }
    fill_device(pattern, data, bytes, communicator_.stream());
    communicator_.synchronize();
}

Check Verifier::check_copy(const Pattern &pattern, baton_type type, std::uint64_t first, const void *data,
                           std::size_t count) const {
    if (result_ == nullptr) {
        return check_copy_host(pattern, type, first, data, count);
    }
    gpu::set_bytes(result_, 0xFF, sizeof(Check), communicator_.stream());
    check_copy_device(pattern, type, first, data, count, static_cast<Check *>(result_), communicator_.stream());
    return read_result();
}

Check Verifier::check_reduction(const Reduction &reduction, baton_type type, std::uint64_t first, const void *data,
                                std::size_t count) const {
    if (result_ == nullptr) {
        return check_reduction_host(reduction, type, first, data, count);
    }
    gpu::set_bytes(result_, 0xFF, sizeof(Check), communicator_.stream());
    check_reduction_device(reduction, type, first, data, count, static_cast<Check *>(result_), communicator_.stream());
    return read_result();
}

Check Verifier::read_result() const {
    Check check;
    gpu::copy_out(&check, result_, sizeof(check), communicator_.stream());
    check.wrong += 1;  // it was set to all ones, which is -1
    return check;
}

void Verifier::compare_kernels_with_host() const {
    constexpr std::size_t count = 4099;
    void *device = gpu::allocate(count * 8);
    const std::unique_ptr<void, void (*)(void *)> owner(device, gpu::release);
    std::vector<std::byte> host(count * 8);
    for (const baton_type type : all_types()) {
        for (const baton_op op : all_ops()) {
            if (!core::op_defined(type, op)) {
                continue;
            }
            Reduction reduction = make_reduction(type, op, 5, 7);
            reduction.repeats = 3;
            reduction.replaced = 2;
            write_reduction_device(reduction, type, 11, device, count, communicator_.stream());
            gpu::copy_out(host.data(), device, count * baton_type_size(type), communicator_.stream());
            const Check check = check_reduction_host(reduction, type, 11, host.data(), count);
            if (check.wrong != 0 || check_reduction(reduction, type, 11, device, count).wrong != 0) {
                throw Error(fmt::format("the GPU's reference for {} of {} differs from the host's at element {}",
                                        baton_op_name(op), baton_type_name(type), check.first));
            }
            if (is_floating(type) && baton_type_size(type) > 1) {
                compare_any_order(reduction, type, device, host.data(), count);
            }
        }
        const Pattern pattern = make_pattern(type, 3, 7);
        const std::size_t bytes = count * baton_type_size(type);
        fill(pattern, device, bytes);
        gpu::copy_out(host.data(), device, bytes, communicator_.stream());
        if (check_copy_host(pattern, type, 0, host.data(), count).wrong != 0 ||
            check_copy(pattern, type, 0, device, count).wrong != 0) {
            throw Error(fmt::format("the GPU's pattern for {} differs from the host's", baton_type_name(type)));
        }
        constexpr std::size_t damaged = 1234;
        const std::size_t offset = damaged * baton_type_size(type);
        gpu::set_bytes(static_cast<std::byte *>(device) + offset, ~std::to_integer<int>(host[offset]) & 0xFF, 1,
                       communicator_.stream());
        const Check found = check_copy(pattern, type, 0, device, count);
        if (found.wrong != 1 || found.first != damaged) {
            throw Error(fmt::format("the GPU's check for {} misses a wrong element", baton_type_name(type)));
        }
    }
}

/// Tests the check of sums in any order: right ones pass, and those of other elements are wrong for the GPU in as many
/// places as for the host.
void Verifier::compare_any_order(Reduction reduction, baton_type type, void *device, void *host,
                                 std::size_t count) const {
    reduction.replaced = Reduction::nobody;
    reduction.any_order = true;
    write_reduction_device(reduction, type, 11, device, count, communicator_.stream());
    const std::uint64_t refused = check_reduction(reduction, type, 11, device, count).wrong;
    gpu::copy_out(host, device, count * baton_type_size(type), communicator_.stream());
    const std::uint64_t expected = check_reduction_host(reduction, type, 12, host, count).wrong;
    const std::uint64_t found = check_reduction(reduction, type, 12, device, count).wrong;
    if (refused != 0 || found == 0 || found != expected) {
        throw Error(fmt::format(
            "the GPU's check for {} of {} in any order refuses {} right elements and finds {} of {} wrong",
            baton_op_name(static_cast<baton_op>(reduction.op)), baton_type_name(type), refused, found, expected));
    }
}

}  // namespace baton::bench
