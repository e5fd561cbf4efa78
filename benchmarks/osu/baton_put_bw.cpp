#include "osu/pair.hpp"

int main(int argc, char **argv) {
    using namespace baton::bench;
    const osu::Test test{"baton_put_bw", "Put Bandwidth", osu::Family::one_sided_bandwidth, false, "baton_signal"};
    return osu::run_test(test, argc, argv, [](const osu::Context &context, baton_type type) {
        return osu::make_put_runner(context, type, true);
    });
}
