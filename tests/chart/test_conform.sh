#!/usr/bin/env bash
#
# What the chart renders, checked without a cluster of that version: both Helms accept it and render the same; every
# object is valid in Kubernetes 1.29 to 1.37 (kubeconform with strict schemas); kube-score reports nothing except what
# score.txt explains; every object that a Pod refers to exists. Each of these checks must also detect something wrong.
#
# runs in: ci

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/chart/lib.sh
. "$TOP/tests/chart/lib.sh"
chart_begin chart-conform
for tool in kubeconform kube-score schemas; do
	declare "home_${tool//-/_}=$("$TOP/tools/get-kube.sh" "$tool")" || api_fail "there is no $tool: see above"
done
# shellcheck disable=SC2154 # declared above
KUBECONFORM=$home_kubeconform/bin/kubeconform KUBE_SCORE=$home_kube_score/bin/kube-score SCHEMAS=$home_schemas
MINORS="29 30 31 32 33 34 35 36 37"

kubectl_cluster get customresourcedefinitions --output json >"$RUN/definitions.json"
python3 "$TOP/tools/kube-schemas.py" --crds "$RUN/schemas" "$RUN/definitions.json" || api_fail "no schemas of our own kinds"

conforms() { # MINOR FILE...
	local minor=$1
	shift
	"$KUBECONFORM" -strict -n 2 -kubernetes-version "1.$minor.0" \
		-schema-location "$SCHEMAS/v1.$minor/{{.ResourceKind}}{{.KindSuffix}}.json" \
		-schema-location "$RUN/schemas/{{.ResourceKind}}{{.KindSuffix}}.json" "$@" >"$RUN/conform" 2>&1 && return
	sed 's/^/# /' "$RUN/conform"
	return 1
}

# All that a release can bring, hooks and tests as well, in RUN/helm3 and RUN/helm4.
render_by_both() { # NAME OPTION...
	local name=$1 helm file
	shift
	for helm in 3 4; do
		file=$RUN/helm$helm/$name
		if ! HELM=$helm helm lint --strict --quiet "$CHART" "$@" >"$RUN/lint" 2>&1 ||
			! HELM=$helm helm template orders "$CHART" "$@" >"$file.yaml" 2>"$RUN/lint" || [ -s "$RUN/lint" ]; then
			sed "s/^/Helm $helm: /" "$RUN/lint"
			return 1
		fi
		# they differ in blank lines and in the order
		kubectl_team create --dry-run=client --validate=false --output json --filename "$file.yaml" |
			jq --slurp --sort-keys 'sort_by(.kind, .metadata.name)' >"$file.json"
	done
	diff "$RUN/helm3/$name.json" "$RUN/helm4/$name.json"
}

# ---- both Helms ------------------------------------------------------------------------------------

mkdir -p "$RUN/helm3" "$RUN/helm4"
is "$(HELM=3 helm version --template '{{.Version}}' | cut -d. -f1) $(HELM=4 helm version --template '{{.Version}}' | cut -d. -f1)" "v3 v4" "there are two Helms"
for name in $(all_values); do
	mapfile -t options < <(values "$name")
	check "$name: neither Helm has anything to say, and they render the same" render_by_both "$name" "${options[@]}"
done
for helm in 3 4; do
	says=$(HELM=$helm helm lint --strict --quiet "$TOP/chart/drey-crds" 2>&1)
	is "$says" "" "drey-crds: nor here, Helm $helm"
	HELM=$helm helm template drey-crds "$TOP/chart/drey-crds" >"$RUN/helm$helm/drey-crds.yaml"
done
is "$(find "$RUN/helm3" -name '*.yaml' -size +1k | wc -l)" "$(($(all_values | wc -l) + 1))" "all of them are looked at below"

# ---- what an installation says

notes() { # [OPTION...]
	helm install orders "$CHART" --namespace team --dry-run=client --values "$CHART/examples/s3.yaml" "$@" >"$RUN/notes" 2>&1
}
says() { # PATTERN
	sed -n '/^NOTES:/,$p' "$RUN/notes" | grep -qE -- "$1"
}
check "notes are printed" notes --set drey.http.port=8099
check "the plugin, which knows why no Pod runs" says '^  kubectl drey status orders --namespace team$'
check "the page, on the port that it has" says 'port-forward deploy/orders-jobmanager 8099$'
check "how to uninstall what never started" says 'add --no-hooks'
check "and for other values" notes --set onDelete=nothing
check "nothing of hooks where nothing is stopped" not says "no-hooks"

# ---- the package

check "helm package makes one" helm package "$CHART" --destination "$RUN/package"
mkdir -p "$RUN/unpacked"
tar -xzf "$RUN"/package/flink-application-*.tgz -C "$RUN/unpacked"
links_lead_somewhere() {
	local link lost=0
	for link in $(grep -oE '\]\((examples|files)/[^)#]+' "$RUN/unpacked/flink-application/README.md" | sed 's/^](//'); do
		[ -e "$RUN/unpacked/flink-application/$link" ] || {
			echo "# $link is not in the package"
			lost=1
		}
	done
	return $lost
}
check "the examples that its README names are in it" links_lead_somewhere

# ---- Kubernetes 1.29 to 1.37 -----------------------------------------------------------------------

for minor in $MINORS; do
	check "1.$minor: every object is one of this Kubernetes" conforms "$minor" "$RUN"/helm3/*.yaml
done
kinds=$(jq --raw-output '.[].kind' "$RUN/helm3/full.json" | sort --unique | wc -l)
check "of many kinds: $kinds" test "$kinds" -ge 14

wrong() { # TITLE SED_SCRIPT
	sed "$2" "$RUN/helm3/full.yaml" >"$RUN/wrong.yaml"
	if cmp --quiet "$RUN/wrong.yaml" "$RUN/helm3/full.yaml"; then
		tap_result 1 "nothing was made wrong: $1"
		return
	fi
	check "refused: $1" not conforms 29 "$RUN/wrong.yaml"
}

wrong "a member that there is not" 's/^  progressDeadlineSeconds:/  progressDeadline:/'
wrong "a text where a number belongs" 's/^  progressDeadlineSeconds: .*/  progressDeadlineSeconds: "900"/'
wrong "nothing where something belongs" 's/^  progressDeadlineSeconds: .*/  progressDeadlineSeconds:/'
wrong "a member of a member that there is not" 's/{path: \/livez, port: drey}/{path: \/livez, ports: drey}/'
wrong "a kind that there is not" 's/^kind: CronJob/kind: CronTask/'
wrong "a version that has gone" 's/^apiVersion: policy\/v1$/&beta1/'
wrong "a member of ours that there is not" 's/^spec: {}$/spec: {wanted: running}/'
wrong "a value of ours that there is not" 's/^spec: {}$/spec: {state: stopped}/'

# ---- kube-score ------------------------------------------------------------------------------------

# "CHECK  why it does not count", a line
mapfile -t ignored < <(sed -n 's/^\([a-z-]*\)  .*/--ignore-test=\1/p' "$TOP/tests/chart/score.txt")
mapfile -t wanted < <(sed -n 's/^+\([a-z-]*\)$/--enable-optional-test=\1/p' "$TOP/tests/chart/score.txt")

score() { # FILE
	"$KUBE_SCORE" score --ignore-container-cpu-limit --kubernetes-version v1.34 --output-format ci "${ignored[@]}" "${wanted[@]}" "$1" >"$RUN/score" 2>&1 && ! grep --quiet -E '^\[(WARNING|CRITICAL)' "$RUN/score" && return
	grep -vE '^\[(OK|SKIPPED)' "$RUN/score" | sed 's/^/# /'
	return 1
}

for name in $(all_values); do
	check "$name: kube-score has nothing to say" score "$RUN/helm3/$name.yaml"
done
sed 's/readOnlyRootFilesystem: true/readOnlyRootFilesystem: false/' "$RUN/helm3/full.yaml" >"$RUN/wrong.yaml"
check "but of a root file system that can be written" not score "$RUN/wrong.yaml"
check "and says which" grep --quiet 'writable root filesystem' "$RUN/score"
for option in "${ignored[@]}"; do
	check "${option#*=}: is a check that there is" grep --quiet "^${option#*=}," <("$KUBE_SCORE" list)
done

# ---- what refers to something ----------------------------------------------------------------------

# Of a rendering: accounts, ConfigMaps and claims that Pods name, ports that Services and probes name, and which of them
# nobody makes. What is handed on from the values as it is (extraVolumes, env) is whoever's who wrote it.
dangling() { # NAME
	jq --raw-output '
		def pods: .[] | .kind as $kind | .metadata.name as $name |
			(if .kind == "CronJob" then .spec.jobTemplate.spec.template else .spec.template? end) | select(. != null and .spec != null) | {owner: "\($kind)/\($name)", labels: .metadata.labels, spec};
		. as $all | [.[] | "\(.kind)/\(.metadata.name)"] as $made | [pods] as $pods |
		($pods[] | .owner as $owner | .spec |
			(.serviceAccountName // empty | "ServiceAccount/\(.)"),
			(.volumes[]? | .configMap | select(. != null and .optional != true) | "ConfigMap/\(.name)"),
			(.volumes[]? | .persistentVolumeClaim.claimName // empty | "PersistentVolumeClaim/\(.)") |
			select(. as $one | $made | index($one) | not) | "\($owner) wants \(.)"),
		($all[] | select(.kind == "Service") | .metadata.name as $name | .spec.selector as $selector | .spec.ports[] | .targetPort as $port |
			select([$pods[] | select(.labels | contains($selector)) | .spec.containers[].ports[]? | .name] | index($port) | not) |
			"Service/\($name) leads to no port \($port)"),
		($all[] | select(.kind == "RoleBinding") | select("Role/\(.roleRef.name)" as $one | $made | index($one) | not) | "RoleBinding/\(.metadata.name) binds nothing"),
		($all[] | select(.kind == "Role") | .metadata.name as $name | .rules[] |
			select((.verbs + .resources + .apiGroups | index("*")) or (.resources | index("secrets") or index("pods"))) | "Role/\($name) allows too much")' "$RUN/helm3/$1.json"
}

for name in $(all_values); do
	case $name in
	s3-bare) expected="Deployment/orders-jobmanager wants ServiceAccount/theirs" ;;
	without-roles)
		expected="CronJob/orders-savepoint wants ServiceAccount/flink-savepoint
Deployment/orders-jobmanager wants ServiceAccount/flink
Deployment/orders-taskmanager wants ServiceAccount/flink-worker
Job/orders-check wants ServiceAccount/flink-check
Job/orders-uninstall wants ServiceAccount/flink-uninstall"
		;;
	platform)
		expected="Deployment/orders-jobmanager wants ConfigMap/company-ca
Deployment/orders-taskmanager wants ConfigMap/company-ca
Job/orders-check wants ConfigMap/company-ca"
		;;
	pvc-existing)
		expected="Job/orders-check wants PersistentVolumeClaim/shared-state
Deployment/orders-jobmanager wants PersistentVolumeClaim/shared-state
Deployment/orders-taskmanager wants PersistentVolumeClaim/shared-state"
		;;
	*) expected='' ;;
	esac
	is "$(dangling "$name" | sort)" "$(sort <<<"$expected")" "$name: what is referred to is there"
done
e2e_end
