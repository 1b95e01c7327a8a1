#!/bin/sh
# Fuzzes one target: tests/fuzz/run.sh build/fuzz/fuzz_NAME SECONDS
#
# The seeds are tests/fuzz/seeds/NAME/*, what the fuzzer finds is kept in build/fuzz/corpus/NAME. An input that
# crashes, leaks or takes more than 10 s is written to build/fuzz/crash/NAME/ and fails the run; run the target with
# that file as its argument to see it again. To keep it from coming back, make it a seed.
set -eu
cd "$(dirname "$0")/../.."
if [ $# -ne 2 ] || [ ! -x "$1" ]; then
  sed -n 2p "$0" | sed 's/^# //' >&2
  exit 2
fi
target=$1
seconds=$2
name=$(basename "$target" | sed 's/^fuzz_//')
corpus=build/fuzz/corpus/$name
crash=build/fuzz/crash/$name
seeds=tests/fuzz/seeds/$name
mkdir -p "$corpus" "$crash"
set -- "$corpus"
[ ! -d "$seeds" ] || set -- "$corpus" "$seeds"
echo "fuzzing $name for $seconds s ($(find "$@" -type f | wc -l) inputs to begin with)"
if "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
  -verbosity=0 -artifact_prefix="$crash/" "$@" >"$crash/log" 2>&1; then
  sed -n 's/^stat::number_of_executed_units: */runs: /p' "$crash/log"
  exit 0
fi
cat "$crash/log" >&2
exit 1
