#!/usr/bin/env bash
#
# How much of each parser the kept inputs reach: tests/fuzz/coverage.sh [TARGET...], by `make fuzz-coverage`.
#
# parsers.txt says which files a target is for. They are compiled once more, with the counters of clang; all else comes
# from the library of the build. The inputs are those that test_fuzz_corpus.sh goes over. It prints a table (coverage.py),
# and ends with 1 if an input fails. CPPFLAGS, LIBS, LIBRARY and MIGRATE
# are those of the Makefile.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
OUT=build/fuzz/coverage
FLAGS=(-std=gnu11 -O0 -g -w -pthread -fprofile-instr-generate -fcoverage-mapping)
read -ra CPP <<<"$CPPFLAGS"
read -ra LINK <<<"$LIBS"
read -ra MIGRATE_OBJECTS <<<"$MIGRATE"

# the tools of the same version as the compiler, by the name that Debian gives them
tool() {
	local version
	version=$(clang -dumpversion)
	command -v "$1-${version%%.*}" || command -v "$1" || {
		echo "coverage: $1 is missing: apt-get install llvm-${version%%.*}" >&2
		exit 1
	}
}

# Prints the object of a source, compiled if it is older.
object() {
	local object=$OUT/obj/${1%.c}.o
	if [ ! -e "$object" ] || [ -n "$(find "$1" -newer "$object")" ]; then
		mkdir -p "${object%/*}"
		clang "${CPP[@]}" "${FLAGS[@]}" -c -o "$object" "$1" || return 1
	fi
	echo "$object"
}

build_target() {
	local name=$1 source=tests/fuzz/fuzz_$1.c file
	local objects=()
	shift
	objects+=("$(object "$source")" "$(object tests/fuzz/replay.c)")
	for file in "$@"; do
		# drey-init is no part of the library: its target has it inside
		grep -q "#include \"\(agent/\)\?${file#agent/}\"" "$source" || objects+=("$(object "$file")")
	done
	grep -q __wrap_http_do "$source" && objects+=("-Wl,--wrap=http_do")
	clang "${FLAGS[@]}" -o "$OUT/$name" "${objects[@]}" "$OUT/migrate.a" "$LIBRARY" "${LINK[@]}"
}

run_target() {
	local name=$1 dirs=() dir
	for dir in "tests/fuzz/corpus/$name" "tests/fuzz/seeds/$name"; do
		[ ! -d "$dir" ] || dirs+=("$dir")
	done
	LLVM_PROFILE_FILE=$OUT/$name.profraw "$OUT/$name" "${dirs[@]}" >"$OUT/$name.log" 2>&1 || {
		tail -n 30 "$OUT/$name.log" >&2
		return 1
	}
}

PROFDATA=$(tool llvm-profdata)
COV=$(tool llvm-cov)
mkdir -p "$OUT"
rm -f "$OUT"/*.profraw "$OUT/migrate.a"
ar qcs "$OUT/migrate.a" "${MIGRATE_OBJECTS[@]}"
programs=()
sources=()
while read -ra words; do
	name=${words[0]}
	[ $# -eq 0 ] || [[ " $* " = *" $name "* ]] || continue
	build_target "${words[@]}"
	run_target "$name"
	programs+=(-object "$OUT/$name")
	sources+=("${words[@]:1}")
done < <(sed '/^#/d' tests/fuzz/parsers.txt)
"$PROFDATA" merge -sparse -o "$OUT/all.profdata" "$OUT"/*.profraw
"$COV" export -instr-profile "$OUT/all.profdata" "${programs[@]:1}" "${sources[@]}" | python3 tests/fuzz/coverage.py "${sources[@]}"
