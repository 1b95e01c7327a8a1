#!/usr/bin/env bash
#
# Chaos of two clusters with one bucket (`make chaos WORLD=lease`): two real API servers, a real Flink in each, one lease object on
# a real S3 server. FAULTS times something happens to them, drawn from SEED (lease_chaos_lib.sh): processes are killed or frozen, a Pod or a
# cluster is lost, the network or the store is away, the object is deleted, put back, or comes from another bucket. Each one is
# judged: soon one runs the job and the other one waits, never two at once, never from older state, no count lost or repeated.
#
#   [SEED=1] [FAULTS=12] tests/api/test_lease_chaos.sh       200 take about 4 hours
#   ONLY="copied put_back" ...                               only these faults
#
# runs in: all on 2.3.0

# shellcheck disable=SC2119,SC2153,SC2154 # lib.sh has functions whose arguments are optional, and variables
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$TOP/tests/servers/lib.sh"
# shellcheck source=tests/e2e/lease_lib.sh
. "$TOP/tests/e2e/lease_lib.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/clusters_lib.sh
. "$TOP/tests/api/clusters_lib.sh"
# shellcheck source=tests/api/lease_chaos_lib.sh
. "$TOP/tests/api/lease_chaos_lib.sh"

SEED=${SEED:-1}
FAULTS=${FAULTS:-12}
HEALED_MS=()
declare -A TOLD=()
[ -z "${ONLY:-}" ] || read -ra FAULTS_KNOWN <<<"$ONLY"

# The other one has no journal of its own, as the page says: it takes over from the copy in the bucket.
prepare() {
	local to
	to=$(other "$HOLDER")
	JOB=$(at "$HOLDER" status .jobId)
	[ "${PREPARED:-}" != "$to $JOB" ] || return 0
	forget "$to"
	await "$to may take over" at "$to" site_holds LeaseElsewhere
	PREPARED="$to $JOB"
}

# At any moment between two renewals and two checkpoints.
any_moment() {
	local seconds
	between seconds 1 8
	sleep "$seconds"
}

judged_fault() { # N
	local healed_ms
	prepare
	any_moment
	fault_draw
	DISTURBED=$NAME
	"fault_$NAME"
	healed_ms=$(now_ms)
	await "fault $1: $DISTURBED: one runs the job, and the other one waits" one_runs
	HEALED_MS+=($(($(now_ms) - healed_ms)))
	TOLD[$NAME]=$((${TOLD[$NAME]:-0} + 1))
	oracle
}

clusters_begin lease-chaos
diag "SEED=$SEED FAULTS=$FAULTS lease.duration: ${LEASE_S}s"
pod_start a
await "a runs the job" at a site_runs
pod_start b
await "b is parked" at b site_holds LeaseElsewhere
HOLDER=a
RANDOM=$SEED # ports are drawn before
for ((n = 1; n <= FAULTS; n++)); do
	judged_fault "$n"
done
for name in "${!TOLD[@]}"; do
	diag "$name: ${TOLD[$name]}"
done
diag "from the end of a fault until one runs: $(printf '%s\n' "${HEALED_MS[@]}" | sort -n | awk '
	{ all[NR] = $1 } END { print "median " all[int((NR + 1) / 2)] " ms, largest " all[NR] " ms of " NR }')"
e2e_end
