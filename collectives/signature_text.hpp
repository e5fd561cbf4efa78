#pragma once

#include <string>

#include "sync/arrival.hpp"

namespace baton::core {

/// The call that an arrival announces, as errors name it: "allreduce(count 8, float32, sum)".
std::string signature_text(const Signature &signature);

}  // namespace baton::core
