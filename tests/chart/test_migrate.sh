#!/usr/bin/env bash
#
# The values that `drey migrate` prints for the facts of the operator's examples: the schema of the chart takes them, a real API
# server accepts what is rendered without a warning, and drey accepts its configuration.
#
# runs in: ci

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/chart/lib.sh
. "$TOP/tests/chart/lib.sh"
chart_begin chart-migrate
FIXTURES=$TOP/tests/fixtures/migrate

# The Pods of the examples have hostPath, and sidecars without a securityContext, which the namespace here warns of.
accepted() { # NAME
	render "$1" --values "$RUN/$1.values.yaml" >/dev/null && return
	[ -s "$RUN/$1.json" ] && ! grep --invert-match 'would violate PodSecurity' "$RUN/$1.err"
}

rendered=0
for expected in "$FIXTURES"/*.values; do
	name=$(basename "$expected" .values)
	"$BUILD/drey" migrate "$FIXTURES/$name.yaml" >"$RUN/$name.values.yaml" 2>"$RUN/$name.list"
	check "$name: rendered, and accepted by the API server" accepted "$name"
	check "$name: drey takes its configuration" drey_takes "$name"
	rendered=$((rendered + 1))
done
check "there are values for every example with a job ($rendered)" test "$rendered" -ge 20

is "$(object claim Deployment/rides-claim-drey-jobmanager '[.spec.template.spec | .volumes[] | select(.persistentVolumeClaim) | "\(.name)=\(.persistentVolumeClaim.claimName)"] | join(" ")') $(
	jq -r '[.items[] | select(.kind == "PersistentVolumeClaim")] | length' "$RUN/claim.json")" "state=rides-claim 0" \
	"the claim with the state is the one that is there, once, and none is made"
is "$(object claim Deployment/rides-claim-drey-taskmanager '[.spec.template.spec.containers[] | select(.name == "taskmanager").volumeMounts[].mountPath] | sort | join(" ")')" \
	"/etc/drey /opt/flink/conf /opt/flink/log /opt/flink/usrlib /opt/flink/volume /tmp" "each path is mounted once"
is "$(object pod-template Deployment/rides-pods-drey-jobmanager '[.spec.template.spec | .initContainers[].name, .containers[].name] | join(" ")') $(
	object pod-template Deployment/rides-pods-drey-taskmanager '[.spec.template.spec | .initContainers[]?.name, .containers[].name] | join(" ")')" \
	"fetch jobmanager shipper taskmanager shipper" "what is said of one part is in its Pod only"
is "$(jq -r '[.items[] | (.spec.jobTemplate // .).spec.template | select(.) | .spec
	| [([.imagePullSecrets[]?.name] | index("regcred") != null), ([.tolerations[]?.key] | index("dedicated") != null),
		.nodeSelector.pool, .affinity.nodeAffinity != null] | join(" ")] | "\(length) \(unique | join(", "))"' "$RUN/pod-place.json")" \
	"$(jq '[.items[] | select(.kind | . == "Deployment" or . == "Job" or . == "CronJob")] | length' "$RUN/pod-place.json") true true flink true" \
	"the Jobs of the chart pull the image and run where the JobManager does"
is "$(configuration all-fields flink config.yaml | grep -cE 'state.checkpoints.dir|kubernetes.operator|secret-key|s3.endpoint: https')" 1 \
	"Flink's configuration has the endpoint, and nothing of the operator"
is "$(configuration every-key drey drey.yaml | grep -A 9 '^savepoints:' | tr -d '\n ')" 'savepoints:format:nativeinterval:6hretention:count:10maxAge:24hstateDirectory:/var/lib/dreyupgrade:savepoint' \
	"periodic savepoints and their retention are drey's"
e2e_end
