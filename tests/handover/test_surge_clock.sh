#!/usr/bin/env bash
#
# Surge upgrades between JobManager Pods whose clocks are an hour ahead or behind, drey's and Flink's: one that goes well, another Pod of
# the same version, a version that returns the job, a reserve that takes it back, and an owner that is lost with such a clock.

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"
# shellcheck source=tests/handover/surge_lib.sh
. "$TOP/tests/handover/surge_lib.sh"

HOUR_MS=3600000
VERSIONS=0

# Whom a Pod trusts whose clock is behind: certificates that were made before.
early_certificates() {
	local early=(env "LD_PRELOAD=$RUN/wall_clock.so" "WALL_CLOCK=$RUN/early" openssl) key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
	echo -7200000 >"$RUN/early"
	"${early[@]}" req -x509 "${key[@]}" -days 365 -subj /CN=early -keyout "$RUN/early.key" -out "$RUN/early.crt" 2>/dev/null &&
		"${early[@]}" req "${key[@]}" -keyout "$RUN/proxy.key" -subj /CN=proxy 2>/dev/null |
		"${early[@]}" x509 -req -CA "$RUN/early.crt" -CAkey "$RUN/early.key" -set_serial 1 -days 365 -out "$RUN/proxy.crt" \
			-extfile <(echo "subjectAltName=IP:127.0.0.1") 2>/dev/null
}

# One more version, whose JobManagers are off by so much. Sets NEXT.
version_off() { # OFF_MS [KEY=VALUE...]
	VERSIONS=$((VERSIONS + 1))
	NEXT=v$VERSIONS
	template "$NEXT"
	template_keys "$NEXT" handover.runDeadline=1min check.graph=false "${@:2}"
	preload "$NEXT" "$TOP/tests/api/wall_clock.c"
	: >"$RUN/templates/$NEXT/proxied"
	cp "$RUN/early.crt" "$RUN/templates/$NEXT/ca.crt"
	echo "$1" >"$RUN/templates/$NEXT/clock.jobmanager"
}

is_off() { # POD MS: the dates that it writes are
	local now said
	now=$(date +%s%3N)
	said=$(journal '.launches[-1].startedUnixMs')
	diag "$1: its clock is off by about $((said - now)) ms"
	[ $((said - now - $2)) -lt 600000 ] && [ $((said - now - $2)) -gt -600000 ]
}

owned_off() { # OFF_MS [KEY=VALUE...]
	version_off "$@"
	if [ -z "$CURRENT" ]; then
		begin_with "$NEXT"
	else
		upgrade_to "$NEXT"
		await_done "$NEXT"
		begin_with "$NEXT"
	fi
	check "the clock of $OWNER is wrong" is_off "$OWNER" "$1"
}

remember() {
	local state
	for state in offered stopping granted taken returned "done"; do
		BEFORE[$state]=$(happened "$state")
	done
}

# From one that is right to one that is ahead, to one that is behind, to one that is right.
goes_well() {
	local off
	for off in 0 $HOUR_MS -$HOUR_MS 0; do
		owned_off "$off"
	done
	is "$(happened returned)" 0 "nothing was returned"
}

# The same generation, on the same side, with the same lock: Flink itself compares its dates with its clock.
another_pod_off() { # OWNER_MS NEXT_MS
	local old
	owned_off "$1"
	old=$OWNER
	version_off "$2"
	cp "$RUN/templates/$CURRENT"/{generation,arguments,drey} "$RUN/templates/$NEXT/"
	deployed "$NEXT"
	await "the new Pod is the owner" journal_is ".owner.pod == \"$CANDIDATE\""
	await "the job runs there" pod_phase "$CANDIDATE" Running
	await "the Deployments have nothing left to do" rolled_out
	await "the old Pod has ended" told gone "$old"
	OWNER=$CANDIDATE
	count_written "$CURRENT"
	await "it goes on writing, as the version that it is" goes_on_writing "$CURRENT"
}

same_ahead() { another_pod_off 0 $HOUR_MS; }
same_behind() { another_pod_off $HOUR_MS 0; }

# The new version cannot run: the reserve gets the job back, by whatever its clock says.
returned_off() { # OWNER_MS NEXT_MS
	owned_off "$1" handover.tries=1
	remember
	version_off "$2"
	control "throw-in-main.$NEXT"
	upgrade_to "$NEXT"
	await_returned "$CURRENT" "${BEFORE[returned]}"
	await "$NEXT is refused" handover_is refused
	roll_back "$CURRENT"
}

returned_ahead() { returned_off 0 $HOUR_MS; }
returned_behind() { returned_off $HOUR_MS -$HOUR_MS; }

# The candidate says nothing after the grant.
not_taken_off() { # OWNER_MS NEXT_MS
	local from
	owned_off "$1"
	remember
	version_off "$2"
	upgrade_to "$NEXT"
	faults "$CANDIDATE" "refuse PATCH drey-journal"
	await "the job is granted" happened_again granted "${BEFORE[granted]}"
	from=$(date +%s%3N)
	await "and taken back" happened_again returned "${BEFORE[returned]}"
	diag "$(($(date +%s%3N) - from)) ms after the grant"
	check "not before its time" test $(($(date +%s%3N) - from)) -gt 10000
	check "and not much later" test $(($(date +%s%3N) - from)) -lt 40000
	faults "$CANDIDATE"
	await_done "$NEXT"
}

not_taken_ahead() { not_taken_off $HOUR_MS 0; }
not_taken_behind() { not_taken_off 0 $HOUR_MS; }

# Its Flink's lock has dates that are an hour ahead or behind.
lost_off() { # OWNER_MS NEXT_MS
	owned_off "$1"
	version_off "$2"
	upgrade_to "$NEXT"
	await "the candidate is prepared" candidate_has_held
	check "the owner is lost" lose_pod "$OWNER"
	await_moved "$NEXT"
}

lost_ahead() { lost_off $HOUR_MS 0; }
lost_behind() { lost_off -$HOUR_MS 0; }

# The next Pod has the same template, and a right clock: the machine is another one.
lost_alone() {
	local lost
	owned_off $HOUR_MS
	lost=$OWNER
	echo 0 >"$RUN/templates/$CURRENT/clock.jobmanager"
	count_written "$CURRENT"
	check "the owner is lost" lose_pod "$OWNER"
	await "there is another Pod" another_pod_of "$CURRENT" "$lost"
	OWNER=$POD
	await "the job runs there" pod_phase "$OWNER" Running
	await "it goes on writing" goes_on_writing "$CURRENT"
	await "nothing is left to do" rolled_out
}

another_pod_of() { # T BEFORE: sets POD
	pod_of "$1" && [ "$POD" != "$2" ]
}

surge_begin surge-clock
GAP_LIMIT_MS=240000
REPLAY=1
cc -shared -fPIC -O -o "$RUN/wall_clock.so" "$TOP/tests/api/wall_clock.c" -ldl || die 1 "wall_clock.c"
check "certificates of two hours ago" early_certificates
if [ $# -eq 0 ]; then
	set -- goes_well same_ahead same_behind returned_ahead returned_behind not_taken_ahead not_taken_behind lost_ahead lost_behind lost_alone
fi
surge_cases "$@"
