#!/usr/bin/env bash
#
# Outdated HA data of Flink: restored from a backup, with newer checkpoints in storage; and of a generation that had HA,
# while the next one has none.
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

# ---- journal and map out of a backup of the cluster
back_up() { # MAP
	kubectl get configmap "$1" --output json | jq '{data}' >"$RUN/$1.json"
}
put_back() { # MAP
	kubectl get configmap "$1" --output json |
		jq --slurpfile old "$RUN/$1.json" '.data = $old[0].data | del(.metadata.managedFields)' |
		kubectl replace --filename - >/dev/null
}
await "the launch is proven" status_is .launch.proven
await "checkpoints are completed" has_completed 5 "$job"
back_up "$APPLICATION-drey-journal"
back_up "$(job_map "$job")"
kept=$(map_keys "$(job_map "$job")" | grep -c '^checkpointID-')
check "several are in the map ($kept)" test "$kept" -ge 2
await "more follow" has_completed "$(($(last_event COMPLETED checkpoint) + 8))" "$job"
end_drey KILL
await "nothing of Flink is left" test -z "$(jm_pid)"
newest=$(newest_retained "$job")
put_back "$APPLICATION-drey-journal"
put_back "$(job_map "$job")"
start_drey
MUST_LIVE=(jm tm)
await "the job runs again" status_is '.phase == "Running" and .launch.number == 2'
check "under another id" test "$(status .jobId)" != "$job"
check "from the newest checkpoint, not from the newest that the map has" restore_matches "$newest"
check "it says why" status_is '.transitions | any(.text | contains("so they are from a backup"))'

# ---- the next generation has no HA
await "the launch is proven" status_is .launch.proven
end_drey KILL
await "nothing of Flink is left" test -z "$(jm_pid)"
sed -i '/^high-availability/d' "$RUN/conf/config.yaml"
kill -KILL "$(tm_pid)" # it looks for its leader in the other way now
DREY_CONF[generation]=two
write_drey_yaml
resolve() {
	drey resolve --explain --json >"$RUN/said" 2>"$RUN/log/cli.log"
}
ha_said() { # JQ_CONDITION
	jq --exit-status ".sources[] | select(.name == \"ha\") | $1" "$RUN/said"
}
check "the next generation's Role is that of a chart without high availability" api_role --set highAvailability.enabled=false
await "it lets no map be deleted" api_may_not delete "configmaps/$(cluster_map)"
check "without HA: a start would be made" resolve
check "the maps of the launch before were read" ha_said '.state == "present"'
check "and it is said whose they are" ha_said ".detail | contains(\"cluster id $APPLICATION of an earlier launch\")"
check "the Role does not name the maps any more" api_role_without \
	'del(.rules[] | select(.resourceNames // [] | any(endswith("-config-map"))))' get "configmaps/$(cluster_map)"
resolve
is "$? $(jq --raw-output '"\(.decision) \(.cause)"' "$RUN/said")" "4 HOLD HaUnreadable" "they cannot be read: held"
check "the Role names them again" api_role --set highAvailability.enabled=false
start_drey
MUST_LIVE=(jm tm)
await "the job runs without HA" status_is '.phase == "Running" and .launch.number == 3'
await "the launch is proven" status_is .launch.proven
resolve
check "the maps are not read any more" ha_said '.detail == "not configured"'
check "no state is lost" continuity
e2e_end
