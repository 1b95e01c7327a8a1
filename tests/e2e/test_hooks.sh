#!/usr/bin/env bash
#
# Hooks around a running job: what they are given, in which order, and that the stop waits for them.
#
# runs in: ci on 1.20.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# What the hooks were told: one line each.
# shellcheck disable=SC2317 # called by their names
told() {
	cut -d' ' -f1 "$RUN/told" | paste -sd' '
}

# shellcheck disable=SC2317
told_is() { # WORDS
	[ "$(told)" = "$1" ]
}

e2e_begin hooks
mkdir "$RUN/hooks"
for event in pre-launch post-launch post-savepoint pre-stop on-failure on-terminal; do
	cat >"$RUN/hooks/$event" <<-'HOOK'
		#!/bin/sh
		jq -r '[.hook, .status.phase, .decision.kind // "-", .decision.path // "-", .status.lastOperation.location // "-",
			.status.operation.reason // "-"] | join(" ")' >>"$TOLD"
	HOOK
	chmod +x "$RUN/hooks/$event"
done
mkdir "$RUN/hooks/post-savepoint.d"
ln -s "$TOP/hooks/newest-savepoint" "$RUN/hooks/post-savepoint.d/newest"
DREY_CONF[hooks.directory]=$RUN/hooks
DREY_CONF[hooks.environment]="{TOLD: $RUN/told, NEWEST_SAVEPOINT_FILE: $RUN/newest}"
DREY_CONF[whenFinished]='exit'
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
await "before and after the launch" told_is "pre-launch post-launch"
is "$(sed -n '1s/ \S* \S*$//p' "$RUN/told")" "pre-launch Resolving START_EMPTY -" "before it: from what"

await "the launch is proven" status_is .launch.proven
check "drey savepoint" drey savepoint
savepoint=$(status .lastSavepoint.path)
await "after a savepoint" told_is "pre-launch post-launch post-savepoint"
is "$(tail -n 1 "$RUN/told" | cut -d' ' -f5)" "$savepoint" "it is told where it is"
await "newest-savepoint keeps it" grep -qxF "$savepoint" "$RUN/newest"

# a stop that waits for its hook
printf '#!/bin/sh\ncat >/dev/null; : >%s/stopping; while [ ! -e %s/go ]; do sleep 0.1; done; echo pre-stop >>%s/told\n' \
	"$RUN" "$RUN" "$RUN" >"$RUN/hooks/pre-stop"
drey suspend >"$RUN/log/suspend.log" 2>&1 &
suspend=$!
await "suspend: the hook is asked first" test -e "$RUN/stopping"
check "Flink has not been asked yet" status_is '.job.state == "RUNNING" and .operation.kind == "stop"'
: >"$RUN/go"
wait "$suspend"
is $? 0 "then the job is suspended"
await "after the savepoint of the stop" told_is "pre-launch post-launch post-savepoint pre-stop post-savepoint"
suspended=$(status .lastSavepoint.path)
check "drey resume" drey resume
check "from that savepoint" restore_matches "$suspended"
await "and once more" told_is "pre-launch post-launch post-savepoint pre-stop post-savepoint pre-launch post-launch"
is "$(sed -n '6p' "$RUN/told" | cut -d' ' -f3,4)" "START_FROM $suspended" "the hook was told from what it starts"

# a failed attempt, and the end
job=$(status .jobId)
kill -KILL "$(jm_pid)"
await "JobManager killed: the job runs again" runs_after "$job"
await "that was told" grep -q '^on-failure' "$RUN/told"
MUST_LIVE=()
control finish
await "the job finishes, the container ends" test -e "$RUN/jm.status"
is "$(exit_status jm)" 0 "with status 0"
is "$(tail -n 1 "$RUN/told" | cut -d' ' -f1,2)" "on-terminal Finished" "not before the last hook had its say"
check "the state was continuous all the time" continuity
e2e_end
