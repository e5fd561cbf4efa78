#pragma once

namespace baton::core {

/// While it lives, growing a file beyond the limit of this process (ulimit -f) fails with EFBIG on this thread, instead
/// of ending the process by SIGXFSZ.
class FileSizeLimitGuard {
public:
    FileSizeLimitGuard();
    ~FileSizeLimitGuard();
    FileSizeLimitGuard(const FileSizeLimitGuard &) = delete;
    FileSizeLimitGuard &operator=(const FileSizeLimitGuard &) = delete;

private:
    bool blocked_before_ = false;
    bool pending_before_ = false;
};

}  // namespace baton::core
