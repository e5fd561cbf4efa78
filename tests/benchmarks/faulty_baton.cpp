// A library that is loaded before libbaton (LD_PRELOAD) and spoils what host communicators deliver. BATON_TEST_FAULT
// says how:
//   last   the last byte of a result on the last rank
//   stale  each call delivers the result of the call before it
//   lazy   only one of 20 calls does something
// Messages are never lazy: their other half would wait.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/baton.h"

namespace {

std::string_view fault() {
    const char *const name = std::getenv("BATON_TEST_FAULT");
    return name != nullptr ? name : "";
}

int number_of(const char *variable) { return std::atoi(std::getenv(variable)); }
int rank() { return number_of("OMPI_COMM_WORLD_RANK"); }
int size() { return number_of("OMPI_COMM_WORLD_SIZE"); }

template <class Call>
Call *real(const char *name) {
    return reinterpret_cast<Call *>(dlsym(RTLD_NEXT, name));
}

bool does_nothing() {
    constexpr int calls_for_one = 20;
    static int calls = 0;
    return fault() == "lazy" && calls++ % calls_for_one != 0;
}

struct Result {
    void *data;
    std::size_t bytes;
};
bool group_is_open = false;
std::vector<Result> results_of_group;

void spoil_now(const Result &result) {
    auto *const data = static_cast<unsigned char *>(result.data);
    if (result.bytes == 0) return;
    if (fault() == "last" && rank() == size() - 1) data[result.bytes - 1] ^= 1;
    if (fault() != "stale") return;
    static std::map<void *, std::vector<unsigned char>> delivered;
    std::vector<unsigned char> &before = delivered[result.data];
    std::vector<unsigned char> now(data, data + result.bytes);
    before.resize(result.bytes);
    std::memcpy(data, before.data(), result.bytes);
    before = std::move(now);
}

/// Spoils what a call has delivered: at once, or in a group at the group's end.
baton_result spoil(baton_result outcome, void *data, std::size_t count, baton_type type, int blocks = 1) {
    const std::size_t bytes =
        count * real<decltype(baton_type_size)>("baton_type_size")(type) * static_cast<std::size_t>(blocks);
    if (group_is_open)
        results_of_group.push_back({data, bytes});
    else
        spoil_now({data, bytes});
    return outcome;
}

}  // namespace

extern "C" {

baton_result baton_group_begin() {
    group_is_open = true;
    return real<decltype(baton_group_begin)>("baton_group_begin")();
}

baton_result baton_group_end() {
    group_is_open = false;
    const baton_result outcome = real<decltype(baton_group_end)>("baton_group_end")();
    for (const Result &result : std::exchange(results_of_group, {})) spoil_now(result);
    return outcome;
}

baton_result baton_allgather(const void *sendbuf, void *recvbuf, size_t count, baton_type type, baton_comm_t comm,
                             baton_stream_t stream) {
    if (does_nothing()) return BATON_SUCCESS;
    return spoil(real<decltype(baton_allgather)>("baton_allgather")(sendbuf, recvbuf, count, type, comm, stream),
                 recvbuf, count, type, size());
}

baton_result baton_alltoall(const void *sendbuf, void *recvbuf, size_t count, baton_type type, baton_comm_t comm,
                            baton_stream_t stream) {
    if (does_nothing()) return BATON_SUCCESS;
    return spoil(real<decltype(baton_alltoall)>("baton_alltoall")(sendbuf, recvbuf, count, type, comm, stream), recvbuf,
                 count, type, size());
}

baton_result baton_broadcast(const void *sendbuf, void *recvbuf, size_t count, baton_type type, int root,
                             baton_comm_t comm, baton_stream_t stream) {
    if (does_nothing()) return BATON_SUCCESS;
    return spoil(real<decltype(baton_broadcast)>("baton_broadcast")(sendbuf, recvbuf, count, type, root, comm, stream),
                 recvbuf, count, type);
}

baton_result baton_reduce_scatter(const void *sendbuf, void *recvbuf, size_t count, baton_type type, baton_op op,
                                  baton_comm_t comm, baton_stream_t stream) {
    if (does_nothing()) return BATON_SUCCESS;
    return spoil(
        real<decltype(baton_reduce_scatter)>("baton_reduce_scatter")(sendbuf, recvbuf, count, type, op, comm, stream),
        recvbuf, count, type);
}

baton_result baton_allreduce(const void *sendbuf, void *recvbuf, size_t count, baton_type type, baton_op op,
                             baton_comm_t comm, baton_stream_t stream) {
    if (does_nothing()) return BATON_SUCCESS;
    return spoil(real<decltype(baton_allreduce)>("baton_allreduce")(sendbuf, recvbuf, count, type, op, comm, stream),
                 recvbuf, count, type);
}

baton_result baton_barrier(baton_comm_t comm, baton_stream_t stream) {
    return does_nothing() ? BATON_SUCCESS : real<decltype(baton_barrier)>("baton_barrier")(comm, stream);
}

baton_result baton_recv(void *buffer, size_t count, baton_type type, int peer, baton_comm_t comm,
                        baton_stream_t stream) {
    return spoil(real<decltype(baton_recv)>("baton_recv")(buffer, count, type, peer, comm, stream), buffer, count,
                 type);
}

baton_result baton_sendrecv(const void *sendbuf, size_t sendcount, int dest, void *recvbuf, size_t recvcount,
                            int source, baton_type type, baton_comm_t comm, baton_stream_t stream) {
    return spoil(real<decltype(baton_sendrecv)>("baton_sendrecv")(sendbuf, sendcount, dest, recvbuf, recvcount, source,
                                                                  type, comm, stream),
                 recvbuf, recvcount, type);
}

/// The result lies in another rank's memory, so the origin's data is spoilt instead.
baton_result baton_put(const void *source, size_t bytes, int target, size_t offset, baton_window_t window,
                       baton_stream_t stream) {
    const auto put = real<decltype(baton_put)>("baton_put");
    std::vector<unsigned char> data(bytes);
    std::memcpy(data.data(), source, bytes);
    static std::map<const void *, std::vector<unsigned char>> sent;
    if (fault() == "stale") {
        sent[source].resize(bytes);
        data.swap(sent[source]);
    }
    if (fault() == "last" && bytes > 0) data.back() ^= 1;
    return put(data.data(), bytes, target, offset, window, stream);
}

baton_result baton_get(void *destination, size_t bytes, int target, size_t offset, baton_window_t window,
                       baton_stream_t stream) {
    const baton_result outcome =
        real<decltype(baton_get)>("baton_get")(destination, bytes, target, offset, window, stream);
    if (fault() == "last" && bytes > 0) static_cast<unsigned char *>(destination)[bytes - 1] ^= 1;
    return fault() == "stale" ? spoil(outcome, destination, bytes, BATON_INT8) : outcome;
}

}  // extern "C"
