#include "tune/file.hpp"

#include <cstdlib>
#include <filesystem>

#include "collectives/tuning_file.hpp"
#include "environment.hpp"

namespace baton::bench::tune {

std::string file_to_write(const std::string &asked_for) {
    if (!asked_for.empty()) {
        return asked_for;
    }
    const char *setting = std::getenv("BATON_TUNING");
    const std::string given = setting == nullptr ? "" : setting;
    if (!given.empty() && given != "none" && given[0] != '{') {
        return given;
    }
    const auto path = core::user_tuning_path();
    if (!path) {
        throw Error("there is no home folder to write to: give --file");
    }
    return *path;
}

std::vector<core::TuningTable> tables_of(const std::string &path) {
    return std::filesystem::exists(path) ? core::read_tuning(path.c_str()) : std::vector<core::TuningTable>();
}

std::vector<core::TuningTable> merged(std::vector<core::TuningTable> tables, const core::TuningTable &measured) {
    for (core::TuningTable &table : tables) {
        if (table.key == measured.key) {
            for (const auto &[operation, rows] : measured.operations) {
                table.operations[operation] = rows;
            }
            return tables;
        }
    }
    tables.push_back(measured);
    return tables;
}

}  // namespace baton::bench::tune
