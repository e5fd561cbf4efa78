#include "peers/nccl_peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "buffer.hpp"
#include "peers/nccl_calls.hpp"
#include "peers/together.hpp"

namespace baton::bench {

namespace {

class NcclPeer final : public Peer {
public:
    NcclPeer(std::shared_ptr<const nccl::Api> api, PeerKind mode, const Communicator &communicator,
             const Verifier &verifier)
        : api_(std::move(api)),
          nccl_(api_->functions()),
          mode_(mode),
          communicator_(communicator),
          verifier_(verifier) {}

    ~NcclPeer() override {
        // While an exception unwinds, the process is about to end, and other ranks may not come here.
        if (std::uncaught_exceptions() == 0) {
            close(nccl_.comm_destroy);
        }
    }
    NcclPeer(const NcclPeer &) = delete;
    NcclPeer &operator=(const NcclPeer &) = delete;

    /// Throws Error on all ranks if any of them fails, and then holds nothing.
    void open(const BufferBytes &bytes) {
        try {
            take_steps(bytes);
        } catch (const Error &) {
            // ncclCommDestroy waits for all ranks of this host.
            close(communicator_.world().all(comm_ != nullptr) ? nccl_.comm_destroy : nccl_.comm_abort);
            throw;
        }
    }

    PeerKind kind() const override { return mode_; }
    MemorySpace memory_space() const override { return communicator_.memory_space(); }
    const Verifier &verifier() const override { return verifier_; }
    Buffers buffers() const override { return {send_.data(), recv_.data(), nullptr}; }

    std::string refusal(const Shape &shape, bool /*captured*/) const override {
        const std::string missing = nccl::missing(shape);
        return missing.empty() ? incomparable(shape) : missing;
    }

    void issue(const Call &call) override {
        api_->check(nccl::issue(nccl_, call, comm_, communicator_.stream()), peer_name(mode_), comm_);
    }

private:
    struct Memory {
        std::unique_ptr<Buffer> plain;  // or
        void *allocated = nullptr;      // ncclMemAlloc
        std::size_t bytes = 0;
        void *handle = nullptr;
        nccl::Window window = nullptr;

        std::byte *data() const { return plain != nullptr ? plain->at(0) : static_cast<std::byte *>(allocated); }
    };

    /// `end` is comm_destroy or comm_abort.
    void close(nccl::Result (*end)(nccl::Comm comm)) {
        for (Memory *memory : {&send_, &recv_}) {
            if (memory->window != nullptr) {
                nccl_.window_deregister(comm_, memory->window);
            }
            if (memory->handle != nullptr) {
                nccl_.comm_deregister(comm_, memory->handle);
            }
            if (memory->allocated != nullptr) {
                nccl_.mem_free(memory->allocated);
            }
            *memory = {};
        }
        if (comm_ != nullptr) {
            end(comm_);
            comm_ = nullptr;
        }
    }

    /// Takes each step on all ranks or on none, so that nobody waits in the next one for a rank that failed.
    void take_steps(const BufferBytes &bytes) {
        nccl::UniqueId id{};
        together(communicator_.world(), [&] {
            if (communicator_.rank() == 0) {
                api_->check(nccl_.get_unique_id(&id), "ncclGetUniqueId");
            }
        });
        MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, MPI_COMM_WORLD);
        together(communicator_.world(), [&] { connect(id); });
        together(communicator_.world(), [&] {
            allocate(send_, bytes.send);
            allocate(recv_, bytes.recv);
        });
        for (Memory *memory : {&send_, &recv_}) {
            together(communicator_.world(), [&] { make_known(*memory); });
        }
    }

    void connect(const nccl::UniqueId &id) {
        nccl::Comm comm = nullptr;
        if (mode_ == PeerKind::nccl_zero_cta) {
            nccl::Config config;
            config.cta_policy = nccl::cta_policy_zero;
            api_->check(nccl_.comm_init_rank_config(&comm, communicator_.size(), id, communicator_.rank(), &config),
                        "ncclCommInitRankConfig");
        } else {
            api_->check(nccl_.comm_init_rank(&comm, communicator_.size(), id, communicator_.rank()),
                        "ncclCommInitRank");
        }
        comm_ = comm;
    }

    void allocate(Memory &memory, std::size_t bytes) {
        constexpr std::size_t page = 4096;  // NCCL_WIN_REQUIRED_ALIGNMENT; ncclMemAlloc rounds up to more
        memory.bytes = (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
        if (mode_ == PeerKind::nccl) {
            memory.plain = std::make_unique<Buffer>(communicator_, memory.bytes, bench::Memory::malloc);
        } else {
            api_->check(nccl_.mem_alloc(&memory.allocated, memory.bytes), "ncclMemAlloc");
        }
    }

    void make_known(Memory &memory) {
        if (mode_ == PeerKind::nccl) {
            return;
        }
        if (mode_ == PeerKind::nccl_registered) {
            api_->check(nccl_.comm_register(comm_, memory.data(), memory.bytes, &memory.handle), "ncclCommRegister");
            return;
        }
        api_->check(nccl_.window_register(comm_, memory.data(), memory.bytes, &memory.window, nccl::window_symmetric),
                    "ncclCommWindowRegister");
        // Success without a window is NCCL's way to say that the GPUs or the settings do not allow symmetric memory.
        if (memory.window == nullptr) {
            throw Error("ncclCommWindowRegister gives no symmetric window on this machine");
        }
    }

    const std::shared_ptr<const nccl::Api> api_;
    const nccl::Functions &nccl_;
    const PeerKind mode_;
    const Communicator &communicator_;
    const Verifier &verifier_;
    nccl::Comm comm_ = nullptr;
    Memory send_;
    Memory recv_;
};

}  // namespace

std::string nccl_lacks(PeerKind mode, int version, const nccl::Functions &functions) {
    const auto older = [&](int needed) {
        return version < needed
                   ? fmt::format("NCCL {} is older than {}", nccl::version_text(version), nccl::version_text(needed))
                   : std::string();
    };
    std::string reason;
    bool complete = true;
    const bool memory = functions.mem_alloc != nullptr && functions.mem_free != nullptr;
    const bool windows = functions.window_register != nullptr && functions.window_deregister != nullptr;
    switch (mode) {
        case PeerKind::nccl_registered:
            reason = older(21900);
            complete = memory && functions.comm_register != nullptr && functions.comm_deregister != nullptr;
            break;
        case PeerKind::nccl_symmetric:
            reason = older(22700);
            complete = memory && windows;
            break;
        case PeerKind::nccl_zero_cta:
            reason = older(22800);
            complete = memory && windows && functions.comm_init_rank_config != nullptr;
            break;
        default:
            break;
    }
    return reason.empty() && !complete ? "the library lacks functions that its version should have" : reason;
}

std::unique_ptr<Peer> make_nccl_peer(std::shared_ptr<const nccl::Api> api, PeerKind mode,
                                     const Communicator &communicator, const Verifier &verifier,
                                     const BufferBytes &bytes) {
    auto peer = std::make_unique<NcclPeer>(std::move(api), mode, communicator, verifier);
    peer->open(bytes);
    return peer;
}

}  // namespace baton::bench
