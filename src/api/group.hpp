#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "api/communicator.hpp"

namespace baton::core {

/// The calls that this thread has collected between baton_group_begin and baton_group_end, already checked.
class Group {
public:
    static Group &of_this_thread();

    bool open() const { return depth_ > 0; }
    void begin() { ++depth_; }
    /// Leaves one level; at the outermost, issues what was collected: first all messages, one step per communicator and
    /// stream, then the rest in order.
    void end();

    /// Throws BATON_ERR_ARGUMENT past BATON_GROUP_LIMIT messages of one communicator.
    void add_message(const std::shared_ptr<Communicator> &comm, const Request &request, void *stream);
    void add_call(std::function<void()> call) { calls_.push_back(std::move(call)); }

private:
    struct Messages {
        std::shared_ptr<Communicator> comm;
        void *stream = nullptr;
        std::vector<Request> requests;
    };

    int depth_ = 0;
    std::vector<Messages> messages_;
    std::vector<std::function<void()>> calls_;
};

}  // namespace baton::core
