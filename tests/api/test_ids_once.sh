#!/usr/bin/env bash
#
# A numbered job id is used once: the journal, its copy and Flink's HA maps are lost, and so are the checkpoints; only Flink's
# records of how the first launches ended are still there. A person resumes the job from its savepoint: it gets an id
# without a record, and runs. (Flink does not run a job of whose id it has a record, and says that it has finished.)
#
# runs in: all

# shellcheck disable=SC2119,SC2154 # lib.sh has functions whose arguments are optional; keys of DREY_CONF
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/ha_lib.sh
. "$TOP/tests/api/ha_lib.sh"

NAMES=3 # so few that an id of the first launches is drawn soon, if it can be

stopped() { # NUMBER: launch NUMBER runs and is stopped with a savepoint: JOB, SAVEPOINT
	await "launch $1 is proven" status_is ".phase == \"Running\" and .launch.number == $1 and .launch.proven"
	JOB=$(status .jobId)
	check "the Role names its id" is_named "$JOB"
	check "it is suspended" drey suspend
	SAVEPOINT=$(plain_path "$(status .lastSavepoint.path)")
	await "Flink has a record of its end" test -n "$(records "$JOB")"
}

records() { # JOB
	find "$RUN" -name "$1*.json" -not -path '*/sp/*'
}

# Nothing is left but the savepoint, under a name that says nothing, and the records.
lose_the_rest() {
	end_drey KILL
	rm -r "$RUN/state"
	[ -z "$SAVEPOINT" ] || mv "$SAVEPOINT" "$RUN/sp/kept-$ROUND"
	find "$RUN/sp" -maxdepth 1 -name 'savepoint-*' -exec rm -r {} +
	find "$RUN/ck" -mindepth 1 -maxdepth 1 -not -name 'job-results' -exec rm -r {} +
	kubectl delete configmap --all >/dev/null
	is "$(kubectl get configmaps --output name | grep -cE 'drey|config-map')" 0 "journal and HA maps are lost"
	diag "records: $(find "$RUN" -name '*.json' -path '*result*' -printf '%P ')"
}

# What Flink does with a job of whose id it has a record.
ignored() {
	grep -c 'already reached a globally-terminal state' "$RUN/log/jm.log"
}

API_VALUES="--set drey.kubernetes.launches=$NAMES"
e2e_begin ids-once
api_begin ids-once
DREY_CONF[kubernetes.launches]=$NAMES
DREY_CONF[attempts.backoffFirst]=200ms
ha_begin
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
stopped 1
used=("$JOB")
for ROUND in 1 2; do
	lose_the_rest
	start_drey
	await "the journal is lost: drey holds" status_is '.phase == "Holding" and .cause == "JournalLost"'
	diag "$(status .reason)"
	check "nothing runs" test -z "$(jm_pid)"
	check "a person says where to go on" drey resume --from "file:$RUN/sp/kept-$ROUND"
	stopped 1
	check "under an id that was not used" not grep -qw "$JOB" <<<"${used[*]}"
	used+=("$JOB")
done
is "$(ignored)" 0 "Flink has refused none of them"
check "no state was lost all the time" continuity
is "$(printf '%s\n' "${used[@]}" | sort -u | wc -l)" 3 "three launches, three ids"
e2e_end
