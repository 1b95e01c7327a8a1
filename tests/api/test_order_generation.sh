#!/usr/bin/env bash
#
# A restore request in the same step as another version: both change at the same time, and the drey of the previous
# version, which still runs, reads the request first. By ConfigMap and custom resource, against a real API server.
#
# runs in: ci

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin order-generation
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"
# shellcheck source=tests/api/resource_lib.sh
. "$TOP/tests/api/resource_lib.sh"

quick=('control:' '  poll: 500ms')
# shellcheck disable=SC2317 # called through await
carried_out() { # TOKEN
	journal_is ".consumedTokens | index(\"$1\") != null"
}

# ---- by the control ConfigMap ------------------------------------------------------------------------

control state=running
pod_conf a "${quick[@]}" 'generation: g1'
pod_start a
await "the version before runs" launched 1
control state=running restore='{kind: empty, token: t1, generation: g2}'
await "it sees the order, and leaves it to the other one" pod_log a 'restore request ignored: it is for another generation'
check "it is not refused" pod_is a '.control.error == null'
pod_end a
pod_conf b "${quick[@]}" 'generation: g2'
pod_start b
await "the next version starts" launched 2
check "and has carried it out" carried_out t1
is "$(journal '.launches[-1] | [.generation, .requestToken] | join(" ")')" "g2 t1" "with its first launch"
control state=running restore='{kind: empty, token: t2, generation: g2}'
await "one for the version that runs is refused as ever" pod_is b '.control.error | contains("the job is running")'
pod_end b
pod_conf c "${quick[@]}" 'generation: g3'
control state=running restore='{kind: empty, token: t2, generation: g3}'
pod_start c
await "the version after it starts" pod_is c '.launch.generation == "g3"'
check "what was refused does not lie in wait for it" journal_is '.consumedTokens | index("t2") == null'
pod_end c

# ---- by the custom resource --------------------------------------------------------------------------

before=$(launches)
with_resource d "${quick[@]}" 'generation: g3'
resource '{"state": "running"}'
pod_start d
await "with a custom resource" launched $((before + 1))
resource '{"state": "running", "restore": {"kind": "newest", "token": "r1", "allowNonRestoredState": true, "generation": "g4"}}'
await "the order there is left to the other one as well" pod_log d '"token":"r1"'
check "it is not refused" pod_is d '.control.error == null'
check "and nothing is wrong with the spec" condition_is Stalled False
pod_end d
with_resource e "${quick[@]}" 'generation: g4'
pod_start e
await "which carries it out" carried_out r1
pod_end e
e2e_end
