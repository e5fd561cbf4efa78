#include "peers/nccl_api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "environment.hpp"
#include "util/environment.hpp"

namespace baton::bench::nccl {

namespace {

constexpr int oldest = 21000;  // which added bfloat16 and avg

/// Where to look: the option, the environment, the soname.
std::string library_to_load(const std::string &option) {
    if (!option.empty()) {
        return option;
    }
    const char *named = core::variable("BATON_NCCL_LIBRARY");
    return named != nullptr ? named : "libnccl.so.2";
}

class Symbols {
public:
    Symbols(void *library, const std::string &name) : library_(library), name_(name) {}

    template <class Function>
    void required(Function *&function, const char *symbol) const {
        optional(function, symbol);
        if (function == nullptr) {
            throw Error(fmt::format("{} has no {}: it is not NCCL, or too old", name_, symbol));
        }
    }

    template <class Function>
    void optional(Function *&function, const char *symbol) const {
        function = reinterpret_cast<Function *>(dlsym(library_, symbol));
    }

private:
    void *library_;
    const std::string &name_;
};

Functions find_functions(const Symbols &symbols) {
    Functions found;
    symbols.required(found.get_version, "ncclGetVersion");
    symbols.required(found.get_unique_id, "ncclGetUniqueId");
    symbols.required(found.get_error_string, "ncclGetErrorString");
    symbols.required(found.comm_init_rank, "ncclCommInitRank");
    symbols.required(found.comm_destroy, "ncclCommDestroy");
    symbols.required(found.comm_abort, "ncclCommAbort");
    symbols.required(found.all_gather, "ncclAllGather");
    symbols.required(found.reduce_scatter, "ncclReduceScatter");
    symbols.required(found.all_reduce, "ncclAllReduce");
    symbols.required(found.broadcast, "ncclBroadcast");
    symbols.required(found.send, "ncclSend");
    symbols.required(found.recv, "ncclRecv");
    symbols.required(found.group_start, "ncclGroupStart");
    symbols.required(found.group_end, "ncclGroupEnd");
    symbols.optional(found.all_to_all, "ncclAlltoAll");
    symbols.optional(found.get_last_error, "ncclGetLastError");
    symbols.optional(found.comm_init_rank_config, "ncclCommInitRankConfig");
    symbols.optional(found.mem_alloc, "ncclMemAlloc");
    symbols.optional(found.mem_free, "ncclMemFree");
    symbols.optional(found.comm_register, "ncclCommRegister");
    symbols.optional(found.comm_deregister, "ncclCommDeregister");
    symbols.optional(found.window_register, "ncclCommWindowRegister");
    symbols.optional(found.window_deregister, "ncclCommWindowDeregister");
    return found;
}

}  // namespace

Api::Api(const std::string &library) : library_(library_to_load(library)) {
    setenv("NCCL_NVLS_ENABLE", "0", 0);
    void *handle = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        throw Error(dlerror());
    }
    functions_ = find_functions(Symbols(handle, library_));
    check(functions_.get_version(&version_), "ncclGetVersion");
    if (version_ < oldest) {
        throw Error(fmt::format("{} is older than NCCL {}", library_, version_text(oldest)));
    }
}

std::string Api::describe() const {
    // Without the folder, which tells where the library lies on one machine and nothing about it.
    return fmt::format("{} ({})", version_text(version_), library_.substr(library_.rfind('/') + 1));
}

void Api::check(Result result, const char *what, Comm comm) const {
    if (result == 0) {
        return;
    }
    const char *more = functions_.get_last_error != nullptr ? functions_.get_last_error(comm) : nullptr;
    throw Error(fmt::format("{}: {}{}{}", what, functions_.get_error_string(result),
                            more != nullptr && *more != '\0' ? ": " : "", more != nullptr ? more : ""));
}

std::string version_text(int version) {
    return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace baton::bench::nccl
