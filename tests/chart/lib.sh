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
#   configuration NAME flink|drey KEY   from RUN/NAME.json: the content of this file of the ConfigMap
#   drey_takes NAME              `drey check` accepts what was rendered

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

configuration() { # NAME flink|drey KEY
	jq --raw-output --arg suffix "-$2" --arg key "$3" '.items[] | select(.kind == "ConfigMap" and (.metadata.name | endswith($suffix))) | .data[$key] // empty' "$RUN/$1.json"
}

# drey itself reads its configuration and Flink's, and finds nothing wrong but that there is no Flink here.
drey_takes() { # NAME
	local dir=$RUN/$1.conf
	mkdir -p "$dir"
	# keystores and their passwords are in Secrets, which nobody has made here
	configuration "$1" flink config.yaml | grep --invert-match '^security[.]ssl' >"$dir/config.yaml"
	configuration "$1" drey drey.yaml | sed "s|configDirectory: .*|configDirectory: $dir|" >"$dir/drey.yaml"
	grep --quiet '^  version:' "$dir/drey.yaml" || sed -i 's/^flink:/&\n  version: 2.3.0/' "$dir/drey.yaml"
	mkdir -p "$RUN/secrets"
	printf 'secret' >"$RUN/secrets/secret"
	sed -i "s|/secrets/swift|$RUN/secrets|" "$dir/drey.yaml"
	env KUBECONFIG="$POD_KUBECONFIG" POD_NAMESPACE="$TEAM" POD_NAME=orders-jobmanager-0 POD_UID=1a2b POD_IP=127.0.0.1 "$BUILD/drey" check --config "$dir/drey.yaml" >"$RUN/$1.check" 2>&1
	grep --quiet 'flink.command: install Flink' "$RUN/$1.check" && return
	sed 's/^/# /' "$RUN/$1.check"
	return 1
}
