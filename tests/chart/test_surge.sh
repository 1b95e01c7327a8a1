#!/usr/bin/env bash
#
# What the controllers of a real control plane do with two versions of the Pods that the chart makes: who is ended, and when.
# There is no node; the test says which Pods are ready, as drey would. What Helm 3 and Helm 4 wait for.

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/chart/lib.sh
. "$TOP/tests/chart/lib.sh"
chart_begin chart-surge
mapfile -t options < <(values s3)
# longer than the test: it ends the probation where it is to end
options+=(--no-hooks --set customResource=false --set upgrade.strategy=surge --set upgrade.probationSeconds=600)

upgrade() { # TAG [OPTION...]
	local tag=$1
	shift
	helm upgrade --install orders "$CHART" "${options[@]}" --set-string "image.tag=$tag" "$@" >"$RUN/said" 2>&1
}

# Their names.
pods() { # COMPONENT TAG
	kubectl_team get pods --selector "app.kubernetes.io/component=$1" --output json |
		jq --raw-output --arg tag ":$2" '.items[] | select(.metadata.deletionTimestamp == null and (.spec.containers[0].image | endswith($tag))) | .metadata.name'
}

# "TAG*COUNT", a word for each version that has Pods.
versions() { # COMPONENT
	kubectl_team get pods --selector "app.kubernetes.io/component=$1" --output json |
		jq --raw-output '[.items[] | select(.metadata.deletionTimestamp == null) | .spec.containers[0].image | split(":")[-1]] | group_by(.) | map("\(.[0])*\(length)") | join(" ")'
}

are() { # COMPONENT VERSIONS
	[ "$(versions "$1")" = "$2" ]
}

# Somebody is ended within a second, if at all.
stay() { # WHAT COMPONENT VERSIONS
	await "$1" are "$2" "$3"
	sleep 3
	is "$(versions "$2")" "$3" "and it stays so: $2"
}

set_ready() { # COMPONENT TAG True|False [SINCE]
	local pod
	for pod in $(pods "$1" "$2"); do
		kubectl_team patch pod "$pod" --subresource status --type merge --patch "$(jq --null-input --arg status "$3" --arg since "$(date -u --date "${4:-now}" +%FT%TZ)" \
			'{status: {phase: "Running", conditions: [{type: "Ready", status: $status, lastTransitionTime: $since}]}}')" >/dev/null
	done
}

ready() { # TAG [SINCE]
	set_ready jobmanager "$1" True "${@:2}"
	set_ready taskmanager "$1" True "${@:2}"
}

unready() { # TAG
	set_ready jobmanager "$1" False
	set_ready taskmanager "$1" False
}

has_ready() { # COMPONENT COUNT
	[ "$(kubectl_team get deployment "orders-$1" --output 'jsonpath={.status.readyReplicas}')" = "$2" ]
}

# Ends the probation, without another template.
end_probation() {
	local component
	for component in jobmanager taskmanager; do
		kubectl_team patch deployment "orders-$component" --type merge --patch '{"spec":{"minReadySeconds":0}}' >/dev/null
	done
}

ended() { # PID
	! kill -0 "$1" 2>/dev/null
}

# ---- before the hand-over --------------------------------------------------------------------------

check "version 1 is installed" upgrade 1
await "it has a JobManager" are jobmanager '1*1'
await "and two TaskManagers" are taskmanager '1*2'
ready 1 "1 hour ago"
await "which run the job" has_ready taskmanager 2
check "version 2 follows" upgrade 2
stay "its JobManager is created beside the first one" jobmanager '1*1 2*1'
stay "so are its TaskManagers" taskmanager '1*2 2*2'
check "version 3 follows before the hand-over" upgrade 3
stay "it replaces the candidate, and not the owner" jobmanager '1*1 3*1'
stay "nor its TaskManagers" taskmanager '1*2 3*2'
check "helm rollback before the hand-over" helm rollback orders 1 --no-hooks
stay "ends the candidate, and not the owner" jobmanager '1*1'
stay "nor its TaskManagers" taskmanager '1*2'

# ---- in the probation ------------------------------------------------------------------------------

check "version 2 follows again" upgrade 2
await "its JobManager is there" are jobmanager '1*1 2*1'
await "and its TaskManagers" are taskmanager '1*2 2*2'
ready 2
unready 1
stay "the job was handed over: the reserve stays for the probation" jobmanager '1*1 2*1'
stay "so do its TaskManagers" taskmanager '1*2 2*2'
check "helm rollback in the probation" helm rollback orders --no-hooks
stay "ends nobody: the reserve is to run the job first" jobmanager '1*1 2*1'
stay "on its own TaskManagers" taskmanager '1*2 2*2'
ready 1
unready 2
stay "it runs the job: the other one is the reserve now" jobmanager '1*1 2*1'
end_probation
stay "until the end of the probation" jobmanager '1*1'
stay "as are its TaskManagers" taskmanager '1*2'
check "version 2 once more" upgrade 2
await "its JobManager is there once more" are jobmanager '1*1 2*1'
await "and its TaskManagers, too" are taskmanager '1*2 2*2'
ready 2
unready 1
await "it runs the job" has_ready taskmanager 2
check "version 3 follows in the probation" upgrade 3
stay "it replaces the reserve, and not the owner" jobmanager '2*1 3*1'
stay "nor its TaskManagers" taskmanager '2*2 3*2'
check "version 4 follows, too" upgrade 4
stay "Kubernetes does not count on an owner in its probation: that is why drey check refuses" jobmanager '3*1 4*1'

# ---- what Helm waits for ---------------------------------------------------------------------------

ready 4 "1 hour ago"
await "version 4 is all that there is" are jobmanager '4*1'
await "with its TaskManagers" are taskmanager '4*2'
next=5
for helm in 3 4; do
	force=()
	# of minReadySeconds, which the test has patched
	[ "$helm" = 3 ] || force=(--force-conflicts)
	HELM=$helm upgrade "$next" --wait --timeout 10m "${force[@]}" &
	waits=$!
	await "Helm $helm: version $next prepares itself" are jobmanager "$((next - 1))*1 $next*1"
	await "and its TaskManagers wait" are taskmanager "$((next - 1))*2 $next*2"
	sleep 5
	check "helm upgrade --wait waits for it" kill -0 "$waits"
	ready "$next"
	unready "$((next - 1))"
	if [ "$helm" = 3 ]; then
		await "Helm 3 does not wait for the probation" ended "$waits"
		end_probation
	else
		sleep 8
		check "Helm 4 waits for the probation" kill -0 "$waits"
		end_probation
		await "and no longer" ended "$waits"
	fi
	wait "$waits"
	is "$?" 0 "and it has succeeded"
	await "one version is left" are jobmanager "$next*1"
	next=$((next + 1))
done
e2e_end
