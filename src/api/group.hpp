#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "api/communicator.hpp"

namespace baton::core {

/// The calls that this thread has collected between baton_group_begin and baton_group_end, already checked.
///
/// A collected call shares the ownership of the objects that it works on, but their handles may be destroyed before
/// the group ends, and what they stand for with them (a window's memory, a communicator's layers). So it comes with a
/// check that the handles are still valid.
class Group {
public:
    /// Throws BATON_ERR_ARGUMENT if an object of a collected call was destroyed.
    using Check = std::function<void()>;

    static Group &of_this_thread();

    bool open() const { return depth_ > 0; }
    void begin() { ++depth_; }
    /// Leaves one level; at the outermost, issues what was collected: first all messages, one step per communicator and
    /// stream, then the rest in order. Issues nothing if one of the checks throws.
    void end();

    /// Throws BATON_ERR_ARGUMENT past BATON_GROUP_LIMIT messages of one communicator.
    void add_message(Check check, const std::shared_ptr<Communicator> &comm, const Request &request,
                     const std::shared_ptr<void> &stream);
    void add_call(Check check, std::function<void()> call) { calls_.push_back({std::move(check), std::move(call)}); }

private:
    struct Messages {
        Check check;  // of the first, good for all: they have the same communicator and stream
        std::shared_ptr<Communicator> comm;
        std::shared_ptr<void> stream;
        std::vector<Request> requests;
    };
    struct Call {
        Check check;
        std::function<void()> run;
    };

    int depth_ = 0;
    std::vector<Messages> messages_;
    std::vector<Call> calls_;
};

}  // namespace baton::core
