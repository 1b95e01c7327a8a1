#!/usr/bin/env bash
#
# What the pages show is run, where it needs no cluster: commands of drey, targets of make (--dry-run), and what they show to Helm.
# Each check finds a mistake when one is made.

# shellcheck disable=SC2016 # the backquotes are those of Markdown
# shellcheck disable=SC2317 # functions that `ok` calls

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin python3 make
top=$PWD
show=(out err)

mkdir "$dir/tree" "$dir/scratch"
cp ./*.md "$dir/tree"
find docs hooks chart -name '*.md' -exec cp --parents -t "$dir/tree" {} +
cp tests/fixtures/migrate/all-fields.yaml "$dir/scratch/deployment.yaml"
mkdir "$dir/scratch/"{state,ck,sp,store}
echo '{"apiVersion": "v1", "kind": "ConfigMapList", "items": []}' >"$dir/scratch/ha.json"
cat >"$dir/scratch/drey.yaml" <<-YAML
	application: orders
	stateDirectory: $dir/scratch/state
	flink: {command: [java], version: 2.3.0, checkpointDirectory: "file://$dir/scratch/ck", savepointDirectory: "file://$dir/scratch/sp"}
YAML
cat >"$dir/scratch/kubeconfig" <<-YAML
	apiVersion: v1
	kind: Config
	current-context: nowhere
	clusters: [{name: nowhere, cluster: {server: "https://127.0.0.1:1"}}]
	users: [{name: nobody, user: {token: none}}]
	contexts: [{name: nowhere, context: {cluster: nowhere, user: nobody, namespace: shop}}]
YAML

run() { # WHAT [ARG...]: $dir/out has the mistakes
	(cd "$dir/tree" && PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/contract/docs_run.py" "$@") >"$dir/out" 2>"$dir/err"
}

all_right() { # LEAST WHAT [ARG...]
	local least=$1
	shift
	run "$@" && [ ! -s "$dir/out" ] && [ "$(sed -n 's/ run$//p' "$dir/err")" -ge "$least" ]
}

finds() { # MISTAKE PAGE TEXT WHAT [ARG...]
	local what=$1 page=$2 text=$3
	shift 3
	printf '\n%b\n' "$text" >>"$dir/tree/$page"
	DOCS_PAGE=$page run "$@"
	cp "$top/$page" "$dir/tree/$page"
	[ "$(wc -l <"$dir/out")" -eq 1 ] && grep -q "^$page:" "$dir/out"
	result $? "... $what is found"
}

ok 'the commands of drey are taken' all_right 30 drey "$DREY" "$dir/scratch"
finds 'a cause that is none' docs/tasks/chart.md '```sh\ndrey explain BadWeather\n```' drey "$DREY" "$dir/scratch"
finds 'an argument too many' docs/tasks/chart.md '```sh\nkubectl exec deploy/x -- drey suspend now\n```' drey "$DREY" "$dir/scratch"
finds 'an option without its value' docs/runbook/Suspended.md '```sh\npath=$(drey savepoint --timeout)\n```' drey "$DREY" "$dir/scratch"
finds 'a shell that has no completion' docs/tasks/image.md '```sh\nsource <(drey completion tcsh)\n```' drey "$DREY" "$dir/scratch"
finds 'a duration that is none' docs/reference/kubectl.md '```sh\nkubectl drey savepoint orders -n shop --timeout soon\n```' drey "$DREY" "$dir/scratch"

ok 'the targets of make can be made' all_right 20 make "$top"
finds 'a target that is none' docs/development/release.md '```sh\nmake coffee\n```' make "$top"
finds 'a test that is none' CONTRIBUTING.md '    make t T=coffee' make "$top"

helm=$(command -v helm || find "${XDG_CACHE_HOME:-$HOME/.cache}/drey" -maxdepth 3 -path '*/helm-3*/bin/helm' 2>/dev/null | head -n 1)
if [ -z "$helm" ] && [ -n "${DREY_TEST_REQUIRE:-}" ]; then
	helm=$(tools/get-kube.sh helm)/bin/helm
fi
if [ -n "$helm" ]; then
	ok 'the chart takes the values, and the options of helm' all_right 25 helm "$helm" "$dir/scratch" "$top"
	finds 'a value that is none' docs/tasks/sizing.md '```yaml\njobManager: {spar: {enabled: true}}\n```' helm "$helm" "$dir/scratch" "$top"
	finds 'one that the templates refuse' docs/tasks/sizing.md '```yaml\n# values\njobManager: {memoryMiB: 10}\n```' helm "$helm" "$dir/scratch" "$top"
	finds 'an option with a value that is none' docs/tasks/migration.md \
		'```sh\nhelm upgrade orders ./chart/flink-application --values values.yaml --set image.tagg=2\n```' helm "$helm" "$dir/scratch" "$top"
else
	skip 'the chart takes the values, and the options of helm' 'no helm (tools/get-kube.sh helm)'
fi

contract_end
