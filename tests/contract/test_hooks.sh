#!/usr/bin/env bash
#
# Hooks, as far as they need no Flink (its place is taken by a script): before a launch, after a failed attempt, at the
# end; and the one that is shipped. Around a running job: tests/e2e/test_hooks.sh.

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin jq
show=(log)

status_is() { # JQ_CONDITION
	local document # the exit status of drey says the phase
	document=$("$DREY" status --json --config "$dir/drey.yaml" 2>/dev/null)
	jq -e "$1" <<<"$document" >/dev/null
}

not_running() { # COMMAND
	! pgrep -f "$1" >/dev/null
}

hook() { # NAME BODY
	printf '#!/bin/sh\n%s\n' "$2" >"$dir/hooks/$1.new"
	chmod +x "$dir/hooks/$1.new"
	mv "$dir/hooks/$1.new" "$dir/hooks/$1"
}

begin() { # BODY_OF_FLINK
	rm -rf "$dir/state" "$dir/ck/.drey" "$dir/hooks" "$dir/told" "$dir/started"
	mkdir -p "$dir/state" "$dir/hooks"
	flink_is "echo started >>$dir/started"$'\n'"$1"
	drey_yaml <<-YAML
		terminationMessage: $dir/words
		http: {port: 0}
		attempts: {max: 2, backoffFirst: 0}
		holding: {retryFirst: 100ms, retryMax: 200ms}
		hooks:
		  directory: $dir/hooks
		  timeout: 60s
		  environment: {TOLD: $dir/told, NEWEST_SAVEPOINT_FILE: $dir/newest}
	YAML
}

# ---- before a launch

begin 'exec sleep 1000'
# shellcheck disable=SC2016 # for the hook
hook pre-launch 'cat >>"$TOLD"; echo "checking"; echo "no license left"; exit 3'
start_drey
wait_for status_is '.phase == "Holding" and .reason == "vetoed by hook: pre-launch: exit status 3: no license left"'
result $? 'a pre-launch hook that fails holds, its last line is the reason'
asked_again() {
	[ "$(wc -l <"$dir/told")" -ge 2 ]
}
wait_for asked_again
result $? 'it is asked again'
[ ! -e "$dir/started" ] && status_is '.attempts.failed == 0 and .launch == null'
result $? 'nothing was launched, and no attempt has failed'
head -n 1 "$dir/told" | jq -e '.hook == "pre-launch" and .decision.kind == "START_EMPTY" and .decision.path == null and
	.status.application == "orders" and .unixMs > 0' >/dev/null
result $? 'it is given the decision and the status'
# shellcheck disable=SC2016
hook pre-launch 'echo asked >>"$TOLD.ok"'
wait_for status_is '.phase == "Launching"'
result $? 'as soon as it lets the start pass, Flink is started'
[ "$(wc -l <"$dir/told.ok")" -eq 1 ]
result $? 'for which it was asked once'
end_drey

begin 'exec sleep 1000'
hook pre-launch 'exit 0'
chmod 644 "$dir/hooks/pre-launch"
start_drey
wait_for status_is '.phase == "Holding" and (.reason | contains("pre-launch: it is not executable"))'
result $? 'one that cannot be executed is a failure, not absence'
rm -rf "$dir/hooks"
wait_for status_is '.reason | contains("No such file or directory")'
result $? 'and so is a hook directory that is not there'
end_drey

begin 'exec sleep 1000'
hook pre-launch "sleep 1000"
start_drey
wait_for grep -q 'drey supervises' "$dir/log"
wait_for pgrep -f "$dir/hooks/pre-launch"
"$DREY" do-not-restart on --config "$dir/drey.yaml" >/dev/null
result $? 'while a hook hangs, drey does what it is asked'
status_is '.phase == "Holding" and .desired.doNotRestart'
result $? 'and holds'
end_drey
wait_for not_running "$dir/hooks/pre-launch"
result $? 'the end of the container does not wait for it'

# the schedule of the savepoints has a time zone of its own, and drey its own settings of malloc()
# shellcheck disable=SC2016
begin 'echo "$TZ ${GLIBC_TUNABLES-none}" >"$0.zone"; exec sleep 1000'
echo 'savepoints: {timeZone: UTC}' >>"$dir/drey.yaml"
# shellcheck disable=SC2016
hook pre-launch 'echo "$TZ" >"$TOLD"'
start_drey env TZ=Asia/Tokyo
wait_for test -s "$dir/flink.zone"
[ "$(cat "$dir/told" "$dir/flink.zone")" = $'Asia/Tokyo\nAsia/Tokyo none' ]
result $? 'hooks and Flink have the time zone that drey was started with, and nothing of its memory settings'
end_drey
rm "$dir/flink.zone"
start_drey env GLIBC_TUNABLES=glibc.malloc.arena_max=7
wait_for test -s "$dir/flink.zone"
[ "$(cat "$dir/flink.zone")" = ' glibc.malloc.arena_max=7' ]
result $? 'settings of the container go through to Flink'
end_drey

# ---- failures and the end

begin 'exit 1'
mkdir "$dir/hooks/on-failure.d"
# shellcheck disable=SC2016
hook on-failure.d/10-tell 'jq -c "[.hook, .status.attempts.failed]" >>"$TOLD"'
hook on-failure.d/20-break 'echo broken; exit 1'
# shellcheck disable=SC2016
hook on-terminal 'jq -c "[.hook, .status.phase]" >>"$TOLD"'
start_drey
wait_for grep -q on-terminal "$dir/told"
diff - "$dir/told" <<-TOLD
	["on-failure",1]
	["on-failure",2]
	["on-terminal","Failed"]
TOLD
result $? 'every failed attempt is told, and at last that it will not run again'
wait_for grep -q '20-break: exit status 1: broken' "$dir/log" && status_is '.phase == "Failed"'
result $? 'a hook that fails then only warns'
end_drey
start_drey
wait_for status_is '.phase == "Failed"'
end_drey
[ "$(grep -c on-terminal "$dir/told")" -eq 1 ]
result $? 'it is not told again when the container comes back'

# ---- the shipped one

echo '{"status": {"lastSavepoint": {"path": "file:/sp/1", "verified": true}}}' |
	NEWEST_SAVEPOINT_FILE=$dir/newest hooks/newest-savepoint >/dev/null
[ "$(cat "$dir/newest")" = file:/sp/1 ]
result $? 'newest-savepoint keeps the path'
echo '{"status": {"lastSavepoint": {"path": "file:/sp/2", "verified": false}}}' |
	NEWEST_SAVEPOINT_FILE=$dir/newest hooks/newest-savepoint >/dev/null
[ "$(cat "$dir/newest")" = file:/sp/1 ]
result $? 'but not that of one that is not complete'

contract_end
