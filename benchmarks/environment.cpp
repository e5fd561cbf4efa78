#include "environment.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "gpu.hpp"
#include "program.hpp"

namespace baton::bench {

Communicator::Communicator(const World &world, MemorySpace memory_space, const char *tuning) : world_(world) {
    baton_config config;
    check(baton_config_init(&config));
    config.tuning = tuning;
    if (memory_space == MemorySpace::host) {
        config.transport = host_transport();
    } else {
        select_gpu(world);
    }
    check(baton_comm_create(MPI_COMM_WORLD, &config, &comm_));
    info_.struct_size = sizeof(info_);
    check(baton_comm_info(comm_, &info_));
    if (on_gpu() != (memory_space == MemorySpace::gpu)) {
        throw Error(fmt::format("the communicator is {} although {} was asked for; is BATON_TRANSPORT set?",
                                on_gpu() ? "on GPUs" : "on the host",
                                memory_space == MemorySpace::gpu ? "GPUs" : "the host"));
    }
    if (on_gpu()) {
        stream_ = gpu::create_stream();
    }
}

Communicator::~Communicator() {
    if (std::uncaught_exceptions() > 0 && comm_ != nullptr) {
        baton_comm_abort(comm_);
    }
    if (comm_ != nullptr && baton_comm_destroy(comm_) != BATON_SUCCESS) {
        std::fprintf(stderr, "baton_comm_destroy on rank %d: %s\n", world_.rank(), baton_last_error());
        fail_at_end();
    }
    if (stream_ != nullptr) {
        gpu::destroy_stream(stream_);
    }
}

void Communicator::synchronize() const {
    if (stream_ != nullptr) {
        gpu::synchronize(stream_);
    }
}

void Communicator::check_alive() const { check(baton_comm_check(comm_)); }

}  // namespace baton::bench
