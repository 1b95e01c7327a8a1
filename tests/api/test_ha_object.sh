#!/usr/bin/env bash
#
# Flink's own high availability on Kubernetes, and a `_metadata` that names files which are not there, as each one does after a native
# savepoint was claimed (FLINK-39964): Flink recovers from the completedCheckpoint file, which names whole paths, and so the job
# goes on from its newest checkpoint. When a file that this one names is lost as well, nothing is started from less.
#
# runs in: all on 2.3.0

# shellcheck disable=SC2119,SC2154 # lib.sh has functions whose arguments are optional; keys of DREY_CONF
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/e2e/finished_lib.sh
. "$TOP/tests/e2e/finished_lib.sh" # kill_all
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/ha_lib.sh
. "$TOP/tests/api/ha_lib.sh"

e2e_begin ha-object
api_begin ha-object
KUBE_LINES='state.storage.fs.memory-threshold: 0b'
ha_begin
DREY_CONF[restore.maxLoss]=0
start_tm_pod

# The newest checkpoint that Flink's HA data name.
newest() {
	map_keys "$(job_map "$JOB")" | sed -n 's/^checkpointID-0*//p' | sort -n | tail -1
}

files_of() { # CHECKPOINT
	find "$RUN/ck/$JOB/chk-$1" -type f ! -name _metadata
}

start_drey
await "the job runs" status_is .launch.proven
JOB=$(status .jobId)
await "checkpoints are complete" has_completed 5 "$JOB"
kill_all
last=$(newest)
check "its state is in files" test "$(files_of "$last" | wc -l)" -gt 0

# ---- the _metadata beside it names other files
python3 - "$RUN/ck/$JOB/chk-$last/_metadata" "$(files_of "$last")" <<-'PY'
	import sys
	path, files = sys.argv[1], sys.argv[2].split()
	data = open(path, 'rb').read()
	for name in (each.rsplit('/', 1)[1].encode() for each in files):
	    assert name in data, name
	    data = data.replace(name, b'x' * len(name))
	open(path, 'wb').write(data)
PY
"$BUILD/drey" verify "$RUN/ck/$JOB/chk-$last" >"$RUN/verify" 2>&1
is $? 1 "drey verify: a snapshot by itself, it is damaged"
start_drey
await "the job runs again" status_is '.launch.proven and .launch.number == 2'
is "$(status .jobId)" "$JOB" "it continues, by Flink's HA"
check "from that checkpoint" grep -q "Restoring job $JOB from Checkpoint $last " "$RUN/log/jm.log"

# ---- a file that Flink will read is lost
await "more checkpoints are complete" has_completed $((last + 5)) "$JOB"
kill_all
last=$(newest)
lost=$(files_of "$last" | head -1)
mv "$lost" "$RUN/lost"
start_drey
await "one of its files is lost: drey holds" status_is '.phase == "Holding" and .cause == "NewestStateDamaged"'
check "and names the checkpoint" status_is ".reason | contains(\"/chk-$last is damaged\")"
is "$(status .launch.number)" 2 "nothing is started from less"
mv "$RUN/lost" "$lost"
await "it is there again, and the job goes on" status_is '.launch.proven and .launch.number == 3'
check "from that checkpoint" grep -q "Restoring job $JOB from Checkpoint $last " "$RUN/log/jm.log"
check "nothing was lost, and nothing repeated" continuity 1
e2e_end
