#!/bin/sh
# finds_test.sh LIBRARY FAULT COMMAND...: a sweep of baton_perf before whose libbaton a faulty LIBRARY lies must end with
# status 1 and have wrong elements in every row.
set -u
library=$1 fault=$2
shift 2
# By its name alone: LD_PRELOAD divides at spaces.
folders=$(dirname "$library")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
output=$(LD_LIBRARY_PATH=$folders LD_PRELOAD=$(basename "$library") BATON_TEST_FAULT=$fault "$@" 2>&1)
status=$?
printf '%s\n' "$output"
[ "$status" -eq 1 ] || { echo "status $status instead of 1"; exit 1; }
printf '%s\n' "$output" | awk '
    /^ *[0-9]+ +[0-9]+ / { ++rows; if ($9 == 0) { print "found right: " $0; missed = 1 } }
    END { exit missed || !rows }'
