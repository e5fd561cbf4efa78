#include "empty_value.hpp"

namespace baton::bench {

std::optional<std::string> option_with_empty_value(int argc, const char *const *argv) {
    for (int index = 1; index < argc; ++index) {
        const std::string argument = argv[index];
        const bool assigned = argument.starts_with("--") && argument.find('=') == argument.size() - 1;
        if (assigned) return argument.substr(0, argument.size() - 1);
        if (argument.empty()) return argv[index - 1];
    }
    return std::nullopt;
}

}  // namespace baton::bench
