// Creating and destroying windows and destroying communicators are collective. A rank that never comes, gives up or
// makes another call ends the others' waits, with the reason, and everything goes on.
#include <thread>

#include "support/broken.hpp"
#include "support/process_maps.hpp"

namespace baton::test {
namespace {

constexpr double patience = 1.0;
constexpr double never = 60;  ///< longer than a test takes: no wait may end by this timeout

class CollectiveWaits : public ::testing::Test {
protected:
    void SetUp() override {
        if (world_size() < 2) GTEST_SKIP() << "nobody to wait for";
    }
    void TearDown() override {
        barrier();
        Communicator fresh;
        expect_works(fresh);
    }
    /// A communicator that the test destroys itself.
    static baton_comm_t create(double timeout_seconds) {
        baton_config config = default_config();
        config.timeout_seconds = timeout_seconds;
        baton_comm_t comm = nullptr;
        EXPECT_OK(baton_comm_create(MPI_COMM_WORLD, &config, &comm));
        return comm;
    }
    static int odd_one() { return world_size() - 1; }
    static bool is_odd_one() { return world_rank() == odd_one(); }
    static std::string odd_name() { return "rank " + std::to_string(odd_one()); }
};

class Clock {
public:
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

TEST_F(CollectiveWaits, DestroyTimesOut) {
    baton_comm_t comm = create(patience);
    if (!is_odd_one()) {
        const Clock clock;
        EXPECT_ERROR(BATON_ERR_TIMEOUT, baton_comm_destroy(comm), "baton_comm_destroy", "for " + odd_name());
        EXPECT_LT(clock.seconds(), patience * 8);
        EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_comm_check(comm), "comm");
    }
    barrier();
    if (!is_odd_one()) return;
    EXPECT_ERROR(BATON_ERR_TIMEOUT, baton_comm_check(comm), "baton_comm_destroy", "for " + odd_name());
    EXPECT_OK(baton_comm_destroy(comm)) << "a broken communicator waits for nobody";
}

TEST_F(CollectiveWaits, CreatingAWindowTimesOut) {
    FragileComm comm(patience);
    baton_window_t window = nullptr;
    void *base = nullptr;
    if (!is_odd_one()) {
        const Clock clock;
        EXPECT_ERROR(BATON_ERR_TIMEOUT, baton_window_create(comm, 100, &window, &base), "baton_window_create",
                     "for " + odd_name());
        EXPECT_LT(clock.seconds(), patience * 8);
        expect_stays_broken(comm, BATON_ERR_TIMEOUT);
    }
    barrier();
    EXPECT_ERROR(BATON_ERR_TIMEOUT, baton_window_create(comm, 100, &window, &base), odd_name());
}

TEST_F(CollectiveWaits, DestroyingAWindowTimesOut) {
    FragileComm comm(patience);
    baton_window_t window = nullptr;
    void *base = nullptr;
    ASSERT_OK(baton_window_create(comm, 100, &window, &base));
    if (!is_odd_one()) {
        EXPECT_ERROR(BATON_ERR_TIMEOUT, baton_window_destroy(window), "baton_window_destroy", "for " + odd_name());
        EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_window_destroy(window), "window");
        expect_stays_broken(comm, BATON_ERR_TIMEOUT);
    }
    barrier();
    if (is_odd_one()) {
        EXPECT_ERROR(BATON_ERR_TIMEOUT, baton_comm_check(comm));
        EXPECT_OK(baton_window_destroy(window));
    }
}

/// The abort finds the others in the call or before it. Destruction works either way.
TEST_F(CollectiveWaits, DestroyWhileOneAborts) {
    const Clock clock;
    for (int round = 0; round < 10; ++round) {
        baton_comm_t comm = create(never);
        if (is_odd_one()) {
            EXPECT_OK(baton_comm_abort(comm));
            EXPECT_OK(baton_comm_destroy(comm));
            continue;
        }
        const baton_result result = baton_comm_destroy(comm);
        if (result != BATON_SUCCESS) {
            EXPECT_STREQ("BATON_ERR_ABORTED", baton_result_name(result)) << baton_last_error();
            EXPECT_NE(std::string(baton_last_error()).find(odd_name()), std::string::npos) << baton_last_error();
        }
    }
    EXPECT_LT(clock.seconds(), never / 2);
}

TEST_F(CollectiveWaits, CreatingAWindowWhileOneAborts) {
    const Clock clock;
    for (int round = 0; round < 10; ++round) {
        FragileComm comm(never);
        baton_window_t window = nullptr;
        void *base = nullptr;
        if (is_odd_one()) {
            EXPECT_OK(baton_comm_abort(comm));
        } else {
            EXPECT_ERROR(BATON_ERR_ABORTED, baton_window_create(comm, 100, &window, &base), odd_name());
        }
    }
    EXPECT_LT(clock.seconds(), never / 2);
}

/// The abort comes from another thread. It finds each rank before the call, between its meetings, or after it.
TEST_F(CollectiveWaits, DestroyingAWindowWhileOneAborts) {
    const std::size_t before = mapped_host_memory();
    const Clock clock;
    for (int round = 0; round < 20; ++round) {
        baton_comm_t comm = create(never);
        baton_window_t window = nullptr;
        void *base = nullptr;
        ASSERT_OK(baton_window_create(comm, 100000, &window, &base));
        barrier();
        std::thread aborts;
        if (is_odd_one())
            aborts = std::thread([&] {
                std::this_thread::sleep_for(std::chrono::microseconds(20 * round));
                EXPECT_OK(baton_comm_abort(comm));
            });
        const baton_result result = baton_window_destroy(window);
        if (result != BATON_SUCCESS) {
            EXPECT_STREQ("BATON_ERR_ABORTED", baton_result_name(result)) << baton_last_error();
        }
        if (aborts.joinable()) aborts.join();
        EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_window_destroy(window), "window");
        barrier();
        EXPECT_OK(baton_comm_destroy(comm));
    }
    EXPECT_LT(clock.seconds(), never / 2);
    EXPECT_EQ(mapped_host_memory(), before);
}

/// All ranks learn of them, and nothing breaks.
TEST_F(CollectiveWaits, OneRanksWrongArgumentsAreAllRanksError) {
    const Clock clock;
    Communicator comm;
    baton_window_t window = nullptr;
    void *base = nullptr;
    for (const char *wrong : {"window", "base"}) {
        const bool is_window = std::string(wrong) == "window";
        if (is_odd_one()) {
            EXPECT_ERROR(BATON_ERR_ARGUMENT,
                         baton_window_create(comm, 100, is_window ? nullptr : &window, is_window ? &base : nullptr),
                         wrong);
        } else {
            EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_window_create(comm, 100, &window, &base), odd_name(), wrong);
        }
    }
    expect_works(comm);
    ASSERT_OK(baton_window_create(comm, 100, &window, &base));
    EXPECT_OK(baton_window_destroy(window));
    EXPECT_LT(clock.seconds(), 30);
}

/// While one rank sits in destroy, the others time out in an operation and destroy, too.
TEST_F(CollectiveWaits, DestroyWhileOthersTimeOut) {
    baton_comm_t comm = create(patience);
    const Clock clock;
    if (is_odd_one()) {
        EXPECT_ERROR(BATON_ERR_TIMEOUT, baton_comm_destroy(comm));
    } else {
        Stream stream(comm, Stream::Kind::own);
        const Breakage breakage = await_breakage(comm, baton_barrier(comm, stream), &stream);
        EXPECT_STREQ("BATON_ERR_TIMEOUT", baton_result_name(breakage.code)) << breakage.message;
        EXPECT_OK(baton_comm_destroy(comm));
    }
    EXPECT_LT(clock.seconds(), patience * 8);
}

TEST_F(CollectiveWaits, DifferentCallsAreAMismatch) {
    baton_comm_t comm = create(never);
    const Clock clock;
    if (is_odd_one()) {
        EXPECT_ERROR(BATON_ERR_MISMATCH, baton_comm_destroy(comm), "baton_comm_destroy", "baton_window_create",
                     odd_name());
    } else {
        baton_window_t window = nullptr;
        void *base = nullptr;
        EXPECT_ERROR(BATON_ERR_MISMATCH, baton_window_create(comm, 100, &window, &base), "baton_comm_destroy",
                     "baton_window_create", odd_name());
        expect_stays_broken(comm, BATON_ERR_MISMATCH);
        EXPECT_OK(baton_comm_destroy(comm));
    }
    EXPECT_LT(clock.seconds(), never / 2);
}

TEST_F(CollectiveWaits, DestroyingDifferentWindowsIsAMismatch) {
    FragileComm comm(never);
    baton_window_t windows[2] = {};
    void *base = nullptr;
    for (baton_window_t &window : windows) ASSERT_OK(baton_window_create(comm, 100, &window, &base));
    EXPECT_ERROR(BATON_ERR_MISMATCH, baton_window_destroy(windows[is_odd_one() ? 1 : 0]), "baton_window_destroy", "0",
                 "1");
    expect_stays_broken(comm, BATON_ERR_MISMATCH);
}

/// A rank that has not destroyed it may still load and store, whatever else its process does.
TEST_F(CollectiveWaits, AWindowStaysMappedWhereItIsUsed) {
    const Bytes expected = make_input(BATON_UINT8, BATON_SUM, environment().seed, odd_one(), 5000);
    baton_comm_t broken = create(never);
    const Communicator other;
    baton_window_t window = nullptr;
    void *base = nullptr, *pointer = nullptr, *memory = nullptr;
    ASSERT_OK(baton_window_create(broken, expected.size(), &window, &base));
    ASSERT_OK(baton_window_pointer(window, odd_one(), &pointer));
    if (is_odd_one()) copy_memory(base, expected.data(), expected.size(), on_gpu(broken));
    barrier();
    if (is_odd_one()) {
        EXPECT_OK(baton_comm_abort(broken));
        EXPECT_OK(baton_window_destroy(window));
    }
    // Gives memory of another communicator back. Its calls unmap whatever nobody needs any more.
    ASSERT_OK(baton_malloc(other, 1000, &memory));
    ASSERT_OK(baton_free(other, memory));
    for (std::uint64_t i = 0; i < 3; ++i) expect_works(other, i);
    if (!is_odd_one()) {
        Bytes got(expected.size());
        copy_memory(got.data(), pointer, got.size(), on_gpu(broken));
        EXPECT_TRUE(same_bytes(expected, got));
        EXPECT_OK(baton_window_destroy(window));
    }
    barrier();
    EXPECT_OK(baton_comm_destroy(broken));
}

/// The memory stays until the communicator goes, but a rank that has destroyed the window may not name it any more.
TEST_F(CollectiveWaits, ABrokenCommunicatorsWindowIsNoBufferOnceItIsDestroyed) {
    baton_config config = default_config();
    config.transport = BATON_TRANSPORT_HOST;
    config.timeout_seconds = never;
    const Communicator broken(MPI_COMM_WORLD, &config), other(MPI_COMM_WORLD, &config);
    baton_window_t window = nullptr, target = nullptr;
    void *base = nullptr, *pointer = nullptr;
    ASSERT_OK(baton_window_create(broken, 1000, &window, &base));
    ASSERT_OK(baton_window_create(other, 1000, &target, &base));
    ASSERT_OK(baton_window_pointer(window, (world_rank() + 1) % world_size(), &pointer));
    EXPECT_OK(baton_put(pointer, 1000, world_rank(), 0, target, nullptr));
    barrier();
    EXPECT_OK(baton_comm_abort(broken));
    EXPECT_OK(baton_put(pointer, 1000, world_rank(), 0, target, nullptr)) << "the window lives";
    EXPECT_OK(baton_window_destroy(window));
    EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_put(pointer, 1000, world_rank(), 0, target, nullptr), "source");
    barrier();
    EXPECT_OK(baton_window_destroy(target));
}

}  // namespace
}  // namespace baton::test
