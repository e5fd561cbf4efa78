// Random programs: every rank draws the same sequence of calls on several communicators. Baton executes it on its
// buffers, MPI on copies in host memory (and the reference, where floating point has an order). BATON_TEST_SEED repeats
// a run.
#include "random_world.hpp"

namespace baton::test {
namespace {

class RandomPrograms : public ::testing::TestWithParam<int> {};

TEST_P(RandomPrograms, AgreeWithMpi) {
    Random random(mix(environment().seed) + static_cast<std::uint64_t>(GetParam()));
    const auto split = [](int color) { return MpiComm::split(MPI_COMM_WORLD, color, world_rank()); };
    std::vector<std::unique_ptr<RandomWorld>> worlds;
    worlds.push_back(std::make_unique<RandomWorld>(MpiComm::duplicate(MPI_COMM_WORLD)));
    worlds.push_back(std::make_unique<RandomWorld>(MpiComm::split(MPI_COMM_WORLD, 0, -world_rank())));
    worlds.push_back(std::make_unique<RandomWorld>(split(world_rank() * 2 / world_size())));
    worlds.push_back(std::make_unique<RandomWorld>(split(world_rank() % 2)));

    const int steps = world_size() > 4 ? 100 : 300;
    std::vector<std::string> trace;
    for (int step = 0; step < steps; ++step) {
        const std::size_t chosen = random.below(worlds.size());
        // Communicators of other sizes draw more or fewer numbers in a step: each step has a sequence of its own.
        Random of_step(random.next());
        trace.push_back(std::to_string(step) + ": communicator " + std::to_string(chosen) + ' ' +
                        worlds[chosen]->step(of_step));
        const bool last = step + 1 == steps;
        if (!last && !random.chance(10)) continue;
        for (auto &world : worlds) world->verify();
        if (!any_rank(HasFailure())) continue;
        std::string text;
        for (std::size_t i = trace.size() > 25 ? trace.size() - 25 : 0; i < trace.size(); ++i) text += trace[i] + '\n';
        if (world_rank() == 0) {
            ADD_FAILURE() << "the last steps, seed " << environment().seed << ":\n" << text;
        }
        return;
    }
}

INSTANTIATE_TEST_SUITE_P(Programs, RandomPrograms, ::testing::Range(0, 4));

}  // namespace
}  // namespace baton::test
