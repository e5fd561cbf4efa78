#pragma once

#include <memory>
#include <string>

#include "environment.hpp"
#include "reference.hpp"

namespace baton::bench {

/// Writes inputs into memory of one kind and checks results there: by loops on the host, by kernels on a GPU. The
/// kernels are themselves compared with the host's loops when a Verifier is made. Calls wait for the communicator's
/// stream before and after, so they never overlap with an operation.
class Verifier {
public:
    /// For memory of one kind, by default the communicator's own.
    /// REQUIRES: MemorySpace::host where the communicator is.
    explicit Verifier(const Communicator &communicator);
    Verifier(const Communicator &communicator, MemorySpace memory_space);
    ~Verifier();
    Verifier(const Verifier &) = delete;
    Verifier &operator=(const Verifier &) = delete;

    void fill(const Pattern &pattern, void *data, std::size_t bytes) const;
    /// Writes bytes that no result is likely to hold, so that output which an operation does not write is noticed.
    void poison(void *data, std::size_t bytes) const;

    Check check_copy(const Pattern &pattern, baton_type type, std::uint64_t first, const void *data,
                     std::size_t count) const;
    Check check_reduction(const Reduction &reduction, baton_type type, std::uint64_t first, const void *data,
                          std::size_t count) const;

private:
    void compare_kernels_with_host() const;
    void compare_any_order(Reduction reduction, baton_type type, void *device, void *host, std::size_t count) const;
    Check read_result() const;

    const Communicator &communicator_;
    void *result_ = nullptr;  // device memory for one Check; null on the host
};

}  // namespace baton::bench
