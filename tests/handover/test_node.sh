#!/usr/bin/env bash
#
# The bench itself: which Pods the real controller of Deployments starts and ends with maxSurge 1 and maxUnavailable 0, when the
# kubelet is a script and the Pods are processes. Shell loops stand in for the containers; no Flink is started.
#
# runs in: ci

# shellcheck disable=SC2317 # functions that are waited for
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"

# One that is ready while the file ready/POD exists, and takes a second to end.
template_loop() { # T
	template_bare "$1"
	mkdir -p "$RUN/ready"
	cat >"$RUN/templates/$1/run" <<-'END'
		#!/bin/sh
		trap 'sleep 1; exit 0' TERM
		echo "$POD_NAME $POD_UID $POD_IP $POD_TEMPLATE_HASH $DREY_CHECKSUM" >"$E2E_RUN/env.$POD_NAME"
		while :; do sleep 0.1; done
	END
	# shellcheck disable=SC2016 # expanded by that shell
	printf '#!/bin/sh\ntest "$1" = taskmanager || test -e "$E2E_RUN/ready/$POD_NAME"\n' >"$RUN/templates/$1/ready"
	chmod +x "$RUN/templates/$1"/{run,ready}
}

get_ready() { # POD
	: >"$RUN/ready/$1"
}

is_ready() { # POD
	kubectl get pod "$1" --output json | jq --exit-status '.status.conditions[] | select(.type == "Ready").status == "True"'
}

told() { # WHAT POD
	grep --quiet -E "^[0-9]+ $1 $2( |$)" "$RUN/log/kubelet.log"
}

pod_gone() { # POD
	[ -z "$(kubectl get pod "$1" --ignore-not-found --output name)" ] && told gone "$1"
}

one_loop_runs() {
	[ "$(run_pids "^/bin/sh $RUN/templates/three/run jobmanager" | wc -l)" -eq 1 ]
}

handover_begin_bare node
for t in one two three; do
	template_loop $t
done
start_node
MUST_LIVE=(kubelet)
check "two Deployments" deploy one
await "a Pod of the first template" pod_of one
one=$POD
get_ready "$one"
await "it is ready" is_ready "$one"
await "nothing is left to do" rolled_out
is "$(cut -d' ' -f3,5 "$RUN/env.$one")" "127.0.0.2 checksum-one" "it has its address, and the annotation of its template"
is "$(cut -d' ' -f4 "$RUN/env.$one")" "$(kubectl get pod "$one" --output json | jq --raw-output '.metadata.labels["pod-template-hash"]')" \
	"and the hash that the controller gave it"

check "another template" deploy two
await "a second Pod is beside it" pod_of two
two=$POD
await "with an address of its own" grep --quiet "127.0.0.3" "$RUN/env.$two"
check "a third template, while the second is not ready" deploy three
await "a Pod of it" pod_of three
three=$POD
await "the second one had to go" pod_gone "$two"
check "the first one is still there" is_ready "$one"
get_ready "$three"
await "the third one gets ready: the first one is told to end" told term "$one"
await "and ends" pod_gone "$one"
await "nothing is left to do" rolled_out
is "$(pod_address "$three")" "127.0.0.4" "the third one has the address that was free: the second one was still ending"

check "back to the first template" deploy one
await "a new Pod of it" pod_of one
again=$POD
check "which is another one" test "$again" != "$one"
check "kubectl rollout undo" kubectl rollout undo "deployment/$APPLICATION-jobmanager"
await "it had to go" pod_gone "$again"
check "the third one is still there" is_ready "$three"

kill -KILL "$(run_pids "^/bin/sh $RUN/templates/three/run jobmanager")"
await "its container dies" told ended "$three"
await "and is started again: it is the same Pod" is_ready "$three"
check "kubectl delete pod" kubectl delete pod "$three" --wait=false
await "deleted: it is told to end" told term "$three"
await "and another one is there" pod_of three
check "with another name" test "$POD" != "$three"
three=$POD
get_ready "$three"
await "nothing is left to do" rolled_out
kubectl delete pod "$three" --grace-period=0 --force >/dev/null 2>&1
await "deleted by force: it is killed" told gone "$three"
await "another one runs" one_loop_runs

unset 'MUST_LIVE[0]'
kill -TERM "${PIDS[kubelet]}"
await "the kubelet ends" test -e "$RUN/kubelet.status"
is "$(run_pids "/run jobmanager")" "" "and no Pod is left"
is "$(kubectl_cluster get node "$NODE" --ignore-not-found --output name)" "" "nor the node"
e2e_end
