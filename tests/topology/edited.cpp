#include "tests/topology/edited.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>

namespace baton::topology {
namespace {

constexpr std::string_view digits = "0123456789";

class Editor {
public:
    Editor(std::string &text, std::mt19937 &random) : text_(text), random_(random) {}

    void edit() {
        const std::size_t here = below(text_.size()), there = below(text_.size());
        switch (below(6)) {
            case 0:
                return erase_word(word_at(here));
            case 1:
                return replace(word_at(here), std::string(of(word_at(there))));
            case 2:
                return replace(number_at(here), limit());
            case 3:
                return replace_by_neighbour(number_at(here));
            case 4:
                return replace(line_at(here), "");
            case 5:
                text_.insert(line_at(here).begin, std::string(of(line_at(there))));
        }
    }

private:
    struct Part {
        std::size_t begin, end;
    };

    std::size_t below(std::size_t limit) { return random_() % limit; }
    std::string_view of(Part part) const { return std::string_view(text_).substr(part.begin, part.end - part.begin); }
    void replace(Part part, const std::string &by) { text_.replace(part.begin, part.end - part.begin, by); }

    std::size_t or_end(std::size_t found) const { return found == std::string::npos ? text_.size() : found; }
    static std::size_t after(std::size_t found) { return found == std::string::npos ? 0 : found + 1; }

    /// The word at `at`, or else the next one; empty, at the end of the text, if there is none. Numbers, names, PCI
    /// addresses and versions are words.
    Part word_at(std::size_t at) const {
        constexpr std::string_view between = " \t\r\n\"'<>=/,[]{}();";
        const std::size_t inside = or_end(text_.find_first_not_of(between, at));
        const std::size_t begin = inside == 0 ? 0 : after(text_.find_last_of(between, inside - 1));
        return {begin, or_end(text_.find_first_of(between, inside))};
    }

    Part number_at(std::size_t at) const {
        const std::size_t inside = or_end(text_.find_first_of(digits, at));
        const std::size_t begin = inside == 0 ? 0 : after(text_.find_last_not_of(digits, inside - 1));
        return {begin, or_end(text_.find_first_not_of(digits, inside))};
    }

    Part line_at(std::size_t at) const {
        const std::size_t begin = at == 0 ? 0 : after(text_.rfind('\n', at - 1));
        const std::size_t end = text_.find('\n', at);
        return {begin, end == std::string::npos ? text_.size() : end + 1};
    }

    /// Erases the word with the character behind it, so that a list becomes one shorter.
    void erase_word(Part word) { text_.erase(word.begin, word.end - word.begin + 1); }

    /// A number at a limit of an integer type, or just beyond it.
    std::string limit() {
        static constexpr const char *limits[] = {"-1",         "0",          "1",          "255",
                                                 "256",        "65535",      "65536",      "2147483647",
                                                 "2147483648", "4294967295", "4294967296", "18446744073709551615"};
        return limits[below(std::size(limits))];
    }

    void replace_by_neighbour(Part number) {
        std::uint64_t value = 0;
        const std::string_view text = of(number);
        if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return;
        const bool up = value == 0 || below(2) == 0;
        replace(number, std::to_string(up ? value + 1 : value - 1));
    }

    std::string &text_;
    std::mt19937 &random_;
};

}  // namespace

std::string edited(std::string text, std::mt19937 &random) {
    for (std::size_t left = 1 + random() % 4; left > 0 && !text.empty(); --left) Editor(text, random).edit();
    return text;
}

}  // namespace baton::topology
