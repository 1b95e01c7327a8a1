#!/usr/bin/env bash
#
# The chart installed by Helm on a real control plane, in a namespace that enforces Pod Security "restricted". There is no
# node, so Pods are created but stay Pending. What exactly each account may do; what an upgrade and a rollback change and
# what they do not; what remains at the end.
#
# runs in: ci

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/chart/lib.sh
. "$TOP/tests/chart/lib.sh"
chart_begin chart-install

# The rights of an account that not everybody has: "RESOURCE NAMES VERBS" a line.
rights_of() { # ACCOUNT
	local ADMIN=$RUN/as.conf
	jq --arg user "system:serviceaccount:$TEAM:$1" '.users[0].user.as = $user' "$RUN/admin.json" >"$ADMIN"
	jq --null-input --arg namespace "$TEAM" \
		'{apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: {namespace: $namespace}}' |
		kubectl_team create --validate=false --output json --filename - |
		jq --raw-output '[.status.resourceRules[] | select(.apiGroups | any(startswith("auth")) | not) |
			.resources[] as $resource | "\($resource) \(.resourceNames // [] | join(",")) \(.verbs | join(","))"] | sort[]' |
		sed -E 's/(orders(-green)?-[0-9a-f]{32}-config-map,?)+/HA,/g; s/orders(-green)?-cluster-config-map,HA/HA/g; s/,( |$)/\1/; s/HA,HA/HA of both sides/; s/,,/,/'
}

image() {
	kubectl_team get deployment orders-jobmanager --output 'jsonpath={.spec.template.spec.containers[0].image}'
}

generation() {
	kubectl_team get deployment orders-jobmanager --output 'jsonpath={.spec.template.metadata.annotations.drey\.dev/generation}'
}

control_data() {
	kubectl_team get configmap orders-drey-control --output json | jq --compact-output '.data | del(.[".chart"])'
}

has_pods() { # COMPONENT COUNT
	[ "$(kubectl_team get pods --selector "app.kubernetes.io/component=$1" --output name | wc -l)" -eq "$2" ]
}

kubectl_cluster config view --raw --output json >"$RUN/admin.json"

# ---- install ---------------------------------------------------------------------------------------

check "helm install" helm install orders "$CHART" "$(values s3)" --set persistentVolumeClaim.enabled=true
helm get notes orders >"$RUN/notes"
for word in 'drey status' 'drey resolve --explain' '"state":"suspended"' 'create job --from=cronjob/orders-savepoint' port-forward; do
	check "the notes say how: $word" grep --quiet --fixed-strings -- "$word" "$RUN/notes"
done
await "a Pod of the JobManager is made" has_pods jobmanager 1
await "two Pods of the TaskManagers are made" has_pods taskmanager 2
is "$(kubectl_team get events --field-selector reason=FailedCreate --output name)" "" "no Pod was refused"
is "$(kubectl_team get flinkapplication orders --output 'jsonpath={.spec}')" "{}" "the definition is there, so a FlinkApplication is made"
first=$(generation)

# ---- rights ----------------------------------------------------------------------------------------

is "$(rights_of orders-savepoint)" "configmaps orders-drey-control get,patch
configmaps orders-drey-journal get
deployments orders-jobmanager get" "the CronJob may do exactly this"
is "$(rights_of orders-taskmanager)" "configmaps orders-cluster-config-map,orders-green-cluster-config-map get,list,watch" "a TaskManager may do exactly this"
is "$(rights_of orders)" "configmaps  create
configmaps HA of both sides get,list,watch,update,patch,delete
configmaps orders-drey-control get,list,watch,patch
configmaps orders-drey-journal get,patch
deployments orders-jobmanager get
deployments/status orders-jobmanager patch
events  create,patch
flinkapplications orders get,list,watch,patch
flinkapplications/status orders get,patch" "drey and the JobManager may do exactly this"

# ---- what is patched survives ----------------------------------------------------------------------

kubectl_team patch configmap orders-drey-control --type merge --patch '{"data":{"state":"suspended"}}' >/dev/null
check "helm upgrade to another image" helm upgrade orders "$CHART" "$(values s3)" --set persistentVolumeClaim.enabled=true,image.tag=1.5.0 --no-hooks
is "$(image)" registry.example/orders:1.5.0 "is made"
check "with another generation" test "$(generation)" != "$first"
is "$(control_data)" '{"state":"suspended"}' "and what was patched is as it was"
check "helm upgrade with something wanted" helm upgrade orders "$CHART" "$(values s3)" \
	--set persistentVolumeClaim.enabled=true,image.tag=1.5.0,control.savepointNonce=n1 --no-hooks
is "$(control_data)" '{"savepoint-nonce":"n1","state":"suspended"}' "adds it to what was patched"
check "helm upgrade without it" helm upgrade orders "$CHART" "$(values s3)" --set persistentVolumeClaim.enabled=true,image.tag=1.5.0 --no-hooks
is "$(control_data)" '{"state":"suspended"}' "takes only that out again"
check "helm rollback" helm rollback orders 1 --no-hooks
is "$(image) $(generation)" "registry.example/orders:1.4.0 $first" "goes back to the first generation"
is "$(control_data | jq --compact-output .state)" '"suspended"' "and what was patched is as it was"

# ---- a savepoint by hand ---------------------------------------------------------------------------

check "kubectl create job --from=cronjob" kubectl_team create job --from=cronjob/orders-savepoint orders-savepoint-1
await "makes a Pod" has_pods savepoint 1
is "$(kubectl_team get pods --selector app.kubernetes.io/component=savepoint --output 'jsonpath={.items[0].spec.serviceAccountName}')" \
	orders-savepoint "with its own account"

# ---- the commands of docs/tasks/chart.md -----------------------------------------------------------------

# As they are written there, to our namespace and without effect; prints the object as it would become.
as_written() { # COMMAND
	(
		kubectl() {
			kubectl_team "$@" --dry-run=server --output json
		}
		eval "$1"
	)
}

mapfile -t commands < <(sed -e ':more' -e '/\\$/N; s/ *\\\n */ /; t more' "$TOP/docs/tasks/chart.md" |
	grep --only-matching -E '^(kubectl patch configmap|kubectl create job) .*')
check "there are some (${#commands[@]})" test "${#commands[@]}" -ge 5
for command in "${commands[@]}"; do
	check "as it is written: ${command:0:100}" as_written "$command"
	as_written "$command" >"$RUN/written"
	case $command in
	*configmap*)
		is "$(jq --raw-output '.data | del(.[".chart"], .state, .restore, .["do-not-restart"]) | keys | join(" ")' "$RUN/written")" "" "its keys are those of the control ConfigMap"
		;;
	*) is "$(jq --raw-output '.spec.template.spec.serviceAccountName' "$RUN/written")" orders-savepoint "with the account of the CronJob" ;;
	esac
	jq --raw-output '.data.restore // empty' "$RUN/written" >>"$RUN/restores"
done
is "$(jq --raw-output '[.kind, .token] | join(" ")' "$RUN/restores")" "path after-the-incident" "and what is restored is readable"

# ---- the check before an upgrade -------------------------------------------------------------------

# its account, as Helm makes it for the time of the hook
helm template orders "$CHART" "$(values s3)" --show-only templates/check.yaml | kubectl_team apply --filename - >/dev/null
is "$(rights_of orders-check)" "configmaps HA of both sides,orders-drey-journal,orders-drey-control get" "the check may do exactly this"
# nobody runs its Pod, so it comes to no end: as one that refuses
check "an upgrade whose check does not succeed fails" not helm upgrade orders "$CHART" "$(values s3)" \
	--set persistentVolumeClaim.enabled=true,image.tag=1.6.0 --timeout 5s
check "its Pod was made" has_pods check 1
is "$(kubectl_team get job orders-check --output 'jsonpath={.spec.template.spec.containers[0].image}')" registry.example/orders:1.6.0 "with the new image"
is "$(image)" registry.example/orders:1.4.0 "and nothing has been changed"

# ---- surge, and back -------------------------------------------------------------------------------

strategy() {
	kubectl_team get deployment "orders-$1" --output json | jq --raw-output '.spec | [.strategy.type, .strategy.rollingUpdate.maxSurge, .minReadySeconds // 0] | map(tostring) | join(" ")'
}

notes_name_the_first_time() {
	helm get notes orders | grep --quiet 'hands nothing over'
}

options=("$(values s3)" --set persistentVolumeClaim.enabled=true --no-hooks)
surge=(--set upgrade.strategy=surge --set upgrade.probationSeconds=30)
check "from recreate to surge" helm upgrade orders "$CHART" "${options[@]}" "${surge[@]}"
is "$(strategy jobmanager), $(strategy taskmanager)" "RollingUpdate 1 30, RollingUpdate 100% 30" "both Deployments have another strategy"
check "the notes say what happens this one time" notes_name_the_first_time
is "$(rights_of orders | grep drey-)" "configmaps orders-drey-candidate get,list,watch,patch
configmaps orders-drey-control get,list,watch,patch
configmaps orders-drey-journal get,list,watch,patch" "drey may also watch the journal, and has the ConfigMap of a candidate"
await "there are Pods of two versions" has_pods jobmanager 2
is "$(kubectl_team get pods --selector app.kubernetes.io/component=jobmanager --output json |
	jq --raw-output '[.items[].metadata.annotations | has("drey.dev/drey-yaml")] | sort | map(tostring) | join(" ")')" "false true" "and only the new one has its configuration with it"
check "an upgrade from surge to surge" helm upgrade orders "$CHART" "${options[@]}" "${surge[@]}" --set-string image.tag=1.7.0
check "is no first time" not notes_name_the_first_time
is "$(kubectl_team get service orders-next-rest --output 'jsonpath={.spec.selector.drey\.dev/generation}')" "$(generation)" "the Service of the next version follows"
check "back to recreate" helm upgrade orders "$CHART" "${options[@]}"
is "$(strategy jobmanager), $(strategy taskmanager)" "Recreate null 0, Recreate null 0" "both Deployments are as before"
check "helm rollback to surge" helm rollback orders --no-hooks
is "$(strategy jobmanager), $(strategy taskmanager)" "RollingUpdate 1 30, RollingUpdate 100% 30" "goes back to its strategy"
sees() { # WORDS COMMAND...
	local words=$1
	shift
	"$@" 2>&1 | grep --quiet --fixed-strings -- "$words"
}
kubectl_team create deployment orders-green-jobmanager --image=localhost/other --replicas=0 >/dev/null 2>&1
check "an application that has the name of the second side is in the way" sees "surge uses the cluster id orders-green too" \
	helm upgrade orders "$CHART" "${options[@]}" "${surge[@]}"
kubectl_team delete deployment orders-green-jobmanager >/dev/null
check "nor can it come later" sees "clusterId: orders-green is also used by the application orders" helm install orders-green "$CHART" "$(values s3)"
kubectl_team create --filename - >/dev/null <<'YAML'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: one-node}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
YAML
check "a volume that is there already is asked whether several nodes can use it" sees "persistentVolumeClaim.accessModes: without ReadWriteMany" \
	helm upgrade orders "$CHART" "${options[@]}" "${surge[@]}" --set persistentVolumeClaim.existing=one-node
kubectl_team delete persistentvolumeclaim one-node --wait=false >/dev/null
check "back to recreate for the rest" helm upgrade orders "$CHART" "${options[@]}"

# ---- the end ---------------------------------------------------------------------------------------

kubectl_team create configmap orders-drey-journal >/dev/null
check "helm uninstall, where no kubelet could run what comes before" helm uninstall orders --no-hooks
gone() {
	[ -z "$(kubectl_team get deployments,cronjobs,services,roles,rolebindings --selector 'app.kubernetes.io/instance=orders' --output name | grep -v orders-check)" ]
}
await "takes everything along" gone
is "$(kubectl_team get persistentvolumeclaims,configmaps --output name | grep -E 'state|journal' | tr '\n' ' ')" \
	"persistentvolumeclaim/orders-state configmap/orders-drey-journal " "but the volume and the journal"
check "and it can be installed again" helm install orders "$CHART" "$(values s3)" --set persistentVolumeClaim.enabled=true,persistentVolumeClaim.existing=orders-state

# ---- a JobManager that cannot be changed -----------------------------------------------------------

volume=persistentVolumeClaim.enabled=true,persistentVolumeClaim.existing=orders-state

# What an upgrade says that has to be done before.
first() { # OPTION...
	helm upgrade orders "$CHART" "$(values s3)" --set "$volume" --no-hooks "$@" 2>&1 | sed -n 's/.*first: kubectl //p'
}

is "$(first --set jobManager.kind=Job)" "--namespace $TEAM delete deployment orders-jobmanager --cascade=foreground --wait" \
	"a Deployment does not become a Job: for a while there would be both"
check "what it says helps" kubectl_team delete deployment orders-jobmanager --cascade=foreground --wait --timeout "${WAIT_S}s"
check "then it does" helm upgrade orders "$CHART" "$(values s3)" --set "$volume,jobManager.kind=Job" --no-hooks
is "$(first --set jobManager.kind=Job --set-string image.tag=1.5.0)" "--namespace $TEAM delete job orders-jobmanager --cascade=foreground --wait" \
	"another image for a Job is refused"
is "$(kubectl_team get deployment orders-taskmanager --output 'jsonpath={.spec.template.spec.containers[0].image}')" registry.example/orders:1.4.0 \
	"before anything is changed"
is "$(first)" "--namespace $TEAM delete job orders-jobmanager --cascade=foreground --wait" "nor does a Job become a Deployment"
check "what does not touch it is done" helm upgrade orders "$CHART" "$(values s3)" --set "$volume,jobManager.kind=Job,taskManager.replicas=3" --no-hooks
e2e_end
