#!/usr/bin/env bash
#
# A Flink and a drey that know only IPv6: the RPC, the REST API, the TaskManager and drey's probes are bound to ::1. A kill, from
# which a warm spare continues, a savepoint, a stop and a resume. Without Flink, and with addresses that are not loopback: tests/contract/test_ipv6.sh.
#
# runs in: all

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/e2e/spare_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/spare_lib.sh"

if ! grep -q '^0*1 .* lo$' /proc/net/if_inet6 2>/dev/null; then
	[ -z "${DREY_TEST_REQUIRE:-}" ] || die 1 "there is no ::1, and DREY_TEST_REQUIRE is set"
	echo "1..0 # SKIP there is no ::1"
	exit 0
fi

answers() { # URL_PATH STATUS
	[ "$(curl --silent --globoff --output /dev/null --write-out '%{http_code}' "http://[::1]:$HTTP_PORT/$1")" = "$2" ]
}

takes_ipv4() { # PORT
	(exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

drey_says() { # COMMAND [ARG...]
	drey "$@" >"$RUN/said" 2>>"$RUN/log/cli.log"
}

e2e_begin ipv6
sed -i 's/: 127\.0\.0\.1$/: "::1"/' "$RUN/conf/config.yaml"
REST_HOST='[::1]'
# names are looked up as IPv6 addresses first, and the loopback address is ::1
export JAVA_TOOL_OPTIONS=-Djava.net.preferIPv6Addresses=true
take_port HTTP_PORT
DREY_CONF[http.port]=$HTTP_PORT
DREY_CONF[flink.restAddress]='"::1"'
spare_conf
drey_conf
DREY_CONF[http.address]='"::1"'
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
check "Flink's REST API does not listen on IPv4" not takes_ipv4 "$REST_PORT"
check "nor does drey" not takes_ipv4 "$HTTP_PORT"
check "its probe answers" answers readyz 200
is "$(rest taskmanagers '.taskmanagers[0].path | test("@\\[::1\\]:")')" true "the TaskManager's RPC is at an IPv6 address"
await "the launch is proven" status_is .launch.proven
await "a spare has rehearsed, whose own cluster is at 127.0.0.1, and is ready" spare_is ready

kill_jm
check "in the spare" from_spare
check "from the newest checkpoint" restore_matches "$(newest_retained "$LAST_JOB")"

check "drey savepoint" drey_says savepoint
check "it is complete" "$BUILD/drey" verify "$(cat "$RUN/said")"
check "drey status --vertices asks Flink" drey_says status --vertices
check "and has an answer" grep -qE '^ *[0-9]+/[0-9]+|RUNNING|%' "$RUN/said"

second=$(status .jobId)
check "drey suspend" drey_says suspend
await "it is parked, with a savepoint" phase_is Suspended
saved=$(status .lastSavepoint.path)
check "it is complete" "$BUILD/drey" verify "$saved"
check "drey resume" drey_says resume
await "the job runs again" runs_after "$second"
check "from that savepoint" restore_matches "$(plain_path "$saved")"

MUST_LIVE=()
end_drey TERM
check "the state was continuous all the time" continuity
e2e_end
