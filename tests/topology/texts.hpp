#pragma once

#include <string>

/// Small machines as files describe them.
namespace baton::topology::texts {

/// Two V100 below one NVSwitch that hwloc sees, a NIC with a name for verbs and one for the network.
inline const std::string hwloc = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x000000ff" nodeset="0x00000003" gp_index="1">
    <info name="hwlocVersion" value="2.9.0"/>
    <object type="Package" os_index="0" cpuset="0x0000000f" nodeset="0x00000001" gp_index="2">
      <info name="CPUModel" value="Some CPU"/>
      <object type="NUMANode" os_index="0" cpuset="0x0000000f" nodeset="0x00000001" gp_index="3" local_memory="4096"/>
      <object type="Core" os_index="0" cpuset="0x00000005" gp_index="4">
        <object type="PU" os_index="0" cpuset="0x00000001" gp_index="5"/>
        <object type="PU" os_index="2" cpuset="0x00000004" gp_index="6"/>
      </object>
      <object type="Bridge" gp_index="10" bridge_type="0-1" depth="0" bridge_pci="0000:[00-0f]">
        <object type="Bridge" gp_index="11" bridge_type="1-1" depth="1" bridge_pci="0000:[01-01]" pci_busid="0000:00:01.0" pci_type="0604 [8086:0001] [0000:0000] 01" pci_link_speed="15.753846">
          <object type="PCIDev" gp_index="12" pci_busid="0000:02:00.0" pci_type="0302 [10de:1db1] [10de:1212] a1" pci_link_speed="15.753846">
            <info name="PCIDevice" value="GV100GL"/>
            <object type="OSDev" gp_index="13" name="nvml0" subtype="NVML" osdev_type="1">
              <info name="NVIDIAUUID" value="GPU-second"/>
              <info name="GPUModel" value="Tesla V100"/>
            </object>
          </object>
        </object>
        <object type="PCIDev" gp_index="14" pci_busid="0000:01:00.0" pci_type="0302 [10de:1db1] [10de:1212] a1" pci_link_speed="0.000000"/>
        <object type="PCIDev" gp_index="15" pci_busid="0000:03:00.1" pci_type="0207 [15b3:101b] [15b3:0001] 00" pci_link_speed="31.507692">
          <object type="OSDev" gp_index="16" name="ib0" osdev_type="2"/>
          <object type="OSDev" gp_index="17" name="mlx5_0" osdev_type="3"/>
        </object>
      </object>
    </object>
    <object type="Package" os_index="1" cpuset="0x000000f0" nodeset="0x00000002" gp_index="30">
      <object type="NUMANode" os_index="1" cpuset="0x000000f0" nodeset="0x00000002" gp_index="31"/>
      <object type="Bridge" gp_index="32" bridge_type="0-1" depth="0" bridge_pci="0000:[80-8f]">
        <object type="PCIDev" gp_index="33" subtype="NVSwitch" pci_busid="0000:81:00.0" pci_type="0000 [0000:0000] [0000:0000] 00" pci_link_speed="1.000000"/>
      </object>
    </object>
  </object>
  <distances2 type="PCIDev" nbobjs="3" kind="9" name="NVLinkBandwidth" indexing="gp">
    <indexes length="9">12 14 33 </indexes>
    <u64values length="20">1000000 0 75000 0 </u64values>
    <u64values length="32">1000000 50000 75000 50000 1000000 </u64values>
  </distances2>
</topology>
)";

/// Two GPUs and a NIC behind one PCIe switch, where NVSwitches are hidden, and a NIC that is no PCI device.
inline const std::string nccl = R"(<system version="1">
  <cpu numaid="0" affinity="00000000,0000000f" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:10:00.0" class="0x060400" vendor="0x1000" device="0xc030" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:11:00.0" class="0x030200" vendor="0x10de" device="0x2335" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="fffffff:ff:ff.0" count="18" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:12:00.0" class="0x030200" vendor="0x10de" device="0x2335" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="1" sm="90" rank="1" gdr="1">
          <nvlink target="fffffff:ff:ff.0" count="17" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:13:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic><net name="mlx5_3" dev="0" speed="400000" port="1"/></nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1" affinity="000000f0" arch="x86_64">
    <nic><net name="virt0" dev="1"/></nic>
  </cpu>
</system>
)";

/// The text with the first `from` replaced by `to`. REQUIRES: `from` is there.
inline std::string changed(std::string text, const std::string &from, const std::string &to) {
    return text.replace(text.find(from), from.size(), to);
}

}  // namespace baton::topology::texts
