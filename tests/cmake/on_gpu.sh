#!/bin/sh
# on_gpu.sh COMMAND...: COMMAND, a benchmark that is told to use GPUs and refuses to run without. Where it finds none the
# test is skipped (77), or fails where there must be one (BATON_TEST_NEEDS_GPU).
set -u
output=$("$@" 2>&1)
status=$?
printf '%s\n' "$output"
if [ "$status" -ne 0 ] && [ -z "${BATON_TEST_NEEDS_GPU+set}" ]; then
    printf '%s\n' "$output" | grep -qF "a rank has no usable GPU" && exit 77
fi
exit "$status"
