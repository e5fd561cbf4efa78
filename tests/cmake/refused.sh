#!/bin/sh
# refused.sh TEXT COMMAND...: COMMAND must end with status 1 and print TEXT.
set -u
text=$1
shift
output=$("$@" 2>&1)
status=$?
printf '%s\n' "$output"
[ "$status" -eq 1 ] || { echo "status $status instead of 1"; exit 1; }
printf '%s\n' "$output" | grep -qF -e "$text" || { echo "it does not say: $text"; exit 1; }
