#pragma once

#include <algorithm>
#include <cerrno>

#include "transport/host/move.hpp"
#include "transport/host/remote_memory.hpp"
#include "transport/transport.hpp"

namespace baton::core {

/// One host thread's send or recv: the primitives that collectives/p2p is written with, as in
/// kernel/message_engine.cuh.
class HostMessageEngine {
public:
    using Remote = HostRemote;

    HostMessageEngine(const CommView &view, const HostReach &reach, const Arrival &mine, int peer, std::uint64_t number)
        : view_(view), reach_(reach), mine_(mine), number_(number), peer_(peer) {
        failed_ = told_to_give_up(view_) || load_relaxed(&view_.control->abort) != 0;
    }

    int rank() const { return view_.rank; }
    int channel() const { return 0; }
    Arena own() const { return view_.own(); }
    Arena arena(int peer) const { return view_.arena(peer); }
    Range share(std::uint64_t bytes, std::uint64_t /*granule*/) const { return {0, bytes}; }

    bool wait_word(const std::uint64_t *word, std::uint64_t value, WaitFor wait_for) {
        Spin spin(view_, at(wait_for));
        while (!failed_ && load_acquire(word) < value) {
            if (!spin()) failed_ = true;
        }
        return !failed_;
    }
    void post_word(std::uint64_t *word, std::uint64_t value) {
        if (!failed_) store_release(word, value);
    }
    void post_line(ArrivalLine *line) {
        for (int word = 0; word < Arrival::words && !failed_; ++word) store_arrival_word(line, mine_, word, number_);
    }
    bool compare_line(const ArrivalLine *line, Remote *buffer) {
        Spin spin(view_, at(WaitFor::reply));
        Arrival theirs;
        while (!failed_ && !load_arrival(line, number_, &theirs)) {
            if (!spin()) failed_ = true;
        }
        if (failed_) return false;
        if (!(theirs.signature == mine_.signature)) return report(BATON_ERR_MISMATCH, theirs.signature);
        if (buffer != nullptr) *buffer = reach_.resolve(view_, peer_, theirs.recv);
        return true;
    }

    void copy(Remote destination, const std::byte *source, std::uint64_t bytes) {
        if (failed_ || host_write(destination, source, bytes)) return;
        report(errno == ESRCH ? BATON_ERR_PEER_DEAD : BATON_ERR_SYSTEM, mine_.signature);
    }
    void put(Packet *destination, const std::byte *source, std::uint64_t bytes, std::uint64_t epoch) {
        if (failed_) return;
        Packet *const destinations[1] = {destination};
        put_packets(destinations, 1, source, bytes, epoch);
    }
    bool take(std::byte *destination, const Packet *source, std::uint64_t bytes, std::uint64_t epoch) {
        if (failed_) return false;
        Spin spin(view_, at(WaitFor::data));
        if (!take_packets(destination, source, bytes, epoch, spin)) failed_ = true;
        return !failed_;
    }
    bool last_part(std::uint64_t * /*parts*/) { return !failed_; }

private:
    OperationPoint at(WaitFor wait_for) const { return {peer_, channel(), number_, wait_for, mine_.signature}; }

    bool report(baton_result code, const Signature &theirs) {
        give_up(view_, code, at(WaitFor::header), theirs);
        failed_ = true;
        return false;
    }

    const CommView &view_;
    const HostReach &reach_;
    const Arrival &mine_;
    std::uint64_t number_;
    int peer_;
    bool failed_ = false;
};

}  // namespace baton::core
