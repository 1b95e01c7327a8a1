#!/usr/bin/env bash
#
# Surge upgrades by Helm on a real cluster: T1, the new Pods come beside the old ones, and the job goes on there from the savepoint
# of its stop.
#
# alone: two versions of a Flink run at a time
# runs in: all

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/surge_lib.sh
. "$TOP/tests/cluster/surge_lib.sh"

has_tms() { # T
	[ -n "$(tms_of "$1")" ]
}

helm_has_ended() {
	[ -e "$RUN/helm.status" ]
}

t1() {
	version g1
	version g2 'image: {tag: "2"}'
	begin_with g1
	rm -f "$RUN/helm.status"
	{
		helm_upgrade g2 --wait --timeout "${WAIT_S}s" >"$RUN/log/helm.log" 2>&1
		echo $? >"$RUN/helm.status"
	} &
	await "there is a new Pod" pod_of g2
	CANDIDATE=$POD
	check "beside the old one" not told term "$OWNER"
	await "so there are new TaskManagers" has_tms g2
	check "beside the old ones" has_tms g1
	await_done g2
	await "helm upgrade --wait returns" helm_has_ended
	is "$(cat "$RUN/helm.status")" 0 "with success"
	check "the job was restored from the savepoint of the stop" pod_restored "$OWNER" "$(journal .handover.savepoint)"
	is "$(journal .owner.side)" green "on the other side"
	is "$(journal '.launches[-1].held')" true "its JVM had waited in front of main()"
	check "the old TaskManagers have gone" not has_tms g1
	is "$(happened "done")" 1 "one hand-over, at its first try"
	is "$(happened returned)" 0 "none was returned"
	check "drey handover says so" pod_drey "$OWNER" handover
	check "helm test" helm test "$APPLICATION"
}

surge_begin surge
if [ $# -eq 0 ]; then
	set -- t1
fi
surge_cases "$@"
