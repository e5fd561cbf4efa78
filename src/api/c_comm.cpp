#include <optional>

#include "api/calls.hpp"
#include "api/error_state.hpp"
#include "bootstrap/mpi_bootstrap.hpp"
#include "comm/api_struct.hpp"
#include "comm/config.hpp"
#include "transport/host/host_stream.hpp"

namespace baton::core {
namespace {

using HostStreamTable = HandleTable<HandleOf::host_stream, baton_host_stream_t, HostStream>;

HostStreamTable &host_streams() {
    // Never destroyed: an application may still call from its own static destructors.
    static auto *table = new HostStreamTable;
    return *table;
}

/// Returns `found`, the table's entry for `stream`. Throws BATON_ERR_ARGUMENT, ending in `remark`, if there is none.
std::shared_ptr<HostStream> require_host_stream(std::shared_ptr<HostStream> found, const void *stream,
                                                const char *remark = "") {
    if (!found)
        fail(BATON_ERR_ARGUMENT, "stream is {}, which is no host stream (never created, or destroyed){}", stream,
             remark);
    return found;
}

}  // namespace

// Like host_streams(), neither of these tables is ever destroyed.
CommTable &communicators() {
    static auto *table = new CommTable;
    return *table;
}

WindowTable &windows() {
    static auto *table = new WindowTable;
    return *table;
}

std::shared_ptr<Communicator> find_comm(baton_comm_t comm) {
    std::shared_ptr<Communicator> found = communicators().find(comm);
    if (!found)
        fail(BATON_ERR_ARGUMENT, "comm is {}, which is no communicator (never created, or destroyed)",
             static_cast<const void *>(comm));
    return found;
}

std::shared_ptr<WindowHandle> find_window(baton_window_t window) {
    std::shared_ptr<WindowHandle> found = windows().find(window);
    if (!found)
        fail(BATON_ERR_ARGUMENT,
             "window is {}, which is no window (never created, or destroyed, by itself or with its communicator)",
             static_cast<const void *>(window));
    return found;
}

StreamRef find_stream(const Communicator &comm, baton_stream_t stream) {
    if (comm.on_gpu()) {
        if (may_be_handle(stream))  // CUDA would follow it as an address
            fail(BATON_ERR_ARGUMENT, "stream is {}, which is no CUDA stream; this communicator is on GPUs", stream);
        return StreamRef(stream);
    }
    if (stream == nullptr) return StreamRef(stream);
    return StreamRef(require_host_stream(host_streams().find(static_cast<baton_host_stream_t>(stream)), stream,
                                         "; this communicator is on the host"));
}

}  // namespace baton::core

using namespace baton::core;

extern "C" {

baton_result baton_config_init_sized(baton_config *config, size_t size) {
    return guarded("baton_config_init", [&] {
        require_pointer(config, "config");
        if (!may_be_struct_size<baton_config>(size))
            fail(BATON_ERR_ARGUMENT, "size is {}, expected sizeof(baton_config) = {}", size, sizeof(baton_config));
        to_program(config, size, unset_config());
    });
}

baton_result baton_comm_create(MPI_Comm mpi_comm, const baton_config *config, baton_comm_t *comm) {
    return guarded("baton_comm_create", [&] {
        require_mpi();
        std::optional<CommTable::Reservation> handle;
        const auto prepare = [&] {
            require_pointer(comm, "comm");
            handle.emplace(communicators());
        };
        auto created = std::make_shared<Communicator>(std::make_unique<MpiBootstrap>(mpi_comm), config, prepare);
        *comm = handle->fill(std::move(created));
    });
}

baton_result baton_comm_destroy(baton_comm_t comm) {
    return guarded("baton_comm_destroy", [&] {
        const std::shared_ptr<Communicator> found = find_comm(comm);
        const auto turn = found->turn_unless_destroyed();
        // The handles go at the end, however it ends: until then baton_comm_abort() can end its waits.
        struct Forget {
            ~Forget() {
                communicators().remove(comm);
                windows().remove_if([&](const WindowHandle &window) { return window.comm == found; });
            }
            baton_comm_t comm;
            const std::shared_ptr<Communicator> &found;
        } const forget{comm, found};
        turn.shut_down();
    });
}

baton_result baton_comm_abort(baton_comm_t comm) {
    return guarded("baton_comm_abort", [&] { find_comm(comm)->abort(); });
}

baton_result baton_comm_check(baton_comm_t comm) {
    return guarded("baton_comm_check", [&] { find_comm(comm)->throw_if_broken(); });
}

baton_result baton_comm_rank(baton_comm_t comm, int *rank) {
    return guarded("baton_comm_rank", [&] {
        require_pointer(rank, "rank");
        *rank = find_comm(comm)->rank();
    });
}

baton_result baton_comm_size(baton_comm_t comm, int *size) {
    return guarded("baton_comm_size", [&] {
        require_pointer(size, "size");
        *size = find_comm(comm)->size();
    });
}

baton_result baton_comm_info(baton_comm_t comm, baton_info *info) {
    return guarded("baton_comm_info", [&] {
        require_pointer(info, "info");
        const std::size_t size = info->struct_size;
        if (!may_be_struct_size<baton_info>(size))
            fail(BATON_ERR_ARGUMENT, "info.struct_size is {}, expected sizeof(baton_info) = {}", size,
                 sizeof(baton_info));
        to_program(info, size, find_comm(comm)->info());
    });
}

baton_result baton_host_stream_create(baton_host_stream_t *stream) {
    return guarded("baton_host_stream_create", [&] {
        require_pointer(stream, "stream");
        note_threads();
        HostStreamTable::Reservation handle(host_streams());
        *stream = handle.fill(std::make_shared<HostStream>());
    });
}

// Allowed after MPI_Finalize: owners of buffers that outlive it may have to wait for what is queued.
baton_result baton_host_stream_synchronize(baton_host_stream_t stream) {
    return guarded_at_any_time("baton_host_stream_synchronize",
                               [&] { require_host_stream(host_streams().find(stream), stream)->synchronize(); });
}

baton_result baton_host_stream_destroy(baton_host_stream_t stream) {
    return guarded_at_any_time("baton_host_stream_destroy",
                               [&] { require_host_stream(host_streams().remove(stream), stream)->synchronize(); });
}

baton_result baton_malloc(baton_comm_t comm, size_t bytes, void **pointer) {
    return guarded("baton_malloc", [&] {
        require_pointer(pointer, "pointer");
        const auto found = find_comm(comm);
        const auto turn = found->turn();
        void *memory = nullptr;
        if (bytes != 0) turn.issuer().run_local([&] { memory = turn.registry().allocate(bytes); });
        *pointer = memory;
    });
}

baton_result baton_free(baton_comm_t comm, void *pointer) {
    return guarded("baton_free", [&] {
        const auto found = find_comm(comm);
        const auto turn = found->turn_unless_destroyed();
        if (pointer != nullptr) turn.registry().release(pointer);
    });
}

baton_result baton_register(baton_comm_t comm, void *pointer, size_t bytes) {
    return guarded("baton_register", [&] {
        const auto found = find_comm(comm);
        const auto turn = found->turn();
        if (bytes == 0) fail(BATON_ERR_ARGUMENT, "bytes is 0");
        require_pointer(pointer, "pointer");
        const PointerInfo info = turn.buffers().check(pointer, bytes, "pointer");
        turn.issuer().run_local([&] { turn.registry().add(info, pointer, bytes); });
    });
}

baton_result baton_deregister(baton_comm_t comm, void *pointer) {
    return guarded("baton_deregister", [&] {
        const auto found = find_comm(comm);
        const auto turn = found->turn_unless_destroyed();
        require_pointer(pointer, "pointer");
        turn.registry().remove(pointer);
    });
}

}  // extern "C"
