#!/usr/bin/env bash
#
# bench/fleet/run.sh - the load of many applications on one API server: 500 agents, each with its journal, its control
# ConfigMap and its custom resource, and a job that runs and completes a checkpoint a minute.
#
#   bench/fleet/run.sh [quick] [--agents N] [--minutes N]     N agents (500; quick: 10), measured for N minutes (3; quick: a half)
#                      [--tasks DURATION]                     poll.tasks of the agents (5s); 0: without checks of the tasks
#                      [--static]                             every second agent is the static one (make static), and has
#                                                             figures of its own for its memory
#
# It has its own real control plane (tests/cluster). The agents are real processes, each under its drey-init;
# bench/fleet/flink.c takes the place of Flink and serves its REST API. Prints Markdown. About 12 MB of memory for each
# agent.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

# shellcheck source=bench/lib.sh
. bench/lib.sh

agents=500 seconds=180 settle_s=60 idle_s=30 tasks=5s static=''
while [ $# -gt 0 ]; do
	case $1 in
	full) ;;
	quick) agents=10 seconds=30 settle_s=5 idle_s=5 ;;
	--agents) agents=${2-} && shift ;;
	--tasks) tasks=${2-} && shift ;;
	--static) static=yes ;;
	--minutes)
		[[ ${2-} =~ ^[1-9][0-9]*$ ]] || bench_usage 6,9
		seconds=$(($2 * 60))
		shift
		;;
	*) bench_usage 6 ;;
	esac
	shift
done
[[ $agents =~ ^[1-9][0-9]*$ ]] || bench_usage 6,9
make -j2 all >&2 || exit 1
if [ -n "$static" ]; then
	make static >&2 || exit 1
	static=$PWD/build/static/$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')
fi
bench_program build/bench/fleet/flink bench/fleet/flink.c
# shellcheck source=tests/e2e/tap.sh
. tests/e2e/tap.sh
# shellcheck source=tests/api/lib.sh
. tests/api/lib.sh
APPLICATION=fleet
api_begin bench-fleet own >&2

cp build/bench/fleet/flink "$RUN/flink"

# ---- the applications ----------------------------------------------------------------------------------

seq --format 'app%03g' "$agents" >"$RUN/names"
while read -r name; do
	printf '%s/%s//%d' "$NAMESPACE" "$name" 0 | sha256sum | cut -c1-32
done <"$RUN/names" >"$RUN/jobs"

# All share one account: what counts is how often it asks.
kubectl apply --server-side --filename - >/dev/null <<-END || exit 1
	apiVersion: rbac.authorization.k8s.io/v1
	kind: Role
	metadata: {name: all-of-them}
	rules:
	- {apiGroups: [""], resources: [configmaps], verbs: [create, get, list, watch, update, patch, delete]}
	- {apiGroups: [drey.dev], resources: [flinkapplications, flinkapplications/status], verbs: [get, list, watch, patch]}
	- {apiGroups: [events.k8s.io], resources: [events], verbs: [create, patch]}
	- {apiGroups: [apps], resources: [deployments, deployments/status], verbs: [get, patch]}
	---
	apiVersion: rbac.authorization.k8s.io/v1
	kind: RoleBinding
	metadata: {name: all-of-them}
	roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: all-of-them}
	subjects: [{kind: ServiceAccount, name: $APPLICATION, namespace: $NAMESPACE}]
END
jq --raw-input --compact-output '
	{apiVersion: "drey.dev/v1", kind: "FlinkApplication", metadata: {name: .}, spec: {state: "running"}},
	{apiVersion: "v1", kind: "ConfigMap", metadata: {name: "\(.)-drey-control"}, data: {state: "running"}}' \
	"$RUN/names" >"$RUN/objects.json"
kubectl create --filename "$RUN/objects.json" >/dev/null || exit 1

start_agent() { # NAME JOB_ID DIR: of drey
	local port
	take_port port
	mkdir -p "$RUN/a/$1"
	cat >"$RUN/a/$1/drey.yaml" <<-END
		application: $1
		stateDirectory: $RUN/a/$1/state
		flink:
		  version: 2.3.0
		  command: [$RUN/flink, "$port", "$2"]
		  jobClass: example.Job
		  restPort: $port
		  checkpointDirectory: file://$RUN/a/$1/ck
		  savepointDirectory: file://$RUN/a/$1/sp
		http:
		  port: 0
		poll:
		  tasks: $tasks
		kubernetes:
		  enabled: true
		  kubeconfig: $POD_KUBECONFIG
		  namespace: $NAMESPACE
	END
	mkdir -p "$RUN/a/$1/ck" "$RUN/a/$1/sp"
	env "E2E_RUN=$RUN" "POD_NAME=$1-jobmanager-0" "POD_UID=uid-of-$1" "POD_NAMESPACE=$NAMESPACE" \
		"$3/drey-init" --agent -- "$3/drey" run --config "$RUN/a/$1/drey.yaml" >"$RUN/a/$1/log" 2>&1 </dev/null &
}

# ---- measuring -----------------------------------------------------------------------------------------

metrics() { # FILE
	kubectl get --raw /metrics | grep -E '^(apiserver_request_total|apiserver_longrunning_requests|process_cpu_seconds_total|process_resident_memory_bytes)' >"$1"
}

# Lines "COUNT VERB RESOURCE" of all requests between two files.
asked() { # BEFORE AFTER
	awk '{ sub(/.*_total\{/, "total{") } /^total/ {
			match($0, /resource="[^"]*"/); r = substr($0, RSTART + 10, RLENGTH - 11)
			match($0, /subresource="[^"]*"/); s = substr($0, RSTART + 13, RLENGTH - 14)
			match($0, /verb="[^"]*"/); v = substr($0, RSTART + 6, RLENGTH - 7)
			n[v " " r (s == "" ? "" : "/" s)] += (FNR == NR ? -1 : 1) * $NF
		}
		END { for (k in n) if (n[k] > 0) print n[k], k }' "$1" "$2" | sort -rn
}

total() {
	awk '{ n += $1 } END { print n + 0 }'
}

value() { # FILE NAME
	awk -v name="$2" '$1 == name { printf "%.3f", $2 }' "$1"
}

agent_pids() {
	local pid
	for pid in $(pgrep -x drey); do
		! grep -qsz "^E2E_RUN=$RUN\$" "/proc/$pid/environ" || echo "$pid"
	done
}

# Lines "COUNT THREAD" of all agents: how often each has slept so far.
wakeups() {
	local pid
	for pid in $(agent_pids); do
		awk '/^Name:/ { name = $2 } /^voluntary_ctxt_switches:/ { print $2, name }' "/proc/$pid/task"/*/status
	done | awk '{ n[$2] += $1 } END { for (k in n) print n[k], k }'
}

running() {
	kubectl get flapp --output json | jq '[.items[] | select(.status.phase == "Running" and .status.launch.proven)] | length'
}

all_run() {
	[ "$(running)" -eq "$agents" ]
}

metrics "$RUN/idle0"
sleep "$idle_s"
metrics "$RUN/idle1"
begin=$(date +%s%3N)
sides=("$BUILD" "${static:-$BUILD}") turn=0
while read -r name job; do
	start_agent "$name" "$job" "${sides[turn++ % 2]}"
done < <(paste "$RUN/names" "$RUN/jobs")
wait_until "all $agents jobs run" 600 all_run >&2 || exit 1
started=$((($(date +%s%3N) - begin) / 1000))
sleep "$settle_s" # what belongs to the start
metrics "$RUN/before"
wakeups >"$RUN/wakeups.before"
since=$(date +%s%3N)
sleep "$seconds"
until=$(date +%s%3N)
metrics "$RUN/after"
wakeups >"$RUN/wakeups.after"
api_requests "(.userAgent | startswith(\"drey/\")) and .unixMs >= $since and .unixMs < $until" >"$RUN/ours"
average() { # LABEL DIR: of smaps_rollup of the agents from there, in MB
	agent_pids | while read -r pid; do
		[ "/proc/$pid/exe" -ef "$2/drey" ] || continue
		sed -n "s/^$1: *//p" "/proc/$pid/smaps_rollup" 2>/dev/null
	done | awk '{ n += $1 } END { printf "%.2f", n / 1024 / NR }'
}

memory() { # WHICH DIR
	echo "| memory of $1: RSS, its share of that (PSS), private and dirty |" \
		"$(average Rss "$2") MB, $(average Pss "$2") MB, $(average Private_Dirty "$2") MB |"
}

threads() { # of the first one
	local pid
	pid=$(agent_pids | head -n 1)
	echo "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l), $(find "/proc/$pid/fd" -mindepth 1 | wc -l)"
}

by_thread() { # rows: the thread that woke up most often first
	awk -v per="$((seconds * agents))" 'FNR == NR { before[$2] = $1; next }
		{ n = $1 - before[$2]; all += n; printf "%.0f | %s | %.2f |\n", -n, $2, n / per * 60 }
		END { printf "1 | all of them | %.2f |\n", all / per * 60 }' "$RUN/wakeups.before" "$RUN/wakeups.after" |
		sort -n | sed 's/^[^|]*//'
}

# ---- 10,000 applications, from what was measured ---------------------------------------------------------

bytes_of() { # KIND NAME, as the API server sends it
	kubectl get --raw "/$1/namespaces/$NAMESPACE/$2" | wc -c
}

# Watches that the agents have open, for each of them.
watches() {
	awk -v n="$agents" '/^apiserver_longrunning_requests/ && /verb="WATCH"/ { all += FNR == NR ? -$NF : $NF } END { printf "%.1f", all / n }' \
		"$RUN/idle1" "$RUN/after"
}

# Rows for 10,000 of these agents. A read of the journal returns its map; a patch sends and returns it; one of the status
# sends and returns the custom resource, which its watch returns as well.
computed() { # JOURNAL_BYTES RESOURCE_BYTES
	jq --raw-output '[.verb, .resource] | join(" ")' "$RUN/ours" | sort | uniq -c |
		awk -v per="$((seconds * agents))" -v map="$1" -v flapp="$2" -v started="$starting" -v agents="$agents" -v watches="$(watches)" \
			-v cpu="$cpu_ms" -v seconds="$seconds" -v idle="$idle_cpu_ms" '
			{ rate = $1 / per * 10000; all += rate; if ($2 != "get" && $2 != "watch" && $2 != "list") writes += rate }
			$3 == "configmaps" && $2 == "get" { out += rate * map }
			$3 == "configmaps" && $2 == "patch" { into += rate * map; out += rate * map }
			$3 == "flinkapplications" && $2 == "patch" { into += rate * flapp; out += 2 * rate * flapp }
			END {
				printf "| requests | %.0f a second, of them %.0f writes |\n", all, writes
				printf "| watches open | %.0f |\n", watches * 10000
				printf "| bodies received and sent by the API server | %.1f and %.1f MB a second |\n", into / 1e6, out / 1e6
				printf "| journals and custom resources stored | %.0f MB |\n", (map + flapp) * 10000 / 1e6
				printf "| requests of one start, and of 10,000 within five minutes | %.1f, %.0f a second |\n", started / agents, started / agents * 10000 / 300
				printf "| CPU of the API server, if it grows with the requests | %.1f cores |\n", (cpu - idle) / agents * 10000 / 1000
			}'
}

cpu_of() { # BEFORE AFTER SECONDS: ms a second
	awk -v a="$(value "$1" process_cpu_seconds_total)" -v b="$(value "$2" process_cpu_seconds_total)" -v s="$3" \
		'BEGIN { printf "%.0f", (b - a) / s * 1000 }'
}

starting=$(api_requests "(.userAgent | startswith(\"drey/\")) and .unixMs >= $begin and .unixMs < $begin + ($started + $settle_s) * 1000" | wc -l)
cpu_ms=$(cpu_of "$RUN/before" "$RUN/after" "$seconds")
idle_cpu_ms=$(cpu_of "$RUN/idle0" "$RUN/idle1" "$idle_s")
idle=$(asked "$RUN/idle0" "$RUN/idle1" | total)
all=$(asked "$RUN/before" "$RUN/after" | total)
ours=$(wc -l <"$RUN/ours")
rate() { # COUNT SECONDS
	awk -v n="$1" -v s="$2" 'BEGIN { printf "%.1f", n / s }'
}
bench_head "Many applications on one API server" "drey $("$BUILD/drey" --version | cut -d' ' -f2)"
cat <<END

| $agents agents, $seconds s, \`poll.tasks: $tasks\` | |
|---|---|
| all jobs run, $agents agents started together | after $started s |
| still running at the end | $(running) |
| requests of the agents | $(rate "$ours" "$seconds") a second, $(rate "$((ours * 60))" "$((seconds * agents))") a minute for each |
| requests that the API server has served, its own control plane included | $(rate "$all" "$seconds") a second |
| the same without agents | $(rate "$idle" "$idle_s") a second |
| CPU of the API server | $cpu_ms ms a second, $idle_cpu_ms without agents |
| memory of the API server | $(awk '$1 == "process_resident_memory_bytes" { printf "%.0f", $2 / 1048576 }' "$RUN/after") MB |
| threads, descriptors of an agent | $(threads) |
$(memory "an agent" "$BUILD"; [ -z "$static" ] || memory "a static one" "$static")

| request of an agent | a minute for each |
|---|---|
$(jq --raw-output '[.verb, .resource, .subresource // empty] | join(" ")' "$RUN/ours" | sort | uniq -c | sort -rn |
	awk -v per="$((seconds * agents))" '{ n = $1; $1 = ""; printf "|%s | %.2f |\n", $0, n / per * 60 }')

| thread of an agent | wakeups a minute |
|---|---|
$(by_thread)

| 10,000 such applications, computed | |
|---|---|
$(computed "$(bytes_of api/v1 configmaps/app001-drey-journal)" "$(bytes_of apis/drey.dev/v1 flinkapplications/app001)")
END
exit 0
