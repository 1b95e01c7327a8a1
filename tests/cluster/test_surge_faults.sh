#!/usr/bin/env bash
#
# Surge upgrades on a real cluster in which something goes wrong on the way: the template is changed back while the owner stops; three
# versions in a zigzag; the candidate gets SIGTERM while the owner dies; the clock of one Pod is an hour ahead; storage gives EIO to one
# Pod only. The last version that is wanted runs in the end, and nothing is lost.
#
# alone: two versions of a Flink run at a time
# runs in: all

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/surge_lib.sh
. "$TOP/tests/cluster/surge_lib.sh"
# shellcheck disable=SC2034 # of surge_lib.sh
REPLAY=1

stops() { # T: the owner is in the stop for it
	local before
	before=$(happened stopping)
	upgrade_to "$1"
	await "its main() is held" candidate_has_held
	control hold-snapshot
	await "the job is being stopped" happened_again stopping "$before"
}

# The Pod of the candidate ends because another template is wanted.
changed_to() { # T
	local gone=$CANDIDATE
	check "helm upgrade to $1" helm_upgrade "$1"
	await "the Pod of the other version ends" told term "$gone"
	check "the owner is not told to end" not told term "$OWNER"
}

runs_on() { # RETURNED DONE, how often before
	await "the job is returned" happened_again returned "$1"
	returned_to "$CURRENT" "s3://flink/orders/savepoints/$(ls -t "$BUCKETS/flink/orders/savepoints" | head -n 1)"
	await "nothing is left to do" settled
	is "$(happened "done")" "$2" "nothing was handed over"
}

# ---- the template ------------------------------------------------------------------------------------

back() {
	local returned finished
	version a1
	version a2
	begin_with a1
	returned=$(happened returned) finished=$(happened "done")
	stops a2
	changed_to a1
	check "the stop goes on" handover_is stopping
	uncontrol hold-snapshot
	runs_on "$returned" "$finished"
	check "a2 has written nothing" not has_written a2
}

zigzag() {
	local returned finished taken
	version z1
	version z2
	version z3
	begin_with z1
	returned=$(happened returned) finished=$(happened "done") taken=$(happened taken)
	stops z2
	changed_to z3
	await "there is a Pod of z3" pod_of z3
	CANDIDATE=$POD
	control hold-main.z3
	uncontrol hold-snapshot
	await "z3 has taken the job" happened_again taken "$taken"
	is "$(journal .owner.pod)" "$CANDIDATE" "it is the owner"
	changed_to z1
	uncontrol hold-main.z3
	runs_on "$returned" "$finished"
	check "z2 has written nothing" not has_written z2
	check "nor has z3" not has_written z3
}

# ---- two Pods ----------------------------------------------------------------------------------------

both_end() {
	kubectl delete pod "$CANDIDATE" --wait=false >/dev/null && lose_pod "$OWNER"
}

term() {
	version t1
	version t2
	version t3
	begin_with t1
	prepared t2
	GONE=$OWNER
	check "the candidate gets SIGTERM, and the owner is lost" both_end
	brake false
	ends_with t2
	stops t3
	GONE=$OWNER
	check "during the stop, too" both_end
	uncontrol hold-snapshot
	ends_with t3
}

# ---- the clock, the disk -----------------------------------------------------------------------------

# Sets PRELOAD: values that start what runs in the JobManager's Pod with this library. State is in a directory: S3 itself refuses a clock
# that is an hour off.
STATE='state: {uri: "file:///events/flink"}'

preloads() { # LIBRARY.c NAME=VALUE...
	local library name cc variables
	library=$(basename "$1" .c)
	read -ra cc <<<"${CC:-cc}"
	mkdir -p "$VOLUME/lib"
	"${cc[@]}" -shared -fPIC -O -Wall -Wextra -o "$VOLUME/lib/$library.so" "$1" -ldl || exit $?
	variables="{name: LD_PRELOAD, value: /events/lib/$library.so}"
	for name in "${@:2}"; do
		variables+=", {name: ${name%%=*}, value: \"${name#*=}\"}"
	done
	PRELOAD="jobManager: {env: [$variables]}"
}

is_off() { # POD MS: the dates that it writes are
	local now said
	now=$(now_ms)
	said=$(journal '.launches[-1].startedUnixMs')
	diag "$1: its clock is off by about $((said - now)) ms"
	[ $((said - now - $2)) -lt 900000 ] && [ $((said - now - $2)) -gt -900000 ]
}

clock() {
	version c1 "$STATE"
	begin_with c1
	preloads "$TOP/tests/api/wall_clock.c" WALL_CLOCK=/events/clock
	echo 3600000 >"$VOLUME/clock"
	version c2 "$STATE" "$PRELOAD"
	upgrade_to c2
	await_done c2
	check "the clock of $OWNER is wrong" is_off "$OWNER" 3600000
	version c3 "$STATE"
	upgrade_to c3
	await_done c3
	check "the clock of $OWNER is right" is_off "$OWNER" 0
}

candidate_says() { # REGEX
	candidate "select(.pod == \"$CANDIDATE\") | .checked | \"\(.decision): \(.why)\"" >"$RUN/checked" 2>/dev/null &&
		grep --quiet --extended-regexp "$1" "$RUN/checked"
}

disk() {
	local returned taken
	version d1 "$STATE"
	begin_with d1
	preloads "$TOP/tests/handover/broken_disk.c" BROKEN_DISK=/events/broken BROKEN_DISK_UNDER=/events/flink
	version d2 "$STATE" "$PRELOAD" 'drey: {handover: {runDeadline: 90s, tries: 9}}'
	: >"$VOLUME/broken"
	returned=$(happened returned) taken=$(happened taken)
	remember_job
	upgrade_to d2
	await "the candidate cannot read storage, and says so" candidate_says 'Input/output error'
	diag "$(cat "$RUN/checked")"
	untouched "one that cannot read"
	rm "$VOLUME/broken"
	await "its main() is held" candidate_has_held
	control hold-snapshot
	await "the job is being stopped" handover_is stopping
	: >"$VOLUME/broken"
	uncontrol hold-snapshot
	await "it takes the job" happened_again taken "$taken"
	await "and says what it cannot read" pod_is "$CANDIDATE" '.cause == "StorageUnreadable"'
	await "the job is returned" happened_again returned "$returned"
	check "drey says why: $(journal .handover.returned)" journal_is '.handover.returned | test("could not be started|cannot be read")'
	rm "$VOLUME/broken"
	GONE=
	ends_with d2
}

surge_begin surge-faults 'upgradeCheck: {enabled: false}'
mkdir --parents "$VOLUME"/flink/{checkpoints,savepoints} # drey makes none: it cannot tell a first start from a lost volume
chmod 777 "$VOLUME"/flink{,/*}
if [ $# -eq 0 ]; then
	set -- back zigzag term clock disk
fi
surge_cases "$@"
