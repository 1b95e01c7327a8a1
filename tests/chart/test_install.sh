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
		sed -E 's/(orders-[0-9a-f]{32}-config-map,?)+/HA,/; s/, / /; s/orders-cluster-config-map,HA/HA/'
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
is "$(rights_of orders-taskmanager)" "configmaps orders-cluster-config-map get,list,watch" "a TaskManager may do exactly this"
is "$(rights_of orders)" "configmaps  create
configmaps HA get,list,watch,update,patch,delete
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

# ---- the commands of docs/chart.md -----------------------------------------------------------------

# As they are written there, to our namespace and without effect; prints the object as it would become.
as_written() { # COMMAND
	(
		kubectl() {
			kubectl_team "$@" --dry-run=server --output json
		}
		eval "$1"
	)
}

mapfile -t commands < <(sed -e ':more' -e '/\\$/N; s/ *\\\n */ /; t more' "$TOP/docs/chart.md" |
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
is "$(rights_of orders-check)" "configmaps HA,orders-drey-journal,orders-drey-control get" "the check may do exactly this"
# nobody runs its Pod, so it comes to no end: as one that refuses
check "an upgrade whose check does not succeed fails" not helm upgrade orders "$CHART" "$(values s3)" \
	--set persistentVolumeClaim.enabled=true,image.tag=1.6.0 --timeout 5s
check "its Pod was made" has_pods check 1
is "$(kubectl_team get job orders-check --output 'jsonpath={.spec.template.spec.containers[0].image}')" registry.example/orders:1.6.0 "with the new image"
is "$(image)" registry.example/orders:1.4.0 "and nothing has been changed"

# ---- the end ---------------------------------------------------------------------------------------

kubectl_team create configmap orders-drey-journal >/dev/null
check "helm uninstall" helm uninstall orders
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
