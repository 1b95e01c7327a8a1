#!/usr/bin/env bash
#
# Which ConfigMaps of a namespace are Flink's HA data of this application, according to drey resolve: by name under the
# Role of the chart, by label if there are no names, and never those of others. No Flink runs.
#
# runs in: ci

# shellcheck disable=SC2119,SC2154 # lib.sh has functions whose arguments are optional; keys of DREY_CONF
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/ha_lib.sh
. "$TOP/tests/api/ha_lib.sh"

run_begin ha-maps "$FLINK_VERSION"
api_begin ha-maps
ha_begin
write_drey_yaml

# A ConfigMap as Flink makes it. RECORD: the leader record; DATA: a JSON object.
put_map() { # NAME APP [DATA [RECORD]]
	jq --null-input --arg name "$1" --arg app "$2" --argjson data "${3:-{\}}" --arg record "${4:-}" '{
		apiVersion: "v1", kind: "ConfigMap", data: $data,
		metadata: {name: $name, labels: (if $app == "" then {} else {app: $app, type: "flink-native-kubernetes"} end),
			annotations: (if $record == "" then {} else {"control-plane.alpha.kubernetes.io/leader": $record} end)}
	}' | kubectl apply --server-side --force-conflicts --filename - >/dev/null
}

# The record of a leader that has renewed its lock SECONDS ago.
record() { # SECONDS
	local at
	at=$(date --utc --date "$1 seconds ago" +%Y-%m-%dT%H:%M:%S.%6NZ)
	printf '{"holderIdentity":"somebody","leaseDuration":"PT15S","acquireTime":"%s","renewTime":"%s","leaderTransitions":0}' \
		"$at" "$at"
}

# Sets STATUS, TOOK_MS and the answer for said.
resolve() {
	local began
	began=$(date +%s%N)
	drey resolve --explain --json >"$RUN/said" 2>"$RUN/log/cli.log"
	STATUS=$?
	TOOK_MS=$((($(date +%s%N) - began) / 1000000))
}

said() { # JQ
	jq --raw-output "$1" "$RUN/said"
}

answer() {
	said '"\(.decision) \(.sources[] | select(.name == "ha") | .state)"'
}

decides() { # DECISION HA_STATE WHAT
	resolve
	is "$(answer)" "$1 $2" "$3"
}

is_decided() { # DECISION HA_STATE: for await
	resolve
	[ "$(answer)" = "$1 $2" ]
}

inspect() {
	drey inspect --ha --json >"$RUN/said" 2>"$RUN/log/cli.log"
}

asked() {
	api_requests '.resource == "configmaps" and (.path | contains("-config-map"))' | wc -l
}

entry='{"checkpointID-0000000000000000003": "bm9uc2Vuc2U=", "counter": "4"}'
job=$(job_id_of 0)

# ---- by name ---------------------------------------------------------------------------------------

decides START_EMPTY absent "nothing is there, and that is known for certain"
diag "all 200 names, with the journal lost: $TOOK_MS ms for drey resolve as a whole"
is "$(asked)" 201 "every name was asked for"
check "in a second where the machine is idle" test "$TOOK_MS" -le "${RESOLVE_MS:-5000}"

put_map "$APPLICATION-eu-cluster-config-map" "$APPLICATION-eu" '{"jobGraph-x": "bm9uc2Vuc2U="}' "$(record 0)"
put_map "$APPLICATION-eu-$job-config-map" "$APPLICATION-eu" "$entry"
put_map "$(job_map "$job")" "" "$entry"
put_map "$(job_map "$(job_id_of 1)")" "$APPLICATION-eu" "$entry"
put_map "$(job_map "$(job_id_of 0 other-salt)")" "$APPLICATION" "$entry"
decides START_EMPTY absent "look-alikes are not ours: another application, no labels, another's labels, an id that we never have"

put_map "$(job_map "$job")" "$APPLICATION" "$entry"
decides HOLD present "the map of the job that is ours is, and what it names cannot be read"
check "the checkpoint is told" grep -q '1 checkpoint in the map of 1 job' "$RUN/said"
check "drey inspect --ha shows it" inspect
is "$(said '[.maps[] | .name, .jobId, .counter]' | tr -d '\n ')" "[\"$(job_map "$job")\",\"$job\",4]" "that one alone"
is "$(said .lockHeld)" null "and that nobody leads"
put_map "$(job_map "$job")" "$APPLICATION" '{}'
decides HOLD absent "emptied, it is a trace of a launch all the same"
is "$(said .cause)" JournalLost "which the journal does not know"
kubectl delete configmap "$(job_map "$job")" >/dev/null

# ---- what can only be ours, in directories that others use ------------------------------------------

DREY_CONF[restore.foreign]=ignore
write_drey_yaml
put_map "$(job_map "$job")" "$APPLICATION" "$entry"
decides HOLD present "shared directories, the journal lost: what our own HA map has is ours all the same"
is "$(said .cause)" JournalLost "by the lost journal"
kubectl delete configmap "$(job_map "$job")" >/dev/null
mkdir -p "$RUN/ck/ffffffffffffffffffffffffffffffff/chk-9"
cp "$TOP/tests/fixtures/metadata/2.3.0-hashmap-chk" "$RUN/ck/ffffffffffffffffffffffffffffffff/chk-9/_metadata"
decides START_EMPTY absent "what somebody else has written is left alone"
mkdir -p "$RUN/ck/$job/chk-7"
cp "$TOP/tests/fixtures/metadata/2.3.0-hashmap-chk" "$RUN/ck/$job/chk-7/_metadata"
decides HOLD absent "a checkpoint of a job id that only we have is not"
is "$(said .cause)" JournalLost "by the lost journal"
rm -r "$RUN/ck/ffffffffffffffffffffffffffffffff" "$RUN/ck/$job"
DREY_CONF[restore.foreign]=hold
write_drey_yaml

before=$(asked)
for i in {1..1000}; do
	printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s-foreign-%s","labels":{"app":"%s","type":"x"}}}\n' \
		"$APPLICATION" "$i" "$APPLICATION"
done >"$RUN/foreign.json"
kubectl create --filename "$RUN/foreign.json" >/dev/null
resolve
diag "with 1,000 foreign ConfigMaps: $TOOK_MS ms"
is "$(($(asked) - before))" 201 "1,000 foreign ConfigMaps make no request more"

# ---- what would be started twice -------------------------------------------------------------------

put_map "$(cluster_map)" "$APPLICATION" "{\"executionPlan-$job\": \"bm9uc2Vuc2U=\"}" "$(record 2)"
decides HOLD absent "a stored job of a leader that may live: held"
is "$(said .rule)" 7 "by rule 7"
check "it says who leads" grep -q 'somebody owns it for' "$RUN/said"
check "drey inspect --ha" inspect
check "says it, too" grep -q 'somebody owns it for' <<<"$(said .lockHeld)"
check "and what would be started" grep -q "executionPlan-$job" "$RUN/said"
is "$STATUS" 4 "drey resolve ends with 4"
put_map "$(cluster_map)" "$APPLICATION" "{\"executionPlan-$job\": \"bm9uc2Vuc2U=\"}" "$(record 60)"
decides HOLD absent "a lock that was written just now is held, whatever its holder's clock says"
await "once the lease has run out, not any more" is_decided START_EMPTY absent
put_map "$(cluster_map)" "$APPLICATION" "{\"executionPlan-$job\": \"bm9uc2Vuc2U=\"}" "nonsense"
decides HOLD absent "a record that nobody understands is a leader that may live"
put_map "$(cluster_map)" "" '{}'
decides HOLD unreadable "a cluster map without Flink's labels is a doubt"
kubectl delete configmap "$(cluster_map)" >/dev/null
is "$(api_denied)" "" "nothing was asked for that the Role does not allow"

# ---- denied ----------------------------------------------------------------------------------------

kubectl delete rolebinding "$APPLICATION" >/dev/null
# shellcheck disable=SC2317 # called through await
is_denied() {
	resolve
	[ "$STATUS" -eq 4 ]
}
await "without the Role's rights: held" is_denied
is "$(said '"\(.decision) \(.rule) \(.sources[] | select(.name == "ha") | .state)"')" "HOLD 5 unreadable" "an error is no absence"
check "it says what is denied" grep -q '403' "$RUN/said"
inspect
is "$? $(wc -c <"$RUN/said")" "4 0" "drey inspect --ha shows nothing then"
check "and says what is denied" grep -q '403' "$RUN/log/cli.log"
check "the Role is bound again" api_role
decides START_EMPTY absent "and then it goes on"

# ---- by label --------------------------------------------------------------------------------------

check "a Role without names" api_role --set drey.kubernetes.launches=0
DREY_CONF[kubernetes.launches]=0
write_drey_yaml
kubectl delete configmap "$(job_map "$(job_id_of 0 other-salt)")" >/dev/null
decides START_EMPTY absent "listed by label, with look-alikes beside: nothing of ours is there"
put_map "$(job_map "$(job_id_of 0 other-salt)")" "$APPLICATION" '{}'
decides HOLD absent "an empty map of any job id is found, and a trace of a launch"
is "$(said .cause)" JournalLost "which the journal does not know"
kubectl delete configmap "$(job_map "$(job_id_of 0 other-salt)")" >/dev/null
put_map "$(job_map 0123456789abcdef0123456789abcdef)" "$APPLICATION" "$entry"
decides HOLD present "a map of any job id is found"
is "$(said '[.candidates[] | select(.source == "ha")] | length')" 1 "that one alone"
e2e_end
