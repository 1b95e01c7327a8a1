#!/usr/bin/env bash
#
# A job is stopped or cancelled by Flink's own REST API, and not by drey: with do-not-restart on, this is a suspension,
# and a new generation that names exactly the savepoint of the stop starts the job again. The written upgrade procedure of
# application clusters, step by step; the same with a stop that drey never saw.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

e2e_begin outside_stop
WANTED=$RUN/wanted
mkdir -p "$WANTED" "$RUN/theirs"
drey_conf
DREY_CONF[control.directory]=$WANTED
DREY_CONF[generation]=g1
start_tm_pod

do_not_restart() { # true|false
	printf '%s\n' "$1" >"$WANTED/.new"
	mv "$WANTED/.new" "$WANTED/do-not-restart"
}

# A job that runs, is proven, and has snapshots of its own.
running() {
	await "$1: the job runs" status_is '.phase == "Running" and .launch.proven'
	JOB=$(status .jobId)
	MUST_LIVE=(jm tm)
}

# Stop with savepoint by REST, into a directory that drey was never told of. PLACE: the savepoint.
stop_outside() {
	local trigger
	MUST_LIVE=(tm)
	trigger=$(rest_send POST "jobs/$JOB/stop" "{\"targetDirectory\": \"file://$RUN/theirs\", \"drain\": false}" |
		jq -r '.["request-id"]')
	await "the stop is complete" answered "$trigger"
}

# Flink goes soon after: the answer, or the directory.
answered() { # TRIGGER
	PLACE=$(rest "jobs/$JOB/savepoints/$1" '.operation.location' 2>/dev/null) && return
	PLACE=$(find "$RUN/theirs" -maxdepth 1 -name "savepoint-${JOB:0:6}-*" -exec test -f '{}/_metadata' ';' -print)
	[ -n "$PLACE" ] && PLACE=file://$PLACE
}

no_flink() {
	[ -z "$(jm_pid)" ]
}

next_container() {
	end_drey TERM
	start_drey
	MUST_LIVE=(jm tm)
}

goes_on_from() { # WHAT PATH
	await "$1: the job runs again" runs_after "$JOB"
	check "$1: from exactly $2" restore_matches "$2"
	is "$(status '.outcome // "none"')" none "$1: nothing of the stop is left"
}

# ---- the written procedure
start_drey
running "the procedure"
do_not_restart true
await "do-not-restart is known" status_is .desired.doNotRestart
stop_outside
await "no Flink runs" no_flink
await "it is held by do-not-restart" status_is '.phase == "Holding" and .cause == "DoNotRestart"'
check "the reason has the savepoint" status_is ".reason | contains(\"$(plain_path "$PLACE")\")"
end_drey TERM
MUST_LIVE=(tm)
DREY_CONF[generation]=g2
DREY_CONF[restore.initialSavepoint]=$PLACE
write_drey_yaml
drey check >"$RUN/check" 2>&1
is $? 0 "drey check passes"
check "and says what is started once do-not-restart is off" \
	grep -q "when lifted .*START_FROM (rule 6).*$(plain_path "$PLACE")" "$RUN/check"
drey resolve --json >"$RUN/resolve"
is $? 3 "drey resolve: parked"
is "$(jq -r .whenLifted.decision "$RUN/resolve")" START_FROM "and so does the document"
do_not_restart false
start_drey
goes_on_from "the procedure" "$PLACE"

# ---- nobody sees the stop: the container dies with the flag on
end_drey TERM
MUST_LIVE=(tm)
unset 'DREY_CONF[restore.initialSavepoint]'
DREY_CONF[poll.slow]=10m
DREY_CONF[poll.tasks]=0s
do_not_restart false
start_drey
await "unseen: the job runs" status_is ".launch.proven and .jobId != \"$JOB\""
running unseen
do_not_restart true
await "unseen: do-not-restart is known" status_is .desired.doNotRestart
stop_outside
has_record() {
	find "$RUN/ck/job-results" -path "*$JOB*" -type f | grep -q .
}
await "Flink has left a record of the stop" has_record
for pid in "${PIDS[jm]}" $(run_pids "^$BUILD/drey-init --agent") $(agent_pid) $(jm_pid); do
	kill -KILL "$pid" 2>/dev/null
done
wait_quietly "$WAIT_S" drey_has_ended
do_not_restart false
DREY_CONF[poll.slow]=1s
unset 'DREY_CONF[poll.tasks]'
start_drey
goes_on_from "unseen" "$PLACE"

# ---- do-not-restart is set and the job stopped in the same moment
running "at once"
do_not_restart true
stop_outside
await "at once: held by do-not-restart" status_is '.phase == "Holding" and .cause == "DoNotRestart"'
do_not_restart false
goes_on_from "at once" "$PLACE"

# ---- a cancel: from the newest checkpoint that was retained
running cancel
do_not_restart true
await "cancel: do-not-restart is known" status_is .desired.doNotRestart
MUST_LIVE=(tm)
check "cancel by REST" rest_send PATCH "jobs/$JOB?mode=cancel"
await "cancel: held by do-not-restart" status_is '.phase == "Holding" and .cause == "DoNotRestart"'
NEWEST=$(newest_retained "$JOB")
do_not_restart false
goes_on_from cancel "$NEWEST"

# ---- without the flag it is parked, until a new generation names the savepoint
running "without the flag"
stop_outside
await "without the flag: Cancelled" phase_is Cancelled
DREY_CONF[restore.initialSavepoint]=$PLACE
next_container
await "the same generation: Cancelled" phase_is Cancelled
DREY_CONF[generation]=g3
DREY_CONF[restore.initialSavepoint]=file://$RUN/theirs/savepoint-000000-0
next_container
await "another savepoint: Cancelled" phase_is Cancelled
check "the reason says which one would do" status_is ".reason | contains(\"initialSavepoint: \")"
end_drey TERM
DREY_CONF[restore.initialSavepoint]=$PLACE
write_drey_yaml
drey resolve >"$RUN/resolve"
is $? 0 "drey resolve: a new generation that names it would start"
start_drey
goes_on_from "a new generation" "$PLACE"

# ---- for a Kubernetes Job the container ends with 0
end_drey TERM
DREY_CONF[whenFinished]="exit"
start_drey
await "for a Job: the job runs" status_is ".launch.proven and .jobId != \"$JOB\""
running "for a Job"
stop_outside
await "for a Job: the container ends" drey_has_ended
is "$(cat "$RUN/jm.status")" 0 "with 0"
DREY_CONF[generation]=g4
DREY_CONF[restore.initialSavepoint]=$PLACE
start_drey
goes_on_from "for a Job" "$PLACE"

check "the state was continuous all the time" continuity
e2e_end
