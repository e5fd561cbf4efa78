// The files of baton_tune: written wholly or not at all, and read by Baton.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "atomic_file.hpp"
#include "collectives/tuning_file.hpp"
#include "collectives/tuning_key.hpp"
#include "environment.hpp"
#include "support/set_variable.hpp"
#include "tune/file.hpp"

namespace baton::bench::tune {
namespace {

using core::Algorithm;
using core::TuningRow;
using testing::ElementsAre;
using testing::IsEmpty;

class TuneFile : public testing::Test {
protected:
    void SetUp() override { folder_ = testing::TempDir() + "baton_tune." + std::to_string(getpid()); }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    static std::string text(const std::string &path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::string folder_;
};

TEST_F(TuneFile, IsThereWhollyOrNotAtAll) {
    const std::string path = folder_ + "/config/tuning.json";
    EXPECT_THROW(AtomicFile{path}, Error) << "no folder";
    EXPECT_FALSE(std::filesystem::exists(folder_));
    std::filesystem::create_directories(folder_ + "/config");
    std::string draft;
    {
        AtomicFile drafted(path);
        drafted.draft("not published");
        draft = std::filesystem::directory_iterator(folder_ + "/config")->path().string();
    }
    std::ofstream(draft) << "of a process that was killed";
    AtomicFile file(path);
    EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/config")) << "what is killed now leaves nothing behind";
    file.write("first");
    { const AtomicFile unwritten(path); }
    EXPECT_EQ(text(path), "first");
    AtomicFile(path).write("second");
    EXPECT_EQ(text(path), "second");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ + "/config"), {}), 1);
    EXPECT_THROW(AtomicFile(path + "/below_a_file"), Error);
    EXPECT_THROW(AtomicFile(folder_ + "/config"), Error);
    AtomicFile("/dev/null").write("no draft beside it, and still no regular file");
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(TuneFile, IsWrittenWhereALinkLeadsThoughNothingIsThere) {
    namespace fs = std::filesystem;
    fs::create_directories(folder_ + "/config");
    const std::string link = folder_ + "/link.json", there = folder_ + "/config/tuning.json";
    fs::create_symlink("next.json", link);
    fs::create_symlink("config/tuning.json", folder_ + "/next.json");
    EXPECT_TRUE(AtomicFile(link).is(there));
    AtomicFile(link).write("by the link");
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_TRUE(fs::is_symlink(folder_ + "/next.json"));
    EXPECT_EQ(text(there), "by the link");
    fs::create_symlink("nowhere/x.json", folder_ + "/lost.json");
    EXPECT_THAT([&] { AtomicFile(folder_ + "/lost.json"); },
                testing::ThrowsMessage<Error>(testing::HasSubstr("there is no folder " + folder_ + "/nowhere")));
    fs::create_symlink("loop.json", folder_ + "/loop.json");
    EXPECT_THROW(AtomicFile(folder_ + "/loop.json"), Error);
}

TEST_F(TuneFile, HasAnyNameThatAFileMayHave) {
    std::filesystem::create_directories(folder_);
    const std::string longest = folder_ + "/" + std::string(255, 'x'), other = folder_ + "/other.json";
    AtomicFile first(longest), second(other);
    first.draft("first");
    second.draft("second");
    first.publish();
    second.publish();
    EXPECT_EQ(text(longest), "first");
    EXPECT_EQ(text(other), "second");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2);
}

TEST_F(TuneFile, KeepsThePermissionsOfTheOneThatItReplaces) {
    namespace fs = std::filesystem;
    fs::create_directories(folder_);
    const std::string path = folder_ + "/tuning.json";
    AtomicFile(path).write("first");
    for (const auto permissions : {fs::perms(0600), fs::perms(0664)}) {
        fs::permissions(path, permissions);
        AtomicFile(path).write("second");
        EXPECT_EQ(fs::status(path).permissions(), permissions);
    }
}

TEST_F(TuneFile, IsKnownByAllOfItsNames) {
    std::filesystem::create_directories(folder_ + "/below");
    const AtomicFile yet_to_be(folder_ + "/new.json");
    EXPECT_TRUE(yet_to_be.is(folder_ + "/below/../new.json"));
    EXPECT_FALSE(yet_to_be.is(folder_ + "/other.json"));
    const std::string path = folder_ + "/tuning.json", hard = folder_ + "/hard.json", soft = folder_ + "/soft.json";
    AtomicFile(path).write("here");
    std::filesystem::create_hard_link(path, hard);
    std::filesystem::create_symlink(path, soft);
    EXPECT_TRUE(AtomicFile(hard).is(path));
    EXPECT_TRUE(AtomicFile(soft).is(path));
    EXPECT_FALSE(yet_to_be.is(path));
}

TEST_F(TuneFile, KeepsOtherMachinesAndOperations) {
    const core::TuningKey mine = core::host_tuning_key(2);
    const TuningRow staged{.algorithm = Algorithm::staged};
    const TuningRow packet;
    std::vector<core::TuningTable> tables{{core::host_tuning_key(4), "a file", {{BATON_ALLGATHER, {staged}}}},
                                          {mine, "a file", {{BATON_ALLGATHER, {staged}}, {BATON_ALLREDUCE, {staged}}}}};
    tables = merged(tables, {mine, "", {{BATON_ALLGATHER, {packet}}}});
    ASSERT_EQ(tables.size(), 2u);
    EXPECT_THAT(tables[0].operations.at(BATON_ALLGATHER), ElementsAre(staged));
    EXPECT_THAT(tables[1].operations.at(BATON_ALLGATHER), ElementsAre(packet));
    EXPECT_THAT(tables[1].operations.at(BATON_ALLREDUCE), ElementsAre(staged));
    tables = merged(tables, {core::host_tuning_key(8), "", {{BATON_ALLGATHER, {packet}}}});
    EXPECT_EQ(tables.size(), 3u);
}

TEST_F(TuneFile, ItsRowsComeBeforeThoseOfTheFileThatBatonReads) {
    const core::TuningKey key = core::host_tuning_key(3);
    const TuningRow staged{.algorithm = Algorithm::staged};
    const std::string mine = folder_ + "/mine.json", read = folder_ + "/read.json";
    std::filesystem::create_directories(folder_);
    AtomicFile(mine).write(core::format_tuning({{key, "", {{BATON_ALLGATHER, {staged}}}}}));
    AtomicFile(read).write(
        core::format_tuning({{key, "", {{BATON_ALLGATHER, {TuningRow()}}, {BATON_ALLTOALL, {staged}}}},
                             {core::host_tuning_key(4), "", {{BATON_ALLREDUCE, {staged}}}}}));
    const test::SetVariable setting("BATON_TUNING", read);
    const core::Tuning tuning = tuning_before(mine, key);
    EXPECT_THAT(core::rows_for(tuning, BATON_ALLGATHER), ElementsAre(staged));
    EXPECT_THAT(core::rows_for(tuning, BATON_ALLTOALL), ElementsAre(staged));
    EXPECT_TRUE(core::table_for(tuning, BATON_ALLREDUCE)->built_in);
}

TEST_F(TuneFile, IsTheOneThatBatonReads) {
    const test::SetVariable config("XDG_CONFIG_HOME", "/config"), none("BATON_TUNING", "none");
    EXPECT_EQ(file_to_write(""), "/config/baton/tuning.json");
    const test::SetVariable here("BATON_TUNING", "/here.json");
    EXPECT_EQ(file_to_write(""), "/here.json");
    EXPECT_EQ(file_to_write("/there.json"), "/there.json");
    EXPECT_THAT(tables_of(folder_ + "/missing.json"), IsEmpty());
}

TEST_F(TuneFile, IsReadByWhateverNameItHas) {
    std::filesystem::create_directories(folder_ + "/baton");
    const std::string path = folder_ + "/baton/tuning.json", other = folder_ + "/baton/../baton/tuning.json";
    AtomicFile(path).write("here");
    const test::SetVariable config("XDG_CONFIG_HOME", folder_), unset("BATON_TUNING", std::nullopt);
    EXPECT_TRUE(is_read(path));
    EXPECT_TRUE(is_read(other));
    EXPECT_FALSE(is_read("/dev/null"));
    const test::SetVariable named("BATON_TUNING", other);
    EXPECT_TRUE(is_read(path));
    const test::SetVariable none("BATON_TUNING", "none");
    EXPECT_FALSE(is_read(path));
}

}  // namespace
}  // namespace baton::bench::tune
