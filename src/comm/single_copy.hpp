#pragma once

#include "bootstrap/bootstrap.hpp"
#include "sync/comm_view.hpp"

namespace baton::core {

/// Whether the host's direct way into other processes is open, process_vm_readv and process_vm_writev: every rank reads
/// a word of every other and writes it back next to it. Collective, for ranks that are processes of their own; says the
/// same on all ranks.
bool single_copies_work(const CommView &view, Bootstrap &bootstrap);

}  // namespace baton::core
