#!/usr/bin/env bash
#
# The desired state as files: a directory that is swapped as the kubelet swaps a mounted ConfigMap. And the HTTP requests
# that a pod gets in the meantime.
#
# runs in: test on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

swaps=0
# A new version of all files, NAME=CONTENT each.
swap() { # FILE...
	local old=..v$swaps file
	swaps=$((swaps + 1))
	mkdir "$RUN/wanted/..v$swaps"
	for file; do
		printf '%s\n' "${file#*=}" >"$RUN/wanted/..v$swaps/${file%%=*}"
		ln -sfn "..data/${file%%=*}" "$RUN/wanted/${file%%=*}"
	done
	ln -s "..v$swaps" "$RUN/wanted/..data_tmp"
	mv -T "$RUN/wanted/..data_tmp" "$RUN/wanted/..data"
	rm -rf "$RUN/wanted/${old:?}"
}

# shellcheck disable=SC2317 # called by their names
answers() { # PATH STATUS
	[ "$(curl --silent --max-time 10 --output "$RUN/body" --write-out '%{http_code}' \
		"http://127.0.0.1:$HTTP_PORT$1")" = "$2" ]
}

# shellcheck disable=SC2317
metric() { # SAMPLE
	answers /metrics 200 && grep -qxF "$1" "$RUN/body"
}

e2e_begin control
take_port HTTP_PORT
mkdir "$RUN/wanted"
swap state=running do-not-restart=true savepoint-nonce=first
DREY_CONF[http.port]=$HTTP_PORT
DREY_CONF[control.directory]=$RUN/wanted
DREY_CONF[control.poll]=0
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)

# ---- do-not-restart, before the first decision
await "do-not-restart is in the directory: drey holds" phase_is Holding
check "it says why" status_is '.reason | contains("do-not-restart")'
is "$(status '.launch == null')" true "nothing was launched"
check "/livez: alive" answers /livez 200
check "/readyz: not ready" answers /readyz 503
swap state=running do-not-restart=false savepoint-nonce=first
await "do-not-restart is lifted: the job runs" phase_is Running
check "/readyz: ready" answers /readyz 200
check "/metrics: Running" metric 'drey_phase{phase="Running"} 1'
check "one start, without state" metric 'drey_restores_total{kind="empty"} 1'

# ---- savepoints
is "$(status .lastSavepoint)" null "the first nonce has asked for nothing"
await "the launch is proven" status_is .launch.proven
swap state=running do-not-restart=false savepoint-nonce=second
await "another nonce: a savepoint" status_is '.lastOperation.nonce == "second" and .lastOperation.ok'
savepoint=$(status .lastSavepoint.path)
check "it is complete" verify "$savepoint"
check "it is counted" metric 'drey_operations_total{kind="savepoint",reason="manual",result="ok"} 1'

# ---- nonsense
swap state=stopped savepoint-nonce=third
await "a value that makes no sense is refused" status_is '.control.error | startswith("state: must be")'
check "the job runs on" phase_is Running
is "$(status .lastOperation.nonce)" second "nothing of that version was taken"
check "it is counted" metric 'drey_control_refusals_total{source="directory"} 1'
swap state=running do-not-restart=false savepoint-nonce=second restrat-nonce=1
await "corrected: it is followed again" status_is '.control.error == null and .control.ignored == "restrat-nonce"'

# ---- suspend here, resume there: the latest change wins
swap state=suspended savepoint-nonce=second
await "state: suspended" phase_is Suspended
suspended=$(status .lastSavepoint.path)
check "/readyz: not ready" answers /readyz 503
check "drey resume" drey resume
check "exactly that savepoint was restored" restore_matches "$suspended"
agent=$(agent_pid)
kill -KILL "$agent"
await "another agent takes over" agent_is_new "$agent"
await "the directory was read again" status_is '.control.readUnixMs != null'
is "$(status '.desired.state')" running "what has not changed undoes nothing"

# ---- suspend, and start from something older
await "the job runs" phase_is Running
swap state=running restore='{kind: empty, token: too-late}'
await "a restore request while the job runs is refused" status_is '.control.error | startswith("restore: the job is running")'
swap state=suspended
await "state: suspended" phase_is Suspended
job=$(status .jobId)
swap state=running restore="{kind: path, path: '$savepoint', token: older}"
await "state: running with a restore request" runs_after "$job"
check "from what was named" restore_matches "$savepoint"

# ---- restart
await "the launch is proven" status_is .launch.proven
job=$(status .jobId)
swap state=running restart-nonce=a
await "the first nonce of a kind that was never there" status_is ".phase == \"Running\" and .jobId != \"$job\""
check "from the savepoint of the stop" restore_matches "$(status .lastSavepoint.path)"

# ---- do-not-restart
await "the launch is proven" status_is .launch.proven
swap state=running do-not-restart=true
await "do-not-restart: true" status_is .desired.doNotRestart
check "the job runs on" phase_is Running
job=$(status .jobId)
check "a command lifts it" drey do-not-restart off
kill -KILL "$(jm_pid)"
await "JobManager killed: the job is started again" runs_after "$job"
end_drey TERM
start_drey
MUST_LIVE=(jm tm)
await "but at every start of drey the directory's do-not-restart counts" phase_is Holding
is "$(jm_pid)" "" "nothing was launched"
job=$(status .jobId)
swap do-not-restart=false
await "lifted in the directory: the job runs" runs_after "$job"
check "the state was continuous all the time" continuity
e2e_end
