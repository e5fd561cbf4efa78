// Baton's declarations of NCCL against nccl.h, where there is one: the same numbers, layouts and argument lists.
#include <gtest/gtest.h>
#include <nccl.h>

#include <cstddef>
#include <type_traits>

#include "peers/nccl_api.hpp"

namespace baton::bench {
namespace {

/// Alike to a caller: as long, and passed alike (pointers, floating point, integers or enumerations, structures).
template <class Mine, class Theirs>
constexpr bool alike = sizeof(Mine) == sizeof(Theirs) &&
                       std::is_pointer_v<Mine> == std::is_pointer_v<Theirs> &&std::is_class_v<Mine> ==
                           std::is_class_v<Theirs> &&std::is_floating_point_v<Mine> == std::is_floating_point_v<Theirs>;

template <class Mine, class Theirs>
struct Same : std::false_type {};
template <class R, class... A, class S, class... B>
requires(sizeof...(A) == sizeof...(B)) struct Same<R (*)(A...), S (*)(B...)>
    : std::bool_constant<(alike<R, S> && ... && alike<A, B>)> {
};

#define EXPECT_SAME(mine, theirs) \
    static_assert(Same<decltype(nccl::Functions::mine), decltype(&theirs)>::value, #theirs " has other arguments")

EXPECT_SAME(get_version, ncclGetVersion);
EXPECT_SAME(get_unique_id, ncclGetUniqueId);
EXPECT_SAME(get_error_string, ncclGetErrorString);
EXPECT_SAME(comm_init_rank, ncclCommInitRank);
EXPECT_SAME(comm_destroy, ncclCommDestroy);
EXPECT_SAME(comm_abort, ncclCommAbort);
EXPECT_SAME(all_gather, ncclAllGather);
EXPECT_SAME(reduce_scatter, ncclReduceScatter);
EXPECT_SAME(all_reduce, ncclAllReduce);
EXPECT_SAME(broadcast, ncclBroadcast);
EXPECT_SAME(send, ncclSend);
EXPECT_SAME(recv, ncclRecv);
EXPECT_SAME(group_start, ncclGroupStart);
EXPECT_SAME(group_end, ncclGroupEnd);
EXPECT_SAME(get_last_error, ncclGetLastError);
EXPECT_SAME(comm_init_rank_config, ncclCommInitRankConfig);
EXPECT_SAME(mem_alloc, ncclMemAlloc);
EXPECT_SAME(mem_free, ncclMemFree);
EXPECT_SAME(comm_register, ncclCommRegister);
EXPECT_SAME(comm_deregister, ncclCommDeregister);
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
EXPECT_SAME(window_register, ncclCommWindowRegister);
EXPECT_SAME(window_deregister, ncclCommWindowDeregister);
#endif

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
EXPECT_SAME(all_to_all, ncclAlltoAll);
#endif

TEST(NcclHeader, NumbersAreTheHeaders) {
    EXPECT_EQ(sizeof(nccl::UniqueId), sizeof(ncclUniqueId));
    EXPECT_EQ(static_cast<int>(ncclSuccess), 0);
    const std::pair<int, int> numbers[] = {
        {nccl::int8, ncclInt8},         {nccl::uint8, ncclUint8},     {nccl::int32, ncclInt32},
        {nccl::uint32, ncclUint32},     {nccl::int64, ncclInt64},     {nccl::uint64, ncclUint64},
        {nccl::float16, ncclFloat16},   {nccl::float32, ncclFloat32}, {nccl::float64, ncclFloat64},
        {nccl::bfloat16, ncclBfloat16}, {nccl::sum, ncclSum},         {nccl::max, ncclMax},
        {nccl::min, ncclMin},           {nccl::avg, ncclAvg}};
    for (const auto &[mine, theirs] : numbers) {
        EXPECT_EQ(mine, theirs);
    }
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
    EXPECT_EQ(nccl::window_symmetric, NCCL_WIN_COLL_SYMMETRIC);
    EXPECT_EQ(nccl::cta_policy_zero, NCCL_CTA_POLICY_ZERO);
#endif
}

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
TEST(NcclHeader, TheConfigurationIsTheBeginningOfTheHeaders) {
    const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
    const nccl::Config mine;
    EXPECT_LE(sizeof(mine), sizeof(theirs));
    EXPECT_EQ(mine.size, sizeof(mine));
    EXPECT_EQ(mine.magic, theirs.magic);
    EXPECT_LE(mine.version, theirs.version);
    EXPECT_EQ(offsetof(nccl::Config, blocking), offsetof(ncclConfig_t, blocking));
    EXPECT_EQ(offsetof(nccl::Config, net_name), offsetof(ncclConfig_t, netName));
    EXPECT_EQ(offsetof(nccl::Config, comm_name), offsetof(ncclConfig_t, commName));
    EXPECT_EQ(offsetof(nccl::Config, cta_policy), offsetof(ncclConfig_t, CTAPolicy));
    EXPECT_EQ(offsetof(nccl::Config, nvlink_centric_sched), offsetof(ncclConfig_t, nvlinkCentricSched));
    EXPECT_EQ(mine.blocking, theirs.blocking);
    EXPECT_EQ(mine.cta_policy, theirs.CTAPolicy);
    EXPECT_EQ(mine.nvlink_centric_sched, theirs.nvlinkCentricSched);
    EXPECT_EQ(mine.net_name, theirs.netName);
}
#endif

}  // namespace
}  // namespace baton::bench
