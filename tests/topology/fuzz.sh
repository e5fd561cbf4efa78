#!/usr/bin/env bash
# fuzz.sh FUZZER SECONDS [OPTIONS...]: runs a fuzz target from the files in fixtures/ and prints how far it came. Where it
# fails, prints libFuzzer's report and the input that did it, which stays in the current folder.
set -uo pipefail
fixtures=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/fixtures
fuzzer=$1 seconds=$2
name=$(basename -- "$fuzzer")
shift 2
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
mkdir "$work/corpus" "$work/inputs"

# Inputs take well below a second, and runs of several minutes half of the memory. Which functions are new to a run, by
# name, is no part of a report.
"$fuzzer" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -print_funcs=0 -artifact_prefix="$work/inputs/" \
    "$@" "$work/corpus" "$fixtures" >"$work/log" 2>&1
status=$?
if [ "$status" -ne 0 ]; then
    grep -vE '^#[0-9]+[[:space:]]+(NEW|REDUCE|RELOAD|pulse) ' "$work/log"
    # The folder is gone with the machine that ran this; the log is not.
    for input in "$work"/inputs/*; do
        [ -f "$input" ] || continue
        cp -- "$input" "$name.$(basename -- "$input")"
        printf '\n%s: the input is %s, or: base64 -d <<EOF | gunzip\n' "$name" "$PWD/$name.$(basename -- "$input")"
        gzip -c -- "$input" | base64
        echo EOF
    done
    exit "$status"
fi

# libFuzzer says "#RUNS INITED cov: EDGES ..." after the seeds, and "#RUNS DONE cov: EDGES ..." at the end.
awk -v name="$name" -v seconds="$seconds" '
    /^INFO: Seed: / { seed = $3 }
    /^INFO: Loaded .* counters\)/ { edges = substr($5, 2) }
    /^#[0-9]+\tINITED / { by_seeds = $4 }
    /^#[0-9]+\tDONE / { runs = substr($1, 2); covered = $4 }
    END {
        if (!runs || !by_seeds) exit 1
        printf "%s: %d runs in %d s, %d of %d edges covered (%d by the seeds), -seed=%s\n",
               name, runs, seconds, covered, edges, by_seeds, seed
    }' "$work/log" || { cat "$work/log"; echo "$name: this is not what libFuzzer says after its runs"; exit 1; }
