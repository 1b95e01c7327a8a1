#!/usr/bin/env bash
#
# SEED, and STEPS signals to the processes in the Pods of an application and deletions of its Pods, by force too, and
# drained nodes, while people take savepoints, suspend, resume, upgrade and move the state, and the object store is
# unavailable, hangs, denies access or is full. At the end the job's own event log must show that nothing started empty,
# from something older, twice, or again after its end. HA=false is without Flink's own high availability.
#
# alone: it drains the node
# runs in: all

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
# shellcheck source=tests/chaos/lib.sh
. "$TOP/tests/chaos/lib.sh"
# shellcheck source=tests/chaos/pods.sh
. "$TOP/tests/chaos/pods.sh"

SEED=${SEED:-1}
STEPS=${STEPS:-20}
node_begin chaos
chaos_begin
diag "seed $SEED, $STEPS signals"
while read -r line <&3; do
	chaos_do "$line"
done 3< <(python3 "$CHAOS_DIR/plan.py" "$SEED" "$STEPS" pods)
chaos_end
chaos_report
