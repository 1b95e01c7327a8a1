# shellcheck shell=bash disable=SC2034,SC2119,SC2153,SC2154
#
# lease_chaos_lib.sh - what happens to two clusters with one bucket and one lease object. Sourced after clusters_lib.sh by
# test_lease_chaos.sh.
#
#   FAULTS_KNOWN                the names of the faults; each has a function fault_NAME, which ends with everything healed, sets
#                               DISTURBED, and may add checks. Whoever runs the job afterwards, it is one
#   fault_draw                  one of them, drawn from RANDOM: NAME
#
# The holder is $HOLDER, and the other one has no journal: it may take over.

FAULTS_KNOWN=(flink agent other_agent store_away cut_off other_cut_off frozen pod both_pods cluster api_hangs clock
	deleted put_back overwritten copied both_deleted)

fault_draw() {
	NAME=${FAULTS_KNOWN[RANDOM % ${#FAULTS_KNOWN[@]}]}
}

# ---- processes ----------------------------------------------------------------------------------------------

agent_killed() { # SITE
	local old
	old=$(at "$1" agent_pid)
	DISTURBED="the agent of $1 is killed"
	kill -KILL "$old"
	wait_until "there is another agent" "$WAIT_S" at "$1" agent_is_new "$old"
}

fault_flink() {
	local job
	DISTURBED="the Flink of $HOLDER is killed"
	job=$(at "$HOLDER" status .jobId)
	kill -KILL "$(at "$HOLDER" jm_pid)"
	await "$DISTURBED: another job runs" at "$HOLDER" runs_after "$job"
}

fault_agent() {
	agent_killed "$HOLDER"
}

fault_other_agent() {
	agent_killed "$(other "$HOLDER")"
}

fault_frozen() {
	local seconds
	between seconds 1 16
	DISTURBED="$HOLDER is frozen for $seconds s"
	at "$HOLDER" site_freeze
	sleep "$seconds"
	at "$HOLDER" site_thaw
}

# Its journal is in its cluster; its state directory, with the mark, is not.
fault_pod() {
	local site=$HOLDER
	DISTURBED="the Pod of $site is lost, and another one begins"
	at "$site" site_lose
	rm -rf "${TWO:?}/$site/state"
	pod_start "$site"
}

both_lost() {
	at "$HOLDER" site_lose
	at "$(other "$HOLDER")" site_lose
}

both_start() {
	pod_start a
	pod_start b
}

fault_both_pods() {
	DISTURBED="both are lost, and start at the same moment"
	both_lost
	both_start
}

fault_cluster() {
	local site=$HOLDER
	DISTURBED="the cluster of $site is lost, and is back"
	cluster_lost "$site"
	await "$DISTURBED: $(other "$site") runs the job" at "$(other "$site")" site_runs
	cluster_back "$site"
	pod_start "$site"
}

# ---- the network, the store, the clock -----------------------------------------------------------------------

fault_store_away() {
	local seconds
	between seconds 1 20
	DISTURBED="the store is away for $seconds s"
	kill -STOP "${PIDS[minio]}"
	sleep "$seconds"
	kill -CONT "${PIDS[minio]}"
}

cut_off_for_a_while() { # SITE
	local seconds
	between seconds 1 20
	DISTURBED="$1 is cut off the store for $seconds s"
	cut_off "$1"
	sleep "$seconds"
	heal "$1"
}

fault_cut_off() {
	cut_off_for_a_while "$HOLDER"
}

fault_other_cut_off() {
	cut_off_for_a_while "$(other "$HOLDER")"
}

fault_api_hangs() {
	local seconds site=$HOLDER
	between seconds 1 8
	DISTURBED="the API server of $site hangs for $seconds s"
	"$CLUSTER_SH" signal "$TWO/$site/cluster" STOP apiserver
	sleep "$seconds"
	"$CLUSTER_SH" signal "$TWO/$site/cluster" CONT apiserver
}

# Not to before its API server's certificate was made, or a new agent cannot talk to it at all. (Where clusters run, it is older than that.)
fault_clock() {
	local seconds age site=$HOLDER
	[ $((RANDOM % 2)) -eq 0 ] || site=$(other "$site")
	between seconds -600 600
	age=$(($(date +%s) - $(stat --format %Y "$TWO/$site/cluster/pki/apiserver.crt")))
	[ "$seconds" -gt $((10 - age)) ] || seconds=$((10 - age))
	DISTURBED="the wall clock of $site is set by $seconds s"
	echo "${seconds}000" >"$TWO/$site/wall"
	sleep 2
}

# ---- the object ------------------------------------------------------------------------------------------------

fault_deleted() {
	DISTURBED="the lease object is deleted"
	lease_delete
	await "$DISTURBED: $HOLDER writes it again" lease_is ".name == \"$HOLDER\""
}

# KEPT is what the object was at some time before.
fault_put_back() {
	local before
	DISTURBED="the lease object is put back to an older version"
	[ -s "$TWO/kept.json" ] || lease_get >"$TWO/kept.json"
	before=$(lease_get .sequence)
	lease_put "$TWO/kept.json"
	await "$DISTURBED: $HOLDER writes it again" lease_is ".sequence > $before and .name == \"$HOLDER\""
	[ $((RANDOM % 3)) -ne 0 ] || lease_get >"$TWO/kept.json"
}

# As a replication of another bucket leaves it.
from_a_copy() {
	lease_get '.uri = "s3://elsewhere/orders/lease.json"' >"$TWO/copied.json"
	lease_put "$TWO/copied.json"
}

fault_overwritten() {
	DISTURBED="the object of another bucket lies over that of the holder"
	from_a_copy
	await "$DISTURBED: $HOLDER writes it again" lease_is ".uri == \"s3://$BUCKET_KEY\" and .name == \"$HOLDER\""
}

# Nobody takes it, until a person deletes it.
fault_copied() {
	DISTURBED="both are lost, and start with a bucket that was copied"
	both_lost
	from_a_copy
	both_start
	await "$DISTURBED: both hold" both_hold LeaseCopied
	check "the reason names the other bucket" at a status_is '.reason | contains("s3://elsewhere/orders/lease.json")'
	stays "it stays so" both_hold LeaseCopied
	lease_get >"$TWO/seen.json"
	check "nobody has written it" cmp "$TWO/seen.json" "$TWO/copied.json"
	lease_delete
}

fault_both_deleted() {
	DISTURBED="both are lost, the object is deleted, and they start at the same moment"
	both_lost
	lease_delete
	both_start
}
