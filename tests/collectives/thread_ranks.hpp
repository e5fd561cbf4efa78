#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <vector>

#include "api/calls.hpp"
#include "comm/communicator.hpp"

namespace baton::test {

/// Settings of a communicator whose ranks are threads.
struct ThreadConfig {
    int size = 2;
    bool single_copy = true;
    bool push = false;   // by the algorithms that kernels run on GPUs, where the host would rather read
    bool pull = false;   // by reading, whatever the library would choose
    bool lines = false;  // messages by lines, as far as their buffers hold them
    double timeout_seconds = 30;
    std::size_t segment_bytes = 4096;  // small, so that staged algorithms take many steps at test sizes
};

/// How data goes between ranks on the host, for parameters of tests.
enum class HostWay {
    pull,
    push,
    line,
    staged
};
ThreadConfig thread_config(int size, HostWay way);
const char *name_of(HostWay way);
inline void PrintTo(HostWay way, std::ostream *out) { *out << name_of(way); }

/// Runs `body` once per rank, each on its own thread with its end of a communicator, and shuts the communicator down.
/// What a rank throws is thrown here, after all threads have ended.
void with_ranks(const ThreadConfig &config, const std::function<void(core::Communicator &)> &body);

/// The seed of this run, printed once.
std::uint64_t test_seed();

/// Checked calls as the C API makes them, on an object instead of a handle.
void allgather(core::Communicator &comm, const void *send, void *recv, std::size_t count, baton_type type);
void alltoall(core::Communicator &comm, const void *send, void *recv, std::size_t count, baton_type type);
void broadcast(core::Communicator &comm, const void *send, void *recv, std::size_t count, baton_type type, int root);
void reduce_scatter(core::Communicator &comm, const void *send, void *recv, std::size_t count, baton_type type,
                    baton_op op);
void allreduce(core::Communicator &comm, const void *send, void *recv, std::size_t count, baton_type type, baton_op op);
void barrier(core::Communicator &comm);
core::Request send_request(core::Communicator &comm, const void *buffer, std::size_t bytes, int peer);
core::Request recv_request(core::Communicator &comm, void *buffer, std::size_t bytes, int peer);
void run(core::Communicator &comm, const std::vector<core::Request> &messages);

}  // namespace baton::test
