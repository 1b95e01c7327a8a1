#!/usr/bin/env bash
#
# The journal's ConfigMap edited by hand into something invalid, before drey starts and while it runs: a condition of the
# custom resource names the position and the remedy, nothing is started, nothing is overwritten, Flink keeps running; and
# the remedy works. With the Role of the chart, against a real API server; a script replaces Flink.

# shellcheck disable=SC2317 # called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin journal-nonsense
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"
# shellcheck source=tests/api/resource_lib.sh
. "$TOP/tests/api/resource_lib.sh"

journal_map_has() { # KEY
	[ -n "$(kubectl get configmap "$JOURNAL" --output json | jq --raw-output --arg key "$1" '.data[$key] // empty')" ]
}

resource '{"state": "running"}'
with_resource a
pod_start a
await "a first launch" launched 1
await "it is on record" journal_is '.launches[0].startedUnixMs != null'
await "what was seen, too" journal_map_has control-seen.json
pod_end a
kubectl get configmap "$JOURNAL" --output json | jq 'del(.metadata.resourceVersion, .metadata.uid, .metadata.managedFields)' >"$RUN/good.json"
jq --raw-output '.data["journal.json"]' "$RUN/good.json" >"$RUN/document"

# The ConfigMap is what JQ makes of the good one.
edit_map() { # JQ
	jq --slurpfile document "$RUN/document" --rawfile text "$RUN/document" --rawfile nonsense "$RUN/nonsense" "$1" "$RUN/good.json" |
		kubectl replace --filename - >/dev/null
}
edit() { # TEXT of the document
	printf '%s' "$1" >"$RUN/nonsense"
	edit_map '.data["journal.json"] = $nonsense'
}
alter() { # JQ: of the document
	edit "$(jq "$1" "$RUN/document")"
}

# Each: NAME, what the reason says, a command. What another drey could have written is no nonsense and is not in here.
cases=(
	"no JSON" "key 'journal.json': journal: byte 0" "edit 'not JSON'"
	"nothing" "key 'journal.json': journal: byte 0" "edit ''"
	"another kind of JSON" "journal: not a JSON object" "edit '[]'"
	"null" "journal: not a JSON object" "edit null"
	"an empty object" "'schema' is missing" "edit '{}'"
	"half of it" "the text ends inside" "edit \"\$(head -c 700 \"\$RUN/document\")\""
	"a version that is no number" "'schema': expected a number" "alter '.schema = \"1\"'"
	"a version that there is not yet" "written by a newer drey (schema 99" "alter '.schema = 99'"
	"no sequence" "'sequence' is missing" "alter 'del(.sequence)'"
	"a sequence that is text" "'sequence': expected a number" "alter '.sequence = \"many\"'"
	"launches that are no list" "'launches'" "alter '.launches = {}'"
	"a launch that is a number" "launches[0]" "alter '.launches = [1]'"
	"a job id that is none" "'jobId'" "alter '.launches[0].jobId = \"../../x\"'"
	"a wish that there is not" "'state'" "alter '.intent.state = \"stopped\"'"
	"a do-not-restart that is text" "'doNotRestart'" "alter '.intent.doNotRestart = \"true\"'"
	"an application that is a number" "'application'" "alter '.application = 7'"
	"of another application" "belongs to application 'others'" "alter '.application = \"others\"'"
	"nested without end" "nested too deep" "edit \"\$(printf '[%.0s' {1..20000})\""
	"its two keys changed for each other" "key 'journal.json'" \
	"edit_map '.data = {\"journal.json\": .data[\"control-seen.json\"], \"control-seen.json\": .data[\"journal.json\"]}'"
	"a key that is missing" "no key 'journal.json'" "edit_map 'del(.data[\"journal.json\"])'"
	"no data at all" "no key 'journal.json'" "edit_map 'del(.data)'"
	"binary data" "no key 'journal.json'" \
	"edit_map 'del(.data[\"journal.json\"]) | .binaryData = {\"journal.json\": (\$text | @base64)}'"
)
: >"$RUN/nonsense"

says() { # REASON TEXT: why it is not ready
	resource_is "any(.status.conditions[]; .type == \"Ready\" and .status == \"False\" and .reason == \"$1\" and
		(.message | contains(\"$2\")))"
}
version() {
	kubectl get configmap "$JOURNAL" --output 'jsonpath={.metadata.resourceVersion}'
}

# ---- when it starts ----------------------------------------------------------------------------------

edit 'not JSON'
with_resource b 'attempts:' '  readyDeadline: 1h'
pod_start b
for ((i = 0; i < ${#cases[@]}; i += 3)); do
	eval "${cases[i + 2]}"
	before=$(version)
	await "${cases[i]}: a condition with the place" says JournalUnreadable "${cases[i + 1]}"
	is "$(version) $(launches)" "$before 1" "${cases[i]}: not overwritten, nothing started"
done
check "the ways out are said" says JournalUnreadable "delete the ConfigMap"
check "the status document has it, too" pod_is b '.journal.broken and (.journal.error | contains("journal.json"))'
await "after a minute a person is needed" condition_is Stalled True JournalUnreadable
# without the journal an agent that ends does not know that there is a new one, and has the last word
before=$(resource_status '.status.phase')
kubectl patch flapp "$APPLICATION" --subresource status --type merge --patch '{"status": {"phase": "Terminating"}}' >/dev/null
await "what another agent writes into the status does not stay" resource_is ".status.phase == \"$before\""
edit_map .
await "with a copy put back it goes on by itself" launched 2
check "nothing was lost" journal_is '.launches | length == 2 and .[0].startedUnixMs != null'
await "and nothing is wrong" condition_is Stalled False Launching
await "it is on record" journal_is '.launches[1].startedUnixMs != null'

# ---- while it runs -----------------------------------------------------------------------------------

broken() { # TEXT
	pod_is b ".journal.broken and (.journal.error | contains(\"$1\"))"
}
mended() {
	pod_is b '.journal.broken | not'
}
flink=$(pgrep -P "${POD_PID[b]}" -x sleep)
kubectl get configmap "$JOURNAL" --output json | jq 'del(.metadata.resourceVersion, .metadata.uid, .metadata.managedFields)' >"$RUN/good.json"
jq --raw-output '.data["journal.json"]' "$RUN/good.json" >"$RUN/document"
for ((i = 0; i < ${#cases[@]}; i += 3)); do
	case ${cases[i]} in # a write is tried again after up to 15 s, so not all of them
	"no JSON" | "half of it" | "a version that there is not yet" | "launches that are no list" | *keys* | *key* | "binary data") ;;
	*) continue ;;
	esac
	eval "${cases[i + 2]}"
	before=$(version)
	# the first is noticed without anything to write
	[ "$i" -eq 0 ] || "$BUILD/drey" savepoint --timeout 1s --config "$RUN/b/drey.yaml" >/dev/null 2>&1 || :
	await "while it runs, ${cases[i]}: it cannot be written" broken "${cases[i + 1]}"
	is "$(version)" "$before" "${cases[i]}: and is not overwritten"
	if [ "$i" -eq 0 ]; then
		await "after a minute that is a condition with the reason" resource_is 'any(.status.conditions[]; .type == "Stalled" and
			.status == "True" and .reason == "JournalBroken" and (.message | contains("Delete the ConfigMap")))'
	fi
	kubectl delete configmap "$JOURNAL" >/dev/null
	await "${cases[i]}: deleted, it is written again" mended
	check "${cases[i]}: with all of it" journal_is '.launches | length == 2'
done
is "$(launches) $(pgrep -P "${POD_PID[b]}" -x sleep)" "2 $flink" "Flink was left alone all the time"
await "nothing is wrong any more" condition_is Stalled False

# ---- what was seen of the control inputs ---------------------------------------------------------------

pod_end b
for nonsense in 'not JSON' '[]' '{"schema": 99}' ''; do
	before=$(launches)
	jq --null-input --arg text "$nonsense" '{data: {"control-seen.json": $text}}' >"$RUN/patch.json"
	kubectl patch configmap "$JOURNAL" --type merge --patch-file "$RUN/patch.json" >/dev/null
	with_resource c
	pod_start c
	await "what was seen is '$nonsense': it starts as at the first look" launched $((before + 1))
	check "and does what is wanted" pod_is c '.desired.state == "running" and .desired.doNotRestart == false'
	pod_end c
done
is "$(api_denied)" "" "nothing was asked for that the Role does not allow"
e2e_end
