#!/usr/bin/env bash
#
# The tool box of these tests itself: the control plane, its keys and its log. Check this first when others fail.
#
# runs in: ci

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin cluster own
configmaps=/api/v1/namespaces/$NAMESPACE/configmaps
control=$configmaps/$APPLICATION-drey-control

# shellcheck disable=SC2317 # called by check and await
curl_gives() { # STATUS METHOD PATH [CURL_OPTION...]
	curl_pod "${@:2}"
	[ "$HTTP_STATUS" = "$1" ] || { echo "$HTTP_STATUS: $(cat "$RUN/answer")" && return 1; }
}

# shellcheck disable=SC2317 # called by await
were_denied() { # CODE...
	[ "$(api_denied | jq --raw-output .code | xargs)" = "$*" ]
}

process() { # NAME
	cat "$CLUSTER/pid/$1"
}

check "status says that it is ready" "$CLUSTER_SH" status "$CLUSTER"
is "$(kubectl version --output json | jq --raw-output .serverVersion.minor)" 34 "it is Kubernetes 1.34"
read -ra ports <"$CLUSTER/ports"
is "$(cat /proc/net/tcp /proc/net/tcp6 | awk -v ports="$(printf '%04X ' "${ports[@]}")" '
	BEGIN { split(ports, list, " "); for (i in list) ours[list[i]] = 1 }
	$4 == "0A" && substr($2, length($2) - 3) in ours { print substr($2, 1, length($2) - 5) }' | sort -u)" 0100007F \
	"it listens on 127.0.0.1 only"

# ---- the ServiceAccount ----------------------------------------------------------------------------

kubectl create configmap "$APPLICATION-drey-control" --from-literal=state=running >/dev/null
kubectl create configmap of-somebody-else --from-literal=a=b >/dev/null
check "the token opens what the Role names" curl_gives 200 GET "$control"
is "$(api_denied)" "" "nothing was refused so far"
check "and nothing else" curl_gives 403 GET "$configmaps/of-somebody-else"
api_give_token "$(api_token 600 | tr 'a-y' 'b-z')"
check "a token that nobody signed is refused" curl_gives 401 GET "$control"
await "the audit log has what was refused" were_denied 403 401
is "$(api_requests '.code == 200' | jq --raw-output '[.verb, .resource, .name] | join(" ")')" \
	"get configmaps $APPLICATION-drey-control" "and what was not"
is "$(api_verbs)" "3 get configmaps" "and counts them"

api_give_token "$(api_token 2)"
check "a short token is good while it lasts" curl_gives 200 GET "$control"
await "and not for longer" curl_gives 401 GET "$control"
api_give_token "$(api_token 600)"
check "a new one is read from the same place" curl_gives 200 GET "$control"
is "$(kubectl_pod get configmap "$APPLICATION-drey-control" --output name)" "configmap/$APPLICATION-drey-control" \
	"the kubeconfig of the Pod has its namespace and its token"

# ---- what happens to the control plane -------------------------------------------------------------

kubectl create configmap kept --from-literal=a=b >/dev/null
server=$(process apiserver)
api_kill apiserver
check "the API server is gone" curl_gives 000 GET "$control"
check "status says that it is not ready" not "$CLUSTER_SH" status "$CLUSTER"
api_start apiserver
check "it is another process" test "$(process apiserver)" != "$server"
check "the same token is good" curl_gives 200 GET "$control"
api_kill etcd
check "without etcd there is no answer from it" not curl_gives 200 GET "$control" --max-time 5
api_start etcd
await "etcd is back" curl_gives 200 GET "$control"
is "$(kubectl get configmap kept --output 'jsonpath={.data.a}')" b "nothing is lost"
api_hang apiserver
check "one that hangs takes the connection and says nothing" curl_gives 000 GET "$control" --max-time 3
api_resume apiserver
await "and goes on" curl_gives 200 GET "$control"
api_stop controllers
kubectl create namespace "$NAMESPACE-2" >/dev/null
check "without controllers nobody makes a ServiceAccount" not kubectl --namespace "$NAMESPACE-2" get serviceaccount default
api_start controllers
await "with them it is made" kubectl --namespace "$NAMESPACE-2" get serviceaccount default

# ---- others, and the end ---------------------------------------------------------------------------

check "a second one beside it" "$CLUSTER_SH" up "$RUN/second" --owner $$
check "does not touch this one" curl_gives 200 GET "$control"
check "knows nothing of it" not "$KUBE_HOME/bin/kubectl" --kubeconfig "$RUN/second/pki/admin.conf" get namespace "$NAMESPACE"
pids=$(cat "$RUN"/second/pid/*)
check "up again changes nothing" "$CLUSTER_SH" up "$RUN/second"
is "$(cat "$RUN"/second/pid/*)" "$pids" "the same processes"
check "down" "$CLUSTER_SH" down "$RUN/second"
check "nothing of it is left" not pgrep --full "$RUN/second/"
sleep 600 &
owner=$!
"$CLUSTER_SH" up "$RUN/third" --owner $owner >/dev/null
kill $owner
await "a control plane ends with its owner" not pgrep --full "$RUN/third/"
e2e_end
