#include "topology/readers.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "topology/snapshot_json.hpp"
#include "util/failure.hpp"

namespace baton::topology {
namespace {

struct CloseFile {
    void operator()(std::FILE *file) const { std::fclose(file); }
};

/// The name of the first element, without parsing the whole text twice.
std::string_view first_element(std::string_view text) {
    for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
        text.remove_prefix(at + 1);
        at = 0;
        if (text.starts_with("!--")) {
            const std::size_t end = text.find("-->");
            text.remove_prefix(end == std::string_view::npos ? text.size() : end);
        } else if (!text.starts_with('?') && !text.starts_with('!')) {
            return text.substr(0, text.find_first_of(" \t\r\n/>"));
        }
    }
    return {};
}

}  // namespace

Snapshot read_machine(std::string_view text, const std::string &origin) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark, as some editors write it
    const std::size_t start = text.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos) core::fail(BATON_ERR_ARGUMENT, "{}: the file is empty", origin);
    if (text[start] == '{') return snapshot_from_json(text, origin);
    const std::string_view element = first_element(text);
    if (element == "system") return read_nccl_xml(text, origin);
    if (element == "topology") return read_hwloc_xml(text, origin);
    core::fail(BATON_ERR_ARGUMENT,
               "{}: neither hwloc's format (<topology>), nor NCCL's (<system>), nor a snapshot in JSON", origin);
}

Snapshot read_machine_file(const std::string &path) { return read_machine(read_text_file(path), path); }

std::string read_text_file(const std::string &path) {
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
    if (!file) core::fail(BATON_ERR_ARGUMENT, "{}: {}", path, core::errno_text(errno));
    std::string text;
    std::array<char, 65536> block;
    for (std::size_t got = 1; got > 0 && text.size() <= largest_file;) {
        got = std::fread(block.data(), 1, block.size(), file.get());
        text.append(block.data(), got);
    }
    if (std::ferror(file.get())) core::fail(BATON_ERR_ARGUMENT, "{}: {}", path, core::errno_text(errno));
    if (text.size() > largest_file)
        core::fail(BATON_ERR_ARGUMENT, "{}: larger than {} MiB, as no description of a machine is", path,
                   largest_file >> 20);
    return text;
}

}  // namespace baton::topology
