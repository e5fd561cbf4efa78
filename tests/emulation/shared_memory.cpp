#include "emulation/shared_memory.hpp"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace baton::emulation {
namespace {

struct Variable {
    std::size_t offset;  // in the memory that the program has for each thread
    std::size_t bytes;
};

/// Thread-local variables in functions of Baton, found by their names: kernels' __shared__ ones (cuda.hpp), and some of
/// the host's code, none of which runs on a block's thread. No macro in front of a declaration learns what it declares,
/// but the linker has it.
std::vector<Variable> shared_variables() {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    const std::string program(std::istreambuf_iterator<char>(file), {});
    const auto at = [&]<class T>(T &item, std::size_t offset) { std::memcpy(&item, &program.at(offset), sizeof(T)); };
    ElfW(Ehdr) header;
    at(header, 0);
    std::vector<Variable> found;
    for (int section = 0; section < header.e_shnum; ++section) {
        ElfW(Shdr) symbols, names;
        at(symbols, header.e_shoff + static_cast<std::size_t>(section) * sizeof(symbols));
        if (symbols.sh_type != SHT_SYMTAB) continue;
        at(names, header.e_shoff + symbols.sh_link * sizeof(names));
        for (std::size_t place = 0; place < symbols.sh_size; place += sizeof(ElfW(Sym))) {
            ElfW(Sym) symbol;
            at(symbol, symbols.sh_offset + place);
            const std::string_view name = &program.at(names.sh_offset + symbol.st_name);
            const bool is_ours = name.starts_with("_ZZ") && name.find("5baton") != std::string_view::npos;
            if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS && is_ours) found.push_back({symbol.st_value, symbol.st_size});
        }
    }
    if (found.empty()) {
        std::fprintf(stderr, "the program has no symbols of __shared__ variables: has it been stripped?\n");
        std::abort();
    }
    return found;
}

/// The first one that the system lists is the program.
int find_program(dl_phdr_info *info, std::size_t /*bytes*/, void *found) {
    *static_cast<void **>(found) = info->dlpi_tls_data;
    return 1;
}

}  // namespace

void spoil_shared_memory() {
    static const std::vector<Variable> variables = shared_variables();
    void *memory = nullptr;
    dl_iterate_phdr(find_program, &memory);
    if (memory == nullptr) std::abort();  // the C library does not say where a thread's variables are
    for (const Variable &variable : variables)
        std::memset(static_cast<std::byte *>(memory) + variable.offset, 0xA5, variable.bytes);
}

}  // namespace baton::emulation
