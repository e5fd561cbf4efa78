#include "buffer.hpp"

#include <algorithm>
#include <exception>

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
    data_ = plain_.emplace(communicator.memory_space(), bytes_, "a buffer").data();
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
    if (std::uncaught_exceptions() > 0) {
        return;  // as in ~PlainMemory()
    }
    if (memory_ == Memory::baton) {
        baton_free(communicator_.handle(), data_);
    } else if (memory_ == Memory::registered) {
        baton_deregister(communicator_.handle(), data_);
    }
}

}  // namespace baton::bench
