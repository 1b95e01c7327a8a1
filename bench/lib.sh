# shellcheck shell=bash
#
# lib.sh - the common part of every bench/NAME/run.sh; sourced at the root of the repository.
#
# A benchmark prints Markdown: bench_head(), tables, and their limits. Its arguments are `full` (the default), `quick`
# (a minute or so) and its own options. Exit status: 0 measured, 2 usage, 3 something is missing here (root, a package),
# 4 a download failed, else it failed.

bench_usage() { # LINES: of the head of the script, as in sed
	sed -n "${1}s/^# *//p" "$0" >&2
	exit 2
}

bench_lacks() { # WHAT
	echo "${0#"$PWD"/}: $1" >&2
	exit 3
}

bench_program() { # FILE SOURCE: small and static, so that it costs nothing compared to what is measured
	mkdir -p "${1%/*}"
	"$(command -v musl-gcc || echo cc)" -std=gnu11 -O2 -Wall -Wextra -D_GNU_SOURCE -static -o "$1" "$2" || exit 1
}

bench_machine() {
	echo "$(nproc) CPUs, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), Linux $(uname -r)"
}

bench_load() {
	echo "load $(cut -d' ' -f1-3 /proc/loadavg)"
}

bench_head() { # TITLE VERSIONS
	printf '## %s: `%s`\n\n%s, %s at the start; %s\n' "$1" "${0#"$PWD"/}" "$(bench_machine)" "$(bench_load)" "$2"
}

bench_median() { # of the numbers on stdin
	sort -n | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

bench_spread() { # UNIT_MS: "median (least-most)" of the ms on stdin, in that unit
	sort -n | awk -v unit="$1" '{ v[NR] = $1 / unit }
		END { printf unit == 1 ? "%d (%d-%d)" : "%.2f (%.2f-%.2f)", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[1], v[NR] }'
}
