#!/usr/bin/env bash
#
# Runs every kept input of every fuzz target once: what a fuzzer has found before must not come back. With the compiler
# and the sanitizers of the build, without libFuzzer.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
BUILD=${BUILD:-build}
count=0
failed=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT

for source in tests/fuzz/fuzz_*.c; do
	name=${source##*/fuzz_}
	name=${name%.c}
	dirs=()
	for dir in "tests/fuzz/corpus/$name" "tests/fuzz/seeds/$name"; do
		[ ! -d "$dir" ] || dirs+=("$dir")
	done
	count=$((count + 1))
	if ! grep -q "^$name " tests/fuzz/parsers.txt; then
		failed=1
		echo "not ok $count - $name is not in tests/fuzz/parsers.txt"
	elif "$BUILD/tests/fuzz/fuzz_$name" "${dirs[@]}" >"$out" 2>&1; then
		echo "ok $count - $name $(tail -n 1 "$out")"
	else
		failed=1
		echo "not ok $count - $name"
		tail -n 30 "$out" | sed 's/^/# /'
	fi
done
echo "1..$count"
exit $failed
