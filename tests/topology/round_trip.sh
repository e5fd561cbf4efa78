#!/usr/bin/env bash
# round_trip.sh BATON_TOPO MACHINE: text and advice are the same after a trip through --json and through --xml, and where
# lstopo is installed through what it makes of the latter. Of a machine in XML, what pairs have is the same after --xml
# without the snapshot beside hwloc's objects, too: other tools see the objects only. And --png writes a PNG file, or names the package that the
# build lacked and writes none.
set -uo pipefail
tool=$1 machine=$2
cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/fixtures" || exit 1
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
# Open MPI's files go there: in the folder that processes of a user share, one that ends takes it from under another that
# is starting.
export TMPDIR=$work

said() { timeout 60 "$tool" --from "$1" --show matrix,bandwidth,tree,ring --advice "$work/advice" && cat "$work/advice"; }

said "$machine" >"$work/before" || exit 1
"$tool" --from "$machine" --json "$work/machine.json" --xml "$work/machine.xml" || exit 1
diff -u "$work/before" <(said "$work/machine.json") || exit 1
diff -u "$work/before" <(said "$work/machine.xml") || exit 1
# The matrix without the columns on processors and memory.
pairs() {
    timeout 60 "$tool" --from "$1" --show matrix | awk '
        !n && /^ *(GPU|NIC)0 / { for (i = 1; i <= NF; i++) n += $i ~ /^(GPU|NIC)[0-9]+$/; next }
        /^(GPU|NIC)[0-9]+ / { for (i = 1; i <= n + 1; i++) printf "%s ", $i; print "" }'
}
if [[ $machine == *.xml ]]; then
    pairs "$machine" >"$work/pairs"
    [ -s "$work/pairs" ] || { echo "no matrix of $machine"; exit 1; }
    sed '/<userdata/d' "$work/machine.xml" >"$work/objects.xml"
    diff -u "$work/pairs" <(pairs "$work/objects.xml") || exit 1
fi
if command -v lstopo-no-graphics >/dev/null; then
    timeout 60 lstopo-no-graphics -i "$work/machine.xml" --whole-io --of console >"$work/lstopo" || exit 1
    grep -q '^Machine' "$work/lstopo" || { cat "$work/lstopo"; exit 1; }
    timeout 60 lstopo-no-graphics -i "$work/machine.xml" --whole-io "$work/again.xml" || exit 1
    diff -u "$work/before" <(said "$work/again.xml") || exit 1
fi

if timeout 60 "$tool" --from "$machine" --png "$work/picture.png" 2>"$work/why"; then
    [ "$(head -c 4 "$work/picture.png" | tail -c 3)" = PNG ]
else
    grep -q 'librsvg2-dev' "$work/why" && [ ! -e "$work/picture.png" ]
fi
