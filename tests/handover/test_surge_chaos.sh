#!/usr/bin/env bash
#
# Surge upgrades, one after the other, in which something dies at a random moment: an agent, a Flink, a Pod, a TaskManager, on either
# side, or an agent that stands still for a while. After each the job runs again, at one owner, and the hand-over is done, or has
# failed so often that it is refused. In the end no record is lost or doubled.
#
#   [SEED=1] [UPGRADES=6] tests/handover/test_surge_chaos.sh       200 take about two hours

# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"
# shellcheck source=tests/handover/surge_lib.sh
. "$TOP/tests/handover/surge_lib.sh"

SEED=${SEED:-1}
UPGRADES=${UPGRADES:-6}
MOMENTS=(offered prepared stopping granted taken "done" later)
BLOWS=(agent flink pod taskmanager pause)
NEW='' # the template of this upgrade

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

pod_template() { # POD
	kubectl get pod "$1" --output 'jsonpath={.metadata.annotations.bench/template}'
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
	prepared) wait_quietly 60 candidate_is prepared ;;
	*) wait_quietly 60 happened_again "$1" "$2" ;;
	esac
	sleep "0.$((RANDOM % 10))"
}

one_of_the_two() {
	local owner=$1 candidate
	candidate=$(pods_of "$NEW" | head -n 1)
	draw "$owner" "${candidate:-$owner}"
}

# One owner, whose job runs; and the new version has it, or was refused.
is_settled() {
	local owner state
	owner=$(owner_pod) && [ -n "$owner" ] && [ "$owner" != null ] || return 1
	state=$(journal .handover.state 2>/dev/null)
	pod_phase "$owner" Running || return 1
	case $state in
	refused) return 0 ;;
	*) [ "$(pod_template "$owner")" = "$NEW" ] && rolled_out ;;
	esac
}

one_upgrade() { # N
	local moment blow victim before owner
	NEW=t$1
	template "$NEW"
	owner=$(owner_pod)
	draw "${MOMENTS[@]}"
	moment=$DRAWN
	draw "${BLOWS[@]}"
	blow=$DRAWN
	before=$(happened "$moment")
	deploy "$NEW" || return
	moment_of "$moment" "$before"
	one_of_the_two "$owner"
	victim=$DRAWN
	strike "$blow" "$victim"
	diag "upgrade $1: $blow of ${victim:-?} ($([ "$victim" = "$owner" ] && echo owner || echo candidate)) at $moment"
}

chaos() {
	local n
	RANDOM=$SEED
	REPLAY=1
	template t0
	begin_with t0
	for ((n = 1; n <= UPGRADES; n++)); do
		one_upgrade "$n"
		await "upgrade $n has an end" is_settled
		WRITTEN=$(wc -l <"$OUT/records.log")
		await "and the job writes" writes_on
		diag "$(journal '.handover | "\(.state): \(.why)"')"
	done
}

writes_on() {
	[ "$(wc -l <"$OUT/records.log")" -gt $((WRITTEN + 50)) ]
}

surge_begin surge-chaos
diag "SEED=$SEED UPGRADES=$UPGRADES"
surge_cases chaos
