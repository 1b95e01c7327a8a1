#!/usr/bin/env bash
#
# `kubectl drey`, run by kubectl against a real API server, as users who have exactly the rights of docs/reference/kubectl.md, fewer, and
# none: the fleet from custom resources and journals, one application by its name, requests, and what is said when something may
# not be read. A script is in Flink's place; test_plugin_flink.sh has a real one.
#
# runs in: ci

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin plugin
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"
# shellcheck source=tests/api/resource_lib.sh
. "$TOP/tests/api/resource_lib.sh"
# shellcheck source=tests/api/plugin_lib.sh
. "$TOP/tests/api/plugin_lib.sh"

plugin_begin
for user in viewer operator nobody fleet half; do
	plugin_user "$user"
done
plugin_role viewer drey-viewer
plugin_role operator drey-viewer
plugin_role operator drey-operator
plugin_role fleet drey-fleet
kubectl_cluster create clusterrole "half-$NAMESPACE" --verb list --resource flinkapplications.drey.dev >/dev/null
kubectl_cluster create clusterrolebinding "half-$NAMESPACE" --clusterrole "half-$NAMESPACE" \
	--serviceaccount "$NAMESPACE:half" >/dev/null
await "the rights count" plugin_can half list flinkapplications.drey.dev --all-namespaces

kubectl_cluster create clusterrole "impersonator-$NAMESPACE" --verb impersonate --resource serviceaccounts >/dev/null
kubectl_cluster create clusterrolebinding "impersonator-$NAMESPACE" --clusterrole "impersonator-$NAMESPACE" \
	--serviceaccount "$NAMESPACE:nobody" >/dev/null

# ---- there is nothing yet --------------------------------------------------------------------------

as_plugin viewer plugin list >"$RUN/plugins" 2>&1
check "kubectl knows the plugin" grep -q "$RUN/bin/kubectl-drey" "$RUN/plugins"
plugin viewer list
ended "no application: the list is empty" 0 '' 'there is no application in namespace'
plugin viewer status orders
ended "no application: it is named" 5 '' "there is no application 'orders' in namespace $NAMESPACE"

plugin nobody list
ended "an account without rights" 5 '' 'cannot list resource "configmaps"'
plugin nobody list --as "system:serviceaccount:$NAMESPACE:viewer"
ended "which may act as another one" 0 '' 'there is no application in namespace'
plugin viewer list --as "system:serviceaccount:$NAMESPACE:operator"
ended "and one that may not" 5 '' 'cannot impersonate resource "serviceaccounts"'
jq '.clusters[0].cluster |= {server, "insecure-skip-tls-verify": true}' "$RUN/viewer.conf" >"$RUN/insecure.conf"
plugin insecure list
ended "a certificate that nobody checks: it is said" 0 '' "warning: context 'plugin' of" 'certificate is not checked'

# ---- an application of the chart, with a journal and no custom resource ------------------------------

api_template configmaps.yaml >"$RUN/maps.yaml" && api_apply "$RUN/maps.yaml" || die 1 "no ConfigMaps"
plugin viewer status orders
ended "deployed, and never run" 5 '' 'drey has not run for orders yet' 'its Deployment or Job does not exist'
plugin viewer list
ended "but listed" 0 'orders   -       -     -           NoWorkload' ''
kubectl create deployment orders-jobmanager --image registry.example/orders:1 --replicas 1 >/dev/null || die 1 "no Deployment"
pod_of_the_deployment() {
	kubectl get pods --selector app=orders-jobmanager --output name | grep -o '[^/]*$'
}
await "its Pod is there" pod_of_the_deployment
pod_says() { # STATUS: as a kubelet and a scheduler do, which are not here
	kubectl patch pod "$(pod_of_the_deployment)" --subresource status --type merge --patch "{\"status\": $1}" >/dev/null
}
pod_says '{"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available"}]}'
plugin viewer status orders
ended "a Pod for which there is no node" 5 '' "Pod $(pod_of_the_deployment) is not scheduled: 0/3 nodes are available"
pod_says '{"conditions": [{"type": "PodScheduled", "status": "True"}], "containerStatuses": [{"name": "orders", "image": "x", "imageID": "", "ready": false, "restartCount": 0, "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}}]}'
plugin viewer status orders
ended "an image that cannot be pulled" 5 '' "container orders: ImagePullBackOff: Back-off pulling image"
plugin viewer list
ended "in the list as well" 0 'ImagePullBackOff' ''
plugin fleet list -A -o json
check "of all namespaces: without the right to read it, that is said" \
	jq --exit-status --arg n "$NAMESPACE" '.applications[] | select(.namespace == $n and .application == "orders") | .phase == null and .cause == "Unknown" and (.reason | test("cannot get resource"))' "$RUN/out"
kubectl delete deployment orders-jobmanager >/dev/null
plugin operator savepoint orders
ended "nothing to take a savepoint of" 5 '' 'has not run for orders yet'
plugin operator suspend orders --dry-run
ended "nor to suspend: a dry run says it at once" 5 '' 'has not run for orders yet'
plugin operator suspend orders --timeout 2s
ended "nor in the time that was given" 5 '' 'has not run for orders yet' 'written again'
with_resource a 'control:' '  poll: 500ms'
pod_start a
await "it runs" launched 1
plugin viewer list
ended "the journal is enough for the list" 0 'orders   Launching '
plugin viewer status orders
ended "and for the status" 1 "orders: Launching since " ''
check "which says what it is from" grep -q "read from .*ConfigMap $NAMESPACE/orders-drey-journal, written by " "$RUN/out"
plugin viewer history orders
ended "the history" 0 'launch 1'
plugin viewer snapshots orders
ended "its snapshots" 0 'no snapshots'
plugin viewer -n "$NAMESPACE" list -o json
is "$(jq -c '.applications | map([.namespace, .application, .phase, .ready])' "$RUN/out")" \
	"[[\"$NAMESPACE\",\"orders\",\"Launching\",null]]" "as a document, options in front"

# ---- with a custom resource --------------------------------------------------------------------------

resource '{}'
await "drey has written its status" resource_is '.status.phase == "Launching"'
plugin viewer status orders
ended "the status is that of the resource" 1 "FlinkApplication $NAMESPACE/orders"
plugin viewer list
is "$(grep -c orders "$RUN/out")" 1 "one application is one line"

# ---- all namespaces ----------------------------------------------------------------------------------

plugin fleet list -A
ended "the fleet" 0 "$NAMESPACE "
check "with its heads" grep -Eq '^NAMESPACE +NAME +PHASE +AGE +SAVEPOINT +CAUSE$' "$RUN/out"
plugin half list -A
ended "without the right to list ConfigMaps: what is there, and what is missing" 1 "$NAMESPACE " \
	'journals of applications without a custom resource (ConfigMaps) cannot be read' 'cannot list resource "configmaps"'
plugin half list -A -o json
is "$(jq '.unreadable | length' "$RUN/out")" 1 "the document says so, too"
plugin viewer list -A
ended "rights in one namespace are none in all" 5 '' 'FlinkApplication cannot be read' '(ConfigMaps) cannot be read'

# ---- without the rights ------------------------------------------------------------------------------

plugin nobody list
ended "without rights: it is said" 5 '' 'cannot list resource "flinkapplications"' 'cannot list resource "configmaps"'
for command in status history snapshots logs page savepoint suspend resume restart promote abort; do
	plugin nobody "$command" orders
	ended "$command: denied is not absent" 5 '' 'configmaps "orders-drey" is forbidden'
done
SECONDS=0
plugin viewer savepoint orders
ended "a viewer requests nothing" 1 '' 'cannot patch resource "configmaps"'
check "and does not wait for the right" test "$SECONDS" -lt 40
check "really nothing" pod_is a '.desired.state == "running"'
api_apply <(kubectl create role viewer-no-resource --verb get,list --resource configmaps --dry-run=client -o yaml) 2>/dev/null
kubectl delete rolebinding viewer-drey-viewer >/dev/null
kubectl create rolebinding viewer-maps --role viewer-no-resource --serviceaccount "$NAMESPACE:viewer" >/dev/null
await "the viewer has lost the custom resources" plugin_cannot viewer get flinkapplications.drey.dev
plugin viewer status orders
ended "the journal is shown, and what could not be read is said" 1 "ConfigMap $NAMESPACE/orders-drey-journal" \
	"FlinkApplication $NAMESPACE/orders cannot be read" 'is forbidden'

# ---- requests ----------------------------------------------------------------------------------------

for command in promote abort; do
	plugin operator "$command" orders
	ended "$command: there is no transition" 1 '' 'no blue/green transition is under way; nothing was changed'
done
is "$(kubectl get configmap "$CONTROL_MAP" --output json | jq -c '.data | [.promote, .abort]')" "[null,null]" "and nothing was requested"

plugin operator resume orders --dry-run
ended "a dry run, while it is starting" 0 'dry run: would wait for the start that is under way; nothing was changed'
pod_end a
control state=suspended
with_resource b 'control:' '  poll: 500ms'
pod_start b
await "it is parked" pod_phase b Suspended
before=$(launches)
plugin operator suspend orders
ended "suspended already" 3 '' 'no job is running: it is suspended'
plugin operator suspend orders --skip-parked
ended "which may be what is wanted" 0 '' 'nothing to do'
plugin viewer resume orders
ended "a viewer resumes nothing" 1 '' 'cannot patch resource "configmaps"'
plugin operator restart orders
ended "no restart without a job" 3 '' 'not restarted'
plugin operator resume orders --dry-run
ended "a dry run" 0 'dry run: would set state: running in ConfigMap orders-drey-control; nothing was changed'
plugin operator resume orders --from relative
ended "a path on this machine is refused" 2 '' 'absolute path in the Pod'
plugin operator resume orders --from /no/such/savepoint --timeout 60s
ended "it holds, and the command says why" 4 '' '/no/such/savepoint cannot be used'
is "$(launches)" "$before" "nothing was launched"
is "$(kubectl get configmap "$CONTROL_MAP" --output jsonpath='{.data.state}')" running "it was requested by the control ConfigMap"

# the state is `running` there now, so that drey would see no change
plugin operator resume orders --empty --no-wait
ended "it is resumed all the same" 0 '' 'setting it to suspended first'
await "and launched, as requested" launched $((before + 1))
is "$(journal '.launches[-1].restorePoint')" null "without state"
plugin operator resume orders --empty
ended "what is starting is not started once more" 1 '' 'the application is Launching; suspend or cancel it first; nothing was changed'
plugin operator resume orders --timeout 3s
ended "nor is it stopped for that: the command waits" 6 '' 'waiting for the start that is under way' 'gave up waiting'
check "really" pod_phase b Launching
pod_end b

# in the custom resource, which takes precedence
control state=suspended
resource '{"state": "suspended"}'
with_resource c 'control:' '  poll: 500ms'
pod_start c
await "parked by the resource" pod_phase c Suspended
before=$(launches)
plugin operator resume orders --no-wait --timeout 60s
ended "the resource is set, too" 0
await "it is launched again" launched $((before + 1))
is "$(kubectl get flapp orders --output jsonpath='{.spec.state}')" running "by the custom resource"
pod_end c

# ---- no Pod, a broken journal, another name ----------------------------------------------------------

plugin operator suspend orders --timeout 5s
ended "no drey: it gives up" 6 '' 'gave up after'
kubectl create configmap torn-drey-journal --from-literal=journal.json='{"appl' >/dev/null
kubectl label configmap torn-drey-journal app.kubernetes.io/name=flink-application app.kubernetes.io/instance=torn \
	app.kubernetes.io/component=journal >/dev/null
plugin operator list
ended "a journal that cannot be decoded is a line, and a message" 1 'torn     Unreadable' "ConfigMap $NAMESPACE/torn-drey-journal cannot be read"
plugin operator status torn
ended "so is its status" 5 '' 'torn-drey-journal'
kubectl delete configmap torn-drey-journal >/dev/null
for name in one two; do
	APPLICATION=several api_template configmaps.yaml --set "application=$name" >"$RUN/maps.yaml" && api_apply "$RUN/maps.yaml"
done
plugin operator status several
ended "a release with several applications" 2 '' "'several' is the release of several applications: one, two"
kubectl delete configmap -l app.kubernetes.io/instance=several >/dev/null
APPLICATION=release api_template configmaps.yaml --set application=orders >"$RUN/maps.yaml"
kubectl delete configmap orders-drey >/dev/null
api_apply "$RUN/maps.yaml"
plugin operator history release
ended "the release names the application" 0 'launch 1'

# ---- the user's kubectl --------------------------------------------------------------------------------

printf '#!/bin/sh\necho "$@"\n' >"$RUN/bin/other"
chmod +x "$RUN/bin/other"
export KUBECTL=$RUN/bin/other
plugin operator logs orders -f --tail 7 --context plugin
is "$(cat "$RUN/out")" "--context=plugin --namespace $NAMESPACE logs --follow --tail=7 -- deployment/orders-jobmanager" \
	"logs: what kubectl is told"
printf '#!/bin/sh\necho "Forwarding from 127.0.0.1:43211 -> 8085"\necho "$@" >&2\n' >"$RUN/bin/other"
plugin operator page orders
ended "page: the address" 0 'http://127.0.0.1:43211/' "port-forward --address=127.0.0.1 -- deployment/orders-jobmanager :8085"
KUBECTL=$RUN/bin/none plugin operator page orders
ended "no kubectl" 1 '' "$RUN/bin/none cannot be run"
kubectl_cluster delete clusterrole,clusterrolebinding "half-$NAMESPACE" "drey-fleet-$NAMESPACE" >/dev/null 2>&1 || :

e2e_end
