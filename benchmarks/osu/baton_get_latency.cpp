#include "osu/pair.hpp"

int main(int argc, char **argv) {
    using namespace baton::bench;
    const osu::Test test{"baton_get_latency", "Get Latency", osu::Family::one_sided_latency, false, "stream"};
    return osu::run_test(test, argc, argv, [](const osu::Context &context, baton_type type) {
        return osu::make_get_runner(context, type);
    });
}
