#pragma once

#include <memory>
#include <string>

#include "peers/peer.hpp"

namespace baton::bench {

/// Whether the MPI in use says that it takes device buffers.
bool mpi_takes_device_memory();

/// The MPI that started the ranks: on device buffers if it takes those and the communicator is on GPUs, else on host
/// buffers. Its calls are complete on return. Above `largest`, a size of the size column, it has no result.
std::unique_ptr<Peer> make_mpi_peer(const Communicator &communicator, const BufferBytes &bytes, std::size_t largest);

}  // namespace baton::bench
