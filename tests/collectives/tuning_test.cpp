// The tuning table as data: its rows, its key, its text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "collectives/tuning_file.hpp"
#include "collectives/tuning_key.hpp"
#include "selection_machines.hpp"
#include "support/refusal.hpp"
#include "support/set_variable.hpp"

namespace baton::core {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

/// The text of a tuning file with one table.
std::string text_of(const std::string &operations, const std::string &gpu = "NVIDIA H200", int ranks = 8) {
    return R"({"version": 1, "tables": [{"gpu": ")" + gpu + R"(", "link": "NVSwitch", "ranks": )" +
           std::to_string(ranks) + R"(, "operations": {)" + operations + "}}]}";
}

std::string refusal_of(const std::string &text) {
    return test::refusal([&] { parse_tuning(text, "a file"); });
}

const std::string push = R"({"algorithm": "push", "mover": "kernel"})";

TEST(TuningRows, HaveChannelsByGrainUpToAMost) {
    TuningRow row;
    EXPECT_EQ(row.channels_for(0, 32), 32);
    row.grain = 1000;
    EXPECT_EQ(row.channels_for(0, 32), 1);
    EXPECT_EQ(row.channels_for(1000, 32), 1);
    EXPECT_EQ(row.channels_for(1001, 32), 2);
    EXPECT_EQ(row.channels_for(TuningRow::no_limit, 32), 32);
    row.channels = 5;
    EXPECT_EQ(row.channels_for(1001, 32), 2);
    EXPECT_EQ(row.channels_for(1 << 20, 32), 5);
    EXPECT_EQ(row.channels_for(1 << 20, 3), 3);
}

TEST(TuningRows, AreFoundBySize) {
    const Tuning tuning = parse_tuning(text_of(R"("allgather": [{"up_to": 0, "algorithm": "push", "mover": "kernel"},
                                 {"up_to": 100, "algorithm": "packet", "mover": "kernel"},
                                 {"algorithm": "push", "mover": "copy_engine"}])"),
                                       "a file");
    const auto rows = rows_for(tuning, BATON_ALLGATHER);
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(row_for(rows, 0), 0u);
    EXPECT_EQ(row_for(rows, 1), 1u);
    EXPECT_EQ(row_for(rows, 100), 1u);
    EXPECT_EQ(row_for(rows, 101), 2u);
    EXPECT_EQ(row_for(rows, TuningRow::no_limit), 2u);
    EXPECT_TRUE(rows_for(tuning, BATON_ALLREDUCE).empty());
    EXPECT_EQ(table_for(tuning, BATON_ALLREDUCE), nullptr);
}

TEST(TuningRows, OfTheFirstTableThatHasTheOperation) {
    Tuning tuning = parse_tuning(text_of("\"send\": [" + push + "]"), "first");
    tuning.push_back(parse_tuning(text_of("\"send\": [" + push + "], \"allgather\": [" + push + "]"), "second")[0]);
    EXPECT_EQ(table_for(tuning, BATON_SEND)->origin, "first");
    EXPECT_EQ(table_for(tuning, BATON_RECV)->origin, "first");
    EXPECT_EQ(table_for(tuning, BATON_ALLGATHER)->origin, "second");
}

/// Up to a limit, buffers hold every size of every packet row, with the row's own channels.
TEST(TuningRows, SizeThePacketBuffers) {
    const auto capacity = [](const std::string &row, int channels) {
        return buffer_capacity(parse_tuning(text_of("\"allreduce\": [" + row + R"(,
                                                    {"algorithm": "two_shot", "mover": "kernel"}])"),
                                            "a file"),
                               goes_in_packets, 4, channels, 1 << 20);
    };
    EXPECT_EQ(capacity(R"({"up_to": 65536, "algorithm": "packet", "mover": "kernel", "grain": 256})", 32), 65536u);
    EXPECT_EQ(capacity(R"({"up_to": 65536, "algorithm": "packet", "mover": "kernel"})", 32), 65536u);
    EXPECT_EQ(capacity(R"({"up_to": 65536, "algorithm": "packet", "mover": "kernel", "channels": 4})", 32), 524288u);
    EXPECT_EQ(capacity(R"({"up_to": 6000, "algorithm": "packet", "mover": "kernel", "grain": 4096})", 32), 4096u * 32);
    EXPECT_EQ(capacity(R"({"up_to": 4000000, "algorithm": "packet", "mover": "kernel"})", 32), 1u << 20);
    EXPECT_EQ(buffer_capacity({}, goes_in_packets, 4, 32, 1 << 20), 0u);
}

/// Lines have buffers of their own. A broadcast sends only a share to each peer.
TEST(TuningRows, SizeTheLineBuffers) {
    const auto capacity = [](const std::string &operation, bool (*uses)(Algorithm), int size) {
        return buffer_capacity(parse_tuning(text_of("\"" + operation + R"(": [
                                   {"up_to": 65536, "algorithm": "packet", "mover": "kernel"},
                                   {"up_to": 3145728, "algorithm": "line", "mover": "kernel", "grain": 4096},
                                   {"algorithm": "push", "mover": "kernel"}])"),
                                            "a file"),
                               uses, size, 32, 2 << 20);
    };
    EXPECT_EQ(capacity("allgather", goes_in_lines, 4), 2u << 20);
    EXPECT_EQ(capacity("allgather", goes_in_packets, 4), 65536u);
    EXPECT_EQ(capacity("broadcast", goes_in_lines, 4), 1u << 20);
    EXPECT_EQ(capacity("broadcast", goes_in_lines, 2), 2u << 20);
    EXPECT_EQ(capacity("broadcast", goes_in_packets, 4), 65536u);
}

TEST(TuningKeys, FindTheirTable) {
    const std::string operations = "\"send\": [" + push + "]";
    std::vector<TuningTable> tables;
    for (const int ranks : {2, 8})
        tables.push_back(parse_tuning(text_of(operations, "NVIDIA H200", ranks), "a file")[0]);
    tables.push_back(parse_tuning(text_of(operations, "NVIDIA A100", 4), "a file")[0]);
    tables.push_back({host_tuning_key(2), "a file", {}});
    tables.push_back({staging_tuning_key({"NVIDIA A100", "NVIDIA A100", "NVIDIA A100"}), "a file", {}});
    const auto exact = [&](const TuningKey &key) { return find_table(tables, key); };
    const auto nearest = [&](const TuningKey &key) { return to_string(nearest_table(tables, key).key); };
    ASSERT_NE(exact({"NVIDIA H200", "NVSwitch", 8}), nullptr);
    EXPECT_EQ(exact({"NVIDIA H200", "NVSwitch", 8})->key.ranks, 8);
    EXPECT_EQ(exact({"NVIDIA H200", "NVSwitch", 4}), nullptr);
    EXPECT_EQ(exact({"NVIDIA H200", "PHB", 8}), nullptr);
    EXPECT_EQ(nearest({"NVIDIA H200", "NVSwitch", 8}), "NVIDIA H200, NVSwitch, 8 ranks");
    EXPECT_EQ(nearest({"NVIDIA H200", "NVSwitch", 4}), "NVIDIA H200, NVSwitch, 2 ranks");
    EXPECT_EQ(nearest({"NVIDIA H200", "NVSwitch", 1}), "NVIDIA H200, NVSwitch, 2 ranks");
    EXPECT_EQ(nearest({"NVIDIA H200", "same device", 16}), "NVIDIA H200, NVSwitch, 8 ranks");
    EXPECT_EQ(nearest({"NVIDIA B200", "NVSwitch", 4}), "NVIDIA A100, NVSwitch, 4 ranks");
    EXPECT_EQ(nearest({"NVIDIA A100", "PHB", 3}), "NVIDIA A100, NVSwitch, 4 ranks") << "they reach each other";
    EXPECT_EQ(nearest(staging_tuning_key({"NVIDIA H200"})), "NVIDIA A100, host memory, 3 ranks");
    EXPECT_EQ(nearest(host_tuning_key(8)), "host, shared memory, 2 ranks");
}

TEST(TuningKeys, NameGpusAndTheirWeakestLink) {
    EXPECT_EQ(to_string(gpu_tuning_key({"X", "X"}, "NVSwitch")), "X, NVSwitch, 2 ranks");
    EXPECT_EQ(to_string(gpu_tuning_key({"X", "X", "A"}, "PHB")), "A + X, PHB, 3 ranks");
    EXPECT_EQ(to_string(gpu_tuning_key({"X"}, "same device")), "X, same device, 1 rank");
    EXPECT_EQ(to_string(staging_tuning_key({"X", "A"})), "A + X, host memory, 2 ranks");
    EXPECT_EQ(to_string(host_tuning_key(3)), "host, shared memory, 3 ranks");
}

TEST(TuningText, ComesBackAsItWas) {
    const std::vector<TuningTable> tables = parse_tuning(
        R"({"version": 1, "tables": [
            {"gpu": "A \"quoted\" GPU", "link": "NVSwitch", "ranks": 8, "operations": {
                "get": [{"up_to": 8388607, "algorithm": "direct", "mover": "kernel", "grain": 65536, "channels": 7},
                        {"algorithm": "direct", "mover": "copy_engine"}]}},
            {"gpu": "host", "link": "shared memory", "ranks": 1, "operations": {}}]})",
        "a file");
    const std::vector<TuningTable> again = parse_tuning(format_tuning(tables), "a file");
    ASSERT_EQ(again.size(), 2u);
    for (std::size_t index = 0; index < 2; ++index) {
        EXPECT_EQ(again[index].key, tables[index].key);
        EXPECT_EQ(again[index].operations, tables[index].operations);
    }
    const TuningRow &row = again[0].operations.at(BATON_GET)[0];
    EXPECT_EQ(row.up_to_bytes, 8388607u);
    EXPECT_EQ(row.grain, 65536u);
    EXPECT_EQ(row.channels, 7);
    EXPECT_EQ(row.mover, Mover::kernel);
    EXPECT_EQ(again[0].operations.at(BATON_GET)[1].up_to_bytes, TuningRow::no_limit);
}

TEST(TuningText, MistakesAreNamedWithTheirPlace) {
    const auto allgather = [](const std::string &rows) {
        return refusal_of(text_of(
            "\"allreduce\": [{\"algorithm\": \"two_shot\", \"mover\": \"kernel\"}], \"allgather\": [" + rows + "]"));
    };
    const std::string where = "tables[0].operations.allgather";
    EXPECT_THAT(refusal_of("{\"version\": 1,\n\"tables\": [{]}"),
                AllOf(HasSubstr("a file"), HasSubstr("line 2, column 13")));
    EXPECT_THAT(refusal_of(""), HasSubstr("line 1"));
    EXPECT_THAT(refusal_of(text_of("").substr(0, 40)), HasSubstr("line 1"));
    EXPECT_THAT(refusal_of(R"({"version": 2, "tables": []})"), HasSubstr("a file: version: "));
    EXPECT_THAT(refusal_of(R"({"version": 1})"), HasSubstr("\"tables\" is missing"));
    EXPECT_THAT(refusal_of(R"({"version": 1, "tables": {}})"), HasSubstr("tables: must be an array"));
    EXPECT_THAT(refusal_of(R"({"version": 1, "tables": [], "colour": 1})"), HasSubstr("unknown key \"colour\""));
    EXPECT_THAT(refusal_of(R"({"version": 1, "version": 1, "tables": []})"), HasSubstr("\"version\" stands twice"));
    EXPECT_THAT(refusal_of("[1]"), HasSubstr("a file: must be an object"));
    EXPECT_THAT(refusal_of(text_of("\"barrier\": []")), HasSubstr("operations: unknown key \"barrier\""));
    EXPECT_THAT(allgather(R"({"algorithm": "push", "mover": "kernel", "chanels": 3})"),
                HasSubstr(where + "[0]: unknown key \"chanels\""));
    EXPECT_THAT(allgather(R"({"algorithm": "push", "mover": "kernel", "channels": 0})"),
                HasSubstr(where + "[0].channels"));
    EXPECT_THAT(allgather(R"({"algorithm": "push", "mover": "kernel", "channels": 65})"),
                HasSubstr(where + "[0].channels"));
    EXPECT_THAT(allgather(R"({"algorithm": "push", "mover": "kernel", "grain": -1})"), HasSubstr(where + "[0].grain"));
    EXPECT_THAT(allgather(R"({"algorithm": "push", "mover": "kernel", "up_to": 1.5})"), HasSubstr(where + "[0].up_to"));
    EXPECT_THAT(allgather(R"({"algorithm": 7, "mover": "kernel"})"), HasSubstr(where + "[0].algorithm"));
    EXPECT_THAT(allgather(R"({"mover": "kernel"})"), HasSubstr(where + "[0]: \"algorithm\" is missing"));
    EXPECT_THAT(allgather(R"({"algorithm": "pull", "mover": "kernel"})"), HasSubstr(where + "[0].algorithm"));
    EXPECT_THAT(allgather(R"({"algorithm": "packet", "mover": "copy_engine"})"), HasSubstr(where + "[0].mover"));
    EXPECT_THAT(allgather(R"({"algorithm": "push", "mover": "host"})"), HasSubstr(where + "[0].mover"));
}

TEST(TuningText, AReductionHasAChainAndAllgatherARing) {
    const auto row_of = [](const std::string &operation, const std::string &algorithm) {
        return text_of("\"" + operation + "\": [{\"algorithm\": \"" + algorithm + "\", \"mover\": \"kernel\"}]");
    };
    for (const std::string reduction : {"reduce_scatter", "allreduce"}) {
        EXPECT_THAT(refusal_of(row_of(reduction, "ring")),
                    AllOf(HasSubstr("operations." + reduction + "[0].algorithm: " + reduction +
                                    " does not run as \"ring by kernel\" on GPUs; it does as "),
                          HasSubstr("chain by kernel")));
        EXPECT_NO_THROW(parse_tuning(row_of(reduction, "chain"), "a file"));
    }
    EXPECT_THAT(refusal_of(row_of("allgather", "chain")), HasSubstr("allgather does not run as \"chain by kernel\""));
    EXPECT_NO_THROW(parse_tuning(row_of("allgather", "ring"), "a file"));
}

TEST(TuningText, ContradictionsAreRefused) {
    const auto row = [](int up_to) {
        return R"({"algorithm": "push", "mover": "kernel", "up_to": )" + std::to_string(up_to) + "}";
    };
    const auto rows = [](const std::string &text) { return refusal_of(text_of("\"allgather\": [" + text + "]")); };
    EXPECT_THAT(rows(row(10) + "," + row(9) + "," + push), HasSubstr("allgather[1].up_to: 9 is less than 10"));
    EXPECT_THAT(rows(push + "," + push), HasSubstr("allgather[1]"));
    EXPECT_THAT(rows(row(10)), HasSubstr("allgather: the last row"));
    EXPECT_THAT(rows(""), HasSubstr("allgather: the last row"));
    for (const int next : {10, 11})
        EXPECT_NO_THROW(
            parse_tuning(text_of("\"allgather\": [" + row(10) + "," + row(next) + "," + push + "]"), "a file"));
    const std::string table = R"({"gpu": "host", "link": "shared memory", "ranks": 2, "operations": {}})";
    EXPECT_THAT(refusal_of(R"({"version": 1, "tables": [)" + table + "," + table + "]}"),
                HasSubstr("tables[1]: a second table for host, shared memory, 2 ranks"));
}

TEST(TuningText, CompiledInHasEveryOperationAndKindOfMemory) {
    for (const TuningKey &key : {TuningKey{"NVIDIA H200", "NVSwitch", 8}, host_tuning_key(4)}) {
        const TuningTable &table = nearest_table(built_in_tables(), key);
        EXPECT_EQ(table.key.gpu, key.gpu);
        for (const OperationWays &entry : tuned_operations())
            EXPECT_EQ(table.operations.count(entry.operation), 1u) << baton_operation_name(entry.operation);
    }
}

/// On a machine that has room for the packets and lines.
TEST(TuningText, EveryRowThatIsCompiledInAppliesToTheRanksOfItsTable) {
    for (const TuningTable &table : built_in_tables()) {
        const int ranks = table.key.ranks;
        Capabilities capabilities = table.key.is_apart() ? gpu_apart(ranks) : gpu(ranks);
        if (table.key.on_host()) capabilities = host();
        capabilities.size = ranks;
        if (table.key.on_host()) capabilities.reaches_buffers = true;
        capabilities.packet_bytes = capabilities.packet_channel_bytes = 1 << 20;
        capabilities.line_bytes = capabilities.line_channel_bytes = capabilities.message_line_bytes = 1 << 24;
        capabilities.tuning = {table};
        for (const auto &[operation, rows] : table.operations) {
            for (const TuningRow &row : rows) {
                const std::uint64_t bytes = std::min<std::uint64_t>(row.up_to_bytes, 1ull << 40);
                // The second row for a size stands in for the first, which is a row of lines.
                const bool stands_in = rows[row_for(rows, bytes)] != row;
                Capabilities those = capabilities;
                if (stands_in) those.line_bytes = 0;
                const Plan plan = plan_for(operation, bytes, those);
                SCOPED_TRACE(text_for(operation, bytes, those));
                if (stands_in) {
                    EXPECT_EQ(plan.reason, Reason::instead_of_row);
                } else {
                    EXPECT_THAT(plan.reason, AnyOf(Reason::tuned, Reason::buffered));
                }
                EXPECT_EQ(plan.algorithm, row.algorithm);
                EXPECT_EQ(plan.mover, row.mover);
            }
        }
    }
}

/// A folder of its own, in which Baton looks for the user's file.
class TuningFile : public testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(folder_ + "/baton"); }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string write(const std::string &name, const std::string &text) const {
        std::ofstream(folder_ + "/" + name) << text;
        return folder_ + "/" + name;
    }
    const std::string folder_ = testing::TempDir() + "baton_tuning." + std::to_string(getpid());
    const test::SetVariable config_{"XDG_CONFIG_HOME", folder_};
};

std::string refused_setting(const char *setting) {
    return test::refusal([&] { read_tuning(setting); });
}

TEST_F(TuningFile, IsWhatTheSettingSays) {
    const std::string text = text_of("\"send\": [" + push + "]");
    const std::string path = write("some.json", text);
    EXPECT_EQ(read_tuning(path.c_str()).at(0).origin, path);
    EXPECT_EQ(read_tuning(text.c_str()).size(), 1u);
    EXPECT_TRUE(read_tuning(nullptr).empty());
    const std::string own = write("baton/tuning.json", text);
    EXPECT_EQ(read_tuning(nullptr).at(0).origin, own);
    EXPECT_EQ(read_tuning("").at(0).origin, own);
    EXPECT_EQ(read_tuning(("\n \t" + text).c_str()).at(0).origin, "given as text");
    EXPECT_TRUE(read_tuning("none").empty());
    const test::SetVariable home("HOME", "/home/somebody");
    for (const std::optional<std::string> &no_folder :
         {std::optional<std::string>(), std::optional<std::string>("relative")}) {
        const test::SetVariable config("XDG_CONFIG_HOME", no_folder);
        EXPECT_EQ(user_tuning_path(), "/home/somebody/.config/baton/tuning.json");
    }
}

TEST_F(TuningFile, ThatCannotBeReadIsAnError) {
    EXPECT_THAT(refused_setting((folder_ + "/missing.json").c_str()),
                AllOf(HasSubstr("missing.json"), HasSubstr("No such file")));
    EXPECT_THAT(refused_setting(folder_.c_str()), AllOf(HasSubstr(folder_), HasSubstr("directory")));
    EXPECT_THAT(refused_setting(write("empty.json", "").c_str()), HasSubstr("empty.json: parse error at line 1"));
    const std::string behind_a_zero = text_of("\"send\": [" + push + "]") + std::string(1, '\0') + "more";
    EXPECT_THAT(refused_setting(write("zero.json", behind_a_zero).c_str()), HasSubstr("zero.json: has a zero byte"));
    const std::string pipe = folder_ + "/pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_THAT(refused_setting(pipe.c_str()), HasSubstr("pipe cannot be read: it is not a regular file"));
    std::filesystem::create_symlink("tuning.json", folder_ + "/baton/tuning.json");
    EXPECT_THAT(refused_setting(nullptr), HasSubstr("Too many levels of symbolic links"));
    std::filesystem::remove(folder_ + "/baton/tuning.json");
    write("baton/tuning.json", "{\n\n\"version\": 1,");
    EXPECT_THAT(refused_setting(nullptr), AllOf(HasSubstr("baton/tuning.json"), HasSubstr("line 3")));
}

TEST_F(TuningFile, OfTheUserThatMayNotBeLookedAtIsNone) {
    write("baton/tuning.json", "no JSON");
    std::filesystem::permissions(folder_ + "/baton", std::filesystem::perms::none);
    const uid_t before = ::geteuid();
    constexpr uid_t nobody = 65534;
    ASSERT_EQ(before == 0 ? ::seteuid(nobody) : 0, 0) << "root may look at all";
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(read_tuning(nullptr).empty());
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("baton/tuning.json cannot be looked at"));
    EXPECT_THAT(refused_setting((folder_ + "/baton/tuning.json").c_str()), HasSubstr("Permission denied"));
    ASSERT_EQ(::seteuid(before), 0);
    std::filesystem::permissions(folder_ + "/baton", std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace baton::core
