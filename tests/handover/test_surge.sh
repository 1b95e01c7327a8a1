#!/usr/bin/env bash
#
# T1: a surge upgrade between two real Flinks, and back. The new version prepares itself beside the running job, the job is stopped
# with a savepoint, and goes on from exactly that; the old Pod is told to end after that.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"
# shellcheck source=tests/handover/surge_lib.sh
. "$TOP/tests/handover/surge_lib.sh"

# The Events of hand-overs: "COUNT REASON" for each reason; each Pod posts its own.
handover_events() {
	kubectl get events.events.k8s.io --output json | jq --raw-output '[.items[] | select(.reportingController == "drey.dev/drey" and
		(.reason | startswith("Handover"))) | .reason] | group_by(.) | map("\(length) \(.[0])") | join(", ")'
}

# Each state is told once for each of COUNT hand-overs, and nothing else.
events_are() { # COUNT
	local said
	said=$(handover_events)
	printf '%s\n' "$said"
	[ "$said" = "$1 HandoverDone, $1 HandoverGranted, $1 HandoverOffered, $1 HandoverPrepared, $1 HandoverStopping, $1 HandoverTaken" ]
}

measures() { # POD REGEX
	curl --silent --fail --max-time 5 "http://$(pod_address "$1"):$HTTP_PORT/metrics" >"$RUN/metrics" &&
		grep --quiet --extended-regexp "^$2\$" "$RUN/metrics"
}

all_have_rehearsed() { # T
	local tm
	for tm in $(tms_of "$1"); do
		pod_log "$tm" 'drey: the rehearsal is over' || return 1
	done
	[ -n "$tm" ]
}

one_way() { # TO SIDE
	upgrade_to "$1"
	await_done "$1"
	check "the job was restored from the savepoint of the stop" restored_from "$OWNER" "$(journal .handover.savepoint)"
	is "$(journal '.owner.side')" "$2" "on the other side"
	is "$(journal '.launches[-1].held')" true "its JVM had waited in front of main()"
	check "and had rehearsed" pod_log "$OWNER" 'drey: the rehearsal is over'
	check "so had its TaskManager" all_have_rehearsed "$1"
	await "the launch is proven" pod_is "$OWNER" .launch.proven
	check "the condition says that it is done" pod_is "$OWNER" \
		'.conditions[] | select(.type == "HandingOver") | .status == "False" and .reason == "HandoverDone"'
	check "and how long each part took" measures "$OWNER" 'drey_handover_seconds\{part="run"\} [0-9.]+'
	diag "$(grep '^drey_handover_seconds' "$RUN/metrics" | tr '\n' ' ')"
}

t1() {
	template g1
	template g2
	begin_with g1
	check "the first TaskManager has not rehearsed: a job waited for it" eval '! pod_log "$(tms_of g1)" rehears'
	one_way g2 green
	await "each state was told once, by an Event" events_are 1
	one_way g1 blue
	await "and once more" events_are 2
	check "both are counted, by the Pod that has the job now" measures "$OWNER" 'drey_handovers_total\{result="done"\} 2'
	is "$(happened "done")" 2 "two hand-overs, each at its first try"
	is "$(happened returned)" 0 "none was returned"
}

surge_begin surge
surge_cases "${@:-t1}"
