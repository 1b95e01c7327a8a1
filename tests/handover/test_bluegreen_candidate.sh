#!/usr/bin/env bash
#
# A blue/green upgrade in which the agent of the next version is killed when it becomes the owner, and one that is given up, and made
# again. The other states (G2) are in test_bluegreen_kills.sh.
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

killed_agent_at_grant() {
	owned_for_kills
	killed_in agent CANDIDATE granted taken
}

# drey-init shows it nowhere; it is at most 45 s long, and was renewed last before the upgrade was given up.
lease_is_over() { # GIVEN_UP_UNIX_MS
	[ "$(date +%s%3N)" -gt $(($1 + 46000)) ]
}

# The second time in the same Pod: drey-init has the lease of its first job, which is over.
given_up_and_again() {
	owned_with 1s
	next_version 1s
	in_the_shadow
	check "a person gives it up" drey_of "$OWNER" abort --yes
	await "it is refused" handover_is refused
	await "the lease of its job has run out" lease_is_over "$(journal .handover.stateUnixMs)"
	check "a person allows it again" drey_of "$OWNER" resume
	await "its job runs in the shadow" pod_phase "$CANDIDATE" Shadow
	await "the owner knows" transition_is shadow
	check "drey promote" drey_of "$OWNER" promote
	finishes "$NEXT"
	OWNED_WITH=1s
}

bluegreen_begin bluegreen_candidate 1s
[ $# -gt 0 ] || set -- given_up_and_again killed_agent_at_grant
bluegreen_cases "$@"
