#!/usr/bin/env bash
#
# One state directory in the configurations of two applications: no command for the one application affects the other.
# Without Flink: a script replaces it.

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin jq
show=(out err log)

take_port rest_port
checkpoints=file://$dir/ck
mkdir -p "$dir/ck" "$dir/sp"
flink_is 'exec sleep 100000'
drey_yaml </dev/null
sed 's/^application: .*/application: invoices/' "$dir/drey.yaml" >"$dir/other.yaml"
# shellcheck disable=SC2119 # its arguments are optional
start_drey
wait_for phase_is Launching
before=$("$DREY" status --json --config "$dir/drey.yaml" | jq -c '[.desired, .journal.sequence]')

for words in suspend cancel savepoint restart resume status "do-not-restart on" "resume --empty"; do
	# shellcheck disable=SC2086 # words
	status 2 "$DREY" $words --config "$dir/other.yaml"
	ok "drey $words names the one that runs" grep -q "runs application 'orders'" "$dir/err"
	ok "and the one that was meant" grep -q "for 'invoices'" "$dir/err"
done
after=$("$DREY" status --json --config "$dir/drey.yaml" | jq -c '[.desired, .journal.sequence]')
[ "$after" = "$before" ]
result $? "nothing was asked: $before $after"

# ---- the agent looks itself, whatever the command is
request() { # JSON
	python3 - "$dir/state/drey.sock" "$1" <<-'PY'
		import socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.connect(sys.argv[1])
		s.sendall(sys.argv[2].encode() + b"\n")
		print(s.makefile().readline())
	PY
}
request '{"command":"suspend","application":"invoices"}' >"$dir/out"
ok "a request for another one is refused" \
	grep -qF "this drey runs application 'orders', not 'invoices'" "$dir/out"
request '{"command":"do-not-restart","on":true}' >"$dir/out"
ok "one that does not say for which it is, is taken: commands of before do not" grep -qF '"ok":true' "$dir/out"
status 0 "$DREY" do-not-restart off --config "$dir/drey.yaml"
end_drey
contract_end
