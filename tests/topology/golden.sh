#!/usr/bin/env bash
# golden.sh BATON_TOPO EXPECTED ARGUMENT...: runs the tool in fixtures/ and compares what it says with a file. With
# BATON_UPDATE_GOLDEN set, writes the file instead. After the output come, where there are any, the messages and the exit
# code.
set -uo pipefail
tool=$1 expected=$2
shift 2
cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/fixtures" || exit 1
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
# Open MPI's files go there: in the folder that processes of a user share, one that ends takes it from under another that
# is starting.
export TMPDIR=$work

timeout 60 "$tool" "$@" >"$work/output" 2>"$work/messages"
code=$?
{
    cat "$work/output"
    [ ! -s "$work/messages" ] || { echo '---- messages'; cat "$work/messages"; }
    [ "$code" -eq 0 ] || echo "---- exit code $code"
} >"$work/all"

if [ -n "${BATON_UPDATE_GOLDEN:-}" ]; then
    cp -- "$work/all" "$expected"
    echo "wrote $expected"
elif ! diff -u -- "$expected" "$work/all"; then
    echo "baton_topo $* differs from $expected; where it is right, run this test with BATON_UPDATE_GOLDEN=1"
    exit 1
fi
