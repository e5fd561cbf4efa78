#include <cairo.h>
#include <fmt/format.h>
#include <librsvg/rsvg.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "topology/tool/png.hpp"

namespace baton::topology {
namespace {

constexpr double usual_scale = 2;
constexpr double largest_side = 32000;  // pixels; cairo draws no larger images

template <class T, void (*release)(T *)>
struct Release {
    void operator()(T *object) const { release(object); }
};
using Handle = std::unique_ptr<RsvgHandle, Release<void, g_object_unref>>;
using Surface = std::unique_ptr<cairo_surface_t, Release<cairo_surface_t, cairo_surface_destroy>>;
using Context = std::unique_ptr<cairo_t, Release<cairo_t, cairo_destroy>>;

[[noreturn]] void fail(const char *what, const char *why) {
    throw std::runtime_error(fmt::format("librsvg: {}: {}", what, why));
}

[[noreturn]] void fail(const char *what, GError *error) {
    const std::string why = error != nullptr ? error->message : "no reason given";
    g_clear_error(&error);
    fail(what, why.c_str());
}

cairo_status_t append(void *bytes, const unsigned char *data, unsigned int length) {
    static_cast<std::string *>(bytes)->append(reinterpret_cast<const char *>(data), length);
    return CAIRO_STATUS_SUCCESS;
}

}  // namespace

std::string make_png(const std::string &svg) {
    GError *error = nullptr;
    const Handle handle(rsvg_handle_new_from_data(reinterpret_cast<const guint8 *>(svg.data()), svg.size(), &error));
    if (!handle) fail("reading the picture", error);
    double width = 0, height = 0;
    if (!rsvg_handle_get_intrinsic_size_in_pixels(handle.get(), &width, &height)) fail("its size", "unknown");
    const double scale = std::min(usual_scale, largest_side / std::max({width, height, 1.0}));
    const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width * scale),
                                                     static_cast<int>(height * scale)));
    const Context context(cairo_create(surface.get()));
    cairo_scale(context.get(), scale, scale);
    const RsvgRectangle all{0, 0, width, height};
    if (!rsvg_handle_render_document(handle.get(), context.get(), &all, &error)) fail("drawing", error);
    std::string bytes;
    const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), append, &bytes);
    if (status != CAIRO_STATUS_SUCCESS) fail("writing", cairo_status_to_string(status));
    return bytes;
}

}  // namespace baton::topology
