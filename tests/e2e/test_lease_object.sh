#!/usr/bin/env bash
#
# Two installations, one bucket, one lease object (docs/tasks/two-clusters.md): the object is not what this drey writes, or is
# another application's; an installation is frozen, has a wrong key, is taken away while the job is suspended. As test_lease.sh.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/lib.sh"
# shellcheck source=tests/e2e/lease_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lease_lib.sh"

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

two_begin lease-object
site_make a
site_make b
at b site_start
await "b runs the job" at b site_runs
JOB=$(at b status .jobId)
at a site_start
await "a holds" at a site_holds LeaseElsewhere

# ---- the object is not what this drey writes, or of somebody else: nobody touches it
some_checkpoints "$JOB"
lease_get >"$RUN/lease.json"
replaced damaged <(head -c 40 "$RUN/lease.json")
replaced "of a later format" <(jq '.format = 2' "$RUN/lease.json")
replaced "of another application" <(jq '.application = "billing"' "$RUN/lease.json")

# ---- a copy of b: the same journal, with the id that the object calls holder, the same name, and a copied state directory
some_checkpoints "$JOB"
site_make c
sed -i 's/^\( *name: *\).*/\1b/' "$TWO/c/drey.yaml"
cp -a "$TWO/b/state/." "$TWO/c/state"
rm -f "$TWO/c/state"/*.sock
at c site_start
await "a copy of b holds" at c site_holds LeaseElsewhere
check "and says that it may be one" at c status_is '.reason | contains("with the id of this journal")'
diag "$(at c status .reason)"
stays "it stays so" at c site_holds LeaseElsewhere
check "the job of b goes on" at b status_is ".jobId == \"$JOB\" and .phase == \"Running\""
at c site_lose
oracle

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
lease_delete
await "a takes over, and it is suspended there, too" at a phase_is Suspended
BACK_MS=$(now_ms)
check "drey resume in a" at a drey resume
follows a "$JOB" "$BACK_MS" "$BACK_MS"
is "$(at a status .launch.restorePoint.path)" "$SAVEPOINT" "from the savepoint of the suspension"
e2e_end
