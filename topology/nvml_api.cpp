#include "topology/nvml_api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace baton::topology::nvml {

template <class F>
void Library::find(F *&function, const char *name) {
    function = reinterpret_cast<F *>(dlsym(handle_, name));
}

Library::Library(const char *path) {
    handle_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle_) {
        const char *why = dlerror();
        problem_ = fmt::format("NVML not found: {}", why ? why : path);
        return;
    }
    Return (*init)() = nullptr;
    find(init, "nvmlInit_v2");
    find(shutdown_, "nvmlShutdown");
    find(error_string_, "nvmlErrorString");
    find(device_count, "nvmlDeviceGetCount_v2");
    find(device_by_index, "nvmlDeviceGetHandleByIndex_v2");
    find(driver_version, "nvmlSystemGetDriverVersion");
    find(device_name, "nvmlDeviceGetName");
    find(device_uuid, "nvmlDeviceGetUUID");
    find(device_pci, "nvmlDeviceGetPciInfo_v3");
    find(device_mig_mode, "nvmlDeviceGetMigMode");
    find(field_values, "nvmlDeviceGetFieldValues");
    find(link_state, "nvmlDeviceGetNvLinkState");
    find(link_version, "nvmlDeviceGetNvLinkVersion");
    find(link_remote_pci, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
    find(link_remote_type, "nvmlDeviceGetNvLinkRemoteDeviceType");
    find(p2p_status, "nvmlDeviceGetP2PStatus");
    find(common_ancestor, "nvmlDeviceGetTopologyCommonAncestor");
    if (!init || !device_count || !device_by_index) {
        problem_ = fmt::format("NVML unusable: {} lacks nvmlInit_v2 or the calls that list devices", path);
        return;
    }
    if (Return code = init(); code != success) {
        problem_ = fmt::format("NVML does not start: {}", error_text(code));
        return;
    }
    initialised_ = true;
}

Library::~Library() {
    if (initialised_ && shutdown_) shutdown_();
    if (handle_) dlclose(handle_);
}

std::string Library::error_text(Return code) const {
    const char *text = error_string_ ? error_string_(code) : nullptr;
    return text ? fmt::format("{} (code {})", text, code) : fmt::format("code {}", code);
}

}  // namespace baton::topology::nvml
