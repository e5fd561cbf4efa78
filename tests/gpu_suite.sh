#!/usr/bin/env bash
# The GPU part of the suite, as docs/gpu_testing.md reports it. Usage: tests/gpu_suite.sh BUILD_DIR [tests|sanitize]
#   tests     every test labelled gpu. On one GPU under MPS, without which each flag between ranks costs milliseconds, and then
#             a short part without it, since users run so too.
#   sanitize  compute-sanitizer memcheck and racecheck over the suite, two ranks; a table of what they report.
set -uo pipefail
build=${1:?usage: tests/gpu_suite.sh BUILD_DIR [tests|sanitize]}
what=${2:-tests}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
gpus=$(nvidia-smi --list-gpus 2>/dev/null | grep -c '^GPU') || { echo "no GPU here" >&2; exit 2; }
status=0

mps_start() {
    mps=$(mktemp -d)
    mkdir "$mps/pipe" "$mps/log"
    export CUDA_MPS_PIPE_DIRECTORY=$mps/pipe CUDA_MPS_LOG_DIRECTORY=$mps/log
    nvidia-cuda-mps-control -d
}
mps_stop() {
    [ -n "${mps:-}" ] || return 0
    echo quit | nvidia-cuda-mps-control
    unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    rm -rf "$mps"
    mps=
}
trap mps_stop EXIT

suite() {
    if [ "$gpus" -gt 1 ]; then
        ctest --test-dir "$build" -L gpu --output-on-failure || status=1
        return
    fi
    mps_start
    ctest --test-dir "$build" -L gpu --output-on-failure || status=1
    mps_stop
    ctest --test-dir "$build" -R '^(collectives|p2p|mismatch)\.np2$' --output-on-failure || status=1
}

# sanitized TOOL NAME COMMAND...: one line of the table: the tool's count of errors, or how the run ended without one.
sanitized() {
    local tool=$1 name=$2 log errors outcome=ok started=$SECONDS
    shift 2
    log=$(mktemp)
    timeout "${SANITIZE_TIMEOUT:-200}" "$@" >"$log" 2>&1 || outcome="status $?"
    errors=$(grep -ohE '(ERROR SUMMARY: [0-9]+ error|RACECHECK SUMMARY: [0-9]+ hazard)' "$log" |
        grep -oE '[0-9]+' | awk '{ sum += $1; ++lines } END { if (lines) print sum " in " lines " reports"; else print "no report" }')
    printf '%-10s %-28s %5d s  %-24s %s\n' "$tool" "$name" $((SECONDS - started)) "$errors" "$outcome"
    if [ "$outcome" != ok ] || ! [[ $errors =~ ^0\ in ]]; then
        status=1
        grep -E '=========|FAILED|Failure' "$log" | head -n "${SANITIZE_LINES:-20}"
    fi
    rm -f "$log"
}

# Under MPS: time slices would add milliseconds to each flag between the ranks. Failing CUDA calls are not errors here: the
# tests provoke them, and Baton asks the driver about pointers that may be anything. memcheck knows the mappings that there
# were when a kernel started, so the tests' buffers lie in memory mapped before (tests/support/arena.hpp), and gpu_memory,
# whose subject is other memory, and a test whose output is staged are left to racecheck.
sanitize() {
    export BATON_TIMEOUT=60 BATON_TEST_QUICK=1 BATON_TEST_ARENA=1
    local tool binary folder skipped
    local ranks=(mpirun --oversubscribe --bind-to none -np 2)
    local binaries=(collectives p2p windows random_programs cuda_graphs streams communicators mismatch links zero_sm_waits
        timeouts contract)
    [ "$gpus" -gt 1 ] || mps_start
    for tool in memcheck racecheck; do
        local check=(compute-sanitizer --tool "$tool" --error-exitcode 9)
        skipped='*FourGiB*'
        if [ "$tool" = memcheck ]; then
            check+=(--report-api-errors no)
            skipped+=':*ACaptureThatEndsAtAnyTime*'
        else
            binaries+=(gpu_memory)
        fi
        sanitized "$tool" element "${check[@]}" "$build/tests/element/baton_test_element_gpu" \
            --gtest_filter='-*Gibibytes*' --gtest_brief=1
        for binary in "${binaries[@]}"; do
            folder=mpi
            [ "$binary" != contract ] || folder=contract
            sanitized "$tool" "$binary.np2" "${ranks[@]}" "${check[@]}" "$build/tests/$folder/$binary" --gtest_brief=1 \
                --gtest_filter="-$skipped"
        done
    done
    mps_stop
}

case $what in
    tests) suite ;;
    sanitize) sanitize ;;
    *) echo "tests/gpu_suite.sh: unknown part $what" >&2; exit 2 ;;
esac
exit $status
