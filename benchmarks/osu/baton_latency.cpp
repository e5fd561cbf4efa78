#include "osu/pair.hpp"

int main(int argc, char **argv) {
    using namespace baton::bench;
    const osu::Test test{"baton_latency", "Latency", osu::Family::latency};
    return osu::run_test(test, argc, argv, [](const osu::Context &context, baton_type type) {
        return osu::make_latency_runner(context, type);
    });
}
