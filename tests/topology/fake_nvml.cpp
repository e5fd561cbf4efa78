// Answers like libnvidia-ml.so.1 for the machine that FAKE_NVML names: "h200x2" (hidden switches), "v100x2" (direct
// links, an NVML without per-link fields and without the remote type), "refuses" (does not start), "lost" (GPU 1 is
// gone), "silent" (as h200x2, but nothing is said of link 9). Written from NVML's published prototypes, not from
// Baton's, so that a wrong declaration there shows.
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

bool is(const char *machine) {
    const char *wanted = std::getenv("FAKE_NVML");
    return wanted && std::strcmp(wanted, machine) == 0;
}
bool v100() { return is("v100x2"); }

int gpus[2] = {0, 1};
int index_of(void *device) { return *static_cast<int *>(device); }

struct Pci {
    char legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

struct Field {
    unsigned id, scope;
    long long timestamp, latency;
    int type, result;
    union {
        double d;
        unsigned u;
        unsigned long long ull;
    } value;
};

void fill(Pci *pci, unsigned domain, unsigned bus, unsigned device) {
    *pci = {};
    pci->domain = domain;
    pci->bus = bus;
    pci->device = device;
    std::snprintf(pci->bus_id, sizeof pci->bus_id, "%08X:%02X:%02X.0", domain, bus, device);
}

int put(char *text, unsigned length, const char *value) {
    if (std::strlen(value) >= length) return 7;  // NVML_ERROR_INSUFFICIENT_SIZE
    std::strcpy(text, value);
    return 0;
}

constexpr int not_supported = 3;
constexpr int lost = 15;

}  // namespace

extern "C" {

int nvmlInit_v2() { return is("refuses") ? 9 : 0; }
int nvmlShutdown() { return 0; }
const char *nvmlErrorString(int code) {
    return code == 9 ? "Driver Not Loaded" : code == lost ? "GPU is lost" : "other";
}
int nvmlSystemGetDriverVersion(char *text, unsigned length) { return put(text, length, "580.1"); }
int nvmlDeviceGetCount_v2(unsigned *count) {
    *count = 2;
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    if (index > 1 || (index == 1 && is("lost"))) return lost;
    *device = &gpus[index];
    return 0;
}
int nvmlDeviceGetName(void *, char *text, unsigned length) {
    return put(text, length, v100() ? "Tesla V100" : "NVIDIA H200");
}
int nvmlDeviceGetUUID(void *device, char *text, unsigned length) {
    return put(text, length, index_of(device) == 0 ? "GPU-a" : "GPU-b");
}
int nvmlDeviceGetPciInfo_v3(void *device, Pci *pci) {
    fill(pci, 0, 0x1b + static_cast<unsigned>(index_of(device)), 0);
    return 0;
}
int nvmlDeviceGetMigMode(void *, unsigned *, unsigned *) { return not_supported; }

int nvmlDeviceGetFieldValues(void *, int count, Field *fields) {
    for (int i = 0; i < count; ++i) {
        Field &field = fields[i];
        field.result = 0;
        field.type = 1;
        if (field.id == 91) {
            field.value.u = v100() ? 6 : 18;
        } else if (field.id == 90) {
            field.type = 3;
            field.value.ull = 25781;
        } else if (v100() || (is("silent") && field.scope == 9)) {
            field.result = not_supported;
        } else if (field.id == 164) {
            field.value.u = 26562;
        } else if (field.id == 165) {
            field.value.u = field.scope == 17 ? 0 : 1;
        } else if (field.id == 166) {
            field.value.u = 6;
        } else {
            field.result = not_supported;
        }
    }
    return 0;
}
int nvmlDeviceGetNvLinkState(void *, unsigned link, int *active) {
    if (link >= 6) return 2;
    *active = link < 2;
    return 0;
}
int nvmlDeviceGetNvLinkVersion(void *, unsigned, unsigned *version) {
    *version = 2;
    return 0;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned, Pci *pci) {
    if (v100())
        fill(pci, 0, 0x1b + static_cast<unsigned>(1 - index_of(device)), 0);
    else
        fill(pci, 0xffffffffu, 0xff, 0xff);
    return 0;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(void *, unsigned, int *type) {
    if (v100()) return 13;  // NVML_ERROR_FUNCTION_NOT_FOUND
    *type = 2;
    return 0;
}
int nvmlDeviceGetP2PStatus(void *, void *, int index, int *status) {
    *status = index == 3 ? 5 : 0;
    return 0;
}
int nvmlDeviceGetTopologyCommonAncestor(void *, void *, int *level) {
    *level = 50;
    return 0;
}

}  // extern "C"
