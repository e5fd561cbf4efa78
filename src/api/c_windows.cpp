#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "api/calls.hpp"
#include "api/error_state.hpp"
#include "util/overlap.hpp"

namespace baton::core {
namespace {

/// A checked one-sided call: what it does, and which buffer it works on.
struct OneSided {
    std::function<void(Executor &)> work;
    PointerInfo buffer;
};

/// Runs a one-sided call, or adds it to this thread's group. `make` checks it and returns a OneSided.
template <class Make>
baton_result one_sided(const char *name, baton_window_t window, baton_stream_t stream, const Make &make) {
    return guarded(name, [&] {
        const std::shared_ptr<WindowHandle> found = find_window(window);
        const auto turn = found->comm->turn();
        find_window(window);  // another thread may have destroyed it meanwhile
        const StreamRef on = find_stream(*found->comm, stream);
        OneSided call = make(turn, *found->window, on.get());
        // `on` keeps alive the stream that `work` names.
        const auto run = [work = std::move(call.work), on](const Turn &then) { then.issuer().run_one_sided(work); };
        Group &group = Group::of_this_thread();
        if (!group.open()) return run(turn);
        turn.issuer().require_stream(on.get());
        const auto recheck = [=] {
            const std::shared_ptr<WindowHandle> again = find_window(window);
            const auto its_turn = again->comm->turn_unless_destroyed();
            find_window(window);
            const StreamRef queue = find_stream(*again->comm, stream);
            return std::array{make(its_turn, *again->window, queue.get()).buffer};
        };
        group.add_call(check_at_end(name, std::array{call.buffer}, recheck), found->comm, run);
    });
}

std::byte *window_range(const Communicator &comm, const Window &window, int target, std::size_t offset,
                        std::size_t bytes) {
    require_rank(comm, target, "target");
    if (offset > window.bytes || bytes > window.bytes - offset) {
        fail(BATON_ERR_ARGUMENT, "offset {} with {} bytes leaves the window of {} bytes", offset, bytes, window.bytes);
    }
    return window.pointers[static_cast<std::size_t>(target)] + offset;
}

/// A put or get of checked memory. If both sides are the same memory there is nothing to move.
std::function<void(Executor &)> transfer(const Turn &turn, baton_operation operation, std::byte *destination,
                                         const std::byte *source, std::size_t bytes, void *queue) {
    Request request;
    request.operation = operation;
    request.count = request.bytes = destination == source ? 0 : bytes;
    if (overlap(source, request.bytes, destination, request.bytes)) {
        fail(BATON_ERR_ARGUMENT, "{} bytes from {} overlap their destination {}; the two must be equal or apart", bytes,
             static_cast<const void *>(source), static_cast<const void *>(destination));
    }
    return [=, moved = request.bytes, plan = turn.planner().plan(request).plan](Executor &executor) {
        executor.transfer(destination, source, moved, plan, queue);
    };
}

}  // namespace
}  // namespace baton::core

using namespace baton::core;

extern "C" {

baton_result baton_window_create(baton_comm_t comm, size_t bytes, baton_window_t *window, void **base) {
    return guarded("baton_window_create", [&] {
        const std::shared_ptr<Communicator> found = find_comm(comm);
        const auto turn = found->turn();
        std::optional<WindowTable::Reservation> handle;
        std::shared_ptr<WindowHandle> named;
        // If this throws, no rank gets a window. So memory for the handle is taken here: a rank that found none later
        // would have a window that it cannot destroy, and only all ranks together can.
        const auto prepare = [&] {
            require_pointer(window, "window");
            require_pointer(base, "base");
            named = std::make_shared<WindowHandle>(WindowHandle{found, nullptr});
            handle.emplace(windows());
        };
        // By reference: a copy would take memory when the other ranks wait already.
        const std::shared_ptr<Window> created = turn.windows().create(bytes, std::cref(prepare));
        named->window = created;
        *base = created->pointers[static_cast<std::size_t>(found->rank())];
        *window = handle->fill(std::move(named));
    });
}

baton_result baton_window_destroy(baton_window_t window) {
    return guarded("baton_window_destroy", [&] {
        const std::shared_ptr<WindowHandle> found = find_window(window);
        const auto turn = found->comm->turn_unless_destroyed();
        find_window(window);  // another thread may have destroyed it meanwhile
        windows().remove(window);
        turn.windows().destroy(found->window);
    });
}

baton_result baton_window_pointer(baton_window_t window, int peer, void **pointer) {
    return guarded("baton_window_pointer", [&] {
        require_pointer(pointer, "pointer");
        const std::shared_ptr<WindowHandle> found = find_window(window);
        require_rank(*found->comm, peer, "peer");
        *pointer = found->window->pointers[static_cast<std::size_t>(peer)];
    });
}

baton_result baton_put(const void *source, size_t bytes, int target, size_t offset, baton_window_t window,
                       baton_stream_t stream) {
    return one_sided("baton_put", window, stream, [=](const Turn &turn, const Window &on, void *queue) {
        std::byte *destination = window_range(turn.comm(), on, target, offset, bytes);
        const PointerInfo info = turn.buffers().check(source, bytes, "source");
        const auto *from = static_cast<const std::byte *>(source);
        return OneSided{transfer(turn, BATON_PUT, destination, from, bytes, queue), info};
    });
}

baton_result baton_get(void *destination, size_t bytes, int target, size_t offset, baton_window_t window,
                       baton_stream_t stream) {
    return one_sided("baton_get", window, stream, [=](const Turn &turn, const Window &on, void *queue) {
        const std::byte *source = window_range(turn.comm(), on, target, offset, bytes);
        const PointerInfo info = turn.buffers().check(destination, bytes, "destination");
        auto *to = static_cast<std::byte *>(destination);
        return OneSided{transfer(turn, BATON_GET, to, source, bytes, queue), info};
    });
}

baton_result baton_signal(int target, baton_window_t window, baton_stream_t stream) {
    return one_sided("baton_signal", window, stream, [=](const Turn &turn, const Window &on, void *queue) {
        require_rank(turn.comm(), target, "target");
        return OneSided{[=, index = on.index](Executor &executor) { executor.signal(index, target, queue); }, {}};
    });
}

baton_result baton_wait_signal(int source, uint64_t signals, baton_window_t window, baton_stream_t stream) {
    return one_sided("baton_wait_signal", window, stream, [=](const Turn &turn, const Window &on, void *queue) {
        require_rank(turn.comm(), source, "source");
        constexpr std::uint64_t most = std::uint64_t{1} << 63;
        // Added to the signals taken so far, it must not wrap: the wait would return at once.
        if (signals >= most) fail(BATON_ERR_ARGUMENT, "signals is {}; it must be below 2^63", signals);
        return OneSided{
            [=, index = on.index](Executor &executor) { executor.wait_signal(index, source, signals, queue); }, {}};
    });
}

}  // extern "C"
