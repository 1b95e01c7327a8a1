#!/usr/bin/env bash
#
# Two installations, one bucket, one lease object (docs/tasks/two-clusters.md): both are started at the same moment, ROUNDS times, with the
# lease of nobody, of one that is lost, or without the object: one of them runs the job. And the store answers conditional writes of the
# object that it has done with 500: the holder goes on, and nobody else takes it.
#
#   [ROUNDS=20] tests/api/test_lease_starts.sh
#
# runs in: all on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$TOP/tests/servers/lib.sh"
# shellcheck source=tests/e2e/lease_lib.sh
. "$TOP/tests/e2e/lease_lib.sh"

ROUNDS=${ROUNDS:-20}

# One of them runs the job, and the other one holds because of that. Sets WINNER, LOSER.
one_of_two_runs() {
	if at a site_runs && at b site_holds LeaseElsewhere; then
		WINNER=a LOSER=b
	elif at b site_runs && at a site_holds LeaseElsewhere; then
		WINNER=b LOSER=a
	else
		return 1
	fi
}

# The journal of the one that did not have the job is deleted, as the page says. The object is that of the one that is lost, or there is
# none, and no journal either.
round() { # N
	rm -rf "$TWO/$LOSER/state"
	[ $(($1 % 3)) -eq 1 ] || lease_delete
	[ $(($1 % 3)) -ne 2 ] || rm -rf "$TWO/$WINNER/state"
	at a site_start
	at b site_start
	await "round $1: one runs the job, and the other one holds" one_of_two_runs
	JOB=$(at "$WINNER" status .jobId)
	is "$(lease_get .name)" "$WINNER" "the object says so"
	some_checkpoints "$JOB"
	WINS[$WINNER]=$((${WINS[$WINNER]:-0} + 1))
	check "never two at once" never_two
	check "never older than what was complete" never_older
	at a site_lose
	at b site_lose
}

has_met() { # HOW OFTEN
	[ "$(grep -c '^PUT .*lease.json.* applied 500' "$RUN/log/lying.log")" -ge "$1" ]
}

declare -A WINS=()
two_begin lease-starts
lying_up "$S3_ENDPOINT"
site_make b
SITE_ENDPOINT[a]=$LYING_URL
site_make a

WINNER=a LOSER=b
for ((n = 1; n <= ROUNDS; n++)); do
	round "$n"
done
diag "a has won ${WINS[a]:-0} times, b ${WINS[b]:-0} times"

# ---- the write was done, and the answer is 500
at a site_start
await "a runs the job" at a site_runs
JOB=$(at a status .jobId)
at b site_start
await "b holds" at b site_holds LeaseElsewhere
lies "applied PUT lease\\.json 0 500"
await "writes of the lease were done, and answered 500" has_met 3
stays "a goes on" at a status_is ".jobId == \"$JOB\" and .phase == \"Running\""
check "b holds" at b site_holds LeaseElsewhere
lies ""
some_checkpoints "$JOB"
check "the lease is that of a" lease_is '.name == "a"'
check "the job is still the same" at a status_is ".jobId == \"$JOB\" and .lease.held"

# ---- the write that takes it
at a site_lose
at b site_lose
lease_delete
lies "applied PUT lease\\.json 3 500"
at a site_start
await "the write that takes it is one of them: a runs the job" at a site_runs
JOB=$(at a status .jobId)
some_checkpoints "$JOB"
oracle
e2e_end
