#pragma once

#include <string>
#include <vector>

#include "collectives/tuning.hpp"

namespace baton::bench::tune {

/// Where the result goes: `asked_for`, else the file that BATON_TUNING names, else that of the user. Throws where there
/// is none.
std::string file_to_write(const std::string &asked_for);

/// The tables of a tuning file; none where there is no file. Throws where it is not one.
std::vector<core::TuningTable> tables_of(const std::string &path);

/// With the measured operations in the place of those of the same key, and all else kept.
std::vector<core::TuningTable> merged(std::vector<core::TuningTable> tables, const core::TuningTable &measured);

/// A file that is there with all of its text, or as it was before. Made before the measurements, so that their result
/// has somewhere to go; throws where the folder cannot be written to.
class AtomicFile {
public:
    explicit AtomicFile(const std::string &path);
    ~AtomicFile();
    AtomicFile(const AtomicFile &) = delete;
    AtomicFile &operator=(const AtomicFile &) = delete;

    void write(const std::string &text);

private:
    std::string path_;
    std::string draft_;
};

}  // namespace baton::bench::tune
