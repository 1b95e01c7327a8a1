#!/usr/bin/env bash
#
# SEED, and STEPS signals to the JobManager, the TaskManagers, the agent and drey-init, in every phase, while people take
# savepoints, suspend, resume and restart, the job fails and finishes, directories move, and the storage is unavailable,
# denies access or is full. At the end the job's own event log must show that nothing started empty, from something older,
# twice, or again after its end. S42: the agent is also killed around a launch, when it is unknown whether a Flink runs.
#
# runs in: ci on 2.3.0

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/chaos/lib.sh
. "$TOP/tests/chaos/lib.sh"

SEED=${SEED:-1}
STEPS=${STEPS:-60}
chaos_own_mounts "$@"
e2e_begin chaos
chaos_begin
diag "seed $SEED, $STEPS signals"
while read -r line <&3; do
	chaos_do "$line"
done 3< <(python3 "$CHAOS_DIR/plan.py" "$SEED" "$STEPS")
chaos_end
chaos_report
