#!/usr/bin/env bash
# The GPU part of the suite, as docs/gpu_testing.md reports it. Usage: tests/gpu_suite.sh BUILD_DIR [tests|sanitize]
#   tests     every test labelled gpu. On one GPU under MPS, without which each flag between ranks costs milliseconds, and then
#             a short part without it, since users run so too.
#   sanitize  compute-sanitizer memcheck and racecheck over kernels and collectives, two ranks on the GPU.
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
    if [ "$gpus" -eq 1 ]; then mps_start; fi
    ctest --test-dir "$build" -L gpu --output-on-failure || status=1
    mps_stop
    [ "$gpus" -gt 1 ] || ctest --test-dir "$build" -R '^(collectives|p2p|mismatch)\.np2$' --output-on-failure || status=1
}

sanitize() {
    # A kernel that waits for another rank may run for seconds under the tools.
    export BATON_TIMEOUT=240 BATON_TEST_QUICK=1
    local tool
    for tool in memcheck racecheck; do
        echo "==== $tool"
        compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/tests/element/baton_test_element_gpu" \
            --gtest_filter='-*Gibibytes*' --gtest_brief=1 || status=1
        mpirun --oversubscribe --bind-to none -np 2 compute-sanitizer --tool "$tool" --error-exitcode 9 \
            "$build/tests/mpi/collectives" --gtest_brief=1 --gtest_filter='*SizesAroundTheLimits*:*InPlace*' || status=1
        mpirun --oversubscribe --bind-to none -np 2 compute-sanitizer --tool "$tool" --error-exitcode 9 \
            "$build/tests/mpi/p2p" --gtest_brief=1 --gtest_filter='*Ring*:*Self*' || status=1
    done
}

case $what in
    tests) suite ;;
    sanitize) sanitize ;;
    *) echo "tests/gpu_suite.sh: unknown part $what" >&2; exit 2 ;;
esac
exit $status
