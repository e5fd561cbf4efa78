#pragma once

#include "bootstrap/bootstrap.hpp"
#include "sync/comm_view.hpp"

namespace baton::core {

/// Whether process_vm_readv and process_vm_writev work between the ranks: every rank reads a word of every other and
/// writes it back next to it. Collective, for ranks that are processes of their own. Says the same on all ranks.
bool single_copies_work(const CommView &view, Bootstrap &bootstrap);

}  // namespace baton::core
