#!/usr/bin/env bash
# json_test.sh PERF STARTUP TUNE FOLDER: what baton_perf has measured reaches its file whatever the command line holds, says how
# it was measured, and destroys nothing else. One rank, without mpirun, so that the programs print to the files here.
set -euo pipefail

perf=$1 startup=$2 tune=$3 folder=$4
rm -rf -- "$folder"
mkdir -p "$folder"
fail() { printf 'json test: %s\n' "$*" >&2; exit 1; }
measure() { "$perf" --device host --rounds 1 --iters 1 --max 1K "$@"; }

odd=$folder/$(printf 'not_utf8_\377.json')
measure --op barrier --json "$odd" >/dev/null
grep -qF '"operation": "barrier"' "$odd" || fail "nothing was written where the command line is not UTF-8"

log=$folder/log
echo "earlier" >"$log"
measure --op barrier --json /dev/stdout >>"$log"
for text in "earlier" "# 1 row verified" '"baton_perf": '; do
    grep -qF -- "$text" "$log" || fail "no \"$text\" where tables and JSON are appended to one file: $(cat "$log")"
done
"$startup" --device host --json /dev/stdout | cat >"$log"
[ "$(tail -n 1 "$log")" = "}" ] || fail "no JSON at the end of what goes into a pipe: $(cat "$log")"
"$tune" --device host --op allgather --max 256 --file "$folder/tuning.json" --json /dev/stdout >"$log"
[ "$(tail -n 1 "$log")" = "}" ] || fail "baton_tune prints behind its JSON: $(tail -n 3 "$log")"
grep -qF -- "# written: $folder/tuning.json" "$log" || fail "and does not say what it has written: $(cat "$log")"

[ "$(tr -d ' \n' <"$odd" | grep -oE '"rounds_us":\[[0-9.]+\]' | wc -l)" = 1 ] || fail "not each round's time: $(cat "$odd")"
grep -q '"processors_of_a_rank": [1-9]' "$odd" || fail "the file does not say where ranks may run: $(cat "$odd")"

versions_in() { grep -A 5 -F '"versions": {' "$1"; }
measure --op barrier --json "$folder/perf.json" >"$log"
"$startup" --device host --json "$folder/startup.json" >"$log"
grep -qE '"baton": "[0-9]+[.]' "$folder/startup.json" || fail "start-up's file has no version: $(cat "$folder/startup.json")"
[ "$(versions_in "$folder/startup.json")" = "$(versions_in "$folder/perf.json")" ] ||
    fail "start-up's file names other versions: $(cat "$folder/startup.json")"

measure --op barrier --no-check --json "$folder/unchecked.json" >"$log"
grep -q "NOT VERIFIED (--no-check)" "$log" || fail "unverified results look like others: $(cat "$log")"
grep -qF "# 1 row, not verified" "$log" || fail "unverified results look like others: $(cat "$log")"
grep -qF '"checked": false' "$folder/unchecked.json" || fail "the file does not say that it was not verified"

BATON_P2P=off measure --op allreduce --memory registered --json "$folder/refused.json" >"$log"
grep -qF "out of place, malloc memory" "$log" || fail "what was not registered is called that: $(cat "$log")"
grep -qF '"memory": "malloc"' "$folder/refused.json" || fail "the file calls it registered"
grep -qF '"not_registered": "baton_register: ' "$folder/refused.json" || fail "the file does not say why"
grep -qxF "# set: BATON_P2P=off" "$log" || fail "a setting that changes the results is not named: $(cat "$log")"
grep -qF '"BATON_P2P": "off"' "$folder/refused.json" || fail "the file does not name the settings"

BATON_TEST_NOTE=$'red\e[31m\nand more' measure --op barrier --json "$folder/lines.json" >"$log"
grep -qxF "# set: BATON_TEST_NOTE=red?[31m ..." "$log" || fail "a setting of several lines is not said to be one: $(cat "$log")"
