#pragma once

#include <string>

/// The part of NVML's binary interface that Baton uses. Layouts and numbers are those that have not changed from NVML
/// 11 to 13. Names carry NVML's version suffix, because the library exports that name and not the plain one.
namespace baton::topology::nvml {

using Return = int;
using Device = struct DeviceHandle *;
constexpr Return success = 0;

constexpr unsigned field_speed_common = 90;
constexpr unsigned field_link_count = 91;
constexpr unsigned field_link_speed = 164;  // scope: link; MB/s
constexpr unsigned field_link_state = 165;
constexpr unsigned field_link_version = 166;
constexpr unsigned field_c2c_count = 170;
constexpr unsigned field_c2c_speed = 172;  // scope: link; MB/s

constexpr unsigned max_links = 36;

struct PciInfo {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

struct FieldValue {
    unsigned field, scope;
    long long timestamp, latency_us;
    int value_type;  // 0 double, 1 unsigned, 2 unsigned long, 3 unsigned long long, 4 long long, 5 int, 6 unsigned
                     // short
    Return result;
    union {
        double as_double;
        int as_int;
        unsigned as_unsigned;
        unsigned long as_unsigned_long;
        unsigned long long as_unsigned_long_long;
        long long as_long_long;
        unsigned short as_unsigned_short;
    };
};
static_assert(sizeof(FieldValue) == 40);

/// The loaded and initialised library. Function pointers may be null, except those that ok() vouches for.
class Library {
public:
    explicit Library(const char *path);
    ~Library();
    Library(const Library &) = delete;
    Library &operator=(const Library &) = delete;

    bool ok() const { return problem_.empty(); }
    const std::string &problem() const { return problem_; }
    std::string error_text(Return code) const;

    Return (*device_count)(unsigned *) = nullptr;             // never null when ok()
    Return (*device_by_index)(unsigned, Device *) = nullptr;  // never null when ok()
    Return (*driver_version)(char *, unsigned) = nullptr;
    Return (*device_name)(Device, char *, unsigned) = nullptr;
    Return (*device_uuid)(Device, char *, unsigned) = nullptr;
    Return (*device_pci)(Device, PciInfo *) = nullptr;
    Return (*device_mig_mode)(Device, unsigned *, unsigned *) = nullptr;
    Return (*field_values)(Device, int, FieldValue *) = nullptr;
    Return (*link_state)(Device, unsigned, int *) = nullptr;
    Return (*link_version)(Device, unsigned, unsigned *) = nullptr;
    Return (*link_remote_pci)(Device, unsigned, PciInfo *) = nullptr;
    Return (*link_remote_type)(Device, unsigned, int *) = nullptr;
    Return (*p2p_status)(Device, Device, int, int *) = nullptr;
    Return (*common_ancestor)(Device, Device, int *) = nullptr;

private:
    template <class F>
    void find(F *&function, const char *name);

    void *handle_ = nullptr;
    bool initialised_ = false;
    Return (*shutdown_)() = nullptr;
    const char *(*error_string_)(Return) = nullptr;
    std::string problem_;
};

}  // namespace baton::topology::nvml
