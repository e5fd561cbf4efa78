#pragma once

#include <string>

namespace baton::bench {

/// Throws an Error with the exit code of wrong usage.
[[noreturn]] void cannot_write(const std::string &path, const std::string &reason);

/// A file that is there with all of its text, or as it was before; with the permissions that it had, and its group and
/// owner where we may. Made before the measurements, so that their result has somewhere to go: throws, as wrong usage,
/// where the folder is not there or cannot be written to, and leaves nothing there before draft(). What is no regular
/// file (a pipe) is written as it is, and so is what this process prints to, which by a redirection may be a regular
/// file: the text comes after what was printed before.
class AtomicFile {
public:
    explicit AtomicFile(const std::string &path);
    ~AtomicFile();
    AtomicFile(const AtomicFile &) = delete;
    AtomicFile &operator=(const AtomicFile &) = delete;

    /// Whether it is what `path` names, maybe by another name.
    bool is(const std::string &path) const;
    bool is_standard_output() const { return printed_; }

    void write(const std::string &text) {
        draft(text);
        publish();
    }
    /// The two halves of write(), for several files of which all or none shall be there. Other than a regular file has
    /// the text with draft() already; the standard output has it with publish(), behind what has been printed by then.
    void draft(const std::string &text);
    void publish();

private:
    std::string path_;
    std::string draft_;     // the same as path_ for what is written as it is
    std::string held_;      // what is to be printed
    bool printed_ = false;  // it is the standard output
    bool drafted_ = false;  // there is a file draft_ that is to become path_, or to go
};

}  // namespace baton::bench
