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

one_way() { # TO SIDE
	upgrade_to "$1"
	await_done "$1"
	check "the job was restored from the savepoint of the stop" restored_from "$OWNER" "$(journal .handover.savepoint)"
	is "$(journal '.owner.side')" "$2" "on the other side"
	is "$(journal '.launches[-1].held')" true "its JVM had waited in front of main()"
	await "the launch is proven" pod_is "$OWNER" .launch.proven
}

t1() {
	template g1
	template g2
	begin_with g1
	one_way g2 green
	one_way g1 blue
	is "$(happened "done")" 2 "two hand-overs, each at its first try"
	is "$(happened returned)" 0 "none was returned"
}

surge_begin surge
surge_cases "${@:-t1}"
