#!/usr/bin/env bash
#
# Damage in the storage, found when the job has to start: drey skips what is damaged and reports it; if nothing is left,
# or if the storage cannot be read, drey holds instead of starting from less, and continues automatically later.
#
# runs in: test on 1.20.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# The JobManager is killed and drey is kept from starting it, so that the storage can be damaged in between. Sets
# KEPT: the complete checkpoints that are kept, newest first.
die_and_wait() {
	JOB=$(status .jobId)
	await "the launch is proven" status_is .launch.proven
	await "three checkpoints are kept" has_completed $(($(status '.launch.restorePoint.checkpointId // 0') + 3)) "$JOB"
	check "drey do-not-restart on" drey do-not-restart on
	kill -KILL "$(jm_pid)"
	await "JobManager killed: drey waits" phase_is Holding
	mapfile -t KEPT < <(find "$RUN/ck/$JOB" -path '*/chk-*/_metadata' -printf '%h\n' | sort -rV)
}

# The value of a metric, of one sample without labels.
metric_of() { # NAME
	curl --silent --max-time 5 "http://127.0.0.1:$http/metrics" | sed -n "s/^$1 //p"
}

e2e_begin storage
take_port http
DREY_CONF[http.port]=$http
DREY_CONF[holding.retryFirst]=300ms
DREY_CONF[holding.retryMax]=500ms
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running

# ---- S10: the two newest checkpoints are damaged
die_and_wait
check "at least three are kept" test "${#KEPT[@]}" -ge 3
truncate -s -7 "${KEPT[0]}/_metadata"
rm "$(find "${KEPT[1]}" -type f ! -name _metadata | head -n 1)"
for path in "${KEPT[@]:0:2}"; do
	verify "$path" >"$RUN/said"
	is $? 1 "drey verify says that ${path##*/} is damaged"
done
check "and names the missing file" grep -q '^ *missing ' "$RUN/said"
drey do-not-restart off >/dev/null
await "the job is started again" runs_after "$JOB"
check "from the newest checkpoint that is whole" restore_matches "${KEPT[2]}"
for path in "${KEPT[@]:0:2}"; do
	check "the log says loudly that ${path##*/} was passed over" \
		grep -qE "\"(warn|error)\".*${path##*/}" "$RUN/log/jm.log"
done

check "the loss is on record" status_is ".stateLoss.lost.path | endswith(\"${KEPT[0]##*/}\")"
check "so it is in the conditions" status_is '.conditions[] | select(.type == "StateLost") | .status == "True"'
await "the job runs, and its cause says so" status_is '.phase == "Running" and .cause == "StateLost"'
check "the metric counts it" test "$(metric_of drey_lost_state_seconds)" != 0.000
check "a person acknowledges it" drey acknowledge
check "and it is gone" status_is '.stateLoss == null and .cause == null'
is "$(metric_of drey_lost_state_seconds)" 0.000 "from the metric, too"
drey acknowledge 2>/dev/null
is $? 1 "there is nothing more to acknowledge"

# ---- the newest is damaged, and the one before it is too old
die_and_wait
launches=$(status .launch.number)
cp "${KEPT[0]}/_metadata" "$RUN/kept"
truncate -s -7 "${KEPT[0]}/_metadata"
for path in "${KEPT[@]:1}"; do
	touch -d '1 hour ago' "$path/_metadata"
done
drey do-not-restart off >/dev/null
await "more than may be lost: drey holds" status_is '.phase == "Holding" and .cause == "NewestStateDamaged"'
diag "$(status .reason)"
is "$(status .launch.number) $(jm_pid)" "$launches " "nothing was launched"
cat "$RUN/kept" >"${KEPT[0]}/_metadata"
await "the storage is repaired: drey starts the job by itself" runs_after "$JOB"
check "from the newest checkpoint" restore_matches "${KEPT[0]}"
check "nothing is lost" status_is '.stateLoss == null'

# ---- all of them are damaged
die_and_wait
launches=$(status .launch.number)
for path in "${KEPT[@]}"; do
	mv "$path/_metadata" "$path/_metadata.away"
	head -c 100 "$path/_metadata.away" >"$path/_metadata"
done
find "$RUN/ck" -path '*/chk-*/_metadata' -size +1 -exec mv {} {}.away \;
drey do-not-restart off >/dev/null
await "all damaged: drey holds" status_is '.phase == "Holding" and (.reason | contains("rule"))'
diag "$(status .reason)"
drey resolve --explain >"$RUN/log/explain.log"
is $? 4 "drey resolve says so too, with status 4"
is "$(status .launch.number) $(jm_pid)" "$launches " "nothing was launched"
for path in "${KEPT[@]}"; do
	mv "$path/_metadata.away" "$path/_metadata"
done
await "the storage is repaired: drey starts the job by itself" runs_after "$JOB"
check "from the newest checkpoint" restore_matches "${KEPT[0]}"

# ---- the storage cannot be read
die_and_wait
mv "$RUN/ck" "$RUN/ck.away"
ln -s ck "$RUN/ck" # a loop: neither readable nor absent, for any user
drey do-not-restart off >/dev/null
await "unreadable: drey holds" status_is '.phase == "Holding" and (.reason | contains("cannot be read"))'
diag "$(status .reason)"
rm "$RUN/ck"
await "gone: drey still holds" status_is ".phase == \"Holding\" and (.reason | contains(\"does not exist\"))"
check "nothing was launched" test -z "$(jm_pid)"
mv "$RUN/ck.away" "$RUN/ck"
await "it is back: drey starts the job by itself" runs_after "$JOB"
check "from the newest checkpoint" restore_matches "${KEPT[0]}"
check "the state was continuous all the time" continuity
e2e_end
