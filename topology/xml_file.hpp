#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "util/failure.hpp"

namespace baton::topology {

/// A parsed XML text that knows the line of each of its elements, for messages. Refers to the text.
class XmlFile {
public:
    /// Refuses what is not XML, naming the line.
    XmlFile(std::string_view text, const std::string &origin);

    pugi::xml_node root() const { return document_.document_element(); }
    const std::string &origin() const { return origin_; }

    template <class... Args>
    [[noreturn]] void refuse(pugi::xml_node node, fmt::format_string<Args...> format, Args &&...args) const {
        refuse_at(node.offset_debug(), fmt::format(format, std::forward<Args>(args)...));
    }

private:
    [[noreturn]] void refuse_at(std::ptrdiff_t offset, const std::string &reason) const;

    std::string_view text_;
    std::string origin_;
    pugi::xml_document document_;
};

}  // namespace baton::topology
