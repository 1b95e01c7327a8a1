#!/usr/bin/env bash
#
# T22: the first upgrade to hand-overs. The running drey is one of before there were any: the new Pod is ready at once, and waits for
# the end of the old one, which stops the job with a savepoint as it always did.
#
# That drey is built from the history of the repository, once, into ~/.cache/drey.

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"
# shellcheck source=tests/handover/surge_lib.sh
. "$TOP/tests/handover/surge_lib.sh"

BEFORE_HAND_OVERS=f446e341 # 0.1.0, and the last one whose journal has no owner

skip() { # WHY
	[ -z "${DREY_TEST_REQUIRE:-}" ] || die 1 "$1, and DREY_TEST_REQUIRE is set"
	echo "1..0 # SKIP $1"
	exit 0
}

# Prints the directory of its programs.
old_build() {
	local dir=${XDG_CACHE_HOME:-$HOME/.cache}/drey/before-$BEFORE_HAND_OVERS scratch
	if [ ! -x "$dir/drey" ]; then
		scratch=$(mktemp -d) &&
			git -C "$TOP" archive "$BEFORE_HAND_OVERS" | tar -x -C "$scratch" &&
			make -C "$scratch" CC="${CC:-cc}" build/drey build/drey-init >&2 &&
			mkdir -p "$dir" && cp "$scratch/build/drey-init" "$scratch/build/drey" "$dir/"
		rm -rf "$scratch"
	fi
	[ -x "$dir/drey" ] && echo "$dir"
}

# The drey of then, which a rollback starts, holds with the journal that g2 has written, and what it does not know stays in it.
old_keeps() {
	local back=$RUN/back
	mkdir -p "$back"/{state,ck,sp}
	journal '.later = {a: 1} | .launches[-1].later = [1]' >"$back/written.json"
	cp "$back/written.json" "$back/state/journal.json"
	cat >"$back/drey.yaml" <<-YAML
		application: $(journal .application)
		stateDirectory: $back/state
		flink: {version: "$FLINK_VERSION", command: [sleep, "60"], checkpointDirectory: "file://$back/ck", savepointDirectory: "file://$back/sp"}
		http: {port: 0}
	YAML
	timeout 20 "$OLD_BUILD/drey-init" --agent -- "$OLD_BUILD/drey" run --config "$back/drey.yaml" >"$back/log" 2>&1
	jq --exit-status --slurpfile before "$back/written.json" 'def kept: {owner, handover, later, launches: [.launches[] | {jobId, held, restorePoint, later}]};
		.sequence > $before[0].sequence and kept == ($before[0] | kept)' "$back/state/journal.json"
}

t22() {
	local old
	template g1
	template g2
	sed -i '/^handover\./d' "$RUN/templates/g1/drey"
	rm "$RUN/templates/g1/join"
	template_keys g1 onSigterm=upgrade
	echo "$OLD_BUILD" >"$RUN/templates/g1/build"
	begin_with g1
	old=$OWNER
	is "$(journal .owner)" null "its journal has no owner"
	check "g2 is deployed" deploy g2
	await "there is a Pod of g2" pod_of g2
	CANDIDATE=$POD
	await "it waits for the end of the old one" pod_log "$CANDIDATE" '"role":"heir"'
	await "the old Pod is told to end" told term "$old"
	check "because the new one is ready" told ready "$CANDIDATE"
	await "the old Pod has ended" told gone "$old"
	await "the job of g2 runs" pod_phase "$CANDIDATE" Running
	check "nothing was started before that" test "$(event_ms OPEN g2)" -gt "$(told_ms gone "$old")"
	await "g2 writes" has_written g2 50
	await "the Deployments have nothing left to do" rolled_out
	is "$(journal .owner.pod)" "$CANDIDATE" "the new Pod is the owner"
	check "g2 comes after g1" turns_end_with g1 g2
	check "from a savepoint" pod_is "$CANDIDATE" '.launch.restorePoint.path | contains("/savepoint-")'
	is "$(happened offered)" 0 "there was no hand-over"
	check "the drey of then keeps what it does not know" old_keeps
	diag "g1 -> g2: $(verdict '.handovers[-1].gapMs') ms"
}

git -C "$TOP" cat-file -e "$BEFORE_HAND_OVERS^{commit}" 2>/dev/null || skip "the history of the repository is not here"
OLD_BUILD=$(old_build) || die 1 "$BEFORE_HAND_OVERS cannot be built"
surge_begin surge-old
surge_cases "${@:-t22}"
