#include "comm/meetings.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <optional>

namespace baton::core {
namespace {

const char *name_of(std::int32_t call) {
    constexpr const char *names[] = {"baton_comm_create", "baton_window_create", "baton_window_destroy",
                                     "baton_comm_destroy"};
    return names[call];
}

std::string list_of(const std::vector<int> &ranks) {
    if (ranks.empty()) return "the other ranks";
    return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

}  // namespace

Meetings::Meetings(Bootstrap &bootstrap, Breakage &breakage) : bootstrap_(bootstrap), breakage_(breakage) {
    bootstrap_.set_watch([this](std::chrono::nanoseconds waited) { watch(waited); });
}

std::vector<std::uint64_t> Meetings::together(const std::function<void()> &body, std::uint64_t argument) {
    struct Status {
        ToldFailure failure;
        std::int32_t call = 0;
        std::uint64_t argument = 0;
    } mine;
    mine.call = static_cast<std::int32_t>(call_);
    mine.argument = argument;
    std::optional<Failure> own;
    try {
        body();
    } catch (const std::exception &exception) {  // also a defect: the others should not wait for it
        own = as_failure(exception);
        mine.failure.set(bootstrap_.rank(), *own);
    }
    if (board_ != nullptr) board_->come_to_meeting();
    const std::vector<Status> all = bootstrap_.allgather(mine);
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
        if (all[rank].call == all[0].call) continue;
        disagree(
            fmt::format("rank 0 called {}, rank {} called {}", name_of(all[0].call), rank, name_of(all[rank].call)));
    }
    if (own) throw Agreed(*own);
    for (const Status &status : all) throw_if_told(status.failure);
    std::vector<std::uint64_t> arguments;
    for (const Status &status : all) arguments.push_back(status.argument);
    return arguments;
}

std::string Meetings::first_said(const std::string &mine) {
    for (const std::string &text : bootstrap_.allgather_strings(mine)) {
        if (!text.empty()) return text;
    }
    return "";
}

void Meetings::disagree(const std::string &text) {
    breakage_.break_with(failure_of(BATON_ERR_MISMATCH, "ranks disagree: {}", text));
    breakage_.throw_reason();
}

void Meetings::watch(std::chrono::nanoseconds waited) {
    const bool creating = call_ == Call::comm_create;
    // During creation nobody looks at what others have posted: a rank that is ahead may have created the communicator
    // and broken it since.
    if (!creating) breakage_.throw_if_broken(Breakage::Caller::call_or_operation);
    if (breakage_.broken()) breakage_.throw_reason();
    const std::chrono::nanoseconds patience = creating ? creation_patience(breakage_.timeout()) : breakage_.timeout();
    if (waited < patience) return;
    breakage_.break_with(failure_saying(BATON_ERR_TIMEOUT, [&] {
        return fmt::format(
            "rank {} waited {:g} s for {} in {}{}; {}a rank that is only slow needs a larger timeout "
            "(BATON_TIMEOUT)",
            bootstrap_.rank(), std::chrono::duration<double>(patience).count(),
            list_of(board_ != nullptr ? board_->missing() : bootstrap_.missing()),
            name_of(static_cast<std::int32_t>(call_)),
            creating ? ", which waits for 60 s at least, whatever the timeout" : "",
            call_ == Call::comm_destroy ? "several communicators are destroyed in the same order on all ranks; " : "");
    }));
    breakage_.throw_reason();
}

}  // namespace baton::core
