# shellcheck shell=bash disable=SC2034
#
# bluegreen_lib.sh - what the tests of blue/green upgrades have in common. Sourced after surge_lib.sh of tests/handover or tests/cluster.
#
#   bluegreen_begin NAME SETTLE   of tests/handover only: the bench, and versions g1, g2 and g3 of a job with a gate
#   from_outside WORD...          of tests/handover only: kubectl drey WORD..., by a person; the control ConfigMap is there
#   bluegreen_cases CASE...       runs these functions, and then what is true of all
#
# Of tests whose cases need other owners; the application of each has `promote: manual`:
#   owned_with SETTLE [KEY=VALUE...]    the application runs as a version with these keys: the first one is installed
#   next_version SETTLE [KEY=VALUE...]  NEXT is one more version
#   in_the_shadow                 NEXT is deployed, and its job runs in the shadow
#   finishes T                    the transition to T ends well: nothing is lost, and only those are there twice that it has counted
#   killed_in WHAT WHOSE STATE...       one upgrade, in which an `agent` or `flink`, of OWNER or CANDIDATE, is killed in each of
#                                 these states, and which ends well; the application runs `owned_for_kills`
#   goes_over SETTLE [KEY=VALUE...]     the application runs as one more version with these keys: a whole transition
#   keys JQ, keys_are JQ          of FLIP-504's ConfigMap; at_rest SIDE: waits until only that side runs, by the keys
#   divided_by_flip CUT OLD NEW   its gates have divided the records of FlipJob between these versions
#   handed_over_suspended T       a person suspends the job, T is deployed, and takes it over without a transition
#   flink_of POD                  its JVM; another_flink POD BEFORE, for await
#   counted_twice                 how many the transition says
#   holds_back                    for await: the owner has held back records at or above the cut
#   gate_report POD               what all gates of its job say: `drey`'s own audit is made of these counts
#   came_to STATE                 how often a transition has been in that state; came_again STATE BEFORE, for await
#
# JOB_ARGS: more arguments of the jobs. SLOTS: of each TaskManager, if not 1. PROXIED: 1 if
# the Pods reach the API server through a proxy. DOUBLED: the records that are there twice in all; a case that doubles more adds them.

JOB_ARGS=()
DOUBLED=0
OWNED_WITH=''
PROXIED=''
SLOTS=''
# Four JVMs on a busy machine.
NO_HURRY=(handover.prepareDeadline=15min check.graphTimeout=10min blueGreen.deadline=10min)
VERSIONS=0

transition_is() { # STATE
	journal_is ".handover.transition.state == \"$1\" and .handover.transition.id == .handover.id"
}

shadow_is() { # STATE
	[ "$(candidate "select(.pod == \"$CANDIDATE\") | .shadow.state" 2>/dev/null)" = "$1" ]
}

gates_are() { # WORD
	[ "$(candidate .shadow.gate.word 2>/dev/null)" = "$1" ]
}

holds_back() {
	[ "$(pod_status "$OWNER" .handover.transition.withheld)" -gt 0 ] 2>/dev/null
}

gate_report() { # POD
	cat "$RUN/pods/$1/state/gate/report.json"
}

came_to() { # STATE
	observed "select(.what == \"transition\" and .state == \"$1\")" | wc -l
}

came_again() { # STATE BEFORE
	[ "$(came_to "$1")" -gt "$2" ]
}

own_journal() { # JQ
	kubectl get configmap "$APPLICATION-drey-candidate-journal" --output json 2>/dev/null | jq --raw-output '.data["journal.json"]' | jq --raw-output "$1"
}

own_journal_is_gone() {
	! kubectl get configmap "$APPLICATION-drey-candidate-journal" >/dev/null 2>&1
}

# What both have committed, and not what they have read.
committed_by() { # VERSION
	find "$OUT/committed" -name 'part-*' -exec cat {} + | awk -v version="$1" '$1 == version' | wc -l
}

has_committed() { # VERSION AT_LEAST
	[ "$(committed_by "$1")" -ge "$2" ]
}

commits_more() { # VERSION
	[ "$(committed_by "$1")" -ge $((WRITTEN + 100)) ]
}

# Of the old version only what is below the cut, of the new one only what is at or above it.
divided_at() { # CUT OLD NEW
	find "$OUT/committed" -name 'part-*' -exec cat {} + | awk -v cut="$1" -v old="$2" -v new="$3" '
		$1 == old && $4 >= cut || $1 == new && $4 < cut { print; wrong++ }
		END { exit wrong > 0 }'
}

# Both jobs write what they read into the log, so only what was committed counts.
exactly() {
	judge -v replay=1 -v splits=2 >"$RUN/verdict.log" 2>&1 || :
	verdict 'del(.turns, .handovers) | tojson'
	[ "$(verdict '"\(.lost) \(.doubled) \(.logLost) \(.changed) \(.malformed)"')" = "0 ${DOUBLED:-0} 0 0 0" ]
}

finishes() { # T
	local cut before=$CURRENT
	await "it is done" transition_is "done"
	cut=$(journal .handover.transition.toggleUnixMs)
	is "$(journal .owner.pod)" "$CANDIDATE" "the new Pod is the owner"
	await "the old Pod has ended" told gone "$OWNER"
	await "it goes on" has_committed "$1" 300
	DOUBLED=$((DOUBLED + $(counted_twice)))
	check "nothing was lost, or doubled and not counted" exactly
	[ "$(counted_twice)" -gt 0 ] || check "the two have divided the records at the cut" divided_at "$cut" "$before" "$1"
	CURRENT=$1 OWNER=$CANDIDATE
}

counted_twice() {
	journal '.handover.transition | (.above // 0) + (.below // 0)'
}

bluegreen_keys() { # T SETTLE [KEY=VALUE...]
	template_keys "$1" blueGreen.sourcesCanBeReadTwice=true "blueGreen.sinkUids=[commit-blue, commit-green]" blueGreen.lead=3s \
		blueGreen.caughtUp=2s "blueGreen.settle=$2" "${@:3}"
}

bluegreen_begin() { # NAME SETTLE
	local one
	watched_begin "$1" blueGreen
	for one in g1 g2 g3; do
		bluegreen_template "$one" "$2"
	done
	kubectl create configmap "$APPLICATION-drey-control" >/dev/null
	ln -s "$(realpath "$BUILD/drey")" "$RUN/kubectl-drey"
}

from_outside() { # WORD...
	"$RUN/kubectl-drey" --kubeconfig "$ADMIN" --namespace "$NAMESPACE" "$@"
}

bluegreen_template() { # T SETTLE [KEY=VALUE...]
	template "$1" "${JOB_ARGS[@]}"
	bluegreen_keys "$1" "$2" blueGreen.deadline=4min "${@:3}"
}

next_version() { # SETTLE [KEY=VALUE...]
	VERSIONS=$((VERSIONS + 1))
	NEXT=v$VERSIONS
	bluegreen_template "$NEXT" "$1" blueGreen.promote=manual "${NO_HURRY[@]}" "${@:2}"
	echo 'pekko.ask.timeout: 60 s' >>"$RUN/templates/$NEXT/config"
	[ -z "$PROXIED" ] || : >"$RUN/templates/$NEXT/proxied"
	[ -z "$SLOTS" ] || echo "$SLOTS" >"$RUN/templates/$NEXT/slots"
}

in_the_shadow() {
	upgrade_to "$NEXT"
	await "its job runs in the shadow" pod_phase "$CANDIDATE" Shadow
	await "the owner knows" transition_is shadow
}

goes_over() { # SETTLE [KEY=VALUE...]
	next_version "$@"
	in_the_shadow
	check "drey promote" drey_of "$OWNER" promote
	finishes "$NEXT"
	OWNED_WITH=$*
}

# With the HA maps of the other side. CURRENT and OWNER are as before. The old Pod is not ready, so it can be ended before the new one
# has the job.
handed_over_suspended() { # T
	check "a person suspends it" drey_of "$OWNER" suspend
	await "it is suspended" pod_phase "$OWNER" Suspended
	deployed "$1"
	await "the new Pod is the owner" journal_is ".owner.pod == \"$CANDIDATE\""
	check "a person resumes it there" drey_of "$CANDIDATE" resume
	await "its job runs" pod_phase "$CANDIDATE" Running
	check "with the HA maps of the other side" test "$(journal '.launches[-1].haClusterId')" != "$(journal '.launches[-2].haClusterId')"
}

owned_with() { # SETTLE [KEY=VALUE...]
	if [ -n "$CURRENT" ] && [ "$OWNED_WITH" = "$*" ]; then
		begin_with "$CURRENT"
		return
	fi
	if [ -n "$CURRENT" ]; then
		goes_over "$@"
	else
		next_version "$@"
		OWNED_WITH=$*
	fi
	begin_with "$NEXT"
}

# ---- gates of FLIP-504 ----

keys() { # JQ
	kubectl get configmap "$APPLICATION-bluegreen" --output json 2>/dev/null | jq --raw-output ".data | $1"
}

keys_are() { # JQ
	[ "$(keys "$1")" = true ]
}

at_rest() { # SIDE
	await "the keys say that one side runs" keys_are '."active-deployment-type" == "'"$1"'" and ."is-first-deployment" == "true" and
		.stage == "RUNNING" and (has("watermark-stage") or has("watermark-toggle-value") | not)'
}

# The time of FlipJob is five times as fast as the clock.
divided_by_flip() { # CUT OLD NEW
	divided_at "$(jq --null-input "$1 / 5")" "${@:2}"
}

# ---- what is killed ----

# The cut comes long after all that is killed in between.
KILL_KEYS=(blueGreen.promote=automatic blueGreen.lead=30s handover.tries=9 attempts.max=20 attempts.sameFailure=0)

owned_for_kills() {
	PROXIED=1
	owned_with 1s "${KILL_KEYS[@]}"
}

flink_of() { # POD
	pod_pids "$1" "^[^ ]*java .*$FLINK_ENTRYPOINT"
}

another_flink() { # POD BEFORE
	local now
	now=$(flink_of "$1") && [ -n "$now" ] && [ "$now" != "$2" ]
}

killed() { # WHAT POD STATE
	local before
	if [ "$1" = agent ]; then
		check "the agent is killed in $3" kill_the_agent "$2"
		diag "the journal: $(journal .handover.transition.state)"
		await "another one starts" another_agent "$2" "$KILLED_AGENT"
	else
		await "there is a Flink in $3" another_flink "$2" ''
		before=$(flink_of "$2")
		check "it is killed" kill_flink "$2"
		diag "the journal: $(journal .handover.transition.state)"
		# whose job has stopped with its savepoint has nothing to start
		[ "$3" = ending ] || await "another one starts" another_flink "$2" "$before"
	fi
}

# The API server answers the writes of journals late, so that each state lasts for some seconds.
killed_in() { # WHAT WHOSE STATE...
	local -n victim=$2
	local -A came=()
	local state late='delay (PUT|PATCH) drey-(candidate-)?journal 0 3'
	for state in "${@:3}"; do
		came[$state]=$(came_to "$state")
	done
	next_version 1s "${KILL_KEYS[@]}"
	faults "$OWNER" "$late"
	upgrade_to "$NEXT"
	faults "$CANDIDATE" "$late"
	for state in "${@:3}"; do
		await "it is $state" came_again "$state" "${came[$state]}"
		killed "$1" "$victim" "$state"
	done
	faults "$OWNER"
	faults "$CANDIDATE"
	await "it is done" transition_is "done"
	diag "counted: $(counted_twice) twice, $(journal .handover.transition.armings) cuts came too late"
	finishes "$NEXT"
}

# The jobs of two versions run at a time, and their outputs were judged by the cases.
bluegreen_cases() { # CASE...
	run_cases "$@"
	check "the observer ends" end_observer
	check "no TaskManager was at the JobManager of another version" nobody_astray
	diag "$(observed 'select(.what == "end")')"
	check_denied
	e2e_end
}
