#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.hpp"

namespace baton::core {

/// The calls that this thread has collected between baton_group_begin and baton_group_end, already checked.
///
/// A collected call shares the ownership of the objects that it works on, but their handles may be destroyed before
/// the group ends, and what they stand for with them (a window's memory, a communicator's layers), and its buffers may
/// be freed. So it comes with a check that makes its call's checks once more.
class Group {
public:
    /// Throws BATON_ERR_ARGUMENT if the collected call would be refused now.
    using Check = std::function<void()>;

    static Group &of_this_thread();

    bool open() const { return depth_ > 0; }
    void begin() { ++depth_; }
    /// Leaves one level; at the outermost, issues what was collected: first all messages, one step per communicator and
    /// stream, then the rest in order. Issues nothing if one of the checks throws. If the system refuses a step later,
    /// the communicators of which some steps have been issued and others not are broken: their peers have all of
    /// theirs.
    void end();

    /// Throws BATON_ERR_ARGUMENT, and collects none of them, past BATON_GROUP_LIMIT messages of one communicator.
    void add_messages(Check check, const std::shared_ptr<Communicator> &comm, std::span<const Request> requests,
                      const std::shared_ptr<void> &stream);
    void add_call(Check check, const std::shared_ptr<Communicator> &comm, std::function<void()> call);

private:
    struct Messages {
        std::shared_ptr<Communicator> comm;
        std::shared_ptr<void> stream;
        std::vector<Request> requests;
    };
    struct Step {
        std::shared_ptr<Communicator> comm;
        std::function<void()> issue;
    };
    struct Collected {
        std::vector<Check> checks;
        std::vector<Messages> messages;
        std::vector<Step> calls;
    };
    static void issue(const std::vector<Step> &steps);

    int depth_ = 0;
    Collected collected_;
};

}  // namespace baton::core
