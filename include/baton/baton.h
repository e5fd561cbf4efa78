/*
 * Baton: collective communication between the ranks of one machine.
 *
 * MPI starts the ranks; Baton moves and reduces data between their GPUs over CUDA IPC, or between host buffers where
 * a communicator has no GPU. This header is the reference of the C API; baton.hpp wraps it for C++.
 *
 * Conventions that hold for every call.
 *
 * Counts and outputs:
 *  - Counts are in elements of `type`, never in bytes, except where a parameter is named `bytes` or `offset`.
 *  - Outputs (a handle, a pointer, a number) are written on success only.
 *
 * Streams and order:
 *  - A call returns once it is enqueued on `stream`. Later work of that stream may use the result.
 *  - On a communicator on GPUs `stream` is a cudaStream_t; NULL is the legacy default stream. In a thread whose context
 *    the program has made (cuCtxCreate), default streams are BATON_ERR_UNSUPPORTED.
 *  - On a communicator on the host `stream` is a baton_host_stream_t, or NULL: then the call is complete when it
 *    returns. On a host stream everything behind a recv waits for it; if its sender waits for a send that you have
 *    queued behind it, put both into one group.
 *  - Calls on one communicator run in issue order, on every rank in the same order. Baton orders its calls on different
 *    streams. It does not order calls on different communicators.
 *  - CUDA graphs may hold calls, but not in the body of a conditional node: CUDA does not instantiate such a graph.
 *    Drop a graph whose capture held a call that has failed.
 *
 * Threads:
 *  - Several threads may use one communicator. A call waits while another thread's call is being made (on the host
 *    without a stream: until that is complete). baton_comm_check() and baton_comm_abort() never wait for other calls.
 *  - Several threads of a rank may each use a communicator of their own at the same time. On GPUs none of them may then
 *    wait for all of the GPU's work, as cudaFree, baton_free and cudaDeviceSynchronize do: if threads of two ranks do,
 *    each may wait for a kernel that needs the other, until BATON_ERR_TIMEOUT. Free memory when the other threads'
 *    calls have ended, or with cudaFreeAsync.
 *
 * Several communicators on a GPU:
 *  - Kernels of one operation wait for each other, so all of them must be resident on the GPUs at once. Baton leaves
 *    room for the large operations of about four communicators per GPU. Keep no more in flight. Beyond that, ranks may
 *    run them in different orders, each waiting for kernels that find no room, until BATON_ERR_TIMEOUT breaks the
 *    communicators. If you need more, order the streams by events, in the same way on every rank, or set a smaller
 *    max_channels.
 *
 * Errors:
 *  - A call that returns BATON_ERR_ARGUMENT or BATON_ERR_UNSUPPORTED has started nothing and changed nothing.
 *  - BATON_ERR_MISMATCH, _TIMEOUT, _PEER_DEAD and _ABORTED break the communicator. Every later call that moves data,
 *    meets other ranks, allocates or registers then returns the same code at once, and baton_comm_destroy() is the only
 *    useful call left. One exception: different sizes in baton_window_create() are BATON_ERR_MISMATCH, but break
 *    nothing.
 *  - _SYSTEM, _CUDA, _MPI, _MEMORY and _INTERNAL break the communicator if data had begun to move; baton_comm_check()
 *    says whether it is broken.
 *  - On GPUs a failure shows in baton_comm_check() and in the next call, not in the CUDA stream: kernels that give up
 *    end normally, so cudaStreamSynchronize() succeeds. Check before you use a result that matters (docs/errors.md).
 *
 * Buffers:
 *  - They belong to the caller, and must stay allocated until the stream has passed the call. Any alignment will do.
 *  - On GPUs they are device memory of the communicator's own device, or managed memory, which goes through a copy.
 *    Host memory, and a stream of another device, are BATON_ERR_ARGUMENT.
 *  - With a count of 0 any pointer will do, NULL too; the ranks meet all the same.
 *
 * The process:
 *  - After MPI_Finalize only these may be called: baton_host_stream_synchronize() and baton_host_stream_destroy(),
 *    which wait for what is queued, and the calls that say what has failed. To the other ranks, a rank that ends before
 *    their work is done is a dead peer.
 *  - Nothing may be called from a child that was forked after MPI_Init, after a host stream was made, or while another
 *    thread was in a call. Parent and child share the memory of baton_malloc() and windows on the host.
 */
#ifndef BATON_BATON_H
#define BATON_BATON_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define BATON_VERSION_MAJOR 0
#define BATON_VERSION_MINOR 1
#define BATON_VERSION_PATCH 0

#if defined(__GNUC__)
#define BATON_API __attribute__((visibility("default")))
#else
#define BATON_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- types ------------------------------------------- */

typedef struct baton_comm *baton_comm_t;
typedef struct baton_window *baton_window_t;
typedef struct baton_host_stream *baton_host_stream_t;

/* A cudaStream_t or a baton_host_stream_t, as the communicator demands; both convert to void * by themselves. */
typedef void *baton_stream_t;

typedef enum baton_result {
    BATON_SUCCESS = 0,
    BATON_ERR_ARGUMENT = 1,    /* the caller's mistake; nothing was started */
    BATON_ERR_UNSUPPORTED = 2, /* valid, but not possible on this machine or in this build; nothing was started */
    BATON_ERR_MISMATCH = 3,    /* the ranks called different operations, or the same one with different arguments */
    BATON_ERR_TIMEOUT = 4,     /* a rank did not come within the communicator's timeout */
    BATON_ERR_PEER_DEAD = 5,   /* a rank's process has ended */
    BATON_ERR_ABORTED = 6,     /* a rank called baton_comm_abort(), or baton_group_drop() of calls on it */
    BATON_ERR_SYSTEM = 7,      /* the operating system refused something */
    BATON_ERR_CUDA = 8,        /* CUDA refused something */
    BATON_ERR_MPI = 9,         /* MPI refused something */
    BATON_ERR_MEMORY = 10,     /* out of host or device memory */
    BATON_ERR_INTERNAL = 11    /* a defect of Baton */
} baton_result;

typedef enum baton_type {
    BATON_INT8 = 0,
    BATON_UINT8 = 1,
    BATON_INT16 = 2,
    BATON_UINT16 = 3,
    BATON_INT32 = 4,
    BATON_UINT32 = 5,
    BATON_INT64 = 6,
    BATON_UINT64 = 7,
    BATON_FLOAT16 = 8,
    BATON_BFLOAT16 = 9,
    BATON_FLOAT32 = 10,
    BATON_FLOAT64 = 11,
    BATON_FLOAT8_E4M3 = 12,
    BATON_FLOAT8_E5M2 = 13,
    BATON_TYPE_COUNT = 14
} baton_type;

/*
 * Every element is reduced in the order of the ranks: 0, 1, ..., n-1. fp16, bf16 and fp8 are accumulated in fp32 and
 * rounded once (to nearest even; fp8 saturates to the largest finite value). Integers wrap. MIN and MAX keep the
 * earlier rank's element where neither is less, so a NaN of rank 0 stays, and one of another rank is passed over. For
 * fp16, bf16 and fp8 these two also go through fp32, which turns an fp8 infinity into the largest finite value.
 * AVG is the sum divided by the number of ranks, for floating-point types only.
 * A NaN in the result of SUM, PROD and AVG, and of MIN and MAX of fp16, bf16 and fp8, is the canonical one: its sign is
 * clear, and all other bits are set. For fp32 and fp64, MIN and MAX return the bits of the element that they keep.
 * The result has the same bits on every rank, in every run, with every algorithm and transport. On the host it does not
 * depend on the floating-point mode of the calling thread (rounding, subnormal numbers as zeros).
 */
typedef enum baton_op {
    BATON_SUM = 0,
    BATON_PROD = 1,
    BATON_MIN = 2,
    BATON_MAX = 3,
    BATON_AVG = 4,
    BATON_OP_COUNT = 5
} baton_op;

/* What moves the data. AUTO lets selection choose for every call. */
typedef enum baton_transport {
    BATON_TRANSPORT_AUTO = 0,
    BATON_TRANSPORT_HOST = 1,        /* host memory: no GPU is used */
    BATON_TRANSPORT_KERNEL = 2,      /* GPU kernels only */
    BATON_TRANSPORT_COPY_ENGINE = 3, /* copy engines wherever the operation allows it, kernels for the rest */
    BATON_TRANSPORT_ZERO_SM = 4      /* no SM is used for allgather, alltoall, put and get: copy engines, ordered by
                                        stream memory operations. allgather and alltoall then block the host until all
                                        ranks have issued them. Those that one rank captures all have to capture, and
                                        launch in the same order: a graph keeps where the peers' buffers were */
} baton_transport;

/* Whether ranks may reach into each other's memory: GPUs into peer GPUs', processes into other processes'. */
typedef enum baton_p2p {
    BATON_P2P_AUTO = 0, /* if every pair of ranks can; creation tries that by writing words and verifying them */
    BATON_P2P_OFF = 1   /* never: all data goes through host memory that the ranks share */
} baton_p2p;

/* Whether collectives and messages of middle sizes may go in lines: 120 bytes and a flag in one store of 128 bytes,
 * which NVLink and the GPUs' caches keep together. No manual promises that; NCCL's LL128 rests on it too. */
typedef enum baton_lines {
    BATON_LINES_AUTO = 0, /* where lines have been seen whole: Hopper GPUs, NVLink between all; and on the host */
    BATON_LINES_OFF = 1   /* never */
} baton_lines;

/*
 * A communicator's settings. Initialise with baton_config_init(), then set what matters. A field left as
 * baton_config_init() made it takes the value of its environment variable, else the default. All ranks must end up with
 * the same values, except p2p, tuning and topology, whose comments say what happens. Otherwise baton_comm_create()
 * returns BATON_ERR_MISMATCH and names the field and the ranks. It compares the values as they were given, by field,
 * variable or default, before Baton lowers any.
 */
typedef struct baton_config {
    size_t struct_size;       /* set by baton_config_init(): sizeof(baton_config) as the program was compiled */
    int transport;            /* a baton_transport; -1 = unset. BATON_TRANSPORT=auto|host|kernel|copy_engine|zero_sm */
    double timeout_seconds;   /* how long to wait for a rank, more than 0, at most 1e9; < 0 = unset. BATON_TIMEOUT,
                                 default 60 */
    int max_channels;         /* most channels of a collective or message, each a CTA or two small ones, 1..64;
                                 0 = unset. BATON_MAX_CHANNELS, default 64. Lowered to half the multiprocessors, at most
                                 64, divided by the ranks that share the GPU, the least of all GPUs: all blocks must be
                                 resident together. Without effect on the host */
    size_t packet_limit;      /* bytes per rank up to which data travels with its flags; SIZE_MAX = unset: as tuned.
                                 BATON_PACKET_LIMIT; more than 1 MiB on GPUs, 8 KiB on the host, is lowered to that */
    size_t copy_engine_limit; /* bytes per rank from which copy engines move unreduced data; SIZE_MAX = unset: as
                                 tuned. BATON_COPY_ENGINE_LIMIT */
    size_t segment_bytes; /* bytes moved at once through a staging slot, 4 KiB to 1 GiB, on the host lowered to 128 KiB;
                             0 = unset. BATON_SEGMENT, default 1048576. What takes 2^24 steps or more with it (64 GiB of
                             4 KiB, say) is BATON_ERR_UNSUPPORTED */
    int p2p;              /* a baton_p2p; -1 = unset. BATON_P2P=auto|off, default auto. OFF on one rank is OFF on all */
    int lines;            /* a baton_lines; -1 = unset. BATON_LINES=auto|off, default auto */
    const char *tuning;   /* which algorithm runs at which size, where no other setting decides: path of a file written
                             by baton_tune, or its text, or "none" for the tables that are compiled in; rank 0's
                             counts. NULL or "" = unset. BATON_TUNING, default ~/.config/baton/tuning.json if there */
    const char *topology; /* the user's word on how ranks are linked: path of an override file (docs/topology.md), or
                             its text, or "none"; rank 0's counts. NULL or "" = unset. BATON_TOPOLOGY, default none */
} baton_config;

/* What a communicator has; see baton_comm_info(). Texts that are too long for their field end with "...". */
typedef struct baton_info {
    size_t struct_size; /* set by the caller to sizeof(baton_info) */
    int rank;
    int size;
    int on_gpu;           /* 1: buffers are device memory; 0: host memory */
    int device;           /* CUDA ordinal in this process, -1 on the host */
    char device_name[64]; /* the GPU's name, or "host" */
    char device_uuid[48]; /* "GPU-xxxxxxxx-...", empty on the host */
    int ranks_on_device;  /* ranks of this communicator on the same GPU, 1 or more; on the host equal to size */
    int channels;         /* channels that the widest collective uses: a CTA each, or two small ones */
    int single_copy;      /* host: 1 where one copy between processes works */
    int peer_access;      /* GPU: 1 where every pair of ranks reads and writes each other's memory (probed); 0: all data
                             goes through host memory */
    char reach[192];      /* how ranks reach each other's buffers, or which ranks do not and why: for people */
    size_t device_bytes;  /* device memory that Baton holds for this communicator on this rank: its own, that of
                             baton_malloc() and windows, and copies that calls have needed */
    size_t host_bytes;    /* host memory, shared and pinned, likewise */
    size_t regions;       /* registered regions of this rank alive at the moment */
    char links[192];      /* how the ranks are linked, as far as plans depend on it, and why: for people */
} baton_info;

/* The operations, as explain and error messages name them. */
typedef enum baton_operation {
    BATON_ALLGATHER = 0,
    BATON_REDUCE_SCATTER = 1,
    BATON_ALLREDUCE = 2,
    BATON_SEND = 3,
    BATON_RECV = 4,
    BATON_BARRIER = 5,
    BATON_PUT = 6,
    BATON_GET = 7,
    BATON_SIGNAL = 8,
    BATON_WAIT_SIGNAL = 9,
    BATON_ALLTOALL = 10,
    BATON_BROADCAST = 11,
    BATON_OPERATION_COUNT = 12
} baton_operation;

/* May stand for `sendbuf` in collectives: the input lies in `recvbuf` as MPI_IN_PLACE defines it. Equal pointers, as
 * NCCL defines in place, are recognised too; each operation says which. */
#ifdef __cplusplus
#define BATON_IN_PLACE (reinterpret_cast<const void *>(static_cast<intptr_t>(-1)))
#else
#define BATON_IN_PLACE ((const void *)-1)
#endif

/* ---------------------------------------------------------------- versions, names, errors ------------------------- */

BATON_API int baton_version(void); /* major * 10000 + minor * 100 + patch */

/* A hash of the sources that this library was built from, as 16 hexadecimal digits. It must be the same on all ranks of
 * a communicator; otherwise baton_comm_create() returns BATON_ERR_MISMATCH. */
BATON_API const char *baton_build_id(void);

/* The constant's name, e.g. "BATON_ERR_ARGUMENT"; "unknown result" for any other value, never NULL. */
BATON_API const char *baton_result_name(baton_result result);

/* The message of this thread's last failed call: operation, rank, peer, cause and, where there is one, the remedy.
 * Valid until this thread's next failing call. Empty if no call has failed. */
BATON_API const char *baton_last_error(void);

BATON_API size_t baton_type_size(baton_type type);                     /* bytes; 0 for an unknown type */
BATON_API const char *baton_type_name(baton_type type);                /* "float32"; "unknown" for an unknown type */
BATON_API const char *baton_op_name(baton_op op);                      /* "sum"; likewise */
BATON_API const char *baton_operation_name(baton_operation operation); /* "allgather"; likewise */

/* The Baton type or operation that equals a predefined one of MPI, which is given by its own handle, not by a
 * duplicate's; BATON_ERR_UNSUPPORTED if there is none. MPI_C_BOOL has none, since a sum of Baton's integers need not be
 * a bool: move bools as BATON_UINT8, and use BATON_MAX for MPI_LOR and BATON_MIN for MPI_LAND. MPI_INTEGER, MPI_REAL
 * and MPI_DOUBLE_PRECISION need MPI_Init, since only the MPI library knows how wide they are. */
BATON_API baton_result baton_type_from_mpi(MPI_Datatype datatype, baton_type *type);
BATON_API baton_result baton_op_from_mpi(MPI_Op mpi_op, baton_op *op);

/* ---------------------------------------------------------------- communicators ----------------------------------- */

/*
 * Makes all fields of *config unset. It passes on the program's own sizeof, so that a program compiled with an older
 * header keeps working with a newer library, whose struct may have more fields. From a language without macros, call
 * baton_config_init_sized(config, sizeof(baton_config)).
 */
#define baton_config_init(config) baton_config_init_sized((config), sizeof(baton_config))
BATON_API baton_result baton_config_init_sized(baton_config *config, size_t size);

/*
 * Creates a communicator over the ranks of `mpi_comm`, any intra-communicator of at most 64 ranks on one host; else
 * BATON_ERR_UNSUPPORTED, naming the hosts. `config` may be NULL. Needs MPI_THREAD_SINGLE or higher. Where several
 * threads create or destroy communicators or windows, it needs what MPI demands for calls from them:
 * MPI_THREAD_SERIALIZED, or MPI_THREAD_MULTIPLE if they do so at the same time.
 *
 * GPU or host: with transport auto the communicator is on GPUs if every rank sees one, and on the host if no rank does.
 * A rank uses the device that is current in the calling thread, so call cudaSetDevice() first. Ranks may share a GPU.
 *
 * Collective over `mpi_comm`. It waits for all ranks, for the timeout or 60 s, whichever is longer. Then
 * BATON_ERR_TIMEOUT names the missing ones, and the next attempt needs another `mpi_comm` (docs/errors.md). What fails
 * on one rank, a NULL `comm` too, fails on all; only MPI_COMM_NULL is refused without the others.
 *
 * `mpi_comm` is duplicated, and may be freed afterwards. While it is being duplicated its errors return
 * (MPI_ERRORS_RETURN); its own error handler is there again afterwards. The duplicate gets copies of its attributes:
 * their copy callbacks run, in MPI_Comm_idup. One that fails on all ranks is BATON_ERR_MPI; one that fails on one rank
 * leaves the others to the timeout.
 *
 * Where GPUs do not reach each other's memory (baton_info.peer_access 0), CUDA makes this call, and
 * baton_window_create(), wait for all kernels that run on the ranks' GPUs. None of those may wait for what a rank
 * enqueues only afterwards, or both run into the timeout.
 */
BATON_API baton_result baton_comm_create(MPI_Comm mpi_comm, const baton_config *config, baton_comm_t *comm);

/*
 * Destroys a communicator, after the work enqueued on it has finished.
 *  - Collective, unless the communicator is broken: then it returns without waiting for other ranks. What breaks it
 *    while this call waits for them (a rank that does not come within the timeout, for instance) is returned; this
 *    rank's part is destroyed then as well.
 *  - Windows and baton_malloc() memory of the communicator that are still alive are freed. CUDA graphs that captured
 *    calls of the communicator must not be launched any more.
 *  - Destroy several communicators in the same order on all ranks: in different orders the ranks would wait for each
 *    other until the timeout.
 *  - On GPUs, a call on another communicator must come before this one on all ranks or on none: CUDA gives memory back
 *    when the kernels that the process has launched have ended, and those may wait for a rank that has not made its
 *    call yet.
 */
BATON_API baton_result baton_comm_destroy(baton_comm_t comm);

/* Breaks the communicator on all ranks: waiting kernels and calls end, and every later call returns BATON_ERR_ABORTED.
 * Local; may be called from any thread at any time, but not from a signal handler: it takes locks that the interrupted
 * thread may hold. A handler that wants it has to wake a thread that calls it. */
BATON_API baton_result baton_comm_abort(baton_comm_t comm);

/* BATON_SUCCESS while the communicator works, else what broke it, with the message in baton_last_error(). Local. It
 * returns at once, except in one case: if this rank has learned only that another one gave up, it waits for that rank's
 * reason, at most half a second and once in a communicator's life, so that all ranks report the same reason. */
BATON_API baton_result baton_comm_check(baton_comm_t comm);

BATON_API baton_result baton_comm_rank(baton_comm_t comm, int *rank);
BATON_API baton_result baton_comm_size(baton_comm_t comm, int *size);
BATON_API baton_result baton_comm_info(baton_comm_t comm, baton_info *info);

/* ---------------------------------------------------------------- host streams ------------------------------------ */

/* An ordered queue of calls on host communicators, run by a thread of its own. */
BATON_API baton_result baton_host_stream_create(baton_host_stream_t *stream);
/* Waits for what is queued. Returns the first error of the calls that have run on the stream since the last
 * synchronize: that of the communicator which broke. */
BATON_API baton_result baton_host_stream_synchronize(baton_host_stream_t stream);
/* The same, and destroys the stream, also where it returns an error. */
BATON_API baton_result baton_host_stream_destroy(baton_host_stream_t stream);

/* ---------------------------------------------------------------- memory ------------------------------------------ */

/* Memory of the communicator's kind (device or host), zeroed and aligned to 256 bytes. Local calls.
 *  - Calls may use the `bytes` asked for, not what they are rounded up to. For 0 bytes the pointer is NULL.
 *  - It is registered from birth, until baton_free(), and this registration is not counted among those that
 *    baton_deregister() takes back. Where GPUs do not reach each other's memory (baton_info.peer_access 0), nothing is
 *    registered.
 *  - BATON_ERR_MEMORY if there is none, or if 1024 allocations of this rank are registered already. Memory that a peer
 *    could not map is usable all the same, on GPUs through a copy; baton_explain() says so, and baton_register() tries
 *    again.
 *  - baton_free() takes what baton_malloc() of `comm` gave, or NULL. A window's memory is not among it.
 *  - Peers let go of freed memory by themselves: on the host within a fraction of a second; on GPUs in one of their
 *    next calls that finds all communicators of its process idle. Until then the device's memory is not free. Where
 *    calls of another communicator have used the memory, its peers learn of that with this rank's next call there. */
BATON_API baton_result baton_malloc(baton_comm_t comm, size_t bytes, void **pointer);
BATON_API baton_result baton_free(baton_comm_t comm, void *pointer);

/*
 * Makes the allocation that holds [pointer, pointer + bytes) known to the peers now, instead of at its first use.
 * Never needed for correctness; local: no other rank has to call. Registering twice is counted; deregister as often.
 * A buffer, registered or not, may be freed without being deregistered, behind the calls that use it: when they have
 * ended, or in their streams' order (cudaFreeAsync) as soon as they are enqueued.
 * BATON_ERR_UNSUPPORTED, with the reason, for memory that cannot be exported, BATON_ERR_MEMORY where 1024 allocations
 * are registered already, another code where a peer could not map it: calls on it work, on GPUs through a copy.
 * On the host only memory of baton_malloc() and windows can be exported, and it is registered from birth: for any other
 * BATON_ERR_UNSUPPORTED is the normal answer, and calls on it work all the same.
 */
BATON_API baton_result baton_register(baton_comm_t comm, void *pointer, size_t bytes);
BATON_API baton_result baton_deregister(baton_comm_t comm, void *pointer);

/* ---------------------------------------------------------------- collectives ------------------------------------- */

/*
 * The elements and steps below are for links that are alike. Small data "travels with its flags": a flag is stored with
 * each word (packets) or with each line of 128 bytes (lines), so that a receiver needs no other signal. That takes
 * twice the bytes in packets, and 16/15 of them in lines. A step is one passage over links, to any number of peers at
 * once. Where links are not alike, data follows routes: each rank sends as much or more, in more steps
 * (docs/algorithms.md has them for every algorithm).
 */

/*
 * allgather: rank r's `count` elements at sendbuf appear at recvbuf + r * count on every rank.
 * In place: sendbuf == recvbuf + rank * count, or BATON_IN_PLACE. Any other overlap is BATON_ERR_ARGUMENT.
 * Every rank sends (n-1) * count elements. One step.
 */
BATON_API baton_result baton_allgather(const void *sendbuf, void *recvbuf, size_t count, baton_type type,
                                       baton_comm_t comm, baton_stream_t stream);

/*
 * reduce_scatter (block): sendbuf holds n * count elements; element i of block r, reduced over all ranks, appears at
 * recvbuf[i] of rank r. In place: recvbuf == sendbuf + rank * count (NCCL's), or BATON_IN_PLACE (MPI's): the n blocks
 * lie in recvbuf, and the result replaces its first `count` elements. (Then all ranks but 0 reduce blocks that are too
 * large to travel with their flags into `count` elements that the communicator keeps, and copy.) Any other overlap is
 * BATON_ERR_ARGUMENT. Every rank sends (n-1) * count elements. One step.
 */
BATON_API baton_result baton_reduce_scatter(const void *sendbuf, void *recvbuf, size_t count, baton_type type,
                                            baton_op op, baton_comm_t comm, baton_stream_t stream);

/*
 * allreduce: recvbuf[i] on every rank is element i of sendbuf reduced over all ranks. In place: sendbuf == recvbuf or
 * BATON_IN_PLACE; any other overlap is BATON_ERR_ARGUMENT. Small: every rank sends (n-1) * count elements, one step.
 * Large: 2 (n-1) / n * count, two steps.
 */
BATON_API baton_result baton_allreduce(const void *sendbuf, void *recvbuf, size_t count, baton_type type, baton_op op,
                                       baton_comm_t comm, baton_stream_t stream);

/*
 * alltoall: sendbuf and recvbuf hold n blocks of `count` elements; block p of sendbuf on rank r appears as block r of
 * recvbuf on rank p, the own block included. `count` is that of one block, the same for all pairs of ranks.
 * In place: sendbuf == recvbuf, or BATON_IN_PLACE (MPI; NCCL has none): block p is exchanged with block r of rank p.
 * Blocks too large to travel with their flags, unless they are staged, then go through a copy of the n blocks, in
 * memory that the communicator keeps. Any other overlap is BATON_ERR_ARGUMENT. Every rank sends (n-1) * count elements.
 * One step.
 */
BATON_API baton_result baton_alltoall(const void *sendbuf, void *recvbuf, size_t count, baton_type type,
                                      baton_comm_t comm, baton_stream_t stream);

/*
 * broadcast: the `count` elements at sendbuf on rank `root` appear at recvbuf on every rank, the root's included.
 * sendbuf is used on the root only; elsewhere it is not looked at. In place on the root: sendbuf == recvbuf (with one
 * buffer everywhere this is MPI_Bcast), or BATON_IN_PLACE; any other overlap is BATON_ERR_ARGUMENT, and so is a root
 * that is no rank of the communicator. Ranks that name different roots get BATON_ERR_MISMATCH.
 * It completes when every rank has reached it and, on the root, when it has sent; on the others, when they have the
 * data.
 *  - Small: the root sends (n-1) * count elements, one step.
 *  - Large: the root sends count elements, each of the others (n-2) / (n-1) * count, in segments; the last arrives one
 *    step after the root has sent it.
 *  - Large, with 3 to 7 GPUs: from rank to rank, parts of the buffer in different orders; as many elements, and the
 * last segment takes n - 1 steps. Where links differ, in one order: count elements from each rank but the last.
 *  - On the host each of the others reads count elements of the root's.
 */
BATON_API baton_result baton_broadcast(const void *sendbuf, void *recvbuf, size_t count, baton_type type, int root,
                                       baton_comm_t comm, baton_stream_t stream);

/* barrier: completes, in stream order, when every rank has reached it; puts issued before are visible after. One step,
 * of words to each of the others. */
BATON_API baton_result baton_barrier(baton_comm_t comm, baton_stream_t stream);

/* ---------------------------------------------------------------- point to point ---------------------------------- */

/*
 * The k-th send from rank a to rank b matches the k-th recv of b from a; count and type must be equal, else
 * BATON_ERR_MISMATCH. Messages of at most BATON_EAGER_BYTES are buffered at the receiver: up to BATON_QUEUE_DEPTH of
 * them per pair complete without their recv. A longer send may wait for its recv to run, so ranks that exchange long
 * messages must use sendrecv or a group, as in MPI's and NCCL's rules.
 * peer == rank is allowed; a long message to oneself needs a group or sendrecv. A message's bytes are sent once: in one
 * step if it is buffered; else in two, a word of one side that says where its memory is, then the data; or, through
 * staging, in pieces.
 */
#define BATON_EAGER_BYTES 16384
#define BATON_QUEUE_DEPTH 8
BATON_API baton_result baton_send(const void *buffer, size_t count, baton_type type, int peer, baton_comm_t comm,
                                  baton_stream_t stream);
BATON_API baton_result baton_recv(void *buffer, size_t count, baton_type type, int peer, baton_comm_t comm,
                                  baton_stream_t stream);

/* A send to `dest` and a recv from `source` that progress together. Buffers that overlap, equal ones included, are
 * BATON_ERR_ARGUMENT, as MPI_Sendrecv forbids them. So are different counts where `dest` and `source` are both this
 * rank. */
BATON_API baton_result baton_sendrecv(const void *sendbuf, size_t sendcount, int dest, void *recvbuf, size_t recvcount,
                                      int source, baton_type type, baton_comm_t comm, baton_stream_t stream);

/*
 * A group collects the calls that this thread makes between begin and end and that take a stream; end checks and
 * enqueues them. All other calls run at once, before what was collected. Groups nest; the outermost end enqueues.
 *
 * Order: all sends and recvs of a group on one communicator and stream progress together, in any order and of any size.
 * Those of another communicator or stream follow when these have been enqueued (on the host without a stream: when they
 * are done), so a recv must not wait for a send that a rank has put behind it on another communicator or stream.
 * Collectives and one-sided calls of the group follow in issue order.
 *
 * BATON_ERR_ARGUMENT: more than BATON_GROUP_LIMIT sends and recvs of a communicator; sends to one rank, or recvs from
 * it, on two streams of a communicator, since they would not keep their order; a send and a recv of one communicator
 * and stream whose buffers overlap; an end without a begin.
 *
 * Errors: a collected call that fails returns its error itself, and is left out of the group. Communicators, windows,
 * streams and buffers of collected calls must be alive at the end, which checks the calls once more: if one would be
 * refused now, it returns BATON_ERR_ARGUMENT and starts nothing of the group. (A destroyed CUDA stream is not
 * recognised.) If the system refuses something later, the rest of that communicator's calls is left out, which breaks
 * it if some have been enqueued; all calls of a communicator that has broken since they were collected are left out,
 * too. The other communicators' calls are enqueued, and the first failure is returned. Either way the group is over.
 *
 * baton_group_drop instead ends this thread's group, with all nested ones, and enqueues nothing. It is for a program
 * that cannot reach the end, for instance because its buffers are gone. It breaks the communicators that calls were
 * collected on, as baton_comm_abort() does, since other ranks may be waiting for them: BATON_ERR_ABORTED. Other
 * communicators work on. BATON_ERR_ARGUMENT where no group is open.
 */
#define BATON_GROUP_LIMIT 256
BATON_API baton_result baton_group_begin(void);
BATON_API baton_result baton_group_end(void);
BATON_API baton_result baton_group_drop(void);

/* ---------------------------------------------------------------- windows: one-sided ------------------------------ */

/*
 * Collective: gives each rank `bytes` (the same on all ranks) of zeroed memory that all ranks can reach. It is of the
 * communicator's kind; where GPUs do not reach each other's memory, it is pinned host memory, which kernels and the
 * host use at the same address. `base` gets this rank's memory; it is not NULL even for 0 bytes. At most 64 windows are
 * alive on a communicator, else BATON_ERR_UNSUPPORTED. Blocks until all ranks have mapped it, and, where GPUs do not
 * reach each other's memory, until the kernels that run on them have ended, like baton_comm_create(). If it fails on
 * one rank, be it for wrong arguments, it fails on all.
 */
BATON_API baton_result baton_window_create(baton_comm_t comm, size_t bytes, baton_window_t *window, void **base);
/* Collective; waits for the work enqueued on the window's communicator. Pointers into the window are invalid after it.
 *  - Its memory is free again when the call returns. On GPUs not yet, if there are graphs or other communicators are at
 *    work; and what calls of other communicators have used is freed later, as with baton_free().
 *  - On GPUs it gives memory back. So calls on other communicators, and kernels of other libraries that wait for other
 *    ranks, must come before it on all ranks or on none, as with baton_comm_destroy().
 *  - On a broken communicator it waits for no other rank. There, and if the communicator breaks while it waits, the
 *    window's memory stays until baton_comm_destroy(), as others may still use it. */
BATON_API baton_result baton_window_destroy(baton_window_t window);

/* The address at which this process sees `peer`'s memory of the window: plain loads and stores (or kernels) reach it.
 * A peer may read what was stored through it after a later signal of this rank, or a barrier, in the same stream. Valid
 * until baton_window_destroy(). */
BATON_API baton_result baton_window_pointer(baton_window_t window, int peer, void **pointer);

/* put copies `bytes` from `source` to offset `offset` of target's window memory; get copies the other way. `source` and
 * `destination` are of the communicator's memory kind; they may be window memory, this rank's for instance. They must
 * be the same bytes as the target's, or apart from them; any other overlap is BATON_ERR_ARGUMENT. The origin buffer is
 * free when the stream has passed the call; the target may read what was put after a later signal of this rank, or
 * after a barrier. Puts and gets of one rank take effect in their order; those of several ranks at the same bytes have
 * none but by signals and barriers. The bytes cross a link once, in one step; the target takes no part. */
BATON_API baton_result baton_put(const void *source, size_t bytes, int target, size_t offset, baton_window_t window,
                                 baton_stream_t stream);
BATON_API baton_result baton_get(void *destination, size_t bytes, int target, size_t offset, baton_window_t window,
                                 baton_stream_t stream);

/* signal adds one to target's count of this rank's signals on the window, after all this rank's earlier puts to it are
 * visible there. wait_signal waits until `signals` more of them (less than 2^63; 0 returns at once) have come from
 * `source` and consumes them. Each is one word, in one step. */
BATON_API baton_result baton_signal(int target, baton_window_t window, baton_stream_t stream);
BATON_API baton_result baton_wait_signal(int source, uint64_t signals, baton_window_t window, baton_stream_t stream);

/* ---------------------------------------------------------------- explain ----------------------------------------- */

/*
 * Writes which plan a call would get and why: algorithm, transport, channels, segment, how each buffer is reached. The
 * text has at most `size` bytes with the terminating zero, and ends with "..." if it is cut. Starts nothing. sendbuf
 * and recvbuf may be NULL (the plan for registered memory), and are not looked at where peers touch none. `type` is
 * always a type of this header; for put and get, which count bytes, it is BATON_UINT8. `op` counts for reductions only.
 * For a broadcast it is the plan of a rank that is not the root.
 */
BATON_API baton_result baton_explain(baton_comm_t comm, baton_operation operation, size_t count, baton_type type,
                                     baton_op op, const void *sendbuf, const void *recvbuf, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* BATON_BATON_H */
