#include "util/available_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace baton::core {
namespace {

class AvailableMemory : public testing::Test {
protected:
    AvailableMemory() {
        std::string name = testing::TempDir() + "baton-memory-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder " + name);
        root_ = name;
        files_.meminfo = root_ + "/meminfo";
        files_.groups = root_ + "/groups";
        files_.mount = root_ + "/mount";
        write("/meminfo", "MemTotal:  900 kB\nMemFree:  1 kB\nMemAvailable:  500 kB\nBuffers: 2 kB\n");
    }
    ~AvailableMemory() override { std::filesystem::remove_all(root_); }

    void write(const std::string &name, const std::string &text) {
        const std::filesystem::path path = root_ + name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }

    std::string root_;
    MemoryFiles files_;
};

TEST_F(AvailableMemory, IsTheMachinesWithoutGroups) {
    EXPECT_EQ(available_memory(files_), 500U * 1024);
    files_.meminfo += ".none";
    EXPECT_EQ(available_memory(files_), SIZE_MAX);
}

TEST_F(AvailableMemory, IsTheLeastOfTheGroupsThatItIsIn) {
    write("/groups", "0::/jobs/job7/step0\n");
    write("/mount/jobs/job7/step0/memory.max", "max\n");
    write("/mount/jobs/job7/step0/memory.current", "7000\n");
    write("/mount/jobs/job7/memory.max", "100000\n");
    write("/mount/jobs/job7/memory.current", "70000\n");
    write("/mount/jobs/job7/memory.stat",
          "anon 40000\ninactive_anon 1\ninactive_file 15000\nactive_file 4000\n"
          "slab_reclaimable 1000\nshmem 3000\n");
    write("/mount/jobs/memory.max", "300000\n");
    write("/mount/jobs/memory.current", "200000\n");
    EXPECT_EQ(available_memory(files_), 50000U);
    write("/mount/jobs/memory.current", "300001\n");
    EXPECT_EQ(available_memory(files_), 0U);
}

TEST_F(AvailableMemory, IsTheMountedGroupsInAContainer) {
    write("/groups", "0::/docker/4711\n");
    write("/mount/memory.max", "9000\n");
    write("/mount/memory.current", "4000\n");
    EXPECT_EQ(available_memory(files_), 5000U);
}

TEST_F(AvailableMemory, IsThatOfGroupsOfVersionOne) {
    write("/groups", "12:cpu,cpuacct:/a\n9:hugetlb,memory:/job\n0::/\n");
    write("/mount/memory/job/memory.limit_in_bytes", "8000\n");
    write("/mount/memory/job/memory.usage_in_bytes", "6000\n");
    write("/mount/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 1000\n");
    write("/mount/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write("/mount/memory/memory.usage_in_bytes", "123456\n");
    EXPECT_EQ(available_memory(files_), 3000U);
}

TEST(AvailableMemoryHere, IsKnown) {
    EXPECT_GT(available_memory(), 1U << 20);
    EXPECT_LT(available_memory(), SIZE_MAX);
}

}  // namespace
}  // namespace baton::core
