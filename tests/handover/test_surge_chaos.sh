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
# shellcheck source=tests/handover/chaos_lib.sh
. "$TOP/tests/handover/chaos_lib.sh"

SEED=${SEED:-1}
UPGRADES=${UPGRADES:-6}

new_version() { # T
	template "$1"
}

chaos_count() { # STATE
	happened "$1"
}

chaos_came() { # STATE BEFORE
	happened_again "$@"
}

chaos() {
	local n
	RANDOM=$SEED
	REPLAY=1
	template t0
	begin_with t0
	for ((n = 1; n <= UPGRADES; n++)); do
		chaos_upgrade "$n" offered prepared stopping granted taken "done" later
		await "upgrade $n has an end" chaos_settled
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
