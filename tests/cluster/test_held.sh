#!/usr/bin/env bash
#
# What an engineer sees when something is missing: a Secret, the bucket, a right; and how to change the keys. Nothing is
# started from nothing; kubectl and drey report the cause; and drey continues automatically when it is fixed.

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
node_begin held

describes() { # KIND/NAME TEXT
	local said
	said=$(kubectl describe "$1") && grep --quiet --fixed-strings -- "$2" <<<"$said"
}

holds() { # CAUSE REGEX
	status_is ".phase == \"Holding\" and .cause == \"$1\" and (.reason | test(\"$2\"; \"i\"))"
}

ready_says() { # CAUSE REGEX
	resource_condition Ready "select(.status == \"False\" and .reason == \"$1\") | .message | test(\"$2\"; \"i\") or empty"
}

deployment_says() { # CAUSE REGEX
	kubectl get deployment orders-jobmanager --output json | jq --exit-status ".status.conditions[] | select(.type == \"drey.dev/Ready\") |
		.status == \"False\" and .reason == \"$1\" and (.message | test(\"$2\"; \"i\"))"
}

logged() { # TEXT
	local said
	said=$(kubectl logs "$(pod jobmanager)") && grep --quiet --fixed-strings -- "$1" <<<"$said"
}

# In the words of the runbook, wherever somebody may look.
shown() { # WHAT CAUSE REGEX
	await "$1: drey holds, and says why" holds "$2" "$3"
	check "$1: with a page of the runbook" test -s "$TOP/docs/runbook/$2.md"
	await "$1: so does the FlinkApplication" ready_says "$2" "$3"
	await "$1: and kubectl describe of it" describes flinkapplication/orders "$2"
	await "$1: so does the Deployment" deployment_says "$2" "$3"
	check "$1: and kubectl describe of it" describes deployment/orders-jobmanager "$2"
	await "$1: the Deployment is not available" deployment_is jobmanager Available False
}

other_pod() { # NAME
	local name
	name=$(pod jobmanager) && [ "$name" != "$1" ] && [ "$(kubectl get pod "$name" --output 'jsonpath={.status.phase}')" = Running ]
}

# Not by deleting it: the old one would say its last words beside the first ones of the new one.
replace_pod() { # WHAT
	local name
	name=$(pod jobmanager)
	kubectl rollout restart deployment/orders-jobmanager >/dev/null
	await "$1: there is another Pod" other_pod "$name"
}

values

# ---- no Secret ---------------------------------------------------------------------------------------------

kubectl delete secret orders-s3 >/dev/null
check "helm install without the Secret" install --wait=false
await "no Secret: kubectl describe pod names it" describes "pod/$(wait_until 'a Pod' "$WAIT_S" pod jobmanager && pod jobmanager)" \
	'secret "orders-s3" not found'
await "no Secret: the Deployment is not available" deployment_is jobmanager Available False
node_keys
await "it is there: the job runs" runs

# ---- other keys --------------------------------------------------------------------------------------------

server_down versitygw
rm "$RUN/gw/secret-key"
server_up versitygw "$RUN/gw"
node_keys
check "other keys: the Pods are replaced" kubectl rollout restart deployment/orders-jobmanager deployment/orders-taskmanager
check "the Deployment becomes available" kubectl rollout status deployment/orders-jobmanager --timeout "${WAIT_S}s"
await "the job runs" runs
check "from where it was" continuity

# ---- no bucket ---------------------------------------------------------------------------------------------

mv "$BUCKETS/flink" "$RUN/gw/flink"
kill_jvm jobmanager
shown "no bucket" StorageUnreadable 'bucket|s3://flink'
check "no bucket: it is named" describes flinkapplication/orders s3://flink
mv "$RUN/gw/flink" "$BUCKETS/flink"
await "it is back: the job runs" runs
check "from where it was" continuity

# ---- no rights ---------------------------------------------------------------------------------------------

for kind in role rolebinding; do
	kubectl get $kind orders --output json | jq 'del(.metadata | .uid, .resourceVersion, .creationTimestamp, .managedFields)' >"$RUN/$kind.json"
done
jq '.rules |= map(select(.resources | index("configmaps") | not))' "$RUN/role.json" |
	kubectl apply --server-side --force-conflicts --filename - >/dev/null
replace_pod "no right to read ConfigMaps"
shown "no right to read ConfigMaps" JournalUnreadable 'HTTP 403'
is "$(jvm jobmanager)" "" "nothing runs"

# none at all: drey can tell the API server nothing
kubectl delete rolebinding orders >/dev/null
replace_pod "no rights"
await "no rights: drey holds, and says why" holds JournalUnreadable 'HTTP 403'
check "no rights: it is in the log" logged JournalUnreadable
await "no rights: kubectl describe pod says that it is not ready" describes "pod/$(pod jobmanager)" 'Readiness probe failed'
await "no rights: the Deployment is not available" deployment_is jobmanager Available False
is "$(jvm jobmanager)" "" "nothing runs"
for kind in role rolebinding; do
	kubectl apply --server-side --force-conflicts --filename "$RUN/$kind.json" >/dev/null
done
await "it has them again: the job runs" runs
await "so the Deployment says" deployment_is jobmanager drey.dev/Ready True
check "the whole log is continuous" continuity
e2e_end
