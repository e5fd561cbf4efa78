#include "peers/mpi_peer.hpp"
#include "peers/nccl_peer.hpp"
#include "peers/peer.hpp"
#include "peers/together.hpp"

namespace baton::bench {

namespace {

/// Loads NCCL for the first mode that wants it; remembers why it could not.
class NcclLoader {
public:
    NcclLoader(const std::string &library, const Communicator &communicator)
        : library_(library), communicator_(communicator) {}

    /// Throws Error with the reason, on all ranks.
    std::shared_ptr<const nccl::Api> api() {
        if (!communicator_.on_gpu()) {
            throw Error("NCCL needs GPUs, and these ranks are on host memory");
        }
        if (!communicator_.world().all(communicator_.info().ranks_on_device == 1)) {
            throw Error("NCCL takes one rank for each GPU, and these ranks share one");
        }
        if (api_ == nullptr) {
            std::shared_ptr<const nccl::Api> loaded;
            together(communicator_.world(), [&] { loaded = std::make_shared<const nccl::Api>(library_); });
            api_ = std::move(loaded);
        }
        return api_;
    }

private:
    const std::string &library_;
    const Communicator &communicator_;
    std::shared_ptr<const nccl::Api> api_;
};

}  // namespace

const char *peer_name(PeerKind kind) {
    constexpr const char *names[] = {"nccl", "nccl_registered", "nccl_symmetric", "nccl_zero_cta", "mpi"};
    return names[static_cast<int>(kind)];
}

const char *peer_label(PeerKind kind) {
    constexpr const char *labels[] = {"nccl", "nccl reg", "nccl sym", "nccl 0cta", "mpi"};
    return labels[static_cast<int>(kind)];
}

Peers make_peers(const PeerOptions &options, const Communicator &communicator, const Verifier &verifier,
                 const BufferBytes &bytes) {
    Peers peers;
    NcclLoader nccl(options.nccl_library, communicator);
    for (const PeerKind kind : options.kinds) {
        if (kind == PeerKind::mpi) {
            peers.present.push_back(make_mpi_peer(communicator, bytes, options.mpi_max));
            const bool on_gpu = peers.present.back()->memory_space() == MemorySpace::gpu;
            peers.mpi_memory = on_gpu ? "device memory" : "host memory";
            continue;
        }
        try {
            const auto api = nccl.api();
            peers.nccl_version = api->describe();
            const std::string lacks = nccl_lacks(kind, api->version(), api->functions());
            together(communicator.world(), [&] {
                if (!lacks.empty()) {
                    throw Error(lacks);
                }
            });
            peers.present.push_back(make_nccl_peer(api, kind, communicator, verifier, bytes));
        } catch (const Error &error) {
            peers.absent.push_back({kind, error.what()});
        }
    }
    return peers;
}

}  // namespace baton::bench
