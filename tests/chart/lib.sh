# shellcheck shell=bash disable=SC2034
#
# lib.sh - the chart, rendered by Helm and taken by a real API server. Sourced after tests/api/lib.sh.
#
#   chart_begin NAME             as api_begin; TEAM is a namespace beside it that enforces Pod Security "restricted", and
#                                the API server knows the Prometheus operator's kinds
#   kubectl_team ARG...          as the administrator in TEAM; helm ARG... likewise
#   render NAME [OPTION...]      the chart with Helm's options in RUN/NAME.yaml; what the API server would make of it, with
#                                all defaults, in RUN/NAME.json, a list; fails when it refuses or warns
#   object NAME KIND/NAME JQ     from RUN/NAME.json
#   values NAME                  the options for examples/NAME.yaml

CHART=$TOP/chart/flink-application
EXAMPLES=$CHART/examples

chart_begin() { # NAME
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
	HELM_CACHE_HOME=$RUN/helm HELM_CONFIG_HOME=$RUN/helm HELM_DATA_HOME=$RUN/helm \
		"$HELM_HOME/bin/helm" --kubeconfig "$ADMIN" --namespace "$TEAM" "$@"
}

values() { # NAME
	echo "--values=$EXAMPLES/$1.yaml"
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
