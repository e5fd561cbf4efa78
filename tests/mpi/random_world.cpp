#include "random_world.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace baton::test {
namespace {

MPI_Datatype unsigned_type(std::size_t width) {  // sums and products wrap to the same bits, signed or not
    switch (width) {
        case 1:
            return MPI_UINT8_T;
        case 2:
            return MPI_UINT16_T;
        case 4:
            return MPI_UINT32_T;
        default:
            return MPI_UINT64_T;
    }
}

MPI_Datatype mpi_type(baton_type type, baton_op op) {
    if (op == BATON_SUM || op == BATON_PROD) return unsigned_type(width_of(type));
    switch (type) {
        case BATON_INT8:
            return MPI_INT8_T;
        case BATON_INT16:
            return MPI_INT16_T;
        case BATON_INT32:
            return MPI_INT32_T;
        case BATON_INT64:
            return MPI_INT64_T;
        default:
            return unsigned_type(width_of(type));
    }
}

MPI_Op mpi_op(baton_op op) {
    switch (op) {
        case BATON_PROD:
            return MPI_PROD;
        case BATON_MIN:
            return MPI_MIN;
        case BATON_MAX:
            return MPI_MAX;
        default:
            return MPI_SUM;
    }
}

/// Whether MPI itself computes the expected result. Floating point has an order that MPI does not promise, and Open
/// MPI's vectorised sums of 8- and 16-bit integers saturate instead of wrapping: these come from the reference.
bool mpi_reduces(baton_type type, baton_op op) { return is_integer(type) && (op != BATON_SUM || width_of(type) >= 4); }

Bytes gather_all(const std::byte *mine, std::size_t bytes, MPI_Comm comm, std::size_t ranks) {
    Bytes all(bytes * ranks);
    MPI_Allgather(mine, static_cast<int>(bytes), MPI_BYTE, all.data(), static_cast<int>(bytes), MPI_BYTE, comm);
    return all;
}

}  // namespace

RandomWorld::RandomWorld(MpiComm mpi_comm)
    : mpi_(std::move(mpi_comm)),
      comm_(mpi_),
      own_choice_(environment().seed * 131 + static_cast<std::uint64_t>(world_rank())),
      on_gpu_(test::on_gpu(comm_)) {
    streams_ = {std::make_unique<Stream>(comm_, Stream::Kind::null), std::make_unique<Stream>(comm_, Stream::Kind::own),
                std::make_unique<Stream>(comm_, Stream::Kind::own)};
    for (std::size_t i = 0; i < buffers; ++i) {
        data_[i] = std::make_unique<Buffer>(comm_, capacity, i == 0 ? Memory::baton : Memory::plain);
        model_[i] = make_input(BATON_UINT8, BATON_SUM, environment().seed + i, world_rank(), capacity);
        data_[i]->upload(model_[i]);
    }
    void *base = nullptr;
    EXPECT_OK(baton_window_create(comm_, capacity * n(), &window_, &base));
    window_base_ = static_cast<std::byte *>(base);
    window_model_.resize(capacity * n());
}

RandomWorld::~RandomWorld() {
    if (::testing::Test::HasFailure()) baton_comm_abort(comm_);
    synchronize();
    if (::testing::Test::HasFailure()) return;
    EXPECT_OK(baton_window_destroy(window_));
}

void RandomWorld::synchronize() {
    for (auto &stream : streams_) stream->synchronize();
}

void RandomWorld::verify() {
    synchronize();
    EXPECT_OK(baton_comm_check(comm_));
    for (std::size_t i = 0; i < buffers; ++i) {
        EXPECT_TRUE(same_bytes(model_[i], data_[i]->download())) << "buffer " << i;
        EXPECT_TRUE(data_[i]->guards_intact()) << "buffer " << i;
    }
    // Nobody may put into the window while its owner looks; verify() is called by all ranks, between protocols.
    Bytes seen(window_model_.size());
    copy_memory(seen.data(), window_base_, seen.size(), on_gpu_);
    EXPECT_TRUE(same_bytes(window_model_, seen)) << "window";
}

std::string RandomWorld::step(Random &random) {
    switch (random.below(18)) {
        case 0:
        case 1:
            return allgather(random);
        case 2:
        case 3:
            return reduce_scatter(random);
        case 4:
        case 5:
        case 6:
            return allreduce(random);
        case 7:
        case 8:
            return messages(random);
        case 9:
            return shift(random);
        case 10:
            return puts(random);
        case 11:
            return gets(random);
        case 12:
            return random.chance(50) ? refill(random) : reallocate(random);
        case 13:
        case 14:
            return alltoall(random);
        case 15:
        case 16:
            return broadcast(random);
        default:
            EXPECT_OK(baton_barrier(comm_, any_stream()));
            return "barrier";
    }
}

RandomWorld::Pick RandomWorld::pick(Random &random, std::size_t in_blocks, std::size_t out_blocks) {
    Pick p{};
    do {
        p.type = all_types[random.below(std::size(all_types))];
        p.op = all_ops[random.below(std::size(all_ops))];
    } while (!is_defined(p.op, p.type));
    p.width = width_of(p.type);
    const std::size_t most = capacity / p.width / std::max(in_blocks, out_blocks);
    p.count = random.chance(50) ? random.below(std::min<std::size_t>(most, 300) + 1) : random.below(most + 1);
    p.from = random.below(buffers);
    p.to = (p.from + 1 + random.below(buffers - 1)) % buffers;
    p.from_byte = random.below(capacity / p.width - p.count * in_blocks + 1) * p.width;
    p.to_byte = random.below(capacity / p.width - p.count * out_blocks + 1) * p.width;
    p.text = fmt::format("{} {} {}, buffer {}+{} to {}+{}", p.count, baton_type_name(p.type), baton_op_name(p.op),
                         p.from, p.from_byte, p.to, p.to_byte);
    return p;
}

void RandomWorld::upload(std::size_t buffer, std::size_t at_byte, const Bytes &content) {
    synchronize();
    data_[buffer]->upload(content, at_byte);
    std::copy(content.begin(), content.end(), model_[buffer].begin() + static_cast<std::ptrdiff_t>(at_byte));
}

void RandomWorld::prepare_input(const Pick &p, std::size_t elements, std::uint64_t seed) {
    if (!is_integer(p.type)) upload(p.from, p.from_byte, make_input(p.type, p.op, seed, comm_.rank(), elements));
}

std::string RandomWorld::allgather(Random &random) {
    Pick p = pick(random, 1, n());
    const std::size_t block = p.count * p.width, own = static_cast<std::size_t>(comm_.rank()) * block;
    const bool in_place = random.chance(25);
    if (in_place) {
        p.from = p.to;
        p.from_byte = p.to_byte + own;
    }
    const void *send = in_place && random.chance(50) ? BATON_IN_PLACE : data_[p.from]->at(p.from_byte);
    EXPECT_OK(baton_allgather(send, data_[p.to]->at(p.to_byte), p.count, p.type, comm_, any_stream()));
    const Bytes all = gather_all(model_[p.from].data() + p.from_byte, block, mpi_, n());
    std::copy(all.begin(), all.end(), model_[p.to].begin() + static_cast<std::ptrdiff_t>(p.to_byte));
    return "allgather " + p.text + (in_place ? ", in place" : "");
}

std::string RandomWorld::alltoall(Random &random) {
    Pick p = pick(random, n(), n());
    const bool in_place = random.chance(30);
    if (in_place) {
        p.from = p.to;
        p.from_byte = p.to_byte;
    }
    const void *send = in_place && random.chance(50) ? BATON_IN_PLACE : data_[p.from]->at(p.from_byte);
    EXPECT_OK(baton_alltoall(send, data_[p.to]->at(p.to_byte), p.count, p.type, comm_, any_stream()));
    const auto block = static_cast<int>(p.count * p.width);
    std::byte *result = model_[p.to].data() + p.to_byte;
    MPI_Alltoall(in_place ? MPI_IN_PLACE : model_[p.from].data() + p.from_byte, block, MPI_BYTE, result, block,
                 MPI_BYTE, mpi_);
    return "alltoall " + p.text + (in_place ? ", in place" : "");
}

std::string RandomWorld::broadcast(Random &random) {
    Pick p = pick(random, 1, 1);
    const int root = static_cast<int>(random.below(n()));
    if (random.chance(30)) {
        p.from = p.to;
        p.from_byte = p.to_byte;
    }
    EXPECT_OK(baton_broadcast(data_[p.from]->at(p.from_byte), data_[p.to]->at(p.to_byte), p.count, p.type, root, comm_,
                              any_stream()));
    const std::size_t bytes = p.count * p.width;
    std::byte *result = model_[p.to].data() + p.to_byte;
    if (root == comm_.rank()) std::memmove(result, model_[p.from].data() + p.from_byte, bytes);
    MPI_Bcast(result, static_cast<int>(bytes), MPI_BYTE, root, mpi_);
    return fmt::format("broadcast {}, root {}", p.text, root);
}

std::string RandomWorld::reduce_scatter(Random &random) {
    Pick p = pick(random, n(), 1);
    prepare_input(p, p.count * n(), random.next());
    const auto rank = static_cast<std::size_t>(comm_.rank());
    const std::size_t block = p.count * p.width;
    const bool as_mpi = random.chance(25);
    const bool as_nccl = !as_mpi && random.chance(30);
    if (as_mpi || as_nccl) {
        p.to = p.from;
        p.to_byte = p.from_byte + (as_nccl ? rank * block : 0);
    }
    const void *send = as_mpi ? BATON_IN_PLACE : data_[p.from]->at(p.from_byte);
    EXPECT_OK(baton_reduce_scatter(send, data_[p.to]->at(p.to_byte), p.count, p.type, p.op, comm_, any_stream()));
    const std::byte *first = model_[p.from].data() + p.from_byte;
    const Bytes input(first, first + block * n());
    std::byte *result = model_[p.to].data() + p.to_byte;
    if (mpi_reduces(p.type, p.op)) {
        MPI_Reduce_scatter_block(input.data(), result, static_cast<int>(p.count), mpi_type(p.type, p.op), mpi_op(p.op),
                                 mpi_);
    } else {
        const Bytes all = gather_all(input.data(), block * n(), mpi_, n());
        std::vector<std::span<const std::byte>> blocks;
        for (std::size_t r = 0; r < n(); ++r) blocks.push_back(std::span(all).subspan((r * n() + rank) * block, block));
        const Bytes reduced = reduce(p.type, p.op, blocks);
        std::copy(reduced.begin(), reduced.end(), result);
    }
    return "reduce_scatter " + p.text + (as_mpi ? ", in place as MPI's" : as_nccl ? ", in place as NCCL's" : "");
}

std::string RandomWorld::allreduce(Random &random) {
    Pick p = pick(random, 1, 1);
    prepare_input(p, p.count, random.next());
    const bool in_place = random.chance(30);
    if (in_place) {
        p.to = p.from;
        p.to_byte = p.from_byte;
    }
    EXPECT_OK(baton_allreduce(data_[p.from]->at(p.from_byte), data_[p.to]->at(p.to_byte), p.count, p.type, p.op, comm_,
                              any_stream()));
    const std::size_t block = p.count * p.width;
    std::byte *result = model_[p.to].data() + p.to_byte;
    const std::byte *input = model_[p.from].data() + p.from_byte;
    if (mpi_reduces(p.type, p.op)) {
        MPI_Allreduce(in_place ? MPI_IN_PLACE : input, result, static_cast<int>(p.count), mpi_type(p.type, p.op),
                      mpi_op(p.op), mpi_);
    } else {
        const Bytes all = gather_all(input, block, mpi_, n());
        std::vector<std::span<const std::byte>> inputs;
        for (std::size_t r = 0; r < n(); ++r) inputs.push_back(std::span(all).subspan(r * block, block));
        const Bytes reduced = reduce(p.type, p.op, inputs);
        std::copy(reduced.begin(), reduced.end(), result);
    }
    return "allreduce " + p.text + (in_place ? ", in place" : "");
}

std::string RandomWorld::refill(Random &random) {
    const std::size_t buffer = random.below(buffers);
    upload(buffer, 0, make_input(BATON_UINT8, BATON_SUM, random.next(), world_rank(), capacity));
    return fmt::format("refill {}", buffer);
}

/// Memory is freed and allocated again, often at the same address: what peers knew of the old must not serve the new.
std::string RandomWorld::reallocate(Random &random) {
    const std::size_t buffer = random.below(buffers), offset = random.below(2) * 16;
    synchronize();
    data_[buffer].reset();
    data_[buffer] =
        std::make_unique<Buffer>(comm_, capacity, random.chance(50) ? Memory::plain : Memory::baton, offset);
    upload(buffer, 0, make_input(BATON_UINT8, BATON_SUM, random.next(), world_rank(), capacity));
    return fmt::format("reallocate {}", buffer);
}

}  // namespace baton::test
