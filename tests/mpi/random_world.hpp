#pragma once

#include <array>
#include <string>

#include "support/fixture.hpp"

namespace baton::test {

/// One communicator of a random program: three buffers and a window, each with a model in host memory that MPI keeps up
/// to date. All ranks share the sequence behind all decisions; only the choice of streams is each rank's own, since
/// issue order holds across streams.
class RandomWorld {
public:
    explicit RandomWorld(MpiComm mpi_comm);
    ~RandomWorld();
    RandomWorld(const RandomWorld &) = delete;
    RandomWorld &operator=(const RandomWorld &) = delete;

    /// Draws one call, or one small protocol of calls, issues it and models it. Returns its description.
    std::string step(Random &random);
    /// Waits for all streams and compares every buffer with its model.
    void verify();

private:
    static constexpr std::size_t capacity = 96 * 1024;  // bytes of each buffer, and of a rank's stripe of the window
    static constexpr std::size_t buffers = 3;

    std::string allgather(Random &random);
    std::string reduce_scatter(Random &random);
    std::string allreduce(Random &random);
    std::string alltoall(Random &random);
    std::string broadcast(Random &random);
    std::string messages(Random &random);
    std::string shift(Random &random);
    std::string puts(Random &random);
    std::string gets(Random &random);
    std::string refill(Random &random);
    std::string reallocate(Random &random);

    struct Pick {
        baton_type type;
        baton_op op;
        std::size_t width, count, from, to, from_byte, to_byte;
        std::string text;
    };
    /// Draws types, counts and places for a call that reads `in_blocks` and writes `out_blocks` blocks of count
    /// elements.
    Pick pick(Random &random, std::size_t in_blocks, std::size_t out_blocks);
    /// Writes new floating-point input, which must be numbers: earlier calls left arbitrary bits there.
    void prepare_input(const Pick &p, std::size_t elements, std::uint64_t seed);
    void upload(std::size_t buffer, std::size_t at_byte, const Bytes &content);
    void synchronize();
    baton_stream_t any_stream() { return *streams_[own_choice_.below(streams_.size())]; }
    std::size_t n() const { return static_cast<std::size_t>(comm_.size()); }

    MpiComm mpi_;
    Communicator comm_;
    std::array<std::unique_ptr<Buffer>, buffers> data_;
    std::array<Bytes, buffers> model_;
    baton_window_t window_ = nullptr;
    std::byte *window_base_ = nullptr;
    Bytes window_model_;
    std::array<std::unique_ptr<Stream>, 3> streams_;
    Random own_choice_;
    bool on_gpu_;
};

}  // namespace baton::test
