# shellcheck shell=bash disable=SC2034
#
# flip_lib.sh - what the tests of blue/green upgrades with gates as those of FLIP-504 have in common. Sourced after bluegreen_lib.sh.
#
#   flip_begin NAME               the bench, versions g1 and g2 of a job with gates of the first version, and g3 to g7 with the later one
#   write_keys JQ                 a person changes the data of the ConfigMap
#   marked; contents              each content of it since then, in a line
#   colour, other_colour          the side that runs, and the one of the next version
#   sequence FROM TO              the contents of a transition between these sides
#   in_shadow_of T                the upgrade to T, until its job runs in the shadow; sets `side` and `coming`, which the caller has local
#   finishes T FROM TO            the transition to T ends well

BLUEGREEN_JOB=FlipJob
RATE=50  # numbers a second of each of two splits

write_keys() { # JQ, on data: the whole object, without comparison
	kubectl get configmap "$APPLICATION-bluegreen" --output json | jq "del(.metadata.resourceVersion) | .data |= ($1)" | kubectl replace --filename - >/dev/null
}

# Each content since the last `marked`, in a line: side, first, stage, stage of the watermark, and T for a cut.
contents() {
	tail -n "+$((MARK + 1))" "$RUN/keys.log" | uniq
}

marked() {
	MARK=$(wc -l <"$RUN/keys.log")
}

watch_keys() {
	spawn keys bash -c '"$0" --kubeconfig "$1" --namespace "$2" get configmaps --field-selector "metadata.name=$3" --watch --output json |
		jq --unbuffered --raw-output ".data | [.\"active-deployment-type\", .\"is-first-deployment\", .stage, .\"watermark-stage\" // \"-\",
			(if .\"watermark-toggle-value\" then \"T\" else \"-\" end)] | join(\" \")" >>"$4"' \
		"$KUBE_HOME/bin/kubectl" "$ADMIN" "$NAMESPACE" "$APPLICATION-bluegreen" "$RUN/keys.log"
}

flip_begin() { # NAME
	local one
	watched_begin "$1" blueGreen
	: >"$RUN/keys.log"
	watch_keys
	MUST_LIVE+=(keys)
	for one in g1:first g2:first g3:later g4:later g5:later g6:later g7:later; do
		flip_template "${one%:*}" "${one#*:}"
	done
	template_keys g2 blueGreen.promote=manual blueGreen.lead=60s
	for one in g4 g6; do
		template_keys "$one" blueGreen.promote=manual blueGreen.settle=1min
	done
	template_keys g7 blueGreen.promote=manual blueGreen.lead=5min attempts.max=20 attempts.sameFailure=0 "${NO_HURRY[@]}"
}

flip_template() { # T first|later
	template "$1"
	echo "test.flip-gate: $2" >>"$RUN/templates/$1/config"
	template_keys "$1" blueGreen.gate=flip "blueGreen.gateName=the gate" blueGreen.sourcesCanBeReadTwice=true \
		"blueGreen.sinkUids=[commit-blue, commit-green]" blueGreen.lead=30s blueGreen.caughtUp=10s blueGreen.settle=2s \
		blueGreen.deadline=4min
}

colour() {
	keys '."active-deployment-type"'
}

other_colour() {
	[ "$(colour)" = BLUE ] && echo GREEN || echo BLUE
}

in_shadow_of() { # T
	side=$(colour) coming=$(other_colour)
	marked
	upgrade_to "$1"
	await "its job runs in the shadow" transition_is shadow
}

# The contents of a transition from one side to the other; what the gates write at the same time as drey may come before it.
sequence() { # FROM TO
	cat <<-END
		$2 false INITIALIZING - -
		$2 false TRANSITIONING - -
		$2 false TRANSITIONING WAITING_FOR_WATERMARK -
		$2 false TRANSITIONING WATERMARK_SET T
		$2 false CLEAR_TO_TEARDOWN WATERMARK_SET T
		$2 false RUNNING WATERMARK_SET T
		$2 true RUNNING - -
	END
}

finishes() { # T FROM TO
	local cut before=$CURRENT
	await "it is done, and the new Pod is the owner" journal_is ".owner.pod == \"$CANDIDATE\" and .handover.transition.state == \"done\""
	cut=$(journal .handover.transition.toggleUnixMs)
	at_rest "$3"
	await "the old Pod has ended" told gone "$OWNER"
	await "it goes on" has_committed "$1" 300
	check "nothing was lost or doubled" exactly
	check "the two have divided the records at the cut of the gates" divided_by_flip "$cut" "$before" "$1"
	CURRENT=$1 OWNER=$CANDIDATE
}
