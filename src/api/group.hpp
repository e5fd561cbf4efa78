#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"

namespace baton::core {

class HostStream;

/// What calls go on: the cudaStream_t that the user gave and still owns, or a HostStream, which this keeps alive. NULL
/// on either.
class StreamRef {
public:
    explicit StreamRef(void *cuda_stream) : stream_(cuda_stream) {}
    explicit StreamRef(std::shared_ptr<HostStream> host_stream)
        : stream_(host_stream.get()), kept_(std::move(host_stream)) {}
    void *get() const { return stream_; }
    bool operator==(const StreamRef &) const = default;

private:
    void *stream_;
    std::shared_ptr<HostStream> kept_;
};

/// The calls that this thread has collected between baton_group_begin and baton_group_end, already checked.
///
/// A collected call shares the ownership of the objects that it works on. But before the group ends, their handles may
/// be destroyed, and with them what they stand for (a window's memory, a communicator's layers), and its buffers may be
/// freed. So everything that may have changed is checked again before anything is issued.
class Group {
public:
    /// Throws BATON_ERR_ARGUMENT if the collected call would be refused now.
    using Check = std::function<void()>;
    /// Issues the collected call.
    using Call = std::function<void(const Turn &turn)>;

    /// What messages are collected on: the handles that the caller gave, and what they stood for.
    struct On {
        baton_comm_t comm_handle;
        baton_stream_t stream_handle;
        std::shared_ptr<Communicator> comm;
        StreamRef stream;
    };
    /// The names of a message's call and of its buffer argument, for error messages.
    struct Names {
        const char *call;
        const char *buffer;
    };

    static Group &of_this_thread();

    bool open() const { return depth_ > 0; }
    void begin() { ++depth_; }
    /// Leaves one level. At the outermost, issues what was collected: first all messages, one step per communicator and
    /// stream, then the rest in order. Issues nothing if one of the checks throws, or a send and a recv of a step
    /// overlap. If a step is refused later, its communicator's remaining steps are left out. The communicator is broken
    /// if some of its steps have been issued, since its peers have all of theirs. For the same reason the other
    /// communicators' steps are still issued. Then the first failure is thrown.
    void end();
    /// Leaves all levels, issues nothing, and breaks the communicators of the collected calls: their other ranks may
    /// wait for these.
    void drop();

    /// Collects all of the messages, or throws BATON_ERR_ARGUMENT and collects none: past BATON_GROUP_LIMIT messages of
    /// one communicator, or if the group has one of the same direction and peer on another stream. REQUIRES: as many
    /// names as requests.
    void add_messages(const On &on, std::span<const Request> requests, std::span<const Names> names);
    void add_call(Check check, const std::shared_ptr<Communicator> &comm, Call call);

private:
    struct Messages {
        On on;
        std::vector<Request> requests;
        std::vector<Names> names;
    };
    struct Step {
        enum class State {
            not_issued,  // not yet, or left out behind a refused one
            issued,
            refused
        };
        std::shared_ptr<Communicator> comm;
        Call issue;
        State state = State::not_issued;
    };
    struct Collected {
        std::vector<Check> checks;
        std::vector<Messages> messages;
        std::vector<Step> calls;
    };
    void require_one_stream(const On &on, const Request &request) const;
    static void check_again(const Messages &messages);
    static void require_apart(const Messages &messages);
    static void issue(std::vector<Step> &steps);

    int depth_ = 0;
    Collected collected_;
};

/// Refuses a collected call, for a reason that has come up since.
[[noreturn]] void refuse_collected(const char *call, const Failure &reason);

/// The words for a buffer whose place has become another allocation's since it was collected.
inline constexpr const char *replaced_memory = "is other memory: it was freed, and its place allocated again";

/// Returns the check of a collected call at the group's end. `recheck` makes the call's checks again, and returns the
/// buffers that it finds.
template <std::size_t n, class Recheck>
Group::Check check_at_end(const char *name, const std::array<PointerInfo, n> &buffers, const Recheck &recheck) {
    return [=] {
        try {
            if (recheck() != buffers) fail(BATON_ERR_ARGUMENT, "buffer {}", replaced_memory);
        } catch (const Failure &failure) {
            refuse_collected(name, failure);
        }
    };
}

}  // namespace baton::core
