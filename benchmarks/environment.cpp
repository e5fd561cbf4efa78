#include "environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "gpu.hpp"

namespace baton::bench {

void check(baton_result result) {
    if (result != BATON_SUCCESS) {
        throw Error(fmt::format("{}: {}", baton_result_name(result), baton_last_error()));
    }
}

World::World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local_rank_);
    MPI_Comm_free(&node);
}

void World::barrier() const { MPI_Barrier(MPI_COMM_WORLD); }

namespace {

template <class T>
T reduce(T value, MPI_Datatype type, MPI_Op op) {
    T result{};
    MPI_Allreduce(&value, &result, 1, type, op, MPI_COMM_WORLD);
    return result;
}

std::vector<double> reduce(std::vector<double> values, MPI_Op op) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, op, MPI_COMM_WORLD);
    return values;
}

}  // namespace

double World::max(double value) const { return reduce(value, MPI_DOUBLE, MPI_MAX); }
double World::min(double value) const { return reduce(value, MPI_DOUBLE, MPI_MIN); }
double World::sum(double value) const { return reduce(value, MPI_DOUBLE, MPI_SUM); }
std::uint64_t World::sum(std::uint64_t value) const { return reduce(value, MPI_UINT64_T, MPI_SUM); }
std::vector<double> World::max(std::vector<double> values) const { return reduce(std::move(values), MPI_MAX); }
std::vector<double> World::sum(std::vector<double> values) const { return reduce(std::move(values), MPI_SUM); }
bool World::all(bool value) const { return reduce(value ? 1 : 0, MPI_INT, MPI_MIN) != 0; }

void World::on_rank_0(const std::function<void()> &work) const {
    std::string problem;
    int exit_code = 0;
    try {
        if (rank_ == 0) {
            work();
        }
    } catch (const std::exception &error) {
        problem = error.what();
        exit_code = exit_code_of(error);
    }
    if (!all(exit_code == 0)) {
        throw Refusal(problem, exit_code);
    }
}

std::vector<std::string> World::gather(const std::string &line) const {
    constexpr std::size_t width = 256;
    std::string mine = line.substr(0, width - 1);
    mine.resize(width, '\0');
    std::string all(rank_ == 0 ? width * static_cast<std::size_t>(size_) : 0, '\0');
    MPI_Gather(mine.data(), width, MPI_CHAR, all.data(), width, MPI_CHAR, 0, MPI_COMM_WORLD);
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < all.size(); begin += width) {
        lines.emplace_back(all.c_str() + begin);
    }
    return lines;
}

int visible_gpus() { return gpu::count(); }

Communicator::Communicator(const World &world, Place place, const char *tuning) : world_(world) {
    baton_config config;
    check(baton_config_init(&config));
    config.tuning = tuning;
    if (place == Place::host) {
        config.transport = host_transport();
    } else {
        if (!world.all(visible_gpus() > 0)) {
            throw Refusal(
                "a rank has no usable GPU (no device, no driver, or a build without CUDA); --device host (in the "
                "OSU-style ones -d host) runs on host memory");
        }
        gpu::select(world.local_rank() % visible_gpus());
    }
    check(baton_comm_create(MPI_COMM_WORLD, &config, &comm_));
    info_.struct_size = sizeof(info_);
    check(baton_comm_info(comm_, &info_));
    if (on_gpu() != (place == Place::gpu)) {
        throw Error(fmt::format("the communicator is {} although {} was asked for; is BATON_TRANSPORT set?",
                                on_gpu() ? "on GPUs" : "on the host", place == Place::gpu ? "GPUs" : "the host"));
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

int run_benchmark(int argc, char **argv, const std::function<int(const World &)> &body) {
    MPI_Init(&argc, &argv);
    int mine = 1;
    int worst = 1;
    {
        const World world;
        try {
            mine = body(world);
        } catch (const Refusal &error) {
            mine = error.exit_code();
            if (world.rank() == 0) {
                std::fprintf(stderr, "%s\n", error.what());
            }
        } catch (const std::exception &error) {
            std::fflush(stdout);
            std::fprintf(stderr, "rank %d: %s\n", world.rank(), error.what());
            MPI_Abort(MPI_COMM_WORLD, exit_code_of(error));
        }
        MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return worst;
}

}  // namespace baton::bench
