// Answers like libnccl.so.2, on host memory and over MPI, so that the calls to NCCL are made for real on machines
// without a GPU. Written from NCCL's published prototypes, not from Baton's declarations, so that a wrong one shows as
// a wrong result. Environment, read at every call:
//   FAKE_NCCL_VERSION        what ncclGetVersion says (default 22809)
//   FAKE_NCCL_NO_WINDOW      ncclCommWindowRegister makes no window, as where NCCL has no symmetric memory
//   FAKE_NCCL_DAMAGE         the last byte of every result is wrong
//   FAKE_NCCL_REFUSE         the rank whose ncclCommInitRank fails, after the others' has succeeded
//   FAKE_NCCL_REFUSE_WINDOW  the rank whose ncclCommWindowRegister fails
#include <mpi.h>

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" {

typedef struct ncclComm *ncclComm_t;
typedef struct ncclWindow_vidmem *ncclWindow_t;
typedef struct {
    char internal[128];
} ncclUniqueId;
typedef enum {
    ncclSuccess = 0,
    ncclInvalidArgument = 4,
    ncclInvalidUsage = 5
} ncclResult_t;
typedef int ncclDataType_t;
typedef int ncclRedOp_t;
typedef void *cudaStream_t;

typedef struct {
    size_t size;
    unsigned int magic;
    unsigned int version;
    int blocking, cgaClusterSize, minCTAs, maxCTAs;
    const char *netName;
    int splitShare, trafficClass;
    const char *commName;
    int collnetEnable, CTAPolicy, shrinkShare, nvlsCTAs, nChannelsPerNetPeer, nvlinkCentricSched;
} ncclConfig_t;

struct ncclComm {
    MPI_Comm mpi;
    bool zero_cta;
    int registrations;
};
}

namespace {

constexpr unsigned char id_byte = 0xA7;

int depth = 0;
int held = 0;  // communicators and allocations
std::vector<MPI_Request> requests;

int setting(const char *name, int otherwise) {
    const char *value = std::getenv(name);
    return value != nullptr ? std::atoi(value) : otherwise;
}

MPI_Datatype type_of(ncclDataType_t type) {
    const MPI_Datatype types[] = {MPI_INT8_T,   MPI_UINT8_T,       MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T,
                                  MPI_UINT64_T, MPI_DATATYPE_NULL, MPI_FLOAT,   MPI_DOUBLE,   MPI_DATATYPE_NULL};
    return type >= 0 && type < 10 ? types[type] : MPI_DATATYPE_NULL;
}

size_t size_of(ncclDataType_t type) {
    const size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    return sizes[type];
}

MPI_Op op_of(ncclRedOp_t op) {
    const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};
    return ops[op];
}

int ranks_of(ncclComm_t comm) {
    int ranks = 0;
    MPI_Comm_size(comm->mpi, &ranks);
    return ranks;
}

ncclResult_t finish(void *result, size_t bytes) {
    if (bytes > 0 && setting("FAKE_NCCL_DAMAGE", 0) != 0) {
        static_cast<unsigned char *>(result)[bytes - 1] ^= 0x55;
    }
    return ncclSuccess;
}

/// Deletes the communicator without the other ranks, so its MPI communicator is not freed here.
void forget(ncclComm_t comm) {
    const bool clean = comm->registrations == 0;
    delete comm;
    --held;
    if (!clean) std::abort();  // NCCL would only leak; a test should see it
}

/// Makes a communicator of all ranks. Refuses ids not made by ncclGetUniqueId(), and ranks other than MPI's.
ncclResult_t connect(ncclComm_t *comm, int ranks, const ncclUniqueId &id, int rank, bool zero_cta) {
    int mine = -1;
    int all = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &mine);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    bool valid = ranks == all && rank == mine;
    for (const char byte : id.internal) {
        valid = valid && static_cast<unsigned char>(byte) == id_byte;
    }
    if (!valid) return ncclInvalidArgument;
    *comm = new ncclComm{MPI_COMM_NULL, zero_cta, 0};
    MPI_Comm_dup(MPI_COMM_WORLD, &(*comm)->mpi);
    ++held;
    if (setting("FAKE_NCCL_REFUSE", -1) == rank) {
        forget(*comm);
        *comm = nullptr;
        return ncclInvalidUsage;
    }
    return ncclSuccess;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int *version) {
    *version = setting("FAKE_NCCL_VERSION", 22809);
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) { return result == ncclSuccess ? "no error" : "fake error"; }
const char *ncclGetLastError(ncclComm_t) { return "details of the fake"; }

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
    std::memset(id, id_byte, sizeof(*id));
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank) {
    return connect(comm, nranks, commId, rank, false);
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t *config) {
    const bool unset = config->blocking == INT_MIN && config->maxCTAs == INT_MIN && config->netName == nullptr &&
                       config->commName == nullptr && config->nvlsCTAs == INT_MIN &&
                       config->nvlinkCentricSched == INT_MIN;
    const bool valid = config->size == sizeof(ncclConfig_t) && config->magic == 0xcafebeef &&
                       config->version >= 22800 && config->CTAPolicy == 2 && unset;
    return valid ? connect(comm, nranks, commId, rank, true) : ncclInvalidArgument;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    MPI_Barrier(comm->mpi);  // waits for all ranks
    MPI_Comm_free(&comm->mpi);
    forget(comm);
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
    forget(comm);
    return ncclSuccess;
}

/// Not NCCL's: how many communicators and allocations have not been given back yet.
int fakeNcclHeld() { return held; }

ncclResult_t ncclMemAlloc(void **ptr, size_t size) {
    *ptr = std::aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    held += *ptr != nullptr ? 1 : 0;
    return *ptr != nullptr ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclMemFree(void *ptr) {
    std::free(ptr);
    --held;
    return ncclSuccess;
}

ncclResult_t ncclCommRegister(const ncclComm_t comm, void *buff, size_t, void **handle) {
    ++comm->registrations;
    *handle = buff;
    return ncclSuccess;
}

ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *) {
    --comm->registrations;
    return ncclSuccess;
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void *buff, size_t size, ncclWindow_t *win, int winFlags) {
    if (winFlags != 1 || size % 4096 != 0 || reinterpret_cast<std::uintptr_t>(buff) % 4096 != 0)
        return ncclInvalidArgument;
    MPI_Barrier(comm->mpi);
    int rank = -1;
    MPI_Comm_rank(comm->mpi, &rank);
    if (setting("FAKE_NCCL_REFUSE_WINDOW", -1) == rank) return ncclInvalidUsage;
    if (setting("FAKE_NCCL_NO_WINDOW", 0) != 0) return ncclSuccess;
    ++comm->registrations;
    *win = static_cast<ncclWindow_t>(buff);
    return ncclSuccess;
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t) {
    --comm->registrations;
    return ncclSuccess;
}

ncclResult_t ncclAllGather(const void *sendbuff, void *recvbuff, size_t sendcount, ncclDataType_t datatype,
                           ncclComm_t comm, cudaStream_t) {
    const size_t bytes = sendcount * size_of(datatype);
    MPI_Allgather(sendbuff, static_cast<int>(bytes), MPI_BYTE, recvbuff, static_cast<int>(bytes), MPI_BYTE, comm->mpi);
    return finish(recvbuff, bytes * static_cast<size_t>(ranks_of(comm)));
}

ncclResult_t ncclBroadcast(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype, int root,
                           ncclComm_t comm, cudaStream_t) {
    const size_t bytes = count * size_of(datatype);
    int rank = -1;
    MPI_Comm_rank(comm->mpi, &rank);
    if (rank == root && sendbuff != recvbuff) std::memcpy(recvbuff, sendbuff, bytes);
    MPI_Bcast(recvbuff, static_cast<int>(bytes), MPI_BYTE, root, comm->mpi);
    return finish(recvbuff, bytes);
}

#if !defined(FAKE_NCCL_OLD)
ncclResult_t ncclAlltoAll(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype, ncclComm_t comm,
                          cudaStream_t) {
    const size_t bytes = count * size_of(datatype);
    MPI_Alltoall(sendbuff, static_cast<int>(bytes), MPI_BYTE, recvbuff, static_cast<int>(bytes), MPI_BYTE, comm->mpi);
    return finish(recvbuff, bytes * static_cast<size_t>(ranks_of(comm)));
}
#endif

ncclResult_t ncclReduceScatter(const void *sendbuff, void *recvbuff, size_t recvcount, ncclDataType_t datatype,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t) {
    if (type_of(datatype) == MPI_DATATYPE_NULL || op > 3) return ncclInvalidArgument;
    MPI_Reduce_scatter_block(sendbuff, recvbuff, static_cast<int>(recvcount), type_of(datatype), op_of(op), comm->mpi);
    return finish(recvbuff, recvcount * size_of(datatype));
}

ncclResult_t ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t) {
    if (type_of(datatype) == MPI_DATATYPE_NULL || op > 3) return ncclInvalidArgument;
    MPI_Allreduce(sendbuff, recvbuff, static_cast<int>(count), type_of(datatype), op_of(op), comm->mpi);
    return finish(recvbuff, count * size_of(datatype));
}

ncclResult_t ncclGroupStart() {
    ++depth;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
    if (--depth == 0) {
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        requests.clear();
    }
    return ncclSuccess;
}

ncclResult_t ncclSend(const void *sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t) {
    ncclGroupStart();
    requests.emplace_back();
    MPI_Isend(sendbuff, static_cast<int>(count * size_of(datatype)), MPI_BYTE, peer, 7, comm->mpi, &requests.back());
    return ncclGroupEnd();
}

ncclResult_t ncclRecv(void *recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm, cudaStream_t) {
    ncclGroupStart();
    requests.emplace_back();
    MPI_Irecv(recvbuff, static_cast<int>(count * size_of(datatype)), MPI_BYTE, peer, 7, comm->mpi, &requests.back());
    return ncclGroupEnd();
}
}
