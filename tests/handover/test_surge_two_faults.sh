#!/usr/bin/env bash
#
# Surge upgrades in which two things fail at a time: the candidate gets SIGTERM while the owner dies, in each state, and the other way
# round; the TaskManagers of the new version die when it has taken the job, once, as Pods, or again and again.

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"
# shellcheck source=tests/handover/surge_lib.sh
. "$TOP/tests/handover/surge_lib.sh"

# ---- SIGTERM of the one while the other one dies ---------------------------------------------------

evict() { # POD
	kubectl delete pod "$1" --wait=false >/dev/null
}

# SIGTERM for ENDS, and the node of DIES is lost.
term_and_death() { # ENDS DIES
	evict "$1" && lose_pod "$2"
}

term_and_agent() { # ENDS OF
	evict "$1" && kill_the_agent "$2"
}

term_prepared() {
	begin
	upgrade_to "$NEXT"
	await "the candidate is prepared" candidate_is_prepared
	check "the candidate gets SIGTERM, and the owner is lost" term_and_death "$CANDIDATE" "$OWNER"
	await_moved "$NEXT"
}

term_stopping() {
	begin
	upgrade_to "$NEXT"
	await "the candidate's main() is held" candidate_has_held
	control hold-snapshot
	check "during the stop the candidate gets SIGTERM, and the owner is lost" at stopping term_and_death "$CANDIDATE" "$OWNER"
	uncontrol hold-snapshot
	await_moved "$NEXT"
}

# What a Pod with a proxy writes at last does not get through: the proxy ends with Flink.
proxied_upgrade() {
	: >"$RUN/templates/$NEXT/proxied"
	upgrade_to "$NEXT"
	await "its proxy is there" test -e "$RUN/pods/$CANDIDATE/proxy.port"
	rm "$RUN/templates/$NEXT/proxied"
}

# Nothing runs, and who was granted the job ends, as does who would take it back.
term_granted() {
	begin
	proxied_upgrade
	faults "$CANDIDATE" "refuse PATCH drey-journal"
	check "at granted the candidate gets SIGTERM, and the owner is lost" at granted term_and_death "$CANDIDATE" "$OWNER"
	await_moved "$NEXT"
}

# The candidate cannot take it, and the reserve's agent has to be started again to take it back.
term_granted_agent() {
	begin
	proxied_upgrade
	faults "$CANDIDATE" "refuse PATCH drey-journal"
	check "at granted the candidate gets SIGTERM, and the agent of the reserve is killed" at granted term_and_agent "$CANDIDATE" "$OWNER"
	await_moved "$NEXT"
}

term_taken() {
	begin
	upgrade_to "$NEXT"
	check "at taken the new owner gets SIGTERM, and the reserve is lost" at taken term_and_death "$CANDIDATE" "$OWNER"
	await_moved "$NEXT"
}

term_of_the_reserve() {
	begin
	upgrade_to "$NEXT"
	check "at taken the reserve gets SIGTERM, and the new owner is lost" at taken term_and_death "$OWNER" "$CANDIDATE"
	await_moved "$NEXT"
}

# ---- the TaskManagers ------------------------------------------------------------------------------

# They may not run yet, or no more.
kill_tms() { # T
	local tm
	for tm in $(tms_of "$1"); do
		kill_flink "$tm" 2>/dev/null
	done
	:
}

lose_tms() { # T
	local tm
	for tm in $(tms_of "$1"); do
		lose_pod "$tm"
	done
}

tm_killed() {
	begin
	upgrade_to "$NEXT"
	check "the TaskManagers of $NEXT die at taken" at taken kill_tms "$NEXT"
	await_moved "$NEXT"
	diag "returned $(($(happened returned) - BEFORE[returned])) times"
}

tm_lost() {
	begin
	upgrade_to "$NEXT"
	check "the Pods of the TaskManagers of $NEXT are lost at taken" at taken lose_tms "$NEXT"
	await_moved "$NEXT"
	diag "returned $(($(happened returned) - BEFORE[returned])) times"
}

killed_or_returned() {
	kill_tms "$NEXT"
	happened_again returned "${BEFORE[returned]}"
}

# A version whose TaskManagers do not stay alive: the old one gets the job back, with its own.
tm_never() {
	begin
	upgrade_to "$NEXT"
	check "the TaskManagers of $NEXT die at taken" at taken kill_tms "$NEXT"
	await "again and again, until the job is returned" killed_or_returned
	await_returned "$CURRENT" "${BEFORE[returned]}"
	check "drey says why: $(journal .handover.why)" journal_is '.handover.why | length > 0'
	await "they stay alive: the new version is offered the job anew, and has it" handover_is "done"
	await_moved "$NEXT"
}

surge_begin surge-two-faults
GAP_LIMIT_MS=240000
REPLAY=1
for t in g1 g2; do
	template $t
	template_keys $t handover.runDeadline=1min handover.tries=5
done
if [ $# -eq 0 ]; then
	set -- term_prepared term_stopping term_granted term_granted_agent term_taken term_of_the_reserve tm_killed tm_lost tm_never
fi
surge_cases "$@"
