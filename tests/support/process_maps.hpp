#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace baton::test {

/// The mappings of this process's memory as the kernel shows them, a line each, of those that hold `text`.
inline std::vector<std::string> process_maps(const std::string &text = "") {
    std::ifstream maps("/proc/self/maps");
    std::vector<std::string> found;
    for (std::string line; std::getline(maps, line);)
        if (line.find(text) != std::string::npos) found.push_back(line);
    return found;
}

/// Of memory that a communicator's ranks on the host have allocated or mapped.
inline std::size_t mapped_host_memory() { return process_maps("/memfd:baton").size(); }

}  // namespace baton::test
