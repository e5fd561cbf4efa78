// The caller's mistakes with windows, memory and streams.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <iostream>

#include "support/fixture.hpp"
#include "support/process_maps.hpp"

namespace baton::test {
namespace {

#define EXPECT_REFUSED(call, ...) EXPECT_ERROR(BATON_ERR_ARGUMENT, call, __VA_ARGS__)

class BadObjects : public CommTest {
protected:
    void TearDown() override {
        expect_works(comm());
        CommTest::TearDown();
    }
    void expect_refused_unless_anothers(const void *freed);
};

TEST_F(BadObjects, Windows) {
    baton_window_t window = nullptr;
    void *base = nullptr, *pointer = nullptr;
    EXPECT_REFUSED(baton_window_create(comm(), 1000, nullptr, &base), "window");
    EXPECT_REFUSED(baton_window_create(comm(), 1000, &window, nullptr), "base");
    EXPECT_REFUSED(baton_window_create(nullptr, 1000, &window, &base), "comm");
    ASSERT_OK(baton_window_create(comm(), 1000, &window, &base));
    Buffer buffer(comm(), 2000);
    Stream stream(comm(), Stream::Kind::own);
    for (int peer : {-1, size()}) {
        const std::string shown = std::to_string(peer);
        EXPECT_REFUSED(baton_put(buffer.data(), 10, peer, 0, window, stream), "target", shown);
        EXPECT_REFUSED(baton_get(buffer.data(), 10, peer, 0, window, stream), "target", shown);
        EXPECT_REFUSED(baton_signal(peer, window, stream), "target", shown);
        EXPECT_REFUSED(baton_wait_signal(peer, 1, window, stream), "source", shown);
        EXPECT_REFUSED(baton_window_pointer(window, peer, &pointer), "peer", shown);
    }
    for (std::uint64_t signals : {std::uint64_t{1} << 63, UINT64_MAX})
        EXPECT_REFUSED(baton_wait_signal(rank(), signals, window, stream), "signals", std::to_string(signals));
    EXPECT_OK(baton_wait_signal(rank(), 0, window, stream));
    EXPECT_REFUSED(baton_put(buffer.data(), 1001, 0, 0, window, stream), "1001", "1000");
    EXPECT_REFUSED(baton_get(buffer.data(), 1, 0, 1000, window, stream), "offset", "1000");
    EXPECT_REFUSED(baton_put(buffer.data(), 10, 0, SIZE_MAX - 4, window, stream), "offset");
    EXPECT_REFUSED(baton_put(nullptr, 10, 0, 0, window, stream), "source");
    EXPECT_REFUSED(baton_get(nullptr, 10, 0, 0, window, stream), "destination");
    EXPECT_REFUSED(baton_window_pointer(window, 0, nullptr), "pointer");
    EXPECT_REFUSED(baton_put(buffer.data(), 10, 0, 0, nullptr, stream), "window");
    EXPECT_REFUSED(baton_signal(0, nullptr, stream), "window");
    EXPECT_REFUSED(baton_window_destroy(nullptr), "window");
    barrier();
    Bytes seen(1000);
    copy_memory(seen.data(), base, 1000, on_gpu());
    EXPECT_TRUE(same_bytes(Bytes(1000), seen)) << "a refused put has written";
    ASSERT_OK(baton_window_destroy(window));
    EXPECT_REFUSED(baton_window_destroy(window), "window");
    EXPECT_REFUSED(baton_put(buffer.data(), 10, 0, 0, window, stream), "window");
}

/// A window's memory belongs to the window: freeing it would take it from under the peers.
TEST_F(BadObjects, MemoryOfAWindow) {
    baton_window_t window = nullptr;
    void *base = nullptr;
    ASSERT_OK(baton_window_create(comm(), 1000, &window, &base));
    EXPECT_REFUSED(baton_free(comm(), base), "pointer", "baton_window_destroy");
    EXPECT_REFUSED(baton_free(comm(), static_cast<char *>(base) + 256), "pointer");
    EXPECT_REFUSED(baton_deregister(comm(), base), "pointer");
    EXPECT_OK(baton_register(comm(), base, 1000));
    EXPECT_OK(baton_deregister(comm(), base));
    EXPECT_REFUSED(baton_deregister(comm(), base), "pointer");
    EXPECT_REFUSED(baton_free(comm(), base), "pointer", "baton_window_destroy");
    EXPECT_REFUSED(baton_register(comm(), base, 1001), "pointer", "1000 bytes");
    EXPECT_REFUSED(baton_send(base, 1001, BATON_INT8, 0, comm(), nullptr), "buffer", "1000 bytes");
    EXPECT_REFUSED(baton_recv(static_cast<char *>(base) + 999, 2, BATON_INT8, 0, comm(), nullptr), "buffer");
    Buffer source(comm(), 1000);
    source.upload(Bytes(1000, std::byte{7}));
    Stream stream(comm(), Stream::Kind::own);
    ASSERT_OK(baton_put(source.data(), 1000, (rank() + 1) % size(), 0, window, stream));
    ASSERT_OK(baton_barrier(comm(), stream));
    stream.synchronize();
    Bytes seen(1000);
    copy_memory(seen.data(), base, 1000, on_gpu());
    EXPECT_TRUE(same_bytes(Bytes(1000, std::byte{7}), seen));
    if (!on_gpu()) {
        void *other = nullptr;
        ASSERT_OK(baton_window_pointer(window, (rank() + 1) % size(), &other));
        EXPECT_OK(baton_put(other, 10, rank(), 0, window, stream))
            << "a peer's memory of a window is the user's to name";
        stream.synchronize();
    }
    ASSERT_OK(baton_window_destroy(window));
    EXPECT_REFUSED(baton_free(comm(), base), "pointer");
}

TEST_F(BadObjects, TooManyWindows) {
    std::vector<baton_window_t> windows(64);
    void *base = nullptr;
    for (baton_window_t &window : windows) ASSERT_OK(baton_window_create(comm(), 8, &window, &base));
    baton_window_t more = nullptr;
    EXPECT_ERROR(BATON_ERR_UNSUPPORTED, baton_window_create(comm(), 8, &more, &base), "64");
    for (baton_window_t window : windows) EXPECT_OK(baton_window_destroy(window));
}

TEST_F(BadObjects, Memory) {
    void *memory = nullptr;
    EXPECT_REFUSED(baton_malloc(comm(), 100, nullptr), "pointer");
    EXPECT_REFUSED(baton_malloc(nullptr, 100, &memory), "comm");
    ASSERT_OK(baton_malloc(comm(), 100000, &memory));
    EXPECT_REFUSED(baton_free(comm(), static_cast<char *>(memory) + 256), "pointer");
    ASSERT_OK(baton_free(comm(), memory));
    EXPECT_REFUSED(baton_free(comm(), memory), "pointer");
    Buffer plain(comm(), 1000);
    EXPECT_REFUSED(baton_free(comm(), plain.data()), "pointer");
    EXPECT_REFUSED(baton_deregister(comm(), plain.data()), "pointer");
    EXPECT_REFUSED(baton_register(comm(), nullptr, 100), "pointer is NULL");
    EXPECT_REFUSED(baton_register(comm(), plain.data(), 0), "bytes");
    for (std::size_t bytes : {SIZE_MAX, SIZE_MAX / 2})
        EXPECT_REFUSED(baton_register(comm(), plain.data(), bytes), "pointer", std::to_string(bytes));
    EXPECT_REFUSED(baton_register(nullptr, plain.data(), 100), "comm");
    // More than any machine has: the call is refused, and nothing breaks.
    const baton_result huge = baton_malloc(comm(), std::size_t{1} << 60, &memory);
    EXPECT_TRUE(huge == BATON_ERR_MEMORY || huge == BATON_ERR_ARGUMENT) << describe(huge);
}

/// This process's mapping of `pointer`, as the kernel shows it: "" if there is none.
std::string mapping_of(const void *pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    for (const Mapping &mapping : process_maps())
        if (mapping.begin <= address && address < mapping.end) return mapping.line;
    return "";
}

/// Whether the user could have got `pointer` from somebody other than Baton. Another thread's heap may be mapped where
/// memory was freed, and nothing tells that from memory that was never freed.
bool is_anothers(const void *pointer) {
    const std::string mapping = mapping_of(pointer);
    return !mapping.empty() && mapping.find("memfd:baton") == std::string::npos;
}

/// The place may change hands between a look at it and the call, for instance by an allocator's thread. So this looks
/// before and after.
void BadObjects::expect_refused_unless_anothers(const void *freed) {
    if (!is_anothers(freed)) {
        const baton_result result = baton_send(freed, 10, BATON_INT8, rank(), comm(), nullptr);
        if (result != BATON_SUCCESS || !is_anothers(freed)) {
            EXPECT_REFUSED(result, "buffer", "freed");
            return;
        }
        char received[10];
        EXPECT_OK(baton_recv(received, 10, BATON_INT8, rank(), comm(), nullptr));
    }
    std::cout << "rank " << rank() << ": not tried, the place went to " << mapping_of(freed) << '\n';
}

/// Where a rank has freed memory, the system likes to map what its peers allocate next.
TEST_F(BadObjects, FreedMemoryWhosePlaceAPeersMemoryHas) {
    if (on_gpu()) GTEST_SKIP() << "the driver does not tell mappings of peers' memory from others";
    constexpr std::size_t bytes = 1 << 20;
    void *memory = nullptr;
    std::vector<void *> more(static_cast<std::size_t>(size()), nullptr);
    ASSERT_OK(baton_malloc(comm(), bytes, &memory));
    for (int turn = 0; turn < size(); ++turn) {
        barrier();
        if (turn == rank()) {
            EXPECT_OK(baton_free(comm(), memory));
            barrier();
            barrier();
            expect_refused_unless_anothers(memory);
        } else {
            barrier();
            EXPECT_OK(baton_malloc(comm(), bytes, &more[static_cast<std::size_t>(turn)]));
            barrier();
        }
    }
    for (void *one : more) EXPECT_OK(baton_free(comm(), one));
}

TEST_F(BadObjects, MemoryOfAnotherCommunicator) {
    Communicator other;
    void *memory = nullptr;
    ASSERT_OK(baton_malloc(other, 1000, &memory));
    EXPECT_REFUSED(baton_free(comm(), memory), "pointer");
    EXPECT_OK(baton_free(other, memory));
}

/// One rank has as many regions as there can be.
class TooManyRegions : public BadObjects {
protected:
    static constexpr std::size_t count = 1 << 18;
    void SetUp() override {
        BadObjects::SetUp();
        const baton_info info = info_of(comm());
        if (on_gpu() && info.peer_access == 0) GTEST_SKIP() << "nothing is registered";
        rlimit files{};  // on the host each allocation has a file
        getrlimit(RLIMIT_NOFILE, &files);
        if (files.rlim_max < 2000) GTEST_SKIP() << "too few open files are allowed";
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    void expect_reduces(void *memory) {
        const Bytes input = make_input(BATON_INT32, BATON_SUM, 5, rank(), count);
        copy_memory(memory, input.data(), input.size(), on_gpu());
        ASSERT_OK(baton_allreduce(memory, memory, count, BATON_INT32, BATON_SUM, comm(), nullptr));
        Stream(comm(), Stream::Kind::null).synchronize();
        Bytes seen(input.size());
        copy_memory(seen.data(), memory, seen.size(), on_gpu());
        EXPECT_TRUE(same_bytes(reduce_inputs(BATON_INT32, BATON_SUM, 5, size(), count), seen, BATON_INT32));
    }
    std::string explained(void *memory) {
        char text[4096] = "";
        EXPECT_OK(
            baton_explain(comm(), BATON_ALLREDUCE, count, BATON_INT32, BATON_SUM, memory, memory, text, sizeof(text)));
        return text;
    }
    bool explained_as_refused(void *memory) {
        const char *const how = on_gpu() ? "staged through Baton's memory" : "reached by its address (single copy)";
        return explained(memory).find(fmt::format("buf: {}: all 1024 regions", how)) != std::string::npos;
    }
    /// Whether all buffers are staged, as when ranks share processors, or single copies are refused.
    bool stages_all(void *memory) { return explained(memory).starts_with("staged by host"); }
    /// Allocates as many as there can be, on rank 0.
    std::vector<void *> take_all() {
        std::vector<void *> all;
        baton_result result = BATON_SUCCESS;
        for (void *memory = nullptr; rank() == 0 && all.size() <= 1100; all.push_back(memory)) {
            if ((result = baton_malloc(comm(), 100, &memory)) != BATON_SUCCESS) break;
        }
        if (rank() == 0) {
            EXPECT_ERROR(BATON_ERR_MEMORY, result, "baton_malloc", "all 1024 regions");
        }
        return all;
    }
};

TEST_F(TooManyRegions, AreRefusedAndOtherMemoryServesAllTheSame) {
    Communicator other;
    void *elsewhere = nullptr, *base = nullptr;
    ASSERT_OK(baton_malloc(other, count * 4, &elsewhere));
    const std::vector<void *> all = take_all();
    ASSERT_EQ(all.size(), rank() == 0 ? 1024u : 0u);
    if (rank() == 0) {
        EXPECT_ERROR(BATON_ERR_MEMORY, baton_register(comm(), elsewhere, 100), "all 1024 regions");
        EXPECT_TRUE(explained_as_refused(elsewhere) || stages_all(elsewhere) || size() == 1 || on_gpu());
    }
    expect_reduces(elsewhere);
    baton_window_t window = nullptr;
    EXPECT_OK(baton_window_create(comm(), 1000, &window, &base)) << "windows have regions of their own";
    EXPECT_OK(baton_window_destroy(window));
    for (void *one : all) EXPECT_OK(baton_free(comm(), one));
    EXPECT_FALSE(explained_as_refused(elsewhere)) << "there is room again";
    EXPECT_OK(baton_register(comm(), elsewhere, 100));
    expect_reduces(elsewhere);
    EXPECT_OK(baton_free(other, elsewhere));
}

/// The peer could not map memory of Baton's for a copy either.
TEST_F(TooManyRegions, OrOpenFilesOfAPeerThatShouldMapMemory) {
    if (on_gpu()) GTEST_SKIP() << "descriptors are for host memory";
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    void *memory = nullptr;
    ASSERT_OK(baton_malloc(comm(), count * 4, &memory));
    ASSERT_OK(baton_free(comm(), memory));  // now everything exists that is made at first use
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 1) {
        rlimit no_more = files;
        const int next = ::dup(0);
        no_more.rlim_cur = static_cast<rlim_t>(next);
        ::close(next);
        setrlimit(RLIMIT_NOFILE, &no_more);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<std::byte> ordinary(count * 4);
    if (rank() == 0) {
        ASSERT_OK(baton_malloc(comm(), count * 4, &memory));
    }
    expect_reduces(rank() == 0 ? memory : ordinary.data());
    setrlimit(RLIMIT_NOFILE, &files);
    if (rank() == 0) {
        const std::string how = explained(memory);
        EXPECT_TRUE(size() == 1 || stages_all(memory) || how.find("rank 1 could not map it") != std::string::npos)
            << how;
        ASSERT_OK(baton_free(comm(), memory));
    }
}

TEST_F(BadObjects, HostStreams) {
    EXPECT_REFUSED(baton_host_stream_create(nullptr), "stream");
    EXPECT_REFUSED(baton_host_stream_synchronize(nullptr), "stream");
    EXPECT_REFUSED(baton_host_stream_destroy(nullptr), "stream");
    baton_host_stream_t stream = nullptr;
    ASSERT_OK(baton_host_stream_create(&stream));
    if (on_gpu()) EXPECT_REFUSED(baton_barrier(comm(), stream), "stream", "on GPUs");
    EXPECT_REFUSED(baton_barrier(comm(), comm()), "stream");
    // The first of each kind have the same slot and generation.
    EXPECT_REFUSED(baton_comm_check(reinterpret_cast<baton_comm_t>(stream)), "comm");
    EXPECT_REFUSED(baton_host_stream_synchronize(reinterpret_cast<baton_host_stream_t>(comm())), "stream");
    EXPECT_REFUSED(baton_window_destroy(reinterpret_cast<baton_window_t>(comm())), "window");
    ASSERT_OK(baton_host_stream_destroy(stream));
    EXPECT_REFUSED(baton_host_stream_synchronize(stream), "stream");
    EXPECT_REFUSED(baton_host_stream_destroy(stream), "stream");
    EXPECT_REFUSED(baton_barrier(comm(), stream), "stream");
}

}  // namespace
}  // namespace baton::test
