#!/usr/bin/env bash
#
# What `drey migrate` makes of objects of the Apache Flink Kubernetes Operator: the facts of each of its examples and of its
# end-to-end tests, in tests/fixtures/migrate, with the values and the list that are expected. UPDATE=1 rewrites those;
# read the difference. tests/chart/test_migrate.sh renders the values.

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin jq
FIXTURES=$PWD/tests/fixtures/migrate
cd "$FIXTURES" || exit 1

# NAME.values and NAME.list: the two streams.
as_expected() { # NAME
	local status=0 want=0
	"$DREY" migrate "$1.yaml" >"$dir/out" 2>"$dir/err" || status=$?
	[ -z "${UPDATE:-}" ] || {
		rm -f "$1.values"
		[ ! -s "$dir/out" ] || cp "$dir/out" "$1.values"
		cp "$dir/err" "$1.list"
	}
	[ -f "$1.values" ] || want=2
	[ "$status" = "$want" ] && diff "$1.list" "$dir/err" && { [ "$want" = 2 ] || diff "$1.values" "$dir/out"; }
}

json() { # FILTER: true of the document on standard output
	jq --exit-status "$1" "$dir/out" >/dev/null
}

refuses() { # TEXT [OPTION...]: a document on standard input
	local text=$1
	shift
	! "$DREY" migrate "$@" - >"$dir/out" 2>"$dir/err" && [ ! -s "$dir/out" ] && grep --quiet --fixed-strings -- "$text" "$dir/err" &&
		[ "$(wc -l <"$dir/err")" = 1 ]
}

# A FlinkDeployment with what is written into its spec.
deployment() { # [MEMBER...]
	printf 'apiVersion: flink.apache.org/v1beta1\nkind: FlinkDeployment\nmetadata: {name: orders}\nspec:\n'
	printf '  %s\n' 'image: "orders:1"' "$@"
}

says() { # FILTER MEMBER...: of the document for this spec
	local filter=$1
	shift
	deployment "$@" | "$DREY" migrate --json - >"$dir/out" 2>"$dir/err" && jq --exit-status "$filter" "$dir/out" >/dev/null
}

# ---- every fixture -----------------------------------------------------------------------------

for file in *.yaml; do
	ok "${file%.yaml}: the values and the list" as_expected "${file%.yaml}"
done
ok "there are those of the operator" test "$(ls -- *.yaml | wc -l)" -ge 36
ok "no secret of them is printed" bash -c '! grep --quiet -e changeit -e never-printed -- *.values *.list'

ok "every setting of the operator is known" bash -c '! grep --quiet "does not know" every-key.list'

# Each key that an entry names, against the schema of the chart.
keys_exist() {
	local key bad=0
	for file in *.values; do
		"$DREY" migrate --json "${file%.values}.yaml" | jq --raw-output '.fields[].to // empty | split(", ")[]'
	done | sort --unique >"$dir/keys"
	[ "$(wc -l <"$dir/keys")" -ge 40 ] || return 1
	while read -r key; do
		jq --exit-status --arg key "$key" 'def at($keys): if $keys == [] then true else .properties[$keys[0]] // false |
			if . == false then false else at($keys[1:]) end end; at($key | split("."))' ../../../chart/flink-application/values.schema.json >/dev/null ||
			{ [[ $key == *.resources.* ]] && continue; echo "# the chart has no $key"; bad=1; }
	done <"$dir/keys"
	return "$bad"
}
ok "the chart has every key that is named" keys_exist

# ---- input and output --------------------------------------------------------------------------

"$DREY" migrate all-fields.yaml >"$dir/values" 2>"$dir/list"
ok "standard input" bash -c '"$0" migrate - <all-fields.yaml 2>/dev/null | cmp - "$1"' "$DREY" "$dir/values"
ok "a document with the same" status 0 "$DREY" migrate --json all-fields.yaml
ok "has the members that are documented" json 'keys_unsorted == ["kind","name","namespace","values","fields"] and
	(.fields | all(keys_unsorted == ["path","outcome","to","text"])) and
	(.fields | map(.outcome) | unique) == ["decide","mapped","no-counterpart","not-needed"]'
ok "and says nothing else" test ! -s "$dir/err"
cp "$dir/out" "$dir/document"
ok "JSON is YAML: the operator's objects as kubectl prints them" bash -c '"$0" migrate --json - <<<"$(jq "{apiVersion: \"v1\", kind: \"List\", items: [
	{apiVersion: \"flink.apache.org/v1beta1\", kind: \"FlinkDeployment\", metadata: {name: \"a\"}, spec: {job: {parallelism: .values.job.parallelism}}}]}" "$1")" |
	jq --exit-status ".values.job.parallelism == 12 and .values.taskManager.replicas == 12" >/dev/null' "$DREY" "$dir/document"
ok "a file that is not there" status 1 "$DREY" migrate "$dir/nothing"
ok "no file" status 2 "$DREY" migrate

# ---- which object ------------------------------------------------------------------------------

two() {
	deployment 'job: {parallelism: 1}'
	echo ---
	deployment 'job: {parallelism: 2}' | sed 's/name: orders/name: payments/'
	echo ---
	deployment 'job: {parallelism: 3}' | sed 's/name: orders/name: orders, namespace: team-b/'
}
two >"$dir/two"
ok "of several one has to be chosen" refuses 'several have a job: orders, payments, team-b/orders; choose one by --name' <"$dir/two"
ok "by its name" bash -c '"$0" migrate --name payments - <"$1" 2>"$1.list" | grep --quiet "parallelism: 2"' "$DREY" "$dir/two"
ok "and the others are listed" grep --quiet '^  FlinkDeployment/orders: another application' "$dir/two.list"
ok "or with its namespace" bash -c '"$0" migrate --name team-b/orders - <"$1" 2>/dev/null | grep --quiet "parallelism: 3"' "$DREY" "$dir/two"
ok "a name that is not there" refuses 'there is no FlinkDeployment bills' --name bills <"$dir/two"
ok "a session cluster by its name" refuses 'spec.job is missing' --name shared <session-and-jobs.yaml
ok "nothing" refuses 'there is no object of Kubernetes in it' <<<''
ok "no object" refuses 'document 2: not an object' <<<$'---\n---\na: 1'
ok "another version of the API" refuses 'apiVersion must be flink.apache.org/v1beta1' < <(deployment 'job: {}' | sed s/v1beta1/v1alpha1/)

# ---- invalid input -----------------------------------------------------------------------------

ok "broken YAML, with its place" refuses 'standard input: line 2, column' <<<$'a: b\n  c: d'
ok "an anchor" refuses 'anchors are not supported' <<<'a: &b c'
ok "what is not the same to everybody" refuses "line 2, column 7: 'yes' is not the same" <<<$'a:\n  b:  yes'
ok "too large" refuses 'larger than 262144 bytes' < <(head --bytes 300000 /dev/zero | tr '\0' '#')
ok "too deep" refuses 'nested too deep' <<<"a: $(printf '[%.0s' {1..60})$(printf ']%.0s' {1..60})"
ok "a key twice" refuses "duplicate key 'a'" <<<$'a: 1\na: 2'
ok "a wrong type, with its path" refuses 'spec.job.parallelism: must be a number, got a string' < <(deployment 'job: {parallelism: "2"}')
ok "a wrong type in a list" refuses 'spec.job.args[1]: must be a string, got an object' < <(deployment 'job: {args: [a, {b: c}]}')
ok "a job that is none" refuses 'spec.job: must be an object, got a string' < <(deployment 'job: x')
ok "a wrong word" refuses 'spec.job.upgradeMode: must be savepoint, last-state or stateless' < <(deployment 'job: {upgradeMode: fast}')
ok "no amount of memory" refuses "spec.jobManager.resource.memory: 'much' is not an amount" < <(deployment 'job: {}' 'jobManager: {resource: {memory: much}}')
ok "a key of Flink twice" refuses 'spec.flinkConfiguration.a.b: the key is there twice' < <(deployment 'job: {}' 'flinkConfiguration: {a.b: 1, a: {b: 2}}')
ok "no number of slots" refuses 'taskmanager.numberOfTaskSlots: must be a whole number' < <(deployment 'job: {}' 'flinkConfiguration: {taskmanager.numberOfTaskSlots: many}')
ok "a container without a name" refuses 'spec.podTemplate.spec.containers[0]: it has no name' < <(deployment 'job: {}' 'podTemplate: {spec: {containers: [{image: x}]}}')
ok "a line separator, which Helm cannot render" refuses 'spec.job.args.[]: has a character' < <(deployment 'job: {args: ["\u2028"]}')
ok "no URI" refuses "'bucket' is not a URI" --state-uri bucket < <(deployment 'job: {}')

# ---- what follows from several fields ----------------------------------------------------------

ok "TaskManagers for all slots" says '.values | .job.parallelism == 7 and .taskManager.replicas == 3 and .taskManager.slots == 3' \
	'job: {parallelism: 7}' 'flinkConfiguration: {taskmanager.numberOfTaskSlots: 3}'
ok "or as many as are said, which decide" says '.values | .job.parallelism == 6 and .taskManager.replicas == 2' \
	'job: {parallelism: 7}' 'taskManager: {replicas: 2}' 'flinkConfiguration: {taskmanager.numberOfTaskSlots: 3}'
ok "a directory beside the checkpoints" says '.values.state.uri == "s3://bucket/team/orders-drey"' 'job: {}' 'flinkConfiguration: {state.checkpoints.dir: "s3://bucket/team/cp/"}'
ok "in a bucket" says '.values.state.uri == "s3://bucket/orders-drey"' 'job: {}' 'flinkConfiguration: {execution.checkpointing.dir: "s3://bucket"}'
ok "no account of a URI is taken" says '(.values.state.uri == "s3://BUCKET/orders") and (tostring | contains("hidden") | not)' 'job: {}' \
	'flinkConfiguration: {state.checkpoints.dir: "s3a://key:hidden@bucket/cp"}'
ok "without one a bucket that there cannot be, and it has to be decided" says '(.values.state.uri == "s3://BUCKET/orders") and
	any(.fields[]; .outcome == "decide" and .to == "state.uri")' 'job: {}'
ok "with --state-uri it is decided" bash -c '"$0" migrate --state-uri s3://b/c - 2>&1 | { ! grep --quiet "state.uri:"; }' "$DREY" < <(deployment 'job: {}')
ok "without an image a registry that there cannot be" bash -c 'sed "/image:/d" | "$0" migrate - 2>&1 | grep --quiet "repository: registry.invalid/orders"' "$DREY" < <(deployment 'job: {}')
ok "the default of the operator is not that of drey" says 'any(.fields[]; .path == "spec.job.upgradeMode" and .outcome == "decide")' 'job: {}'
ok "a limit stands for the request" says '.values.taskManager | .memoryMiB == 2048 and .cpu == "2" and .cpuLimit == "2"' 'job: {}' \
	'taskManager: {resources: {limits: {memory: 2Gi, cpu: 2}}}'
ok "a name that is too long for Services" bash -c 'sed "s/name: orders/name: orders-of-the-whole-world-and-of-others/" | "$0" migrate - 2>&1 >/dev/null |
	grep --quiet "metadata.name -> application: set a name of at most 40"' "$DREY" < <(deployment 'job: {}')

# ---- the program that does it ------------------------------------------------------------------

cp "$DREY" "$dir/drey"
alone() { # what a drey without the other program says
	! env PATH="$dir" "$dir/drey" migrate all-fields.yaml >"$dir/out" 2>"$dir/err" && [ ! -s "$dir/out" ] &&
		grep --quiet 'drey-migrate is neither beside drey nor in $PATH' "$dir/err"
}
ok "a drey alone, as in an image, says that it is not there" alone
ln -s "${DREY%/*}/drey-migrate" "$dir/drey-migrate"
ok "from the path it is taken, too" bash -c 'PATH=$1 "$0" migrate all-fields.yaml 2>/dev/null | cmp - "$1/values"' "$dir/drey" "$dir"
ok "with its options, in the form that was asked for" bash -c '"$0" migrate -n orders -o json all-fields.yaml | jq --exit-status .values >"$1/out"' "$DREY" "$dir"
ok "it has the help of drey migrate" cmp <("${DREY%/*}/drey-migrate" --help) <("$DREY" migrate --help)

contract_end
