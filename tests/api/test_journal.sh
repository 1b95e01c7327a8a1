#!/usr/bin/env bash
#
# The journal in a ConfigMap: written before Flink is started, by one drey only, whatever the API server and people do to
# it. With the Role of the chart, against a real API server; a script replaces Flink.
#
# runs in: ci

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin journal own
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"

# ---- one life --------------------------------------------------------------------------------------

pod_start a
await "the job is launched" launched 1
check "the journal has had it before, with a job id that the Role names" is_named "$(journal '.launches[0].jobId')"
check "with the names of the Pod and its UID" journal_is '.writer | startswith("orders-a/uid-of-a-")'
is "$(kubectl get configmap "$JOURNAL" --output json | jq --compact-output '[.metadata.labels["app.kubernetes.io/component",
	"app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "app.kubernetes.io/name"], .metadata.ownerReferences]')" \
	'["journal","orders","drey","flink-application",null]' "it is labelled, and has no owner"
check "no file of it is kept" test ! -e "$RUN/a/state/journal.json"
await "the start is on record" journal_is '.launches[0].startedUnixMs != null'

# ---- an agent that dies, and a Pod that is replaced ------------------------------------------------

pod_kill_agent a
await "the agent is started again and knows its Flink" pod_is a '.phase == "Launching" and .launch.number == 1'
is "$(launches)" 1 "which was not started again"
next=$(next_job_id)
check "another id is the next" not journal_is ".launches[0].jobId == \"$next\""
pod_end a
pod_start b
await "another Pod goes on with the journal" launched 2
check "under the next id" journal_is ".launches[1].jobId == \"$next\""

# ---- two of them -----------------------------------------------------------------------------------

pod_start c
await "a second drey takes the application over" launched 3
kubectl annotate configmap "$JOURNAL" touched=1 >/dev/null
await "the first one sees it without anything to write, and stops acting" \
	pod_says b "another drey writes this application's journal"
check "it names who has" pod_says b "was written by orders-c/uid-of-c-"
check "it holds" pod_phase b Holding
await "and has killed its Flink" not pgrep -P "${POD_PID[b]}" -x sleep
check "that of the second one runs on" pgrep -P "${POD_PID[c]}" -x sleep
check "and refuses what it is asked for" not "$BUILD/drey" suspend --timeout 5s --config "$RUN/b/drey.yaml"
is "$(journal '.writer | split("/")[0]')" orders-c "the journal is the second one's"
pod_kill b

# ---- somebody touches the map all the time ---------------------------------------------------------

storm() {
	local i=0
	while [ ! -e "$RUN/calm" ]; do
		i=$((i + 1))
		kubectl patch configmap "$JOURNAL" --type merge --patch '{"metadata":{"labels":{"storm":"'"$i"'"}}}' >/dev/null
	done
}
storm &
storm_pid=$!
before=$(journal .sequence)
for i in 1 2 3; do
	check "in a storm of writes to its map: $i" "$BUILD/drey" do-not-restart on --config "$RUN/c/drey.yaml"
	check "and back: $i" "$BUILD/drey" do-not-restart off --config "$RUN/c/drey.yaml"
done
touch "$RUN/calm"
wait "$storm_pid"
check "the journal goes on" journal_is ".sequence >= $before + 6"
check "and the labels of the others are kept" test -n "$(kubectl get configmap "$JOURNAL" --output 'jsonpath={.metadata.labels.storm}')"
check "nobody has taken it for a takeover" pod_phase c Launching

# ---- deleted, edited, of another application -------------------------------------------------------

kubectl delete configmap "$JOURNAL" >/dev/null
check "deleted while drey runs: something is asked for" "$BUILD/drey" do-not-restart on --config "$RUN/c/drey.yaml"
check "it is there again, with all of it" journal_is '(.launches | length) == 3 and .intent.doNotRestart'

kubectl get configmap "$JOURNAL" --output json >"$RUN/good.json"
edit() { # VALUE
	jq --arg value "$1" '.data["journal.json"] = $value | del(.metadata.resourceVersion, .metadata.uid)' "$RUN/good.json" |
		kubectl replace --filename - >/dev/null
}
broken() {
	pod_is c .journal.broken
}
for nonsense in 'not JSON' '{"schema": 1}' '{"schema": 99, "application": "orders", "sequence": 1}'; do
	edit "$nonsense"
	"$BUILD/drey" savepoint --timeout 1s --config "$RUN/c/drey.yaml" >/dev/null 2>&1 || :
	await "edited into '$nonsense': drey cannot write" broken
	is "$(kubectl get configmap "$JOURNAL" --output json | jq --raw-output '.data["journal.json"]')" "$nonsense" \
		"and does not overwrite it"
	check "the log says what to do" pod_log c 'not overwritten. Delete the ConfigMap, then drey writes it again'
	kubectl delete configmap "$JOURNAL" >/dev/null
	await "deleted: all is as it was" journal_is '(.launches | length) == 3 and .intent.doNotRestart'
	await "and drey can write again" pod_is c '.journal.broken | not'
done
pod_end c

kubectl get configmap "$JOURNAL" --output json >"$RUN/good.json"
edit 'not JSON'
pod_start d
await "a start with nonsense for a journal holds" pod_phase d Holding
check "the reason names the place and the ways out" pod_says d \
	"Restore a copy of it, or delete the ConfigMap"
before=$(launches)
edit "$(jq '.data["journal.json"] | fromjson | .application = "others" | tojson' --raw-output "$RUN/good.json")"
await "the journal of another application holds, too" pod_says d "belongs to application 'others', not to 'orders'"
edit "$(jq --raw-output '.data["journal.json"]' "$RUN/good.json")"
await "with a copy put back drey goes on by itself" pod_says d "do-not-restart"
is "$(launches)" "$before" "nothing was started meanwhile"
check "do-not-restart is lifted" "$BUILD/drey" do-not-restart off --config "$RUN/d/drey.yaml"
await "and Flink is started" launched $((before + 1))

# ---- finalizers ------------------------------------------------------------------------------------

kubectl patch configmap "$JOURNAL" --type merge --patch '{"metadata":{"finalizers":["drey.dev/test"]}}' >/dev/null
kubectl delete configmap "$JOURNAL" --wait=false >/dev/null
"$BUILD/drey" savepoint --timeout 1s --config "$RUN/d/drey.yaml" >/dev/null 2>&1 || :
await "being deleted: what is written there does not count" pod_is d .journal.broken
check "the log names the way out" pod_log d 'is being deleted but has finalizers; remove them'
kubectl patch configmap "$JOURNAL" --type merge --patch '{"metadata":{"finalizers":null}}' >/dev/null
await "the finalizers are gone: a new one is written" pod_is d '.journal.broken | not'
check "with all of it" journal_is '(.launches | length) == 4'

# ---- refused by a rule, and for its size -----------------------------------------------------------

rule() { # COMMAND
	jq --null-input --arg name "$NAMESPACE" --arg namespace "$NAMESPACE" '
		{apiVersion: "admissionregistration.k8s.io/v1", metadata: {name: $name}} as $head | {kind: "List", apiVersion: "v1", items: [
		$head + {kind: "ValidatingAdmissionPolicy", spec: {failurePolicy: "Fail",
			matchConstraints: {namespaceSelector: {matchLabels: {"kubernetes.io/metadata.name": $namespace}},
				resourceRules: [{apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["configmaps"]}]},
			validations: [{expression: "!(\"journal.json\" in object.data)", message: "no journals on Fridays"}]}},
		$head + {kind: "ValidatingAdmissionPolicyBinding", spec: {policyName: $name, validationActions: ["Deny"]}}]}' |
		kubectl "$1" --filename - >/dev/null
}
touch_journal() {
	kubectl annotate configmap "$JOURNAL" --overwrite "touched=$RANDOM" --dry-run=server >/dev/null 2>&1
}
rule create
await "a rule refuses every change of a journal" not touch_journal
"$BUILD/drey" savepoint --timeout 1s --config "$RUN/d/drey.yaml" >/dev/null 2>&1 || :
await "drey cannot write" pod_is d .journal.broken
check "the log has the words of the rule" pod_log d 'no journals on Fridays'
check "Flink runs on" pod_phase d Launching
rule delete
await "the rule is gone: it can write again" pod_is d '.journal.broken | not'

size=$(kubectl get configmap "$JOURNAL" --output json | jq '[.data[] | utf8bytelength] | add')
head -c $((1048576 - size)) /dev/zero | tr '\0' x >"$RUN/junk"
jq --null-input --rawfile junk "$RUN/junk" '{data: {junk: $junk}}' >"$RUN/junk.json"
kubectl patch configmap "$JOURNAL" --type merge --patch-file "$RUN/junk.json" >/dev/null
timeout 2 "$BUILD/drey" suspend --no-wait --config "$RUN/d/drey.yaml" >/dev/null 2>&1 || : # two bytes longer
await "somebody fills the map to its limit: drey cannot write" pod_is d .journal.broken
check "the log says that it is too long" pod_log d 'Too long|may not be (more|longer) than 1048576'
kubectl patch configmap "$JOURNAL" --type merge --patch '{"data":{"junk":null}}' >/dev/null
await "the filling is removed: it can write again" pod_is d '.journal.broken | not'
check "what was wanted is on record" journal_is '.intent.state == "suspended"'
check "the journal was never anything but whole" journal_is '(.launches | length) == 4'
pod_end d

# ---- the pod before was killed, and its journal is lost --------------------------------------------

left=$(job_id_of 4)
mkdir -p "$RUN/ck/$left"
kubectl delete configmap "$JOURNAL" >/dev/null
rm -r "${RUN:?}/ck/.drey" # its copy would tell that there was one
before=$(launches)
pod_start e
await "with the journal lost, a directory of a job id of ours is a trace: it holds" pod_is e '.phase == "Holding" and .cause == "JournalLost"'
check "and names it" pod_says e "a directory or savepoint of job $left"
is "$(launches)" "$before" "nothing is started"
rmdir "$RUN/ck/$left"
await "with nothing in storage it starts" launched $((before + 1))
check "under an id that the Role names" is_named "$(journal '.launches[0].jobId')"
left=$(next_job_id)
mkdir -p "$RUN/ck/$left"
pod_end e
pod_start f
await "the next id has left a directory" launched $((before + 2))
check "so another one is taken" is_named "$(journal ".launches[1].jobId | select(. != \"$left\")")"
pod_end f

# ---- all ids used up -------------------------------------------------------------------------------

for n in 0 1 2; do
	mkdir -p "$RUN/ck/$(job_id_of $n)"
done
pod_conf g '  launches: 3'
before=$(launches)
pod_start g
await "the ids are used up" pod_says g "all 3 job ids in the Pod's Role have left traces"
check "it says what to do" pod_says g "raise kubernetes.launches, or set another kubernetes.salt"
is "$(launches)" "$before" "nothing is started"
pod_end g
pod_conf g '  launches: 3' '  salt: again'
pod_start g
await "another salt gives others" launched $((before + 1))
pod_end g

is "$(api_denied)" "" "nothing was asked for that the Role does not allow"

# ---- the namespace ends ----------------------------------------------------------------------------

kubectl delete configmap "$JOURNAL" >/dev/null
rm -rf "${RUN:?}/ck"
pod_conf h
pod_start h
before=$(launches)
await "a job in a namespace" launched $((before + 1))
await "on record" journal_is '.launches[0].startedUnixMs != null'
kubectl delete namespace "$NAMESPACE" --wait=false >/dev/null
kubectl delete configmap "$JOURNAL" >/dev/null 2>&1
"$BUILD/drey" savepoint --timeout 1s --config "$RUN/h/drey.yaml" >/dev/null 2>&1 || :
await "that is being deleted: drey cannot write" pod_is h .journal.broken
check "Flink runs on" pod_phase h Launching
check "the log says why" pod_log h 'being terminated|forbidden|Unauthorized|401|not found'
e2e_end
