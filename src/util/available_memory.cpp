#include "util/available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>

namespace baton::core {
namespace {

/// The sum of the numbers after these names in a file of lines of a name and a number; empty if none is there.
std::optional<std::uint64_t> sum_of(const std::string &file_name, std::span<const std::string_view> names) {
    std::ifstream file(file_name);
    std::optional<std::uint64_t> sum;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name;
        std::uint64_t number = 0;
        if (words >> name && std::find(names.begin(), names.end(), name) != names.end() && words >> number)
            sum = sum.value_or(0) + number;
    }
    return sum;
}

/// The number that a file consists of; empty if it is "max", or not there.
std::optional<std::uint64_t> number_in(const std::string &file_name) {
    std::ifstream file(file_name);
    std::uint64_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
}

/// What the files of a control group with a memory limit are called.
struct GroupNames {
    const char *most;
    const char *used;
    // In memory.stat: what the kernel takes back before it ends a process. Shared memory does not count as files there.
    std::span<const std::string_view> reclaimable;
};
constexpr std::string_view reclaimable_1[] = {"total_active_file", "total_inactive_file"};
constexpr std::string_view reclaimable_2[] = {"active_file", "inactive_file", "slab_reclaimable"};
constexpr GroupNames version_1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", reclaimable_1};
constexpr GroupNames version_2{"/memory.max", "/memory.current", reclaimable_2};

std::uint64_t left_in(const std::string &group, const GroupNames &names) {
    const auto most = number_in(group + names.most);
    const auto used = number_in(group + names.used);
    if (!most || !used) return SIZE_MAX;
    const std::uint64_t reclaimable = sum_of(group + "/memory.stat", names.reclaimable).value_or(0);
    const std::uint64_t needed = *used - std::min(*used, reclaimable);
    return *most - std::min(*most, needed);
}

/// The least that is left in a group and in those that it is in. In a container the path may be one that only the
/// machine's own root has; then what is mounted is the container's group.
std::uint64_t left_along(const std::string &mount, std::string path, const GroupNames &names) {
    std::uint64_t left = left_in(mount, names);
    while (!path.empty() && path != "/") {
        left = std::min(left, left_in(mount + path, names));
        path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
    return left;
}

/// Whether a list with commas has the word.
bool contains(const std::string &list, const std::string &wanted) {
    std::istringstream words(list);
    for (std::string word; std::getline(words, word, ',');) {
        if (word == wanted) return true;
    }
    return false;
}

/// Each line is "hierarchy:controllers:path"; for version 2 the hierarchy is 0 and there are no controllers.
std::uint64_t left_in_groups(const MemoryFiles &files) {
    std::uint64_t left = SIZE_MAX;
    std::ifstream file(files.groups);
    for (std::string line; std::getline(file, line);) {
        const auto first = line.find(':');
        const auto second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const std::string path = line.substr(second + 1);
        if (controllers.empty()) left = std::min(left, left_along(files.mount, path, version_2));
        if (contains(controllers, "memory"))
            left = std::min(left, left_along(files.mount + "/memory", path, version_1));
    }
    return left;
}

}  // namespace

std::uint64_t available_memory(const MemoryFiles &files) {
    constexpr std::string_view available[] = {"MemAvailable:"};
    const auto kibibytes = sum_of(files.meminfo, available);
    return std::min(kibibytes ? *kibibytes * 1024 : SIZE_MAX, left_in_groups(files));
}

}  // namespace baton::core
