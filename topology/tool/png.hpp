#pragma once

#include <string>

namespace baton::topology {

/// Returns an SVG document as the bytes of a PNG file, at twice its size in pixels; huge ones at less. Throws
/// std::runtime_error, also in a build without librsvg.
std::string make_png(const std::string &svg);

}  // namespace baton::topology
