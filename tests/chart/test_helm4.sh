#!/usr/bin/env bash
#
# What Helm 4 does differently from Helm 3: `--wait` reads the conditions of the FlinkApplication as kstatus does, and
# Helm 4 does not overwrite manual patches unless it is told to. Without a node: there are no Pods.

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/chart/lib.sh
. "$TOP/tests/chart/lib.sh"
chart_begin chart-helm4
export HELM=4
mapfile -t options < <(values s3)
options+=(--set 'jobManager.replicas=0,taskManager.replicas=0' --no-hooks)

# The conditions that drey would write: TYPE=STATUS...
conditions() { # OBSERVED_GENERATION TYPE=STATUS...
	local generation=$1
	shift
	kubectl_team patch flinkapplication orders --subresource status --type merge --patch "$(jq --null-input --argjson generation "$generation" \
		'{status: {observedGeneration: $generation, conditions: [$ARGS.positional[] | split("=") |
			{type: .[0], status: .[1], reason: "Test", message: "as drey says", lastTransitionTime: "2026-01-01T00:00:00Z"}]}}' --args "$@")" >/dev/null
}

# Starts `helm upgrade --wait`, which waits until somebody says that it is ready.
begin_upgrade() {
	helm upgrade orders "$CHART" "${options[@]}" --wait --timeout 10m --debug >"$RUN/upgrade" 2>&1 &
	upgrade=$!
}

waits_for() { # KIND STATUS
	grep --quiet "waiting for resource.*kind=$1 .*actualStatus=$2" "$RUN/upgrade"
}

ended() { # PID
	! kill -0 "$1" 2>/dev/null
}

upgrade_ends() { # STATUS TITLE
	await "$2: Helm waits no longer" ended "$upgrade"
	wait "$upgrade"
	is "$(($? != 0))" "$1" "$2: whether it failed"
}

# ---- --wait ----------------------------------------------------------------------------------------

check "helm install --wait: nothing is waited for where no Pods are wanted" helm install orders "$CHART" "${options[@]}" --wait --timeout 10m

conditions 1 Ready=False Reconciling=True
begin_upgrade
await "it waits for what is under way" waits_for FlinkApplication InProgress
conditions 1 Ready=False Reconciling=False
conditions 1 Ready=True Reconciling=False Stalled=False
upgrade_ends 0 "Ready"

kubectl_team patch flinkapplication orders --type merge --patch '{"spec":{"doNotRestart":false}}' >/dev/null
begin_upgrade
await "it waits until drey has looked at what is wanted now" waits_for FlinkApplication InProgress
conditions 2 Ready=True Reconciling=False Stalled=False
upgrade_ends 0 "looked at"

conditions 2 Ready=False Reconciling=False Stalled=True
begin_upgrade
upgrade_ends 1 "a person is needed"
check "and it says for what" grep --quiet 'FlinkApplication/.*/orders not ready. status: Failed, message: as drey says' "$RUN/upgrade"
conditions 2 Ready=True Reconciling=False Stalled=False

options+=(--set jobManager.replicas=1)
begin_upgrade
await "it waits for the Pod of the JobManager" waits_for Deployment InProgress
kubectl_team scale deployment orders-jobmanager --replicas 0 >/dev/null
upgrade_ends 0 "none is wanted"

# ---- what somebody has patched ---------------------------------------------------------------------

state() {
	kubectl_team get configmap orders-drey-control --output 'jsonpath={.data.state}'
}

kubectl_team patch configmap orders-drey-control --type merge --patch '{"data":{"state":"suspended"}}' >/dev/null
check "values that say nothing of it leave it" helm upgrade orders "$CHART" "${options[@]}"
check "values that say something else are refused" not helm upgrade orders "$CHART" "${options[@]}" --set control.state=running
check "as a conflict, with its name" grep --quiet 'conflict with "kubectl-patch".*: .data.state' <(
	helm upgrade orders "$CHART" "${options[@]}" --set control.state=running 2>&1)
is "$(state)" suspended "and it is as it was"
check "values that say the same are taken" helm upgrade orders "$CHART" "${options[@]}" --set control.state=suspended
check "--force-conflicts overwrites it" helm upgrade orders "$CHART" "${options[@]}" --set control.state=running --force-conflicts
is "$(state)" running "and it is as the values say"

# ---- a release of Helm 3 ---------------------------------------------------------------------------

check "helm uninstall" helm uninstall orders --no-hooks
HELM=3 helm install orders "$CHART" "${options[@]}" >/dev/null || api_fail "Helm 3 does not install"
kubectl_team patch configmap orders-drey-control --type merge --patch '{"data":{"state":"suspended"}}' >/dev/null
check "a release of Helm 3 is upgraded by Helm 4" helm upgrade orders "$CHART" "${options[@]}" --set image.tag=1.5.0
is "$(state)" suspended "and what was patched is as it was"
check "and goes back" helm rollback orders 1 --no-hooks
is "$(kubectl_team get deployment orders-jobmanager --output 'jsonpath={.spec.template.spec.containers[0].image}')" registry.example/orders:1.4.0 "to its first version"
e2e_end
