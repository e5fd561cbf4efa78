#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "baton/baton.hpp"
#include "support/fixture.hpp"

namespace baton::test {

/// Host or device memory, whichever the communicator is on. Values go in and out by copies that do not involve MPI.
template <class T>
class Values {
public:
    Values(const ::baton::Communicator &comm, std::vector<T> values)
        : buffer_(comm.get(), values.size() * sizeof(T)), count_(values.size()) {
        Bytes bytes(values.size() * sizeof(T));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        buffer_.upload(bytes);
    }
    std::span<T> span() { return {static_cast<T *>(buffer_.data()), count_}; }
    std::span<const T> view() { return {static_cast<const T *>(buffer_.data()), count_}; }
    std::vector<T> values() const {
        const Bytes bytes = buffer_.download();
        std::vector<T> values(count_);
        std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }

private:
    Buffer buffer_;
    std::size_t count_;
};

inline ::baton::Communicator on_the_host() {
    baton_config config = default_config();
    config.transport = BATON_TRANSPORT_HOST;
    return ::baton::Communicator(MPI_COMM_WORLD, &config);
}

}  // namespace baton::test
