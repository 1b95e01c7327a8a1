#!/usr/bin/env bash
#
# The command line as scripts see it: exit statuses, output streams, invalid input, and that the pages in docs/reference/commands/
# match --help. UPDATE=1 rewrites the pages from --help.

# shellcheck disable=SC2016 # the backquotes are those of Markdown

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin
COMMANDS='run resolve check status history explain savepoint checkpoint suspend resume acknowledge restart rescale cancel do-not-restart snapshots verify inspect handover promote abort join gc migrate completion version'

# Run drey; its status is in $status, its output in $dir/out and $dir/err.
drey() {
	"$DREY" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}

# The last run ended with STATUS, printed nothing on stdout, and said every TEXT on stderr.
refused() { # WHAT STATUS TEXT...
	local what=$1 want=$2 text ok=0
	shift 2
	[ "$status" -eq "$want" ] && [ ! -s "$dir/out" ] || ok=1
	for text; do grep -qF -- "$text" "$dir/err" || ok=1; done
	[ "$ok" -eq 0 ] || echo "# status $status, expected $want and: $*"
	result "$ok" "$what"
}

# The block between ```text and ``` of a page.
block() { # PAGE
	sed -n '/^```text$/,/^```$/p' "$1" | sed '1d;$d'
}

update() { # PAGE
	{
		sed '/^```text$/q' "$1"
		cat "$dir/out"
		sed -n '/^```text$/,$p' "$1" | sed -n '/^```$/,$p'
	} >"$dir/page" && cp "$dir/page" "$1"
}

# ---- help and pages -------------------------------------------------------------------------------------

for command in $COMMANDS; do
	page=docs/reference/commands/$command.md
	drey "$command" --help
	[ "$status" -eq 0 ] && [ ! -s "$dir/err" ] && grep -q '^Exit status:$' "$dir/out"
	result $? "drey $command --help"
	[ -z "${UPDATE:-}" ] || update "$page"
	block "$page" | cmp -s - "$dir/out"
	result $? "$page says what --help says (UPDATE=1 $0 writes it)"
done
drey --help
[ "$status" -eq 0 ] && [ "$(grep -cE '^  [a-z]' "$dir/out")" -eq "$(wc -w <<<"$COMMANDS")" ]
result $? 'drey --help lists every command and no other'

# ---- wrong use ------------------------------------------------------------------------------------------

drey
refused 'no command: usage' 2 'Usage: drey COMMAND'
drey explode
refused 'an unknown command is named' 2 "unknown command 'explode'"
drey status --explode
refused 'an unknown option is named' 2 'unknown option --explode' 'drey status --help'
drey savepoint --timeout soon --config "$dir/drey.yaml"
refused 'a bad duration is refused' 2 '--timeout' 'soon'
drey savepoint --skip-parked --config "$dir/drey.yaml"
refused 'savepoint: --skip-parked goes with --remote' 2 '--remote'
drey savepoint --remote --json --config "$dir/drey.yaml"
refused 'savepoint: --json does not go with --remote' 2 '--remote'
drey checkpoint --skip-parked --config "$dir/drey.yaml"
refused 'checkpoint: --skip-parked goes with --remote' 2 '--remote'
drey checkpoint --remote --json --config "$dir/drey.yaml"
refused 'checkpoint: --json does not go with --remote' 2 '--remote'
drey do-not-restart maybe --config "$dir/drey.yaml"
refused 'do-not-restart wants on or off' 2 "not 'maybe'"
drey resume --empty --from /x --config "$dir/drey.yaml"
refused 'resume: --from and --empty exclude each other' 2 'exclude each other'
# S74: a hand-over has no orders, so the wrong side cannot be ended with one, and no Pod that is gone can be named
drey handover h17-3f2ac1d0 --config "$dir/drey.yaml"
refused 'handover takes no id' 2 "unexpected argument 'h17-3f2ac1d0'"
drey handover --abort --config "$dir/drey.yaml"
refused 'handover has nothing to abort' 2 'unknown option --abort'

# ---- bad configuration ----------------------------------------------------------------------------------

drey status
refused 'no configuration: says how to name one' 2 '/etc/drey/drey.yaml' '--config FILE' 'DREY_CONFIG'
drey status --config "$dir/absent.yaml"
refused 'a missing file is named' 2 "configuration file $dir/absent.yaml not found"
printf 'application: orders\nstateDirectory: %s\nflink: {command: [java]}\nrestPort: 1\n' "$dir" >"$dir/bad.yaml"
for command in run resolve check status savepoint checkpoint suspend resume restart cancel; do
	drey "$command" --config "$dir/bad.yaml"
	refused "drey $command: an unknown key with file, line, column and the nearest" 2 \
		"$dir/bad.yaml: line 4, column 1: unknown key 'restPort'; did you mean 'flink.restPort'?"
done
printf 'application: orders\nflink: [\n' >"$dir/bad.yaml"
drey status --config "$dir/bad.yaml"
refused 'YAML that is none is refused with its place' 2 "$dir/bad.yaml: line"
mkdir "$dir/folder"
drey status --config "$dir/folder"
refused 'a directory is no configuration' 2 "$dir/folder"

# ---- nobody there ---------------------------------------------------------------------------------------

cat >"$dir/drey.yaml" <<-YAML
	application: orders
	stateDirectory: $dir/state
	flink:
	  command: [java]
YAML
mkdir "$dir/state"
for command in status savepoint checkpoint suspend resume restart 'rescale --reset' cancel 'do-not-restart on' promote abort; do
	# shellcheck disable=SC2086 # the words are meant
	drey $command --config "$dir/drey.yaml"
	refused "drey $command: no drey runs, and what to do" 5 "no drey is running for $dir/state" 'drey run --config FILE'
done
drey savepoint --remote --config "$dir/drey.yaml"
refused 'savepoint --remote without Kubernetes: what to do' 2 'kubernetes.kubeconfig'
drey checkpoint --remote --full --config "$dir/drey.yaml"
refused 'so with checkpoint --remote' 2 'kubernetes.kubeconfig'
DREY_CONFIG=$dir/drey.yaml drey status
refused 'DREY_CONFIG names the configuration' 5 "no drey is running for $dir/state"
[ -z "$(ls -A "$dir/state")" ]
result $? 'commands that find nobody leave nothing behind'

# ---- the journal, without a drey ---------------------------------------------------------------------------

cp tests/fixtures/journal/0.1.0-failed.json "$dir/state/journal.json"
printf 'application: e2e\nstateDirectory: %s\nflink: {command: [java]}\n' "$dir/state" >"$dir/e2e.yaml"
drey -c "$dir/e2e.yaml" status
[ "$status" -eq 5 ] && grep -q "^e2e: Failed since 2026-11-22 20:52 UTC .* no drey responds here; this is the content of $dir/state/journal.json" "$dir/out"
result $? 'status reads the journal in the file, and exits with 5'
drey history -c "$dir/e2e.yaml" --limit 1
[ "$status" -eq 0 ] && grep -q '^  launch 5 ' "$dir/out" && ! grep -q '^  launch 4 ' "$dir/out" && grep -q 'and 4 earlier launches' "$dir/out"
result $? 'history reads it, too'
drey history -c "$dir/e2e.yaml" -o json
[ "$status" -eq 0 ] && [ "$(jq -c '[.launches[].number]' "$dir/out")" = '[1,2,3,4,5]' ]
result $? 'history -o json: every launch'
drey history -c "$dir/e2e.yaml" --limit x
refused 'history: a limit is a number' 2 '--limit x'
drey history -c "$dir/drey.yaml"
refused 'the journal of another application is refused' 2 "e2e"
rm "$dir/state/journal.json"
drey history -c "$dir/drey.yaml"
refused 'history: no journal' 5 'there is no journal' "$dir/state/journal.json"

# ---- snapshots, on a machine without Flink -----------------------------------------------------------------

mkdir -p "$dir/ck/3f9a107c2e5d1b8a44f0a1b2c3d4e5f6/chk-5" "$dir/sp"
cp tests/fixtures/metadata/1.20.5-hashmap-chk "$dir/ck/3f9a107c2e5d1b8a44f0a1b2c3d4e5f6/chk-5/_metadata"
printf 'application: orders\nstateDirectory: %s\nflink: {command: [java], checkpointDirectory: "file://%s", savepointDirectory: "file://%s"}\n' \
	"$dir/state" "$dir/ck" "$dir/sp" >"$dir/bare.yaml"
drey snapshots -c "$dir/bare.yaml" -o json
[ "$status" -eq 0 ] && [ "$(jq -r '.snapshots[].state' "$dir/out")" = present ]
result $? 'snapshots needs no Flink'
drey resolve -c "$dir/bare.yaml"
refused 'resolve does: the state depends on its version' 2 "could not find Flink's version"

# ---- explain: from the binary, so an empty directory is enough ----------------------------------------------

(cd "$dir" && env -i "$DREY" explain --markdown StopFailed) >"$dir/out" 2>"$dir/err" </dev/null
[ $? -eq 0 ] && cmp -s "$dir/out" docs/runbook/StopFailed.md
result $? 'drey explain prints the page, without files or environment'
drey explain stopfailed
[ "$status" -eq 0 ] && [ "$(wc -L <"$dir/out")" -gt 40 ] && ! sed '/^    /d' "$dir/out" | grep -qE '^.{81}' && ! grep -q $'\033' "$dir/out"
result $? 'outside of a terminal: 80 columns, no colour'
drey explain
[ "$status" -eq 0 ] && [ "$(grep -cE '^[A-Z][A-Za-z]+ ' "$dir/out")" -eq "$(($(find docs/runbook -name '*.md' | wc -l) - 1))" ]
result $? 'drey explain lists every cause'
drey explain neweststate
refused 'a word that is only begun is completed' 2 "no cause 'neweststate'; these begin like it: NewestStateDamaged, NewestStateMissing"
drey explain StopFaild
refused 'a wrong word: the nearest one' 2 "no cause 'StopFaild'; did you mean 'StopFailed'?"
drey explain $'\033[2J'
refused 'a word that is none is made harmless' 2 "no cause '\\x1b[2J'; \`drey explain\` lists them all"

# ---- a kubeconfig that logs in with a program ----------------------------------------------------------------

cat >"$dir/kubeconfig" <<-YAML
	current-context: a
	contexts: [{name: a, context: {cluster: c, user: u, namespace: n}}]
	clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]
	users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: [$dir/logged-in]}}}]
YAML
cat >"$dir/login.yaml" <<-YAML
	application: orders
	stateDirectory: $dir/state
	flink: {command: [java], version: 2.3.0, checkpointDirectory: 'file://$dir/ck', savepointDirectory: 'file://$dir/sp'}
	kubernetes: {kubeconfig: $dir/kubeconfig}
YAML
"$BUILD/drey-init" --agent -- "$DREY" run --config "$dir/login.yaml" >"$dir/out" 2>"$dir/err" </dev/null
status=$?
refused 'the agent runs no program to log in' 2 "exec plugin 'touch' is not accepted"
[ ! -e "$dir/logged-in" ]
result $? 'really not'
drey history -c "$dir/login.yaml"
refused 'a person does; what is no credential is refused' 5 "exec plugin 'touch': its answer"
[ -e "$dir/logged-in" ]
result $? 'it was run'

# ---- docker run IMAGE drey COMMAND: the entry point of the image, with the words behind it ---------------------

image() { # WORD...
	"$BUILD/drey-init" --agent -- "$DREY" run "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}
image drey version
[ "$status" -eq 0 ] && [ "$(cat "$dir/out")" = "drey $(cat VERSION)" ]
result $? 'the image runs drey COMMAND'
image drey verify "$dir/nothing"
[ "$status" -eq 1 ] && grep -q "^no snapshot: file:$dir/nothing" "$dir/out"
result $? 'with its arguments and its status'
image drey
refused 'drey alone prints the usage' 2 'Usage: drey COMMAND'
image drey run --config "$dir/absent.yaml"
refused 'drey run is what the image does anyway' 2 "open $dir/absent.yaml: No such file"
image verify x
refused 'other words are refused as before' 2 "drey run: unexpected argument 'verify'"

# ---- version --------------------------------------------------------------------------------------------

drey version
[ "$status" -eq 0 ] && [ "$(cat "$dir/out")" = "drey $(cat VERSION)" ]
result $? 'drey version'
drey version --json
[ "$status" -eq 0 ] && [ "$(cat "$dir/out")" = "{\"version\":\"$(cat VERSION)\"}" ]
result $? 'drey version --json'

contract_end
