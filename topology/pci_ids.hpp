#pragma once

#include <cstdint>

namespace baton::topology {

constexpr std::uint32_t vendor_nvidia = 0x10de;

/// Base class and sub-class of PCI.
constexpr std::uint32_t class_ethernet = 0x0200;
constexpr std::uint32_t class_infiniband = 0x0207;
constexpr std::uint32_t class_vga = 0x0300;
constexpr std::uint32_t class_3d = 0x0302;
constexpr std::uint32_t class_pci_bridge = 0x0604;
constexpr std::uint32_t class_other_bridge = 0x0680;  ///< as NVSwitches have

inline bool is_network_class(std::uint32_t class_id) { return class_id >> 8 == 0x02; }
inline bool is_gpu_class(std::uint32_t class_id) { return class_id == class_vga || class_id == class_3d; }

/// NVML's version code of the NVLinks that this NVIDIA device has; 0 where the device is not known.
inline int nvlink_version_of_device(std::uint32_t device) {
    switch (device >> 8) {
        case 0x15:
            return 1;  // Pascal
        case 0x1d:     // Volta
        case 0x1e:
            return 2;  // Turing
        case 0x20:     // Ampere
        case 0x22:
            return 5;
        case 0x23:
            return 6;  // Hopper
        case 0x29:     // Blackwell
        case 0x2b:
        case 0x31:
            return 7;
    }
    return 0;
}

}  // namespace baton::topology
