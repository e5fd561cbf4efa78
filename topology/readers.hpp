#pragma once

#include <string>
#include <string_view>

#include "topology/snapshot.hpp"

/// Descriptions of machines, from files.
/// - All refuse what they cannot read with a core::Failure (BATON_ERR_ARGUMENT) that names `origin`, the line or the
///   field, and the reason.
/// - What a description leaves out becomes a line in Snapshot::gaps.
/// - No input makes them crash, hang, or use memory beyond a small multiple of its size.
namespace baton::topology {

/// hwloc's format, as `lstopo file.xml` writes it: versions 1, 2 and 3. NVLinks come from the NVLinkBandwidth matrix,
/// if there is one. `source` marks the values. A file written by to_hwloc_xml() gives back the original snapshot,
/// unless somebody has changed its objects.
Snapshot read_hwloc_xml(std::string_view text, const std::string &origin, Source source = Source::hwloc_xml);

/// NCCL's format: what NCCL_TOPO_DUMP_FILE writes, and what clouds ship for NCCL_TOPO_FILE.
Snapshot read_nccl_xml(std::string_view text, const std::string &origin);

/// Finds out which of these formats the text has, or whether it is a snapshot in JSON (snapshot_json.hpp), and reads
/// it.
Snapshot read_machine(std::string_view text, const std::string &origin);
Snapshot read_machine_file(const std::string &path);

/// The contents of a regular file or pipe; refused above this size.
constexpr std::size_t largest_file = std::size_t{16} << 20;
std::string read_text_file(const std::string &path);

}  // namespace baton::topology
