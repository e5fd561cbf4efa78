#include "buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "gpu.hpp"
#include "host_memory.hpp"

namespace baton::bench {

const char *memory_name(Memory memory) {
    switch (memory) {
        case Memory::baton:
            return "baton";
        case Memory::registered:
            return "registered";
        default:
            return "malloc";
    }
}

Buffer::Buffer(const Communicator &communicator, std::size_t bytes, Memory memory)
    : communicator_(communicator), bytes_(std::max<std::size_t>(bytes, 1)), memory_(memory) {
    if (memory == Memory::baton) {
        check(baton_malloc(communicator.handle(), bytes_, &data_));
        return;
    }
    data_ = communicator.on_gpu() ? gpu::allocate(bytes_) : allocate_pages(bytes_);
    if (data_ == nullptr) {
        throw Error(fmt::format("no memory for a buffer of {} bytes", bytes_));
    }
    if (memory == Memory::registered) {
        const baton_result result = baton_register(communicator.handle(), data_, bytes_);
        if (result == BATON_ERR_UNSUPPORTED) {
            refusal_ = baton_last_error();
            memory_ = Memory::malloc;
        } else {
            check(result);
        }
    }
}

Buffer::~Buffer() {
    // With an exception under way the process is about to end; freeing would wait for kernels that wait for other
    // ranks.
    if (std::uncaught_exceptions() > 0) {
        return;
    }
    if (memory_ == Memory::baton) {
        baton_free(communicator_.handle(), data_);
        return;
    }
    if (memory_ == Memory::registered) {
        baton_deregister(communicator_.handle(), data_);
    }
    if (communicator_.on_gpu()) {
        gpu::release(data_);
    } else {
        std::free(data_);
    }
}

}  // namespace baton::bench
