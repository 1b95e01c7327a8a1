#!/usr/bin/env bash
#
# Nine ways to lose state that were observed with other systems (P1 to P9), and what must happen instead.

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
node_begin peers
SELECTOR=app=orders,type=flink-native-kubernetes
rate=50

# The JobManager is killed, and drey is kept from starting it. Sets JOB and NEWEST.
die() {
	wait_until "the launch is proven" "$WAIT_S" runs
	JOB=$(status .jobId)
	check "$1: do-not-restart" drey do-not-restart on
	kill_jvm jobmanager
	await "$1: the JobManager is killed, drey waits" phase_is Holding
	NEWEST=$(newest_on_s3)
}

# Another generation, as a change of the spec makes it; do-not-restart stays.
change() { # WHAT [OPTION...]
	local what=$1 pod
	shift
	pod=$(pod jobmanager)
	rate=$((rate + 1))
	check "$what: helm upgrade" upgrade --no-hooks --wait=false \
		--set-json "job.args=[\"--log\",\"/events/log\",\"--control\",\"/events\",\"--rate\",\"$rate\"]" "$@"
	await "$what: the new Pod holds" held_in_new_pod "$pod"
}

held_in_new_pod() { # POD
	local name
	name=$(pod jobmanager) && [ "$name" != "$1" ] && phase_is Holding
}

goes_on() { # WHAT PATH
	check "$1: do-not-restart is off" drey do-not-restart off
	await "$1: the job runs" runs
	check "$1: from $2" restored_from "$2"
}

values
check "helm install" install
await "the job runs" runs

# ---- P1: the HA map has lost its checkpoints
die P1
kubectl get configmap --selector "$SELECTOR" --output json | jq '.items[] | select(.data | keys | any(startswith("checkpointID"))) |
	.data |= with_entries(select(.key | startswith("checkpointID") | not))' | kubectl replace --filename - >/dev/null
change P1
goes_on P1 "$NEWEST"

# ---- P2: a savepoint that is newer than the newest checkpoint, and an upgrade without one
interval='flink.configuration.execution\.checkpointing\.interval=1 h'
check "P2: no checkpoints any more" upgrade --no-hooks --set "$interval"
await "P2: the job runs" phase_is Running
check "P2: drey savepoint" drey savepoint
saved=$(status .lastSavepoint.path)
check "P2: do-not-restart" drey do-not-restart on
kill_jvm jobmanager
await "P2: the JobManager is killed, drey waits" phase_is Holding
change P2 --set drey.upgrade=last-state
goes_on P2 "$saved"

# ---- P3: a path that does not exist, for a job that is well
job=$(status .jobId)
check "P3: a restore from a path that does not exist is refused" not drey resume --from s3://flink/orders/savepoints/savepoint-none
is "$(status .jobId)" "$job" "P3: the job runs on"
check "P3: it does" runs

# ---- P5: storage and HA data away
die P5
server_down versitygw
change P5 --set drey.upgrade=last-state
check "P5: do-not-restart is off" drey do-not-restart off
await "P5: the storage is away, drey holds" status_is '.phase == "Holding" and (.desired.doNotRestart | not)'
server_up versitygw "$RUN/gw"
await "P5: it is back: the job runs" runs
check "P5: from the newest checkpoint" restored_from "$NEWEST"

# ---- P7: the HA maps and the Deployment are gone
die P7
kubectl delete configmap --selector "$SELECTOR" >/dev/null
kubectl delete deployment orders-jobmanager >/dev/null
await "P7: the Pod is gone" pods_gone jobmanager
change P7
goes_on P7 "$NEWEST"

# ---- P8: a file of the newest checkpoint is gone
die P8
older=$(cd "$BUCKETS" && find "flink/orders/checkpoints/$JOB" -path '*/chk-*/_metadata' -printf 's3://%h\n' | sort -V | tail -n 2 | head -n 1)
find "$BUCKETS/${NEWEST#s3://}" -type f ! -name _metadata -delete
goes_on P8 "$older"

# ---- P9: _metadata of the newest checkpoint is cut. Flink's HA data have their own copy of what it says, so it may be that
# one, or the whole one before it.
newest_or_before() {
	restored_from "$NEWEST" || restored_from "$before"
}

die P9
before=$(cd "$BUCKETS" && find "flink/orders/checkpoints/$JOB" -path '*/chk-*/_metadata' -printf 's3://%h\n' | sort -V | tail -n 2 | head -n 1)
truncate --size 100 "$BUCKETS/${NEWEST#s3://}/_metadata"
check "P9: drey says that it is damaged" grep --quiet "${NEWEST##*/}" <(drey resolve --explain 2>&1)
check "P9: do-not-restart is off" drey do-not-restart off
await "P9: the job runs" runs
check "P9: from the newest checkpoint in the bucket, or the one before it" newest_or_before

check "the whole log is continuous" continuity

# ---- P4: the first start is from a path that does not exist
helm uninstall orders --no-hooks >/dev/null
kubectl delete configmap orders-drey-journal >/dev/null
kubectl delete configmap --selector "$SELECTOR" >/dev/null
await "P4: everything is gone" pods_gone jobmanager
rm -rf "$BUCKETS/flink/orders"
check "P4: helm install" install --wait=false --set drey.restore.initialSavepoint=s3://flink/orders/savepoints/savepoint-none
await "P4: drey holds" phase_is Holding
check "P4: and shows the path" grep --quiet 's3://flink/orders/savepoints/savepoint-none$' <(drey resolve --explain 2>&1)
e2e_end
