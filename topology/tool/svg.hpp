#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Just enough SVG for pictures of machines. The same calls give the same bytes on every machine.
namespace baton::topology::svg {

struct Point {
    double x = 0;
    double y = 0;
};

struct Box {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;

    double right() const { return x + width; }
    double bottom() const { return y + height; }
    double middle() const { return x + width / 2; }
};

enum class Anchor {
    start,
    middle,
    end
};

struct Font {
    double size = 13;
    std::string_view fill = "#1f2933";
    Anchor anchor = Anchor::middle;
    bool bold = false;
};

struct Stroke {
    std::string_view color;
    double width = 1;
    std::string_view dash = {};  ///< as in stroke-dasharray; empty: solid
};

/// About how wide a text becomes. Fonts differ, so what has to fit is given a little more room than this.
double text_width(std::string_view text, const Font &font);

/// The text; where it is wider than `width`, its beginning and an ellipsis.
std::string shortened(const std::string &text, double width, const Font &font);

/// The text, or its beginning, an ellipsis and its end: for names, which often differ in their last characters only.
std::string shortened_in_the_middle(const std::string &text, double width, const Font &font);

/// The text in lines of at most `width`, broken at spaces. A longer word is shortened.
std::vector<std::string> wrapped(const std::string &text, double width, const Font &font);

class Drawing {
public:
    void rect(const Box &box, double radius, std::string_view fill, const Stroke &stroke);
    /// Through the points, with rounded corners.
    void line(const std::vector<Point> &points, const Stroke &stroke);
    void circle(const Point &center, double radius, std::string_view fill);
    /// `at` is on the base line.
    void text(const Point &at, std::string_view words, const Font &font);
    /// A text on a plate of color `plate`, both centered around `at`, so that lines do not run through it.
    void label(const Point &at, std::string_view words, const Font &font, std::string_view plate);
    /// `title` is what a pointing device shows over the shapes until end_group(). Pairs must nest.
    void begin_group(std::string_view title);
    void end_group();

    /// The whole document, drawn on `background`.
    std::string document(double width, double height, std::string_view title, std::string_view background) const;

private:
    std::string body_;
};

}  // namespace baton::topology::svg
