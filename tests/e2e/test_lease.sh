#!/usr/bin/env bash
#
# Two installations, one bucket, one lease object (docs/tasks/two-clusters.md): the one that is lost is followed by the other one,
# from the newest snapshot; never do both run the job. Each has a real Flink, on a real S3 server.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/lib.sh"
# shellcheck source=tests/e2e/lease_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lease_lib.sh"

FAILOVER_MS=60000

# Nobody has to act: SITE runs the job, another one than JOB, soon after the lease ended at END_MS. Sets JOB.
follows() { # SITE JOB END_MS LOST_MS
	local begun
	await "$1 runs the job" at "$1" site_runs
	JOB=$(at "$1" status .jobId)
	begun=$(began_ms "$JOB")
	diag "$((begun - $3)) ms after the lease ran out, $((begun - $4)) ms after the loss"
	check "another job" test "$JOB" != "$2"
	check "within $((FAILOVER_MS / 1000)) s after the lease ran out" test $((begun - $3)) -lt "$FAILOVER_MS"
	check "Flink has restored what was decided" at "$1" status_is .launch.restoreVerified
	oracle
}

oracle() {
	check "never two at once" never_two
	check "never older than what was complete" never_older
	check "no count was lost, and none repeated" continuity
}

some_checkpoints() { # JOB
	await "checkpoints are complete" has_completed $(($(last_event COMPLETED checkpoint) + 3)) "$1"
}

# For as long as somebody would need who takes the lease.
stays() { # WHAT CMD...
	local what=$1 end=$((SECONDS + LEASE_S + LEASE_S / 10 + 4)) status=0
	shift
	while [ "$SECONDS" -lt "$end" ] && [ "$status" -eq 0 ]; do
		"$@" >/dev/null 2>&1 || status=$?
		sleep 0.3
	done
	tap_result "$status" "$what"
}

no_flink_anywhere() {
	[ -z "$(at a jm_pid)$(at b jm_pid)" ]
}

# The object is replaced by FILE: the holder, b, ends its Flink in time, nobody writes it; then it is put back.
replaced() { # WHAT FILE
	cat "$2" >"$RUN/other.json"
	lease_put "$RUN/other.json"
	await "the object is $1: b ends its Flink" no_flink_anywhere
	await "both cannot read it" both_hold LeaseUnreadable
	diag "$(at a status .reason)"
	stays "neither starts the job" no_flink_anywhere
	lease_get >"$RUN/kept.json"
	check "nobody has written it" cmp "$RUN/other.json" "$RUN/kept.json"
	BACK_MS=$(now_ms)
	lease_put "$RUN/lease.json"
	follows b "$JOB" "$BACK_MS" "$BACK_MS"
	lease_get >"$RUN/lease.json"
}

both_hold() { # CAUSE
	at a site_holds "$1" && at b site_holds "$1"
}

# How long the Flink of a lives after SIGCONT, which Flink gets first and drey-init last.
thaw_a() {
	local begun dead others
	mapfile -t others < <(at a run_pids | grep -vx "$FROZEN")
	begun=$(now_ms)
	kill -CONT "$FROZEN" "${others[@]}"
	until gone "$FROZEN"; do :; done
	dead=$(now_ms)
	diag "the Flink of a lived $((dead - begun)) ms after it was thawed"
	check "it is killed at once" test $((dead - begun)) -lt 2000
}

two_begin lease
site_make a
site_make b

# ---- one runs, the other one waits
at a site_start
await "nobody has ever held the lease: a waits" at a site_holds LeaseElsewhere
await "then it runs the job" at a site_runs
JOB=$(at a status .jobId)
at b site_start
await "b holds" at b site_holds LeaseElsewhere
check "and names a" at b status_is '.reason | startswith("a holds the lease")'
check "the object says so" lease_is '.name == "a" and .parked == false'
some_checkpoints "$JOB"
check "b holds still" at b site_holds LeaseElsewhere

# ---- the agent alone is killed
OLD=$(at a agent_pid)
kill -KILL "$OLD"
await "the agent is killed: there is another one" at a agent_is_new "$OLD"
some_checkpoints "$JOB"
check "and the same job" at a status_is ".jobId == \"$JOB\" and .phase == \"Running\""

# ---- the store is away for a moment
kill -STOP "${PIDS[minio]}"
sleep 2 # it must be shorter than what a holder endures
kill -CONT "${PIDS[minio]}"
some_checkpoints "$JOB"
stays "the store was away for 2 s: nothing happens" at a status_is ".jobId == \"$JOB\" and .lease.held"

# ---- a is lost
LOST_MS=$(now_ms)
at a site_lose
END_MS=$(lease_end_ms)
follows b "$JOB" "$END_MS" "$LOST_MS"
at a site_start
await "a comes back, and holds" at a site_holds LeaseElsewhere
stays "it stays so" at a site_holds LeaseElsewhere
check "the job of b goes on" at b status_is ".jobId == \"$JOB\" and .phase == \"Running\""

# ---- the store is away for longer than the lease
some_checkpoints "$JOB"
END_MS=$(lease_end_ms)
server_down minio
LOST_MS=$(now_ms)
await "the store is away: b ends its Flink" no_flink_anywhere
DEAD_MS=$(now_ms)
diag "$((DEAD_MS - LOST_MS)) ms after the store was gone, $((END_MS - DEAD_MS)) ms before the lease ended"
check "before its lease ends" test "$DEAD_MS" -le $((END_MS + LEASE_S * 1000 / 3))
stays "neither starts the job" no_flink_anywhere
check "both say why" at a status_is '.cause == "LeaseUnreadable"'
check "b too" at b status_is '.cause == "LeaseUnreadable"'
BACK_MS=$(now_ms)
server_up minio "$RUN/minio"
follows b "$JOB" "$BACK_MS" "$LOST_MS"
check "a holds" at a site_holds LeaseElsewhere

# ---- the object is not what this drey writes, or of somebody else: nobody touches it
some_checkpoints "$JOB"
lease_get >"$RUN/lease.json"
replaced damaged <(head -c 40 "$RUN/lease.json")
replaced "of a later format" <(jq '.format = 2' "$RUN/lease.json")
replaced "of another application" <(jq '.application = "billing"' "$RUN/lease.json")

# ---- b is frozen, as a virtual machine that is stopped
some_checkpoints "$JOB"
at b site_lose # a may take over from now on: its journal does not know the launches of b
at a site_lose
rm -r "$TWO/a/state" "$TWO/b/state"
at a site_start
END_MS=$(lease_end_ms) LOST_MS=$(now_ms)
follows a "$JOB" "$END_MS" "$LOST_MS"
at b site_start
await "b waits" at b site_holds LeaseElsewhere
some_checkpoints "$JOB"
LOST_MS=$(now_ms)
at a site_freeze
END_MS=$(lease_end_ms)
FROZEN=$(at a jm_pid)
follows b "$JOB" "$END_MS" "$LOST_MS"
check "the Flink of a is frozen" test -n "$FROZEN"
thaw_a
await "a has lost the lease, and holds" at a site_holds LeaseElsewhere
some_checkpoints "$JOB"
oracle

# ---- a wrong key
at a site_lose
at a site_conf a wrong
at a site_start
await "a wrong key: a holds" at a site_holds LeaseUnreadable
stays "it stays so" at a site_holds LeaseUnreadable
check "and says why" at a status_is '.reason | test("403|InvalidAccessKey|SignatureDoesNotMatch")'
diag "$(at a status .reason)"
check "b goes on" at b status_is ".jobId == \"$JOB\" and .phase == \"Running\""
at a site_lose
at a site_conf a "$S3_SECRET_KEY"

# ---- the job is moved: suspended in b, which is taken away; the object is deleted
rm -r "$TWO/a/state"
at a site_start
await "a waits" at a site_holds LeaseElsewhere
check "drey suspend in b" at b drey suspend
SAVEPOINT=$(at b status .lastSavepoint.path)
await "the object says that nobody is to take over" lease_is .parked
stays "a does not" at a site_holds LeaseElsewhere
at b site_lose
stays "also when b is lost" at a site_holds LeaseElsewhere
check "and says why" at a status_is '.reason | contains("not meant to run there")'
BACK_MS=$(now_ms)
lease_delete
follows a "$JOB" "$BACK_MS" "$BACK_MS"
is "$(at a status .launch.restorePoint.path)" "$SAVEPOINT" "from the savepoint of the suspension"
e2e_end
