#include "topology/readers.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "support/refusal.hpp"
#include "tests/topology/texts.hpp"
#include "topology/snapshot_json.hpp"

namespace baton::topology {
namespace {

/// A file that is removed with this object.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string &content) {
        const int file = mkstemp(path_.data());
        EXPECT_GE(file, 0);
        close(file);
        std::ofstream(path_) << content;
    }
    ~TemporaryFile() { unlink(path_.c_str()); }
    const std::string &path() const { return path_; }

private:
    std::string path_ = testing::TempDir() + "baton_machine_XXXXXX";
};

TEST(ReadMachine, TellsTheFormatsApart) {
    EXPECT_EQ(read_machine(texts::hwloc, "x").host.source, Source::hwloc_xml);
    EXPECT_EQ(read_machine("<!-- <topology> -->\n" + texts::nccl, "x").host.source, Source::nccl_xml);
    const Snapshot snapshot = read_machine(texts::nccl, "x");
    EXPECT_EQ(read_machine("\n " + snapshot_to_json(snapshot), "x"), snapshot);
    for (const char *text : {"<html/>", "hello", "<", "<!--", "<!-- -->", "[1]"})
        EXPECT_NE(test::refusal([&] { read_machine(text, "x"); }).find("x: neither hwloc's format"), std::string::npos)
            << text;
    EXPECT_EQ(test::refusal([] { read_machine(" \n", "x"); }), "x: the file is empty");
}

TEST(ReadMachine, PassesOverAByteOrderMark) {
    const std::string mark = "\xef\xbb\xbf";
    EXPECT_EQ(read_machine(mark + texts::hwloc, "x").gpus.size(), 2u);
    EXPECT_EQ(read_machine(mark + snapshot_to_json(read_machine(texts::hwloc, "x")), "x").gpus.size(), 2u);
}

TEST(ReadMachine, Files) {
    const TemporaryFile file(texts::hwloc);
    EXPECT_EQ(read_machine_file(file.path()), read_machine(texts::hwloc, file.path()));
    EXPECT_EQ(test::refusal([] { read_machine_file("/nowhere/x.xml"); }), "/nowhere/x.xml: No such file or directory");
    EXPECT_EQ(test::refusal([] { read_machine_file("/"); }), "/: Is a directory");
    EXPECT_EQ(test::refusal([] { read_machine_file("/dev/zero"); }),
              "/dev/zero: larger than 16 MiB, as no description of a machine is");
}

}  // namespace
}  // namespace baton::topology
