#!/usr/bin/env bash
#
# chart-readme.sh - writes the values into the README.md of the chart, from the comments of its values.yaml.
#
#   tools/chart-readme.sh [--check]      --check: only report whether it is current (status 1: it is not)
#
# A comment `## TITLE` opens a section. The comment lines right above a key describe it; a key without one, and with others
# below it, is not listed itself. Everything above the line `## Values` of README.md is written by hand.

set -euo pipefail
chart=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/chart/flink-application
new=$(mktemp)
trap 'rm -f "$new"' EXIT

table() {
	awk '
	function flush() { doc = "" }
	/^## / { printf "\n### %s\n\n| Value | Default | Meaning |\n|---|---|---|\n", substr($0, 4); flush(); next }
	/^ *# / { line = $0; sub(/^ *# /, "", line); doc = doc (doc == "" ? "" : " ") line; next }
	/^ *$/ { flush(); next }
	/^ *[A-Za-z0-9]+:/ {
		match($0, /^ */); level = RLENGTH / 2
		key = $0; sub(/^ */, "", key); sub(/:.*/, "", key)
		value = $0; sub(/^ *[A-Za-z0-9]+: */, "", value)
		path[level] = key
		name = path[0]
		for (i = 1; i <= level; i++) name = name "." path[i]
		gsub(/\|/, "\\|", doc)
		if (value != "" || doc != "")
			printf "| `%s` | %s | %s |\n", name, value == "" ? "" : "`" value "`", doc
		flush()
	}' "$chart/values.yaml"
}

{
	sed '/^## Values$/q' "$chart/README.md"
	table
} >"$new"
if [ "${1:-}" = --check ]; then
	cmp -s "$new" "$chart/README.md" || {
		echo "chart-readme.sh: README.md of the chart is out of date; run tools/chart-readme.sh" >&2
		exit 1
	}
else
	cat "$new" >"$chart/README.md"
fi
