#include "topology/tool/picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/links.hpp"
#include "topology/tool/picture_channel.hpp"
#include "topology/tool/picture_panels.hpp"
#include "topology/tool/picture_row.hpp"
#include "topology/tool/picture_style.hpp"
#include "topology/tool/view.hpp"

namespace baton::topology {
namespace {

using picture::Channel;
using picture::Row;

constexpr double border = 28, title_height = 74, panel_gap = 36;
constexpr double wide_row = 1000;
constexpr double note_height = 19;
constexpr double detour = 22;  // of the line between the processors of two rows, left of them

std::size_t gpus_below(const std::vector<Branch> &branches) {
    std::size_t count = 0;
    for (const Branch &branch : branches) count += branch.gpus.size() + gpus_below(branch.children);
    return count;
}

std::size_t gpus_of(const SocketView &socket) {
    std::size_t count = 0;
    for (const NodeView &node : socket.nodes) count += gpus_below(node.branches);
    return count;
}

/// Sockets where they are known, else each NUMA node by itself. NVSwitches are drawn between GPUs, not here.
std::vector<SocketView> columns_of(const Snapshot &snapshot) {
    std::vector<SocketView> columns;
    for (SocketView &socket : view_of(snapshot)) {
        if (socket.index >= 0) {
            columns.push_back(std::move(socket));
            continue;
        }
        for (NodeView &node : socket.nodes)
            if (node.os_index >= 0 || !without_switches(node.branches).empty())
                columns.push_back({-1, {std::move(node)}});
    }
    return columns;
}

bool any_nvlink(const Graph &graph) {
    return std::any_of(graph.pairs.begin(), graph.pairs.end(),
                       [](const Pair &pair) { return has_nvlinks(pair.kind.value); });
}

/// A wide machine with NVLinks lies in two rows with the cards towards each other, and the NVLinks in between;
/// everything else is one row.
std::vector<Row> rows_for(const Machine &machine) {
    const std::vector<SocketView> columns = columns_of(machine.snapshot);
    std::size_t all = 0, half = 0, upper = 0;
    for (const SocketView &column : columns) all += gpus_of(column);
    while (upper < columns.size() && 2 * (half + gpus_of(columns[upper])) <= all) half += gpus_of(columns[upper++]);
    std::vector<Row> rows;
    rows.emplace_back(machine, columns, false);
    if (rows[0].width() < wide_row || half == 0 || !any_nvlink(machine.graph)) return rows;
    rows.clear();
    const auto middle = columns.begin() + static_cast<std::ptrdiff_t>(upper);
    rows.emplace_back(machine, std::vector<SocketView>(columns.begin(), middle), false);
    rows.emplace_back(machine, std::vector<SocketView>(middle, columns.end()), true);
    return rows;
}

/// Whether draw_processor_links() has something to draw.
bool any_processor_links(const std::vector<Row> &rows) {
    std::size_t processors = 0;
    for (const Row &row : rows) processors += row.processors().size();
    return processors > 1;
}

void draw_processor_links(svg::Drawing &drawing, const std::vector<Row> &rows) {
    const svg::Stroke stroke{style::socket_line, 5};
    for (const Row &row : rows)
        for (std::size_t index = 1; index < row.processors().size(); ++index) {
            const auto &left = row.processors()[index - 1], &right = row.processors()[index];
            drawing.line({{left.right(), left.y}, {right.x, right.y}}, stroke);
        }
    if (rows.size() < 2 || rows[0].processors().empty() || rows[1].processors().empty()) return;
    const auto &upper = rows[0].processors().front(), &lower = rows[1].processors().front();
    const double x = std::min(upper.x, lower.x) - detour;
    drawing.line({{upper.x, upper.y}, {x, upper.y}, {x, lower.y}, {lower.x, lower.y}}, stroke);
}

std::string title_of(const Machine &machine) {
    return gpus_text(machine.snapshot) + (machine.origin.empty() ? "" : " (" + machine.origin + ")");
}

void draw_title(svg::Drawing &drawing, const Machine &machine, double width) {
    drawing.text({border, border + 18}, svg::shortened(gpus_text(machine.snapshot), width, style::title), style::title);
    std::string second = host_text(machine.snapshot);
    if (machine.snapshot.driver.known()) second += "; driver " + machine.snapshot.driver.value;
    drawing.text({border, border + 40}, svg::shortened(second, width, style::subtitle), style::subtitle);
}

std::vector<std::string> notes_of(const Machine &machine) {
    std::vector<std::string> notes;
    if (machine.graph.gpus > 1)
        notes.push_back((shows_ranks(machine) ? "With these ranks: " : "With a rank on each GPU: ") + machine.gpus.why);
    for (const std::string &gap : machine.snapshot.gaps) notes.push_back("note: " + gap);
    return notes;
}

double width_of(const picture::Columns &columns) {
    double width = 0;
    for (const auto &column : columns) {
        double widest = 0;
        for (const auto &panel : column) widest = std::max(widest, panel->width());
        width += (width > 0 && widest > 0 ? panel_gap : 0) + widest;
    }
    return width;
}

/// Side by side if that is no wider than `width`, else with the last two panels one below the other.
picture::Columns arranged(std::vector<std::unique_ptr<picture::Panel>> panels, double width) {
    picture::Columns columns;
    for (auto &panel : panels) columns.emplace_back().push_back(std::move(panel));
    if (columns.size() > 1 && width_of(columns) > width) {
        columns[columns.size() - 2].push_back(std::move(columns.back().front()));
        columns.pop_back();
    }
    return columns;
}

/// Returns the lower edge.
double draw_panels(svg::Drawing &drawing, const picture::Columns &columns, double top) {
    double x = border, bottom = top;
    for (const auto &column : columns) {
        double y = top, widest = 0;
        for (const auto &panel : column) {
            panel->draw(drawing, {x, y});
            widest = std::max(widest, panel->width());
            y += panel->height();
            bottom = std::max(bottom, y);
            y += panel_gap / 2;
        }
        x += widest + panel_gap;
    }
    return bottom;
}

}  // namespace

std::string draw_picture(const Machine &machine) {
    std::vector<Row> rows = rows_for(machine);
    const double left = border + (rows.size() > 1 ? detour + 6 : 0);
    double width = std::clamp(svg::text_width(gpus_text(machine.snapshot), style::title), 640.0, 1000.0);
    for (const Row &row : rows) width = std::max(width, left - border + row.width());
    for (Row &row : rows) row.place(0, 0);
    const picture::Columns panels = arranged(picture::panels_for(machine, any_processor_links(rows)), width);
    width = std::max(width, width_of(panels));

    // Places horizontally first, since the height of the channel follows from that.
    const auto center = [&](const Row &row) { return left + (width - (left - border) - row.width()) / 2; };
    for (Row &row : rows) row.place(center(row), 0);
    const Channel channel(machine, rows);
    double y = border + title_height;
    rows[0].place(center(rows[0]), y);
    const double channel_top = y + rows[0].height();
    y = channel_top + channel.height();
    if (rows.size() > 1) {
        rows[1].place(center(rows[1]), y);
        y += rows[1].height();
    }

    svg::Drawing drawing;
    draw_title(drawing, machine, width);
    for (const Row &row : rows) row.draw(drawing);
    draw_processor_links(drawing, rows);
    channel.draw(drawing, channel_top);
    y = draw_panels(drawing, panels, y + panel_gap);
    y += panel_gap / 2;
    for (const std::string &note : notes_of(machine))
        for (const std::string &line : svg::wrapped(note, width, style::body)) {
            y += note_height;
            drawing.text({border, y}, line, style::body);
        }
    return drawing.document(width + 2 * border, y + border, title_of(machine), style::paper);
}

}  // namespace baton::topology
