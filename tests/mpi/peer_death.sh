#!/bin/sh
# peer_death.sh MPIRUN_SH RANKS SECONDS BINARY: runs each test of BINARY in a job of its own, in which the last rank kills
# itself. Every survivor must report success, and no process of the job may be left when mpirun returns.
set -eu
mpirun_sh=$1
ranks=$2
seconds=$3
binary=$4
failures=0
reports=$(mktemp -d "${TMPDIR:-/tmp}/peer_death.XXXXXX")
trap 'rm -rf "$reports"' EXIT

listed=$("$binary" --gtest_list_tests)  # a statement of its own, so that a failure ends the script
tests=$(printf '%s\n' "$listed" | sed -n 's/^  *\([A-Za-z0-9_]*\).*/\1/p')
[ -n "$tests" ] || { echo "$binary lists no tests"; exit 1; }
for test in $tests; do
    rm -f "$reports"/*
    # Open MPI ends a job when one of its processes dies, unless recovery is on. Its status then says nothing.
    BATON_TEST_MPIRUN_FLAGS="--enable-recovery ${BATON_TEST_MPIRUN_FLAGS:-}" BATON_TEST_REPORTS=$reports \
        "$mpirun_sh" "$ranks" "$seconds" "$binary" "--gtest_filter=*.$test" >"$reports/output" 2>&1 || true
    verdict=passed
    rank=0
    while [ "$rank" -lt $((ranks - 1)) ]; do
        result=$(cat "$reports/result.$rank" 2>/dev/null || echo "no report: it hung, crashed or was killed")
        if [ "$result" != passed ]; then
            echo "rank $rank: $result"
            verdict=FAILED
        fi
        rank=$((rank + 1))
    done
    for file in "$reports"/pid.*; do
        [ -e "$file" ] || continue  # the ranks ended before they had one
        pid=$(cat "$file")
        if kill -0 "$pid" 2>/dev/null; then
            echo "process $pid (${file##*pid.} of $ranks) is still there"
            kill -KILL "$pid" || true
            verdict=FAILED
        fi
    done
    if [ "$verdict" = FAILED ]; then
        cat "$reports/output"
        failures=$((failures + 1))
    fi
    echo "$verdict: $test on $ranks ranks"
done
[ "$failures" -eq 0 ]
