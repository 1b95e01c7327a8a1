#!/usr/bin/env bash
#
# check-abi.sh - shows which glibc a program needs. Fails if it is newer than that of Flink's oldest images.
#
#   tools/check-abi.sh [--limit VERSION|here] PROGRAM...
#
# VERSION is 2.35 (Ubuntu 22.04), or `here`: the glibc of this machine. Each symbol that is too new is named. Exit
# status: 0 all programs would start, 1 one would not, 2 usage, 3 a tool is missing, 4 not a program.

set -euo pipefail
limit=2.35
if [ "${1:-}" = --limit ]; then
	limit=${2:-}
	shift $(($# < 2 ? $# : 2))
	[ "$limit" != here ] || limit=$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)
fi
if [ $# -eq 0 ] || ! [[ $limit =~ ^[0-9]+\.[0-9]+(\.[0-9]+)?$ ]]; then
	echo "usage: tools/check-abi.sh [--limit VERSION|here] PROGRAM..." >&2
	exit 2
fi
if ! command -v readelf >/dev/null; then
	echo "check-abi.sh: readelf is missing; install it: apt-get install binutils" >&2
	exit 3
fi

status=0
for program; do
	# an undefined symbol looks like "name@GLIBC_2.34 (5)"; a static program has none
	if ! symbols=$(readelf --wide --dyn-syms -- "$program" 2>&1) || [[ $symbols == *"Error: "* ]]; then
		echo "check-abi.sh: $program is not a program: $symbols" >&2
		exit 4
	fi
	too_new=$(grep -oE '[^ @]+@+GLIBC_[0-9.]+' <<<"$symbols" | sort -u | awk -v limit="$limit" -F '@+GLIBC_' '
		function number(version,    part) { split(version, part, "."); return part[1] * 1e6 + part[2] * 1e3 + part[3] }
		number($2) > number(limit) { print "  " $1 " needs glibc " $2 }') || : # grep: none at all
	if [ -n "$too_new" ]; then
		printf '%s needs a newer glibc than %s:\n%s\n' "$program" "$limit" "$too_new"
		status=1
	fi
done
if [ "$status" -ne 0 ]; then
	echo "Build it with the oldest glibc that it has to run with, for example in its target image (docs/tasks/image.md)."
fi
exit "$status"
