#!/usr/bin/env bash
#
# `helm upgrade` on a real cluster: with another image and with other arguments, from a savepoint to exactly where the old
# version stopped; with versions that cannot start, and back.
#
# runs in: ci

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
node_begin upgrade

image() {
	kubectl get pod "$(pod jobmanager)" --output 'jsonpath={.spec.containers[0].image}'
}

from_savepoint() {
	status_is '.launch.restorePoint | .kind == "savepoint" and (.path | startswith("s3://flink/orders/savepoints/savepoint-"))'
}

other_job() { # JOB
	runs && [ "$(status .jobId)" != "$1" ]
}

next_job() { # WHAT JOB: it went on from the savepoint of the stop
	await "$1: another job runs" other_job "$2"
	check "$1: from a savepoint" from_savepoint
	check "$1: drey, Flink and the job agree on it" restore_matches "$(status .launch.restorePoint.path)"
	check "$1: where the old one had stopped" continued
}

check_succeeded() {
	kubectl get events --field-selector reason=Completed --output json | jq --exit-status 'any(.items[]; .involvedObject.name == "orders-check")'
}

values "upgradeCheck: {timeoutSeconds: 60}"
check "helm install" install
await "the job runs" runs

# ---- another image, other arguments --------------------------------------------------------------------

job=$(status .jobId)
check "helm upgrade to another image" upgrade --set-string image.tag=2
is "$(image)" localhost/orders:2 "is made"
next_job "another image" "$job"
await "the check before it has run to its end" check_succeeded
job=$(status .jobId)
check "helm upgrade with other arguments" upgrade --set-string image.tag=2 --set-json 'job.args=["--log","/events/log","--control","/events","--rate","50"]'
next_job "other arguments" "$job"

# ---- versions that cannot start ------------------------------------------------------------------------

job=$(status .jobId)
check "an image that there is not: the check refuses it" not upgrade --set-string image.tag=nowhere --set upgradeCheck.timeoutSeconds=15
is "$(status .jobId)" "$job" "and the job runs on"
check "the same without the check: helm gives up" not upgrade --set-string image.tag=nowhere --no-hooks --atomic --timeout 60s
next_job "back to the version before" "$job"

job=$(status .jobId)
starts=$(event_count MAIN)
check "a main() that throws: helm gives up" not upgrade --no-hooks --set-string image.tag=2 --set-json 'job.args=["--log","/events/log","--throw-in-main"]' \
	--set drey.attempts.max=2 --set drey.attempts.backoffFirst=1s --timeout 10s
await "drey has given it up" phase_is Failed
check "it was tried twice" test "$(event_count MAIN)" -eq $((starts + 2))
kubectl delete pod "$(pod jobmanager)" >/dev/null
await "its Pod is replaced: it is not tried again" phase_is Failed
is "$(event_count MAIN)" $((starts + 2)) "main() was not called"
check "helm rollback" helm rollback "$APPLICATION" --wait --timeout "${WAIT_S}s"
next_job "rolled back" "$job"

check "the whole log is continuous" continuity
is "$(denied)" "" "nothing was asked for that the Roles do not allow"
e2e_end
