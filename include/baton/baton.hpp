#ifndef BATON_BATON_HPP
#define BATON_BATON_HPP

/// Baton for C++: owners for handles, ranges for buffers, exceptions for errors. baton.h says what a call means, and
/// everything about order, ownership and failure; this header adds nothing to it.

#if __cplusplus <= 201703L
#error "baton.hpp needs C++20 (-std=c++20); baton.h does with any C or C++"
#else

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "baton/baton.h"

namespace baton {

/// Thrown for a failed call: code() is its result, what() its baton_last_error(). If one leaves the scope of a
/// Communicator, a Window or an open Group, that aborts the communicator (see these classes). Where ranks are to go on,
/// catch it inside the scope.
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

/// Integers and characters that Baton has a type for.
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool> && sizeof(T) <= 8;

/// The Baton type of a C++ element type. Integers map by size and sign. fp16, bf16 and fp8 have no standard C++ type:
/// specialise type_of for yours (for example type_of<__half> as BATON_FLOAT16) or use the C calls, which take a
/// baton_type.
template <class T>
struct type_of;
template <Integer T>
struct type_of<T> {
    static constexpr baton_type value = sizeof(T) == 1   ? (std::is_signed_v<T> ? BATON_INT8 : BATON_UINT8)
                                        : sizeof(T) == 2 ? (std::is_signed_v<T> ? BATON_INT16 : BATON_UINT16)
                                        : sizeof(T) == 4 ? (std::is_signed_v<T> ? BATON_INT32 : BATON_UINT32)
                                                         : (std::is_signed_v<T> ? BATON_INT64 : BATON_UINT64);
};
template <>
struct type_of<std::byte> {
    static constexpr baton_type value = BATON_UINT8;
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

/// What a call takes as a buffer: anything contiguous that knows its size (std::span, std::vector, std::array, an
/// array, Memory). Nothing is copied. A temporary must not own its elements, since the operation may still be running
/// when the call returns.
template <class B>
concept Contiguous = std::ranges::contiguous_range<B> && std::ranges::sized_range<B> &&
    std::ranges::borrowed_range<B> && !std::is_volatile_v<std::remove_reference_t<std::ranges::range_reference_t<B>>>;
template <Contiguous B>
using Element = std::remove_reference_t<std::ranges::range_reference_t<B>>;

/// Elements that Baton has a type for, const or not.
template <class B>
concept SendBuffer = Contiguous<B> && requires {
    type_of<std::remove_cv_t<Element<B>>>::value;
};
template <class B>
concept Writable = Contiguous<B> && !std::is_const_v<Element<B>>;
template <class B>
concept RecvBuffer = SendBuffer<B> && Writable<B>;
/// A receive buffer for elements of the send buffer `S`.
template <class R, class S>
concept RecvBufferFor = RecvBuffer<R> && SendBuffer<S> && std::same_as<Element<R>, std::remove_cv_t<Element<S>>>;

/// Windows take any elements that are trivially copyable.
template <class B>
concept PutBuffer = Contiguous<B> && std::is_trivially_copyable_v<Element<B>>;
template <class B>
concept GetBuffer = PutBuffer<B> && Writable<B>;
/// So does Memory, whose alignment is that of baton_malloc().
template <class T>
concept MemoryElement = std::is_trivially_copyable_v<T> && alignof(T) <= 256;

/// Owns a host stream; converts to the baton_stream_t of calls.
/// - The destructor waits for what is queued, also when an exception runs it, since the buffers may be destroyed next.
///   It drops the errors of queued calls, so synchronize() first.
/// - Declare a stream before its communicators. They are then destroyed first, and what is queued does not wait for
///   ranks that wait for this one.
class HostStream {
public:
    HostStream() { check(baton_host_stream_create(&stream_)); }
    ~HostStream() {
        if (stream_ != nullptr) baton_host_stream_destroy(stream_);
    }
    HostStream(HostStream &&other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
    HostStream &operator=(HostStream other) noexcept {
        std::swap(stream_, other.stream_);
        return *this;
    }

    void synchronize() const { check(baton_host_stream_synchronize(stream_)); }
    /// Throws if it was moved from: NULL would be another stream.
    operator baton_stream_t() const {
        if (stream_ == nullptr) throw Error(BATON_ERR_ARGUMENT, "HostStream: it was moved from");
        return stream_;
    }

private:
    baton_host_stream_t stream_ = nullptr;
};

/// Collects the calls of its scope; end() issues them. Without end(), the destructor does one of two things:
/// - If an exception runs it, it drops the calls, since their buffers may be gone, and aborts their communicators,
///   since other ranks may be waiting for them. This is baton_group_drop(), so an outer Group is over as well.
/// - Otherwise, after a return for instance, it issues the calls and swallows errors. Declare buffers before their
///   Group, so that they are still there.
class Group {
public:
    Group() { check(baton_group_begin()); }
    ~Group() {
        if (open_) std::uncaught_exceptions() > exceptions_ ? baton_group_drop() : baton_group_end();
    }
    Group(const Group &) = delete;
    Group &operator=(const Group &) = delete;

    void end() {
        if (!std::exchange(open_, false)) throw Error(BATON_ERR_ARGUMENT, "Group::end: it has ended");
        check(baton_group_end());
    }

private:
    bool open_ = true;
    int exceptions_ = std::uncaught_exceptions(); /* in flight when this was made */
};

/// Owns a baton_comm_t. Creation and destruction are collective. If an exception runs the destructor, it aborts first:
/// the other ranks are in calls that this one will not make, and get BATON_ERR_ABORTED. Counts come from the sizes of
/// the buffers; where two buffers of a call must fit, their sizes are checked. Buffers may be spans of device memory,
/// which is never dereferenced here.
class Communicator {
public:
    explicit Communicator(MPI_Comm mpi_comm, const baton_config *config = nullptr) {
        check(baton_comm_create(mpi_comm, config, &comm_));
        check(baton_comm_rank(comm_, &rank_));
        check(baton_comm_size(comm_, &size_));
    }
    ~Communicator() {
        if (comm_ == nullptr) return;
        if (std::uncaught_exceptions() > exceptions_) baton_comm_abort(comm_);
        baton_comm_destroy(comm_);
    }
    Communicator(Communicator &&other) noexcept
        : comm_(std::exchange(other.comm_, nullptr)), rank_(other.rank_), size_(other.size_) {}
    Communicator &operator=(Communicator other) noexcept {
        std::swap(comm_, other.comm_);
        std::swap(rank_, other.rank_);
        std::swap(size_, other.size_);
        return *this;
    }

    baton_comm_t get() const noexcept { return comm_; }
    /// Destroys now, so that a failure can be seen.
    void destroy() { check(baton_comm_destroy(std::exchange(comm_, nullptr))); }
    void abort() const { check(baton_comm_abort(comm_)); }
    void check_state() const { check(baton_comm_check(comm_)); }

    int rank() const { return known(rank_); }
    int size() const { return known(size_); }
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
    template <SendBuffer S, RecvBufferFor<S> R>
    void allgather(S &&send, R &&recv, baton_stream_t stream = nullptr) const {
        const std::span from(send);
        const std::span to(recv);
        require_equal("allgather: recv.size()", to.size(), "size() * send.size()", ranks() * from.size());
        check(baton_allgather(from.data(), to.data(), from.size(), type_of_v<Element<S>>, comm_, stream));
    }
    /// In place: the buffer holds size() blocks, and each rank gives the block of its number.
    template <RecvBuffer B>
    void allgather(B &&buffer, baton_stream_t stream = nullptr) const {
        const std::span both(buffer);
        const std::size_t count = block_of("allgather", both.size());
        check(baton_allgather(BATON_IN_PLACE, both.data(), count, type_of_v<Element<B>>, comm_, stream));
    }
    /// A block of send.size() / size() elements for each rank.
    template <SendBuffer S, RecvBufferFor<S> R>
    void alltoall(S &&send, R &&recv, baton_stream_t stream = nullptr) const {
        const std::span from(send);
        const std::span to(recv);
        require_equal("alltoall: recv.size()", to.size(), "send.size()", from.size());
        const std::size_t count = block_of("alltoall", from.size());
        check(baton_alltoall(from.data(), to.data(), count, type_of_v<Element<S>>, comm_, stream));
    }
    /// In place.
    template <RecvBuffer B>
    void alltoall(B &&buffer, baton_stream_t stream = nullptr) const {
        const std::span both(buffer);
        const std::size_t count = block_of("alltoall", both.size());
        check(baton_alltoall(BATON_IN_PLACE, both.data(), count, type_of_v<Element<B>>, comm_, stream));
    }
    /// `send` is used on the root only; elsewhere it may be anything, even empty.
    template <SendBuffer S, RecvBufferFor<S> R>
    void broadcast(S &&send, R &&recv, int root, baton_stream_t stream = nullptr) const {
        const std::span from(send);
        const std::span to(recv);
        if (rank() == root) {
            require_equal("broadcast: recv.size() on the root", to.size(), "send.size()", from.size());
        }
        check(baton_broadcast(from.data(), to.data(), to.size(), type_of_v<Element<S>>, root, comm_, stream));
    }
    /// In place on the root.
    template <RecvBuffer B>
    void broadcast(B &&buffer, int root, baton_stream_t stream = nullptr) const {
        const std::span both(buffer);
        check(baton_broadcast(BATON_IN_PLACE, both.data(), both.size(), type_of_v<Element<B>>, root, comm_, stream));
    }
    /// send.size() must be size() * recv.size().
    template <SendBuffer S, RecvBufferFor<S> R>
    void reduce_scatter(S &&send, R &&recv, baton_op op, baton_stream_t stream = nullptr) const {
        const std::span from(send);
        const std::span to(recv);
        require_equal("reduce_scatter: send.size()", from.size(), "size() * recv.size()", ranks() * to.size());
        check(baton_reduce_scatter(from.data(), to.data(), to.size(), type_of_v<Element<S>>, op, comm_, stream));
    }
    /// In place: the buffer holds size() blocks, and the result replaces the first.
    template <RecvBuffer B>
    void reduce_scatter(B &&buffer, baton_op op, baton_stream_t stream = nullptr) const {
        const std::span both(buffer);
        const std::size_t count = block_of("reduce_scatter", both.size());
        check(baton_reduce_scatter(BATON_IN_PLACE, both.data(), count, type_of_v<Element<B>>, op, comm_, stream));
    }
    template <SendBuffer S, RecvBufferFor<S> R>
    void allreduce(S &&send, R &&recv, baton_op op, baton_stream_t stream = nullptr) const {
        const std::span from(send);
        const std::span to(recv);
        require_equal("allreduce: recv.size()", to.size(), "send.size()", from.size());
        check(baton_allreduce(from.data(), to.data(), from.size(), type_of_v<Element<S>>, op, comm_, stream));
    }
    /// In place.
    template <RecvBuffer B>
    void allreduce(B &&buffer, baton_op op, baton_stream_t stream = nullptr) const {
        const std::span both(buffer);
        check(baton_allreduce(BATON_IN_PLACE, both.data(), both.size(), type_of_v<Element<B>>, op, comm_, stream));
    }
    template <SendBuffer S>
    void send(S &&buffer, int peer, baton_stream_t stream = nullptr) const {
        const std::span from(buffer);
        check(baton_send(from.data(), from.size(), type_of_v<Element<S>>, peer, comm_, stream));
    }
    template <RecvBuffer R>
    void recv(R &&buffer, int peer, baton_stream_t stream = nullptr) const {
        const std::span to(buffer);
        check(baton_recv(to.data(), to.size(), type_of_v<Element<R>>, peer, comm_, stream));
    }
    template <SendBuffer S, RecvBufferFor<S> R>
    void sendrecv(S &&send, int dest, R &&recv, int source, baton_stream_t stream = nullptr) const {
        const std::span from(send);
        const std::span to(recv);
        check(baton_sendrecv(from.data(), from.size(), dest, to.data(), to.size(), source, type_of_v<Element<S>>, comm_,
                             stream));
    }
    void barrier(baton_stream_t stream = nullptr) const { check(baton_barrier(comm_, stream)); }

private:
    static void require_equal(const char *what, std::size_t found, const char *as, std::size_t wanted) {
        if (found != wanted) {
            throw Error(BATON_ERR_ARGUMENT, std::string(what) + " is " + std::to_string(found) + ", but " + as +
                                                " is " + std::to_string(wanted));
        }
    }

    int known(int rank_or_size) const {
        if (comm_ == nullptr) throw Error(BATON_ERR_ARGUMENT, "Communicator: it was destroyed or moved from");
        return rank_or_size;
    }
    std::size_t ranks() const { return static_cast<std::size_t>(size()); }

    std::size_t block_of(const char *call, std::size_t elements) const {
        const std::size_t blocks = ranks();
        if (elements % blocks != 0) {
            throw Error(BATON_ERR_ARGUMENT, std::string(call) + ": " + std::to_string(elements) +
                                                " elements are not a multiple of size(), which is " +
                                                std::to_string(blocks));
        }
        return elements / blocks;
    }

    baton_comm_t comm_ = nullptr;
    int rank_ = 0; /* valid, like size_, while there is a comm_; neither changes */
    int size_ = 0;
    int exceptions_ = std::uncaught_exceptions(); /* in flight when this was made */
};

/// Memory of the communicator's kind for `count` elements, registered from birth and zeroed; nothing is constructed.
/// Must be destroyed before its communicator. If an exception runs the destructor, the memory is left to the
/// communicator, which frees it at its end: calls on it may be in flight, and may never end without this rank's next
/// calls.
template <MemoryElement T>
class Memory {
public:
    Memory(const Communicator &comm, std::size_t count) : comm_(comm.get()), count_(count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
            throw Error(BATON_ERR_ARGUMENT, "Memory: " + std::to_string(count) + " elements of " +
                                                std::to_string(sizeof(T)) + " bytes are more than a size_t can say");
        }
        void *pointer = nullptr;
        check(baton_malloc(comm_, count * sizeof(T), &pointer));
        data_ = static_cast<T *>(pointer);
    }
    ~Memory() {
        if (data_ != nullptr && std::uncaught_exceptions() <= exceptions_) baton_free(comm_, data_);
    }
    Memory(Memory &&other) noexcept
        : comm_(other.comm_), data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
    Memory &operator=(Memory other) noexcept {
        std::swap(comm_, other.comm_);
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        return *this;
    }

    T *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return count_; }
    T *begin() const noexcept { return data_; }
    T *end() const noexcept { return data_ + count_; }
    std::span<T> span() const noexcept { return {data_, count_}; }

private:
    baton_comm_t comm_;
    T *data_ = nullptr;
    std::size_t count_;
    int exceptions_ = std::uncaught_exceptions(); /* in flight when this was made */
};

/// Keeps the allocation that holds a buffer registered. Must be destroyed before that allocation and its communicator.
class Registration {
public:
    template <Writable B>
    Registration(const Communicator &comm, B &&buffer) : comm_(comm.get()) {
        const std::span held(buffer);
        check(baton_register(comm_, held.data(), held.size_bytes()));
        pointer_ = held.data();
    }
    ~Registration() {
        if (pointer_ != nullptr) baton_deregister(comm_, pointer_);
    }
    Registration(Registration &&other) noexcept
        : comm_(other.comm_), pointer_(std::exchange(other.pointer_, nullptr)) {}
    Registration &operator=(Registration other) noexcept {
        std::swap(comm_, other.comm_);
        std::swap(pointer_, other.pointer_);
        return *this;
    }

private:
    baton_comm_t comm_;
    void *pointer_ = nullptr;
};

/// Owns a baton_window_t. Creation and destruction are collective. If an exception runs the destructor, it aborts the
/// communicator first, as in Communicator. Must be destroyed before its communicator.
class Window {
public:
    Window(const Communicator &comm, std::size_t bytes) : comm_(comm.get()), bytes_(bytes) {
        check(baton_window_create(comm_, bytes, &window_, &base_));
    }
    ~Window() {
        if (window_ == nullptr) return;
        if (std::uncaught_exceptions() > exceptions_) baton_comm_abort(comm_);
        baton_window_destroy(window_);
    }
    Window(Window &&other) noexcept
        : comm_(other.comm_),
          window_(std::exchange(other.window_, nullptr)),
          base_(std::exchange(other.base_, nullptr)),
          bytes_(std::exchange(other.bytes_, 0)) {}
    Window &operator=(Window other) noexcept {
        std::swap(comm_, other.comm_);
        std::swap(window_, other.window_);
        std::swap(base_, other.base_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    baton_window_t get() const noexcept { return window_; }
    /// Destroys now, so that a failure can be seen.
    void destroy() {
        base_ = nullptr;
        bytes_ = 0;
        check(baton_window_destroy(std::exchange(window_, nullptr)));
    }
    void *base() const noexcept { return base_; }
    std::size_t bytes() const noexcept { return bytes_; }
    void *pointer(int peer) const {
        void *pointer = nullptr;
        check(baton_window_pointer(window_, peer, &pointer));
        return pointer;
    }

    /// `offset` is in bytes from the start of the target's window memory.
    template <PutBuffer B>
    void put(B &&source, int target, std::size_t offset, baton_stream_t stream = nullptr) const {
        const std::span from(source);
        check(baton_put(from.data(), from.size_bytes(), target, offset, window_, stream));
    }
    template <GetBuffer B>
    void get(B &&destination, int target, std::size_t offset, baton_stream_t stream = nullptr) const {
        const std::span to(destination);
        check(baton_get(to.data(), to.size_bytes(), target, offset, window_, stream));
    }
    void signal(int target, baton_stream_t stream = nullptr) const { check(baton_signal(target, window_, stream)); }
    void wait_signal(int source, std::uint64_t signals = 1, baton_stream_t stream = nullptr) const {
        check(baton_wait_signal(source, signals, window_, stream));
    }

private:
    baton_comm_t comm_;
    baton_window_t window_ = nullptr;
    void *base_ = nullptr;
    std::size_t bytes_ = 0;
    int exceptions_ = std::uncaught_exceptions(); /* in flight when this was made */
};

}  // namespace baton

#endif  // C++20
#endif  // BATON_BATON_HPP
