#!/usr/bin/env bash
#
# Flink's HA data that are not those of now: put back from a backup, with newer checkpoints in storage; and of a
# generation that had HA, while the next one has none.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119,SC2154 # lib.sh has functions whose arguments are optional; keys of DREY_CONF
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/ha_lib.sh
. "$TOP/tests/api/ha_lib.sh"

e2e_begin ha-backup
api_begin ha-backup
DREY_CONF[attempts.backoffFirst]=200ms
# several stay, so that the old map can be read
DREY_CONF[flink.properties]='{execution.checkpointing.num-retained: 200}'
ha_begin
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
job=$(status .jobId)

# ---- the map of the job out of a backup
await "checkpoints are completed" has_completed 5 "$job"
kubectl get configmap "$(job_map "$job")" --output json | jq '{data}' >"$RUN/backup.json"
kept=$(jq --raw-output '[.data | keys[] | select(startswith("checkpointID-"))] | length' "$RUN/backup.json")
check "several are in the map ($kept)" test "$kept" -ge 2
await "more follow" has_completed "$(($(last_event COMPLETED checkpoint) + 8))" "$job"
check "the brake is set" drey do-not-restart on
kill -KILL "$(jm_pid)"
await "killed under the brake: nothing is started" phase_is Holding
newest=$(newest_retained "$job")
kubectl get configmap "$(job_map "$job")" --output json |
	jq --slurpfile old "$RUN/backup.json" '.data = $old[0].data | del(.metadata.managedFields)' |
	kubectl replace --filename - >/dev/null
is "$(map_keys "$(job_map "$job")" | grep -c '^checkpointID-')" "$kept" "the map is the old one again"
check "the brake is lifted" drey do-not-restart off
await "the job runs again" status_is '.phase == "Running" and .launch.number == 2'
check "under another id" test "$(status .jobId)" != "$job"
check "from the newest checkpoint, not from the newest that the map has" restore_matches "$newest"
check "it says why" status_is '.transitions | any(.text | contains("out of a backup"))'
check "no state is lost" continuity
e2e_end
