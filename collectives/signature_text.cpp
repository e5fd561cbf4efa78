#include "collectives/signature_text.hpp"

#include <fmt/format.h>

#include "baton/baton.h"
#include "collectives/request.hpp"

namespace baton::core {

std::string signature_text(const Signature &signature) {
    const auto operation = static_cast<baton_operation>(signature.operation());
    const char *name = baton_operation_name(signature.receives() ? BATON_RECV : operation);
    if (operation == BATON_BARRIER) return name;
    if (operation == BATON_SIGNAL || operation == BATON_WAIT_SIGNAL)
        return fmt::format("{}({})", name, signature.count);
    std::string text = fmt::format("{}(count {}, {}", name, signature.count,
                                   baton_type_name(static_cast<baton_type>(signature.type())));
    if (reduces(operation)) text += fmt::format(", {}", baton_op_name(static_cast<baton_op>(signature.op())));
    if (operation == BATON_BROADCAST) text += fmt::format(", root {}", signature.root());
    return text + ")";
}

}  // namespace baton::core
