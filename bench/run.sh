#!/usr/bin/env bash
#
# run.sh - every benchmark, one after another: drey beside what would be used instead, in one run.
#
#   bench/run.sh [bench|bench-quick]
#
# A benchmark is bench/NAME/run.sh and prints Markdown; with the argument `quick` it takes a minute or two. Figures are
# for reading, never for passing: the exit status only says whether everything could be measured.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
args=()
case ${1:-bench} in
bench) ;;
bench-quick) args=(quick) ;;
*)
	echo "usage: bench/run.sh [bench|bench-quick]" >&2
	exit 2
	;;
esac
status=0
for benchmark in bench/*/run.sh; do
	"$benchmark" "${args[@]}" || status=1
done
exit $status
