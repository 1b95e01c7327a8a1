#!/usr/bin/env bash
#
# Blue/green upgrades in which the agent or the Flink of one of the two Pods is killed in each state of the transition (G2): the upgrade ends
# well, nothing is lost, and what is there twice was counted. What test_bluegreen_candidate.sh has is left out.
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

agent_of_the_owner() {
	owned_for_kills
	killed_in agent OWNER offered seeding seeded shadow arming armed crossed ending
}

agent_of_the_candidate() {
	owned_for_kills
	killed_in agent CANDIDATE offered seeding seeded arming armed crossing crossed ending
}

# From granted on there is none.
flink_of_the_owner() {
	owned_for_kills
	killed_in flink OWNER seeding shadow arming crossing crossed ending
}

flink_of_the_candidate() {
	owned_for_kills
	killed_in flink CANDIDATE offered seeded shadow arming armed crossing crossed ending taken
}

bluegreen_begin bluegreen_kills 1s
[ $# -gt 0 ] || set -- agent_of_the_owner agent_of_the_candidate flink_of_the_owner flink_of_the_candidate
bluegreen_cases "$@"
