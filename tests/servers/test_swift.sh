#!/usr/bin/env bash
#
# OpenStack Swift by its own API, signed in by tempauth; large objects in segments.

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/servers/snapshots.sh
. "$(dirname "${BASH_SOURCE[0]}")/snapshots.sh"
# shellcheck source=tests/servers/gc.sh
. "$(dirname "${BASH_SOURCE[0]}")/gc.sh"

servers_begin swift openstack
server_up swift "$RUN/swift"
export HOME=$RUN ST_AUTH=$SWIFT_AUTH_URL ST_USER=$SWIFT_USER ST_KEY=$SWIFT_KEY
export CHECK_DIRS=12 # Swift takes its time for each object
snapshots_make "$RUN/tree"
check "the snapshots are put there" swift_unpack "$RUN/tree" flink
rm -r "$RUN/tree/check"
check "and once more by swiftclient, in segments" swift_upload "$RUN/tree" large --use-slo --segment-size 600

store_check swift://flink/check
snapshots_check swift://flink
says 0 "complete" "a large object has the size of all its segments" verify "swift://large/sp/$GOOD"
says 1 "2c80035a-a571-4e6c-84c7-06e497c888af" "and so one is missing a byte" verify "swift://large/short/$SHORT"
is "$("$BUILD/drey" inspect --json "swift://large/ck/$JOB/chk-7/_metadata" 2>&1)" \
	"$("$BUILD/drey" inspect --json "$FIXTURES/2.3.0-hashmap-chk")" "its content is that of all its segments"
says 0 "complete" "the service that Flink's URIs name is of no interest" verify "swift://flink.service/sp/$GOOD"

gc_make "$RUN/gc"
check "what launches have left is put there" swift_unpack "$RUN/gc" gc
gc_check swift://gc

ST_KEY=not-$SWIFT_KEY says 4 "401" "a wrong key: unreadable, and why" verify "swift://flink/sp/$GOOD"
ST_USER=test:nobody says 4 "401" "an unknown user: unreadable, and why" verify "swift://flink/sp/$GOOD"
ST_AUTH=http://127.0.0.1:1/auth/v1.0 says 4 "http://127.0.0.1:1/auth/v1.0 (ST_AUTH in the environment): " \
	"a wrong address: unreadable, and which variable has it" verify "swift://flink/sp/$GOOD"
ST_USER=$SWIFT_GUEST ST_KEY=$SWIFT_GUEST_KEY says 4 "(from the sign-in, ST_AUTH in the environment): GET swift://flink/sp/$GOOD" \
	"a user without rights: which server it was" verify "swift://flink/sp/$GOOD"
ST_USER=$SWIFT_GUEST ST_KEY=$SWIFT_GUEST_KEY says 4 "403" "a user without rights: unreadable, and why" \
	verify "swift://flink/sp/$GOOD"
ST_KEY=not-$SWIFT_KEY says 4 "HOLD" "a wrong key is not an empty store: resolve holds" \
	resolve --explain --savepoints swift://flink/none
says 4 "nix" "a container that is not there is an error, not an empty one" resolve --explain --savepoints swift://nix/sp
token=$(curl --silent --dump-header - "$SWIFT_AUTH_URL" --header "X-Auth-User: $ST_USER" --header "X-Auth-Key: $ST_KEY" |
	tr -d '\r' | sed -n 's/^X-Auth-Token: //ip')
server_down swift
says 4 "HOLD" "a server that is down: resolve holds" resolve --explain --savepoints swift://flink/none
server_up swift "$RUN/swift"
says 0 "complete" "back again, all is as it was" verify "swift://flink/sp/$GOOD"
no_secret "$SWIFT_KEY" "$SWIFT_GUEST_KEY" "$token" AUTH_ftk
e2e_end
