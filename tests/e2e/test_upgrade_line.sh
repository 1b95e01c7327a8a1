#!/usr/bin/env bash
#
# From Flink 1.20 to 2.3 and back: by a savepoint only. A checkpoint of the other line holds, and the old Flink cannot read
# what the new one has written.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

if [ "${FLINK_VERSION:-2.3.0}" != 2.3.0 ]; then
	echo "1..0 # SKIP it has both lines in it: once is enough"
	exit 0
fi

tm_ended() {
	[ -z "$(tm_pid)" ]
}

# What runs next, both JVMs, is of this Flink, as in another image.
install_flink() { # VERSION
	local home
	home=$("$TOP/tools/get-flink.sh" "$1") || exit $?
	kill -KILL "$(tm_pid)" 2>/dev/null
	wait_quietly "$WAIT_S" tm_ended
	"$TOP/tests/job/build.sh" "$home" "$RUN/flink/usrlib/job.jar" || exit $?
	ln -sfn "$home/lib" "$RUN/flink/lib"
}

# A container of this generation, with this Flink.
start_generation() { # GENERATION VERSION
	install_flink "$2"
	DREY_CONF[generation]=$1
	start_drey --grace 120 # time for a savepoint on a loaded machine
	start_tm_pod_again
	MUST_LIVE=(jm)
}

start_tm_pod_again() {
	flink_tm_argv "$RUN"
	spawn tm "$BUILD/drey-init" -- "${FLINK_TM_ARGV[@]}"
}

# What `drey check` of the new image says, while the old one runs.
check_new() { # UPGRADE WANT_STATUS
	sed -e 's/^generation: .*/generation: g2/' -e "s/^upgrade: .*/upgrade: $1/" -e 's/^flink:$/flink:\n  version: 2.3.0/' \
		"$RUN/drey.yaml" >"$RUN/new.yaml"
	"$BUILD/drey" check --config "$RUN/new.yaml" >"$RUN/check" 2>&1
	[ $? -eq "$2" ]
}

e2e_begin upgrade-line
DREY_CONF[onSigterm]=upgrade
DREY_CONF[upgrade]=last-state
DREY_CONF[attempts.max]=2
DREY_CONF[attempts.backoffFirst]=500ms
drey_conf
start_generation g1 1.20.0
await "the job runs" phase_is Running
await "the launch is proven" status_is .launch.proven
is "$(status .launch.flinkVersion)" 1.20.0 "with Flink 1.20.0"
check "drey check: with a savepoint at the stop it fits" check_new savepoint 0
check "and says that one will be taken" grep -q 'so one is taken when it is stopped' "$RUN/check"
check "drey check: without one it would hold" check_new last-state 4
check "and says why" grep -q 'Flink 2.3.0 needs a savepoint; start' "$RUN/check"

# ---- without a savepoint
first=$(status .jobId)
end_drey TERM
start_generation g2 2.3.0
await "no savepoint: the new line holds" phase_is Holding
check "by its word" status_is '.cause == "SavepointRequired"'
is "$(jm_pid)" "" "nothing was launched"
end_drey TERM
DREY_CONF[upgrade]=savepoint
start_generation g1 1.20.0
await "back: the job runs" runs_after "$first"
check "from the newest checkpoint of the old line" restore_matches "$(newest_retained "$first")"
await "the launch is proven" status_is .launch.proven

# ---- with one
job=$(status .jobId)
end_drey TERM
is "$(exit_status jm)" 0 "an upgrade: the container ends with status 0"
saved=$(find "$RUN/sp" -maxdepth 1 -name "savepoint-${job:0:6}-*")
check "with a savepoint of Flink 1.20" verify "$saved"
start_generation g2 2.3.0
await "the job runs" runs_after "$job"
is "$(status .launch.flinkVersion)" 2.3.0 "with Flink 2.3.0"
check "from exactly that savepoint" restore_matches "$saved"
await "the launch is proven" status_is .launch.proven

# ---- and back, when the new line has left state
job=$(status .jobId)
end_drey TERM
start_generation g1 1.20.0
await "the old line cannot read what the new one has written: it holds" phase_is Holding
check "by its word" status_is '.cause == "FlinkTooOld"'
check "drey resume --from the savepoint of the upgrade" drey resume --from "$saved"
await "the job runs" runs_after "$job"
check "from exactly that" restore_matches "$saved"
check "no record is lost or counted twice" continuity
e2e_end
