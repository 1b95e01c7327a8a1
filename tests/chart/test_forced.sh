#!/usr/bin/env bash
#
# The chart makes drey's ConfigMaps, and `helm upgrade --force` (Helm 4: `--force-replace`) replaces them by what it renders, which
# is nothing: a drey that runs writes its journal again, one that starts then does not take the map for a new one. With both Helms, a
# real API server, and a script in Flink's place.
#
# runs in: ci

# shellcheck disable=SC2317 # called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/chart/lib.sh
. "$TOP/tests/chart/lib.sh"
CHART_MAKES_MAPS=true
chart_begin chart-forced
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"

# the account and its Role are those of tests/api/lib.sh: Helm installs beside them
# shellcheck disable=SC2034 # for helm
TEAM=$NAMESPACE
options=("--values=$TOP/tests/chart/least.yaml" --no-hooks --set "drey.kubernetes.createMaps=false,rbac.create=false,serviceAccount.create=false,serviceAccount.name=$APPLICATION")

force() {
	if [ "$HELM" = 3 ]; then
		helm upgrade "$APPLICATION" "$CHART" "${options[@]}" --force
	else
		helm upgrade "$APPLICATION" "$CHART" "${options[@]}" --force-replace --server-side=false
	fi
}

starts() { # POD
	pod_conf "$1" '  createMaps: false' "  owner: deployment/$APPLICATION-jobmanager" 'poll:' '  slow: 1s'
	pod_start "$1"
}

content() {
	kubectl get configmap "$JOURNAL" --output json | jq --raw-output '(.data // {} | keys | join(" ")) + " " +
		(.metadata.annotations["drey.dev/uid"] == .metadata.uid | tostring)'
}

is_marked() {
	[ "$(content)" = "control-seen.json journal.json true" ] || [ "$(content)" = "journal.json true" ]
}

agent_of() { # POD
	pgrep -P "${POD_PID[$1]}" -x drey
}

for HELM in 3 4; do
	check "Helm $HELM installs" helm install "$APPLICATION" "$CHART" "${options[@]}"
	a=a$HELM b=b$HELM c=c$HELM
	starts "$a"
	await "the job is launched" launched 1
	await "and the journal has its mark" is_marked
	await "and a copy in storage" test -f "$RUN/ck/.drey/$APPLICATION/journal.json"

	agent=$(agent_of "$a")
	kill -STOP "$agent"
	check "an upgrade by force while it runs" force
	is "$(content)" " false" "takes the journal away, and its mark"
	kill -CONT "$agent"
	await "drey writes it again" is_marked
	check "complete" journal_is '.launches | length == 1'
	check "Flink runs on" pgrep -P "${POD_PID[$a]}" -x sleep
	kubectl get configmap "$JOURNAL" --output json | jq --compact-output '{data}' >"$RUN/backup.json"

	pod_kill "$a"
	check "an upgrade by force while it is down" force
	is "$(content)" " false" "takes the journal away, and its mark"
	mv "$RUN/ck" "$RUN/away"
	starts "$b"
	await "a drey that starts then holds, also where nothing else is left" pod_says "$b" "is empty, but drey has written to it: it was replaced as a whole"
	pod_status "$b" .reason >"$RUN/reason"
	check "and names the way out" grep --quiet --fixed-strings "kubectl annotate --overwrite configmap $JOURNAL drey.dev/uid=$(kubectl get configmap "$JOURNAL" --output 'jsonpath={.metadata.uid}')" "$RUN/reason"
	"$BUILD/drey" check --config "$RUN/$b/drey.yaml" >"$RUN/check" 2>&1
	check "drey check names it" grep --quiet "is empty, but drey has written to it" "$RUN/check"
	is "$(launches)" 1 "nothing was launched"
	rm -rf "$RUN/ck"
	mv "$RUN/away" "$RUN/ck"
	eval "$(grep --only-matching 'kubectl annotate [^`]*' "$RUN/reason")" >/dev/null
	await "when a person has run it, the journal is a lost one" pod_is "$b" '.cause == "JournalLost"'
	check "of which the copy is asked" pod_says "$b" "the copy of "
	is "$(launches)" 1 "nothing was launched"
	pod_kill "$b"
	kubectl patch configmap "$JOURNAL" --type merge --patch-file "$RUN/backup.json" >/dev/null
	starts "$c"
	await "with a backup of it the job goes on" launched 2
	check "with the journal of before" journal_is '.launches | length == 2'
	pod_end "$c"
	helm uninstall "$APPLICATION" --no-hooks >/dev/null
	kubectl delete configmap "$JOURNAL" "$APPLICATION-drey-candidate" "$APPLICATION-drey-candidate-journal" >/dev/null
	rm -rf "$RUN/launches" "$RUN/ck" "$RUN/sp"
done
e2e_end
