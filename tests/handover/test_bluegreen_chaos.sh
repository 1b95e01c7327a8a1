#!/usr/bin/env bash
#
# Blue/green upgrades, one after the other, in which something dies at a random moment of the transition, on either side; or, with
# FAULTS=0, nothing does. After each the job runs again, at one owner: the new version has it, or was refused. No record is lost, and
# what is there twice was said: without faults there is none, and the output pauses no longer than at other times.
#
#   [SEED=1] [UPGRADES=4] [FAULTS=1] tests/handover/test_bluegreen_chaos.sh
#
# runs in: all on 2.3.0

# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"
# shellcheck source=tests/handover/surge_lib.sh
. "$TOP/tests/handover/surge_lib.sh"
# shellcheck source=tests/handover/bluegreen_lib.sh
. "$TOP/tests/handover/bluegreen_lib.sh"
# shellcheck source=tests/handover/chaos_lib.sh
. "$TOP/tests/handover/chaos_lib.sh"

SEED=${SEED:-1}
UPGRADES=${UPGRADES:-4}
FAULTS=${FAULTS:-1}
MOMENTS=(prepared seeding seeded shadow arming armed crossing crossed ending granted taken "done" later)
SAID=0    # how often it was said that records are written twice
DOUBLED=0 # up to the transition before
RATIOS=()

new_version() { # T
	template "$1"
	bluegreen_keys "$1" 1s blueGreen.deadline=90s
}

chaos_count() { # STATE
	came_to "$1"
}

chaos_came() { # STATE BEFORE
	came_again "$@"
}

# Each Pod that has given a cut up says so, and each transition in which gates have counted records that both have passed.
said() {
	local logs counted
	logs=$(cat "$RUN"/log/*.log 2>/dev/null | grep -c 'is written twice')
	counted=$(observed 'select(.what == "transition" and ((.above // 0) + (.below // 0)) > 0)' | wc -l)
	echo $((logs + counted))
}

nothing_lost() {
	judge -v replay=1 -v splits=2 >/dev/null || :
	[ "$(verdict .lost)" -eq 0 ] && [ "$(verdict .committed)" -gt 0 ]
}

# Of this transition.
doubled_is_said() {
	local doubled now
	doubled=$(verdict .doubled) now=$(said)
	[ "$doubled" -eq "$DOUBLED" ] || diag "$((doubled - DOUBLED)) records are there twice; said $((now - SAID)) times"
	[ "$doubled" -eq "$DOUBLED" ] || [ "$now" -gt "$SAID" ] || return
	DOUBLED=$doubled SAID=$now
}

# The longest pauses between two outputs: in the 4 s around the cut, and in the 8 s before those.
pauses() { # CUT_MS
	find "$OUT/committed" -name 'part-*' -exec cat {} + | awk -v cut="$1" '$5 >= cut - 10000 && $5 < cut + 2000 { print $5 }' | sort -n |
		awk -v cut="$1" 'NR > 1 { which = $1 >= cut - 2000; if ($1 - before > longest[which]) longest[which] = $1 - before }
			{ before = $1 } END { printf "%d %d\n", longest[1], longest[0] }'
}

has_paused() { # of this transition
	local cut found
	cut=$(journal .handover.transition.toggleUnixMs) && found=$(pauses "$cut") || return
	diag "longest pause at the cut, and before: $found ms"
	RATIOS+=("$(awk '{ printf "%d", 100 * $1 / ($2 > 0 ? $2 : 1) }' <<<"$found")")
}

# By the median: a single pause is the machine's.
has_not_paused() {
	local median
	median=$(printf '%s\n' "${RATIOS[@]}" | sort -n | sed -n "$(((${#RATIOS[@]} + 1) / 2))p")
	diag "longest pause at the cut in hundredths of the normal one: ${RATIOS[*]}, median $median"
	[ "$median" -le 200 ]
}

is_through() {
	chaos_settled && transition_is "done" && own_journal_is_gone
}

upgrade() { # N
	if [ "$FAULTS" = 0 ]; then
		NEW=t$1
		new_version "$NEW"
		check "upgrade $1 is deployed" deploy "$NEW"
		await "upgrade $1 is done" is_through
		has_paused
	else
		chaos_upgrade "$1" "${MOMENTS[@]}"
		await "upgrade $1 has an end" chaos_settled
	fi
	WRITTEN=$(committed_by "$(pod_template "$(owner_pod)")")
	await "and its owner commits" commits_more "$(pod_template "$(owner_pod)")"
	check "nothing was lost" nothing_lost
	check "what is there twice was said" doubled_is_said
	diag "$(journal '.handover | "\(.state): \(.why)"')"
}

chaos() {
	local n
	RANDOM=$SEED
	new_version t0
	begin_with t0
	for ((n = 1; n <= UPGRADES; n++)); do
		upgrade "$n"
	done
	[ "$FAULTS" != 0 ] || check "the output has not paused" has_not_paused
	[ "$FAULTS" != 0 ] || is "$DOUBLED" 0 "nothing was doubled"
	diag "$DOUBLED records are there twice"
}

watched_begin bluegreen_chaos blueGreen
diag "SEED=$SEED UPGRADES=$UPGRADES FAULTS=$FAULTS"
bluegreen_cases chaos
