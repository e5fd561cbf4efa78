// One-sided calls: put, get, signal, wait_signal and mapped pointers, ordered by signals or by barriers.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <sstream>
#include <thread>

#include "support/fixture.hpp"
#include "support/process_maps.hpp"

namespace baton::test {
namespace {

/// A window with this rank's memory; destruction is collective.
class Window {
public:
    Window(baton_comm_t comm, std::size_t bytes) : bytes_(bytes), on_gpu_(test::on_gpu(comm)) {
        EXPECT_OK(baton_window_create(comm, bytes, &handle_, &base_));
    }
    ~Window() {
        if (handle_ == nullptr) return;
        EXPECT_OK(baton_window_destroy(handle_));
    }
    Window(const Window &) = delete;
    Window &operator=(const Window &) = delete;
    operator baton_window_t() const { return handle_; }
    std::byte *base() const { return static_cast<std::byte *>(base_); }
    Bytes download(std::size_t offset, std::size_t bytes) const {
        Bytes result(bytes);
        copy_memory(result.data(), base() + offset, bytes, on_gpu_);
        return result;
    }
    Bytes download() const { return download(0, bytes_); }
    void upload(std::span<const std::byte> source, std::size_t offset) {
        copy_memory(base() + offset, source.data(), source.size(), on_gpu_);
    }

private:
    baton_window_t handle_ = nullptr;
    void *base_ = nullptr;
    std::size_t bytes_;
    bool on_gpu_;
};

class Windows : public RingTest {
protected:
    static Bytes content(int rank, std::uint64_t round, std::size_t bytes) {
        return make_input(BATON_UINT8, BATON_SUM, environment().seed + round, rank, bytes);
    }
};

TEST_F(Windows, StartZeroed) {
    for (std::size_t bytes : {1, 255, 4097, 1000003}) {
        Window window(comm(), bytes);
        EXPECT_TRUE(same_bytes(Bytes(bytes), window.download()));
    }
}

TEST_F(Windows, PutAndSignalAroundTheRing) {
    for (std::size_t bytes :
         {std::size_t{1}, std::size_t{13}, std::size_t{4096}, std::size_t{65537}, std::size_t{2000003}}) {
        Window window(comm(), bytes + 64);
        Buffer source(comm(), bytes);
        for (std::uint64_t round = 0; round < 5; ++round) {
            const std::size_t offset = round * 13;
            source.upload(content(rank(), round, bytes));
            ASSERT_OK(baton_put(source.data(), bytes, next_, offset, window, *stream_));
            ASSERT_OK(baton_signal(next_, window, *stream_));
            ASSERT_OK(baton_wait_signal(previous_, 1, window, *stream_));
            stream_->synchronize();
            EXPECT_TRUE(same_bytes(content(previous_, round, bytes), window.download(offset, bytes)));
            ASSERT_OK(baton_barrier(comm(), *stream_));  // the next round overwrites what was just read
            stream_->synchronize();
        }
    }
}

TEST_F(Windows, PutToEveryRankIncludingOneself) {
    constexpr std::size_t bytes = 10007;
    const std::size_t n = static_cast<std::size_t>(size());
    Window window(comm(), bytes * n);
    Buffer source(comm(), bytes);
    source.upload(content(rank(), 0, bytes));
    for (int peer = 0; peer < size(); ++peer)
        ASSERT_OK(baton_put(source.data(), bytes, peer, bytes * static_cast<std::size_t>(rank()), window, *stream_));
    ASSERT_OK(baton_barrier(comm(), *stream_));
    stream_->synchronize();
    for (int peer = 0; peer < size(); ++peer)
        EXPECT_TRUE(
            same_bytes(content(peer, 0, bytes), window.download(bytes * static_cast<std::size_t>(peer), bytes)));
}

TEST_F(Windows, GetFromEveryRankAtRandomOffsets) {
    constexpr std::size_t bytes = 300007;
    Window window(comm(), bytes);
    window.upload(content(rank(), 1, bytes), 0);
    ASSERT_OK(baton_barrier(comm(), *stream_));
    Random random(environment().seed + static_cast<std::uint64_t>(rank()));
    for (int i = 0; i < 60; ++i) {
        const int peer = static_cast<int>(random.below(static_cast<std::size_t>(size())));
        const std::size_t offset = random.below(bytes);
        const std::size_t length = std::min(bytes - offset, random.below(i % 5 == 0 ? bytes : 500));
        Buffer destination(comm(), length, i % 2 == 0 ? Memory::plain : Memory::baton, i % 17);
        ASSERT_OK(baton_get(destination.data(), length, peer, offset, window, *stream_));
        stream_->synchronize();
        const Bytes all = content(peer, 1, bytes);
        EXPECT_TRUE(same_bytes(std::span(all).subspan(offset, length), destination.download()))
            << length << " bytes at " << offset << " of rank " << peer;
        EXPECT_TRUE(destination.guards_intact());
    }
    ASSERT_OK(baton_barrier(comm(), *stream_));
    stream_->synchronize();
}

TEST_F(Windows, RandomPutsStayInTheirPlace) {
    constexpr std::size_t bytes = 100003;
    const std::size_t n = static_cast<std::size_t>(size());
    Window window(comm(), bytes * n);  // one stripe per origin
    std::vector<Bytes> model(n, Bytes(bytes));
    for (int origin = 0; origin < size(); ++origin) {
        Random random(environment().seed * 64 + static_cast<std::uint64_t>(origin));
        for (int i = 0; i < 40; ++i) {
            const int target = static_cast<int>(random.below(n));
            const std::size_t offset = random.below(bytes), length = random.below(bytes - offset) / (i % 4 + 1);
            const Bytes data = content(origin, 100 + static_cast<std::uint64_t>(i), length);
            if (target == rank())
                std::copy(data.begin(), data.end(), model[origin].begin() + static_cast<long>(offset));
            if (origin != rank()) continue;
            Buffer source(comm(), length, Memory::plain, static_cast<std::size_t>(i) % 16);
            source.upload(data);
            ASSERT_OK(baton_put(source.data(), length, target, bytes * static_cast<std::size_t>(origin) + offset,
                                window, *stream_));
            stream_->synchronize();  // from now on the origin's buffer is free
        }
    }
    ASSERT_OK(baton_barrier(comm(), *stream_));
    stream_->synchronize();
    for (std::size_t origin = 0; origin < n; ++origin)
        EXPECT_TRUE(same_bytes(model[origin], window.download(bytes * origin, bytes))) << "stripe of rank " << origin;
}

/// As in an allgather by puts, where each rank's part is in its own window already.
TEST_F(Windows, PutFromTheOwnWindow) {
    constexpr std::size_t bytes = 3001;
    Window window(comm(), bytes * static_cast<std::size_t>(size()));
    const std::size_t mine = bytes * static_cast<std::size_t>(rank());
    window.upload(content(rank(), 9, bytes), mine);
    std::byte *const part = window.base() + mine;
    for (int peer = 0; peer < size(); ++peer) ASSERT_OK(baton_put(part, bytes, peer, mine, window, *stream_));
    ASSERT_OK(baton_get(part, bytes, rank(), mine, window, *stream_));
    ASSERT_OK(baton_barrier(comm(), *stream_));
    stream_->synchronize();
    for (int peer = 0; peer < size(); ++peer)
        EXPECT_TRUE(
            same_bytes(content(peer, 9, bytes), window.download(bytes * static_cast<std::size_t>(peer), bytes)));
    for (const std::size_t length : {std::size_t{2}, bytes - 1}) {
        EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_put(part, length, rank(), mine + 1, window, *stream_), "overlap");
        EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_get(part + 1, length, rank(), mine, window, *stream_), "overlap");
    }
    ASSERT_OK(baton_put(part, 1, rank(), mine + 1, window, *stream_)) << "side by side";
    stream_->synchronize();
}

TEST_F(Windows, SignalsAreCounted) {
    Window window(comm(), 64);
    for (int i = 0; i < 10; ++i) ASSERT_OK(baton_signal(next_, window, *stream_));
    ASSERT_OK(baton_wait_signal(previous_, 3, window, *stream_));
    ASSERT_OK(baton_wait_signal(previous_, 6, window, *stream_));
    ASSERT_OK(baton_wait_signal(previous_, 1, window, *stream_));
    for (int i = 0; i < 2; ++i) ASSERT_OK(baton_signal(previous_, window, *stream_));
    ASSERT_OK(baton_wait_signal(next_, 2, window, *stream_));
    stream_->synchronize();
    EXPECT_OK(baton_comm_check(comm()));
}

/// A token travels round: each hop may only start when the one before has ended.
TEST_F(Windows, TokenThroughAllRanks) {
    Window window(comm(), 8);
    constexpr int laps = 20;
    Buffer token(comm(), 8);
    for (int lap = 0; lap < laps; ++lap) {
        std::uint64_t value = 0;
        if (rank() != 0 || lap > 0) {
            ASSERT_OK(baton_wait_signal(previous_, 1, window, *stream_));
            stream_->synchronize();
            std::memcpy(&value, window.download().data(), 8);
            EXPECT_EQ(value, static_cast<std::uint64_t>((rank() == 0 ? lap - 1 : lap) * size() + previous_ + 1));
        }
        ++value;
        token.upload(std::as_bytes(std::span(&value, 1)));
        ASSERT_OK(baton_put(token.data(), 8, next_, 0, window, *stream_));
        ASSERT_OK(baton_signal(next_, window, *stream_));
        stream_->synchronize();
    }
    if (rank() == 0) {
        ASSERT_OK(baton_wait_signal(previous_, 1, window, *stream_));
    }
    stream_->synchronize();
}

TEST_F(Windows, PointersReachEveryPeer) {
    constexpr std::size_t bytes = 5003;
    Window window(comm(), bytes);
    window.upload(content(rank(), 7, bytes), 0);
    ASSERT_OK(baton_barrier(comm(), *stream_));
    stream_->synchronize();
    for (int peer = 0; peer < size(); ++peer) {
        void *pointer = nullptr;
        ASSERT_OK(baton_window_pointer(window, peer, &pointer));
        if (peer == rank()) {
            EXPECT_EQ(pointer, window.base());
        }
        Bytes seen(bytes);
        copy_memory(seen.data(), pointer, bytes, on_gpu());
        EXPECT_TRUE(same_bytes(content(peer, 7, bytes), seen)) << "through the pointer to rank " << peer;
    }
    ASSERT_OK(baton_barrier(comm(), *stream_));
    stream_->synchronize();
}

TEST_F(Windows, AsManyAsAllowedAndTheirReuse) {
    for (int round = 0; round < 2; ++round) {
        std::vector<std::unique_ptr<Window>> windows;
        for (int i = 0; i < 64; ++i)
            windows.push_back(std::make_unique<Window>(comm(), 100 + static_cast<std::size_t>(i)));
        for (std::size_t i = 0; i < windows.size(); i += 9) {
            Buffer source(comm(), 90);
            source.upload(content(rank(), i, 90));
            ASSERT_OK(baton_put(source.data(), 90, next_, 5, *windows[i], *stream_));
            ASSERT_OK(baton_signal(next_, *windows[i], *stream_));
            ASSERT_OK(baton_wait_signal(previous_, 1, *windows[i], *stream_));
            stream_->synchronize();
            EXPECT_TRUE(same_bytes(content(previous_, i, 90), windows[i]->download(5, 90)));
        }
    }
}

TEST_F(Windows, NewWindowsOfTheSameSizeStartClean) {
    for (int i = 0; i < 10; ++i) {
        Window window(comm(), 40000);
        EXPECT_TRUE(same_bytes(Bytes(40000), window.download())) << "window " << i;
        barrier();  // everybody has looked before anybody writes
        Buffer source(comm(), 40000);
        ASSERT_OK(baton_put(source.data(), 40000, next_, 0, window, *stream_));
        ASSERT_OK(baton_signal(next_, window, *stream_));  // signals of a destroyed window must not count for the next
        ASSERT_OK(baton_wait_signal(previous_, 1, window, *stream_));
        stream_->synchronize();
    }
}

TEST_F(Windows, ZeroBytes) {
    Window window(comm(), 16);
    EXPECT_OK(baton_put(nullptr, 0, next_, 16, window, *stream_));
    EXPECT_OK(baton_get(nullptr, 0, next_, 0, window, *stream_));
    ASSERT_OK(baton_barrier(comm(), *stream_));
    stream_->synchronize();
    EXPECT_TRUE(same_bytes(Bytes(16), window.download()));
}

/// Rank 0's get waits in its stream for a message of another communicator. Rank 1 sends it while both destroy the
/// window.
TEST(WindowsOnTheHost, AreDestroyedBehindWhatUsesThem) {
    if (world_size() < 2) GTEST_SKIP() << "needs a peer";
    baton_config config = default_config();
    config.transport = BATON_TRANSPORT_HOST;
    const Communicator comm(MPI_COMM_WORLD, &config), other(MPI_COMM_WORLD, &config);
    std::byte *base = nullptr;
    baton_window_t window = nullptr;
    ASSERT_OK(baton_window_create(comm, 1000, &window, reinterpret_cast<void **>(&base)));
    const Bytes content = make_input(BATON_UINT8, BATON_SUM, environment().seed, 1, 1000);
    Bytes got(1000), message(1);
    if (world_rank() == 1) copy_memory(base, content.data(), content.size(), false);
    ASSERT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);

    baton_host_stream_t stream = nullptr;
    std::thread sender;
    if (world_rank() == 0) {
        ASSERT_OK(baton_host_stream_create(&stream));
        ASSERT_OK(baton_recv(message.data(), 1, BATON_UINT8, 1, other, stream));
        ASSERT_OK(baton_get(got.data(), got.size(), 1, 0, window, stream));
    } else if (world_rank() == 1) {
        sender = std::thread([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));  // most likely rank 0 is in its call by then
            EXPECT_OK(baton_send(message.data(), 1, BATON_UINT8, 0, other, nullptr));
        });
    }
    EXPECT_OK(baton_window_destroy(window));
    if (world_rank() == 0) {
        EXPECT_TRUE(same_bytes(content, got));
        EXPECT_OK(baton_host_stream_synchronize(stream));
        EXPECT_OK(baton_host_stream_destroy(stream));
    }
    if (sender.joinable()) sender.join();
}

/// Device and inode of the memory at `address`, as in the kernel's lists of what processes have mapped.
std::string file_of(const void *address) {
    const auto there = reinterpret_cast<std::uintptr_t>(address);
    for (const Mapping &mapping : process_maps("/memfd:baton")) {
        if (there < mapping.begin || there >= mapping.end) continue;
        std::string range, access, offset, device, inode;
        std::istringstream(mapping.line) >> range >> access >> offset >> device >> inode;
        return " " + device + " " + inode + " ";
    }
    ADD_FAILURE() << "no memory of Baton's is at " << address;
    return "nowhere";
}

/// A rank that still had a window mapped would keep the memory, which the next window may need.
TEST(WindowsOnTheHost, AreUnmappedByAllRanksWhenTheyAreGone) {
    baton_config config = default_config();
    config.transport = BATON_TRANSPORT_HOST;
    const Communicator comm(MPI_COMM_WORLD, &config);
    const int mine = ::getpid();
    std::vector<int> processes(static_cast<std::size_t>(world_size()));
    ASSERT_EQ(MPI_Allgather(&mine, 1, MPI_INT, processes.data(), 1, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
    for (int round = 0; round < 5; ++round) {
        baton_window_t window = nullptr;
        void *base = nullptr;
        ASSERT_OK(baton_window_create(comm, 100000, &window, &base));
        const std::string file = file_of(base);
        const auto mapped = [&](int process) { return process_maps(file, std::to_string(process)).size(); };
        for (const int process : processes) EXPECT_EQ(mapped(process), 1U) << "process " << process;
        barrier();
        EXPECT_OK(baton_window_destroy(window));
        for (const int process : processes) EXPECT_EQ(mapped(process), 0U) << "process " << process;
    }
}

/// Nobody may name what is no longer memory, or no longer the window's.
TEST(WindowsOnTheHost, PointersIntoThemAreNoneOnceTheyAreGone) {
    baton_config config = default_config();
    config.transport = BATON_TRANSPORT_HOST;
    const Communicator comm(MPI_COMM_WORLD, &config);
    baton_window_t window = nullptr, other = nullptr;
    void *base = nullptr;
    std::vector<void *> pointers(static_cast<std::size_t>(world_size()));
    ASSERT_OK(baton_window_create(comm, 1000, &window, &base));
    ASSERT_OK(baton_window_create(comm, 1000, &other, &base));
    for (int peer = 0; peer < world_size(); ++peer) {
        void *&pointer = pointers[static_cast<std::size_t>(peer)];
        ASSERT_OK(baton_window_pointer(window, peer, &pointer));
        EXPECT_OK(baton_put(pointer, 1000, world_rank(), 0, other, nullptr));
    }
    EXPECT_OK(baton_window_destroy(window));
    for (const void *pointer : pointers)
        EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_put(pointer, 1000, world_rank(), 0, other, nullptr), "source");
    EXPECT_OK(baton_window_destroy(other));
}

TEST_F(Windows, LeftToTheCommunicator) {
    baton_window_t window = nullptr;
    void *base = nullptr, *memory = nullptr;
    ASSERT_OK(baton_window_create(comm(), 1000, &window, &base));
    ASSERT_OK(baton_malloc(comm(), 1000, &memory));
    world_->destroy();  // frees both
}

}  // namespace
}  // namespace baton::test
