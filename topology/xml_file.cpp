#include "topology/xml_file.hpp"

#include <algorithm>

namespace baton::topology {

XmlFile::XmlFile(std::string_view text, const std::string &origin) : text_(text), origin_(origin) {
    const pugi::xml_parse_result result =
        document_.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
    if (!result) refuse_at(result.offset, result.description());
    if (!root()) refuse_at(0, "no XML element in it");
}

void XmlFile::refuse_at(std::ptrdiff_t offset, const std::string &reason) const {
    const auto end = std::clamp<std::ptrdiff_t>(offset, 0, static_cast<std::ptrdiff_t>(text_.size()));
    const auto line = 1 + std::count(text_.begin(), text_.begin() + end, '\n');
    core::fail(BATON_ERR_ARGUMENT, "{}: line {}: {}", origin_, line, reason);
}

}  // namespace baton::topology
