#include "util/gpu_uuid.hpp"

#include <fmt/format.h>

namespace baton::core {

std::string gpu_uuid_text(const char (&bytes)[16]) {
    std::string text = "GPU";
    for (int index = 0; index < 16; ++index) {
        if (index == 0 || index == 4 || index == 6 || index == 8 || index == 10) text += '-';
        text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[index]));
    }
    return text;
}

}  // namespace baton::core
