#!/usr/bin/env bash
#
# What the guides say, without a cluster: each block of YAML is taken by the chart, also the values in the manifests for Argo CD and
# Flux, and Kustomize renders the chart with the kustomization of its guide. The objects are valid ones of Kubernetes.
#
# runs in: ci

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
CHART=$TOP/chart/flink-application
TASKS=$TOP/docs/tasks

RUN=$(mktemp -d "${TMPDIR:-/tmp}/drey-guides.XXXXXX") || die 1 "cannot make a run directory in ${TMPDIR:-/tmp}"
trap 'ui_is_main && rm -rf "$RUN"' EXIT
for tool in kube helm kubeconform schemas; do
	declare "home_$tool=$("$TOP/tools/get-kube.sh" "$tool")" || die 1 "there is no $tool: see above"
done
# shellcheck disable=SC2154 # declared above
HELM=$home_helm/bin/helm KUBECTL=$home_kube/bin/kubectl

conforms() { # FILE
	# shellcheck disable=SC2154 # declared above
	"$home_kubeconform/bin/kubeconform" -strict -kubernetes-version 1.34.0 \
		-schema-location "$home_schemas/v1.34/{{.ResourceKind}}{{.KindSuffix}}.json" "$1"
}

# The blocks of YAML of a guide, as RUN/GUIDE-N.yaml: of a manifest the values in it.
blocks() { # GUIDE
	awk -v out="$RUN/$1" '
		/^```yaml/ { on = 1; file = out "-" ++n ".block"; printf "" >file; next }
		/^```/ { on = 0 }
		on { print >file }' "$TASKS/$1.md"
	for block in "$RUN/$1"-*.block; do
		awk '/^kind: / { manifest = 1 } { line[NR] = $0 }
			END {
				for (i = 1; i <= NR; i++) {
					match(line[i], /^ */)
					if (manifest && inside && RLENGTH <= depth) inside = 0
					if (!manifest || inside) print substr(line[i], manifest ? depth + 3 : 1)
					if (manifest && line[i] ~ /^ *(values|valuesObject):$/) { inside = 1; depth = RLENGTH }
				}
			}' "$block" >"${block%.block}.yaml"
	done
}

rendered() { # VALUES
	"$HELM" template orders "$CHART" --values "$TOP/tests/chart/least.yaml" --values "$1" >"$RUN/objects.yaml" && conforms "$RUN/objects.yaml"
}

# shellcheck disable=SC2317 # called through check
stops_the_job() {
	grep --quiet "helm.sh/hook: pre-delete" "$1"
}

for guide in argocd flux openshift security disaster-recovery; do
	blocks "$guide"
	looked=0
	for file in "$RUN/$guide"-*.yaml; do
		[ -s "$file" ] || continue # a manifest without values
		check "$guide: these values are taken, and the objects are valid" rendered "$file"
		looked=$((looked + 1))
	done
	check "$guide: there was something to look at" test "$looked" -gt 0
done
is "$(grep -c surge "$RUN"/argocd-*.yaml "$RUN"/flux-*.yaml | grep -vc ':0')" 2 "the values were found in the manifests"
echo 'drey: {unheardOf: 1}' >"$RUN/wrong.yaml"
check "wrong values are refused" not rendered "$RUN/wrong.yaml"

# ---- Kustomize

blocks kustomize
mkdir -p "$RUN/kustomize/charts"
cp -r "$CHART" "$RUN/kustomize/charts/"
cp "$CHART/examples/s3.yaml" "$RUN/kustomize/values.yaml"
cp "$RUN/kustomize-1.block" "$RUN/kustomize/kustomization.yaml"
kustomize() {
	HELM_CACHE_HOME=$RUN/helm HELM_CONFIG_HOME=$RUN/helm HELM_DATA_HOME=$RUN/helm \
		"$KUBECTL" kustomize --enable-helm --helm-command "$HELM" "$RUN/kustomize"
}
check "Kustomize renders it" eval 'kustomize >"$RUN/kustomized.yaml"'
check "the objects are valid" conforms "$RUN/kustomized.yaml"
check "the patch is applied" grep --quiet 'example.com/pager: payments' "$RUN/kustomized.yaml"
check "no hook is among them" not stops_the_job "$RUN/kustomized.yaml"
sed -i 's/skipHooks: true/skipHooks: false/' "$RUN/kustomize/kustomization.yaml"
kustomize >"$RUN/kustomized.yaml"
check "which there would be without skipHooks" stops_the_job "$RUN/kustomized.yaml"
e2e_end
