// Every way of every collective by kernels: their own source, on threads of the host (block.hpp). Random programs of
// them run one after the other on the same arenas; results are compared with what MPI would give.
#include "emulation/cuda.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "collectives/algorithms.hpp"
#include "collectives/expected.hpp"
#include "collectives/kernel_body.cuh"
#include "collectives/links.hpp"
#include "emulation/forbid.hpp"
#include "emulation/node.hpp"
#include "support/seed.hpp"
#include "transport/kernel/unaligned_engine.cuh"

namespace baton::emulation {
namespace {

using core::Algorithm;
using core::CommView;
using test::Buffers;

constexpr unsigned threads = 64;             // one warp takes what comes while the other verifies arrivals
constexpr unsigned threads_that_pass = 160;  // for pipelines, whose warps have rings of lines of their own
constexpr std::size_t most_buffered = 6000;  // in packets or lines
constexpr std::size_t most_bytes = 40000;    // more than an engine copies at once beside others, for two channels
constexpr std::size_t relayed_bytes = 3 << 19;
constexpr std::size_t run_bytes = core::LineRun<core::lines_at_once>::all_lines * core::DataLine::payload;
constexpr std::size_t recv_area = 2 << 20, memory_bytes = 4 << 20;

template <baton_operation operation, Algorithm algorithm, class T, class Engine = core::EngineFor<operation, algorithm>>
void collective_kernel(const CommView &view, const core::RoutedArgs &args) {
    core::collective_kernel<operation, algorithm, T, Engine>(view, args);
}

/// The kernel of reduce_scatter_unaligned_kernel().
template <class T>
constexpr auto unaligned_kernel = &collective_kernel<BATON_REDUCE_SCATTER, Algorithm::pull, T, core::UnalignedEngine>;

struct Kernel {
    baton_operation operation;
    core::Way way;
    baton_type type;
    void (*run)(const CommView &, const core::RoutedArgs &);
};

template <baton_operation operation, std::size_t index, class T>
void add_kernel(std::vector<Kernel> &kernels, baton_type type) {
    constexpr core::Way way = core::ways<operation>[index];
    if constexpr (way.mover == core::Mover::kernel)
        kernels.push_back({operation, way, type, &collective_kernel<operation, way.algorithm, T>});
}

template <baton_operation operation, class T>
void add_kernels(std::vector<Kernel> &kernels, baton_type type) {
    [&]<std::size_t... index>(std::index_sequence<index...>) { (add_kernel<operation, index, T>(kernels, type), ...); }
    (std::make_index_sequence<core::ways<operation>.size()>{});
}

std::vector<Kernel> all_kernels() {
    std::vector<Kernel> kernels;
    add_kernels<BATON_BARRIER, std::uint8_t>(kernels, BATON_UINT8);
    add_kernels<BATON_ALLGATHER, std::uint8_t>(kernels, BATON_UINT8);
    add_kernels<BATON_ALLTOALL, std::uint8_t>(kernels, BATON_UINT8);
    add_kernels<BATON_BROADCAST, std::uint8_t>(kernels, BATON_UINT8);
    add_kernels<BATON_REDUCE_SCATTER, float>(kernels, BATON_FLOAT32);
    add_kernels<BATON_ALLREDUCE, float>(kernels, BATON_FLOAT32);
    add_kernels<BATON_REDUCE_SCATTER, core::BFloat16>(kernels, BATON_BFLOAT16);
    add_kernels<BATON_ALLREDUCE, core::BFloat16>(kernels, BATON_BFLOAT16);
    const std::vector<Kernel> by_words = kernels;
    for (const Kernel &kernel : by_words) {
        if (kernel.operation != BATON_REDUCE_SCATTER || kernel.way.algorithm != Algorithm::pull) continue;
        kernels.push_back(kernel);
        kernels.back().run = kernel.type == BATON_FLOAT32 ? unaligned_kernel<float> : unaligned_kernel<core::BFloat16>;
    }
    return kernels;
}

/// One call of all ranks: what it is given and what it must give, by rank.
struct Call {
    Kernel kernel;
    std::size_t count = 0;
    baton_op op = BATON_SUM;
    int root = 0;
    int channels = 1;
    bool in_place = false;
    unsigned moves = 0;                    // bits by rank: its memory is elsewhere from this call on
    bool asks_for_slots = false;           // CollectiveArgs::beside_copy_engines
    bool links_are_alike = false;          // for a pipeline
    bool begins_in_lines = false;          // likewise, if there are lines
    std::size_t send_at = 0, recv_at = 0;  // in the ranks' memory
    Buffers inputs, expected;

    unsigned blocks() const { return static_cast<unsigned>(channels * core::blocks_per_channel(kernel.way.algorithm)); }
    unsigned threads_of_block() const { return core::is_pipeline(kernel.way.algorithm) ? threads_that_pass : threads; }
    std::size_t chunk() const { return count * baton_type_size(kernel.type); }
    std::string text() const {
        return fmt::format("{} {} of {} {}, {}, root {}, {} channels{}{}, send at {}, recv at {}",
                           baton_operation_name(kernel.operation), core::algorithm_name(kernel.way.algorithm), count,
                           baton_type_name(kernel.type), baton_op_name(op), root, channels,
                           links_are_alike ? ", links alike" : "", begins_in_lines ? ", begins in lines" : "", send_at,
                           recv_at);
    }
};

std::vector<std::byte> part(const std::vector<std::byte> &of, std::size_t from, std::size_t bytes) {
    const auto begin = of.begin() + static_cast<std::ptrdiff_t>(from);
    return {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
}

/// A rank's input has `blocks` chunks.
void make_data(Call &call, int size, std::uint64_t seed) {
    const auto ranks = static_cast<std::size_t>(size);
    const std::size_t chunk = call.chunk();
    const baton_operation operation = call.kernel.operation;
    const bool blocks = operation == BATON_REDUCE_SCATTER || operation == BATON_ALLTOALL;
    call.inputs = test::all_patterns(seed, size, blocks ? ranks * chunk : chunk);
    std::vector<std::byte> all;
    for (const auto &input : call.inputs) all.insert(all.end(), input.begin(), input.end());
    const std::vector<std::byte> sums =
        core::reduces(operation)
            ? test::expected_reduction(call.inputs, blocks ? ranks * call.count : call.count, call.kernel.type, call.op)
            : std::vector<std::byte>();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        std::vector<std::byte> expected;
        switch (operation) {
            case BATON_ALLGATHER:
                expected = all;
                break;
            case BATON_ALLTOALL:
                for (const auto &input : call.inputs) {
                    const auto block = part(input, rank * chunk, chunk);
                    expected.insert(expected.end(), block.begin(), block.end());
                }
                break;
            case BATON_BROADCAST:
                expected = call.inputs[static_cast<std::size_t>(call.root)];
                break;
            case BATON_REDUCE_SCATTER:
                expected = part(sums, rank * chunk, chunk);
                break;
            case BATON_ALLREDUCE:
                expected = sums;
                break;
            default:
                break;
        }
        call.expected.push_back(expected);
    }
}

/// Whether code is slow (sanitizers).
bool quick() { return std::getenv("BATON_TEST_QUICK") != nullptr; }

/// The links that an algorithm needs: in rank order, but not for a pipeline.
core::Links links_for(const Call &call, int size) {
    const Algorithm algorithm = call.kernel.way.algorithm;
    core::Links links;
    links.all_alike = call.links_are_alike;
    const bool backwards = core::is_pipeline(algorithm) && size > 1 && !links.all_alike;
    const bool ring = algorithm == Algorithm::ring || algorithm == Algorithm::chain || backwards;
    for (int rank = 0; rank < size; ++rank) {
        if (ring) links.ring.push_back(backwards ? size - 1 - rank : rank);
        if (algorithm == Algorithm::two_level) links.island_of_rank.push_back(2 * rank / size);
    }
    if (ring) links.shape = core::Links::Shape::ring;
    if (algorithm == Algorithm::two_level) links.shape = core::Links::Shape::islands;
    return links;
}

class EmulatedKernels : public testing::TestWithParam<std::tuple<int, bool>> {
protected:
    int size() const { return std::get<0>(GetParam()); }
    bool through_host() const { return std::get<1>(GetParam()); }

    Node node() const {
        Node::Settings settings;
        settings.through_host = through_host();
        settings.memory_bytes = memory_bytes;
        settings.moves = true;
        // Lines and early staging if a communicator has them (comm/arena_limits.cpp).
        settings.limits = {.packets = 2 * most_buffered,
                           .lines = through_host() ? 0 : 2 * most_buffered,
                           .segment = 2048,
                           .early = through_host() ? 512U : 0U};
        return Node(size(), settings);
    }
    bool possible(const Kernel &kernel) const {
        if (through_host()) return kernel.way.touches == core::Touches::nothing && !goes_in_lines(kernel.way.algorithm);
        return size() > 1 || !core::is_routed(kernel.way.algorithm) || core::is_pipeline(kernel.way.algorithm);
    }
    Call draw(const Kernel &kernel, std::mt19937_64 &random) const {
        Call call;
        call.kernel = kernel;
        const Algorithm algorithm = kernel.way.algorithm;
        const bool buffered = core::goes_in_packets(algorithm) || core::lies_in_lines(algorithm);
        const std::size_t most = (buffered ? most_buffered : most_bytes) / baton_type_size(kernel.type);
        const std::size_t runs = run_bytes * (1 + random() % 3) - 8 * (random() % 3);  // about as many as warps move
        const std::size_t counts[] = {
            0, 1, 2, 7, 8, 30, 129, runs / baton_type_size(kernel.type), most / 3, most - random() % 4};
        call.count = counts[random() % std::size(counts)];
        if (kernel.operation == BATON_BARRIER) call.count = 0;
        const bool steps = algorithm == Algorithm::push || core::is_pipeline(algorithm);
        if (kernel.operation == BATON_BROADCAST && steps && random() % 4 == 0) call.count = relayed_bytes;
        call.op = core::reduces(kernel.operation) ? static_cast<baton_op>(random() % BATON_OP_COUNT) : BATON_SUM;
        call.root = static_cast<int>(random()) & 0xFF;
        call.root = kernel.operation == BATON_BROADCAST ? call.root % size() : 0;
        call.links_are_alike = core::is_pipeline(algorithm) && random() % 2 == 0;
        call.begins_in_lines = core::is_pipeline(algorithm) && !through_host() && random() % 4 != 0;
        call.channels = 1 + static_cast<int>(random() % 2);
        call.moves = static_cast<unsigned>(random() & random());
        call.asks_for_slots = random() % 2 == 0;
        call.in_place =
            random() % 3 == 0 && kernel.way.in_place == core::InPlace::safe && kernel.operation != BATON_REDUCE_SCATTER;
        const std::size_t element = baton_type_size(kernel.type);
        call.send_at = random() % 40 * element;
        call.recv_at = recv_area + random() % 40 * element;
        if (random() % 4 == 0) {  // aligned alike, but not to elements
            call.send_at = call.send_at / 16 * 16 + random() % 16;
            call.recv_at = call.recv_at / 16 * 16 + call.send_at % 16;
        }
        make_data(call, size(), random());
        return call;
    }
    void run(const Node &node, const Call &call, std::uint64_t seed);
};

core::RoutedArgs args_of(Node &node, const CommView &view, const Call &call, std::byte *send, std::byte *recv) {
    core::RoutedArgs args;
    args.arrival = {core::Signature::make(call.kernel.operation, call.kernel.type, call.op, call.count, call.root),
                    node.name(view.rank, send), node.name(view.rank, recv)};
    // A peer may have ended already, and have freed what nobody reads or writes: such names are out of date.
    const bool is_root = call.kernel.operation == BATON_BROADCAST && view.rank == call.root;
    if (is_root || call.kernel.way.touches == core::Touches::nothing) {
        args.arrival.send.generation += 1;
        args.arrival.recv.generation += 1;
    }
    args.send = send;
    args.recv = recv;
    args.bytes = call.chunk();
    args.op = call.op;
    args.root = call.root;
    args.beside_copy_engines = call.asks_for_slots;
    args.route = core::make_route(links_for(call, view.size), view.rank, view.size);
    args.begins_in_lines = call.begins_in_lines;
    return args;
}

/// Forbids loads and stores beside an input.
void forbid_around(const std::byte *memory, const std::byte *send, std::size_t bytes) {
    constexpr std::size_t beside = 64;
    const auto before = static_cast<std::size_t>(send - memory);
    const std::size_t from = before < beside ? 0 : (before - beside) / 8 * 8;
    forbid(memory + from, before / 8 * 8 - from);
    forbid(send + bytes, beside);
}

/// One rank's part of a call. The kernel ends when its blocks do; what it has sent may be taken later.
void launch(Node &node, const CommView &view, const Call &call, std::uint64_t seed) {
    const auto rank = static_cast<std::size_t>(view.rank);
    if ((call.moves >> rank & 1) != 0) node.move(view.rank);
    std::byte *const recv = node.memory(view.rank) + call.recv_at;
    std::byte *send = node.memory(view.rank) + call.send_at;
    if (call.in_place) send = call.kernel.operation == BATON_ALLGATHER ? recv + rank * call.chunk() : recv;
    const std::vector<std::byte> &input = call.inputs[rank];
    if (!input.empty()) std::memcpy(send, input.data(), input.size());
    const std::vector<std::byte> &expected = call.expected[rank];
    const std::vector<std::byte> guard(64, std::byte{0xEE});  // on both sides of what is received
    std::byte *const before = recv - guard.size(), *const behind = recv + expected.size();
    std::ranges::copy(guard, before);
    std::ranges::copy(guard, behind);
    const core::RoutedArgs args = args_of(node, view, call, send, recv);
    if (!call.in_place) forbid_around(node.memory(view.rank), send, input.size());
    std::vector<std::uint64_t> epochs;
    for (int channel = 0; channel < call.channels; ++channel) epochs.push_back(*view.own().epoch(channel));
    // The next kernel may be one that does not wait for this one's end. What follows that one waits for it alone.
    bool launched = false;
    const auto after = [&] {
        launched = true;
        for (int channel = 0; channel < call.channels; ++channel) {
            const core::ChannelStart &start = *view.own().start(channel);
            EXPECT_EQ(start.epoch, epochs[static_cast<std::size_t>(channel)] + 1) << call.text();
            EXPECT_EQ(start.halves, 0U) << call.text();
        }
    };
    run_grid(
        call.blocks(), call.threads_of_block(), seed + rank * 16, [&] { call.kernel.run(view, args); }, UINT_MAX,
        after);
    EXPECT_TRUE(launched) << call.text();
    allow(node.memory(view.rank), memory_bytes);
    EXPECT_TRUE(test::equal_bytes(expected, {recv, expected.size()})) << call.text() << ", rank " << rank;
    EXPECT_TRUE(test::equal_bytes(guard, {before, guard.size()}) && test::equal_bytes(guard, {behind, guard.size()}))
        << call.text() << ", rank " << rank << ": beside what is received";
}

TEST_P(EmulatedKernels, GiveWhatMpiGives) {
    if (quick() && size() > 3) GTEST_SKIP() << "takes long";
    const std::uint64_t seed = test::draw_seed();
    std::mt19937_64 random(seed);
    Node node = this->node();
    std::vector<Call> program;
    for (const Kernel &kernel : all_kernels()) {
        for (int times = 0; possible(kernel) && times < (quick() ? 2 : 40 / size()); ++times)
            program.push_back(draw(kernel, random));
    }
    std::shuffle(program.begin(), program.end(), random);
    node.with_ranks([&](const CommView &view) {
        for (std::size_t k = 0; k < program.size(); ++k) {
            if (HasFailure()) return node.abort();
            launch(node, view, program[k], seed + k * 999);
        }
    });
    EXPECT_TRUE(node.errors().empty());
}

/// A peer gives up while a kernel starts, and only some of its threads know. They end together all the same.
class EmulatedKernelsThatBreak : public EmulatedKernels {};

TEST_P(EmulatedKernelsThatBreak, EndWhereThreadsAreToldDifferently) {
    const std::uint64_t seed = test::draw_seed();
    std::mt19937_64 random(seed);
    for (const Kernel &kernel : all_kernels()) {
        if (!possible(kernel)) continue;
        Node node = this->node();
        const Call call = draw(kernel, random);
        const auto teller = static_cast<unsigned>(random() % threads);
        node.with_ranks([&](const CommView &view) {
            std::byte *const send = node.memory(view.rank) + call.send_at;
            const core::RoutedArgs args = args_of(node, view, call, send, node.memory(view.rank) + call.recv_at);
            run_grid(call.blocks(), call.threads_of_block(), seed + static_cast<std::uint64_t>(view.rank), [&] {
                if (threadIdx.x == teller) {
                    for (int rank = 0; rank < size(); ++rank)
                        core::store_abort(view.arena(rank), core::AbortWord::make(BATON_ERR_ABORTED, 0, 0));
                }
                call.kernel.run(view, args);
            });
            for (int channel = 0; channel < call.channels; ++channel)
                EXPECT_EQ(*view.own().epoch(channel), 0U) << call.text();
        });
        EXPECT_TRUE(node.errors().empty());
    }
}

/// The first block of a channel has completed when the second one, at its start, gives up for all ranks.
TEST_P(EmulatedKernelsThatBreak, KeepTheEpochWhereOneOfTwoBlocksFails) {
    const std::uint64_t seed = test::draw_seed();
    std::mt19937_64 random(seed);
    int halved = 0;
    for (const Kernel &kernel : all_kernels()) {
        if (core::blocks_per_channel(kernel.way.algorithm) == 1) continue;
        ++halved;
        Node node = this->node();
        Call call = draw(kernel, random);
        call.channels = 1;
        std::atomic<int> completed = 0;
        node.with_ranks([&](const CommView &view) {
            std::byte *const send = node.memory(view.rank) + call.send_at;
            const core::RoutedArgs args = args_of(node, view, call, send, node.memory(view.rank) + call.recv_at);
            const auto kernel_of_block = [&] {
                if (blockIdx.x == 1 && threadIdx.x == 0) {
                    completed += static_cast<int>(view.own().start(0)->halves);
                    for (int rank = 0; rank < size(); ++rank)
                        core::store_abort(view.arena(rank), core::AbortWord::make(BATON_ERR_ABORTED, 0, 0));
                }
                call.kernel.run(view, args);
            };
            run_grid(call.blocks(), call.threads_of_block(), seed + static_cast<std::uint64_t>(view.rank),
                     kernel_of_block, 1);
            EXPECT_EQ(*view.own().epoch(0), 0U) << call.text();
        });
        EXPECT_GT(completed, 0) << call.text();
        EXPECT_TRUE(node.errors().empty());
    }
    EXPECT_GT(halved, 0);
}

class EmulatedKernelsThatDisagree : public EmulatedKernels {};

/// One rank makes the same call with another count, type or operator. No rank completes, by whatever way.
TEST_P(EmulatedKernelsThatDisagree, AreToldSo) {
    const std::uint64_t seed = test::draw_seed();
    std::mt19937_64 random(seed);
    int ran = 0;
    for (const Kernel &kernel : all_kernels()) {
        if (!possible(kernel)) continue;
        Node node = this->node();
        const Call call = draw(kernel, random);
        const int odd = static_cast<int>(random() % static_cast<unsigned>(size()));
        const auto differs = random() % 3;
        ++ran;
        node.with_ranks([&](const CommView &view) {
            std::byte *const send = node.memory(view.rank) + call.send_at;
            core::RoutedArgs args = args_of(node, view, call, send, node.memory(view.rank) + call.recv_at);
            if (view.rank == odd) {
                const core::Signature same = args.arrival.signature;
                args.arrival.signature = core::Signature::make(same.operation(), same.type() + (differs == 1 ? 1 : 0),
                                                               same.op() + (differs == 2 ? 1 : 0),
                                                               same.count + (differs == 0 ? 1 : 0), same.root());
            }
            run_grid(call.blocks(), call.threads_of_block(), seed + static_cast<std::uint64_t>(view.rank),
                     [&] { call.kernel.run(view, args); });
            for (int channel = 0; channel < call.channels; ++channel)
                EXPECT_EQ(*view.own().epoch(channel), 0U) << call.text() << ", rank " << view.rank << ", odd " << odd;
        });
        EXPECT_FALSE(node.errors().empty()) << call.text();
        for (const core::ErrorRecord &record : node.errors())
            EXPECT_EQ(record.code, static_cast<std::uint64_t>(BATON_ERR_MISMATCH)) << call.text();
    }
    EXPECT_GT(ran, 0);
}

std::string name_of(const testing::TestParamInfo<std::tuple<int, bool>> &of) {
    return fmt::format("{}{}", std::get<0>(of.param), std::get<1>(of.param) ? "ThroughHost" : "");
}
INSTANTIATE_TEST_SUITE_P(Ranks, EmulatedKernels, testing::Combine(testing::Values(1, 2, 3, 5, 9), testing::Bool()),
                         name_of);
// Through host memory one thread looks for all, and may have looked before another one told. Then all may complete.
INSTANTIATE_TEST_SUITE_P(Ranks, EmulatedKernelsThatBreak,
                         testing::Combine(testing::Values(2, 3), testing::Values(false)), name_of);
INSTANTIATE_TEST_SUITE_P(Ranks, EmulatedKernelsThatDisagree, testing::Combine(testing::Values(2, 3), testing::Bool()),
                         name_of);

}  // namespace
}  // namespace baton::emulation
