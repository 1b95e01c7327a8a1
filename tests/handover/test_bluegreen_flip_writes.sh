#!/usr/bin/env bash
#
# Blue/green upgrades with gates as those of FLIP-504, in which drey's writes of the keys fail: each kind of failure before the write,
# or after it; each answer lost; and no write allowed, before the cut and behind it. The writes of the gates succeed.
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
# shellcheck source=tests/handover/flip_lib.sh
. "$TOP/tests/handover/flip_lib.sh"

both_meet() { # [RULE...]
	faults "$OWNER" "$@"
	faults "$CANDIDATE" "$@"
}

# The new version may be done before it could write the keys of the stage before that.
went_through() {
	local last="$coming false RUNNING WATERMARK_SET T"
	is "$(contents | grep --invert-match "^$last$")" "$(sequence "$side" "$coming" | grep --invert-match "^$last$")" \
		"the keys went through the stages, in their order"
}

# All writes of both sides from the shadow on meet the rules.
goes_over_with() { # T RULE...
	local side coming
	in_shadow_of "$1"
	both_meet "${@:2}"
	check "drey promote" drey_of "$OWNER" promote
	finishes "$1" "$side" "$coming"
	went_through
}

has_failed() { # POD FAULT
	has_met "$1" "$APPLICATION-bluegreen" "$2"
}

each_failure() {
	local one before
	begin_with "${CURRENT:-g3}"
	before=$OWNER
	goes_over_with g4 "status $WRITES 1 409" "status $WRITES 1 429 1" "status $WRITES 1 500" "refuse $WRITES 1" "hang $WRITES 1" \
		"wrong $WRITES 1" "lose $WRITES 1"
	for one in status refuse hang wrong lose; do
		check "writes have met: $one" has_failed "$before" "$one"
	done
	both_meet
}

each_answer_lost() {
	local before
	begin_with "${CURRENT:-g4}"
	before=$OWNER
	goes_over_with g5 "lose $WRITES 0"
	check "the old version's writes have met it" has_failed "$before" lose
	check "so have the new one's" has_failed "$OWNER" lose
	both_meet
}

no_write_allowed() {
	local side coming
	begin_with "${CURRENT:-g5}"
	in_shadow_of g6
	both_meet "status $WRITES 0 403"
	check "drey promote" drey_of "$OWNER" promote
	await "the owner says why the gates do not cut" pod_log "$OWNER" 'the keys for the gates of the job cannot be written'
	WRITTEN=$(committed_by "$CURRENT")
	await "its job goes on" commits_more "$CURRENT"
	is "$(committed_by g6)" 0 "the other one writes nothing"
	is "$(keys .stage)" INITIALIZING "the gates know of no cut"
	both_meet
	await "the gates have chosen a cut" transition_is crossing
	both_meet "status $WRITES 0 403"
	await "all gates of the old version are behind it" keys_are '.stage == "CLEAR_TO_TEARDOWN"'
	await "the job is the new version's" journal_is ".owner.pod == \"$CANDIDATE\""
	await "it writes" has_committed g6 300
	await "its Pod says that the keys stay" pod_log "$CANDIDATE" 'the keys for the gates of the job cannot be written'
	is "$(keys .stage)" CLEAR_TO_TEARDOWN "as the gates have left them"
	both_meet
	finishes g6 "$side" "$coming"
	went_through
}

flip_begin bluegreen_flip_writes
WRITES="PATCH /configmaps/$APPLICATION-bluegreen(\\?|\$)"
template_keys g5 blueGreen.promote=manual blueGreen.settle=1min
for t in g3 g4 g5 g6; do
	: >"$RUN/templates/$t/proxied"
done
[ $# -gt 0 ] || set -- each_failure each_answer_lost no_write_allowed
bluegreen_cases "$@"
