#!/usr/bin/env bash
#
# The journal is lost, and a restore request that was carried out long ago is still in the control ConfigMap or in the
# custom resource. The record of what was read is lost with the journal, but the object itself shows that the request is
# used up. With the Role of the chart, against a real API server.
#
# runs in: ci

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin old-order
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"
# shellcheck source=tests/api/resource_lib.sh
. "$TOP/tests/api/resource_lib.sh"

# shellcheck disable=SC2317 # called through await
used_is() { # KIND NAME TOKENS
	[ "$(kubectl get "$1" "$2" --output json | jq --raw-output '.metadata.annotations["drey.dev/used-restore-tokens"]')" = "$3" ]
}

forget_used() { # KIND NAME
	kubectl annotate "$1" "$2" drey.dev/used-restore-tokens- >/dev/null
}

lose_journal() {
	kubectl delete configmap "$JOURNAL" >/dev/null
}

# As the kubelet shows it: the order comes as a change of what is there.
wants() { # KEY VALUE
	kubectl patch configmap "$CONTROL_MAP" --type merge \
		--patch "$(jq --null-input --compact-output --arg key "$1" --arg value "$2" '{data: {($key): $value}}')" >/dev/null
}

quick=('control:' '  poll: 500ms')
mkdir -p "$RUN/sp/savepoint-aaaaaa-bbbbbbbbbbbb"
cp "$TOP/tests/fixtures/metadata/2.3.0-hashmap-chk" "$RUN/sp/savepoint-aaaaaa-bbbbbbbbbbbb/_metadata"

# ---- the control ConfigMap -------------------------------------------------------------------------

control state=running
pod_conf a "${quick[@]}"
pod_start a
await "there is a snapshot, and no journal: it holds" pod_is a '.cause == "JournalLost"'
wants restore '{kind: empty, token: t1}'
await "an order that comes in while drey looks is carried out" launched 1
await "the ConfigMap says so" used_is configmap "$CONTROL_MAP" t1
pod_end a
lose_journal
pod_start a
await "the journal is lost: it holds" pod_phase a Holding
is "$(pod_status a .cause)" JournalLost "the order is none"
check "and that is said" pod_is a '.control.error | contains("drey.dev/used-restore-tokens")'
wants state suspended
await "suspended" pod_phase a Suspended
wants state running
await "running: it is none for that start either" pod_is a '.cause == "JournalLost"'
pod_end a
is "$(launches)" 1 "nothing was started"

forget_used configmap "$CONTROL_MAP"
lose_journal
pod_start a
await "without that word it holds as well" pod_is a '.cause == "RequestMayBeOld"'
wants restore '{kind: empty, token: t2}'
await "repeated with another token it is carried out" launched 2
await "and that is noted" used_is configmap "$CONTROL_MAP" t2
wants restore '{kind: empty, token: t3}'
await "one that is refused" pod_is a '.control.error | contains("the job is running")'
check "is not noted" used_is configmap "$CONTROL_MAP" t2
pod_end a

# ---- the custom resource ---------------------------------------------------------------------------

kubectl delete configmap "$CONTROL_MAP" >/dev/null
lose_journal
before=$(launches)
with_resource b "${quick[@]}"
resource '{"restore": {"kind": "empty", "token": "r1"}}'
pod_start b
await "an order that stands there" pod_is b '.cause == "RequestMayBeOld"'
resource '{"restore": {"kind": "empty", "token": "r2"}}'
await "one that comes in is carried out" launched $((before + 1))
await "the resource says so" used_is flapp "$APPLICATION" r2
pod_end b
lose_journal
pod_start b
await "the journal is lost: it holds" pod_phase b Holding
is "$(pod_status b .cause)" JournalLost "the order is none"
pod_end b

# ---- a Role of before ------------------------------------------------------------------------------

lose_journal
before=$(launches)
check "the Role does not have the verb" api_role_without \
	"(.rules[] | select(.resourceNames == [\"$APPLICATION\"] and .resources == [\"flinkapplications\"]) | .verbs) |= [\"get\", \"list\", \"watch\"]" \
	patch "flinkapplications.drey.dev/$APPLICATION"
pod_start b
await "it holds" pod_phase b Holding
resource '{"restore": {"kind": "empty", "token": "r3"}}'
await "the order is carried out all the same" launched $((before + 1))
await "that it cannot be noted is said" pod_log b 'add the verb patch to the Role'
check "it is not" used_is flapp "$APPLICATION" r2
pod_end b
e2e_end
