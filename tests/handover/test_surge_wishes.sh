#!/usr/bin/env bash
#
# S73: a person requests something while a hand-over is offered, prepared, stopping, taken or done: suspend, cancel, a savepoint,
# do-not-restart, another version. The request is carried out, the hand-over comes to an end, and neither is done by half. S74: a
# request to the wrong Pod ends nothing.

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"
# shellcheck source=tests/handover/surge_lib.sh
. "$TOP/tests/handover/surge_lib.sh"

once_done() {
	await_done "$NEXT"
	is "$(happened "done")" $((BEFORE[done] + 1)) "one hand-over"
	is "$(happened returned)" "${BEFORE[returned]}" "at its first try"
}

# The new version owns an application that a person has stopped, and starts it when a person resumes it.
stopped_and_resumed() { # PHASE
	await "the new Pod is the owner" journal_is ".owner.pod == \"$CANDIDATE\""
	await "and the application is $1 there" pod_phase "$CANDIDATE" "$1"
	count_written "$NEXT"
	sleep 3
	check "and stays so" pod_phase "$CANDIDATE" "$1"
	check "nothing is written" not has_written "$NEXT" $((WRITTEN + 1))
	check "drey resume" drey_of "$CANDIDATE" resume
	await "the new version runs" pod_phase "$CANDIDATE" Running
	await "it writes" goes_on_writing "$NEXT"
	await "the Deployments have nothing left to do" rolled_out
	CURRENT=$NEXT OWNER=$CANDIDATE
	is "$(happened returned)" "${BEFORE[returned]}" "nothing was returned"
}

offered_savepoint() {
	begin
	upgrade_to "$NEXT"
	await "the hand-over is offered" happened_again offered "${BEFORE[offered]}"
	check "a savepoint is taken" drey_of "$OWNER" savepoint
	once_done
}

offered_suspend() {
	begin
	upgrade_to "$NEXT"
	await "the hand-over is offered" happened_again offered "${BEFORE[offered]}"
	check "drey suspend" drey_of "$OWNER" suspend
	stopped_and_resumed Suspended
}

# The candidate stays prepared as long as a job that is stopped could not be started again.
prepared_do_not_restart() {
	begin
	check "do-not-restart is on" drey_of "$OWNER" do-not-restart on
	upgrade_to "$NEXT"
	await "the candidate is prepared" candidate_is_prepared
	count_written "$CURRENT"
	await "the job goes on" goes_on_writing "$CURRENT"
	sleep 5
	check "the hand-over is only offered" handover_is offered
	check "the candidate takes no orders, and says who does" names_the_owner "$CANDIDATE"
	check "nothing has ended because of that" pod_phase "$OWNER" Running
	check "do-not-restart is off" drey_of "$OWNER" do-not-restart off
	once_done
}

names_the_owner() { # POD
	local said
	said=$("$BUILD/drey" suspend --config "$RUN/pods/$1/drey.yaml" 2>&1) && return 1
	printf '%s\n' "$said"
	grep --quiet --fixed-strings "$OWNER" <<<"$said"
}

stopping_begin() {
	begin
	upgrade_to "$NEXT"
	await "the candidate's main() is held" candidate_has_held
	control hold-snapshot
	await "the job is being stopped" happened_again stopping "${BEFORE[stopping]}"
}

# The stop that is under way is what was requested.
stopping_suspend() {
	stopping_begin
	drey_of "$OWNER" suspend >"$RUN/suspend.out" &
	sleep 2
	check "the stop goes on" handover_is stopping
	uncontrol hold-snapshot
	stopped_and_resumed Suspended
	wait "$!"
	diag "drey suspend in the old Pod ended with $?"
}

# A third version is wanted: the Pod of the second one ends.
stopping_template() {
	local second
	stopping_begin
	second=$CANDIDATE
	NEXT=g3
	check "g3 is deployed" deploy g3
	await "there is a Pod of g3" pod_of g3
	CANDIDATE=$POD
	await "that of the second version ends" told term "$second"
	check "the owner is not told to end" not told term "$OWNER"
	uncontrol hold-snapshot
	await_done g3
}

taken_suspend() {
	begin
	upgrade_to "$NEXT"
	check "the candidate has taken the job" at taken true
	check "drey suspend in its Pod" drey_of "$CANDIDATE" suspend
	stopped_and_resumed Suspended
}

done_cancel() {
	begin
	upgrade_to "$NEXT"
	check "the hand-over is done" at "done" true
	check "drey cancel in the new Pod" drey_of "$CANDIDATE" cancel
	await "the application is cancelled" pod_phase "$CANDIDATE" Cancelled
	count_written "$NEXT"
	sleep 5
	check "nothing is started" not has_written "$NEXT" $((WRITTEN + 1))
	check "drey resume" drey_of "$CANDIDATE" resume
	await "the job runs" pod_phase "$CANDIDATE" Running
	await "it goes on writing" goes_on_writing "$NEXT"
	await "the Deployments have nothing left to do" rolled_out
	CURRENT=$NEXT OWNER=$CANDIDATE
}

surge_begin surge-wishes
GAP_LIMIT_MS=120000
REPLAY=1
for t in g1 g2 g3; do
	template $t
done
if [ $# -eq 0 ]; then
	set -- offered_savepoint offered_suspend prepared_do_not_restart stopping_suspend taken_suspend done_cancel stopping_template
fi
surge_cases "$@"
