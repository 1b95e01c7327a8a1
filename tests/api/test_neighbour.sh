#!/usr/bin/env bash
#
# Another application of the namespace: what its account can do to this one, with the Roles of the chart and its admission policy,
# against a real API server. It plants, changes, deletes and races, before the installation, at it, while the job runs, after a
# person has deleted or restored the journal. A script replaces Flink.
#
# runs in: ci

# shellcheck disable=SC2317 # called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

CHART_MAKES_MAPS=true
api_begin neighbour own
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"

OTHER=payments

# The chart, as `helm template` and `kubectl apply` make it; without a node the Deployment has no Pods.
maps() {
	api_template maps.yaml >"$RUN/maps.yaml" && kubectl apply --filename "$RUN/maps.yaml" >/dev/null 2>&1
}

deployment() {
	kubectl create deployment "$APPLICATION-jobmanager" --image none >/dev/null
}

install() {
	maps && deployment
}

uninstall() {
	kubectl delete deployment "$APPLICATION-jobmanager" >/dev/null
	kubectl delete configmap "$JOURNAL" "$APPLICATION-drey-candidate" "$APPLICATION-drey-candidate-journal" --ignore-not-found >/dev/null
	# with what it has left in storage
	rm -rf "$RUN/launches" "$RUN/ck" "$RUN/sp"
}

# The commands of docs/reference/journal.md and of the messages.
empty() {
	uid=$(kubectl get configmap "$JOURNAL" --output 'jsonpath={.metadata.uid}')
	kubectl patch configmap "$JOURNAL" --type merge --patch '{"metadata":{"annotations":{"drey.dev/uid":"'"$uid"'"}},"data":null}' >/dev/null
}

is_mine() {
	kubectl annotate --overwrite configmap "$JOURNAL" "drey.dev/uid=$(kubectl get configmap "$JOURNAL" --output 'jsonpath={.metadata.uid}')" >/dev/null
}

starts() { # POD
	pod_conf "$1" '  createMaps: false' "  owner: deployment/$APPLICATION-jobmanager" 'poll:' '  slow: 1s'
	pod_start "$1"
}

checks() { # POD WORDS: what `drey check` says
	! "$BUILD/drey" check --config "$RUN/$1/drey.yaml" >"$RUN/check" 2>&1 && grep --quiet --fixed-strings -- "$2" "$RUN/check"
}

kubectl_other() { # ARG...: as the account of the other application
	"$KUBE_HOME/bin/kubectl" --kubeconfig "$RUN/other.conf" "$@"
}

# A journal that was never used, in a map with every mark that can be known beforehand.
planted() { # NAME
	jq --null-input --arg name "$1" --arg namespace "$NAMESPACE" --arg release "$APPLICATION" --arg journal "$(
		jq --compact-output --arg application "$APPLICATION" '.application = $application' "$TOP/tests/fixtures/journal/0.1.0-fresh.json"
	)" '{apiVersion: "v1", kind: "ConfigMap", data: {"journal.json": $journal}, metadata: {name: $name,
		uid: "11111111-2222-3333-4444-555555555555",
		labels: {"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/component": "journal"},
		annotations: {"drey.dev/made-by": "chart", "drey.dev/uid": "11111111-2222-3333-4444-555555555555",
			"meta.helm.sh/release-name": $release, "meta.helm.sh/release-namespace": $namespace}}}'
}

# shellcheck disable=SC2120 # with "eval" it has one
plant() { # [JQ]
	planted "$JOURNAL" | jq "${1:-.}" | kubectl_other create --filename - >/dev/null
}

# The message fits: the server says no, or that it is there.
is_refused() { # WORDS ARG...
	local words=$1
	shift
	! kubectl_other "$@" >"$RUN/refused" 2>&1 && grep --quiet --fixed-strings -- "$words" "$RUN/refused"
}

# kubectl would read it first, and be refused for that.
patch_is_refused() { # WORDS PATH BODY
	curl --silent --max-time 20 --cacert "$POD_SECRETS/ca.crt" --header "Authorization: Bearer $(jq --raw-output '.users[0].user.token' "$RUN/other.conf")" \
		--request PATCH --header 'Content-Type: application/merge-patch+json' --data "$3" "$API_URL$2" >"$RUN/refused"
	jq --exit-status --arg words "$1" '.kind == "Status" and .status == "Failure" and (.message | contains($words))' "$RUN/refused" >/dev/null
}

mark() {
	kubectl get configmap "$JOURNAL" --output json | jq --raw-output '(.metadata.annotations["drey.dev/uid"] == .metadata.uid | tostring) + " " +
		((.data // {}) | has("journal.json") | tostring)'
}

is_marked() {
	[ "$(mark)" = "true true" ]
}

is_noted() {
	kubectl get deployment "$APPLICATION-jobmanager" --output json |
		jq --exit-status 'any(.status.conditions[]?; .type == "drey.dev/JournalMarked" and .status == "True")' >/dev/null
}

# ---- the other application -------------------------------------------------------------------------

for file in serviceaccount role; do
	APPLICATION=$OTHER api_template "$file.yaml" >"$RUN/other-$file.yaml" && api_apply "$RUN/other-$file.yaml"
done
jq --arg token "$(kubectl create token "$OTHER" --duration 14400s)" '.users[0].user = {token: $token}' "$POD_KUBECONFIG" >"$RUN/other.conf"
await "its Role counts" kubectl_other auth can-i create configmaps

# ---- before the installation -----------------------------------------------------------------------

check "the account of another application creates the journal of this one" plant
check "not with an uid of its choice" test "$(kubectl get configmap "$JOURNAL" --output 'jsonpath={.metadata.uid}')" != 11111111-2222-3333-4444-555555555555
sleep 1 # creation times are in seconds
check "kubectl apply makes it the chart's" install
is "$(mark)" "false true" "and leaves its content alone"
starts a
await "drey holds" pod_phase a Holding
check "and names what is wrong" pod_says a "ConfigMap $NAMESPACE/$JOURNAL has the mark of another object"
check "and the way out" pod_says a "kubectl annotate --overwrite configmap $JOURNAL drey.dev/uid="
check "drey check refuses it, too" checks a "has the mark of another object"
check "nothing was launched" not test -e "$RUN/launches"
check "the map is as it was" test "$(mark)" = "false true"
check "one without any mark" eval 'pod_kill a && uninstall && plant "del(.metadata.annotations, .metadata.labels)" && sleep 1 && install'
starts a
await "is refused as well" pod_says a "was there before the owner of the pod"
check "nothing was launched" not test -e "$RUN/launches"
check "a person empties it" empty
await "and the job is launched" launched 1
await "and the journal has its mark" is_marked
await "which the Deployment records" is_noted

# ---- while it is there -----------------------------------------------------------------------------

for verb in get delete; do
	check "it may not $verb it" is_refused Forbidden "$verb" configmap "$JOURNAL"
done
check "nor patch it" patch_is_refused "cannot patch resource" "/api/v1/namespaces/$NAMESPACE/configmaps/$JOURNAL" '{"data":null}'
check "nor apply it" is_refused Forbidden apply --server-side --force-conflicts --filename <(planted "$JOURNAL" | jq 'del(.metadata.uid)')
check "nor replace it" is_refused Forbidden replace --filename <(planted "$JOURNAL")
check "nor create it" is_refused "already exists" create --filename <(planted "$JOURNAL")
for name in "$APPLICATION-drey-candidate" "$APPLICATION-drey-candidate-journal" "$APPLICATION-drey-control"; do
	[ "$name" != "$APPLICATION-drey-control" ] || kubectl create configmap "$name" >/dev/null
	check "nor $name" is_refused "already exists" create --filename <(planted "$name")
done
check "nor the Deployment, nor its status" is_refused Forbidden patch deployment "$APPLICATION-jobmanager" --subresource status --type merge --patch '{}'
kubectl delete configmap "$CONTROL_MAP" >/dev/null

# ---- deleted while it runs -------------------------------------------------------------------------

kubectl get configmap "$JOURNAL" --output json >"$RUN/backup.json"
check "a person deletes it, and it plants another one" eval 'kubectl delete configmap "$JOURNAL" >/dev/null && plant "del(.metadata.annotations)"'
await "drey does not take it for its own" pod_log a 'but the journal had one: it was deleted and made anew'
check "Flink runs on" pgrep -P "${POD_PID[a]}" -x sleep
is "$(mark)" "false true" "it is not overwritten"
pod_kill a
starts b
await "nor does the next drey" pod_says b "but the journal had one: it was deleted and made anew"
is "$(launches)" 1 "nothing was launched"
pod_kill b
check "a person puts the backup in its place" eval 'kubectl delete configmap "$JOURNAL" >/dev/null && jq "del(.metadata.uid, .metadata.resourceVersion)" "$RUN/backup.json" | kubectl create --filename - >/dev/null'
starts c
await "that is another object, too" pod_says c "has the mark of another object"
check "and marks it" is_mine
await "then drey goes on" launched 2
is "$(journal '.launches | length')" 2 "with the journal of before"

check "it is deleted, and nobody makes another one" kubectl delete configmap "$JOURNAL"
await "drey misses it" pod_log c 'does not exist, and drey does not create it'
check "and does not create it" not kubectl get configmap "$JOURNAL"
check "Flink runs on" pgrep -P "${POD_PID[c]}" -x sleep
check "the chart is applied again" maps
await "and it is written again, complete" journal_is '.launches | length == 2'
is "$(mark)" "true true" "with its mark"
check "an upgrade by force, as by kubectl replace, empties it" kubectl replace --filename "$RUN/maps.yaml"
await "and it is written again, complete" journal_is '.launches | length == 2'
await "with its mark" is_marked
pod_kill c
check "the same, while nothing runs" kubectl replace --filename "$RUN/maps.yaml"
starts c
await "drey does not take it for a new one" pod_says c "is empty, but drey has written to it: it was replaced as a whole"
check "nor does drey check" checks c "is empty, but drey has written to it"
check "a person puts the content back" kubectl patch configmap "$JOURNAL" --type merge --patch "$(jq --compact-output '{data}' "$RUN/backup.json")"
await "that has not its mark any more" pod_says c "but the journal had one"
check "and marks it" is_mine
await "then drey goes on" launched 3
pod_kill c
check "it is deleted and made anew by the chart while nothing runs" eval 'kubectl delete configmap "$JOURNAL" >/dev/null && maps'
starts c
await "the Deployment knows of it" pod_says c "is empty, but drey has written to it: it was deleted and made anew"
is "$(launches)" 3 "nothing was launched"
pod_kill c
kubectl delete configmap "$JOURNAL" >/dev/null
starts d
await "a drey that starts without it holds" pod_says d "does not exist, and drey does not create it"
check "and says what to do" pod_says d "helm upgrade"
is "$(launches)" 3 "nothing was launched"
pod_kill d

# ---- at the same time as the installation ----------------------------------------------------------

for n in 1 2 3; do
	uninstall
	{
		sleep "0.$((RANDOM % 10))" # either may be faster
		until has_configmap "$JOURNAL"; do plant 2>"$RUN/raced" || :; done
	} &
	maps || maps
	wait $!
	sleep 1
	deployment
	starts "r$n"
	if [ "$(mark)" = "false true" ]; then
		await "it was faster than the chart: drey holds" pod_says "r$n" "has the mark of another object"
		check "nothing was launched" not test -e "$RUN/launches"
	else
		await "the chart was faster: the job is launched" launched 1
	fi
	pod_kill "r$n"
done

# ---- journals of a drey from before there were marks -----------------------------------------------

uninstall
deployment
sleep 1
planted "$JOURNAL" | jq 'del(.metadata.annotations)' | kubectl create --filename - >/dev/null
check "an upgrade of an installation that has a journal" maps
starts e
await "goes on by itself" launched 1
await "and marks it" is_marked
await "which the Deployment records" is_noted
pod_kill e
check "one that was installed again is older than its Deployment" eval 'uninstall && planted "$JOURNAL" | jq "del(.metadata.annotations)" | kubectl create --filename - >/dev/null && sleep 1 && install'
starts f
await "drey asks a person" pod_says f "was there before the owner of the pod"
check "and so does drey check" checks f "was there before the owner of the pod"
check "who marks it" is_mine
await "then drey goes on" launched 1
pod_kill f

# ---- with the admission policy ---------------------------------------------------------------------

for application in "$OTHER" "$APPLICATION"; do
	APPLICATION=$application api_template admissionpolicy.yaml --set rbac.admissionPolicy=true >"$RUN/policy.yaml" && api_apply "$RUN/policy.yaml"
done
ha_map=$APPLICATION-$(job_id_of 0)-config-map
own=$OTHER-0123456789abcdef0123456789abcdef-config-map
counts() {
	is_refused "is not one that the JobManager of $OTHER may create" create configmap "$APPLICATION-drey-probe"
}
await "the policy counts" counts
uninstall
for name in "$JOURNAL" "$APPLICATION-drey-candidate-journal" "$ha_map" "$APPLICATION-cluster-config-map" "$APPLICATION-green-cluster-config-map" "x$own" "${own}x"; do
	check "it cannot create $name" is_refused "is not one that the JobManager of $OTHER may create" create configmap "$name"
done
check "nor a map of any name" is_refused "is not one that the JobManager of $OTHER may create" create --filename <(planted x | jq 'del(.metadata.name) | .metadata.generateName = "orders-"')
check "but its own HA map" kubectl_other create configmap "$OTHER-green-cluster-config-map"
event() { # NAME KIND OBJECT
	jq --null-input --arg name "$1" --arg kind "$2" --arg object "$3" --arg namespace "$NAMESPACE" '{apiVersion: "events.k8s.io/v1", kind: "Event",
		metadata: {name: $name}, eventTime: "2026-03-01T12:00:00.000000Z", type: "Normal", reason: "Said", action: "Say", note: "so",
		reportingController: "drey.dev/drey", reportingInstance: "x",
		regarding: {apiVersion: "v1", kind: $kind, namespace: $namespace, name: $object}}'
}
check "an Event about itself" kubectl_other create --filename <(event own Pod "$OTHER-jobmanager-1")
check "none about another application" is_refused "is not about an object of the application" create --filename <(event theirs Pod "$APPLICATION-jobmanager-1")
event theirs Pod "$APPLICATION-jobmanager-1" | kubectl create --filename - >/dev/null
check "nor may it change one" patch_is_refused "is not about an object of the application" "/apis/events.k8s.io/v1/namespaces/$NAMESPACE/events/theirs" \
	'{"series":{"count":9,"lastObservedTime":"2026-03-01T12:00:00.000000Z"}}'
install
starts jobmanager-1 # Events are about Pods of this name
await "drey itself does all that it has to" launched 1
await "the journal has its mark" is_marked
has_events() { # OBJECT
	kubectl get events.events.k8s.io --output json |
		jq --exit-status --arg name "$1" 'any(.items[]; .reportingController == "drey.dev/drey" and .regarding.name == $name and .reportingInstance == $name)' >/dev/null
}
await "and its Events are taken" has_events "$APPLICATION-jobmanager-1"
pod_end jobmanager-1
is "$(api_denied | jq --raw-output 'select(.verb != "get") | [.verb, .resource, .name] | join(" ")' | sort -u)" "" "nothing was denied to it"
kubectl_cluster delete validatingadmissionpolicies,validatingadmissionpolicybindings --all >/dev/null
e2e_end
