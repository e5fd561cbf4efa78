// A library that is loaded before libc (LD_PRELOAD). The system then refuses copies between processes, as with Yama's
// ptrace_scope 1 between siblings.
#include <sys/uio.h>

#include <cerrno>

extern "C" {
ssize_t process_vm_readv(pid_t, const iovec *, unsigned long, const iovec *, unsigned long, unsigned long) {
    errno = EPERM;
    return -1;
}
ssize_t process_vm_writev(pid_t, const iovec *, unsigned long, const iovec *, unsigned long, unsigned long) {
    errno = EPERM;
    return -1;
}
}
