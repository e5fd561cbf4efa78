#!/usr/bin/env bash
# install_test.sh STEP SCRATCH [ARGS]: one step of the install test; CMakeLists.txt names them. The scratch folder has a
# space in its name, as users' folders do. In the environment: MPIRUN (tests/cmake/mpirun.sh), MPIEXEC, CMAKE.
set -euo pipefail

step=$1
scratch="$2/a user"
tree="$scratch/moved tree"
readme_files="$scratch/from readme"
shift 2

fail() { printf 'install test: %s\n' "$*" >&2; exit 1; }

# The README marks its files with <!-- file: NAME --> above a code block; writes each of them to $readme_files.
extract_readme_files() {
    awk -v folder="$readme_files/" '
        /^<!-- file: .* -->$/ { name = $3; next }
        /^```/ && name { if (open) { close(folder name); open = 0; name = "" } else open = 1; next }
        open { print > (folder name) }' "$1"
    local file
    for file in ranks_sum.c CMakeLists.txt build_with_cmake.sh build_with_pkg_config.sh; do
        [ -s "$readme_files/$file" ] || fail "README.md has no code block marked <!-- file: $file -->"
    done
}

library_dir() { dirname "$(find "$tree" -name libbaton.so)"; }

# consumer NAME SOURCE: a fresh copy of SOURCE to build in, which becomes the working directory.
consumer() {
    rm -rf "${scratch:?}/$1"
    cp -r "$2" "$scratch/$1"
    cd "$scratch/$1"
}

# The README shows what its program prints; ranks may print in any order.
check_program() {
    LD_LIBRARY_PATH="$(library_dir)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$MPIRUN" 2 60 "$@" >output
    sort output | diff -u "$readme_files/output.txt" - || fail "the program printed this instead of what README.md shows"
}

case "$step" in
    tree)
        build_tree=$1 source_tree=$2
        rm -rf "$scratch"
        mkdir -p "$readme_files"
        "$CMAKE" --install "$build_tree" --prefix "$scratch/first prefix" >/dev/null
        mv "$scratch/first prefix" "$tree"
        for file in include/baton/baton.h include/baton/baton.hpp; do
            [ -f "$tree/$file" ] || fail "$file is not installed"
        done
        [ -f "$source_tree/README.md" ] || fail "there is no README.md"
        extract_readme_files "$source_tree/README.md"
        ;;
    unbuilt)
        "$CMAKE" -G Ninja -DBATON_CUDA=OFF -DBATON_BUILD_TESTS=OFF -DCMAKE_INSTALL_LIBDIR=/opt/baton-lib \
            -DCMAKE_INSTALL_INCLUDEDIR=/opt/baton-include -S "$1" -B "$scratch/unbuilt" >/dev/null
        ! output=$("$CMAKE" --install "$scratch/unbuilt" --prefix "$scratch/nothing" 2>&1) || fail "it says nothing: $output"
        grep -qF "cmake --build '$scratch/unbuilt' --target baton_installed" <<<"$output" || fail "it does not say what to do: $output"
        [ ! -e "$scratch/nothing" ] || fail "a part was installed: $(find "$scratch/nothing" -type f)"
        # Folders apart from the prefix, as some distributions want them.
        for folder in libdir=/opt/baton-lib includedir=/opt/baton-include; do
            named=$(PKG_CONFIG_PATH="$scratch/unbuilt" pkg-config --variable="${folder%=*}" \
                --define-variable=pcfiledir=/opt/baton-lib/pkgconfig baton)
            [ "$(realpath -m -- "$named")" = "${folder#*=}" ] || fail "baton.pc has the $folder as $named"
        done
        ;;
    subproject)
        # Configured only: what a program gets of the target, and what the outer project keeps.
        mkdir -p "$scratch/outer"
        cat >"$scratch/outer/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.25)
project(Outer LANGUAGES CXX)
add_subdirectory("$1" baton)
file(GENERATE OUTPUT definitions.txt CONTENT "\$<TARGET_PROPERTY:Baton::baton,INTERFACE_COMPILE_DEFINITIONS>")
message(STATUS "outer build type '\${CMAKE_BUILD_TYPE}'")
EOF
        output=$("$CMAKE" -G Ninja -DBATON_CUDA=OFF -DBATON_INSTALL=ON -S "$scratch/outer" -B "$scratch/outer/build")
        grep -qF "outer build type ''" <<<"$output" || fail "the outer project's build type was set: $output"
        ! grep -q '^CMAKE_BUILD_TYPE:STRING=Release' "$scratch/outer/build/CMakeCache.txt" || fail "and kept"
        grep -q OMPI_SKIP_MPICXX "$scratch/outer/build/definitions.txt" ||
            fail "C++ programs get Open MPI's C++ bindings, and do not link"
        # Rules that are for Release alone install nothing where the outer project has no type.
        rules=$scratch/outer/build/baton/cmake_install.cmake
        grep -qF BatonTargets-noconfig.cmake "$rules" || fail "the package has no target without a build type"
        grep -qF "cmake --build '$scratch/outer/build' --target baton_installed" "$rules" || fail "it says to build what is no build tree"
        # The link line that CXXFLAGS lead to, without what is linked: GCC would flush subnormal numbers in all of the program.
        CXXFLAGS=-Ofast "$CMAKE" -G Ninja -DBATON_CUDA=OFF -S "$scratch/outer" -B "$scratch/outer/fast" >/dev/null
        linked=$(ninja -C "$scratch/outer/fast" -t commands baton | grep -e ' -shared ')
        read -ra flags <<<"$(grep -oE ' -[Of][^ ]*' <<<"$linked" | tr -d '\n')"
        grep -qF -e -Ofast <<<"${flags[*]}" || fail "CXXFLAGS are not among ${flags[*]}"
        linked=$(c++ "${flags[@]}" -shared -x c++ /dev/null -o "$scratch/fast.so" '-###' 2>&1)
        ! grep -F crtfastmath <<<"$linked" || fail "it flushes subnormal numbers with ${flags[*]}"
        grep -qE 'doc/Baton"' "$rules" || fail "the licence goes where the outer project's may go"
        # nvcc's own choice of architectures, with which CUDA is enabled outside, has some that the kernels do not know.
        nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
        [ -x "$nvcc" ] || exit 0
        mkdir -p "$scratch/outer with CUDA"
        sed 's/LANGUAGES CXX/& CUDA/' "$scratch/outer/CMakeLists.txt" >"$scratch/outer with CUDA/CMakeLists.txt"
        output=$(CUDACXX=$nvcc CUDAFLAGS=-use_fast_math "$CMAKE" -G Ninja -S "$scratch/outer with CUDA" \
            -B "$scratch/outer with CUDA/build" 2>&1) || fail "an outer project with CUDA cannot have it: $output"
        grep -qE "GPU transports on|older than" <<<"$output" || fail "an outer project with CUDA has no GPU transports: $output"
        ! grep -qF "GPU transports on" <<<"$output" || grep -qE 'use_fast_math.*--ftz=false' "$scratch/outer with CUDA/build/build.ninja" ||
            fail "kernels flush subnormal numbers where the outer project's do"
        ;;
    symbols)
        library=$(library_dir)/libbaton.so
        exported=$(nm -D --defined-only "$library" | awk '$2 != "A" {print $3}' | sed 's/@.*//')
        grep -qx baton_allreduce <<<"$exported" || fail "baton_allreduce is not exported"
        foreign=$(grep -v '^baton_' <<<"$exported" || true)
        [ -z "$foreign" ] || fail "exported beside baton_*: $foreign"
        # Every function that the header declares is there, and nothing that it does not declare.
        diff -u <(grep -oE '^BATON_API .*' "$tree/include/baton/baton.h" | grep -oE 'baton_[a-z_0-9]+\(' | tr -d '(' | sort) \
            <(sort <<<"$exported") || fail "the header and the library differ (- header, + library)"
        soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
        [[ "$soname" == libbaton.so.* ]] || fail "soname is '$soname'"
        [ -e "$(library_dir)/$soname" ] || fail "the soname $soname is not a file of the tree"
        # The driver and NVML are looked up at run time, and the CUDA runtime is inside, so it loads where there is no CUDA.
        needed=$(readelf -d "$library" | grep NEEDED | grep -E 'libcuda|libnvidia' || true)
        [ -z "$needed" ] || fail "libbaton.so does not load without CUDA: $needed"
        ;;
    relocatable)
        for folder in "$@" "$scratch/first prefix"; do
            found=$(grep -rIlF -- "$folder" "$tree" || true)
            [ -z "$found" ] || fail "these installed files name $folder: $found"
        done
        runpath=$(readelf -d "$(library_dir)/libbaton.so" | grep -E 'RPATH|RUNPATH' || true)
        [[ "$runpath" != *"$1"* ]] || fail "libbaton.so looks for libraries in the build tree: $runpath"
        for program in "$tree"/bin/*; do
            [ -x "$program" ] || continue
            libraries=$(ldd "$program") || continue
            grep -qF "libbaton.so" <<<"$libraries" || continue
            grep -F libbaton.so <<<"$libraries" | grep -F "$tree/" >/dev/null || fail "$program does not find the tree's libbaton.so"
        done
        ;;
    cmake_consumer)
        consumer "$step" "$readme_files"
        CMAKE_PREFIX_PATH="$tree" bash -euxo pipefail build_with_cmake.sh
        check_program build/ranks_sum
        ;;
    cxx_only_consumer)
        consumer "$step" "$1"
        "$CMAKE" -S . -B build -DCMAKE_PREFIX_PATH="$tree"
        "$CMAKE" --build build
        "$MPIRUN" 2 60 build/cxx_only
        ;;
    pkg_config_consumer)
        consumer "$step" "$readme_files"
        # $(pkg-config ...) in a shell cannot carry a space in a path, so the tree gets a name without one.
        plain=$(mktemp -d /tmp/baton-install.XXXXXX)
        trap 'rm -rf -- "$plain"' EXIT
        ln -s "$tree" "$plain/tree"
        libdir=$(library_dir)
        PKG_CONFIG_PATH="$plain/tree${libdir#"$tree"}/pkgconfig" bash -euxo pipefail build_with_pkg_config.sh
        check_program ./ranks_sum
        ;;
    *) fail "unknown step $step" ;;
esac
