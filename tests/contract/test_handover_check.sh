#!/usr/bin/env bash
#
# The judge of the hand-over tests itself, with output that was made up: each kind of violation is found, and nothing else.
# No Flink is started.

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
here=$TOP/tests/handover
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Two splits, 10 records a second each; A writes numbers 0 to 9, then nothing for 1.5 s, B those up to 39.
make_output() {
	awk 'BEGIN {
		t0 = 1767225600000
		for (n = 0; n < 40; n++)
			for (s = 0; s < 2; s++) {
				due = t0 + n * 100
				wall = n < 10 ? due + s : due < t0 + 2400 ? t0 + 2400 : due + s
				printf "%s %d %d %.0f %.0f\n", n < 10 ? "A" : "B", s, n, due, wall
			}
	}' >"$work/records.log"
	rm -rf "$work/committed"
	mkdir "$work/committed"
	head -n 20 "$work/records.log" >"$work/committed/part-1"
	sed -n '21,60p' "$work/records.log" >"$work/committed/part-3"
	sed -n '61,$p' "$work/records.log" >"$work/committed/part-2"
}

judge() { # OPTION...
	awk "$@" -f "$here/check.awk" "$work/records.log" committed=1 "$work"/committed/part-* >"$work/said" 2>&1
}

# What is not 0 of the violations, and the exit status.
verdict() { # OPTION...
	local status=0
	judge "$@" || status=$?
	jq --raw-output --arg status "$status" '[({lost, doubled, logLost, logDoubled, disordered, changed, malformed} |
		to_entries[] | select(.value != 0) | "\(.key) \(.value)"), "status \($status)"] | join(", ")' "$work/said" 2>/dev/null ||
		echo "$(cat "$work/said"), status $status"
}

found() { # EXPECTED WHAT [OPTION...]
	is "$(verdict "${@:3}")" "$1" "$2"
	make_output
}

said() { # JQ
	jq --compact-output "$1" "$work/said"
}

make_output
found "status 0" "nothing is wrong: nothing is found" -v ended=1 -v splits=2
judge
is "$(said .turns)" '["A","B"]' "who wrote, in order"
is "$(said '.handovers | map([.from, .to, .gapMs])')" '[["A","B",1499]]' "the hand-over, and how long nothing was written"
is "$(said '[.longestMs, .longestAtMs - 1767225600000]')" '[1499,901]' "that is the longest time without a record"
is "$(said '[.medianMs, .lateMs, .records, .committed, .uncommitted]')" '[1,1400,80,80,0]' "the median, the latest record, and how many"
judge -v since=1767225602000
is "$(said .longestMs)" 99 "since a time: what was before does not count"

sed -i '5d' "$work/committed/part-3"
found "lost 1, status 1" "a record was not committed"
rm "$work/committed/part-3"
found "lost 40, status 1" "a whole file of them"
rm "$work/committed/part-2"
found "status 0" "the last ones are not committed yet"
rm "$work/committed/part-2"
found "lost 20, status 1" "the job has ended: they are lost" -v ended=1
sed -n '5p' "$work/committed/part-3" >>"$work/committed/part-2"
found "doubled 1, status 1" "a record was committed twice"
cp "$work/committed/part-1" "$work/committed/part-4"
found "doubled 20, status 1" "a whole file of them, under another name"
sed -i '30d' "$work/records.log"
found "logLost 1, status 1" "a record is not in the log"
sed -i '30{p}' "$work/records.log"
found "logDoubled 1, status 1" "a record is there twice"
sed -i '30{h;d};32{G}' "$work/records.log"
found "disordered 1, status 1" "two of a split have changed places"
sed -n '21,30p' "$work/records.log" >"$work/again"
sed -i "30r $work/again" "$work/records.log"
found "logDoubled 10, disordered 2, status 1" "the log went back"
sed -i "30r $work/again" "$work/records.log"
found "logDoubled 10, disordered 2, status 0" "which is allowed after a recovery" -v replay=1
sed -i '7s/ [0-9]* \([0-9]*\)$/ 1 \1/' "$work/committed/part-1"
found "changed 1, status 1" "a number was due at another time: it is not the same stream"
sed -i '7s/$/ 9/' "$work/records.log"
found "logLost 1, malformed 1, status 1" "two writers have mixed a line"
sed -i '/^[AB] 1 /d' "$work/records.log" "$work"/committed/part-*
found "lost 1, status 1" "a split has given nothing at all" -v splits=2
sed -i '31s/^B/A/' "$work/records.log"
judge
is "$(said .turns)" '["A","B","A","B"]' "two that write at a time have more turns"
: >"$work/records.log"
rm "$work"/committed/part-*
: >"$work/committed/part-0"
found "check.awk: there are no records, status 2" "nothing is not well"
e2e_end
