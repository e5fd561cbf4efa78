// A C++ project without C, on the installed headers alone: both compile, and the library that is loaded is theirs.
#include <baton/baton.h>
#include <baton/baton.hpp>

#include <cstdio>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    constexpr int expected = BATON_VERSION_MAJOR * 10000 + BATON_VERSION_MINOR * 100 + BATON_VERSION_PATCH;
    const int found = baton_version();
    if (found != expected) std::fprintf(stderr, "the header is %d, the library %d\n", expected, found);
    MPI_Finalize();
    return found == expected ? 0 : 1;
}
