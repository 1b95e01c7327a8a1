#!/bin/sh
# Fuzzes one target: tests/fuzz/run.sh build/fuzz/fuzz_NAME SECONDS|keep
#
# It begins with what is kept: tests/fuzz/corpus/NAME (what fuzzers have found, minimised) and tests/fuzz/seeds/NAME
# (written by hand). What is found goes to build/fuzz/corpus/NAME; `keep` writes the kept corpus anew from all of them,
# as few and small inputs as reach the same code, at most 200 kB.
#
# An input that crashes, leaks or takes more than 10 s is written to build/fuzz/crash/NAME/ and fails the run; run the
# target with that file as its argument to see it again. To keep it from coming back, make it a seed:
# tests/contract/test_fuzz_corpus.sh goes over all of them in every `make test`.
set -eu
cd "$(dirname "$0")/../.."
if [ $# -ne 2 ] || [ ! -x "$1" ]; then
  sed -n 2p "$0" | sed 's/^# //' >&2
  exit 2
fi
target=$1
seconds=$2
name=$(basename "$target" | sed 's/^fuzz_//')
found=build/fuzz/corpus/$name
crash=build/fuzz/crash/$name
kept=tests/fuzz/corpus/$name
seeds=tests/fuzz/seeds/$name
mkdir -p "$found" "$crash"
set -- "$found"
[ ! -d "$kept" ] || set -- "$@" "$kept"
[ ! -d "$seeds" ] || set -- "$@" "$seeds"

keep() {
  fresh=build/fuzz/keep/$name
  rm -rf "$fresh"
  mkdir -p "$fresh"
  # without counters: one input for each branch, not one for each number of times
  "$target" -set_cover_merge=1 -use_counters=0 -max_len=16384 -timeout=10 -verbosity=0 "$fresh" "$@" >"$crash/log" 2>&1
  size=$(cat "$fresh"/* | wc -c)
  echo "$name: $(find "$fresh" -type f | wc -l) inputs, $size bytes"
  [ "$size" -le 200000 ]
  rm -rf "$kept"
  mkdir -p tests/fuzz/corpus
  mv "$fresh" "$kept"
}

fuzz() {
  echo "fuzzing $name for $seconds s ($(find "$@" -type f | wc -l) inputs to begin with)"
  "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
    -verbosity=0 -artifact_prefix="$crash/" "$@" >"$crash/log" 2>&1 || return 1
  sed -n 's/^stat::number_of_executed_units: */runs: /p' "$crash/log"
}

work=fuzz
[ "$seconds" != keep ] || work=keep
if ! "$work" "$@"; then
  cat "$crash/log" >&2
  exit 1
fi
