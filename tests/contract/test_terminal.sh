#!/usr/bin/env bash
#
# The command line on a terminal: real terminals of tmux, and an agent that answers as a file says (fake_agent.py).

# shellcheck disable=SC2016 # the backquotes are those of messages

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin tmux python3 jq
take_port rest_port
mkdir "$dir/state"
drey_yaml </dev/null
document=tests/golden/status/running.json

# What the agent says: the golden document, changed by a filter of jq.
says() { # [FILTER]
	jq "${1:-.}" "$document" >"$dir/state/new.json" && mv "$dir/state/new.json" "$dir/state/status.json"
}

says
python3 tests/contract/fake_agent.py "$dir/state" &
pids+=($!)
wait_for test -e "$dir/state/up"

# ---- terminals

number=0
tm() { tmux -S "$dir/tmux.$number" "$@"; }
at_exit() { tm kill-server 2>/dev/null; }

# Begin a terminal that runs a command and then says its exit status; $screen has what it shows.
terminal() { # COLUMNS ROWS COMMAND
	tm kill-server 2>/dev/null
	number=$((number + 1)) # a server that is ending would take the next one with it
	tm -f /dev/null new-session -d -x "$1" -y "$2" \
		"env ${terminal_env:-} PATH='$BUILD:$PATH' DREY_CONFIG='$dir/drey.yaml' bash --norc -c 'trap : INT; $3; echo \"[exit \$?]\"; sleep 600'"
}

press() { tm send-keys "$@"; }
screen() { tm capture-pane -p "$@" >"$dir/screen"; }
shows() { # TEXT: the terminal does, soon
	screen -e -J && sed 's/\x1b\[[0-9;]*m//g' "$dir/screen" | grep -qF -- "$1"
}
show=(screen out err)
WAIT_S=15

# ---- status

terminal 80 40 'drey status'
ok 'the status is on the screen' wait_for shows '[exit 0]'
grep -q $'\033\[32mRunning' "$dir/screen"
result $? 'the phase has its colour'
screen
! grep -qE '^.{81}' "$dir/screen" && grep -q '^  desired        running' "$dir/screen"
result $? 'lines are broken to its width'
# a job writes the title, as OSC 0, and the same with C1; the terminal would take both
title() { tm display-message -p '#{pane_title}'; }
says '.phase = "\u001b]0;pwned\u0007Running" | .reason = "\u009d0;pwned\u009c"'
terminal 80 40 'drey status; drey status --config "$(printf "/no\\033]0;pwned\\007")"'
wait_for shows '[exit 2]' && shows '\x1b]0;pwned\x07Running' && shows '/no\x1b]0;pwned\x07'
result $? 'what a job or a word says is shown, and does nothing'
[ "$(title)" != pwned ]
result $? 'the title stays'
terminal 80 40 'printf "\033]0;pwned\007"'
wait_for shows '[exit 0]'
[ "$(title)" = pwned ]
result $? 'although this terminal takes one'
says
terminal_env=NO_COLOR=1 terminal 80 40 'drey status'
wait_for shows '[exit 0]'
screen -e
! grep -q $'\033' "$dir/screen"
result $? 'NO_COLOR: no colour'
terminal_env=TERM=dumb terminal 80 40 'drey status'
wait_for shows '[exit 0]'
screen -e
! grep -q $'\033' "$dir/screen"
result $? 'TERM=dumb: no colour'
terminal 20 60 'drey status'
ok '20 columns: nothing breaks' wait_for shows '[exit 0]'
status 0 "$DREY" status -c "$dir/drey.yaml" && ! grep -q $'\033' "$dir/out" && [ "$(wc -L <"$dir/out")" -gt 100 ]
result $? 'no terminal: no colour, and whole lines'

# ---- snapshots

job=3f9a107c2e5d1b8a44f0a1b2c3d4e5f6
mkdir -p "$dir/ck/$job/chk-5" "$dir/sp"
cp tests/fixtures/metadata/1.20.5-hashmap-chk "$dir/ck/$job/chk-5/_metadata"
printf 'application: orders\nstateDirectory: %s\nflink: {command: [java], checkpointDirectory: "file://%s", savepointDirectory: "file://%s"}\n' \
	"$dir/none" "$dir/ck" "$dir/sp" >"$dir/bare.yaml"
terminal 80 40 "drey snapshots -c $dir/bare.yaml"
wait_for shows '[exit 0]' && shows "file:$dir/ck/$job/chk-5" && shows '    checkpoint (found), id 5, job 3f9a107c, '
result $? 'where the columns do not fit, a path has a line of its own'
! grep -q KIND "$dir/screen"
result $? 'without heads'
terminal 250 40 "drey snapshots -c $dir/bare.yaml"
wait_for shows '[exit 0]' && shows 'KIND        ORIGIN'
result $? 'where they fit, they are columns'

# ---- status --watch

says
terminal 80 40 'drey status --watch'
ok '--watch shows the status' wait_for shows 'orders: Running since'
says '.phase = "Holding" | .cause = "NewestStateMissing" | .reason = "it is gone"'
ok 'and redraws it when it changes' wait_for shows 'orders: Holding: it is gone'
screen
[ "$(grep -c '^orders: ' "$dir/screen")" -eq 1 ] && grep -q 'drey explain NewestStateMissing' "$dir/screen"
result $? 'in place'
mv "$dir/state/status.json" "$dir/state/away.json"
ok 'it stays when drey gives no answer' wait_for shows 'drey closed the connection'
mv "$dir/state/away.json" "$dir/state/status.json"
tm resize-window -x 50 -y 10
sleep 1.5
screen
[ "$(grep -c '^orders: ' "$dir/screen")" -eq 1 ] && ! grep -qE '^.{51}' "$dir/screen"
result $? 'a smaller window gets as much as fits'
press C-c
ok 'Ctrl-C ends it' wait_for shows '[exit 130]'

says
terminal_env=TERM=dumb terminal 80 40 'drey status --watch'
wait_for shows 'Z  Running: '
says '.phase = "Holding" | .reason = "it is gone"'
ok 'a dumb terminal gets a line for each change' wait_for shows 'Z  Holding: it is gone'
press C-c
says
timeout 2.5 "$DREY" status --watch -c "$dir/drey.yaml" -o yaml >"$dir/out" 2>"$dir/err"
[ "$(grep -c '^phase: Running$' "$dir/out")" -eq 1 ]
result $? '--watch -o yaml: a document for each change'
"$DREY" status --watch -c "$dir/drey.yaml" 2>"$dir/err" | head -n 1 >"$dir/out" &
reader=$!
wait_for test -s "$dir/out"
says '.phase = "Holding" | .reason = "it is gone"'
wait "$reader"
grep -q 'Z  Running: ' "$dir/out"
result $? 'it ends when nobody reads'

# ---- questions

says
rm -f "$dir/state/requests"
terminal 80 20 'drey cancel --no-wait'
ok 'cancel asks' wait_for shows 'Cancel orders (Running) without a savepoint: the work since checkpoint 1807'
press n Enter
ok 'no: nothing was changed' wait_for shows '[exit 1]'
[ ! -e "$dir/state/requests" ]
result $? 'and nothing was requested'
terminal 80 20 'drey cancel --no-wait'
wait_for shows '[y/N]'
press C-d
ok 'the end of the input means no' wait_for shows '[exit 1]'
terminal 80 20 'drey cancel --no-wait'
wait_for shows '[y/N]'
press y Enter
ok 'yes' wait_for shows '[exit 0]'
[ "$(jq -r .command "$dir/state/requests")" = cancel ]
result $? 'and it is requested'
rm -f "$dir/state/requests"
terminal 80 20 'drey cancel --no-wait --yes'
ok '--yes: no question' wait_for shows '[exit 0]'
says '.phase = "Suspended"'
terminal 80 20 'drey resume --empty --no-wait'
ok 'resume --empty asks' wait_for shows 'Start orders without any state, and leave what it has processed (s3://'
press Enter
ok 'the default is no' wait_for shows '[exit 1]'
rm -f "$dir/state/requests"
status 0 "$DREY" resume --empty --no-wait -c "$dir/drey.yaml" </dev/null && [ -s "$dir/state/requests" ]
result $? 'a script is not asked'

# ---- progress and Ctrl-C: a Flink that takes a savepoint, 8 of 12 subtasks of it

mkdir -p "$dir/flink/jobs/3f9a107c2e5d1b8a44f0a1b2c3d4e5f6"
jq '.response | .history = [.history[0] | .status = "IN_PROGRESS" | .num_subtasks = 12 | .num_acknowledged_subtasks = 8 | .state_size = 1230000000] | .counts.in_progress = 1' \
	tests/fixtures/rest/2.3/checkpoints-after-savepoints.json >"$dir/flink/jobs/3f9a107c2e5d1b8a44f0a1b2c3d4e5f6/checkpoints"
python3 -c '
import functools, http.server, sys
class Json(http.server.SimpleHTTPRequestHandler):
    def guess_type(self, path): return "application/json"
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), functools.partial(Json, directory=sys.argv[2])).serve_forever()' \
	"$rest_port" "$dir/flink" 2>/dev/null &
pids+=($!)
says
jq '.phase = "Stopping" | .desired.state = "suspended" | .operation = {kind: "stop", reason: "suspend", startedUnixMs: "AGO:1000"}' "$document" >"$dir/state/after.json"
terminal 120 20 'drey suspend'
ok 'the line has the time, the subtasks and the bytes' wait_for shows '8 of 12 subtasks, 1.2 GB, waiting for phase Suspended'
ok 'and is rewritten' wait_for shows 'suspend: 2 s'
screen
[ "$(grep -c 'suspend: ' "$dir/screen")" -eq 1 ]
result $? 'in place'
press C-c
ok 'Ctrl-C says what goes on' wait_for shows 'drey suspend: the stop continues; `drey resume` withdraws it; `drey status --watch` shows it'
ok 'and ends the command as Ctrl-C does' wait_for shows '[exit 130]'
screen
! grep -q 'subtasks' "$dir/screen"
result $? 'no half line is left'
says
terminal_env=TERM=dumb terminal 120 20 'drey suspend'
ok 'a dumb terminal gets lines' wait_for shows 'drey suspend: waiting for phase Suspended: Stopping: stop (suspend) in progress'
press C-c
ok 'and the same word' wait_for shows 'the stop continues'
says
timeout -s INT 4 "$DREY" suspend -c "$dir/drey.yaml" >"$dir/out" 2>"$dir/err"
[ $? -eq 124 ] && grep -q 'the stop continues' "$dir/err" && ! grep -q $'\033' "$dir/err"
result $? 'without a terminal: no escape'

contract_end
