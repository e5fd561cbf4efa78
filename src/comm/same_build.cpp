#include "comm/same_build.hpp"

#include <string>
#include <vector>

#include "bootstrap/agree.hpp"

namespace baton::core {

void require_same_build(Bootstrap &bootstrap, const std::string &mine) {
    const std::vector<std::string> all = bootstrap.allgather_strings(mine);
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
        if (all[rank] == all[0]) continue;
        fail_alike(BATON_ERR_MISMATCH,
                   "ranks run different builds of Baton (baton_build_id): {} on rank 0, {} on rank {}", all[0],
                   all[rank], rank);
    }
}

}  // namespace baton::core
