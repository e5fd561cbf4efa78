#pragma once

#include <string>

namespace baton::topology {

/// An SVG document as a PNG file's bytes, at twice its size in pixels, huge ones at less. Throws std::runtime_error,
/// also where librsvg was not there when Baton was built.
std::string make_png(const std::string &svg);

}  // namespace baton::topology
