#!/usr/bin/env bash
# fixtures_test.sh PYTHON: the machines in fixtures/ that generate.py describes are what it writes.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/fixtures" || exit 1
"$1" -B generate.py "$work" || exit 1
written=0
for file in "$work"/*; do
    diff -u -- "$(basename "$file")" "$file" || exit 1
    written=$((written + 1))
done
[ "$written" -gt 0 ]
