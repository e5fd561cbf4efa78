#include <algorithm>
#include <cstring>
#include <exception>

#include "comm/communicator.hpp"
#include "comm/links_of.hpp"
#include "memory/reclaimer.hpp"

namespace baton::core {
namespace {

/// What a call has to do behind its operation, of which the peers have their part by now.
template <class Rest>
void follow(const Rest &rest) {
    try {
        rest();
    } catch (const std::exception &failure) {
        throw PartlyEnqueued(as_failure(failure));
    }
}

}  // namespace

/// What a call reads and writes on this rank.
std::uint64_t Communicator::send_bytes(const Request &request) const {
    const bool blocks = request.operation == BATON_REDUCE_SCATTER || request.operation == BATON_ALLTOALL;
    return blocks ? request.bytes * static_cast<std::uint64_t>(view_.size) : request.bytes;
}
std::uint64_t Communicator::recv_bytes(const Request &request) const {
    const bool blocks = request.operation == BATON_ALLGATHER || request.operation == BATON_ALLTOALL;
    return blocks ? request.bytes * static_cast<std::uint64_t>(view_.size) : request.bytes;
}

/// Which of a call's buffers the peers touch themselves. Others stay unregistered.
bool Communicator::needs_send(const Request &request, const Plan &plan) const {
    if (request.operation == BATON_RECV) return false;
    if (request.operation == BATON_BROADCAST && request.root != view_.rank) return false;
    const Way *const way = way_by(request.operation, plan.algorithm);
    return way != nullptr && touches_send(way->touches);
}
bool Communicator::needs_recv(const Request &request, const Plan &plan) const {
    if (request.operation == BATON_SEND) return false;
    if (request.operation == BATON_BROADCAST && request.root == view_.rank) return false;
    const Way *const way = way_by(request.operation, plan.algorithm);
    return way != nullptr && touches_recv(way->touches);
}

/// On the host staging is for memory that others reach slowly, or not at all. What they have mapped (baton_malloc,
/// windows) they copy straight: collectives where that is so of all ranks, as their arrivals tell, long messages where
/// it is of the sender.
bool Communicator::skips_staging_if_mapped(const Request &request, const Plan &plan) const {
    if (capabilities_.on_gpu || stages_mapped_) return false;
    // In place an alltoall would be read while it is written, and ranks need not agree on that.
    return plan.algorithm == Algorithm::staged && request.operation != BATON_ALLTOALL;
}

/// The arrival of a call, with the addresses that it works on: those of the user, or of staging. Copies staged input.
Arrival Communicator::arrival_of(const Request &request, const Plan &plan, Buffers::Use &use, const std::byte **send,
                                 std::byte **recv, void *stream) {
    const bool message = is_message(request.operation);
    Arrival arrival;
    // Both sides of a message sign alike.
    arrival.signature = Signature::make(message ? BATON_SEND : request.operation, request.type,
                                        message ? 0 : request.op, request.count, request.root);
    if (request.operation == BATON_RECV) arrival.signature.what |= Signature::receiving;
    *send = request.send;
    *recv = request.recv;
    const bool raw = !capabilities_.on_gpu;
    if (view_.size > 1 || message) {
        if (needs_send(request, plan)) {
            const Buffers::Reached reached =
                buffers_->reach(request.send, request.send_info, send_bytes(request), raw, use);
            arrival.send = reached.ref;
            if (reached.staged) {
                executor_->local_copy(reached.pointer, request.send, send_bytes(request), stream);
                *send = reached.pointer;
            }
        }
        if (needs_recv(request, plan)) {
            const Buffers::Reached reached =
                buffers_->reach(request.recv, request.recv_info, recv_bytes(request), raw, use);
            arrival.recv = reached.ref;
            *recv = reached.pointer;
        }
        if (skips_staging_if_mapped(request, plan)) {
            Plan straight = plan;
            straight.algorithm = straight_algorithm(request.operation);
            if (needs_send(request, straight))
                arrival.send = buffers_->mapped(request.send, request.send_info, send_bytes(request));
            if (needs_recv(request, straight))
                arrival.recv = buffers_->mapped(request.recv, request.recv_info, recv_bytes(request));
        }
    }
    return arrival;
}

template <class Body>
void Communicator::guard(const Body &body) {
    if (peers_->has_retired()) Reclaimer::of_process().unmap_if_idle();
    const auto issuing = Reclaimer::of_process().issue();
    try {
        body();
    } catch (const PartlyEnqueued &failure) {
        give_up_after(failure);
        throw;
    } catch (const Failure &failure) {
        const baton_result code = failure.code();
        if (code == BATON_ERR_MISMATCH || code == BATON_ERR_TIMEOUT || code == BATON_ERR_PEER_DEAD)
            break_with(code, failure.what(), true);
        throw;
    }
}

void Communicator::run(const Request &request, void *stream) {
    guard([&] { issue(request, stream); });
}

void Communicator::run_messages(std::span<const Request> requests, void *stream) {
    guard([&] { issue_messages(requests, stream); });
}

void Communicator::run_one_sided(const std::function<void(Executor &)> &work, void *stream) {
    guard([&] {
        work(*executor_);
        after_call(stream);
    });
}

void Communicator::run_local(const std::function<void()> &work) { guard(work); }

/// Of reduce_scatter the first rank's result goes over its own block, which nobody else reads.
bool Communicator::makes_result_apart(const Request &request, const Plan &plan) const {
    if (request.operation == BATON_REDUCE_SCATTER && view_.rank == 0) return false;
    const Way *const way = way_by(request.operation, plan.algorithm);
    return way != nullptr && way->in_place == InPlace::result_apart;
}

/// Where a call in place would write over input that is still needed, one of its buffers becomes scratch.
void Communicator::use_scratch(const Request &request, const Plan &plan, CollectiveArgs &args, Buffers::Use &use,
                               void *stream) {
    if (request.send != request.recv || request.bytes == 0 || view_.size == 1) return;
    if (makes_result_apart(request, plan)) args.recv = buffers_->scratch(recv_bytes(request), use);
    const Way *const way = way_by(request.operation, plan.algorithm);
    if (way != nullptr && way->in_place == InPlace::input_copied && args.send == args.recv) {
        std::byte *input = buffers_->scratch(send_bytes(request), use);
        executor_->local_copy(input, args.send, send_bytes(request), stream);
        args.send = input;
    }
}

void Communicator::issue(const Request &request, void *stream) {
    const Plan how = plan(request);
    Buffers::Use use(*buffers_);
    CollectiveArgs args;
    args.arrival = arrival_of(request, how, use, &args.send, &args.recv, stream);
    args.chunk = request.bytes;
    args.op = request.op;
    args.root = request.root;
    use_scratch(request, how, args, use, stream);
    executor_->collective(request, how, args, stream);
    follow([&] {
        if (args.recv != request.recv) executor_->local_copy(request.recv, args.recv, recv_bytes(request), stream);
    });
    after_call(stream);
}

void Communicator::issue_messages(std::span<const Request> requests, void *stream) {
    Buffers::Use use(*buffers_);
    std::vector<MessageCall> calls;
    struct CopyOut {
        std::byte *destination;
        const std::byte *source;
        std::uint64_t bytes;
    };
    std::vector<CopyOut> copies;
    calls.reserve(requests.size());
    for (const Request &request : requests) {
        MessageCall call;
        call.plan = plan(request);
        const std::byte *send = nullptr;
        std::byte *recv = nullptr;
        call.message.arrival = arrival_of(request, call.plan, use, &send, &recv, stream);
        call.message.is_send = request.operation == BATON_SEND;
        if (call.message.is_send && call.message.arrival.send.is_in_region() &&
            call.plan.algorithm == Algorithm::staged)
            call.plan.algorithm = straight_algorithm(BATON_SEND);  // the header says so
        call.message.buffer = call.message.is_send ? const_cast<std::byte *>(send) : recv;
        call.message.bytes = request.bytes;
        call.message.peer = request.peer;
        if (!call.message.is_send && recv != request.recv) copies.push_back({request.recv, recv, request.bytes});
        calls.push_back(std::move(call));
    }
    executor_->messages(std::move(calls), stream);
    follow([&] {
        for (const CopyOut &copy : copies) executor_->local_copy(copy.destination, copy.source, copy.bytes, stream);
    });
    after_call(stream);
}

/// On the host without a stream the operation is over, and its failure is this call's.
void Communicator::after_call(void *stream) {
    if (!capabilities_.on_gpu && stream == nullptr) throw_if_broken_in_turn();
}

std::string Communicator::explain(baton_operation operation, std::uint64_t count, baton_type type, baton_op op,
                                  const void *send, const void *recv) {
    Request request;
    request.operation = operation;
    request.type = type;
    request.op = op;
    request.count = count;
    request.bytes = bytes_of(count, type, 1);
    request.root = -1;  // not told: what holds for the other ranks
    // The call itself would refuse blocks that overflow together.
    if (operation == BATON_ALLGATHER || operation == BATON_REDUCE_SCATTER || operation == BATON_ALLTOALL)
        bytes_of(count, type, view_.size);
    if (operation == BATON_SIGNAL || operation == BATON_WAIT_SIGNAL) {
        return fmt::format("{} by {}: one word in the peer's memory\n", baton_operation_name(operation),
                           capabilities_.on_gpu ? "kernel" : "host");
    }
    const Plan how = plan(request);
    std::string text = describe(how, request, capabilities_) + "\n" + baton_operation_name(operation);
    if (operation != BATON_BARRIER)
        text += fmt::format(" of {} {} ({} bytes)", count, baton_type_name(type), request.bytes);
    text += fmt::format(", {} rank{}\n", view_.size, view_.size == 1 ? "" : "s");
    if (how.algorithm == Algorithm::staged && is_collective(operation))
        text += fmt::format("segments of {} bytes\n", how.segment_bytes);
    const bool goes_elsewhere = capabilities_.on_gpu || how.algorithm == Algorithm::staged;
    if (!capabilities_.reaches_buffers && how.reason != Reason::reach && goes_elsewhere) text += reach_text_ + "\n";
    if (view_.size > 1 && skips_staging_if_mapped(request, how))
        text += "memory of baton_malloc and windows is copied straight\n";
    if (view_.size > 1) text += fmt::format("links are {}\n", core::describe(capabilities_.links));
    const bool raw = !capabilities_.on_gpu;
    if (needs_send(request, how) && send != nullptr) {
        text += "sendbuf: " + buffers_->describe(send, send_bytes(request), raw) + "\n";
    }
    if (needs_recv(request, how) && recv != nullptr) {
        text += "recvbuf: " + buffers_->describe(recv, recv_bytes(request), raw) + "\n";
    }
    // Of reduce_scatter equal pointers are in place for the first rank only.
    const bool in_place =
        send != nullptr && (send == BATON_IN_PLACE || (send == recv && operation != BATON_REDUCE_SCATTER));
    const Way *const way = way_by(operation, how.algorithm);
    if (in_place && view_.size > 1 && way != nullptr) {
        const char *const what = operation == BATON_REDUCE_SCATTER ? "block" : "buffer";
        if (makes_result_apart(request, how)) text += fmt::format("in place: received in a copy of the {}\n", what);
        if (way->in_place == InPlace::input_copied) text += fmt::format("in place: sent from a copy of the {}\n", what);
    }
    return text;
}

std::shared_ptr<Window> Communicator::create_window(std::size_t bytes, const std::function<void()> &check) {
    call_ = Call::window_create;
    auto window = std::make_shared<Window>();
    const std::vector<std::uint64_t> sizes = together(
        [&] {
            check();
            while (window->index < static_cast<int>(windows_.size()) &&
                   windows_[static_cast<std::size_t>(window->index)])
                ++window->index;
            if (window->index >= max_windows)
                fail(BATON_ERR_UNSUPPORTED, "{} windows are alive already, the most there can be", max_windows);
        },
        bytes);
    for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
        if (sizes[rank] != sizes[0]) {
            fail(BATON_ERR_MISMATCH, "bytes differ: {} on rank 0, {} on rank {}", sizes[0], sizes[rank], rank);
        }
    }
    window->bytes = bytes;
    RegionRegistry::Allocation allocation;
    const NumaNodeGuard near(placement_.numa_node);
    try {
        together([&] { guard([&] { allocation = registry_->allocate_published(bytes); }); });
    } catch (const Failure &) {
        if (allocation.pointer != nullptr) registry_->release_published(allocation.pointer);
        throw;
    }
    const std::vector<PeerMemory::Published> all = bootstrap_->allgather(allocation.published);
    // Nothing below fails on one rank alone but for a device error, which breaks more than this window.
    together([&] {
        window->pointers = addresses_of(all, allocation.pointer);
        for (const std::byte *address : window->pointers) domain_->hand_out(address);
        clear_signals(window->index);
    });
    if (window->index == static_cast<int>(windows_.size())) windows_.emplace_back();
    windows_[static_cast<std::size_t>(window->index)] = window;
    together([] {});  // nobody signals before all have cleared
    return window;
}

/// A window number that was used before starts again without signals.
void Communicator::clear_signals(int index) {
    const OwnWords own = view_.own_words();
    const auto n = static_cast<std::size_t>(view_.size);
    const auto clear = [&](void *memory, std::size_t bytes) {
        capabilities_.on_gpu ? clear_device(device_, memory, bytes) : static_cast<void>(std::memset(memory, 0, bytes));
    };
    clear(own.signals_given(index, 0), n * sizeof(std::uint64_t));
    clear(own.signals_taken(index, 0), n * sizeof(std::uint64_t));
    clear(view_.own().signal_word(index, 0), n * sizeof(SemaphoreWord));
}

void Communicator::destroy_window(const std::shared_ptr<Window> &window) {
    executor_->drain();
    look_for_errors(Turn::taken);
    std::exception_ptr broken_here;
    if (!broken_.load()) {
        try {
            call_ = Call::window_destroy;
            const auto index = static_cast<std::uint64_t>(window->index);
            const std::vector<std::uint64_t> all = together([] {}, index);
            if (std::any_of(all.begin(), all.end(), [&](std::uint64_t other) { return other != all[0]; }))
                disagree(fmt::format("baton_window_destroy got window numbers {}", fmt::join(all, ", ")));
        } catch (...) {
            broken_here = std::current_exception();
        }
    }
    registry_->release_published(window->pointers[static_cast<std::size_t>(view_.rank)]);
    windows_[static_cast<std::size_t>(window->index)].reset();
    if (broken_here) std::rethrow_exception(broken_here);
}

}  // namespace baton::core
