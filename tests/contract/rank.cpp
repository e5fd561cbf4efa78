#include "rank.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace baton::core::contract {
namespace {

constexpr auto publish_patience = std::chrono::milliseconds(30000);
/// Small, so that sizes around the limits are cheap: per peer over all channels, and per staging slot.
constexpr std::uint64_t packet_bytes = 2048;
constexpr std::uint64_t least_line_bytes = 3000;
constexpr std::uint64_t segment_bytes = 4096;
constexpr std::uint64_t early_bytes = 512;

/// pass_lines() asks for a run of all peers' lines in each channel.
std::uint64_t line_bytes(int size, int channels) {
    const auto runs = static_cast<std::uint64_t>(channels) * lines_of_run * DataLine::payload;
    return std::max(least_line_bytes, runs / static_cast<std::uint64_t>(size));
}

const char *text(Said said) {
    constexpr const char *words[] = {"nothing", "no", "yes", "yes to some threads and no to others"};
    return words[static_cast<int>(said)];
}

std::unique_ptr<MemoryDomain> make_domain(const Bootstrap &bootstrap, const Transport &transport) {
    if (!transport.on_gpu) return make_host_domain(bootstrap.same_process());
    return transport.through_host ? make_mapped_domain("a test says so") : make_cuda_domain();
}

}  // namespace

Rank::Rank(Bootstrap &bootstrap, const Transport &transport, const Settings &settings)
    : bootstrap_(bootstrap),
      transport_(transport),
      common_(settings.seed),
      domain_(make_domain(bootstrap, transport)),
      peers_(bootstrap, *domain_, {}),
      registry_(std::make_unique<RegionRegistry>(*domain_, peers_, publish_patience)) {
    words_ = static_cast<HostWords *>(domain_->allocate_shared_with_kernels(sizeof(HostWords)));
    view_.rank = bootstrap.rank();
    view_.size = bootstrap.size();
    view_.timeout_ns = static_cast<std::uint64_t>(settings.timeout_seconds * 1e9);
    view_.arenas_on_host = transport.through_host;
    view_.polls_between_yields = polls_between_yields_oversubscribed;  // there are more ranks than processors here
    view_.control = &words_->control;
    view_.regions = peers_.table();
    view_.layout = ArenaLayout::make(view_.size, transport.channels,
                                     {.packets = packet_bytes,
                                      .lines = line_bytes(view_.size, transport.channels),
                                      .segment = segment_bytes,
                                      .early = early_bytes});
    map_arenas();
    reach_.same_process = bootstrap.same_process();
    reach_.pids = bootstrap.allgather(static_cast<std::int32_t>(::getpid()));
    by_address_ = !transport.on_gpu && !transport.emulated && addresses_reach();
    // Every rank maps all areas of all ranks, page by page, which takes longer than most clauses.
    const std::size_t area_bytes = has_few_rounds() ? settings.area_bytes / 2 : settings.area_bytes;
    memory_ = std::make_unique<Memory>(allocate(2, area_bytes), area_bytes,
                                       test::mix(settings.seed + static_cast<std::uint64_t>(view_.rank) + 1));
    runner_ = transport.make(view_, reach_);
    bootstrap.barrier();
}

/// In the order of a communicator: importers close before owners free.
Rank::~Rank() {
    bootstrap_.barrier();
    peers_.leave();
    peers_.stop();
    runner_.reset();
    peers_.unmap_peers();
    bootstrap_.barrier();
    registry_.reset();
    domain_->release_shared_with_kernels(words_);
}

std::vector<RegionRegistry::Allocation> Rank::allocate(int count, std::size_t bytes) {
    std::vector<RegionRegistry::Allocation> allocations;
    for (int i = 0; i < count; ++i) allocations.push_back(registry_->allocate_published(bytes));
    return allocations;
}

void Rank::map_arenas() {
    const RegionRegistry::Allocation mine = registry_->allocate_published(view_.layout.total_bytes);
    const auto all = bootstrap_.allgather(mine.published);
    for (int peer = 0; peer < view_.size; ++peer) {
        const PublishedRegion &theirs = all[static_cast<std::size_t>(peer)];
        view_.arenas[peer] = static_cast<std::byte *>(peer == view_.rank ? mine.pointer : peers_.address(peer, theirs));
    }
    view_.own_memory = view_.arenas[view_.rank];
}

/// Whether all ranks can read each other's ordinary memory: the system may refuse it between processes.
bool Rank::addresses_reach() {
    struct Offer {
        std::uint64_t address;
        std::uint64_t word;
    };
    const std::uint64_t word = test::mix(static_cast<std::uint64_t>(view_.rank));
    const auto offers = bootstrap_.allgather(Offer{reinterpret_cast<std::uint64_t>(&word), word});
    bool reached = true;
    for (int peer = 0; peer < view_.size; ++peer) {
        const Offer &offer = offers[static_cast<std::size_t>(peer)];
        const HostRemote remote =
            reach_.resolve(view_, peer, BufferRef::at_address(reinterpret_cast<const void *>(offer.address)));
        std::uint64_t read = 0;
        reached =
            reached && host_read(reinterpret_cast<std::byte *>(&read), remote, sizeof(read)) && read == offer.word;
    }
    const auto all = bootstrap_.allgather(static_cast<std::int32_t>(reached));
    return std::all_of(all.begin(), all.end(), [](std::int32_t one) { return one != 0; });
}

bool Rank::has_few_rounds() const {
    return size() > 4 || transport_.emulated || std::getenv("BATON_TEST_QUICK") != nullptr;
}

int Rank::rounds(int many) const {
    return has_few_rounds() ? std::max(1, many / 5) : transport_.on_gpu ? many : 2 * many;
}

BufferRef Rank::name(const Place &place) {
    const bool address = common_.chance(30);
    return by_address_ && address ? memory_->at_address(place) : memory_->in_region(place);
}

Call Rank::call(int operation, std::uint64_t bytes, const Place &send, const Place &recv) {
    Call call;
    call.bytes = bytes;
    call.channels = 1 + static_cast<int>(common_.below(static_cast<std::size_t>(transport_.channels)));
    call.arrival.signature = Signature::make(operation, BATON_UINT8, 0, bytes);
    call.arrival.send = name(send);
    call.arrival.recv = name(recv);
    call.send = memory_->at(send);
    call.recv = memory_->at(recv);
    return call;
}

/// Addresses of the peers' receive buffers, as a host has them after meeting the peers' hosts.
std::vector<Runner::Addresses> Rank::learn_addresses(const std::vector<Call> &calls) {
    std::vector<BufferRef> mine;
    for (const Call &call : calls) mine.push_back(call.arrival.recv);
    std::vector<BufferRef> all(mine.size() * static_cast<std::size_t>(view_.size));
    bootstrap_.allgather(mine.data(), mine.size() * sizeof(BufferRef), all.data());
    std::vector<Runner::Addresses> recv_of(calls.size());
    for (std::size_t k = 0; k < calls.size(); ++k) {
        for (int peer = 0; peer < view_.size; ++peer) {
            const BufferRef &buffer = all[static_cast<std::size_t>(peer) * mine.size() + k];
            if (peer == view_.rank || !buffer.is_in_region()) continue;
            auto *base = static_cast<std::byte *>(
                peers_.address(peer, {static_cast<std::uint32_t>(buffer.slot()), buffer.generation}));
            recv_of[k][static_cast<std::size_t>(peer)] = base != nullptr ? base + buffer.offset() : nullptr;
        }
    }
    return recv_of;
}

Results Rank::run(Program program, std::vector<Call> calls, bool abort) {
    const auto recv_of = learn_addresses(calls);
    const auto blocks = static_cast<std::size_t>(transport_.channels);
    auto *const observed =
        static_cast<Observed *>(domain_->allocate_shared_with_kernels(calls.size() * blocks * sizeof(Observed)));
    for (std::size_t k = 0; k < calls.size(); ++k) {
        calls[k].observed = observed + k * blocks;
        calls[k].started = &words_->started;
    }
    words_->started = 0;
    memory_->upload(*runner_);
    bootstrap_.barrier();
    std::atomic<bool> ended{false};
    std::thread aborter;
    if (abort) {
        aborter = std::thread([&] {
            while (load_acquire(&words_->started) == 0 && !ended.load()) std::this_thread::yield();
            store_relaxed(&words_->control.abort, AbortWord::make(BATON_ERR_ABORTED, view_.rank, view_.rank));
        });
    }
    runner_->run(program, calls, recv_of);
    ended.store(true);
    if (abort) aborter.join();
    Results results;
    for (std::size_t k = 0; k < calls.size(); ++k) {
        results.emplace_back();
        if (calls[k].takes_part == 0) continue;
        results.back().assign(calls[k].observed, calls[k].observed + runner_->engines(calls[k]));
    }
    domain_->release_shared_with_kernels(observed);
    bootstrap_.barrier();
    return results;
}

bool Rank::broken() const {
    const Control &control = words_->control;
    return load_acquire(&control.recorded) != 0 || load_relaxed(&control.seen) != 0 ||
           load_relaxed(&control.abort) != 0;
}

ErrorRecord Rank::record() const {
    return load_acquire(&words_->control.recorded) != 0 ? words_->control.record : ErrorRecord{};
}

std::vector<std::uint64_t> Rank::words(const std::uint64_t *first, int count, std::size_t stride) {
    std::vector<std::uint64_t> all(static_cast<std::size_t>(count) * stride);
    runner_->download(all.data(), first, all.size() * sizeof(std::uint64_t));
    std::vector<std::uint64_t> picked;
    for (std::size_t i = 0; i < all.size(); i += stride) picked.push_back(all[i]);
    return picked;
}

std::vector<std::uint64_t> Rank::packet_words() {
    const ArenaLayout &layout = view_.layout;
    const auto words_of_buffer = static_cast<int>(layout.packets_per_channel * sizeof(Packet) / sizeof(std::uint64_t));
    return words(&view_.own().packets(0, 0, 0)->payload, 2 * layout.channels * layout.size * words_of_buffer, 1);
}

std::vector<std::uint64_t> Rank::line_words() {
    const ArenaLayout &layout = view_.layout;
    const auto words_of_buffer = static_cast<int>(layout.lines_per_channel * sizeof(DataLine) / sizeof(std::uint64_t));
    return words(reinterpret_cast<const std::uint64_t *>(view_.own().lines(0, 0, 0)),
                 2 * layout.channels * layout.size * words_of_buffer, 1);
}

void expect_said(const Rank &rank, const Results &results, Said Observed::*method, Said said) {
    if (!rank.offers().at_once && said == Said::no) said = Said::yes;
    for (std::size_t k = 0; k < results.size(); ++k) {
        for (std::size_t engine = 0; engine < results[k].size(); ++engine) {
            EXPECT_STREQ(text(said), text(results[k][engine].*method))
                << "rank " << rank.rank() << ", call " << k << ", channel " << engine;
        }
    }
}

void expect_success(const Rank &rank, const Results &results) {
    expect_said(rank, results, &Observed::began, Said::yes);
    expect_said(rank, results, &Observed::finished, Said::yes);
    for (std::size_t k = 0; k < results.size(); ++k) {
        for (const Observed &observed : results[k]) {
            for (const Said said : {observed.met, observed.waited, observed.credited}) {
                EXPECT_TRUE(said == Said::yes || said == Said::nothing)
                    << "rank " << rank.rank() << ", call " << k << ": a wait said " << text(said);
            }
        }
    }
}

}  // namespace baton::core::contract
