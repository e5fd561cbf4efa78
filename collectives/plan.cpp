#include "collectives/plan.hpp"

namespace baton::core {

const char *algorithm_name(Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::arrive:
            return "arrive";
        case Algorithm::packet:
            return "packet";
        case Algorithm::line:
            return "line";
        case Algorithm::push:
            return "push";
        case Algorithm::pull:
            return "pull";
        case Algorithm::two_shot:
            return "two_shot";
        case Algorithm::two_shot_line:
            return "two_shot_line";
        case Algorithm::two_phase:
            return "two_phase";
        case Algorithm::staged:
            return "staged";
        case Algorithm::ring:
            return "ring";
        case Algorithm::chain:
            return "chain";
        case Algorithm::pipeline:
            return "pipeline";
        case Algorithm::pipeline_line:
            return "pipeline_line";
        case Algorithm::two_level:
            return "two_level";
        case Algorithm::direct:
            return "direct";
    }
    return "unknown";
}

const char *mover_name(Mover mover) {
    switch (mover) {
        case Mover::host:
            return "host";
        case Mover::kernel:
            return "kernel";
        case Mover::copy_engine:
            return "copy_engine";
    }
    return "unknown";
}

}  // namespace baton::core
