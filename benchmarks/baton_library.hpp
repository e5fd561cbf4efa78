#pragma once

#include <memory>

#include "buffer.hpp"
#include "library.hpp"

namespace baton::bench {

/// Baton, with buffers for operations up to a size, allocated once so that all sizes of a table use the same ones.
/// Collective if bytes.window is not 0. A host buffer that a shape does not use takes address space only.
class BatonLibrary final : public Library {
public:
    BatonLibrary(const Communicator &communicator, const BufferBytes &bytes, Memory memory);
    /// Uses the lender's buffers, and a window of its own.
    BatonLibrary(const Communicator &communicator, const BatonLibrary &lender, std::size_t window_bytes);
    ~BatonLibrary() override;
    BatonLibrary(const BatonLibrary &) = delete;
    BatonLibrary &operator=(const BatonLibrary &) = delete;

    Buffers buffers() const override;
    void issue(const Call &call) override;
    std::string explain(const Call &call) const override;

    /// Why a buffer could not be registered, in Baton's words; empty if all were, or none should be.
    const std::string &refusal() const {
        return buffers_->send.refusal().empty() ? buffers_->recv.refusal() : buffers_->send.refusal();
    }

private:
    struct SendRecv {
        SendRecv(const Communicator &communicator, const BufferBytes &bytes, Memory memory)
            : send(communicator, bytes.send, memory), recv(communicator, bytes.recv, memory) {}
        Buffer send;
        Buffer recv;
    };
    BatonLibrary(const Communicator &communicator, std::shared_ptr<const SendRecv> own, std::size_t window_bytes);

    const Communicator &communicator_;
    const std::shared_ptr<const SendRecv> buffers_;
    baton_window_t window_ = nullptr;
    void *window_base_ = nullptr;
};

}  // namespace baton::bench
