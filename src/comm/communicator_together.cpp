#include <algorithm>
#include <exception>

#include "comm/communicator.hpp"

namespace baton::core {
namespace {

/// Ranks drift apart while they set up their GPUs, and a timeout may be meant for short operations: creation waits at
/// least this long.
constexpr auto creation_patience = std::chrono::seconds(60);

const char *call_name(std::int32_t call) {
    constexpr const char *names[] = {"baton_comm_create", "baton_window_create", "baton_window_destroy",
                                     "baton_comm_destroy"};
    return names[call];
}

std::string list_of(const std::vector<int> &ranks) {
    if (ranks.empty()) return "the other ranks";
    return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

}  // namespace

std::vector<std::uint64_t> Communicator::together(const std::function<void()> &body, std::uint64_t argument) {
    struct Status {
        std::int32_t code = BATON_SUCCESS;
        std::int32_t call = 0;
        std::uint64_t argument = 0;
    } mine;
    mine.call = static_cast<std::int32_t>(call_);
    mine.argument = argument;
    std::string text;
    try {
        body();
    } catch (const std::exception &exception) {  // a defect too, for which the others should not wait
        const Failure failure = as_failure(exception);
        mine.code = failure.code();
        text = failure.what();
    }
    if (peers_) peers_->come_to_meeting();
    const std::vector<Status> all = bootstrap_->allgather(mine);
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
        if (all[rank].call == all[0].call) continue;
        disagree(fmt::format("rank 0 called {}, rank {} called {}", call_name(all[0].call), rank,
                             call_name(all[rank].call)));
    }
    const auto failed =
        std::find_if(all.begin(), all.end(), [](const Status &status) { return status.code != BATON_SUCCESS; });
    if (failed != all.end()) {
        const std::vector<std::string> texts = bootstrap_->allgather_strings(text);
        const auto rank = static_cast<std::size_t>(failed - all.begin());
        if (mine.code != BATON_SUCCESS) throw Failure(static_cast<baton_result>(mine.code), text);
        throw Failure(static_cast<baton_result>(failed->code), fmt::format("rank {}: {}", rank, texts[rank]));
    }
    std::vector<std::uint64_t> arguments;
    for (const Status &status : all) arguments.push_back(status.argument);
    return arguments;
}

void Communicator::disagree(const std::string &text) {
    break_with(BATON_ERR_MISMATCH, "ranks disagree: " + text, true);
    throw_breakage();
}

/// The bootstrap's watch. While the communicator is being created, others' errors and the control words are not there
/// yet; while it is being destroyed, they still are.
void Communicator::look_while_waiting(std::chrono::nanoseconds waited) {
    const bool created = ready_.load(std::memory_order_acquire) || shut_down_;
    if (created) {
        throw_breakage_if_any(Turn::taken);
    } else if (broken_.load()) {
        throw_breakage();
    }
    const std::chrono::nanoseconds patience =
        created ? timeout_ : std::max<std::chrono::nanoseconds>(timeout_, creation_patience);
    if (waited < patience) return;
    break_with(BATON_ERR_TIMEOUT,
               fmt::format("rank {} waited {:g} s for {} in {}{}; a rank that is only slow needs a larger timeout "
                           "(BATON_TIMEOUT)",
                           view_.rank, std::chrono::duration<double>(patience).count(),
                           list_of(peers_ ? peers_->missing() : bootstrap_->missing()),
                           call_name(static_cast<std::int32_t>(call_)),
                           created ? "" : ", which waits for 60 s at least, whatever the timeout"),
               true);
    throw_breakage();
}

}  // namespace baton::core
