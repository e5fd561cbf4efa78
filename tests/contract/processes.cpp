#include <cstdio>

#include "bootstrap/mpi_bootstrap.hpp"
#include "launch.hpp"
#include "support/environment.hpp"

namespace baton::core::contract {

std::vector<int> rank_counts() { return {test::world_size()}; }

std::vector<Transport> transports() {
#if BATON_WITH_CUDA
    return {host_transport(), kernel_transport(), mapped_transport(), copy_engine_transport(), mixed_transport()};
#else
    return {host_transport()};
#endif
}

void with_ranks(int /*ranks*/, const std::function<void(Bootstrap &)> &body) {
    try {
        MpiBootstrap bootstrap(MPI_COMM_WORLD);
        bootstrap.connect();
        body(bootstrap);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "[rank %d] %s\n", test::world_rank(), error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

std::uint64_t seed() { return test::environment().seed; }

}  // namespace baton::core::contract
