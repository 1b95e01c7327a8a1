#!/usr/bin/env bash
#
# Invalid input for `drey run`, as people give it: each time exit status 2, a message that names the problem, its position
# and the remedy, no Flink is started, and nothing is changed. Without Flink: a script replaces it.

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin python3
config=''

# A drey.yaml; a key is left out with -KEY and replaced with KEY=LINE.
config() { # [CHANGE...]
	local change
	drey_yaml <<-YAML
		http:
		  address: 127.0.0.1
		  port: 0
	YAML
	for change; do
		case $change in
		-*) sed -i "/^ *${change#-}:/d" "$dir/drey.yaml" ;;
		*) sed -i "s|^\( *\)${change%%=*}: .*|\1${change#*=}|" "$dir/drey.yaml" ;;
		esac
	done
}

# Every file with its content, but not lock files: those are only ever opened.
picture() {
	find "$dir" -mindepth 1 ! -name out ! -name err ! -name before ! -name after ! -name log ! -name 'lock' ! -name '*.lock' \
		! -name drey.yaml ! -type s \( -type f -printf '%p %m ' -exec sha256sum {} \; -o -printf '%p %m %l\n' \) |
		grep -v "^$dir/state [0-7]* *$" | sort
}

# Runs it under drey-init, as in a container: the status is that of the container.
run() { # [DREY_INIT_OPTION...] picks up $config
	picture >"$dir/before"
	timeout -k 5 "$WAIT_S" "$BUILD/drey-init" --agent -- "$DREY" run --config "${config:-$dir/drey.yaml}" \
		>"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}

# The last run ended with 2, said every TEXT on stderr, started nothing and changed nothing.
refused() { # WHAT TEXT...
	local what=$1 text ok=0
	shift
	[ "$status" -eq 2 ] || { echo "# status $status" && ok=1; }
	for text; do
		grep -qF -- "$text" "$dir/err" || { echo "# not said: $text" && ok=1; }
	done
	[ ! -e "$dir/started" ] || { echo "# Flink was started" && ok=1; }
	picture >"$dir/after"
	diff "$dir/before" "$dir/after" | sed 's/^/# changed: /' || ok=1
	result "$ok" "$what"
}

flink_is "echo \"\$\$ \$*\" >>$dir/started
exec sleep 1000"

# ---- the configuration ------------------------------------------------------------------------------------

config=$dir/nowhere.yaml run
refused 'no configuration file: named, with its system error' "$dir/nowhere.yaml" 'No such file'
config
printf '  restPort 8081\n' >>"$dir/drey.yaml"
run
refused 'YAML that is none: file and line' "$dir/drey.yaml: line 1"
config checkpointDirectory="checkpointDirectroy: file://$dir/ck"
run
refused 'an unknown key: file, line, column, and the nearest one' \
	"$dir/drey.yaml: line 8" checkpointDirectroy 'checkpointDirectory'
config restPort='restPort: seven'
run
refused 'a wrong type: file, line and column' "$dir/drey.yaml: line 7" restPort seven
config
printf 'control:\n  directory: %s\n' "$dir/wanted" >>"$dir/drey.yaml"
run
refused 'a control directory that is not there: a do-not-restart could be in it' control.directory "$dir/wanted" 'No such file'
config -application
run
refused 'a key that is missing' "$dir/drey.yaml" application

# S70: two sides that would share Flink's leader lock and HA data
config
printf 'handover:\n  mode: surge\n  clusterIds: [orders, orders]\n' >>"$dir/drey.yaml"
run
refused 'one cluster id for both sides of a hand-over: the key, and where' "$dir/drey.yaml: line" handover.clusterIds \
	"is 'orders' twice"

# ---- storage ----------------------------------------------------------------------------------------------

# one that is away is no bad input: test_storage_away.sh
config -checkpointDirectory
run
refused 'none configured: both places where it can be' 'flink.checkpointDirectory' 'execution.checkpointing.dir'
config checkpointDirectory='checkpointDirectory: ftp://server/ck'
run
refused 'storage that is not supported' 'ftp'

# ---- Flink ------------------------------------------------------------------------------------------------

config command="command: [$dir/no-flink]"
run
refused 'no program' 'flink.command' "$dir/no-flink" 'install Flink'
config command='command: [no-such-flink-anywhere]'
run
refused 'no program in PATH' 'flink.command' no-such-flink-anywhere PATH
config -version
run
refused 'the version is not found: what to do' 'version' 'flink.version'
config
python3 -c '
import socket, sys, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen()
print("ready", flush=True)
time.sleep(1000)' "$rest_port" >"$dir/listener" 2>&1 &
listener=$!
pids+=("$listener")
wait_for grep -q ready "$dir/listener"
run
refused 'the REST port is taken: number and way out' "port $rest_port" 'flink.restPort'
kill "$listener"
wait "$listener"
rm "$dir/listener"

# ---- the journal and the state directory -------------------------------------------------------------------

mkdir -p "$dir/state"
config
printf '{"schema": 1, "application": "ord' >"$dir/state/journal.json"
run
refused 'a damaged journal: its file; it stays as it is' "$dir/state/journal.json" 'byte 33' 'move it away'
printf '{"schema": 99}\n' >"$dir/state/journal.json"
run
refused 'a journal of a newer drey' "$dir/state/journal.json" newer
rm "$dir/state/journal.json"

start_drey
wait_for grep -qs . "$dir/started"
result $? 'a first drey works'
mv "$dir/started" "$dir/started-by-first"
wait_for grep -q '"startedUnixMs": [0-9]' "$dir/state/journal.json"
run
refused 'a second drey on the same state directory' "$dir/state" 'owned by process' 'stop it'
kill -0 "$drey_pid"
result $? 'the first one lives on'
end_drey
rm -f "$dir/log"

config application='application: invoices'
run
refused "another application's state directory: both names" "$dir/state" orders invoices

config
picture >"$dir/before"
"$DREY" run --config "$dir/drey.yaml" >"$dir/out" 2>"$dir/err" </dev/null
status=$?
refused 'started without drey-init: how it is started' 'drey-init --agent -- drey run'
DREY_INIT_FD=1 "$DREY" run --config "$dir/drey.yaml" >"$dir/out" 2>"$dir/err" </dev/null
status=$?
refused 'a link that is none' DREY_INIT_FD

# ---- other commands -----------------------------------------------------------------------------------------

chk=$dir/ck/0123456789abcdef0123456789abcdef/chk-7
mkdir -p "$chk"
head -c 40 tests/fixtures/metadata/2.3.0-hashmap-chk >"$chk/_metadata"
picture >"$dir/before"
"$DREY" verify "$chk" >"$dir/out" 2>"$dir/err"
status=$?
[ "$status" -eq 1 ] && grep -q "chk-7/_metadata.*byte" "$dir/out" && picture | cmp -s - "$dir/before"
result $? 'drey verify of a damaged _metadata: 1, with the place in the file'
"$DREY" verify "$dir/nothing" >"$dir/out" 2>"$dir/err"
[ $? -eq 1 ] && grep -q "missing.*nothing/_metadata" "$dir/out" && grep -q "^no snapshot: " "$dir/out"
result $? 'drey verify of nothing: 1, with the file that is missing'
rm -rf "$dir/state"
mkdir "$dir/state"
picture >"$dir/before"
"$DREY" resolve --config "$dir/drey.yaml" --explain >"$dir/out" 2>"$dir/err"
[ $? -eq 4 ] && grep -q 'journal may be lost' "$dir/out" && picture | cmp -s - "$dir/before"
result $? 'drey resolve: snapshots that no launch has made, and no journal: held, and nothing changed'
"$DREY" resolve --checkpoints "$dir/ck" --explain >"$dir/out" 2>"$dir/err"
[ $? -eq 4 ] && grep -q 'damaged.*chk-7' "$dir/out" && picture | cmp -s - "$dir/before"
result $? 'drey resolve --explain of the directory names the damage, and changes nothing'

# ---- a checkpoint directory that this user may not read ---------------------------------------------------------

as_user() { "$@"; }
if [ "$(id -u)" -eq 0 ]; then
	as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
fi
if as_user true 2>/dev/null; then
	rm -rf "$dir/state" "$dir/ck"
	mkdir "$dir/state" "$dir/ck"
	cp "$DREY" "$dir/drey"
	[ "$(id -u)" -ne 0 ] || chown -R 65534:65534 "$dir"
	chmod 000 "$dir/ck"
	as_user "$dir/drey" resolve --config "$dir/drey.yaml" --explain >"$dir/out" 2>"$dir/err"
	[ $? -eq 4 ] && grep -q "$dir/ck: Permission denied" "$dir/out"
	result $? 'a checkpoint directory that may not be read: drey would hold, not start empty'
	chmod 755 "$dir/ck"
	as_user "$dir/drey" resolve --config "$dir/drey.yaml" --explain >"$dir/out" 2>"$dir/err"
	result $? 'one that may be read and is empty: it would start'
else
	skip 'a checkpoint directory that may not be read' 'setpriv is missing'
fi

contract_end
