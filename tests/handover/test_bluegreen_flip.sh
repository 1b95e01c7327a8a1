#!/usr/bin/env bash
#
# Blue/green upgrades with gates that behave as the first and as the later published version of FLIP-504 (tests/job/FlipGate.java):
# drey serves the keys of their ConfigMap. A transition between two of the first version, and one to the later version, with writes of
# others in between and a CLEAR_TO_TEARDOWN that somebody else has written too early. More: test_bluegreen_flip_ways.sh.
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
# shellcheck source=tests/handover/bluegreen_lib.sh
. "$TOP/tests/handover/bluegreen_lib.sh"
# shellcheck source=tests/handover/flip_lib.sh
. "$TOP/tests/handover/flip_lib.sh"

first() {
	begin_with g1
	at_rest BLUE
	is "$(keys '."deployment-deletion-delay-ms"')" 30000 "with the distance of the cut"
	is "$(head -n 1 "$RUN/keys.log")" "BLUE true RUNNING - -" "since the ConfigMap was made"
	marked
	upgrade_to g2
	finishes g2 BLUE GREEN
	is "$(contents)" "$(sequence BLUE GREEN)" "the keys went through all stages, in their order"
}

past_the_seed() {
	pod_is "$OWNER" ".handover.transition.watermarkUnixMs >= $(journal .handover.transition.seenUnixMs)"
}

# What somebody else has written is not believed, and does not stay; and no key of drey's, of the gates or of others is lost.
others_write() {
	begin_with g2
	marked
	upgrade_to g3
	await "its job runs in the shadow" transition_is shadow
	check "somebody writes CLEAR_TO_TEARDOWN" write_keys '.stage = "CLEAR_TO_TEARDOWN" | .theirs = "x"'
	await "drey puts its word back" keys_are '.stage == "INITIALIZING"'
	await "the old version has read all that it had seen at the seed" past_the_seed
	COMPLETED=$(pod_status "$OWNER" .checkpoints.completed)
	await "and has checkpoints since" pod_is "$OWNER" ".checkpoints.completed >= $((COMPLETED + 5))" # one that drey has looked before
	: >"$CONTROL/hold-0.g2" # so the watermark of the old version stays, and it does not come to the cut
	check "drey promote" drey_of "$OWNER" promote
	await "the gates have chosen a cut" transition_is crossing
	check "somebody writes CLEAR_TO_TEARDOWN, and another distance" write_keys '.stage = "CLEAR_TO_TEARDOWN" |
		."deployment-deletion-delay-ms" = "7"'
	await "the distance is put back" keys_are '."deployment-deletion-delay-ms" == "60000"'
	await "the cut is past for longer than \`settle\`: the new version writes" has_committed g3 $((10 * 2 * RATE))
	is "$(keys .stage)" CLEAR_TO_TEARDOWN "CLEAR_TO_TEARDOWN is there"
	check "and is not believed alone" transition_is crossing
	rm "$CONTROL/hold-0.g2"
	finishes g3 GREEN BLUE
	is "$(keys .theirs)" x "a key that is none of FLIP-504 is still there"
}

flip_begin bluegreen_flip
[ $# -gt 0 ] || set -- first others_write
bluegreen_cases "$@"
