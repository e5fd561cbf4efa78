#pragma once

#include <string>

namespace baton::bench {

/// Throws an Error with the exit code of wrong usage.
[[noreturn]] void cannot_write(const std::string &path, const std::string &reason);

/// A file that gets all of its text or stays as it was. A file that it replaces passes on its permissions, and its
/// group and owner where we may. Made before the measurements, so that their result has somewhere to go: the
/// constructor throws, as wrong usage, if the folder does not exist or cannot be written to. Nothing is left there
/// before draft(). What is not a regular file (a pipe) is written directly. So is the standard output, even if it is
/// redirected to a regular file: the text follows what was printed before.
class AtomicFile {
public:
    explicit AtomicFile(const std::string &path);
    ~AtomicFile();
    AtomicFile(const AtomicFile &) = delete;
    AtomicFile &operator=(const AtomicFile &) = delete;

    /// Whether `path` names this file, maybe by another name.
    bool is(const std::string &path) const;
    bool is_standard_output() const { return printed_; }

    void write(const std::string &text) {
        draft(text);
        publish();
    }
    /// The two halves of write(), for several files that are written together or not at all. A pipe gets its text in
    /// draft(); the standard output gets it in publish(), after what has been printed by then.
    void draft(const std::string &text);
    void publish();

private:
    std::string path_;
    std::string draft_;     // path_ itself if it is written directly
    std::string held_;      // text for the standard output
    bool printed_ = false;  // the file is the standard output
    bool drafted_ = false;  // there is a file draft_, to be renamed to path_ or removed
};

}  // namespace baton::bench
