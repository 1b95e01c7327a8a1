#!/usr/bin/env bash
#
# What `drey check` reports about a new configuration for an application that has run, runs, or never ran; and that it
# changes nothing.

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin jq
F=tests/fixtures/metadata

says() { grep -qF -- "$1" "$dir/out"; }
warns() { grep -qF -- "$1" "$dir/err"; }
sum() { (cd "$dir/state" && sha256sum journal.json); }

# The same application with another generation, or other lines.
new_yaml() { # [LINE...]
	sed 's/^generation: .*//' "$dir/drey.yaml" >"$dir/new.yaml"
	printf '%s\n' "$@" >>"$dir/new.yaml"
}

drey_yaml <<<'generation: one'
flink_is 'exec sleep 100000'
ok 'before the first start' status 0 "$DREY" check --config "$dir/drey.yaml"
ok 'nobody has run, and it would start empty' eval "says 'drey has not run here yet' && says START_EMPTY"
ok 'it leaves nothing behind' test ! -e "$dir/state/journal.json"

start_drey
ok 'drey has launched Flink' wait_for phase_is Launching
job=$("$DREY" status --json --config "$dir/drey.yaml" | jq -r .jobId)
mkdir -p "$dir/ck/$job/chk-7"
cp "$F/2.3.0-hashmap-chk" "$dir/ck/$job/chk-7/_metadata"
new_yaml 'generation: two'
ok 'while it runs, with another generation' status 0 "$DREY" check --config "$dir/new.yaml"
ok 'what runs is named' says 'Launching, generation one, Flink 2.3.0'
ok 'and what the new one would start from' says "START_FROM"
ok 'a job that does not run yet gives no savepoint' says 'no savepoint, because the job is not running'
new_yaml 'generation: two' 'upgrade: stateless' 'restore: {foreign: ignore}'
ok 'a stateless one' status 0 "$DREY" check --config "$dir/new.yaml"
ok 'would start empty' says 'start empty: upgrade is stateless'
end_drey
before=$(sum)

new_yaml 'generation: two' "hooks: {directory: $dir/nope}"
ok 'a directory of hooks that is not there would veto the launch' status 4 "$DREY" check --config "$dir/new.yaml"
ok 'it is named' warns "drey would hold: hooks.directory: $dir/nope: No such file or directory"
mkdir -p "$dir/hooks/pre-launch.d"
echo 'exit 0' >"$dir/hooks/pre-launch.d/50-license"
new_yaml 'generation: two' "hooks: {directory: $dir/hooks}"
ok 'so would one that cannot be executed' status 4 "$DREY" check --config "$dir/new.yaml"
ok 'it is named, too' warns "$dir/hooks/pre-launch.d/50-license: it is not executable"
chmod +x "$dir/hooks/pre-launch.d/50-license"
ok 'one that can be is not run' status 0 "$DREY" check --config "$dir/new.yaml"
new_yaml 'generation: two' 'restore: {policy: none}'
ok 'a job that never uses its state' status 0 "$DREY" check --config "$dir/new.yaml"
ok 'it is warned that nothing will use the savepoint of the upgrade' says 'no launch uses the savepoints of upgrade: savepoint'
new_yaml 'generation: one'
sed -i "s|^flink:|flink:\n  properties: {state.changelog.enabled: true}|" "$dir/new.yaml"
ok "with Flink's changelog" status 0 "$DREY" check --config "$dir/new.yaml"
ok 'it is warned that a restored job would fail' says 'only the code of the job can set execution.state-recovery.claim-mode to CLAIM'
ok 'after its end, with the same generation' status 0 "$DREY" check --config "$dir/drey.yaml"
ok 'without the changelog it is not' eval "! says claim-mode"
ok 'it is no upgrade' says 'the generation is the same'
new_yaml 'generation: two'
ln -s "$dir/ck" "$dir/records"
sed -i "s|^flink:|flink:\n  resultStoreDirectory: file:$dir/records|" "$dir/new.yaml"
ok 'records of ends among the checkpoints, by a link' status 2 "$DREY" check --config "$dir/new.yaml"
ok 'are refused by name' warns "flink.resultStoreDirectory (file:$dir/records) are one directory"
new_yaml 'generation: two'
sed -i 's/version: 2.3.0/version: 1.20.0/' "$dir/new.yaml"
ok 'a Flink that cannot read the state is refused' status 4 "$DREY" check --config "$dir/new.yaml"
ok 'with the reason' warns 'newer Flink'
ok 'and every candidate' warns "$dir/ck/$job/chk-7"
ok '--warn says so' status 0 "$DREY" check --warn --config "$dir/new.yaml"
ok 'on the same stream' warns 'newer Flink'
sed -i 's/version: 1.20.0/version: 2.4.0/' "$dir/new.yaml"
ok 'a newer line would start from a checkpoint of the old one: held' status 4 "$DREY" check --config "$dir/new.yaml"
ok 'with the reason and the way out' warns 'Flink 2.4.0 needs a savepoint; start Flink 2.3.0 again'
sed -i 's/version: 2.4.0/version: 2.3.1/' "$dir/new.yaml"
ok 'another patch level passes' status 0 "$DREY" check --config "$dir/new.yaml"
new_yaml 'generation: two'
sed -i "s|file://$dir/ck|file://$dir/other|" "$dir/new.yaml"
ok 'a directory that is not there: drey would hold' status 4 "$DREY" check --config "$dir/new.yaml"
ok 'by its name' warns "$dir/other"
new_yaml 'generation: two'
sed -i "s|$dir/flink|$dir/no-flink|" "$dir/new.yaml"
ok 'so is an image without Flink' status 2 "$DREY" check --warn --config "$dir/new.yaml"
head -c 100 "$F/2.3.0-hashmap-chk" >"$dir/ck/$job/chk-7/_metadata"
new_yaml 'generation: two'
ok 'state that is damaged' status 4 "$DREY" check --config "$dir/new.yaml"
ok 'is held' warns 'drey would hold'
ok 'the journal is as it was' test "$(sum)" = "$before"
printf '{' >"$dir/state/journal.json"
ok 'a journal that cannot be read' status 4 "$DREY" check --config "$dir/new.yaml"
ok 'is left as it is' test "$(cat "$dir/state/journal.json")" = '{'
contract_end
