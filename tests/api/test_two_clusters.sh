#!/usr/bin/env bash
#
# The drill of docs/tasks/two-clusters.md: two clusters, each with a control plane, an installation of the application and a real
# Flink, share one bucket. In each of ROUNDS rounds, at times and in ways drawn from SEED, something disturbs them, and then
# the one that runs the job is lost: the other one has to run it from the newest state, with nobody at the keyboard, and the
# lost one comes back and stays parked. Then its journal is deleted, and the roles change.
#
#   [SEED=1] [ROUNDS=20] tests/api/test_two_clusters.sh       20 take about 16 minutes
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

SEED=${SEED:-1}
ROUNDS=${ROUNDS:-20}
FAILOVER_MS=60000
AFTER_LEASE=() AFTER_LOSS=()

# ---- what disturbs ---------------------------------------------------------------------------------------
# Each ends with everything healed; DISTURBED says what was done. Whoever runs the job afterwards, it is one.

disturb() {
	local seconds old what
	what=$((RANDOM % 8))
	case $what in
	0)
		DISTURBED="nothing"
		;;
	1)
		between seconds 1 20
		DISTURBED="the store is away for $seconds s"
		kill -STOP "${PIDS[minio]}"
		sleep "$seconds"
		kill -CONT "${PIDS[minio]}"
		;;
	2)
		between seconds 1 20
		DISTURBED="$HOLDER is cut off the store for $seconds s"
		cut_off "$HOLDER"
		sleep "$seconds"
		heal "$HOLDER"
		;;
	3)
		between seconds 1 16
		DISTURBED="$HOLDER is frozen for $seconds s"
		at "$HOLDER" site_freeze
		sleep "$seconds"
		at "$HOLDER" site_thaw
		;;
	4)
		old=$(at "$HOLDER" agent_pid)
		DISTURBED="the agent of $HOLDER is killed"
		kill -KILL "$old"
		wait_until "there is another agent" "$WAIT_S" at "$HOLDER" agent_is_new "$old"
		;;
	5)
		between seconds -600 600
		DISTURBED="the wall clock of $HOLDER is set by $seconds s"
		echo "${seconds}000" >"$TWO/$HOLDER/wall"
		sleep 2
		;;
	6)
		between seconds -600 600
		DISTURBED="the wall clock of $(other "$HOLDER") is set by $seconds s"
		echo "${seconds}000" >"$TWO/$(other "$HOLDER")/wall"
		sleep 2
		;;
	*)
		between seconds 1 8
		DISTURBED="the API server of $HOLDER hangs for $seconds s"
		"$CLUSTER_SH" signal "$TWO/$HOLDER/cluster" STOP apiserver
		sleep "$seconds"
		"$CLUSTER_SH" signal "$TWO/$HOLDER/cluster" CONT apiserver
		;;
	esac
}

# ---- the loss ------------------------------------------------------------------------------------------------

lose() { # SITE: sets LOST and LOST_MS
	LOST_MS=$(now_ms)
	case $((RANDOM % 3)) in
	0)
		LOST="lost"
		cluster_lost "$1"
		;;
	1)
		LOST="cut off"
		cut_off "$1"
		;;
	*)
		LOST="frozen"
		at "$1" site_freeze
		;;
	esac
}

come_back() { # SITE
	case $LOST in
	lost)
		cluster_back "$1"
		pod_start "$1"
		;;
	"cut off") heal "$1" ;;
	*) at "$1" site_thaw ;;
	esac
}

# When the lease of SITE ends; its wall clock may be wrong.
end_of() { # SITE
	echo $(($(lease_end_ms) - $(cat "$TWO/$1/wall")))
}

runs_now() { # SITE
	at "$1" status_is '.phase == "Running"' && JOB=$(at "$1" status .jobId) && [ "$JOB" != "$OLD_JOB" ] &&
		BEGUN_MS=$(began_ms "$JOB") && [ -n "$BEGUN_MS" ]
}

round() { # N
	local seconds from to end_ms
	to=$(other "$HOLDER")
	forget "$to" # else it takes the lease, and holds with UnknownNewerState
	await "round $1: $to may take over" at "$to" site_holds LeaseElsewhere
	disturb
	await "round $1: $DISTURBED: one runs the job" one_runs
	from=$HOLDER
	if [ "$from" = "$to" ]; then
		to=$(other "$from")
		forget "$to"
	fi
	await "round $1: $to is parked" at "$to" site_holds LeaseElsewhere
	between seconds 1 8
	sleep "$seconds" # at any moment between two renewals and two checkpoints
	OLD_JOB=$(at "$from" status .jobId)
	lose "$from"
	end_ms=$(end_of "$from")
	await "round $1: $from is $LOST: $to runs the job" runs_now "$to"
	AFTER_LEASE+=($((BEGUN_MS - end_ms)))
	AFTER_LOSS+=($((BEGUN_MS - LOST_MS)))
	check "within $((FAILOVER_MS / 1000)) s after the lease ran out" test $((BEGUN_MS - end_ms)) -lt "$FAILOVER_MS"
	diag "$((BEGUN_MS - end_ms)) ms after the lease ran out, $((BEGUN_MS - LOST_MS)) ms after the loss"
	await "proven" at "$to" site_runs
	come_back "$from"
	await "$from is back, and parked" at "$from" site_holds LeaseElsewhere
	HOLDER=$to
	check "never two at once" never_two
	check "never older than what was complete" never_older
	check "no count was lost, and none repeated" continuity
	check "the job is still the same" at "$to" status_is ".jobId == \"$JOB\" and .phase == \"Running\""
}

report() { # WHAT MS...
	local what=$1 sorted
	shift
	mapfile -t sorted < <(printf '%s\n' "$@" | sort -n)
	diag "$what: smallest ${sorted[0]} ms, median ${sorted[$(($# / 2))]} ms, largest ${sorted[-1]} ms of $#"
}

# ---- the test -------------------------------------------------------------------------------------------------

clusters_begin two-clusters
diag "SEED=$SEED ROUNDS=$ROUNDS lease.duration: ${LEASE_S}s"
pod_start a
await "a runs the job" at a site_runs
pod_start b
await "b is parked" at b site_holds LeaseElsewhere
HOLDER=a
RANDOM=$SEED # ports are drawn before
for ((n = 1; n <= ROUNDS; n++)); do
	round "$n"
done
report "lease ran out -> the job runs" "${AFTER_LEASE[@]}"
report "loss -> the job runs" "${AFTER_LOSS[@]}"
e2e_end
