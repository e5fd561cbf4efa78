#pragma once

#include <string_view>

#include "topology/tool/svg.hpp"

/// Colors and fonts of the picture, in one place.
namespace baton::topology::style {

inline constexpr std::string_view paper = "#ffffff";
inline constexpr std::string_view ink = "#1f2933";
inline constexpr std::string_view faint_ink = "#616e7c";
inline constexpr std::string_view warning = "#c81e1e";

inline constexpr std::string_view socket_fill = "#f5f7fa", socket_edge = "#9aa5b1";
inline constexpr std::string_view node_fill = "#e4ecf7", node_edge = "#a9bcd6", node_bar = "#3e5c8a",
                                  node_bar_faint = "#d5e0f0";
inline constexpr std::string_view switch_fill = "#dfe5ec", switch_edge = "#7b8794";
inline constexpr std::string_view card_fill = "#ffffff";
inline constexpr std::string_view gpu_bar = "#3f7d20", nic_bar = "#6b4fa0";
inline constexpr std::string_view fabric_fill = "#eaf4e2", fabric_chip = "#3f7d20";

inline constexpr std::string_view pcie_line = "#52749e";
inline constexpr std::string_view socket_line = "#d9822b";
inline constexpr std::string_view slices_line = "#2a9d8f", unknown_line = "#9aa5b1";
inline constexpr std::string_view nvlink_strong = "#3f7d20", nvlink_middle = "#6fa84b", nvlink_weak = "#a3cf85";

inline constexpr svg::Font title{20, ink, svg::Anchor::start, true};
inline constexpr svg::Font subtitle{13, faint_ink, svg::Anchor::start, false};
inline constexpr svg::Font heading{14, ink, svg::Anchor::start, true};
inline constexpr svg::Font body{12, ink, svg::Anchor::start, false};
inline constexpr svg::Font on_bar{12, "#ffffff", svg::Anchor::middle, true};
inline constexpr svg::Font small{11, ink, svg::Anchor::middle, false};
inline constexpr svg::Font small_faint{11, faint_ink, svg::Anchor::middle, false};
inline constexpr svg::Font on_link{11, ink, svg::Anchor::middle, true};

}  // namespace baton::topology::style
