#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace baton::test {

/// A mapping of a process's memory, and its line as the kernel shows it.
struct Mapping {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::string line;
};

/// The mappings whose line holds `text`, of this process or the one with that number.
inline std::vector<Mapping> process_maps(const std::string &text = "", const std::string &process = "self") {
    std::ifstream maps("/proc/" + process + "/maps");
    std::vector<Mapping> found;
    for (Mapping mapping; std::getline(maps, mapping.line);) {
        if (mapping.line.find(text) == std::string::npos) continue;
        char dash = 0;
        std::istringstream(mapping.line) >> std::hex >> mapping.begin >> dash >> mapping.end;
        found.push_back(mapping);
    }
    return found;
}

/// How many mappings there are of memory that a communicator's ranks on the host have allocated or mapped.
inline std::size_t mapped_host_memory() { return process_maps("/memfd:baton").size(); }

}  // namespace baton::test
