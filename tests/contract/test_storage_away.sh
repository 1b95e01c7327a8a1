#!/usr/bin/env bash
#
# A directory of snapshots that is away when the container starts: drey holds, with the reason, and goes on when it is back.
# Only what the configuration has wrong ends it, with status 2 and the place in the file.

# shellcheck disable=SC2154 # set by lib.sh
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin jq
show=(out err log)

cause_is() { # CAUSE
	[ "$("$DREY" status --json --config "$dir/drey.yaml" 2>/dev/null | jq -r .cause)" = "$1" ]
}

started() {
	[ -e "$dir/started" ]
}

flink_is "touch '$dir/started'; sleep 1000"
drey_yaml <<-YAML
	holding: {retryFirst: 100ms, retryMax: 200ms}
YAML

# ---- away at the start

rm -r "$dir/sp"
start_drey
ok "the savepoint directory is away: drey holds" wait_for cause_is StorageUnreadable
ok "and is Holding" phase_is Holding
ok "and says what to do" grep -q 'sp does not exist: mount its volume, or, if this is the first start, create it' "$dir/log"
ok "drey check says it beforehand" status 4 "$DREY" check --config "$dir/drey.yaml"
ok "with the same words" grep -q 'mount its volume' "$dir/err"
ok "Flink was not started" test ! -e "$dir/started"
mkdir "$dir/sp"
ok "the directory is back: Flink is started" wait_for started
end_drey
ok "drey ended by the signal, and not before" test "$status" -eq 143 -o "$status" -eq 0

# ---- with its volume, or something else in its place

rm -f "$dir/started"
rm -rf "$dir/state" "$dir/ck/.drey"
mv "$dir/ck" "$dir/kept"
sed "s#$dir/ck#$dir/volume/flink/ck#" "$dir/drey.yaml" >"$dir/other" && mv "$dir/other" "$dir/drey.yaml"
start_drey
ok "the whole volume is away: drey holds" wait_for cause_is StorageUnreadable
ok "and says so" grep -q 'does not exist, and neither does its parent .*/volume/flink: mount its volume' "$dir/log"
mkdir -p "$dir/volume/flink"
touch "$dir/volume/flink/ck"
ok "a file in its place: drey holds" wait_for grep -q 'volume/flink/ck: Not a directory' "$dir/log"
rm "$dir/volume/flink/ck"
mv "$dir/kept" "$dir/volume/flink/ck"
ok "the volume is back: Flink is started" wait_for started
end_drey

# ---- wrong, and not away

refused() { # LINE:COLUMN WORDS KEY-LINES: the lines stand below the keys of drey_yaml
	drey_yaml <<<"$3"
	status 2 "$DREY" run --config "$dir/drey.yaml" && grep -q "drey.yaml: line ${1%:*}, column ${1#*:}: .*$2" "$dir/err"
}

ok "a cron line" refused 11:9 "savepoints.cron: '61 \* \* \* \*': minute" $'savepoints:\n  cron: "61 * * * *"'
ok "a time zone" refused 11:30 "savepoints.timeZone: time zone 'Mars/Base' not found" \
	$'savepoints:\n  {cron: "@daily", timeZone: Mars/Base}'
ok "a blackout" refused 13:5 "savepoints.blackouts: 'late' is not a time" \
	$'savepoints:\n  interval: 1h\n  blackouts:\n  - late'
ok "the scheme of a URI" refused 11:21 "restore.initialSavepoint: .*scheme 'http' is not supported" \
	$'restore:\n  initialSavepoint: http://nn/sp/savepoint-1'
ok "a machine in a file: URI" refused 11:21 "names the machine 'nn'" $'restore:\n  initialSavepoint: file://nn/sp'
ok "an interval and a cron line" refused 12:9 "exclude each other" $'savepoints:\n  interval: 1h\n  cron: "@daily"'
contract_end
