// Ranks on several hosts: through MPI's profiling interface this program says where its ranks are.
#include <cstring>

#include "support/fixture.hpp"

namespace {

/// What MPI says is this rank's host; empty: the truth.
std::string pretended;

}  // namespace

extern "C" int MPI_Get_processor_name(char *name, int *length) {
    if (pretended.empty()) return PMPI_Get_processor_name(name, length);
    *length = static_cast<int>(pretended.copy(name, MPI_MAX_PROCESSOR_NAME - 1));
    name[*length] = '\0';
    return MPI_SUCCESS;
}

namespace baton::test {
namespace {

class Hosts : public ::testing::Test {
protected:
    /// With the true names all ranks are connected: nothing is left of what was refused.
    void TearDown() override {
        pretended.clear();
        Communicator comm;
        expect_works(comm);
    }
};

TEST_F(Hosts, AreNamedWithTheirRanks) {
    pretended = world_rank() % 2 == 0 ? "even.example" : "odd.example";
    const std::string first = world_size() > 2 ? "even.example (ranks 0, 2)" : "even.example (rank 0)";
    baton_comm_t comm = nullptr;
    EXPECT_ERROR(BATON_ERR_UNSUPPORTED, baton_comm_create(MPI_COMM_WORLD, nullptr, &comm), "different hosts",
                 first + " and odd.example (rank 1)");
    EXPECT_EQ(comm, nullptr);
}

TEST_F(Hosts, EachHostByItself) {
    pretended = world_rank() % 2 == 0 ? "even.example" : "odd.example";
    const MpiComm host = MpiComm::split(MPI_COMM_WORLD, world_rank() % 2, world_rank());
    Communicator comm(host);
    expect_works(comm);
}

}  // namespace
}  // namespace baton::test
