#!/usr/bin/env bash
#
# What the CronJob of the chart runs, with its account and nothing else: drey savepoint --remote. A real Flink takes the
# savepoints; requested, done, failed, suspended, scaled to 0, without success. That Flink has its own high availability,
# and its TaskManager has only the account that the chart gives it.
#
# runs in: ci on 2.3.0

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/ha_lib.sh
. "$TOP/tests/api/ha_lib.sh"
# shellcheck source=tests/chart/job_lib.sh
. "$TOP/tests/chart/job_lib.sh"
e2e_begin chart-savepoint
api_begin chart-savepoint
ha_begin
ACCOUNT=$APPLICATION-savepoint
job_begin cron

# As the CronJob: only the API server can be reached.
remote() { # [OPTION...]
	"$BUILD/drey" savepoint --remote --config "$RUN/cron/drey.yaml" "$@" >"$RUN/cron/out" 2>"$RUN/cron/err"
	STATUS=$?
}

more_savepoints() { # THAN
	[ "$(savepoints)" -gt "$1" ]
}

# As start_tm_pod, with an account of its own.
start_tm_with_account() {
	as_account "$APPLICATION-taskmanager" "$RUN/tm.conf"
	flink_tm_argv "$RUN"
	init_argv
	# shellcheck disable=SC2016 # expanded by that shell
	spawn tm bash -c 'until "$@"; do echo "the TaskManager has ended with status $?"; done' tm \
		"${INIT_ARGV[@]}" "${FLINK_TM_ARGV[@]}" -D "kubernetes.config.file=$RUN/tm.conf"
}

for file in savepoint taskmanager-role; do
	api_template "$file.yaml" >"$RUN/$file.yaml"
	api_apply "$RUN/$file.yaml"
done
kubectl create configmap "$CONTROL_MAP" >/dev/null
as_account "$ACCOUNT" "$RUN/cron/conf"
await "the account may ask" kubectl auth can-i patch "configmaps/$CONTROL_MAP" --as "system:serviceaccount:$NAMESPACE:$ACCOUNT"
DREY_CONF[control.poll]=500ms
DREY_CONF[kubernetes.owner]=deployment/$APPLICATION-jobmanager
write_drey_yaml
sed "s|$POD_KUBECONFIG|$RUN/cron/conf|; s|$RUN/state|$RUN/cron/state|" "$RUN/drey.yaml" >"$RUN/cron/drey.yaml"

remote
says 5 "drey has not run" "before the first start: nobody is there"

start_tm_with_account
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
job=$(status .jobId)
remote
is "$STATUS" 0 "a savepoint is asked for and taken: $(cat "$RUN/cron/err")"
check "what is printed is where it is" test -f "$(sed 's/^file://' "$RUN/cron/out")/_metadata"
check "drey knows it as one that somebody asked for" status_is '.lastSavepoint.origin == "manual" and .lastSavepoint.verified'

# ---- two at the same time
before=$(savepoints)
"$BUILD/drey" savepoint --remote --config "$RUN/cron/drey.yaml" >"$RUN/cron/second" 2>&1 &
second=$!
remote
is "$STATUS" 0 "of two that ask at the same time one gets its savepoint"
wait "$second"
is "$?" 0 "and the other one, too"
check "at least one was taken" more_savepoints "$before"

# ---- a checkpoint
remote_checkpoint() { # [OPTION...]
	"$BUILD/drey" checkpoint --remote --config "$RUN/cron/drey.yaml" "$@" >"$RUN/cron/out" 2>"$RUN/cron/err"
	STATUS=$?
}

requested() { # JQ: of the last request for a checkpoint
	status_is ".checkpointRequests[-1] | $1"
}

remote_checkpoint
is "$STATUS" 0 "a checkpoint is asked for and taken: $(cat "$RUN/cron/err")"
check "its path is printed, as drey has it" requested ".location == \"$(cat "$RUN/cron/out")\" and (.full | not)"
remote_checkpoint --full
is "$STATUS" 0 "and a full one: $(cat "$RUN/cron/err")"
check "which drey has asked for as such" requested ".location == \"$(cat "$RUN/cron/out")\" and .full"

# drey has not read the ConfigMap yet when another request replaces this one, which is for less
kill -STOP "$(agent_pid)"
"$BUILD/drey" checkpoint --remote --full --config "$RUN/cron/drey.yaml" >"$RUN/cron/second" 2>"$RUN/cron/second.err" &
second=$!
await "the request for a full checkpoint is in the ConfigMap" control_has checkpoint-nonce '^full '
control checkpoint-nonce replaced-by-another
kill -CONT "$(agent_pid)"
wait "$second"
is "$?" 0 "it is made again, and answered: $(cat "$RUN/cron/second.err")"
check "by a full one" requested ".location == \"$(cat "$RUN/cron/second")\" and .full"
check "the other one was not lost" status_is '.checkpointRequests | any(.nonce == "replaced-by-another" and .state == "done")'

# ---- one that fails
mv "$RUN/sp" "$RUN/sp.away"
: >"$RUN/sp"
remote
is "$STATUS" 1 "one that fails is a failure: $(cat "$RUN/cron/err")"
is "$(wc -c <"$RUN/cron/out")" 0 "and nothing is printed"
rm "$RUN/sp"
mv "$RUN/sp.away" "$RUN/sp"
await "the job runs on" status_is ".phase == \"Running\" and .jobId == \"$job\""

# ---- nobody answers in time
before=$(savepoints)
kill -STOP "$(agent_pid)"
remote --timeout 3s
says 6 "the request remains in ConfigMap $CONTROL_MAP" "the time is up while drey stands still"
kill -CONT "$(agent_pid)"
await "drey takes it all the same, later" more_savepoints "$before"
await "and is at rest again" status_is '.operation == null'

# ---- suspended
control state suspended
await "suspended by the ConfigMap" phase_is Suspended
remote
says 3 "it is suspended" "suspended: no job runs"
remote --skip-parked
says 0 "nothing to do" "which is a success for a CronJob"
is "$(wc -c <"$RUN/cron/out")" 0 "that prints nothing"
control state running
await "resumed by the ConfigMap" phase_is Running

# ---- scaled to 0: the journal of the last Pod may still say that it runs
kubectl create deployment "$APPLICATION-jobmanager" --image registry.example/orders --replicas 0 >/dev/null
remote --skip-parked
says 0 "its Deployment is scaled to 0" "scaled to 0: nothing to do"
kubectl delete deployment "$APPLICATION-jobmanager" >/dev/null
remote --no-wait
is "$STATUS" 0 "--no-wait only asks"

# ---- without the rights
as_account default "$RUN/cron/conf"
remote --timeout 2s
says 1 "cannot get resource" "an account without the rights is told so"

is "$(asked "$ACCOUNT" | tr '\n' ',')" \
	"get configmaps $CONTROL_MAP,get configmaps $APPLICATION-drey-journal,get deployments $APPLICATION-jobmanager,patch configmaps $CONTROL_MAP," \
	"this is all that the account of the CronJob has asked for, and nothing was refused"
is "$(asked "$APPLICATION-taskmanager" | grep -v "^\(get\|list\|watch\) configmaps $(cluster_map)$")" "" \
	"that of the TaskManager has asked for the map of the cluster only"
check "and has read it" test -n "$(asked "$APPLICATION-taskmanager")"
check "no state was lost all the time" continuity
e2e_end
