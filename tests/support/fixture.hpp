#pragma once

#include <memory>
#include <vector>

#include "support/buffer.hpp"
#include "support/reference.hpp"
#include "support/stream.hpp"

namespace baton::test {

/// A default configuration, to change fields of.
inline baton_config default_config() {
    baton_config config{};
    EXPECT_OK(baton_config_init(&config));
    return config;
}

inline baton_info info_of(baton_comm_t comm) {
    baton_info info{};
    info.struct_size = sizeof(info);
    EXPECT_OK(baton_comm_info(comm, &info));
    return info;
}

/// Owns a communicator. A test that has failed by the time of destruction aborts first, so that its peers, which may be
/// waiting in a call that this rank never reaches, come back at once.
class Communicator {
public:
    explicit Communicator(MPI_Comm mpi_comm = MPI_COMM_WORLD, const baton_config *config = nullptr) {
        const baton_result result = baton_comm_create(mpi_comm, config, &handle_);
        if (result != BATON_SUCCESS) {
            ADD_FAILURE() << "baton_comm_create: " << describe(result);
            throw std::runtime_error("no communicator");
        }
        baton_comm_rank(handle_, &rank_);
        baton_comm_size(handle_, &size_);
    }
    ~Communicator() { destroy(); }
    Communicator(const Communicator &) = delete;
    Communicator &operator=(const Communicator &) = delete;

    void destroy() {
        if (handle_ == nullptr) return;
        if (::testing::Test::HasFailure()) baton_comm_abort(handle_);
        EXPECT_OK(baton_comm_destroy(handle_));
        handle_ = nullptr;
    }

    operator baton_comm_t() const { return handle_; }
    baton_comm_t get() const { return handle_; }
    int rank() const { return rank_; }
    int size() const { return size_; }

private:
    baton_comm_t handle_ = nullptr;
    int rank_ = -1;
    int size_ = 0;
};

/// An MPI communicator that frees itself.
class MpiComm {
public:
    static MpiComm duplicate(MPI_Comm parent) {
        MpiComm result;
        MPI_Comm_dup(parent, &result.handle_);
        return result;
    }
    static MpiComm split(MPI_Comm parent, int color, int key) {
        MpiComm result;
        MPI_Comm_split(parent, color, key, &result.handle_);
        return result;
    }
    ~MpiComm() {
        if (handle_ != MPI_COMM_NULL) MPI_Comm_free(&handle_);
    }
    MpiComm(MpiComm &&other) noexcept : handle_(std::exchange(other.handle_, MPI_COMM_NULL)) {}
    MpiComm &operator=(MpiComm &&) = delete;
    operator MPI_Comm() const { return handle_; }

private:
    MpiComm() = default;
    MPI_Comm handle_ = MPI_COMM_NULL;
};

/// One communicator over all ranks, new for every test.
class CommTest : public ::testing::Test {
protected:
    void SetUp() override { world_ = std::make_unique<Communicator>(MPI_COMM_WORLD, nullptr); }
    void TearDown() override { world_.reset(); }

    baton_comm_t comm() const { return world_->get(); }
    int rank() const { return world_->rank(); }
    int size() const { return world_->size(); }
    bool on_gpu() const { return test::on_gpu(comm()); }

    std::unique_ptr<Communicator> world_;
};

/// The same with a stream, and the rank's neighbours in a ring.
class RingTest : public CommTest {
protected:
    void SetUp() override {
        CommTest::SetUp();
        stream_ = std::make_unique<Stream>(comm(), Stream::Kind::own);
        next_ = (rank() + 1) % size();
        previous_ = (rank() + size() - 1) % size();
    }
    void TearDown() override {
        stream_.reset();
        CommTest::TearDown();
    }

    std::unique_ptr<Stream> stream_;
    int next_ = 0, previous_ = 0;
};

/// Runs one small allreduce and checks it: the communicator works. Collective over the communicator.
inline void expect_works(baton_comm_t comm, std::uint64_t seed = 77) {
    int rank = 0, size = 0;
    ASSERT_OK(baton_comm_rank(comm, &rank));
    ASSERT_OK(baton_comm_size(comm, &size));
    constexpr std::size_t count = 100;
    Buffer send(comm, count * 4), recv(comm, count * 4);
    send.upload(make_input(BATON_INT32, BATON_SUM, seed, rank, count));
    Stream stream(comm, Stream::Kind::null);
    ASSERT_OK(baton_allreduce(send.data(), recv.data(), count, BATON_INT32, BATON_SUM, comm, stream));
    stream.synchronize();
    EXPECT_TRUE(same_bytes(reduce_inputs(BATON_INT32, BATON_SUM, seed, size, count), recv.download(), BATON_INT32));
    EXPECT_OK(baton_comm_check(comm));
}

}  // namespace baton::test
