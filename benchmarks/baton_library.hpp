#pragma once

#include "buffer.hpp"
#include "library.hpp"

namespace baton::bench {

/// Baton, with buffers for operations up to a size, allocated once so that all sizes of a table use the same ones.
/// Collective where bytes.window is not 0. Address space only where a shape does not use a buffer.
class BatonLibrary final : public Library {
public:
    BatonLibrary(const Communicator &communicator, const BufferBytes &bytes, Memory memory);
    ~BatonLibrary() override;
    BatonLibrary(const BatonLibrary &) = delete;
    BatonLibrary &operator=(const BatonLibrary &) = delete;

    Buffers buffers() const override;
    void issue(const Call &call) override;
    std::string explain(const Call &call) const override;

    /// Why a buffer could not be registered, in Baton's words; empty if all were, or none should be.
    const std::string &refusal() const { return send_.refusal().empty() ? recv_.refusal() : send_.refusal(); }

private:
    const Communicator &communicator_;
    Buffer send_;
    Buffer recv_;
    baton_window_t window_ = nullptr;
    void *window_base_ = nullptr;
};

}  // namespace baton::bench
