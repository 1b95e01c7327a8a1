#!/usr/bin/env bash
#
# What drey changes in Flink's HA map when a JobManager has died (it releases the lock and removes jobs of earlier
# launches), with each kind of fault at each step: the API server is killed, loses etcd, denies access, throttles by
# priority, the token expires, another client writes all the time, responses are lost, cut, wrong. Flink is started
# exactly once each time and never next to a job that a map would start as well; the lock of another owner is never
# released. With the Role of the chart, against a real API server; a script replaces Flink, and the test writes what Flink
# would.

# shellcheck disable=SC2016,SC2119,SC2317 # $holder is of jq; lib.sh has functions whose arguments are optional; called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/faults.sh
. "$TOP/tests/api/faults.sh"
# shellcheck source=tests/api/client.sh
. "$TOP/tests/api/client.sh"

api_begin ha-faults own
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"
# shellcheck source=tests/api/ha_pod_lib.sh
. "$TOP/tests/api/ha_pod_lib.sh"
proxy_begin
proxy_faults
OLD=00000000000000000000000000000001 # a job that an earlier launch has left
ha_pod_conf a
sed -i "s|kubeconfig: .*|kubeconfig: $PROXY_KUBECONFIG|" "$RUN/a/drey.yaml"

is_clean() {
	map_is "(.data // {}) | has(\"executionPlan-$OLD\") | not"
}

says() { # TEXT [AT_LEAST]
	[ "$(grep --count --fixed-strings -- "$1" "$RUN/log/a.log")" -ge "${2:-1}" ]
}

# A leader of this launch, which drey has seen renew its lock. Sets HOLDER.
lead_until_known() {
	local known
	known=$(grep --count 'leader lock is known' "$RUN/log/a.log")
	HOLDER=holder-of-launch-$started
	renewed() {
		lead "$HOLDER" && says 'leader lock is known' $((known + 1))
	}
	await "$1: the holder is known" renewed
}

started=0
next_launch() { # WHAT: one more, and no second one
	started=$((started + 1))
	await "$1: Flink is started" launched "$started"
	await "$1: as is on record" journal_is ".launches[-1] | .startedUnixMs != null and .endedUnixMs == null"
	is "$(launches)" "$started" "$1: once"
}

proxy_says() { # REGEX
	grep --quiet --extended-regexp -- "$1" "$RUN/log/proxy.log"
}

pod_start a
next_launch "at first"

# ---- the lock ----------------------------------------------------------------------------------------

lead_until_known "killed"
flink_dies a
next_launch "killed"
check "the lock was given back" says 'released the leader lock of the dead Flink'
check "with its sessions" map_is '$holder == "" and (.data // {} | has("org.apache.flink.k8s.leader.dispatcher") | not)'

for fault in lose refuse 'cut 60' 'status 503' html; do
	lead_until_known "$fault"
	proxy_faults "${fault%% *} PATCH $MAP 1 ${fault#* }"
	flink_dies a
	next_launch "the answer to the release: $fault"
done
proxy_faults
check "what was lost was done, what was not passed on was not" says 'leader lock is not released' 5

lead_until_known "another"
proxy_faults "delay GET $MAP 1 4"
flink_dies a
await "drey has asked who leads" proxy_says "GET .*$MAP delay begins"
lead another
next_launch "another leader was faster"
check "its lock is left alone" map_is '$holder == "another"'
proxy_faults

lead_until_known "storm"
storm() {
	local i=0
	while [ ! -e "$RUN/calm" ]; do
		i=$((i + 1))
		kubectl label configmap "$MAP" --overwrite "storm=$i" >/dev/null 2>&1
	done
}
storm &
storm_pid=$!
flink_dies a
next_launch "in a storm of writes"
lead '' "{\"executionPlan-$OLD\": \"x\"}"
flink_dies a
touch "$RUN/calm"
wait "$storm_pid"
next_launch "after it"
check "the old job was taken out" is_clean

# ---- jobs of earlier launches ------------------------------------------------------------------------

stale() {
	lead '' "{\"executionPlan-$OLD\": \"x\"}"
}
clean_launch() { # WHAT
	next_launch "$1"
	check "$1: the old job was taken out before" is_clean
}

for fault in lose refuse 'cut 60' 'truncate 80' wrong html 'status 503' 'status 429 1'; do
	stale
	proxy_faults "${fault%% *} PATCH $MAP 1 ${fault#* }"
	flink_dies a
	clean_launch "the answer to the cleaning: $fault"
done

stale
jq --null-input --arg text "$(head -c 99000 /dev/zero | tr '\0' x)" \
	'{data: {"of-somebody-else": ($text + $text + $text + $text + $text + $text + $text + $text + $text + $text)}}' >"$RUN/big.json"
check "a map of nearly 1 MiB" kubectl patch configmap "$MAP" --type merge --patch-file "$RUN/big.json"
flink_dies a
clean_launch "a map of 1 MB"
check "and keeps what is not ours" map_is '.data["of-somebody-else"] | length == 990000'
lead ''

for step in "hold GET $MAP" "delay GET $MAP" "hold PATCH $MAP" "delay PATCH $MAP" "delay PATCH $JOURNAL"; do
	stale
	proxy_faults "$step 1 4"
	: >"$RUN/log/proxy.log"
	flink_dies a
	read -r fault method object <<<"$step"
	await "$step: it is there" proxy_says "$method .*$object.* $fault begins"
	api_kill apiserver
	api_start apiserver
	clean_launch "$step: API server killed"
done
proxy_faults

stale
api_kill etcd
flink_dies a
await "etcd is gone: nothing can be recorded" pod_is a '.journal.broken'
is "$(launches)" "$started" "so nothing is started"
api_start etcd
clean_launch "etcd is back"

stale
check "writes to the map are refused by a rule" api_refuse_writes "not today" /configmaps "$MAP"
flink_dies a
await "drey holds, and says why" pod_says a "not today"
is "$(launches)" "$started" "nothing is started beside what Flink would start as well"
check "they are allowed again" api_allow_writes
clean_launch "allowed"

stale
check "429 for all" api_throttle
flink_dies a
await "Flink has ended" says 'Flink ended' $((started))
is "$(launches)" "$started" "nothing is started"
check "no more" api_unthrottle
clean_launch "let in again"

stale
api_give_token "$(api_token 1)"
await "the token has run out" not kubectl_pod get configmap "$MAP"
flink_dies a
await "nothing can be recorded" pod_is a '.journal.broken'
is "$(launches)" "$started" "nothing is started"
api_give_token "$(api_token 3600)"
clean_launch "a new token"

lead somebody "{\"executionPlan-$OLD\": \"x\"}"
flink_dies a
await "a leader that may live: held" pod_says a "somebody owns it"
is "$(launches)" "$started" "nothing is started"
check "nothing is taken out of its map" not is_clean
stale
clean_launch "it has given its lock back"
pod_end a
e2e_end
