#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace baton::topology {

constexpr std::uint32_t vendor_nvidia = 0x10de;

/// PCI base class and sub-class.
constexpr std::uint32_t class_ethernet = 0x0200;
constexpr std::uint32_t class_infiniband = 0x0207;
constexpr std::uint32_t class_vga = 0x0300;
constexpr std::uint32_t class_3d = 0x0302;
constexpr std::uint32_t class_pci_bridge = 0x0604;
constexpr std::uint32_t class_other_bridge = 0x0680;  ///< as NVSwitches have
/// Class with the programming interface: the POWER9's end of an NVLink. An NVSwitch has 0x068000.
constexpr std::uint32_t whole_class_npu = 0x068001;

inline bool is_network_class(std::uint32_t class_id) { return class_id >> 8 == 0x02; }
inline bool is_gpu_class(std::uint32_t class_id) { return class_id == class_vga || class_id == class_3d; }

/// NVML's version code for the NVLinks of this NVIDIA device; 0 for an unknown device.
int nvlink_version_of_device(std::uint32_t device);

/// Turing, which has NVLink 2.2 where Volta has 2.0.
inline bool is_turing(std::uint32_t device) { return device >> 8 == 0x1e; }
/// GA102, the one GPU of GA10x with NVLinks.
inline bool is_ga10x(std::uint32_t device) { return device >> 8 == 0x22; }

/// MB/s of a PCIe link, from its lanes and its speed as Linux and NCCL write it: "32.0 GT/s PCIe". Empty for what is no
/// link.
std::optional<int> pcie_link_mbps(std::string_view speed, int lanes);

}  // namespace baton::topology
