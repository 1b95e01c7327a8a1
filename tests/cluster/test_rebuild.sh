#!/usr/bin/env bash
#
# What survives what: `helm uninstall` and `helm install`, and a namespace that is rebuilt from the bucket alone.

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
node_begin rebuild

# Sets NEWEST: the newest checkpoint of the job that drey knows, once nothing runs any more.
uninstall() { # [HELM_OPTION...]
	job=$(status .jobId)
	helm uninstall "$APPLICATION" "$@" >/dev/null
	wait_until "the Pods are gone" "$WAIT_S" pods_gone jobmanager
	wait_until "the Pods are gone" "$WAIT_S" pods_gone taskmanager
	NEWEST=$(cd "$BUCKETS" && find "flink/orders/checkpoints/$job" -path '*/chk-*/_metadata' -printf 's3://%h\n' | sort -V | tail -n 1)
}

# All of the namespace goes; the volume with the events comes back.
new_namespace() {
	kubectl_cluster delete namespace "$NAMESPACE" --timeout "${WAIT_S}s" >/dev/null &&
		kubectl_cluster delete persistentvolume "$NAMESPACE" --timeout "${WAIT_S}s" >/dev/null &&
		node_namespace && node_keys
}

values
check "helm install" install
await "the job runs" runs

# ---- uninstalled while it runs -----------------------------------------------------------------------------

uninstall --no-hooks
check "helm uninstall --no-hooks: the newest checkpoint is left" test -n "$NEWEST"
check "helm install once more" install
await "the job runs" runs
check "from the newest snapshot" restored_from "$NEWEST"

# ---- uninstalled as the documentation says ------------------------------------------------------------------

check "drey suspend" drey suspend
saved=$(status .lastSavepoint.path)
uninstall
check "helm install once more" install --wait=false
await "it is suspended still" phase_is Suspended
check "drey resume" drey resume
await "the job runs" runs
check "from the savepoint" restored_from "$saved"
check "nothing was counted after it" continued

# ---- nothing but the bucket -----------------------------------------------------------------------------------

uninstall --no-hooks
check "the namespace is deleted, and made again" new_namespace
check "helm install" install --wait=false
await "drey without a journal holds" phase_is Holding
check "and names the newest snapshot" status_is ".reason | contains(\"$NEWEST\")"
check "drey resume --from it" drey resume --from "$NEWEST"
await "the job runs" runs
check "from it" restored_from "$NEWEST"

check "the whole log is continuous" continuity
e2e_end
