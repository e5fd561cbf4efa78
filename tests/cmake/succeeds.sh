#!/bin/sh
# succeeds.sh REGEX COMMAND...: COMMAND must end with status 0 and print what REGEX (extended; line breaks are spaces)
# matches. CTest's PASS_REGULAR_EXPRESSION does not look at the status.
set -u
regex=$1
shift
output=$("$@" 2>&1)
status=$?
printf '%s\n' "$output"
[ "$status" -eq 0 ] || { echo "status $status instead of 0"; exit 1; }
printf '%s\n' "$output" | tr '\n' ' ' | grep -qE -- "$regex" || { echo "nothing printed matches $regex"; exit 1; }
