#include "topology/tool/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "topology/printable.hpp"

namespace baton::topology::svg {
namespace {

constexpr double corner = 7;

/// In tenths, without a trailing ".0": this is short, and hides rounding that differs between machines.
std::string number(double value) {
    const double tenths = std::round(value * 10);
    const auto whole = static_cast<long>(tenths / 10);
    const auto rest = static_cast<long>(std::abs(tenths)) % 10;
    if (rest == 0) return fmt::format("{}", whole);
    return fmt::format("{}{}.{}", tenths < 0 && whole == 0 ? "-" : "", whole, rest);
}

/// Control characters are not allowed in XML at all, escaped or not.
std::string escaped(std::string_view text) {
    std::string result;
    for (const char character : printable(text)) {
        switch (character) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += character;
        }
    }
    return result;
}

std::string stroke_text(const Stroke &stroke) {
    if (stroke.color.empty()) return {};
    std::string text = fmt::format(R"( stroke="{}" stroke-width="{}")", stroke.color, number(stroke.width));
    if (!stroke.dash.empty()) text += fmt::format(R"( stroke-dasharray="{}")", stroke.dash);
    return text;
}

bool begins_a_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_a_character));
}

/// The first `count` characters; all if there are fewer.
std::string_view first_characters(std::string_view text, std::size_t count) {
    std::size_t end = 0;
    for (std::size_t seen = 0; end < text.size(); ++end) {
        if (begins_a_character(text[end]) && seen++ == count) break;
    }
    return text.substr(0, end);
}

std::string_view last_characters(std::string_view text, std::size_t count) {
    const std::size_t all = characters(text);
    return text.substr(first_characters(text, all - std::min(all, count)).size());
}

double distance(const Point &a, const Point &b) { return std::hypot(a.x - b.x, a.y - b.y); }

/// The point `length` from `from` on the way to `to`.
Point towards(const Point &from, const Point &to, double length) {
    const double all = distance(from, to);
    if (all == 0) return from;
    return {from.x + (to.x - from.x) * length / all, from.y + (to.y - from.y) * length / all};
}

/// How many characters fit beside an ellipsis.
std::size_t characters_beside_ellipsis(double width, const Font &font) {
    constexpr double rounding = 1e-9;
    return static_cast<std::size_t>(std::max(0.0, width / text_width("…", font) - 1 + rounding));
}

}  // namespace

double text_width(std::string_view text, const Font &font) {
    return static_cast<double>(characters(text)) * font.size * (font.bold ? 0.66 : 0.6);
}

std::string shortened(const std::string &text, double width, const Font &font) {
    if (text_width(text, font) <= width) return text;
    std::string result(first_characters(text, characters_beside_ellipsis(width, font)));
    while (!result.empty() && result.back() == ' ') result.pop_back();
    return result + "…";
}

std::string shortened_in_the_middle(const std::string &text, double width, const Font &font) {
    if (text_width(text, font) <= width) return text;
    const std::size_t fit = characters_beside_ellipsis(width, font);
    return fmt::format("{}…{}", first_characters(text, (fit + 1) / 2), last_characters(text, fit / 2));
}

std::vector<std::string> wrapped(const std::string &text, double width, const Font &font) {
    std::vector<std::string> lines;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (lines.empty() || text_width(lines.back() + " " + word, font) > width) {
            lines.push_back(shortened(word, width, font));
        } else {
            lines.back() += " " + word;
        }
    }
    return lines;
}

void Drawing::rect(const Box &box, double radius, std::string_view fill, const Stroke &stroke) {
    body_ +=
        fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" rx="{}" fill="{}"{}/>)", number(box.x), number(box.y),
                    number(box.width), number(box.height), number(radius), fill, stroke_text(stroke)) +
        "\n";
}

void Drawing::line(const std::vector<Point> &points, const Stroke &stroke) {
    if (points.size() < 2) return;
    std::string path = fmt::format("M{} {}", number(points[0].x), number(points[0].y));
    for (std::size_t index = 1; index + 1 < points.size(); ++index) {
        const Point &before = points[index - 1], &here = points[index], &after = points[index + 1];
        const double radius = std::min({corner, distance(before, here) / 2, distance(here, after) / 2});
        const Point in = towards(here, before, radius), out = towards(here, after, radius);
        path += fmt::format("L{} {}Q{} {} {} {}", number(in.x), number(in.y), number(here.x), number(here.y),
                            number(out.x), number(out.y));
    }
    path += fmt::format("L{} {}", number(points.back().x), number(points.back().y));
    body_ += fmt::format(R"(<path d="{}" fill="none"{}/>)", path, stroke_text(stroke)) + "\n";
}

void Drawing::circle(const Point &center, double radius, std::string_view fill) {
    body_ += fmt::format(R"(<circle cx="{}" cy="{}" r="{}" fill="{}"/>)", number(center.x), number(center.y),
                         number(radius), fill) +
             "\n";
}

void Drawing::text(const Point &at, std::string_view words, const Font &font) {
    constexpr std::string_view anchors[] = {"start", "middle", "end"};
    body_ += fmt::format(R"(<text x="{}" y="{}" font-size="{}" fill="{}" text-anchor="{}"{}>{}</text>)", number(at.x),
                         number(at.y), number(font.size), font.fill, anchors[static_cast<int>(font.anchor)],
                         font.bold ? R"( font-weight="bold")" : "", escaped(words)) +
             "\n";
}

void Drawing::label(const Point &at, std::string_view words, const Font &font, std::string_view plate) {
    const double width = text_width(words, font) + 8;
    rect({at.x - width / 2, at.y - font.size * 0.7, width, font.size * 1.4}, font.size * 0.4, plate, {});
    Font centered = font;
    centered.anchor = Anchor::middle;
    text({at.x, at.y + font.size * 0.36}, words, centered);
}

void Drawing::begin_group(std::string_view title) { body_ += fmt::format("<g><title>{}</title>\n", escaped(title)); }
void Drawing::end_group() { body_ += "</g>\n"; }

std::string Drawing::document(double width, double height, std::string_view title, std::string_view background) const {
    return fmt::format(
               R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" font-family="DejaVu Sans, Verdana, Arial, sans-serif">)",
               number(width), number(height)) +
           fmt::format("\n<title>{}</title>\n<rect width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", escaped(title),
                       number(width), number(height), background) +
           body_ + "</svg>\n";
}

}  // namespace baton::topology::svg
