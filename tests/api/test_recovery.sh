#!/usr/bin/env bash
#
# Disaster recovery with one command (docs/tasks/disaster-recovery.md): a real Flink, a real API server, and the state in a
# directory and in a real S3. The namespace is deleted with everything in it, and the state directory of the Pod; then the same
# values are installed into a new one, with restore.adopt: newest. What was suspended stays suspended, what had finished stays
# finished, a running job goes on from its newest checkpoint, and ids and numbers go on. Without adopt drey says what it knows.
#
# runs in: all on 2.3.0

# shellcheck disable=SC2119,SC2153,SC2154 # lib.sh has functions whose arguments are optional, and variables
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$TOP/tests/servers/lib.sh"
# shellcheck source=tests/e2e/recovery_lib.sh
. "$TOP/tests/e2e/recovery_lib.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

recovery_configure() {
	DREY_CONF[kubernetes.enabled]=true
	DREY_CONF[kubernetes.kubeconfig]=$POD_KUBECONFIG
	DREY_CONF[kubernetes.namespace]=$NAMESPACE
	DREY_CONF[kubernetes.resource]=none
}

# The namespace, with all that is in it; the next one has the same name.
recovery_lose() {
	kubectl_cluster delete namespace "$NAMESPACE" --wait=true >/dev/null || api_fail "the namespace cannot be deleted"
	kubectl_cluster create namespace "$NAMESPACE" >/dev/null || api_fail "no namespace"
	api_role || api_fail "no Role"
	api_make_pod
	is "$(kubectl get configmaps --output name | grep -c drey)" 0 "$STORE: the namespace is new and empty"
}

recovery_forget() {
	kubectl delete configmap "$APPLICATION-drey-journal" >/dev/null
}

KUBE_HOME=$("$TOP/tools/get-kube.sh" kube) || api_fail "there is no Kubernetes: see above"
HELM_HOME=$("$TOP/tools/get-kube.sh" helm) || api_fail "there is no Helm: see above"
recovery_begin recovery # from here on HOME is another one
api_begin recovery
recovery directory s3
e2e_end
