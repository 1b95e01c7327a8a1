# shellcheck shell=bash
#
# chaos_lib.sh - upgrades, one after the other, in which something dies at a random moment: an agent, a Flink, a Pod, a TaskManager,
# on either side, or an agent that stands still for a while. Sourced after surge_lib.sh.
#
#   chaos_upgrade N STATE...  deploys the next version, NEW, waits for one of these states, and
#                             strikes; RANDOM must have its seed
#   chaos_settled             for await: there is one owner, whose job runs, and the new version has it, or was refused
#   owner_pod                 the Pod of the owner
#
# The test defines chaos_came STATE BEFORE, for await, and chaos_count STATE: how often it has come; and new_version T.

NEW='' # the template of this upgrade
BLOWS=(agent flink pod taskmanager pause)

draw() { # WORD...: sets DRAWN
	local words=("$@")
	DRAWN=${words[RANDOM % $#]}
}

# An owner that has just died is none.
owner_pod() {
	journal .owner.pod 2>/dev/null
}

any_tm_of() { # JOBMANAGER
	tms_of "$(pod_template "$1")" | head -n 1
}

pause() { # POD SECONDS
	local pid
	pid=$(pod_pids "$1" "^$BUILD/drey run ") && [ -n "$pid" ] || return
	kill -STOP "$pid"
	sleep "$2"
	kill -CONT "$pid" 2>/dev/null
}

# What is not there any more cannot be hit.
strike() { # BLOW POD
	case $1 in
	agent) kill_agent "$2" ;;
	flink) kill_flink "$2" ;;
	pod) lose_pod "$2" ;;
	taskmanager) kill_flink "$(any_tm_of "$2")" ;;
	pause) pause "$2" $((RANDOM % 25)) ;;
	esac >/dev/null 2>&1
}

# Waits for it, but some moments do not come.
moment_of() { # MOMENT COUNT_BEFORE
	case $1 in
	later) sleep $((RANDOM % 20)) ;;
	prepared) wait_quietly 60 candidate_is Prepared ;;
	*) wait_quietly 60 chaos_came "$1" "$2" ;;
	esac
	sleep "0.$((RANDOM % 10))"
}

one_of_the_two() {
	local owner=$1 candidate
	candidate=$(pods_of "$NEW" | head -n 1)
	draw "$owner" "${candidate:-$owner}"
}

chaos_settled() {
	local owner state
	owner=$(owner_pod) && [ -n "$owner" ] && [ "$owner" != null ] || return 1
	state=$(journal .handover.state 2>/dev/null)
	pod_phase "$owner" Running || return 1
	case $state in
	refused) return 0 ;;
	*) [ "$(pod_template "$owner")" = "$NEW" ] && rolled_out ;;
	esac
}

chaos_upgrade() { # N STATE...
	local moment blow victim before owner
	NEW=t$1
	new_version "$NEW"
	owner=$(owner_pod)
	draw "${@:2}"
	moment=$DRAWN
	draw "${BLOWS[@]}"
	blow=$DRAWN
	before=$(chaos_count "$moment")
	deploy "$NEW" || return
	moment_of "$moment" "$before"
	one_of_the_two "$owner"
	victim=$DRAWN
	strike "$blow" "$victim"
	diag "upgrade $1: $blow of ${victim:-?} ($([ "$victim" = "$owner" ] && echo owner || echo candidate)) at $moment"
}
