#!/usr/bin/env bash
# tune_test.sh MPIRUN RANKS BIN FOLDER: baton_tune on host memory writes a file that later communicators follow.
set -euo pipefail

mpirun=$1 ranks=$2 tune=$3/baton_tune perf=$3/baton_perf folder=$4
file=$folder/tuning.json
rm -rf -- "$folder"
mkdir -p "$folder"
unset BATON_TUNING BATON_TRANSPORT BATON_PACKET_LIMIT BATON_COPY_ENGINE_LIMIT BATON_LINES BATON_P2P BATON_TOPOLOGY
export XDG_CONFIG_HOME=$folder/config

fail() { printf 'tune test: %s\n' "$*" >&2; exit 1; }
run() { "$mpirun" "$ranks" 60 "$@"; }
# expect STATUS TEXT COMMAND...: the exit status of a command, and a text of its output.
expect() {
    local wanted=$1 text=$2 status=0 output
    shift 2
    output=$("$@" 2>&1) || status=$?
    [ "$status" -eq "$wanted" ] || fail "exit status $status instead of $wanted: $* says: $output"
    grep -qF -- "$text" <<<"$output" || fail "no \"$text\" in what $* says: $output"
}
plans() { run "$perf" --device host --op "$1" --min 1K --max 1M --iters 1 --rounds 1 --warmup 0; }

key="host, shared memory, $ranks ranks"
expect 0 "as it was: --dry-run" run "$tune" --device host --op allreduce --max 4K --rounds 3 --file "$file" --dry-run
[ ! -e "$file" ] || fail "--dry-run has written $file"

# Another machine's table, which must be kept.
other='{"gpu": "NVIDIA H200", "link": "NVSwitch", "ranks": 8, "operations": {"get": [{"algorithm": "direct", "mover": "kernel", "channels": 7}]}}'
printf '{"version": 1, "tables": [%s]}' "$other" >"$file"
expect 0 "#   $key" run "$tune" --device host --op allgather,send --max 64K --rounds 3 --file "$file" --json "$folder/times.json"
grep -qF '"channels": 7' "$file" || fail "the other machine's table is gone"
grep -qF '"bytes": 65536' "$folder/times.json" || fail "--json has no times of 64 KiB"
grep -qE '"baton": "[0-9]+[.]' "$folder/times.json" || fail "--json has no versions: $(head "$folder/times.json")"

export BATON_TUNING=$file
expect 0 "tuning table for $key, " plans allgather
expect 0 "($file)" plans allgather
expect 0 "(built in)" plans allreduce
BATON_TUNING=none expect 0 "(built in)" plans allgather

# Where Baton looks for it by itself.
unset BATON_TUNING
expect 0 "#   $key" run "$tune" --device host --op put --max 1K --rounds 3
expect 0 "($folder/config/baton/tuning.json)" plans put

# What was in force above the largest measured size stays.
file2=$folder/short.json
printf '{"version": 1, "tables": [{"gpu": "host", "link": "shared memory", "ranks": %d, "operations": {"allgather": [{"algorithm": "staged", "mover": "host"}]}}]}' \
    "$ranks" >"$file2"
expect 0 "#   larger: staged by host" run "$tune" --device host --op allgather --max 1K --rounds 3 --file "$file2"
grep -qF '{"algorithm": "staged", "mover": "host"}' "$file2" || fail "the row of larger sizes is gone"
rm -- "$file2"

# So where no file says it: the plans of larger sizes are the same with the new file, though not their reasons.
plans_above() { plans allreduce | awk '$1 + 0 > 2048 {print $1, $(NF - 5), $(NF - 4), $(NF - 3)}'; }
before=$(BATON_TUNING=none plans_above)
expect 0 "# written: $file2" run "$tune" --device host --op allreduce --max 2K --rounds 3 --file "$file2"
after=$(BATON_TUNING=$file2 plans_above)
[ "$before" = "$after" ] || fail "plans above --max were $before, and are $after: $(cat "$file2")"
grep -q '1048576 .* by host' <<<"$before" || fail "no plans are told: $before"
rm -- "$file2"

# A table that says something else than what is compiled in is followed.
printf '{"version": 1, "tables": [{"gpu": "host", "link": "shared memory", "ranks": %d, "operations": {"allgather": [{"algorithm": "staged", "mover": "host"}]}}]}' \
    "$ranks" >"$file"
BATON_TUNING=$file expect 0 "staged by host, 1 channel [1]" plans allgather
BATON_TUNING=$file expect 0 "[1] tuning table for $key, any size ($file)" plans allgather

# What is buffered is measured beside what is not.
expect 0 "        8192 " run "$tune" --device host --op send --max 32K --rounds 3 --dry-run --file "$folder/nothing.json"

# Errors.
expect 2 "--graph needs GPUs" run "$tune" --device host --graph --file "$folder/nothing.json"
expect 1 "nothing was measured" run "$tune" --device host --op send --max 8K --file "$folder/nothing.json"
[ ! -e "$folder/nothing.json" ] || fail "a table without rows was written"
truncate -s 40 "$file"
BATON_TUNING=$file expect 1 "$file: parse error at line 1" plans allgather
expect 2 "(correct it, or give another --file)" run "$tune" --device host --op put --max 1K --file "$file"
expect 2 "tuning file $folder cannot be read: Is a directory" run "$tune" --device host --op put --max 1K --file "$folder"
expect 2 "cannot write $folder/nowhere/tuning.json: there is no folder $folder/nowhere" \
    run "$tune" --device host --op put --max 1K --file "$folder/nowhere/tuning.json"
for tool in "$perf" "$tune" "$3/baton_startup"; do
    expect 2 "cannot write $folder/nowhere/x.json: there is no folder $folder/nowhere" \
        run "$tool" --device host --json "$folder/nowhere/x.json"
done
[ ! -e "$folder/nowhere" ] || fail "a folder was made for --json"
expect 2 "cannot write /proc/nowhere" run "$tune" --device host --op put --max 1K --file /proc/nowhere/tuning.json
ln -s loop "$folder/loop"
long=$(printf 'x%.0s' {1..300})
for path in "$folder/loop" "$folder/$long"; do
    expect 2 "cannot write $path: " run "$tune" --device host --op put --max 256 --file "$path"
done
BATON_TUNING=$folder/loop expect 1 "tuning file $folder/loop cannot be read: Too many levels of symbolic links" \
    run "$tune" --device host --op put --max 256 --file "$folder/nothing.json"
rm -- "$folder/loop"
expect 2 "give --file" env -u HOME -u XDG_CONFIG_HOME "$tune" --device host --op put --max 256
expect 2 "cannot write new.json: No such file or directory" sh -c 'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"' "$folder/gone" \
    "$tune" --device host --op put --max 256 --file new.json
expect 2 "--noise: takes a number from 0 to 1, not \"nan\"" run "$tune" --device host --noise nan
expect 2 "is the tuning file" run "$tune" --device host --op put --max 1K --file "$folder/same.json" \
    --json "$folder/../$(basename "$folder")/same.json"
# Both files or neither.
expect 2 "cannot write /dev/full" run "$tune" --device host --op put --max 1K --rounds 1 --file "$folder/same.json" --json /dev/full
[ ! -e "$folder/same.json" ] || fail "the tuning file was written without --json"
cp "$folder/times.json" "$folder/before.json"
expect 2 "cannot write /dev/full" run "$tune" --device host --op put --max 1K --rounds 1 --file /dev/full --json "$folder/times.json"
cmp -s "$folder/times.json" "$folder/before.json" || fail "--json was written without the tuning file"
rm -- "$folder/before.json"
# Without mpirun, which passes on what ranks print.
expect 2 "cannot write to the standard output" sh -c 'exec "$@" >/dev/full' sh "$tune" --device host --op put --max 256 --rounds 1 \
    --file "$folder/same.json" --json "$folder/unread.json"
[ ! -e "$folder/same.json" ] && [ ! -e "$folder/unread.json" ] || fail "files were written although nobody could read what was printed"
# What is only written to is not read before.
mkfifo "$folder/pipe"
cat "$folder/pipe" >"$folder/from_pipe.json" &
expect 0 "# written: $folder/pipe" run "$tune" --device host --op put --max 1K --rounds 1 --file "$folder/pipe"
wait $!
grep -qF '"put"' "$folder/from_pipe.json" || fail "nothing came through a pipe"
rm -- "$folder/pipe" "$folder/from_pipe.json"
BATON_PACKET_LIMIT=0 expect 2 "BATON_PACKET_LIMIT is set" run "$tune" --device host --op put --max 1K --file "$file"
BATON_LINES=off expect 2 "BATON_LINES is set" run "$tune" --device host --op put --max 1K --file "$file"
BATON_P2P=off expect 2 "BATON_P2P is set" run "$tune" --device host --op put --max 1K --file "$file"
# One rank's are as good as everybody's.
expect 2 "BATON_P2P is set on rank 1" run bash -c '[ "$OMPI_COMM_WORLD_RANK" != 1 ] || export BATON_P2P=off; exec "$@"' bash \
    "$tune" --device host --op put --max 1K --file "$file"
BATON_TRANSPORT=auto BATON_LINES=auto BATON_P2P=auto BATON_TOPOLOGY=none expect 0 "as it was: --dry-run" \
    run "$tune" --device host --op put --max 256 --rounds 1 --dry-run
BATON_TUNING=$folder/new.json expect 0 "# written: $folder/new.json" run "$tune" --device host --op put --max 1K
BATON_TUNING=none expect 0 "# programs read it with BATON_TUNING=$folder/new.json" run "$tune" --device host --op put --max 1K --file "$folder/new.json"
rm "$folder/new.json"
expect 2 "nonsense" run "$tune" --op nonsense
expect 2 "--max" run "$tune" --max 12
[ "$(find "$folder" -type f | wc -l)" -eq 3 ] || fail "something was left behind: $(find "$folder" -type f)"
