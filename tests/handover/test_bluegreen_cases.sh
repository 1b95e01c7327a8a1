#!/usr/bin/env bash
#
# Blue/green upgrades that go well, between two real Flinks, with what they promise: no pause in the output (G1), what a lead that is
# too short doubles (G3), the word of a person and a cut at a given time (G5), three upgrades in a row (G9), and a job that is restored
# to before its cut later (G10).
#
# runs in: all on 2.3.0

# shellcheck disable=SC2317 # cases are called by name
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

now_ms() {
	date +%s%3N
}

# Of times in ms, one a line: the longest distance between two of them that ends in the window.
longest_pause() { # FROM TO
	sort -n | awk -v from="$1" -v to="$2" '
		$1 >= from && $1 <= to && last && $1 - last > longest { longest = $1 - last }
		{ last = $1 }
		END { printf "%d\n", longest }'
}

# Output is committed when a file gets its name, which is when its inode was changed last.
committed_ms() {
	find "$OUT/committed" -name 'part-*' -printf '%C@\n' | awk '{ printf "%.0f\n", $1 * 1000 }'
}

# When what is committed had been processed.
written_ms() {
	find "$OUT/committed" -name 'part-*' -exec cat {} + | awk '{ print $5 }'
}

# ---- G1 ----------------------------------------------------------------------------------------------

# The counts of both sides below the cut since the seed, and the sums of what they were: the same records.
same_records() { # SEED_SNAPSHOT
	python3 - "$1" "$(cat "$RUN/old.report")" "$(cat "$RUN/new.report")" <<-'END'
		import json, sys
		seed, old, new = (json.loads(text) for text in sys.argv[1:])
		old, new = old["gates"][0], new["gates"][0]
		passed = old["passedBelow"] - seed["passed"]
		held = new["withheldBelow"]
		sums = (int(old["sumBelow"], 16) - int(seed["sum"], 16)) % 2**64, int(new["sumBelow"], 16)
		print(f"passed {passed}, held back {held}, sums {sums}, of one base: {old['base'] == seed['base']}")
		sys.exit(not (passed == held > 0 and sums[0] == sums[1] and old["base"] == seed["base"]))
	END
}

# While stragglers are waited for: what they say then is kept.
both_are_behind() {
	gate_report "$OWNER" >"$RUN/old.report" && gate_report "$CANDIDATE" >"$RUN/new.report" || return 1
	jq --exit-status '.word == "armBlue" and .gates[0].crossed == 1' "$RUN/old.report" &&
		jq --exit-status '.word == "armGreen" and .gates[0].crossed == 1' "$RUN/new.report"
} >/dev/null

seed_snapshot() { # POD CHECKPOINT
	gate_report "$1" | jq --compact-output --exit-status --argjson id "$2" '.gates[0].snapshots[] | select(.checkpoint == $id)'
}

g1_no_pause() {
	local from promoted to old seed normal
	owned_with 5s
	old=$OWNER
	next_version 1s
	in_the_shadow
	seed=$(seed_snapshot "$old" "$(journal .handover.transition.seed.checkpointId)")
	from=$(now_ms)
	WRITTEN=$(committed_by "$CURRENT")
	await "both run for a while" has_committed "$CURRENT" $((WRITTEN + 20 * 2 * RATE))
	promoted=$(now_ms)
	check "drey promote" drey_of "$OWNER" promote
	await "both are behind the cut" both_are_behind
	check "both gates have seen the same records below the cut since the seed" same_records "$seed"
	finishes "$NEXT"
	to=$(now_ms)
	is "$(counted_twice)" 0 "nothing was counted twice"
	normal=$(committed_ms | longest_pause "$from" "$promoted")
	diag "committed: at most $(committed_ms | longest_pause "$promoted" "$to") ms apart, and $normal ms before"
	check "a reader of what is committed waits at most twice as long as before" test \
		"$(committed_ms | longest_pause "$promoted" "$to")" -le $((2 * normal))
	diag "written: at most $(written_ms | longest_pause "$promoted" "$to") ms apart, and $(written_ms | longest_pause "$from" "$promoted") ms before"
	check "what is written stands still for less time than from one checkpoint to the next" test \
		"$(written_ms | longest_pause "$promoted" "$to")" -lt "$normal"
}

# ---- G3 ----------------------------------------------------------------------------------------------

# A lead of 0 is rejected. With the least one, 1 s, and an API server that answers the owner late, its gates learn of the cut after it. They
# know exactly how many records they have passed above it as long as their watermark is below it.
g3_lead_too_short() {
	local twice old job_args=("${JOB_ARGS[@]}")
	PROXIED=1
	JOB_ARGS+=(--disorder 8000)
	owned_with 1s blueGreen.lead=1s
	PROXIED=''
	next_version 1s
	JOB_ARGS=("${job_args[@]}")
	old=$OWNER
	in_the_shadow
	faults "$OWNER" "delay (PUT|PATCH) /configmaps/$APPLICATION-drey-journal(\\?|\$) 0 2"
	check "drey promote" drey_of "$OWNER" promote
	await "the cut is in force" journal_is '.handover.transition.state | IN("crossing", "crossed", "ending", "granted", "taken", "done")'
	faults "$OWNER"
	await "it is done" transition_is "done"
	twice=$(counted_twice)
	check "records are written twice: $twice" test "$twice" -gt 0
	is "$(gate_report "$old" | jq .gates[0].inexact)" 0 "and they are counted exactly"
	finishes "$NEXT"
	OWNED_WITH=''
}

# ---- G5 ----------------------------------------------------------------------------------------------

# Without what any running job has written there: its newest checkpoint, once a minute.
journal_at_rest() {
	journal 'del(.sequence, .writer, .launches[].lastCheckpoint)' | jq --compact-output --sort-keys .
}

refused_in_the_past() { # TIME
	local said
	said=$("$BUILD/drey" promote --config "$RUN/pods/$OWNER/drey.yaml" --at "$1" 2>&1) && return 1
	printf '%s\n' "$said"
	grep --quiet --fixed-strings 'the time of the cut is in the past' <<<"$said"
}

g5_promote_manual() {
	local before sequence at
	owned_with 1s
	next_version 1s
	in_the_shadow
	before=$(journal_at_rest)
	sequence=$(journal .sequence)
	WRITTEN=$(committed_by "$CURRENT")
	await "a minute goes by" has_committed "$CURRENT" $((WRITTEN + 60 * 2 * RATE))
	is "$(journal_at_rest)" "$before" "nothing was written into the journal but the newest checkpoint"
	check "once a minute" test "$(journal .sequence)" -le $((sequence + 2))
	check "it is in the shadow" transition_is shadow
	is "$(committed_by "$NEXT")" 0 "and nothing of it is committed"
	is "$(pod_status "$OWNER" .handover.transition.waitsFor)" "a person: \`drey promote\`" "the status says whom it waits for"
	check "a cut in the past is refused, with a word" refused_in_the_past "$(date --utc --date '1 minute ago' +%FT%TZ)"
	is "$(journal_at_rest)" "$before" "nothing was written because of that, either"
	at=$(($(date +%s) + 15))
	check "one in 15 s is not" drey_of "$OWNER" promote --at "$(date --utc --date "@$at" +%FT%TZ)"
	await "it is done" transition_is "done"
	is "$(journal .handover.transition.toggleUnixMs)" "${at}000" "it is the cut"
	finishes "$NEXT"
}

# ---- G9 ----------------------------------------------------------------------------------------------

# Each side keeps the map with its leader. Of those with checkpoints there is the one of the job that runs, and no other.
no_map_is_left() {
	local own maps
	own=configmap/$(journal '.launches[-1].haClusterId')-$(pod_status "$OWNER" .jobId)-config-map
	maps=$(kubectl get configmaps --output name) || return
	maps=$(grep -E -- '-config-map$' <<<"$maps" | grep -vxE "configmap/$APPLICATION(-green)?-cluster-config-map")
	printf '%s\n' "$maps"
	[ "$maps" = "$own" ]
}

g9_there_and_back() {
	local sides jobs=() handovers=() i
	owned_with 1s
	sides=$(journal .owner.side)
	jobs=("$(pod_status "$OWNER" .jobId)")
	for i in 1 2 3; do
		goes_over 1s
		sides+=" $(journal .owner.side)"
		jobs+=("$(pod_status "$OWNER" .jobId)")
		handovers+=("$(journal .handover.id)")
		await "no map of the job that has ended is left" no_map_is_left
		await "and no journal of the next version's own" own_journal_is_gone
	done
	check "the sides alternate: $sides" grep --quiet --extended-regexp '^(blue green blue green|green blue green blue)$' <<<"$sides"
	is "$(printf '%s\n' "${jobs[@]}" | sort --unique | wc -l)" 4 "each job has an id of its own"
	is "$(printf '%s\n' "${handovers[@]}" | sort --unique | wc -l)" 3 "and each upgrade"
	is "$(counted_twice)" 0 "nothing was counted twice"
}

# ---- G10 ---------------------------------------------------------------------------------------------

# What T has processed since then has no gap and is there once, up to its last number.
has_all_since() { # T WALL_MS
	find "$OUT/committed" -name 'part-*' -exec cat {} + | awk -v version="$1" -v since="$2" '
		$1 == version && $5 >= since {
			if (!($2 in least) || $3 < least[$2]) least[$2] = $3
			if (!($2 in most) || $3 > most[$2]) most[$2] = $3
			count[$2]++
		}
		END {
			for (split_of in count) {
				print "split", split_of ":", count[split_of], "of", least[split_of], "to", most[split_of]
				good += count[split_of] == most[split_of] - least[split_of] + 1
			}
			exit good != 2
		}'
}

# T has committed lines of before the cut since then.
has_committed_below() { # T CUT WALL_MS
	find "$OUT/committed" -name 'part-*' -exec cat {} + | awk -v version="$1" -v cut="$2" -v since="$3" '
		$1 == version && $4 < cut && $5 >= since { n++ }
		END { exit !n }'
}

restored_to_before() { # SAVEPOINT CUT
	local since
	check "drey suspend" drey_of "$OWNER" suspend
	since=$(now_ms)
	check "drey resume --from it" drey_of "$OWNER" resume --from "$1"
	check "it is what was restored" restored_from "$OWNER" "$1"
	await "what was before the cut is written once more" has_committed_below "$CURRENT" "$2" "$since"
	WRITTEN=$(committed_by "$CURRENT")
	await "it goes on" commits_more "$CURRENT"
	check "no record is missing since then" has_all_since "$CURRENT" "$since"
	is "$(gate_report "$OWNER" | jq --raw-output '.word + " \(.gates[0] | .withheldBelow + .withheldAbove)"')" "open 0" \
		"nothing was withheld, as its gate says, too"
	judge -v replay=1 -v splits=2 >"$RUN/verdict.log" || :
	is "$(verdict .lost)" 0 "and nothing was lost in all"
}

# No permission to leave state out: the sinks that the savepoint has state of are those of the side of then.
g10_restored_from_before() {
	local savepoint side
	owned_with 1s
	side=$(journal '.launches[-1].outputSide // "blue"')
	savepoint=$(drey_of "$OWNER" savepoint)
	check "a savepoint was taken: $savepoint" test -n "$savepoint"
	goes_over 1s
	await "nothing is left to do" rolled_out
	check "the sinks are those of the other side" test "$(journal '.launches[-1].outputSide // "blue"')" != "$side"
	restored_to_before "$savepoint" "$(journal .handover.transition.toggleUnixMs)"
	is "$(journal '.launches[-1].outputSide // "blue"')" "$side" "the sinks are those of the side of then"
	is "$(journal '.launches[-1].allowNonRestored')" false "and no state was left out"
	DOUBLED=$(verdict .doubled)
}

RATE=200
JOB_ARGS=(--rate "$RATE")
bluegreen_begin bluegreen_cases 1s
# G3 first: a version whose watermark is 8 s behind never catches up with one that allows 2 s
[ $# -gt 0 ] || set -- g3_lead_too_short g1_no_pause g5_promote_manual g10_restored_from_before g9_there_and_back
bluegreen_cases "$@"
