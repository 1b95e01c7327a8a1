#!/usr/bin/env bash
#
# Blue/green upgrades in which something comes late or at once: one of two subtasks of a gate reads its order after the other one, on
# either side; `drey promote` and `drey abort` come within a second, in both orders; the job comes to its end in the shadow.
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

# ---- a subtask that is late --------------------------------------------------------------------------

# Two TaskManagers, with a subtask each.
TWO=("flink.properties={parallelism.default: 2}")

tm_java() { # POD
	pod_pids "$1" "^[^ ]*java .*$FLINK_TASKMANAGER"
}

# One of its two TaskManagers stands still. Sets STOPPED.
one_stands_still() { # T
	STOPPED=$(tm_java "$(tms_of "$1" | head -n 1)") && [ -n "$STOPPED" ] && kill -STOP "$STOPPED"
}

# For less than Flink would wait for it.
late_subtask() { # STATE T
	in_the_shadow
	check "drey promote" drey_of "$OWNER" promote
	await "it is $1" came_again "$1" "$CAME"
	check "one of two subtasks of $2 stands still" one_stands_still "$2"
	sleep 15
	diag "after 15 s: $(journal .handover.transition.state), $(pod_status "$OWNER" .handover.transition.waitsFor)"
	check "and goes on" kill -CONT "$STOPPED"
	finishes "$NEXT"
	diag "counted: $(counted_twice) twice, $(journal .handover.transition.armings) cuts came too late"
}

late_owner() {
	TASK_MANAGERS=2
	owned_with 1s "${TWO[@]}"
	next_version 1s "${TWO[@]}"
	CAME=$(came_to armed)
	late_subtask armed "$CURRENT"
	OWNED_WITH="1s ${TWO[*]}"
}

late_candidate() {
	TASK_MANAGERS=2
	owned_with 1s "${TWO[@]}"
	next_version 1s "${TWO[@]}"
	CAME=$(came_to arming)
	late_subtask arming "$NEXT"
	OWNED_WITH="1s ${TWO[*]}"
}

# ---- promote and abort -------------------------------------------------------------------------------

decided() {
	journal_is '.handover.state | IN("none", "refused", "done")'
}

# Both words are heard, and one of the two is what happens, whole.
both_words() { # FIRST SECOND
	local pid one=0 two=0
	owned_with 1s
	next_version 1s
	in_the_shadow
	drey_of "$OWNER" "$1" >"$RUN/first.out" 2>&1 &
	pid=$!
	sleep "0.$((RANDOM % 4))"
	drey_of "$OWNER" "$2" >"$RUN/second.out" 2>&1 || two=$?
	wait "$pid" || one=$?
	diag "drey $1: $one, $(cat "$RUN/first.out"); drey $2: $two, $(cat "$RUN/second.out")"
	await "it comes to an end" decided
	diag "it is $(journal '[.handover.state, .handover.transition.state, .handover.why] | tojson')"
	if handover_is "done"; then
		finishes "$NEXT"
		return
	fi
	check "the owner's Pod has the job" pod_phase "$OWNER" Running
	check "it is refused until a person wants it" handover_is refused
	WRITTEN=$(committed_by "$CURRENT")
	await "the owner goes on" commits_more "$CURRENT"
	is "$(committed_by "$NEXT")" 0 "nothing of the other version is committed"
	check "nothing was lost, or doubled" exactly
	check "drey resume" drey_of "$OWNER" resume
	await "its job runs in the shadow again" transition_is shadow
	sleep 5
	check "and stays there: the word of before is not for this one" transition_is shadow
	check "drey promote" drey_of "$OWNER" promote
	finishes "$NEXT"
}

promote_then_abort() { both_words promote abort; }
abort_then_promote() { both_words abort promote; }

# ---- the job comes to its end ------------------------------------------------------------------------

NUMBERS=0

# The jobs of both versions end at the same number, before which one split waits.
bounded() {
	NUMBERS=$((($(date +%s%3N) - T0) / 20 + 2000))
	JOB_ARGS=(--count "$NUMBERS")
	owned_with 1s "handover.tries=$((VERSIONS + 1))"
	next_version 1s
	control hold-1
	in_the_shadow
}

has_all() {
	judge -v replay=1 -v splits=2 >"$RUN/verdict.log" 2>&1 || :
	find "$OUT/committed" -name 'part-*' -exec cat {} + | awk -v numbers="$NUMBERS" '
		{ seen[$2 " " $3] = 1 }
		END { for (id in seen) n++; print n + 0, "of", 2 * numbers; exit n != 2 * numbers }'
}

over() { # WHAT
	uncontrol hold-1
	await "all that there is was committed" has_all
	await "the application has finished" has_finished
	diag "it is $(journal '[.handover.state, .handover.transition.state, .handover.why, .owner.pod] | tojson')"
	diag "doubled: $(verdict .doubled), counted: $(counted_twice)"
	# a Pod whose application has finished is not ready, so the other one stays
	sleep 5
	check "it stays so" has_finished
	check "all is there" has_all
}

has_finished() {
	pod_phase "$(journal .owner.pod)" Finished
}

ends_in_shadow() {
	bounded
	over
	is "$(verdict .doubled)" "$DOUBLED" "nothing is there twice"
}

JOB_ARGS=()
bluegreen_begin bluegreen_late 1s
[ $# -gt 0 ] || set -- promote_then_abort abort_then_promote late_owner late_candidate ends_in_shadow
bluegreen_cases "$@"
