#!/usr/bin/env bash
# round_trip.sh BATON_TOPO MACHINE: the machine's matrices are the same after a trip through --json, and, but for what
# hwloc's format cannot hold, through --xml, which lstopo opens where it is installed. And --png writes a PNG file, or names
# the package that the build lacked and writes none.
set -uo pipefail
tool=$1 machine=$2
cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/fixtures" || exit 1
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

matrices() { timeout 60 "$tool" --from "$1" --show "$2" | grep -v '^note:'; }

"$tool" --from "$machine" --json "$work/machine.json" --xml "$work/machine.xml" || exit 1
matrices "$machine" matrix,bandwidth,tree,ring >"$work/before"
[ -s "$work/before" ] || exit 1
diff -u "$work/before" <(matrices "$work/machine.json" matrix,bandwidth,tree,ring) || exit 1
"$tool" --from "$work/machine.xml" --show matrix >/dev/null || exit 1
if command -v lstopo-no-graphics >/dev/null; then
    timeout 60 lstopo-no-graphics -i "$work/machine.xml" --whole-io >"$work/lstopo" || exit 1
    grep -q '^Machine' "$work/lstopo" || { cat "$work/lstopo"; exit 1; }
fi

if timeout 60 "$tool" --from "$machine" --png "$work/picture.png" 2>"$work/why"; then
    [ "$(head -c 4 "$work/picture.png" | tail -c 3)" = PNG ]
else
    grep -q 'librsvg2-dev' "$work/why" && [ ! -e "$work/picture.png" ]
fi
