#!/usr/bin/env bash
#
# Blue/green upgrades by drey of a job between two topics of a real Kafka, both versions with one group id, each with an exactly-once
# sink of its own: under load, with the TaskManagers of both versions killed before the cut and at it, and one that is given up. A
# reader with read_committed gets each record once, and counted with the whole state.
#
#   [SEED=1] [TRANSITIONS=50] tests/handover/test_bluegreen_kafka.sh chaos     in each something dies at a random moment, on either
#                             side; with `afterCut: forward`, so that nobody goes back behind a cut: 50 take about 45 minutes
#
# runs in: all on 2.3.0

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/servers/kafka.sh
. "$TOP/tests/servers/kafka.sh"
# shellcheck source=tests/servers/kafka_world.sh
. "$TOP/tests/servers/kafka_world.sh"
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
TRANSITIONS=${TRANSITIONS:-50}
MOMENTS=(prepared seeding seeded shadow arming armed crossing crossed ending granted taken "done" later)

kafka_version() { # T KEY=VALUE...
	template "$1"
	bluegreen_keys "$1" 1s "blueGreen.sinkUids=[output-blue, output-green]" flink.jobClass=dev.drey.gate.KafkaJob \
		"flink.arguments=[bootstrap=$KAFKA_BOOTSTRAP]" "flink.properties={parallelism.default: 2}" "${@:2}"
	echo 2 >"$RUN/templates/$1/slots"
	cp "$WORLD/job.jar" "$RUN/templates/$1/job.jar"
	ln -s "$WORLD/usrlib" "$RUN/templates/$1/usrlib"
}

next_version() {
	VERSIONS=$((VERSIONS + 1))
	NEXT=k$VERSIONS
	kafka_version "$NEXT" blueGreen.deadline=4min blueGreen.promote=manual
}

new_version() { # T
	kafka_version "$1" blueGreen.deadline=90s blueGreen.afterCut=forward
}

chaos_count() { # STATE
	came_to "$1"
}

chaos_came() { # STATE BEFORE
	came_again "$@"
}

begun() {
	[ -z "$CURRENT" ] || return 0
	next_version
	begin_with "$NEXT"
	await "its output can be read" readable_from 1
}

promote() {
	SINCE=$(date +%s%3N)
	check "drey promote" drey_of "$OWNER" promote
}

# Nothing was counted twice, and the new side's output comes.
comes_over() {
	await "it is done" transition_is "done"
	CUT=$(journal .handover.transition.toggleUnixMs)
	is "$(journal .owner.pod)" "$CANDIDATE" "the new Pod is the owner"
	is "$(counted_twice)" 0 "nothing was counted twice"
	await "the old Pod has ended" told gone "$OWNER"
	await "its output can be read" readable_from "$((CUT + 3000))"
	diag "a reader waited for $(longest_gap "$SINCE") ms at most, with a checkpoint each second"
	CURRENT=$NEXT OWNER=$CANDIDATE
}

wrong_sides() { # OLD NEW, of what was written since the promotion
	awk -v since="$SINCE" -v old="$1" -v new="$2" -v cut="$CUT" '$1 >= since && $6 != ($4 < cut ? old : new)' "$WORLD/committed" | wc -l
}

restarts() { # POD
	pod_rest "$1" "jobs/$(pod_status "$1" .jobId)/exceptions" '.exceptionHistory.entries | length'
}

runs_again() { # POD BEFORE
	[ "$(restarts "$1")" -gt "$2" ] && pod_rest "$1" "jobs/$(pod_status "$1" .jobId)" \
		'.state == "RUNNING" and (.vertices | all(.status == "RUNNING"))' | grep --quiet true
}

# The TaskManagers of these Pods, at the same moment.
kill_taskmanagers() { # POD...
	local one
	for one; do
		kill_flink "$(tms_of "$(pod_template "$one")" | head -n 1)"
	done
}

# ---- cases -------------------------------------------------------------------------------------------

under_load() {
	local from to
	begun
	next_version
	from=$(journal '.launches[-1].outputSide // "blue"')
	in_the_shadow
	promote
	comes_over
	to=$(journal '.launches[-1].outputSide // "blue"')
	diag "from $from to $to"
	check "to the other side" test "$from" != "$to"
	is "$(wrong_sides "$from" "$to")" 0 "each record was written by its side"
	is "$(restarts "$OWNER")" 0 "the job has not failed"
}

both_fail() {
	local old new
	begun
	next_version
	in_the_shadow
	old=$(restarts "$OWNER") new=$(restarts "$CANDIDATE")
	check "the TaskManagers of both are killed" kill_taskmanagers "$OWNER" "$CANDIDATE"
	await "the old job runs again" runs_again "$OWNER" "$old"
	await "so does the new one" runs_again "$CANDIDATE" "$new"
	old=$(restarts "$OWNER") new=$(restarts "$CANDIDATE")
	promote
	await "the cut is in force" journal_is '.handover.transition.state | IN("armed", "crossing")'
	check "the TaskManagers of both are killed" kill_taskmanagers "$OWNER" "$CANDIDATE"
	comes_over
	check "the job of the new version has recovered" test "$(restarts "$OWNER")" -gt "$new"
}

given_up() {
	begun
	next_version
	in_the_shadow
	SINCE=$(date +%s%3N)
	check "drey abort" drey_of "$OWNER" abort
	await "the owner gives it up" handover_is refused
	await "its output can be read, still" readable_from "$((SINCE + 3000))"
	diag "a reader waited for $(longest_gap "$SINCE") ms at most"
	check "the owner's Pod was never told to end" not told term "$OWNER"
}

twice() {
	awk '$3 in seen { n++ } { seen[$3] = 1 } END { print n + 0 }' "$WORLD/committed"
}

chaos() {
	local n since
	RANDOM=$SEED
	diag "SEED=$SEED TRANSITIONS=$TRANSITIONS"
	new_version t0
	begin_with t0
	await "its output can be read" readable_from 1
	for ((n = 1; n <= TRANSITIONS; n++)); do
		chaos_upgrade "$n" "${MOMENTS[@]}"
		await "transition $n has an end" chaos_settled
		since=$(date +%s%3N)
		await "its output can be read" readable_from "$since"
		is "$(twice)" 0 "no record is there twice"
		diag "$(journal '.handover | "\(.state): \(.why)"')"
	done
}

# Everything that is read was written, in the end.
all_of_it() {
	: >"$WORLD/stop"
	await "all of the input is in the output" all_is committed
	is "$(output_verdict)" "lost 0 doubled 0 wrong 0" "each record is there once, and counted with the whole state"
	is "$(awk '$4 != 0' "$WORLD/group" | wc -l)" 0 "the group never has a member"
}

world_needs_kafka
watched_begin bluegreen_kafka blueGreen
world_begin
MUST_LIVE+=(kafka world)
[ $# -gt 0 ] || set -- under_load both_fail given_up
bluegreen_cases "$@" all_of_it
