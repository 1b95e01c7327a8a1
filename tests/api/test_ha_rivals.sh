#!/usr/bin/env bash
#
# Flink's HA maps and two dreys of one application: the second one holds as long as the first one's Flink may lead; the
# first one stops acting when it is fenced, and never touches the lock of the other. And a namespace that is being deleted
# under a drey whose Flink has HA maps: drey reports it, does not touch a running job, and starts nothing. With the rights
# of the chart's Role, against a real API server; a script replaces Flink, and the test writes what Flink would.

# shellcheck disable=SC2016,SC2317 # $holder is of jq; called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/faults.sh
. "$TOP/tests/api/faults.sh"

api_begin ha-rivals
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"
# shellcheck source=tests/api/ha_pod_lib.sh
. "$TOP/tests/api/ha_pod_lib.sh"

flink_of() { # POD
	pgrep -P "${POD_PID[$1]}" -x sleep
}

unix_ms_of() { # POD MSG: when it was logged last
	grep '^{' "$RUN/log/$1.log" | jq --raw-output --arg msg "$2" \
		'select(.msg == $msg) | (.time[:19] + "Z" | fromdate) * 1000 + (.time[20:23] | tonumber)' | tail -n 1
}

# ---- two of them -------------------------------------------------------------------------------------

ha_pod_conf a
pod_start a
await "the first one starts Flink" launched 1
await "as is on record" journal_is '.launches[0].startedUnixMs != null'
first=$(journal '.launches[0].jobId') second=$(next_job_id)
await "who has taken the lock" lead_until_known a of-a "{\"executionPlan-$first\": \"x\"}"

# As the Flink of the Pod, renews the lock as long as that lives: what is written after its death is written to an old version.
lead_on() { # POD HOLDER MORE
	local version
	while version=$(kubectl get configmap "$MAP" --output 'jsonpath={.metadata.resourceVersion}') && flink_of "$1" >/dev/null; do
		lead "${@:2}" "$version" 2>/dev/null
		sleep 1
	done
}
lead_on a of-a "{\"executionPlan-$first\": \"x\"}" &
leader=$!
ha_pod_conf b
pod_start b
await "the second one finds a Flink that may live: it holds" pod_log b 'Holding: rule 7: .*of-a owns it for'
await "the first one is overtaken, and stops acting" pod_is a '.phase == "Holding" and .cause == "JournalTaken"'
await "and lets its Flink not run on" not flink_of a
wait "$leader"
await "the second one starts its own" launched 2
check "after the first one's had ended" test "$(unix_ms_of b 'Flink started')" -gt "$(unix_ms_of a 'Flink ended')"
check "without what the first one has left" map_is "(.data // {}) | has(\"executionPlan-$first\") | not"
check "under another id" journal_is ".launches[1].jobId == \"$second\""
is "$(flink_of a | wc -l) $(flink_of b | wc -l)" "0 1" "one Flink runs"
await "it has taken the lock" lead_until_known b of-b "{\"executionPlan-$second\": \"x\"}"
pod_end a
check "nobody has touched the lock of the second one" map_is "\$holder == \"of-b\" and (.data | has(\"executionPlan-$second\"))"
check "whose Flink runs on" flink_of b

# ---- the namespace ends --------------------------------------------------------------------------------

# Account and Role go with the namespace; this account stays, so that it is the end of the namespace that refuses.
kubectl_cluster create namespace "$NAMESPACE-stays" >/dev/null
kubectl_cluster --namespace "$NAMESPACE-stays" create serviceaccount drey >/dev/null
kubectl_cluster create clusterrole "$NAMESPACE" --verb=get,list,watch,create,patch,update,delete --resource=configmaps >/dev/null
kubectl_cluster create clusterrolebinding "$NAMESPACE" --clusterrole="$NAMESPACE" --serviceaccount="$NAMESPACE-stays:drey" >/dev/null
own_token=$(cat "$POD_SECRETS/token")
api_give_token "$(kubectl_cluster --namespace "$NAMESPACE-stays" create token drey --duration 3600s)"
mkdir -p "$RUN/ck/$second/chk-7"
cp "$TOP/tests/fixtures/metadata/2.3.0-hashmap-chk" "$RUN/ck/$second/chk-7/_metadata"
flink=$(flink_of b)
api_terminate_namespace
await "the HA maps and the journal go with it" not has_configmap "$JOURNAL"
"$BUILD/drey" do-not-restart off --no-wait --timeout 1s --config "$RUN/b/drey.yaml" >/dev/null 2>&1 || :
"$BUILD/drey" savepoint --timeout 1s --config "$RUN/b/drey.yaml" >/dev/null 2>&1 || :
await "drey cannot write, and says why" pod_is b '.journal.broken and (.journal.error | contains("being terminated"))'
is "$(flink_of b)" "$flink" "Flink runs on"
api_give_token "$own_token"
await "its own account has gone as well" pod_is b '.journal.broken and (.journal.error | contains("401"))'
is "$(flink_of b)" "$flink" "Flink runs on"
flink_dies b
await "it dies: noticed" pod_log b 'Flink ended.*'"$second"
await "nothing can be recorded" pod_is b '.journal.broken'
sleep 3 # a start would come after 0.1 s
is "$(launches)" 2 "so nothing is started"
check "the checkpoints are where they were" test -e "$RUN/ck/$second/chk-7/_metadata"
began=$(date +%s)
pod_end b
check "the container ends as soon as it is told to" test $(($(date +%s) - began)) -le 20
kubectl_cluster delete clusterrolebinding "$NAMESPACE" >/dev/null
kubectl_cluster delete clusterrole "$NAMESPACE" >/dev/null
kubectl_cluster delete namespace "$NAMESPACE-stays" --wait=false >/dev/null
e2e_end
