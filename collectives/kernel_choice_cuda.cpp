// Which kernel runs a plan, and which ones there are: see kernels.hpp.
#include <algorithm>

#include "collectives/kernels.hpp"
#include "collectives/request.hpp"
#include "collectives/tuning.hpp"
#include "transport/kernel/launch.hpp"
#include "util/failure.hpp"

namespace baton::core {

KernelChoice kernel_for(baton_operation operation, Algorithm algorithm, baton_type type) {
    for (auto *const kernel_of_file : {copying_kernel, allreduce_kernel, reduce_scatter_kernel, line_kernel,
                                       staged_kernel, routed_kernel, pushed_kernel}) {
        const KernelChoice choice = kernel_of_file(operation, algorithm, type);
        if (choice.kernel != nullptr) return choice;
    }
    return {};
}

std::vector<const void *> all_kernels() {
    std::vector<const void *> kernels = transport_kernels();
    for (const KernelChoice &choice :
         {kernel_for(BATON_BARRIER, Algorithm::arrive, {}), message_kernel(true, {}), message_kernel(false, {}),
          message_kernel(false, Algorithm::packet), message_kernel(false, Algorithm::line),
          message_kernel(false, Algorithm::push), message_kernel(false, Algorithm::staged), meet_for_direct_send(),
          done_with_direct_send()}) {
        kernels.push_back(choice.kernel);
    }
    for (const OperationWays &entry : tuned_operations()) {
        if (!is_collective(entry.operation)) continue;
        const int types = reduces(entry.operation) ? BATON_TYPE_COUNT : 1;
        for (const Way &way : entry.ways) {
            if (!has_kernel(entry.operation, way)) continue;
            for (int type = 0; type < types; ++type)
                kernels.push_back(kernel_for(entry.operation, way.algorithm, static_cast<baton_type>(type)).kernel);
        }
    }
    for (int type = 0; type < BATON_TYPE_COUNT; ++type)
        kernels.push_back(reduce_scatter_unaligned_kernel(static_cast<baton_type>(type)).kernel);
    // Null: a way that no file of kernels compiles.
    if (std::count(kernels.begin(), kernels.end(), nullptr) != 0)
        fail(BATON_ERR_INTERNAL, "a way of ways.hpp has no kernel");
    return kernels;
}

}  // namespace baton::core
