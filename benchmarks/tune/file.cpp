#include "tune/file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "atomic_file.hpp"
#include "collectives/tuning_file.hpp"
#include "util/environment.hpp"
#include "util/failure.hpp"
#include "util/json_field.hpp"
#include "world.hpp"

namespace baton::bench::tune {

namespace {

/// The file that BATON_TUNING names; empty if it names none.
std::optional<std::string> named_file() {
    const char *setting = core::variable("BATON_TUNING");
    const std::string given = setting == nullptr ? "none" : setting;
    return given == "none" || core::is_json_text(given) ? std::nullopt : std::optional(given);
}

}  // namespace

std::string file_to_write(const std::string &asked_for) {
    if (!asked_for.empty()) {
        return asked_for;
    }
    const auto named = named_file();
    const auto path = named ? named : core::user_tuning_path();
    if (!path) {
        throw Error("there is no home folder to write to: give --file", 2);
    }
    return *path;
}

const char *tuning_in_force() {
    const auto named = named_file();
    std::error_code error;
    const bool is_new = named && std::filesystem::status(*named, error).type() == std::filesystem::file_type::not_found;
    return is_new ? "none" : core::variable("BATON_TUNING");
}

bool is_read(const std::string &path) {
    const auto read = core::variable("BATON_TUNING") == nullptr ? core::user_tuning_path() : named_file();
    std::error_code error;
    return read && std::filesystem::equivalent(*read, path, error);
}

void make_user_folder(const std::string &path) {
    if (path != core::user_tuning_path()) {
        return;
    }
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
        cannot_write(path, fmt::format("the folder {} cannot be made: {}", folder.string(), error.message()));
    }
}

std::vector<core::TuningTable> tables_of(const std::string &path) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (!std::filesystem::status_known(status)) {
        cannot_write(path, error.message());
    }
    const bool holds_text = std::filesystem::is_regular_file(status) || std::filesystem::is_directory(status);
    if (!holds_text) {
        return {};
    }
    try {
        return core::read_tuning_file(path);
    } catch (const core::Failure &failure) {
        throw Error(fmt::format("{} (correct it, or give another --file)", failure.what()), 2);
    }
}

core::Tuning tuning_before(const std::string &path, const core::TuningKey &key) {
    core::Tuning tuning;
    for (const auto &tables : {tables_of(path), core::read_tuning(tuning_in_force())}) {
        if (const core::TuningTable *found = core::find_table(tables, key)) {
            tuning.push_back(*found);
        }
    }
    tuning.push_back(core::nearest_table(core::built_in_tables(), key));
    return tuning;
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
