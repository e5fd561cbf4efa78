#pragma once

#include "gpu_fixture.hpp"

namespace baton::test {

/// For memory of every kind and age.
class GpuMemory : public GpuTest {
protected:
    /// Runs and checks an allreduce in place and an allgather on the caller's memory, which holds count * (n + 1)
    /// floats.
    void expect_usable(void *memory, std::size_t count, std::uint64_t seed, const std::string &what) {
        const std::size_t bytes = count * 4;
        std::byte *input = static_cast<std::byte *>(memory), *output = input + bytes;
        copy_memory(input, make_input(BATON_FLOAT32, BATON_SUM, seed, rank(), count).data(), bytes, true);
        ASSERT_OK(baton_allreduce(BATON_IN_PLACE, input, count, BATON_FLOAT32, BATON_SUM, comm(), stream_)) << what;
        ASSERT_OK(baton_allgather(input, output, count, BATON_FLOAT32, comm(), stream_)) << what;
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        const Bytes reduced = reduce_inputs(BATON_FLOAT32, BATON_SUM, seed, size(), count);
        for (std::size_t r = 0; r < n(); ++r) {
            Bytes block(bytes);
            copy_memory(block.data(), output + r * bytes, bytes, true);
            EXPECT_TRUE(same_bytes(reduced, block, BATON_FLOAT32)) << what << ", block " << r;
        }
        // Ranks other than the first make their result elsewhere, whatever their peers know of this memory.
        const std::size_t total = n() * count, own = static_cast<std::size_t>(rank()) * bytes;
        copy_memory(input, make_input(BATON_FLOAT32, BATON_SUM, seed + 1, rank(), total).data(), n() * bytes, true);
        ASSERT_OK(baton_reduce_scatter(BATON_IN_PLACE, input, count, BATON_FLOAT32, BATON_SUM, comm(), stream_))
            << what;
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        const Bytes sums = reduce_inputs(BATON_FLOAT32, BATON_SUM, seed + 1, size(), total);
        const auto first = sums.begin() + static_cast<std::ptrdiff_t>(own);
        Bytes block(bytes);
        copy_memory(block.data(), input, bytes, true);
        EXPECT_TRUE(same_bytes(Bytes(first, first + static_cast<std::ptrdiff_t>(bytes)), block, BATON_FLOAT32))
            << what << ", in place";
    }
    /// Runs and checks a broadcast from the rank after rank `seed`, a message to the next rank, an alltoall, and
    /// reductions that copy engines may push. The memory is as above, `count` a multiple of 4 n.
    void expect_moved(void *memory, std::size_t count, std::uint64_t seed, const std::string &what) {
        const std::size_t bytes = count * 4, block = count / n();
        std::byte *input = static_cast<std::byte *>(memory), *output = input + bytes;
        const auto input_of = [&](int of) { return make_input(BATON_FLOAT32, BATON_SUM, seed, of, count); };
        const int root = (static_cast<int>(seed) + 1) % size(), next = (rank() + 1) % size();
        const int before = (rank() + size() - 1) % size();
        const auto expect_output = [&](const Bytes &expected, const char *operation) {
            ASSERT_CUDA(cudaStreamSynchronize(stream_));
            Bytes seen(bytes);
            copy_memory(seen.data(), output, bytes, true);
            EXPECT_TRUE(same_bytes(expected, std::span(seen).first(expected.size()))) << what << ", " << operation;
            EXPECT_CUDA(cudaMemsetAsync(output, 0, bytes, stream_));
        };
        copy_memory(input, input_of(rank()).data(), bytes, true);
        ASSERT_OK(
            baton_broadcast(rank() == root ? input : output, output, count, BATON_FLOAT32, root, comm(), stream_));
        expect_output(input_of(root), "broadcast");
        ASSERT_OK(baton_sendrecv(input, count, next, output, count, before, BATON_FLOAT32, comm(), stream_));
        expect_output(input_of(before), "sendrecv");
        ASSERT_OK(baton_alltoall(input, output, block, BATON_FLOAT32, comm(), stream_));
        Bytes turned;
        for (int from = 0; from < size(); ++from) {
            const Bytes theirs = input_of(from);
            const auto begin =
                theirs.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rank()) * block * 4);
            turned.insert(turned.end(), begin, begin + static_cast<std::ptrdiff_t>(block * 4));
        }
        expect_output(turned, "alltoall");
        const Bytes sums = reduce_inputs(BATON_FLOAT32, BATON_SUM, seed, size(), count);
        ASSERT_OK(baton_allreduce(input, output, count, BATON_FLOAT32, BATON_SUM, comm(), stream_));
        expect_output(sums, "allreduce");
        ASSERT_OK(baton_reduce_scatter(input, output, block, BATON_FLOAT32, BATON_SUM, comm(), stream_));
        const auto mine = sums.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rank()) * block * 4);
        expect_output(Bytes(mine, mine + static_cast<std::ptrdiff_t>(block * 4)), "reduce_scatter");
    }
    std::size_t room(std::size_t count) const { return count * 4 * (n() + 1); }
};

}  // namespace baton::test
