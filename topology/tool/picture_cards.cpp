#include "topology/tool/picture_cards.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "topology/tool/picture_style.hpp"

namespace baton::topology::picture {
namespace {

using svg::Box;

constexpr double bar_height = 22, line_height = 15, side = 7;
constexpr double narrowest_gpu = 104, narrowest_nic = 88, widest_card = 152;

/// "H200" for "NVIDIA H200", "V100 SXM2 32GB" for "GV100GL [Tesla V100 SXM2 32GB]".
std::string short_model(const std::string &name) {
    std::string model = model_of(name);
    for (const char *brand : {"NVIDIA ", "Tesla ", "GeForce "})
        if (model.starts_with(brand)) model.erase(0, std::string_view(brand).size());
    return model;
}

std::string ranks_of(const Machine &machine, int gpu) {
    std::string text;
    for (std::size_t rank = 0; rank < machine.gpu_of_rank.size(); ++rank)
        if (machine.gpu_of_rank[rank] == gpu) text += fmt::format("{}{}", text.empty() ? "rank " : ", ", rank);
    return text;
}

double width_for(const std::string &name, const std::vector<std::string> &lines) {
    double widest = svg::text_width(name, style::on_bar);
    for (const std::string &line : lines) widest = std::max(widest, svg::text_width(line, style::small));
    return std::min(std::ceil(widest) + 2 * side, widest_card);
}

/// A card with a colored bar and lines of text.
void draw_card(svg::Drawing &drawing, const Box &box, std::string_view color, const std::string &name,
               const std::vector<std::string> &lines) {
    drawing.rect(box, 6, style::card_fill, {color, 1.5});
    drawing.rect({box.x, box.y, box.width, bar_height}, 6, color, {});
    drawing.rect({box.x, box.y + bar_height / 2, box.width, bar_height / 2}, 0, color, {});
    drawing.text({box.middle(), box.y + 15.5}, svg::shortened_in_the_middle(name, box.width - 2 * side, style::on_bar),
                 style::on_bar);
    double y = box.y + bar_height + 16;
    for (const std::string &line : lines) {
        drawing.text({box.middle(), y}, svg::shortened_in_the_middle(line, box.width - 2 * side, style::small),
                     style::small);
        y += line_height;
    }
}

std::string pci_text(const Known<PciAddress> &pci) { return pci.known() ? short_address(pci.value) : "PCI ?"; }

std::vector<std::string> nic_lines(const Nic &nic) {
    return {nic.kind == NicKind::infiniband ? "InfiniBand"
            : nic.kind == NicKind::ethernet ? "Ethernet"
                                            : "network",
            pci_text(nic.pci)};
}

}  // namespace

Cards::Cards(const Machine &machine) : machine_(machine), gpu_width_(narrowest_gpu), nic_width_(narrowest_nic) {
    for (std::size_t index = 0; index < machine.snapshot.gpus.size(); ++index) {
        const int gpu = static_cast<int>(index);
        const std::vector<std::string> lines = gpu_lines(gpu);
        most_lines_ = std::max(most_lines_, lines.size());
        gpu_width_ = std::max(gpu_width_, width_for(gpu_name(gpu), lines));
    }
    for (const Nic &nic : machine.snapshot.nics) nic_width_ = std::max(nic_width_, width_for(nic.name, nic_lines(nic)));
}

double Cards::height(bool several_ports) const {
    return bar_height + line_height * static_cast<double>(std::max<std::size_t>(most_lines_, several_ports ? 3 : 2)) +
           10;
}

std::string Cards::gpu_name(int gpu) const { return fmt::format("{} {}", noun_of(machine_), gpu); }

std::vector<std::string> Cards::gpu_lines(int gpu) const {
    const Gpu &facts = machine_.snapshot.gpus[static_cast<std::size_t>(gpu)];
    if (shows_ranks(machine_)) return {"host memory"};
    std::vector<std::string> lines;
    if (!facts.name.empty()) lines.push_back(short_model(facts.name));
    lines.push_back(pci_text(facts.pci));
    if (facts.mig) lines.emplace_back("MIG slice");
    const auto to_cpu = std::count_if(facts.nvlinks.begin(), facts.nvlinks.end(),
                                      [](const NvLink &link) { return link.active && link.far_end == FarEnd::cpu; });
    if (to_cpu > 0) lines.push_back(fmt::format("NV{} to the CPU", to_cpu));
    if (facts.c2c_links.known()) lines.emplace_back("C2C to the CPU");
    if (const std::string ranks = ranks_of(machine_, gpu); !ranks.empty()) lines.push_back(ranks);
    return lines;
}

void Cards::draw_gpu(svg::Drawing &drawing, int gpu, const svg::Box &box) const {
    const Gpu &facts = machine_.snapshot.gpus[static_cast<std::size_t>(gpu)];
    const std::string name = gpu_name(gpu);
    std::string title = name;
    if (!facts.name.empty()) title += ": " + facts.name;
    if (facts.uuid.known()) title += " " + facts.uuid.value;
    drawing.begin_group(title);
    draw_card(drawing, box, style::gpu_bar, name, gpu_lines(gpu));
    drawing.end_group();
}

void Cards::draw_nic(svg::Drawing &drawing, const std::vector<int> &nics, const svg::Box &box) const {
    const Nic &nic = machine_.snapshot.nics[static_cast<std::size_t>(nics.front())];
    std::vector<std::string> lines = nic_lines(nic), names;
    if (nics.size() > 1) lines.push_back(fmt::format("{} ports", nics.size()));
    for (const int port : nics) names.push_back(machine_.snapshot.nics[static_cast<std::size_t>(port)].name);
    drawing.begin_group(fmt::format("NIC {}", fmt::join(names, ", ")));
    draw_card(drawing, box, style::nic_bar, nic.name, lines);
    drawing.end_group();
}

}  // namespace baton::topology::picture
