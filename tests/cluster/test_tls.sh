#!/usr/bin/env bash
#
# TLS within Flink and on its REST API, with keystores and passwords from Secrets: a Pod that dies, a savepoint by
# kubectl, an upgrade by a stop, a surge upgrade; what is not there for others to read.

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
node_begin tls
PASSWORD="it's-a-secret \$1"

# KIND: a key pair, its own truststore, and the Secret orders-KIND.
store() {
	rm -f "$RUN/$1".*
	keytool -genkeypair -alias own -keyalg RSA -keysize 2048 -dname "CN=orders-jobmanager" -validity 2 -storetype PKCS12 \
		-keystore "$RUN/$1.p12" -storepass "$PASSWORD" >>"$RUN/log/keytool.log" 2>&1 &&
		kubectl create secret generic "orders-$1" --from-file=keystore.p12="$RUN/$1.p12" --from-literal=password="$PASSWORD" \
			--dry-run=client --output yaml | kubectl apply --filename - >/dev/null
}

# As in lib.sh, by HTTPS.
rest() { # PATH [JQ_FILTER]
	local address answer
	address=$(kubectl get pod "$(pod jobmanager)" --output 'jsonpath={.status.podIP}') && [ -n "$address" ] &&
		answer=$(curl --silent --show-error --fail --insecure --max-time 10 "https://$address:8081/${1#/}") || return
	jq --raw-output --exit-status "${2:-.}" <<<"$answer"
}

has_redirect() {
	local code
	code=$(curl --silent --max-time 5 --output /dev/null --write-out '%{http_code}' \
		"http://$(kubectl get pod "$(pod jobmanager)" --output 'jsonpath={.status.podIP}'):8081/overview") && [[ $code == 30[1278] ]]
}

# Everything that the namespace shows to one who may not read Secrets, and all logs.
shown() {
	kubectl get configmaps,deployments,replicasets,pods,events,jobs,flinkapplications --output yaml
	kubectl logs --all-containers "$(pod jobmanager)"
	kubectl logs --all-containers "$(pod taskmanager)"
}

in_command_lines() {
	# shellcheck disable=SC2016 # expanded in the Pod
	in_pod "$1" bash -c 'cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ' 2>/dev/null | grep --text --quiet --fixed-strings "$PASSWORD"
}

other_pod() { # NAME
	[ -n "$(pod jobmanager)" ] && [ "$(pod jobmanager)" != "$1" ] && runs
}

other_job() { # JOB
	runs && [ "$(status .jobId)" != "$1" ]
}

values "upgradeCheck: {timeoutSeconds: 120}"
cat >"$RUN/tls.yaml" <<'YAML'
flink:
  configuration:
    security.ssl.rest.enabled: true
    security.ssl.rest.keystore: /etc/flink-rest/keystore.p12
    security.ssl.rest.truststore: /etc/flink-rest/keystore.p12
    security.ssl.internal.enabled: true
    security.ssl.internal.keystore: /etc/flink-internal/keystore.p12
    security.ssl.internal.truststore: /etc/flink-internal/keystore.p12
  configurationFrom:
    security.ssl.rest.keystore-password: {secret: orders-rest, key: password}
    security.ssl.rest.key-password: {secret: orders-rest, key: password}
    security.ssl.rest.truststore-password: {secret: orders-rest, key: password}
    security.ssl.internal.keystore-password: {secret: orders-internal, key: password}
    security.ssl.internal.key-password: {secret: orders-internal, key: password}
    security.ssl.internal.truststore-password: {secret: orders-internal, key: password}
  secretVolumes:
  - {secret: orders-rest, path: /etc/flink-rest}
  - {secret: orders-internal, path: /etc/flink-internal}
YAML
check "a keystore for the REST API" store rest
check "and one for the TaskManagers" store internal
check "helm install with TLS" install --values "$RUN/tls.yaml"
await "the job runs" runs
check "Flink's REST API speaks TLS" rest /overview '."slots-total" == 1'
check "and sends others there" has_redirect
check "helm test" helm test "$APPLICATION" --timeout 120s
check "no object and no log has the password" not grep --quiet --fixed-strings "$PASSWORD" <(shown)
check "no command line and no environment of the JobManager has it" not in_command_lines jobmanager
check "nor of the TaskManager" not in_command_lines taskmanager

# ---- what drey asks of Flink ---------------------------------------------------------------------------

check "a savepoint" drey savepoint
before=$(pod jobmanager)
restored=$(event_count RESTORED)
kubectl delete pod "$before" --grace-period=0 --force >/dev/null 2>&1
await "the Pod died: another one runs the job" other_pod "$before"
await "it has read its state again" has_events RESTORED $((restored + 1))
check "nothing is lost" continuity

job=$(status .jobId)
check "helm upgrade to another image" upgrade --values "$RUN/tls.yaml" --set-string image.tag=2
await "another job runs" other_job "$job"
check "from the savepoint of the stop" restore_matches "$(status .launch.restorePoint.path)"
check "where the old one had stopped" continued

# ---- surge ---------------------------------------------------------------------------------------------

check "helm upgrade to surge" upgrade --values "$RUN/tls.yaml" --set-string image.tag=2 --set upgrade.strategy=surge
await "the job runs" runs
job=$(status .jobId)
check "a surge upgrade" upgrade --values "$RUN/tls.yaml" --set-string image.tag=1 --set upgrade.strategy=surge
await "the new version runs" other_job "$job"
check "where the old one had stopped" continued
check "the whole log is continuous" continuity
is "$(denied)" "" "nothing was asked for that the Roles do not allow"

# ---- a Secret that is not there ------------------------------------------------------------------------

job=$(status .jobId)
sed 's/secret: orders-rest, key: password/secret: orders-rest, key: nowhere/' "$RUN/tls.yaml" >"$RUN/missing.yaml"
check "a key that the Secret has not: the check refuses the upgrade" not upgrade --values "$RUN/missing.yaml" --set-string image.tag=2 \
	--set upgrade.strategy=surge --set upgradeCheck.timeoutSeconds=20
is "$(status .jobId)" "$job" "and the job runs on"
e2e_end
