# shellcheck shell=bash disable=SC2034
#
# lib.sh - the chart, rendered by Helm and accepted by a real API server. Sourced after tests/api/lib.sh.
#
#   chart_begin NAME             as api_begin; TEAM is another namespace that enforces Pod Security "restricted", and
#                                the API server knows the Prometheus operator's kinds
#   kubectl_team ARG...          as the administrator in TEAM; helm ARG... too: Helm 3, or what HELM says (3 4 or "")
#   render NAME [OPTION...]      renders the chart with Helm's options to RUN/NAME.yaml, and to RUN/NAME.json as the API server
#                                would store it, a list with all defaults; fails if the server rejects it or warns
#   object NAME KIND/NAME JQ     from RUN/NAME.json
#   values NAME                  the options for examples/NAME.yaml, a line each; or for a variant of an example,
#                                variants/EXAMPLE-NAME.yaml
#   all_values                   their names

CHART=$TOP/chart/flink-application
EXAMPLES=$CHART/examples
VARIANTS=$TOP/tests/chart/variants

chart_begin() { # NAME
	HELM4_HOME=${HELM4_HOME:-$("$TOP/tools/get-kube.sh" helm4)} || api_fail "there is no Helm 4: see above"
	api_begin "$1"
	TEAM=$NAMESPACE-team
	api_apply "$TOP/tests/chart/monitoring-crds.yaml" || api_fail "no kinds of the Prometheus operator"
	kubectl_cluster create namespace "$TEAM" >/dev/null &&
		kubectl_cluster label namespace "$TEAM" pod-security.kubernetes.io/{enforce,warn,audit}=restricted >/dev/null ||
		api_fail "no namespace $TEAM"
	wait_until "its default account is there" "$WAIT_S" kubectl_team get serviceaccount default
	wait_until "the monitors are served" "$WAIT_S" kubectl_cluster get --raw /apis/monitoring.coreos.com/v1/podmonitors
}

kubectl_team() {
	kubectl_cluster --namespace "$TEAM" "$@"
}

helm() {
	local home=$HELM_HOME
	[ "${HELM:-3}" = 3 ] || home=$HELM4_HOME
	HELM_CACHE_HOME=$RUN/helm HELM_CONFIG_HOME=$RUN/helm HELM_DATA_HOME=$RUN/helm \
		"$home/bin/helm" --kubeconfig "$ADMIN" --namespace "$TEAM" "$@"
}

values() { # NAME
	local file=$VARIANTS/$1.yaml
	[ ! -f "$file" ] || echo "--values=$EXAMPLES/${1%%-*}.yaml"
	[ -f "$file" ] || file=$EXAMPLES/$1.yaml
	echo "--values=$file"
}

all_values() {
	local file
	for file in "$EXAMPLES"/*.yaml "$VARIANTS"/*.yaml; do
		basename "$file" .yaml
	done
}

render() { # NAME [OPTION...]
	local name=$1
	shift
	helm template orders "$CHART" "$@" >"$RUN/$name.yaml" 2>"$RUN/$name.err" &&
		kubectl_team create --dry-run=server --output json --filename "$RUN/$name.yaml" >"$RUN/$name.objects" 2>"$RUN/$name.err" &&
		jq --slurp '{items: .}' "$RUN/$name.objects" >"$RUN/$name.json" &&
		[ ! -s "$RUN/$name.err" ] && return
	sed 's/^/# /' "$RUN/$name.err"
	return 1
}

object() { # NAME KIND/NAME JQ
	jq --raw-output --arg kind "${2%%/*}" --arg name "${2#*/}" \
		".items[] | select(.kind == \$kind and .metadata.name == \$name) | $3" "$RUN/$1.json"
}
