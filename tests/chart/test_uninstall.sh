#!/usr/bin/env bash
#
# What the chart runs before `helm uninstall`, with its account and nothing else: a real Flink is stopped with a savepoint, or
# goes on if that fails; cancelled; parked already; with a desired state in the custom resource; what the next installation
# starts from.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/resource_lib.sh
. "$TOP/tests/api/resource_lib.sh"
# shellcheck source=tests/chart/job_lib.sh
. "$TOP/tests/chart/job_lib.sh"
e2e_begin chart-uninstall
api_begin chart-uninstall
[ "$WAIT_S" -ge 300 ] || WAIT_S=300
ACCOUNT=$APPLICATION-uninstall
job_begin hook

# The container of the Job, but for its image: only the API server can be reached.
hook() { # suspend|cancel [TIMEOUT]
	bash "$TOP/chart/flink-application/files/uninstall.sh" "$APPLICATION" "$NAMESPACE" "$BUILD/drey" "$1" --remote --skip-parked --withdraw \
		--config "$RUN/hook/drey.yaml" --timeout "${2:-${WAIT_S}s}" >"$RUN/hook/out" 2>"$RUN/hook/err"
	STATUS=$?
}

journal() { # JQ
	kubectl get configmap "$APPLICATION-drey-journal" --output json | jq --raw-output '.data["journal.json"]' | jq --raw-output "$1"
}

# As Helm: the Pod, its ConfigMap and what was asked of it are gone.
uninstalled() {
	stop_container
	kubectl delete configmap "$CONTROL_MAP" >/dev/null
}

stop_container() {
	kill -TERM "$(run_pids "drey-init .*drey run" | head -n 1)"
	wait_until "drey has ended" "$WAIT_S" exit_status jm
}

# ---- the Job ---------------------------------------------------------------------------------------------

api_template uninstall.yaml >"$RUN/uninstall.yaml"
kubectl create --dry-run=client --output json --filename "$RUN/uninstall.yaml" | jq --slurp '.' >"$RUN/uninstall.json"
is "$(jq --raw-output '.[] | select(.kind == "Job") | .spec.template.spec.containers[0] | .command + .args | join(" ")' "$RUN/uninstall.json")" \
	"drey-init -- bash /etc/drey/uninstall.sh orders $NAMESPACE drey suspend --remote --skip-parked --withdraw --config /etc/drey/drey.yaml --timeout 240s" \
	"the Job runs what is tested here"
is "$(jq --raw-output '.[] | "\(.kind) \(.metadata.annotations["helm.sh/hook"]) \(.metadata.annotations["helm.sh/hook-weight"])"' "$RUN/uninstall.json" | tr '\n' ,)" \
	"ServiceAccount pre-delete -10,Role pre-delete -10,RoleBinding pre-delete -9,Job pre-delete 0," "and has its account before that"
api_apply "$RUN/uninstall.yaml"
kubectl delete job "$ACCOUNT" --wait=false >/dev/null
kubectl create configmap "$CONTROL_MAP" >/dev/null
as_account "$ACCOUNT" "$RUN/hook/conf"
await "the account may ask" kubectl auth can-i patch "configmaps/$CONTROL_MAP" --as "system:serviceaccount:$NAMESPACE:$ACCOUNT"

# ---- an application that has never run; this takes 45 s, beside the rest -----------------------------------

DREY_CONF[application]=$APPLICATION
DREY_CONF[generation]=one
DREY_CONF[kubernetes.enabled]=true
DREY_CONF[kubernetes.kubeconfig]=$POD_KUBECONFIG
DREY_CONF[kubernetes.namespace]=$NAMESPACE
DREY_CONF[kubernetes.owner]=deployment/$APPLICATION-jobmanager
DREY_CONF[savepoints.stopRetry]=1h
DREY_CONF[control.poll]=500ms
drey_conf
write_drey_yaml
sed "s|$POD_KUBECONFIG|$RUN/hook/conf|; s|$RUN/state|$RUN/hook/state|" "$RUN/drey.yaml" >"$RUN/hook/drey.yaml"
sed "s|$POD_KUBECONFIG|$ADMIN|; s|$RUN/state|$RUN/hook/state|; s|^application: .*|application: never|" "$RUN/drey.yaml" >"$RUN/hook/never.yaml"
"$BUILD/drey" suspend --remote --skip-parked --config "$RUN/hook/never.yaml" >"$RUN/hook/never.out" 2>&1 &
never=$!

# ---- stopped with a savepoint, and installed again -------------------------------------------------------

start_tm_pod
start_drey
await "the job runs" phase_is Running
job=$(status .jobId)
hook suspend
is "$STATUS" 0 "the job is stopped: $(cat "$RUN/hook/err")"
saved=$(cat "$RUN/hook/out")
check "what is printed is where the savepoint is" test -f "${saved#file:}/_metadata"
says 0 "ConfigMap $NAMESPACE/$APPLICATION-drey-journal has the details, and remains" "and it says what remains"
is "$(journal '[.phase, .lastOperation.location] | join(" ")')" "Suspended $saved" "the journal has it"
before=$(savepoints)
hook suspend
says 0 "no job is running: it is suspended; nothing to do" "once more: there is nothing to do"
says 0 "its newest savepoint is $saved" "and the savepoint is named again"
is "$(savepoints)" "$before" "none was taken"

uninstalled
kubectl create configmap "$CONTROL_MAP" >/dev/null
start_drey
await "installed again, it is suspended still" phase_is Suspended
uninstalled
kubectl create configmap "$CONTROL_MAP" --from-literal=state=running >/dev/null
start_drey
await "installed again with control.state running, it runs" runs_after "$job"
check "from exactly that savepoint" restore_matches "$saved"

# ---- the savepoint fails -----------------------------------------------------------------------------------

job=$(status .jobId)
mv "$RUN/sp" "$RUN/sp.away"
: >"$RUN/sp"
hook suspend
says 1 "the stop failed: " "a savepoint that fails is a failure"
says 1 "the request was withdrawn: the application is to run" "which withdraws the request"
says 1 "helm uninstall $APPLICATION --namespace $NAMESPACE --no-hooks" "and says how to uninstall anyway"
is "$(wc -c <"$RUN/hook/out")" 0 "no path is printed"
rm "$RUN/sp"
mv "$RUN/sp.away" "$RUN/sp"
await "the job runs on" status_is ".phase == \"Running\" and .jobId == \"$job\" and .desired.state == \"running\" and .operation == null"

# ---- nobody answers in time ----------------------------------------------------------------------------------

kill -STOP "$(agent_pid)"
(
	wait_until "the time is up" "$WAIT_S" grep --quiet "gave up" "$RUN/hook/err"
	kill -CONT "$(agent_pid)"
) >/dev/null &
hook suspend 3s
says 6 "gave up after 3 s (Running: waiting for drey to take the request)" "a drey that does not respond is a failure"
await "the job still runs" status_is ".phase == \"Running\" and .jobId == \"$job\" and .desired.state == \"running\""

# ---- a desired state in the custom resource ------------------------------------------------------------------

resource '{"state": "running"}'
await "drey has read it" resource_is '.status.observedGeneration == .metadata.generation'
hook suspend
is "$STATUS" 0 "the job is stopped, although the resource had a desired state: $(cat "$RUN/hook/err")"
check "with a savepoint" test -f "$(sed 's/^file://' "$RUN/hook/out")/_metadata"
is "$(resource_status .spec.state)" suspended "which is another one now"
resource '{"state": "running"}'
await "resumed" runs_after "$job"

# ---- cancelled -------------------------------------------------------------------------------------------------

before=$(savepoints)
hook cancel
says 0 "the job was stopped without a savepoint" "onDelete: cancel"
is "$(wc -c <"$RUN/hook/out") $(savepoints)" "0 $before" "takes none"
check "it is cancelled" phase_is Cancelled

# ---- scaled to 0 -----------------------------------------------------------------------------------------------

kubectl delete flinkapplication "$APPLICATION" >/dev/null
control state running
await "resumed" phase_is Running
kubectl create deployment "$APPLICATION-jobmanager" --image registry.example/orders --replicas 0 >/dev/null
hook suspend 5s
says 6 "waiting for the end of the last Pod" "scaled to 0: the last Pod has not ended"
stop_container
hook suspend
says 0 "its Deployment is scaled to 0" "when it has, there is nothing to do"

wait "$never"
is "$? $(tail -n 1 "$RUN/hook/never.out")" \
	"0 drey suspend: there is no journal in ConfigMap $NAMESPACE/never-drey-journal: drey has never run for never; nothing to do" "never started: there is nothing to do"
is "$(asked "$ACCOUNT" | tr '\n' ',')" \
	"get configmaps $APPLICATION-drey-journal,get deployments $APPLICATION-jobmanager,get flinkapplications $APPLICATION,patch configmaps $CONTROL_MAP,patch flinkapplications $APPLICATION," \
	"this is all that the account has asked for, and nothing was refused"
check "no state was lost all the time" continuity
e2e_end
