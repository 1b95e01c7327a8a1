# shellcheck shell=bash disable=SC2034
#
# surge_lib.sh - what the tests of surge upgrades have in common. Sourced after tests/handover/lib.sh.
#
#   surge_begin NAME [own]    the bench, with observer and node; own: and a control plane that may be killed
#   surge_cases CASE...       runs these functions, or those that are named on the command line, and then what is true of all:
#                             nothing lost or doubled, no TaskManager at the wrong JobManager, never two jobs, no 403
#   begin_with T              the application runs as template T (the first case deploys it); sets OWNER, its Pod
#   begin                     the application runs as g1 or g2, and NEXT is the other one; OLD is the Pod of now, BEFORE[STATE] how
#                             often the hand-over has been in that state
#   at STATE CMD...           runs CMD as soon as the hand-over since `begin` is in that state
#   candidate_is_prepared     for await, as candidate_has_held of lib.sh
#   agent_of POD              the process id of its drey run; drey_of POD COMMAND [ARG...] runs drey there
#   kill_the_agent POD        and await another_agent POD "$KILLED_AGENT"
#   deployed T                deploys T, and waits for its Pod: CANDIDATE
#   upgrade_to T              the same; the old Pod was not told to end
#   await_done T              waits until the job runs there, the old Pods are gone, and it writes; OWNER is the new one
#   await_returned T          waits until the hand-over has failed and the version T of before writes again in the same Pod, OWNER
#   await_moved T             the owner was lost: waits until a Pod of T runs the job, OWNER; the candidate has taken it by force, or a Pod of
#                             the old template went on and handed it over
#   roll_back T               T is deployed again, and CANDIDATE goes
#
# REPLAY is set to 1 by a case in which Flink recovers from a checkpoint. STARTING is more of a condition for jq on the requests that
# must not be denied: an API server that has just started denies everything until it has read its Roles. GAP_LIMIT_MS (default
# 10000, for busy machines): no hand-over may take longer; the figures are printed.

GAP_LIMIT_MS=${GAP_LIMIT_MS:-10000}
CURRENT=''
OWNER=''
REPLAY=''
STARTING=''
NEXT=''
OLD=''
declare -A BEFORE=()

watched_begin() { # NAME MODE [own]
	handover_begin "$@"
	start_observer
	start_node
	MUST_LIVE=(kubelet observer)
}

surge_begin() { # NAME [own]
	watched_begin "$1" surge "${2:-}"
}

told() { # WHAT POD
	grep --quiet -E "^[0-9]+ $1 $2( |$)" "$RUN/log/kubelet.log"
}

told_ms() { # WHAT POD
	sed -nE "s/^([0-9]+) $1 $2( .*)?$/\1/p" "$RUN/log/kubelet.log" | head -n 1
}

begin_with() { # T
	if [ -z "$CURRENT" ]; then
		check "$1 is installed" deploy "$1"
		await "there is a Pod" pod_of "$1"
		OWNER=$POD
		await "its job runs" pod_phase "$OWNER" Running
		await "nothing is left to do" rolled_out
		is "$(happened offered)" 0 "the first installation is no hand-over"
		CURRENT=$1
	fi
	await "the job of $CURRENT is proven" pod_is "$OWNER" .launch.proven
}

begin() {
	local state
	[ -n "$CURRENT" ] || begin_with g1
	NEXT=g2
	[ "$CURRENT" != g2 ] || NEXT=g1
	OLD=$OWNER
	for state in offered stopping granted taken returned "done"; do
		BEFORE[$state]=$(happened "$state")
	done
}

at() { # STATE CMD...
	wait_until "the hand-over is $1" "$WAIT_S" happened_again "$1" "${BEFORE[$1]}" && "${@:2}"
}

# Not what an earlier candidate has said.
candidate_is_prepared() {
	[ "$(candidate "select(.pod == \"$CANDIDATE\") | .state" 2>/dev/null)" = Prepared ]
}

agent_of() { # POD
	pod_pids "$1" "^$BUILD/drey run "
}

# Sets KILLED_AGENT, for another_agent.
kill_the_agent() { # POD
	KILLED_AGENT=$(agent_of "$1")
	kill_agent "$1"
}

another_agent() { # POD BEFORE
	local now
	now=$(agent_of "$1") && [ -n "$now" ] && [ "$now" != "$2" ]
}

drey_of() { # POD COMMAND [ARG...]
	"$BUILD/drey" "$2" --config "$RUN/pods/$1/drey.yaml" "${@:3}" 2>>"$RUN/log/cli.log"
}

deployed() { # T
	check "$1 is deployed" deploy "$1"
	await "there is a Pod of $1" pod_of "$1"
	CANDIDATE=$POD
}

upgrade_to() { # T
	deployed "$1"
	check "that of before is not told to end" not told term "$OWNER"
}

# When the new Pod of T recorded that it was done, by the clock of this machine: that Pod's may be off.
done_unix_ms() { # T
	local off=0 clock=$RUN/templates/$1/clock.jobmanager
	[ ! -e "$clock" ] || off=$(<"$clock")
	echo $(($(journal .handover.doneUnixMs) - off))
}

await_done() { # T
	local before=$CURRENT old=$OWNER
	await "the job of $1 runs" pod_phase "$CANDIDATE" Running
	await "the hand-over is done" handover_is "done"
	await "the Deployments have nothing left to do" rolled_out
	await "$1 writes" has_written "$1" 50
	await "the old Pod has ended" told gone "$old"
	check "its container went on until then" not told ended "$old"
	check "not before the hand-over was done" test "$(told_ms term "$old")" -ge "$(done_unix_ms "$1")"
	# SIGTERM may come while drey-init has no agent: the one of the owner has gone, the one that stands by starts. Then
	# drey-init ends by the signal, or, in the some 100 ms before it starts the next agent, with 143: a signal stopped it
	# before anything was started (docs/reference/drey-init.md). Flink had ended before, so nothing is lost by either
	check "with status 0, or by SIGTERM" grep -qE "^[0-9]+ gone $old (0|-15|143)\$" "$RUN/log/kubelet.log"
	is "$(journal .owner.pod)" "$CANDIDATE" "the new Pod is the owner"
	check "$1 comes after $before" turns_end_with "$before" "$1"
	check "it took no longer than $GAP_LIMIT_MS ms" test "$(verdict '.handovers[-1].gapMs')" -le "$GAP_LIMIT_MS"
	diag "$before -> $1: $(verdict '.handovers[-1].gapMs') ms: $(gap_parts)"
	CURRENT=$1 OWNER=$CANDIDATE
}

restored_from() { # POD PATH
	local job flink
	job=$(pod_status "$1" .jobId)
	flink=$(pod_rest "$1" "jobs/$job/checkpoints" '.latest.restored.external_path')
	printf 'restored: %s\n' "$flink"
	[ "$(plain_path "$flink")" = "$(plain_path "$2")" ]
}

await_returned() { # T [BEFORE]
	local savepoint
	await "the hand-over has failed: the job was returned" happened_again returned "${2:-0}"
	await "the job of $1 runs in the Pod that had it" pod_phase "$OWNER" Running
	is "$(journal .owner.pod)" "$OWNER" "which is the owner again"
	check "it was not told to end" not told term "$OWNER"
	check "it is ready" pod_ready "$OWNER"
	check "the other one is not" not pod_ready "$CANDIDATE"
	count_written "$1"
	await "it goes on writing" goes_on_writing "$1"
	savepoint=$(observed 'select(.what == "journal" and .handover == "returned") | .savepoint' | tail -n 1 | jq --raw-output .)
	[ "$savepoint" != null ] || savepoint=$(journal .lastOperation.location) # it was never granted
	check "from the savepoint of the stop" restored_from "$OWNER" "$savepoint"
}

await_moved() { # T
	await "the job has moved to $1" has_moved "$1"
	CURRENT=$1 OWNER=$POD
	await "its job runs" pod_phase "$OWNER" Running
	await "the Deployments have nothing left to do" rolled_out
	count_written "$1"
	await "it writes" goes_on_writing "$1"
	diag "$(observed 'select(.what == "journal") | [.handover, .owner, .why]' | tail -n 8)"
}

has_moved() { # T: sets POD
	pod_of "$1" && journal_is ".owner.pod == \"$POD\" and .handover.state == \"done\""
}

roll_back() { # T
	check "$1 is deployed again" deploy "$1"
	await "the Pod of the other version has ended" told gone "$CANDIDATE"
	await "the Deployments have nothing left to do" rolled_out
	check "the Pod of $1 is the one of before" test "$(pods_of "$1")" = "$OWNER"
	check "it was never told to end" not told term "$OWNER"
	check "its job runs" pod_phase "$OWNER" Running
}

run_cases() { # CASE...
	local one
	for one; do
		diag "---- $one"
		"$one"
	done
	MUST_LIVE=(kubelet)
}

check_denied() {
	is "$(api_requests "(.code == 401 or .code == 403)$STARTING")" "" "nothing was asked for that the Role does not allow"
}

surge_cases() { # CASE...
	run_cases "$@"
	check_handovers
	check_denied
	e2e_end
}
