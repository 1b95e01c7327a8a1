#!/usr/bin/env bash
#
# Surge upgrades and what the API server and the network do: T7, the candidate is stopped while its write is on its way, and comes
# back too late; T8, the answers to the writes that hand the job over are lost, or are errors,
# also after the server has done it; T9, the API server is away for 30 s; T10, the new owner is cut off for ever before the job runs. And what is asked of it when nothing is left to do.

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"
# shellcheck source=tests/handover/surge_lib.sh
. "$TOP/tests/handover/surge_lib.sh"

JOURNAL="PATCH drey-journal"

met() { # POD FAULT WORD
	has_met "$1" "$APPLICATION-drey-journal" "${@:2}"
}

# How often main() of that version ran.
mains() { # T
	grep -c "^MAIN $1 " "$OUT/events.log"
}

# ---- T7 --------------------------------------------------------------------------------------------

# The write that takes the job reaches the server after 30 s.
t7() {
	local agent before id
	begin
	upgrade_to "$NEXT"
	before=$(mains "$NEXT")
	faults "$CANDIDATE" "hold $JOURNAL 1 30"
	await "its write to take the job is on its way" met "$CANDIDATE" hold begins
	agent=$(agent_of "$CANDIDATE")
	kill -STOP "$agent"
	id=$(journal .handover.id)
	await_returned "$CURRENT" "${BEFORE[returned]}"
	is "$(mains "$NEXT")" "$before" "main() of $NEXT has not run"
	await "the write reaches the server, and fails" met "$CANDIDATE" hold 409
	faults "$CANDIDATE"
	kill -CONT "$agent"
	is "$(observed "select(.what == \"journal\" and .handover == \"taken\" and .id == \"$id\")")" "" "it was never taken"
	await "it is offered the job anew" happened_again offered $((BEFORE[offered] + 1))
	await_done "$NEXT"
	is "$(mains "$NEXT")" $((before + 1)) "main() of $NEXT has run once"
}

# ---- T8 --------------------------------------------------------------------------------------------

# While the snapshot waits there is nothing to write, so the next write is the one that grants the job. With S the rule counts
# for that long.
each_write_meets() { # FAULT TAIL_OF_THE_RULE STATUS [S]
	begin
	upgrade_to "$NEXT"
	faults "$CANDIDATE" "$1 $JOURNAL $2"
	await "the candidate's main() is held" candidate_has_held
	control hold-snapshot
	await "the job is being stopped" happened_again stopping "${BEFORE[stopping]}"
	sleep 2
	check "and nothing is granted" handover_is stopping
	faults "$OWNER" "$1 $JOURNAL $2"
	uncontrol hold-snapshot
	[ -z "${4:-}" ] || until_met "$1" "$3" "$4"
	await_done "$NEXT"
	check "the write that grants has met it" met "$OLD" "$1" "$3"
	check "so has the write that takes" met "$OWNER" "$1" "$3"
	faults "$OWNER"
	is "$(happened "done")" $((BEFORE[done] + 1)) "one hand-over"
	is "$(happened returned)" "${BEFORE[returned]}" "at its first try"
	check "the job was restored from the savepoint of the stop" restored_from "$OWNER" "$(journal .handover.savepoint)"
}

until_met() { # FAULT STATUS S
	await "the write that grants meets it" met "$OWNER" "$1" "$2"
	sleep "$3"
	faults "$OWNER"
	await "the write that takes meets it" met "$CANDIDATE" "$1" "$2"
	sleep "$3"
	faults "$CANDIDATE"
}

t8_lost() {
	each_write_meets lose 1 0
}

# The server has done it, and what is between says 500: the next try meets its own write.
t8_applied() {
	each_write_meets applied "1 500" 500
}

t8_conflict() {
	each_write_meets status "1 409" 409
}

t8_too_many() {
	each_write_meets status "1 429 1" 429
}

t8_forbidden() {
	each_write_meets status "0 403" 403 5
}

# ---- T9 --------------------------------------------------------------------------------------------

away() { # STATE [MOST]: how often the job may be returned, 0
	local from returned
	check "the API server dies at $1" at "$1" api_kill apiserver
	uncontrol hold-snapshot
	from=$(date +%s%3N)
	sleep 30
	check "it is back" api_start apiserver
	STARTING+=" and (.unixMs < $from or .unixMs > $(date +%s%3N))"
	await_done "$NEXT"
	is "$(happened "done")" $((BEFORE[done] + 1)) "one hand-over"
	returned=$(($(happened returned) - BEFORE[returned]))
	check "returned at most ${2:-0} times" test "$returned" -le "${2:-0}"
	diag "returned $returned times; without a record: $(verdict .longestMs) ms"
}

t9_offered() {
	begin
	upgrade_to "$NEXT"
	away offered
}

# The job ends, and that cannot be recorded. Flink cannot clean up after it either, may lose its leadership, and may recover the job
# from a checkpoint before the stop when it leads again; or it ends before its savepoint is complete, and the job is returned.
t9_stopping() {
	begin
	upgrade_to "$NEXT"
	await "the candidate's main() is held" candidate_has_held
	control hold-snapshot
	away stopping 1
}

# Flink may have stored the job that it is given, or not: it gives it up after 20 s then, and the job is returned.
t9_taken() {
	begin
	upgrade_to "$NEXT"
	away taken 1
}

# ---- T10 -------------------------------------------------------------------------------------------

last_record_ms() { # T
	grep "^$1 " "$OUT/records.log" | tail -n 1 | cut -d' ' -f5
}

t10() {
	local led
	begin
	upgrade_to "$NEXT"
	check "the new owner is cut off when it has taken the job" at taken partition "$CANDIDATE"
	await "its Flink ends" no_flink "$CANDIDATE"
	led=$(date +%s%3N)
	await "the job was returned" happened_again returned "${BEFORE[returned]}"
	check "after that" test "$(observed 'select(.what == "journal" and .handover == "returned") | .ms' | tail -n 1)" -gt "$led"
	await "the job of $CURRENT runs in the Pod that had it" pod_phase "$OWNER" Running
	is "$(journal .owner.pod)" "$OWNER" "which is the owner again"
	check "it was not told to end" not told term "$OWNER"
	count_written "$CURRENT"
	await "it goes on writing" goes_on_writing "$CURRENT"
	is "$(happened "done")" "${BEFORE[done]}" "the hand-over was never done"
	roll_back "$CURRENT"
}

no_flink() { # POD
	[ -z "$(pod_pids "$1" "^[^ ]*java .*$FLINK_ENTRYPOINT")" ]
}

# ---- afterwards ------------------------------------------------------------------------------------

# The record of a Pod that has ended stays. Nothing beats there, so the owner's watch says nothing.
# No pod has written its record for so long, by the log of the API server.
is_silent() { # SECONDS
	[ -z "$(api_requests ".verb == \"patch\" and .name == \"$APPLICATION-drey-candidate\" and .unixMs > $(($(date +%s%3N) - $1 * 1000))")" ]
}

rest_after() {
	local asked
	begin
	upgrade_to "$NEXT"
	await_done "$NEXT"
	await "nothing has beaten for 45 s" is_silent 45
	asked=$(api_requests ".verb == \"get\" and .name == \"$APPLICATION-drey-candidate\" and .unixMs > $(($(date +%s%3N) - 10000))" | wc -l)
	check "its record is looked at every 10 s: $asked times in the last 10 s" test "$asked" -le 2
}

surge_begin surge-api own
GAP_LIMIT_MS=120000
REPLAY=1
for t in g1 g2; do
	template $t
	template_keys $t handover.runDeadline=1min check.graph=false # which runs main(), too
	: >"$RUN/templates/$t/proxied"
done
if [ $# -eq 0 ]; then
	set -- t7 t8_lost t8_applied t8_conflict t8_too_many t8_forbidden t9_offered t9_stopping t9_taken t10 rest_after
fi
surge_cases "$@"
