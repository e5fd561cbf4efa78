#pragma once

#include <climits>
#include <cstddef>
#include <memory>
#include <string>

/// The part of NCCL that the comparison uses, found at run time: the build needs no header of NCCL, and what is
/// measured is the library that a user has. Declared as in nccl.h (its ABI is stable; a test compares the two if it
/// finds nccl.h), with void * for handles and streams.
namespace baton::bench::nccl {

using Comm = void *;
using Window = void *;
using Stream = void *;  // a cudaStream_t
using Result = int;     // 0: success

struct UniqueId {
    char internal[128];
};

/// ncclConfig_t of 2.28. The struct only grows, and from a shorter one NCCL reads what `version` says is there. So this
/// one is right for every library from 2.28 on; older ones are not given one.
struct Config {
    std::size_t size = sizeof(Config);
    unsigned magic = 0xcafebeef;
    unsigned version = 22800;
    int blocking = INT_MIN;
    int cga_cluster_size = INT_MIN;
    int min_ctas = INT_MIN;
    int max_ctas = INT_MIN;
    const char *net_name = nullptr;
    int split_share = INT_MIN;
    int traffic_class = INT_MIN;
    const char *comm_name = nullptr;
    int collnet_enable = INT_MIN;
    int cta_policy = INT_MIN;
    int shrink_share = INT_MIN;
    int nvls_ctas = INT_MIN;
    int channels_per_net_peer = INT_MIN;
    int nvlink_centric_sched = INT_MIN;
};

inline constexpr int cta_policy_zero = 2;
inline constexpr int window_symmetric = 1;

enum DataType {
    int8 = 0,
    uint8 = 1,
    int32 = 2,
    uint32 = 3,
    int64 = 4,
    uint64 = 5,
    float16 = 6,
    float32 = 7,
    float64 = 8,
    bfloat16 = 9
};

enum RedOp {
    sum = 0,
    max = 2,
    min = 3,
    avg = 4
};

/// Functions that the library lacks are null: only those below the line may be.
struct Functions {
    Result (*get_version)(int *version) = nullptr;
    Result (*get_unique_id)(UniqueId *id) = nullptr;
    const char *(*get_error_string)(Result result) = nullptr;
    Result (*comm_init_rank)(Comm *comm, int ranks, UniqueId id, int rank) = nullptr;
    Result (*comm_destroy)(Comm comm) = nullptr;
    Result (*comm_abort)(Comm comm) = nullptr;
    Result (*all_gather)(const void *send, void *recv, std::size_t count, int type, Comm comm, Stream stream) = nullptr;
    Result (*reduce_scatter)(const void *send, void *recv, std::size_t count, int type, int op, Comm comm,
                             Stream stream) = nullptr;
    Result (*all_reduce)(const void *send, void *recv, std::size_t count, int type, int op, Comm comm,
                         Stream stream) = nullptr;
    Result (*broadcast)(const void *send, void *recv, std::size_t count, int type, int root, Comm comm,
                        Stream stream) = nullptr;
    Result (*send)(const void *buffer, std::size_t count, int type, int to, Comm comm, Stream stream) = nullptr;
    Result (*recv)(void *buffer, std::size_t count, int type, int from, Comm comm, Stream stream) = nullptr;
    Result (*group_start)() = nullptr;
    Result (*group_end)() = nullptr;
    // ---- newer than the oldest that is accepted
    Result (*all_to_all)(const void *send, void *recv, std::size_t count, int type, Comm comm, Stream stream) = nullptr;
    const char *(*get_last_error)(Comm comm) = nullptr;
    Result (*comm_init_rank_config)(Comm *comm, int ranks, UniqueId id, int rank, Config *config) = nullptr;
    Result (*mem_alloc)(void **pointer, std::size_t bytes) = nullptr;
    Result (*mem_free)(void *pointer) = nullptr;
    Result (*comm_register)(Comm comm, void *buffer, std::size_t bytes, void **handle) = nullptr;
    Result (*comm_deregister)(Comm comm, void *handle) = nullptr;
    Result (*window_register)(Comm comm, void *buffer, std::size_t bytes, Window *window, int flags) = nullptr;
    Result (*window_deregister)(Comm comm, Window window) = nullptr;
};

/// A loaded library. It is never unloaded: it has threads of its own.
class Api {
public:
    /// Throws Error with the reason if there is no usable library. Sets NCCL_NVLS_ENABLE=0 unless the variable is set:
    /// NVLink multicast is compared only where somebody asks for it.
    explicit Api(const std::string &library);

    const Functions &functions() const { return functions_; }
    int version() const { return version_; }  // 22809 is 2.28.9
    /// "2.28.9 (libnccl.so.2)"
    std::string describe() const;

    /// Throws Error with NCCL's message unless the call worked.
    void check(Result result, const char *what, Comm comm = nullptr) const;

private:
    std::string library_;
    Functions functions_;
    int version_ = 0;
};

std::string version_text(int version);

}  // namespace baton::bench::nccl
