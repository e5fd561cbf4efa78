#include "osu/collective.hpp"

int main(int argc, char **argv) {
    using namespace baton::bench;
    const osu::Test test{"baton_bcast", "Broadcast Latency", osu::Family::collective, true};
    return osu::run_test(test, argc, argv, [](const osu::Context &context, baton_type type) {
        return osu::make_collective_runner(context, type, Kind::broadcast);
    });
}
