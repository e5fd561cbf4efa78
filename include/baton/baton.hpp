#ifndef BATON_BATON_HPP
#define BATON_BATON_HPP

/// Baton for C++: owners for handles, spans for buffers, exceptions for errors. What a call means, and everything about
/// order, ownership and failure, is said in baton.h; this header adds nothing to it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "baton/baton.h"

namespace baton {

/// A failed call: its code, and in what() its name and message.
class Error : public std::runtime_error {
public:
    Error(baton_result code, const std::string &message) : std::runtime_error(message), code_(code) {}
    baton_result code() const noexcept { return code_; }

private:
    baton_result code_;
};

inline void check(baton_result result) {
    if (result != BATON_SUCCESS) throw Error(result, baton_last_error());
}

/// The Baton type of a C++ element. fp16, bf16 and fp8 have no standard C++ type: specialise type_of for yours
/// (for example type_of<__half> as BATON_FLOAT16) or use the calls that take a baton_type.
template <class T>
struct type_of;
template <>
struct type_of<std::int8_t> {
    static constexpr baton_type value = BATON_INT8;
};
template <>
struct type_of<std::uint8_t> {
    static constexpr baton_type value = BATON_UINT8;
};
template <>
struct type_of<std::byte> {
    static constexpr baton_type value = BATON_UINT8;
};
template <>
struct type_of<std::int16_t> {
    static constexpr baton_type value = BATON_INT16;
};
template <>
struct type_of<std::uint16_t> {
    static constexpr baton_type value = BATON_UINT16;
};
template <>
struct type_of<std::int32_t> {
    static constexpr baton_type value = BATON_INT32;
};
template <>
struct type_of<std::uint32_t> {
    static constexpr baton_type value = BATON_UINT32;
};
template <>
struct type_of<std::int64_t> {
    static constexpr baton_type value = BATON_INT64;
};
template <>
struct type_of<std::uint64_t> {
    static constexpr baton_type value = BATON_UINT64;
};
template <>
struct type_of<float> {
    static constexpr baton_type value = BATON_FLOAT32;
};
template <>
struct type_of<double> {
    static constexpr baton_type value = BATON_FLOAT64;
};

template <class T>
inline constexpr baton_type type_of_v = type_of<std::remove_cv_t<T>>::value;

/// A host stream; converts to the baton_stream_t of calls. Destruction waits for what is queued.
class HostStream {
public:
    HostStream() { check(baton_host_stream_create(&stream_)); }
    ~HostStream() {
        if (stream_ != nullptr) baton_host_stream_destroy(stream_);
    }
    HostStream(HostStream &&other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
    HostStream &operator=(HostStream &&other) noexcept {
        std::swap(stream_, other.stream_);
        return *this;
    }

    void synchronize() const { check(baton_host_stream_synchronize(stream_)); }
    operator baton_stream_t() const noexcept { return stream_; }

private:
    baton_host_stream_t stream_ = nullptr;
};

/// Collects the calls of its scope. end() issues them; a Group that is destroyed without end(), by an exception, issues
/// what was collected as well, since the other ranks may be waiting for it, and swallows errors.
class Group {
public:
    Group() { check(baton_group_begin()); }
    ~Group() {
        if (open_) baton_group_end();
    }
    Group(const Group &) = delete;
    Group &operator=(const Group &) = delete;

    void end() {
        open_ = false;
        check(baton_group_end());
    }

private:
    bool open_ = true;
};

/// Owns a baton_comm_t. Creation and destruction are collective. Counts come from the spans' sizes, and are checked
/// against each other where two spans of a call must fit; spans may point to device memory, which is never dereferenced
/// here.
class Communicator {
public:
    explicit Communicator(MPI_Comm mpi_comm, const baton_config *config = nullptr) {
        check(baton_comm_create(mpi_comm, config, &comm_));
    }
    ~Communicator() {
        if (comm_ != nullptr) baton_comm_destroy(comm_);
    }
    Communicator(Communicator &&other) noexcept : comm_(std::exchange(other.comm_, nullptr)) {}
    Communicator &operator=(Communicator &&other) noexcept {
        std::swap(comm_, other.comm_);
        return *this;
    }

    baton_comm_t get() const noexcept { return comm_; }
    /// Destroys now, so that a failure can be seen.
    void destroy() { check(baton_comm_destroy(std::exchange(comm_, nullptr))); }
    void abort() const { check(baton_comm_abort(comm_)); }
    void check_state() const { check(baton_comm_check(comm_)); }

    int rank() const {
        int rank = 0;
        check(baton_comm_rank(comm_, &rank));
        return rank;
    }
    int size() const {
        int size = 0;
        check(baton_comm_size(comm_, &size));
        return size;
    }
    baton_info info() const {
        baton_info info{};
        info.struct_size = sizeof(info);
        check(baton_comm_info(comm_, &info));
        return info;
    }
    std::string explain(baton_operation operation, std::size_t count, baton_type type, baton_op op = BATON_SUM,
                        const void *sendbuf = nullptr, const void *recvbuf = nullptr) const {
        char text[2048];
        check(baton_explain(comm_, operation, count, type, op, sendbuf, recvbuf, text, sizeof(text)));
        return text;
    }

    /// recv.size() must be size() * send.size().
    template <class T>
    void allgather(std::span<const T> send, std::span<T> recv, baton_stream_t stream = nullptr) const {
        require(recv.size() == send.size() * static_cast<std::size_t>(size()),
                "allgather: recv.size() != size() * send.size()");
        check(baton_allgather(send.data(), recv.data(), send.size(), type_of_v<T>, comm_, stream));
    }
    /// A block of send.size() / size() elements for each rank.
    template <class T>
    void alltoall(std::span<const T> send, std::span<T> recv, baton_stream_t stream = nullptr) const {
        require(send.size() == recv.size(), "alltoall: send.size() != recv.size()");
        check(baton_alltoall(send.data(), recv.data(), block_of(send.size()), type_of_v<T>, comm_, stream));
    }
    /// In place.
    template <class T>
    void alltoall(std::span<T> buffer, baton_stream_t stream = nullptr) const {
        check(baton_alltoall(BATON_IN_PLACE, buffer.data(), block_of(buffer.size()), type_of_v<T>, comm_, stream));
    }
    /// `send` is the root's; on the others it may be anything, also empty.
    template <class T>
    void broadcast(std::span<const T> send, std::span<T> recv, int root, baton_stream_t stream = nullptr) const {
        require(rank() != root || send.size() == recv.size(), "broadcast: send.size() != recv.size() on the root");
        check(baton_broadcast(send.data(), recv.data(), recv.size(), type_of_v<T>, root, comm_, stream));
    }
    /// In place on the root.
    template <class T>
    void broadcast(std::span<T> buffer, int root, baton_stream_t stream = nullptr) const {
        check(baton_broadcast(BATON_IN_PLACE, buffer.data(), buffer.size(), type_of_v<T>, root, comm_, stream));
    }
    /// send.size() must be size() * recv.size().
    template <class T>
    void reduce_scatter(std::span<const T> send, std::span<T> recv, baton_op op,
                        baton_stream_t stream = nullptr) const {
        require(send.size() == recv.size() * static_cast<std::size_t>(size()),
                "reduce_scatter: send.size() != size() * recv.size()");
        check(baton_reduce_scatter(send.data(), recv.data(), recv.size(), type_of_v<T>, op, comm_, stream));
    }
    template <class T>
    void allreduce(std::span<const T> send, std::span<T> recv, baton_op op, baton_stream_t stream = nullptr) const {
        require(send.size() == recv.size(), "allreduce: send.size() != recv.size()");
        check(baton_allreduce(send.data(), recv.data(), send.size(), type_of_v<T>, op, comm_, stream));
    }
    /// In place.
    template <class T>
    void allreduce(std::span<T> buffer, baton_op op, baton_stream_t stream = nullptr) const {
        check(baton_allreduce(BATON_IN_PLACE, buffer.data(), buffer.size(), type_of_v<T>, op, comm_, stream));
    }
    template <class T>
    void send(std::span<const T> buffer, int peer, baton_stream_t stream = nullptr) const {
        check(baton_send(buffer.data(), buffer.size(), type_of_v<T>, peer, comm_, stream));
    }
    template <class T>
    void recv(std::span<T> buffer, int peer, baton_stream_t stream = nullptr) const {
        check(baton_recv(buffer.data(), buffer.size(), type_of_v<T>, peer, comm_, stream));
    }
    template <class T>
    void sendrecv(std::span<const T> send, int dest, std::span<T> recv, int source,
                  baton_stream_t stream = nullptr) const {
        check(baton_sendrecv(send.data(), send.size(), dest, recv.data(), recv.size(), source, type_of_v<T>, comm_,
                             stream));
    }
    void barrier(baton_stream_t stream = nullptr) const { check(baton_barrier(comm_, stream)); }

private:
    static void require(bool holds, const char *message) {
        if (!holds) throw Error(BATON_ERR_ARGUMENT, message);
    }

    std::size_t block_of(std::size_t elements) const {
        const auto ranks = static_cast<std::size_t>(size());
        require(elements % ranks == 0, "alltoall: the elements are not a multiple of size()");
        return elements / ranks;
    }

    baton_comm_t comm_ = nullptr;
};

/// Memory of the communicator's kind, registered from birth, for `count` elements. Must go before its communicator.
template <class T>
class Memory {
public:
    Memory(const Communicator &comm, std::size_t count) : comm_(comm.get()), count_(count) {
        void *pointer = nullptr;
        check(baton_malloc(comm_, count * sizeof(T), &pointer));
        data_ = static_cast<T *>(pointer);
    }
    ~Memory() {
        if (data_ != nullptr) baton_free(comm_, data_);
    }
    Memory(Memory &&other) noexcept
        : comm_(other.comm_), data_(std::exchange(other.data_, nullptr)), count_(other.count_) {}
    Memory &operator=(Memory &&other) noexcept {
        std::swap(comm_, other.comm_);
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        return *this;
    }

    T *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return count_; }
    std::span<T> span() const noexcept { return {data_, count_}; }

private:
    baton_comm_t comm_;
    T *data_ = nullptr;
    std::size_t count_;
};

/// Owns a baton_window_t. Creation and destruction are collective. Must go before its communicator.
class Window {
public:
    Window(const Communicator &comm, std::size_t bytes) : bytes_(bytes) {
        check(baton_window_create(comm.get(), bytes, &window_, &base_));
    }
    ~Window() {
        if (window_ != nullptr) baton_window_destroy(window_);
    }
    Window(Window &&other) noexcept
        : window_(std::exchange(other.window_, nullptr)), base_(other.base_), bytes_(other.bytes_) {}
    Window &operator=(Window &&other) noexcept {
        std::swap(window_, other.window_);
        std::swap(base_, other.base_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    baton_window_t get() const noexcept { return window_; }
    void *base() const noexcept { return base_; }
    std::size_t bytes() const noexcept { return bytes_; }
    void *pointer(int peer) const {
        void *pointer = nullptr;
        check(baton_window_pointer(window_, peer, &pointer));
        return pointer;
    }

    /// `offset` is in bytes of the target's window memory.
    template <class T>
    void put(std::span<const T> source, int target, std::size_t offset, baton_stream_t stream = nullptr) const {
        check(baton_put(source.data(), source.size_bytes(), target, offset, window_, stream));
    }
    template <class T>
    void get(std::span<T> destination, int target, std::size_t offset, baton_stream_t stream = nullptr) const {
        check(baton_get(destination.data(), destination.size_bytes(), target, offset, window_, stream));
    }
    void signal(int target, baton_stream_t stream = nullptr) const { check(baton_signal(target, window_, stream)); }
    void wait_signal(int source, std::uint64_t signals = 1, baton_stream_t stream = nullptr) const {
        check(baton_wait_signal(source, signals, window_, stream));
    }

private:
    baton_window_t window_ = nullptr;
    void *base_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace baton

#endif  // BATON_BATON_HPP
