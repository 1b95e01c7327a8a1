# shellcheck shell=bash disable=SC2034
#
# lib.sh - drey's view of a real Kubernetes API: a namespace, a ServiceAccount with the Role that the chart ships, its
# token. Sourced after tests/e2e/tap.sh, whose runs and assertions it uses; with e2e_begin before api_begin the run has a
# Flink too.
#
#   api_begin NAME [own]      creates NAMESPACE in the control plane of this test run; `own`: in one of its own, for tests
#                             that stop, kill or hang something. Set before: APPLICATION (default orders), API_VALUES (more
#                             `--set` arguments for the chart), CHART_MAKES_MAPS=true (drey creates no ConfigMaps of its own, and
#                             has no right to), APISERVER_FLAGS (own only)
#   kubectl ARG...            as the administrator (ADMIN is the kubeconfig), in NAMESPACE; kubectl_cluster ARG... in none
#   kubectl_pod ARG...        as the ServiceAccount; so does curl_pod METHOD PATH [CURL_OPTION...]: the response is in
#                             $RUN/answer, its status in HTTP_STATUS
#   api_stop|api_kill|api_start|api_hang|api_resume NAME...    apiserver, etcd, controllers (own control plane only)
#   api_token SECONDS         a token of the ServiceAccount that expires after SECONDS (the server may accept it 10 s longer)
#   api_give_token TOKEN      puts it where the Pod reads it, as the kubelet does: by one rename
#   api_requests [JQ]         the requests of the ServiceAccount, from the audit log: verb, path, resource, name, code,
#                             unixMs, userAgent; one JSON object per request, those for which JQ is true
#   api_verbs                 the number of its requests: lines "COUNT VERB RESOURCE"
#   api_denied                its requests that were denied with 401 or 403
#   api_role [HELM_OPTION...] applies the Role again, with other values; api_template FILE [HELM_OPTION...] prints one
#   api_may VERB RESOURCE/NAME [OPTION...]    whether the Role allows this by now
#   api_role_without JQ VERB RESOURCE/NAME [OPTION...]    changes the existing Role with JQ, until api_role; waits until the verb is denied
#   api_define                applies the custom resource definition again
#   job_id_of N [SALT]        the N-th job id of those that the Role names
#   is_named JOB              is it one of them? (for check and await)
#   begin_at N                a journal without a launch, so that the first launch has the N-th job id and not a random one
#   next_job_id               the job id of the next launch that does not continue an earlier one, from the journal
#   ha_options                lines of config.yaml: Flink's high availability on Kubernetes; RPC_PORT
#   e2e_end                   as in every end-to-end test
#
# What drey's Pod would have: POD_KUBECONFIG, a kubeconfig with tokenFile; POD_ENV, arguments for `env` that make a
# program believe that it is in the cluster, except for the directory whose path is fixed there: POD_SECRETS
# (token, ca.crt, namespace). API_URL and API_PORT are the server's.

API_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CLUSTER_SH=$API_DIR/../cluster/cluster.sh
CLUSTER=''
NAMESPACE=''

api_fail() { # WHY
	echo "1..1"
	echo "not ok 1 - $1"
	exit 1
}

api_begin() { # NAME [own]
	APPLICATION=${APPLICATION:-orders}
	if [ -z "$RUN" ]; then
		RUN=$(mktemp -d "${TMPDIR:-/tmp}/drey-$1.XXXXXX") || die 1 "cannot make a run directory in ${TMPDIR:-/tmp}"
		EVENTS=$RUN/events.log
		mkdir -p "$RUN/log"
		trap 'exit 130' INT
		trap 'exit 143' TERM HUP
	fi
	trap api_run_end EXIT
	KUBE_HOME=${KUBE_HOME:-$("$TOP/tools/get-kube.sh" kube)} || api_fail "there is no Kubernetes: see above"
	HELM_HOME=${HELM_HOME:-$("$TOP/tools/get-kube.sh" helm)} || api_fail "there is no Helm: see above"
	export KUBE_HOME
	CLUSTER=${DREY_CLUSTER:-}
	if [ "${2:-}" = own ] || [ -z "$CLUSTER" ]; then
		CLUSTER=$RUN/cluster
		# the mark of the run: its clean-up finds what is left
		E2E_RUN=$RUN "$CLUSTER_SH" up "$CLUSTER" --owner $$ >/dev/null || api_fail "the control plane has not started"
	fi
	ADMIN=$CLUSTER/pki/admin.conf
	API_URL=$(jq --raw-output '.clusters[0].cluster.server' "$ADMIN")
	API_PORT=${API_URL##*:}
	NAMESPACE=$(printf '%s-%s' "$1" "$$" | tr -c 'a-z0-9\n' '-')
	api_define || api_fail "the custom resource cannot be defined"
	kubectl create namespace "$NAMESPACE" >/dev/null || api_fail "no namespace"
	# shellcheck disable=SC2119 # not the arguments of this one
	api_role || api_fail "the chart's Role cannot be made"
	api_make_pod
	echo "# $1 in $RUN, namespace $NAMESPACE of $API_URL"
}

# The own control plane ends first: everything else of the run may be waiting for a response.
api_run_end() {
	local status=$?
	ui_is_main || return "$status"
	# a shared log does not outlive the run of all tests
	[ "$status" -eq 0 ] || [ -z "$NAMESPACE" ] || api_requests >"$RUN/log/requests.json"
	if [ -n "$CLUSTER" ] && [ "$CLUSTER" = "$RUN/cluster" ]; then
		"$CLUSTER_SH" down "$CLUSTER"
	fi
	(exit "$status")
	run_end
}

kubectl() {
	kubectl_cluster ${NAMESPACE:+--namespace "$NAMESPACE"} "$@"
}

# For objects without a namespace.
kubectl_cluster() {
	"$KUBE_HOME/bin/kubectl" --kubeconfig "$ADMIN" "$@"
}

kubectl_pod() {
	"$KUBE_HOME/bin/kubectl" --kubeconfig "$POD_KUBECONFIG" "$@"
}

# Sets HTTP_STATUS, 000 without a response, so it must not be called in $(...); the body is in $RUN/answer.
curl_pod() { # METHOD PATH [CURL_OPTION...]
	local method=$1 path=$2
	shift 2
	: >"$RUN/answer"
	HTTP_STATUS=$(curl --silent --max-time 20 --output "$RUN/answer" --write-out '%{http_code}' --request "$method" \
		--cacert "$POD_SECRETS/ca.crt" --header "Authorization: Bearer $(cat "$POD_SECRETS/token")" "$@" "$API_URL$path") || :
}

# Server-side apply can be repeated, also by two tests at the same time.
api_apply() { # FILE_OR_DIRECTORY
	kubectl apply --server-side --force-conflicts --filename "$1" >/dev/null
}

# The custom resource definition, for the whole control plane. It can be used a moment after it was accepted.
api_define() {
	api_apply "$TOP/chart/drey-crds/templates" &&
		wait_until "the custom resource is there" "$WAIT_S" kubectl get --raw /apis/drey.dev/v1/flinkapplications
}

# One template of the chart, as Helm renders it.
api_template() { # FILE [HELM_OPTION...]
	local file=$1
	shift
	"$HELM_HOME/bin/helm" template "$APPLICATION" "$TOP/chart/flink-application" --namespace "$NAMESPACE" \
		--show-only "templates/$file" --values "$TOP/tests/chart/least.yaml" \
		${CHART_MAKES_MAPS:+--set drey.kubernetes.createMaps=false} "$@"
}

# shellcheck disable=SC2120 # most tests take it as it is
# The ServiceAccount and exactly the rights that the chart gives it; may be repeated with other values.
api_role() { # [HELM_OPTION...]
	local file
	for file in serviceaccount role; do
		# shellcheck disable=SC2086 # words
		api_template "$file.yaml" ${API_VALUES:+$API_VALUES} "$@" >"$RUN/$file.yaml" &&
			api_apply "$RUN/$file.yaml" || return 1
	done
	wait_until "the Role counts" "$WAIT_S" api_may get "configmaps/$APPLICATION-drey-control"
}

api_may() { # VERB RESOURCE/NAME [OPTION...]
	kubectl auth can-i "$@" --as "system:serviceaccount:$NAMESPACE:$APPLICATION" >/dev/null
}

api_may_not() { # VERB RESOURCE/NAME [OPTION...]
	! api_may "$@"
}

api_role_without() { # JQ VERB RESOURCE/NAME [OPTION...]
	kubectl get role "$APPLICATION" --output json | jq "$1" | kubectl replace --filename - >/dev/null || return 1
	wait_until "the Role has lost $2 $3" "$WAIT_S" api_may_not "${@:2}"
}

job_id_of() { # N [SALT]
	printf '%s/%s/%s/%d' "$NAMESPACE" "$APPLICATION" "${2:-}" "$1" | sha256sum | cut -c1-32
}

is_named() { # JOB
	grep --quiet --fixed-strings -- "-$1-config-map" "$RUN/role.yaml"
}

begin_at() { # N
	jq --arg application "$APPLICATION" --arg space "$NAMESPACE/$APPLICATION/" --argjson next "$1" \
		'.application = $application | .jobIds = {space: $space, next: $next}' \
		"$TOP/tests/fixtures/journal/0.1.0-fresh.json" >"$RUN/first-journal.json" &&
		kubectl create configmap "$APPLICATION-drey-journal" --from-file=journal.json="$RUN/first-journal.json" >/dev/null
}

next_job_id() {
	job_id_of "$(kubectl get configmap "$APPLICATION-drey-journal" --output json |
		jq '.data["journal.json"] | fromjson | .jobIds.next')"
}

ha_options() {
	cat <<-END
		high-availability.type: kubernetes
		high-availability.storageDir: "file://$RUN/ha"
		high-availability.cluster-id: $APPLICATION
		high-availability.jobmanager.port: $RPC_PORT
		kubernetes.cluster-id: $APPLICATION
		kubernetes.namespace: $NAMESPACE
	END
}

# ---- the Pod's side ------------------------------------------------------------------------------

api_make_pod() {
	POD_SECRETS=$RUN/serviceaccount
	POD_KUBECONFIG=$RUN/pod.conf
	mkdir -p "$POD_SECRETS"
	cp "$CLUSTER/pki/ca.crt" "$POD_SECRETS/ca.crt"
	printf '%s' "$NAMESPACE" >"$POD_SECRETS/namespace"
	api_give_token "$(api_token 14400)" || api_fail "no token"
	jq --null-input --arg server "$API_URL" --arg namespace "$NAMESPACE" --arg dir "$POD_SECRETS" '{
		apiVersion: "v1", kind: "Config", "current-context": "pod",
		contexts: [{name: "pod", context: {cluster: "here", user: "pod", namespace: $namespace}}],
		clusters: [{name: "here", cluster: {server: $server, "certificate-authority": "\($dir)/ca.crt"}}],
		users: [{name: "pod", user: {tokenFile: "\($dir)/token"}}]
	}' >"$POD_KUBECONFIG"
	POD_ENV=("KUBERNETES_SERVICE_HOST=127.0.0.1" "KUBERNETES_SERVICE_PORT=$API_PORT" "POD_NAMESPACE=$NAMESPACE"
		"POD_NAME=$APPLICATION-jobmanager-0" "POD_UID=$(cat /proc/sys/kernel/random/uuid)")
}

api_give_token() { # TOKEN
	printf '%s' "$1" >"$POD_SECRETS/.token" && mv "$POD_SECRETS/.token" "$POD_SECRETS/token"
}

base64_url() {
	base64 -w0 | tr '+/' '-_' | tr -d '='
}

# The server issues no token for less than 10 minutes, and accepts one for a minute after it has expired; so a short one
# is signed here, with an expiry one minute earlier.
api_token() { # SECONDS
	local now uid claims
	if [ "$1" -ge 600 ]; then
		kubectl create token "$APPLICATION" --duration "$1s"
		return
	fi
	now=$(date +%s)
	uid=$(kubectl get serviceaccount "$APPLICATION" --output 'jsonpath={.metadata.uid}') || return 1
	claims=$(jq --null-input --compact-output --arg namespace "$NAMESPACE" --arg name "$APPLICATION" --arg uid "$uid" \
		--argjson now "$now" --argjson until $((now + $1 - 60)) '{
			iss: "https://kubernetes.default.svc.cluster.local", aud: ["https://kubernetes.default.svc.cluster.local"],
			iat: ($now - 120), nbf: ($now - 120), exp: $until, sub: "system:serviceaccount:\($namespace):\($name)",
			"kubernetes.io": {namespace: $namespace, serviceaccount: {name: $name, uid: $uid}}}')
	claims=$(printf '{"alg":"RS256","typ":"JWT"}' | base64_url).$(printf '%s' "$claims" | base64_url)
	printf '%s.%s\n' "$claims" "$(printf '%s' "$claims" |
		openssl dgst -sha256 -sign "$CLUSTER/pki/sa.key" -binary | base64_url)"
}

# ---- what happens to the control plane -------------------------------------------------------------

api_act() { # COMMAND NAME...
	[ "$CLUSTER" = "$RUN/cluster" ] || die 2 "api_$1: other tests use this control plane; begin with: api_begin NAME own"
	E2E_RUN=$RUN "$CLUSTER_SH" "$1" "$CLUSTER" "${@:2}"
}

api_stop() { # NAME...: in good order
	api_act stop "$@"
}

api_kill() { # NAME...
	api_act kill "$@"
}

api_start() { # NAME...: waits until it works
	api_act start "$@"
}

api_hang() { # NAME...: connections stay open, and nobody answers
	api_act signal STOP "$@"
}

api_resume() { # NAME...
	api_act signal CONT "$@"
}

# ---- the audit log ---------------------------------------------------------------------------------

# The log has a watch when it begins and when it ends; only the request counts. A request that was not authenticated has
# no user, but it has the namespace.
api_requests() { # [JQ]
	jq --compact-output --arg user "system:serviceaccount:$NAMESPACE:$APPLICATION" --arg namespace "$NAMESPACE" '
		select(.user.username == $user or
			(.responseStatus.code == 401 and .objectRef.namespace == $namespace)) |
		{id: .auditID, verb, path: .requestURI, resource: .objectRef.resource, subresource: .objectRef.subresource,
		 name: .objectRef.name, code: .responseStatus.code, userAgent,
		 unixMs: (.requestReceivedTimestamp | (.[:19] + "Z" | fromdate) * 1000 + (.[20:23] | tonumber))}
	' "$CLUSTER/log/audit.log" | jq --slurp --compact-output "unique_by(.id) | sort_by(.unixMs)[] | select(${1:-true})"
}

api_verbs() {
	api_requests | jq --raw-output '[.verb, .resource, .subresource // empty] | join(" ")' | sort | uniq -c | sed 's/^ *//'
}

api_denied() {
	api_requests '.code == 401 or .code == 403'
}
