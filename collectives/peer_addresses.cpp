#include "collectives/peer_addresses.hpp"

#include <fmt/format.h>

#include <chrono>

#include "collectives/signature_text.hpp"
#include "util/failure.hpp"

namespace baton::core {
namespace {

/// In the signature of a zero-SM call: it is captured. In that of a message, which is no such call, the bit says
/// something else (arrival.hpp).
constexpr std::uint64_t captured = Signature::receiving;

// Where a kernel can take over, late ranks cost a call no more than this.
constexpr std::chrono::nanoseconds address_patience = std::chrono::microseconds(200);

Rendezvous::Entry entry_of(const Arrival &arrival) {
    Rendezvous::Entry words;
    static_assert(words.size() == Arrival::words);
    for (int index = 0; index < Arrival::words; ++index) words[static_cast<std::size_t>(index)] = arrival.word(index);
    return words;
}

}  // namespace

bool PeerAddresses::learn(const Plan &plan, const CollectiveArgs &args, bool capturing,
                          std::vector<PeerBuffers> &peers) {
    if (rendezvous_ == nullptr) return false;
    if (capturing && !plan.stream_words) {
        rendezvous_->close();
        return false;
    }
    if (!plan.stream_words && rendezvous_->closed()) return false;
    Arrival mine = args.arrival;
    if (capturing) mine.signature.what |= captured;
    const std::uint64_t number = rendezvous_->post(entry_of(mine));
    const auto patience = plan.stream_words ? std::chrono::nanoseconds(view_.timeout_ns) : address_patience;
    std::vector<Rendezvous::Entry> entries;
    const int missing = rendezvous_->collect(number, patience, entries);
    if (missing >= 0) {
        if (!plan.stream_words) return false;
        throw_if_broken_();
        fail(BATON_ERR_TIMEOUT, "rank {} has not issued the matching call in {:g} s (zero-SM call {})", missing,
             static_cast<double>(view_.timeout_ns) * 1e-9, number);
    }
    peers.assign(entries.size(), PeerBuffers{});
    // A broadcast to several ranks is relayed, out of memory that others write to.
    const bool alone = mine.signature.operation() == BATON_BROADCAST && args.send == args.recv && view_.size == 2;
    const Traffic traffic = alone ? Traffic::alone : Traffic::beside_others;
    for (int peer = 0; peer < view_.size; ++peer) {
        const Arrival theirs = Arrival::from_words(entries[static_cast<std::size_t>(peer)].data());
        if (plan.stream_words) {
            expect_alike(mine, peer, theirs, number);
        } else if (!(theirs.signature == mine.signature)) {
            return false;  // the kernels compare too, and tell everybody
        }
        if (peer == view_.rank || args.bytes == 0) continue;
        PeerBuffers &buffers = peers[static_cast<std::size_t>(peer)];
        // Nothing is copied into its send buffer.
        if (!find(peer, theirs.send, Copies::where_possible, &buffers.send) ||
            !find(peer, theirs.recv, copies_in(traffic), &buffers.recv))
            return false;
    }
    return true;
}

/// Throws MISMATCH if the calls differ, or if only one of them is captured. The hosts' rendezvous pairs calls as they
/// are issued, the streams' words as they are executed: where one rank captures a call that another only executes, the
/// two part with the first replay, and copies would go to another call's buffers.
void PeerAddresses::expect_alike(const Arrival &mine, int peer, const Arrival &theirs, std::uint64_t number) const {
    const auto is_captured = [](const Arrival &arrival) { return (arrival.signature.what & captured) != 0; };
    if (theirs.signature == mine.signature && is_captured(theirs) == is_captured(mine)) return;
    const auto text = [&](Arrival arrival) {
        const char *const verb = is_captured(arrival) ? "captured" : "called";
        arrival.signature.what &= ~captured;
        return fmt::format("{} {}", verb, signature_text(arrival.signature));
    };
    fail(BATON_ERR_MISMATCH, "ranks {} and {} disagree: rank {} {}, rank {} {} (zero-SM call {})", view_.rank, peer,
         view_.rank, text(mine), peer, text(theirs), number);
}

bool PeerAddresses::open_for_messages(bool capturing) {
    if (rendezvous_ == nullptr) return false;
    if (capturing) rendezvous_->close();
    patient_until_ = std::chrono::steady_clock::now() + address_patience;
    return !rendezvous_->closed();
}

void PeerAddresses::tell_sender(const Message &recv) { rendezvous_->post_to(recv.peer, entry_of(recv.arrival)); }

std::byte *PeerAddresses::destination_of(const Message &send, Traffic traffic, bool worth_waiting) {
    const std::uint64_t number = rendezvous_->next_from(send.peer);
    Rendezvous::Entry entry;
    if (!worth_waiting || !rendezvous_->await_post(send.peer, number, patient_until_, entry)) return nullptr;
    const Arrival theirs = Arrival::from_words(entry.data());
    std::byte *address = nullptr;
    const bool found =
        theirs.signature == send.arrival.signature && find(send.peer, theirs.recv, copies_in(traffic), &address);
    return found ? address : nullptr;
}

/// False if the peer's buffer is not mapped here, or not for such copies. A buffer that peers need not reach has no
/// name: true, and the address stays as it was.
bool PeerAddresses::find(int peer, const BufferRef &buffer, Copies which, std::byte **address) const {
    if (!buffer.is_in_region()) return true;
    auto *base = static_cast<std::byte *>(
        peers_.address_for_copies(peer, {static_cast<std::uint32_t>(buffer.slot()), buffer.generation}, which));
    if (base == nullptr) return false;
    *address = base + buffer.offset();
    return true;
}

}  // namespace baton::core
