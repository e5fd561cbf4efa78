#include "util/failure.hpp"

#include <system_error>

namespace baton::core {

std::string errno_text(int error_number) { return std::generic_category().message(error_number); }

}  // namespace baton::core
