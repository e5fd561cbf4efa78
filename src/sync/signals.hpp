#pragma once

#include "sync/wait.hpp"

/// Signals between two ranks of a window, as one thread of a kernel or of the host gives and takes them.
///   Giver: 1. Add one to the signals that this rank has given the peer.  2. Store the sum into the peer's word.
///   Taker: 1. Wait until the word reaches the sum of the signals taken before and those asked for.  2. Store the sum.
/// The word only grows, and calls of a window are ordered by the communicator, so neither side ever resets it: signals
/// given before the taker comes are there when it does. Steps: 1 flight. Wire: a word. Synchronisation: the word, with
/// release behind what the giver's stream has put into the window, and acquire before what the taker's stream reads
/// there. Scratch: the word, and a count of its own on each side.
namespace baton::core {

BATON_HD inline void give_signal(const CommView &view, int window, int target) {
    const std::uint64_t given = ++*view.own_words().signals_given(window, target);
    store_release(view.arena(target).signal_word(window, view.rank), given);
}

BATON_HD inline void take_signals(const CommView &view, int window, int source, std::uint64_t signals) {
    std::uint64_t *const taken = view.own_words().signals_taken(window, source);
    const std::uint64_t until = *taken + signals;
    const OperationPoint point{source, 0, until, WaitFor::signal, Signature::make(BATON_WAIT_SIGNAL, 0, 0, signals)};
    if (wait_until(view, point, view.own().signal_word(window, source), until)) *taken = until;
}

}  // namespace baton::core
