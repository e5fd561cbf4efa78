#!/usr/bin/env bash
# The GPU part of the suite, as docs/gpu_testing.md reports it. Usage: tests/gpu_suite.sh BUILD_DIR [tests|sanitize]
#   tests     every test labelled gpu. On one GPU under MPS, without which each flag between ranks costs milliseconds, and then
#             a short part without it, since users run so too.
#   sanitize  compute-sanitizer memcheck and racecheck over the suite, two ranks; a table of what they report.
# Ends with 2 where it could not begin. What finds no GPU fails (BATON_TEST_NEEDS_GPU), and so does a run without a test.
set -uo pipefail
build=${1:?usage: tests/gpu_suite.sh BUILD_DIR [tests|sanitize]}
what=${2:-tests}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export BATON_TEST_NEEDS_GPU=1
gpus=$(nvidia-smi --list-gpus 2>/dev/null | grep -c '^GPU') || { echo "no GPU here" >&2; exit 2; }
status=0

mps_start() {
    mps=$(mktemp -d)
    mkdir "$mps/pipe" "$mps/log"
    export CUDA_MPS_PIPE_DIRECTORY=$mps/pipe CUDA_MPS_LOG_DIRECTORY=$mps/log
    nvidia-cuda-mps-control -d && return
    echo "tests/gpu_suite.sh: nvidia-cuda-mps-control -d failed, so ranks cannot share the GPU by MPS" >&2
    rm -rf "$mps"
    mps=
    exit 2
}
mps_stop() {
    [ -n "${mps:-}" ] || return 0
    echo quit | nvidia-cuda-mps-control
    unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    rm -rf "$mps"
    mps=
}
trap mps_stop EXIT

# some_tests OPTIONS...: those tests of the build, of which there must be one.
some_tests() { ctest --test-dir "$build" --no-tests=error --output-on-failure "$@" || status=1; }

suite() {
    if [ "$gpus" -gt 1 ]; then
        some_tests -L gpu
        return
    fi
    mps_start
    some_tests -L gpu
    mps_stop
    some_tests -R '^(collectives|p2p|mismatch)\.np2$'
}

# sanitized TOOL PROCESSES NAME COMMAND...: one line of the table: the tool's count of errors, or how the run ended without
# one. Each process must have its report.
sanitized() {
    local tool=$1 processes=$2 name=$3 summary=RACECHECK log sum reports outcome=ok started=$SECONDS
    shift 3
    log=$(mktemp)
    timeout "${SANITIZE_TIMEOUT:-200}" "$@" >"$log" 2>&1 || outcome="status $?"
    [ "$tool" != memcheck ] || summary=ERROR
    sum=$(grep -oE '(ERROR|RACECHECK) SUMMARY: [0-9]+' "$log" | awk '{ sum += $3 } END { print sum + 0 }')
    reports=$(grep -cE "(^|[^A-Z])$summary SUMMARY: [0-9]+ (error|hazard)" "$log")
    [ "$outcome" != ok ] || [ "$reports" -ge "$processes" ] || outcome="of $processes processes"
    printf '%-10s %-28s %5d s  %-24s %s\n' "$tool" "$name" $((SECONDS - started)) "$sum in $reports reports" "$outcome"
    if [ "$outcome" != ok ] || [ "$sum" -ne 0 ]; then
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
    local count=2
    local ranks=(mpirun --oversubscribe --bind-to none -np "$count")
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
        sanitized "$tool" 1 element "${check[@]}" "$build/tests/element/baton_test_element_gpu" \
            --gtest_filter='-*Gibibytes*' --gtest_brief=1
        for binary in "${binaries[@]}"; do
            folder=mpi
            [ "$binary" != contract ] || folder=contract
            sanitized "$tool" "$count" "$binary.np$count" "${ranks[@]}" "${check[@]}" "$build/tests/$folder/$binary" --gtest_brief=1 \
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
