#!/bin/sh
# refused.sh TEXT COMMAND...: COMMAND must end with status 1 (or REFUSED_STATUS) and print TEXT.
set -u
text=$1
shift
output=$("$@" 2>&1)
status=$?
printf '%s\n' "$output"
[ "$status" -eq "${REFUSED_STATUS:-1}" ] || { echo "status $status instead of ${REFUSED_STATUS:-1}"; exit 1; }
printf '%s\n' "$output" | grep -qF -e "$text" || { echo "it does not say: $text"; exit 1; }
