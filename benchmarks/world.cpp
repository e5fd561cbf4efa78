#include "world.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <filesystem>
#include <utility>

namespace baton::bench {

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

void World::require_same_arguments(int argc, const char *const *argv) const {
    std::string mine = std::filesystem::path(argv[0]).filename().string();
    const std::size_t length_of_name = mine.size() + 1;
    mine.push_back('\0');
    for (int index = 1; index < argc; ++index) {
        mine.append(argv[index]).push_back('\0');
    }
    std::size_t length = mine.size();
    MPI_Bcast(&length, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    std::string first(length, '\0');
    if (rank_ == 0) {
        first = mine;
    }
    MPI_Bcast(first.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD);
    const auto first_rank_where = [&](bool found) { return reduce(found ? rank_ : size_, MPI_INT, MPI_MIN); };
    const bool same_program = mine.compare(0, length_of_name, first, 0, length_of_name) == 0;
    if (const int odd = first_rank_where(!same_program); odd < size_) {
        throw Refusal(fmt::format("rank {} runs another program than rank 0", odd), 2);
    }
    if (const int odd = first_rank_where(mine != first); odd < size_) {
        throw Refusal(fmt::format("rank {} has other arguments than rank 0", odd), 2);
    }
}

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

}  // namespace baton::bench
