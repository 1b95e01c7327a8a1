#!/usr/bin/env bash
#
# Surge upgrades of an application that is not well: T14, its job restarts for ever, and the new version is the cure; T15, no
# savepoint can be made; T17, it is suspended.

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"
# shellcheck source=tests/handover/surge_lib.sh
. "$TOP/tests/handover/surge_lib.sh"

# The job that is not well writes again and again until it is stopped.
t14() {
	local GAP_LIMIT_MS=90000 # it is watched for 30 s whether the job gets well
	REPLAY=1
	template sick
	template cure
	template_keys sick savepoints.stopRetry=1s
	begin_with sick
	control fail.sick
	await "the job restarts for ever" has_event THROW sick 3
	upgrade_to cure
	await_done cure
	uncontrol fail.sick
	is "$(journal .handover.savepoint)" null "there was no savepoint"
	check "it goes on from a checkpoint" pod_is "$OWNER" '.launch.restorePoint.path | contains("/chk-")'
	await "the launch is proven" pod_is "$OWNER" .launch.proven
}

# Only what is written there fails: what is in the directory can be read.
t15() {
	template before
	template after
	template_keys before handover.tries=2 savepoints.stopRetry=1s
	if [ -z "$CURRENT" ]; then
		begin_with before
	else
		upgrade_to before
		await_done before
	fi
	chmod 555 "$RUN/sp"
	upgrade_to after
	await "the hand-over is refused" handover_is refused
	chmod 755 "$RUN/sp"
	check "it was tried twice" test "$(observed 'select(.what == "journal" and .handover == "stopping")' | wc -l)" -ge 2
	check "the reason is told" journal_is '.handover.why | test("savepoint|stop")'
	check "the job runs on" pod_phase "$OWNER" Running
	check "it is ready" pod_ready "$OWNER"
	count_written before
	await "it goes on writing" goes_on_writing before
	check "the other version has written nothing" not has_written after
	roll_back before
}

t17() {
	template awake
	template next
	if [ -z "$CURRENT" ]; then
		begin_with awake
	else
		upgrade_to awake
		await_done awake
	fi
	check "drey suspend" drey_of "$OWNER" suspend
	check "it is suspended" pod_phase "$OWNER" Suspended
	upgrade_to next
	await "the new Pod is the owner" journal_is ".owner.pod == \"$CANDIDATE\""
	await "and is suspended, too" pod_phase "$CANDIDATE" Suspended
	check "nothing was started" not has_written next
	check "drey resume" drey_of "$CANDIDATE" resume
	await "the new version runs" pod_phase "$CANDIDATE" Running
	await "it writes" has_written next 50
	await "the Deployments have nothing left to do" rolled_out
	CURRENT=next OWNER=$CANDIDATE
}

surge_begin surge-owner
if [ $# -eq 0 ]; then
	set -- t14 t15 t17
fi
surge_cases "$@"
