#include "emulation/launch_messages.hpp"

#include <cstring>
#include <functional>
#include <thread>

#include "emulation/block.hpp"
#include "transport/kernel/launch.hpp"

namespace baton::emulation {
namespace {

template <class... Arguments>
auto typed(const core::KernelChoice &choice) {
    return reinterpret_cast<void (*)(Arguments...)>(const_cast<void *>(choice.kernel));
}

/// Plans the kernel's launch, which tells `direct` who counts with it. Returns what runs the kernel.
template <int capacity>
std::function<void()> plan(const core::CommView &view, int channels, const std::vector<core::MessageCall> &calls,
                           std::uint64_t seed, unsigned resident, core::DirectSend *direct) {
    const core::MessageLaunch<capacity> planned = core::plan_launch<capacity>(calls, channels, direct);
    const core::KernelChoice choice = core::message_kernel(capacity > core::few_messages, planned.only);
    const auto kernel = typed<core::CommView, core::MessageBatch<capacity>>(choice);
    const unsigned threads = choice.threads == core::group_block_threads ? 64 : message_block_threads;
    return [=, &view] {
        run_grid(
            static_cast<unsigned>(planned.blocks), threads, seed, [&] { kernel(view, planned.batch); }, resident);
    };
}

void send_directly(const core::CommView &view, const core::DirectSend &direct, std::uint64_t seed) {
    const auto meet = typed<core::CommView, core::DirectSend>(core::meet_for_direct_send());
    const auto done = typed<core::CommView, core::DirectSend>(core::done_with_direct_send());
    run_grid(1, core::group_block_threads, seed, [&] { meet(view, direct); });
    std::memcpy(direct.destination + direct.head_bytes, direct.message.buffer + direct.head_bytes,
                direct.message.bytes - direct.head_bytes);
    run_grid(1, core::group_block_threads, seed, [&] { done(view, direct); });
}

}  // namespace

void launch_messages(const core::CommView &view, int channels, const std::vector<core::MessageCall> &calls,
                     std::uint64_t seed, unsigned resident, std::optional<core::DirectSend> direct) {
    core::DirectSend *const head = direct ? &*direct : nullptr;
    std::function<void()> run_kernel = [] {};
    if (!calls.empty()) {
        run_kernel = calls.size() <= core::few_messages
                         ? plan<core::few_messages>(view, channels, calls, seed, resident, head)
                         : plan<BATON_GROUP_LIMIT>(view, channels, calls, seed, resident, head);
    }
    std::thread push_stream([&, rank = this_rank()] {
        be_rank(rank);
        if (direct) send_directly(view, *direct, seed + 1);
    });
    run_kernel();
    push_stream.join();
}

}  // namespace baton::emulation
