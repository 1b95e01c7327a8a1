#!/usr/bin/env bash
#
# The ConfigMaps that the chart makes for drey: with Helm 3, Helm 4 and kubectl apply they are there before the Deployment, what
# drey has written into them outlives upgrades, rollbacks and an uninstall, and one that somebody else has made is left alone. On a
# real control plane without a node.
#
# runs in: ci

# shellcheck disable=SC2317 # called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/chart/lib.sh
. "$TOP/tests/chart/lib.sh"
chart_begin chart-maps

options=("--values=$TOP/tests/chart/least.yaml" --no-hooks --set drey.kubernetes.createMaps=false)
surge=(--set upgrade.strategy=surge)
CONTENT='{"journal.json":"{}"}'

data() { # APPLICATION [MAP]
	kubectl_team get configmap "$1-drey-${2:-journal}" --output json | jq --compact-output '.data // {}'
}

mark() { # APPLICATION
	kubectl_team get configmap "$1-drey-journal" --output json | jq --raw-output '.metadata.annotations["drey.dev/made-by"]'
}

# As drey does.
write() { # APPLICATION
	kubectl_team patch configmap "$1-drey-journal" --type merge --field-manager drey --patch "{\"data\":$CONTENT}" >/dev/null
}

uid() { # APPLICATION
	kubectl_team get configmap "$1-drey-journal" --output 'jsonpath={.metadata.uid}'
}

apply() { # APPLICATION [OPTION...]: helm template and kubectl apply
	local application=$1
	shift
	helm template "$application" "$CHART" "${options[@]}" "$@" | kubectl_team apply --filename - >/dev/null 2>&1
}

says() { # WORDS COMMAND...
	local words=$1
	shift
	"$@" 2>&1 | grep --quiet --fixed-strings -- "$words"
}

# What happened to the content since `write`.
stays() { # APPLICATION WHAT
	is "$(data "$1") $(mark "$1") $(uid "$1")" "$CONTENT chart $uid" "$2"
}

for HELM in 3 4; do
	a=with$HELM
	check "Helm $HELM installs" helm install "$a" "$CHART" "${options[@]}"
	is "$(data "$a") $(data "$a" candidate) $(data "$a" candidate-journal) $(mark "$a")" "{} {} {} chart" "the maps are there, empty and marked"
	is "$(kubectl_team get configmap "$a-drey-journal" --output 'jsonpath={.metadata.labels.app\.kubernetes\.io/component}')" journal "and labelled as drey does"
	map=$(kubectl_team get configmap "$a-drey-journal" --output 'jsonpath={.metadata.creationTimestamp}')
	deployment=$(kubectl_team get deployment "$a-jobmanager" --output 'jsonpath={.metadata.creationTimestamp}')
	check "not after the Deployment" test "$(date -d "$map" +%s)" -le "$(date -d "$deployment" +%s)"
	uid=$(uid "$a")
	write "$a"
	check "an upgrade" helm upgrade "$a" "$CHART" "${options[@]}" --set-string image.tag=2
	stays "$a" "leaves the journal alone"
	check "an upgrade to surge" helm upgrade "$a" "$CHART" "${options[@]}" "${surge[@]}"
	check "and back" helm upgrade "$a" "$CHART" "${options[@]}"
	check "a rollback to surge, and to the first" eval 'helm rollback "$a" 3 --no-hooks && helm rollback "$a" 1 --no-hooks'
	stays "$a" "leave it alone, too"
	check "an uninstall" helm uninstall "$a" --no-hooks
	stays "$a" "keeps it"
	check "and the next installation" helm install "$a" "$CHART" "${options[@]}"
	stays "$a" "takes it over"
	kubectl_team delete configmap "$a-drey-journal" >/dev/null
	check "if it was deleted, an upgrade" helm upgrade "$a" "$CHART" "${options[@]}"
	is "$(data "$a") $(mark "$a")" "{} chart" "makes it anew"
	check "it goes when the chart is to make none" helm upgrade "$a" "$CHART" "${options[@]}" --set drey.kubernetes.createMaps=true
	is "$(data "$a")" "{}" "but only out of the manifest"
	check "it is taken back" helm upgrade "$a" "$CHART" "${options[@]}"

	# made by an earlier drey, which is the owner of its labels
	b=before$HELM
	check "an installation from before there were maps" helm install "$b" "$CHART" "${options[@]}" --set drey.kubernetes.createMaps=true
	kubectl_team create configmap "$b-drey-journal" >/dev/null
	kubectl_team label configmap "$b-drey-journal" app.kubernetes.io/managed-by=drey app.kubernetes.io/component=journal >/dev/null
	write "$b"
	uid=$(uid "$b")
	check "its upgrade needs nobody" helm upgrade "$b" "$CHART" "${options[@]}"
	check "nor the next one, and a rollback" eval 'helm upgrade "$b" "$CHART" "${options[@]}" && helm rollback "$b" 2 --no-hooks'
	is "$(data "$b") $(mark "$b") $(uid "$b")" "$CONTENT null $uid" "its journal is as it was"
	is "$(data "$b" candidate-journal)" "{}" "the other maps are made"

	# planted before the installation, as a map of nobody, and as one of the release
	c=planted$HELM
	kubectl_team create configmap "$c-drey-journal" --from-literal=journal.json=planted >/dev/null
	check "a journal that is there at an installation is named" says "the ConfigMap $c-drey-journal is there already" helm install "$c" "$CHART" "${options[@]}"
	is "$(data "$c")" '{"journal.json":"planted"}' "and left alone: drey refuses it"
	d=forged$HELM
	kubectl_team create configmap "$d-drey-journal" --from-literal=journal.json=planted >/dev/null
	kubectl_team label configmap "$d-drey-journal" app.kubernetes.io/managed-by=Helm >/dev/null
	kubectl_team annotate configmap "$d-drey-journal" "meta.helm.sh/release-name=$d" "meta.helm.sh/release-namespace=$TEAM" >/dev/null
	check "one that says that it is the release's is taken over" helm install "$d" "$CHART" "${options[@]}"
	is "$(data "$d")" '{"journal.json":"planted"}' "with its content, which drey refuses as well"
	for application in "$a" "$b" "$c" "$d"; do helm uninstall "$application" --no-hooks >/dev/null 2>&1; done
done

HELM=3
check "kubectl apply of what is rendered" apply applied
is "$(data applied) $(mark applied)" "{} chart" "makes it, empty and marked"
uid=$(uid applied)
write applied
check "again" apply applied --set-string image.tag=2
stays applied "leaves it alone"
check "by the server" eval 'helm template applied "$CHART" "${options[@]}" | kubectl_team apply --server-side --force-conflicts --filename - >/dev/null 2>&1'
stays applied "leaves it alone, too"
kubectl_team create configmap earlier-drey-journal >/dev/null
write earlier
uid=$(uid earlier)
check "one that an earlier drey has made is taken over" apply earlier
stays earlier "with its content"

# ---- the admission policy --------------------------------------------------------------------------

check "with the policy" helm install policy "$CHART" "${options[@]}" --set rbac.admissionPolicy=true
warnings() {
	kubectl_cluster get validatingadmissionpolicies --output json | jq --compact-output --arg prefix "drey-$TEAM-policy-" \
		'[.items[] | select(.metadata.name | startswith($prefix)) | .status.typeChecking.expressionWarnings // [] | length]'
}
are_checked() { # WARNINGS
	[ "$(warnings)" = "$1" ]
}
await "the server checks its expressions, and finds nothing wrong" are_checked "[0,0]"
check "it goes with the release" helm uninstall policy --no-hooks
await "completely" are_checked "[]"
e2e_end
