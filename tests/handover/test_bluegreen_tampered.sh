#!/usr/bin/env bash
#
# G12: a person changes the files and objects of a transition that is under way: the order and the report of the gates, the record of
# the candidate, and the journal of its job. What is damaged, of another launch or transition, or of the future is ignored, and said;
# the new version writes nothing before its time, and the transition ends well.
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

NO_LAUNCH=00000000000000000000000000000000
FUTURE=9007199254740991

gate_file() { # POD NAME
	printf '%s' "$RUN/pods/$1/state/gate/$2.json"
}

replaced() { # FILE TEXT
	printf '%s\n' "$2" >"$1.test" && mv "$1.test" "$1"
}

order_is() { # POD WORD: of the job that runs
	jq --exit-status --arg word "$2" --arg launch "$(pod_status "$1" .jobId)" '.word == $word and .launch == $launch' \
		"$(gate_file "$1" order)" >/dev/null 2>&1
}

data_of() { # CONFIGMAP KEY
	kubectl get configmap "$APPLICATION-$1" --output json | jq --raw-output ".data[\"$2\"]"
}

change_data() { # CONFIGMAP KEY TEXT
	kubectl patch configmap "$APPLICATION-$1" --type merge --patch \
		"$(jq --null-input --arg key "$2" --arg text "$3" '{data: {($key): $text}}')" >/dev/null
}

record_is_back() {
	shadow_is shadowing || shadow_is caughtUp
}

nothing_is_written() {
	is "$(committed_by g2)" 0 "nothing of the new version is committed"
	check "and the transition is where it was" transition_is shadow
}

# ---- the gates -----------------------------------------------------------------------------------

orders() {
	local file text
	file=$(gate_file "$CANDIDATE" order)
	text=$(cat "$file")
	check "half of an order is in the file" replaced "$file" "${text:0:60}"
	await "the gates say so" pod_log "$CANDIDATE" 'the gates of the job ignore their order.*it is not JSON'
	await "and it is written again" order_is "$CANDIDATE" closed
	check "an order to open is of another launch" replaced "$file" \
		"$(jq --compact-output ".launch = \"$NO_LAUNCH\" | .word = \"open\" | .number = $FUTURE" <<<"$text")"
	await "the gates say so" pod_log "$CANDIDATE" "the gates of the job ignore their order.*it is of launch $NO_LAUNCH"
	await "and the order is written again" order_is "$CANDIDATE" closed
	check "an order of before" replaced "$file" "$(jq --compact-output '.word = "open" | .number = 1' <<<"$text")"
	await "the gates say so" pod_log "$CANDIDATE" 'the gates of the job ignore their order.*its number is 1, and'
	await "and the order is written again" order_is "$CANDIDATE" closed
	nothing_is_written
}

# The gates write it anew twice a second.
half_a_report() {
	replaced "$(gate_file "$OWNER" report)" '{"schema":1,"launch":"'
	pod_log "$OWNER" 'the report of the gates of the job cannot be read, and is ignored'
}

# That of a gate that has acknowledged all orders to come.
future_report() {
	local file
	file=$(gate_file "$OWNER" report)
	replaced "$file" "$(jq --compact-output \
		".number = $FUTURE | .word = \"armBlue\" | .toggle = 1000 | .writtenUnixMs = $FUTURE" "$file")" || :
	FORGED=$((FORGED + 1))
	[ "$FORGED" -ge 10 ]
}

reports() {
	FORGED=0
	await "half of a report is there, and is ignored" half_a_report
	await "reports of the future are there" future_report
	nothing_is_written
}

# ---- the candidate -------------------------------------------------------------------------------

records() {
	local record
	record=$(data_of drey-candidate candidate.json)
	check "half of the record of the candidate" change_data drey-candidate candidate.json "${record:0:80}"
	await "the owner says so" pod_log "$OWNER" 'the record of another pod cannot be read, and is ignored'
	await "the candidate writes it again" record_is_back
	check "one of another application" change_data drey-candidate candidate.json "$(jq --compact-output '.application = "other"' <<<"$record")"
	await "the candidate writes it again" record_is_back
	check "one of another transition, and of the future" change_data drey-candidate candidate.json "$(jq --compact-output \
		".beat = $FUTURE | .shadow.transition = \"h99-00000000\" | .shadow.ended = true" <<<"$record")"
	await "the candidate writes it again" record_is_back
	nothing_is_written
}

# Read by the next agent: it starts nothing, and kills nothing.
journals() {
	local text job
	job=$(own_journal '.launches[-1].jobId')
	text=$(data_of drey-candidate-journal journal.json)
	check "half of the journal is there" change_data drey-candidate-journal journal.json "${text:0:200}"
	check "and its agent is killed" kill_agent "$CANDIDATE"
	await "it says so" pod_log "$CANDIDATE" 'cannot read the journal of the job in the shadow|journal.*(damaged|not JSON|byte)'
	is "$(committed_by g2)" 0 "nothing of the new version is committed"
	check "the journal is put back" change_data drey-candidate-journal journal.json "$text"
	await "its job is in the shadow" pod_phase "$CANDIDATE" Shadow
	await "and says so" record_is_back
	nothing_is_written
	is "$(own_journal '.launches[-1].jobId')" "$job" "it is the job of before"
}

tampered() {
	begin_with g1
	upgrade_to g2
	await "its job runs in the shadow" pod_phase "$CANDIDATE" Shadow
	await "the owner knows" transition_is shadow
	await "its gates hold everything back" gates_are closed
	orders
	reports
	records
	journals
	check "drey promote" drey_of "$OWNER" promote
	finishes g2
}

bluegreen_begin bluegreen_tampered 2s
template_keys g1 blueGreen.promote=manual blueGreen.deadline=15min
[ $# -gt 0 ] || set -- tampered
bluegreen_cases "$@"
