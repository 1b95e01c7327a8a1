#!/usr/bin/env bash
#
# `drey gc` beside a Flink with its own high availability: after several launches, some of which went on under the same id
# after a SIGKILL, what Flink has kept for dead jobs goes; nothing goes that a ConfigMap refers to, and Flink continues from
# it when it is killed again. And what may not be read is no reason to delete.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/ha_lib.sh
. "$TOP/tests/api/ha_lib.sh"

e2e_begin ha-gc
api_begin ha-gc
DREY_CONF[attempts.backoffFirst]=200ms
ha_begin
HA=$RUN/ha/$APPLICATION

launch_is_proven() { # NUMBER
	status_is ".phase == \"Running\" and .launch.number == $1 and .launch.proven"
}

# The JobManager is killed; Flink continues under the same id.
killed() { # NUMBER
	local job
	job=$(status .jobId)
	kill -KILL "$(jm_pid)"
	await "killed: launch $1 is proven" launch_is_proven "$1"
	is "$(status .jobId)" "$job" "under the same id"
}

# The container is killed as well, and the next one has another version.
upgraded() { # NUMBER GENERATION
	local job
	job=$(status .jobId)
	end_drey KILL
	DREY_CONF[generation]=$2
	start_drey
	MUST_LIVE=(jm tm)
	await "generation $2: launch $1 is proven" launch_is_proven "$1"
	check "under a new id" runs_after "$job"
}

# Names of the files that the HA ConfigMaps refer to.
named() {
	kubectl get configmap --selector "app=$APPLICATION,type=flink-native-kubernetes" --output json >"$RUN/maps.json" &&
		"$BUILD/drey" inspect --json "$RUN/maps.json" |
		jq --raw-output '.maps[].entries[] | .uri // empty | split("/")[-1]' | sort
}

# Each file that they refer to is there; Flink replaces some meanwhile.
all_named_are_there() {
	local name
	for name in $(named); do
		[ -e "$HA/$name" ] || ! named | grep -qx "$name" || { echo "$name is gone" && return 1; }
	done
}

# Names of the checkpoints that Flink's HA has kept for these jobs, whether its maps refer to them or not.
kept_for() { # JOB...
	local file job
	for file in "$HA"/completedCheckpoint*; do
		job=$("$BUILD/drey" inspect --json "$file" 2>>"$RUN/log/inspect.log" | jq --raw-output .jobId)
		[[ " $* " != *" $job "* ]] || basename "$file"
	done
}

collect() { # OPTION...
	drey gc --json --files --keep 0 --keep-for 0s --grace 0s "$@" >"$RUN/gc.json" 2>>"$RUN/log/gc.log"
}

collected() { # JQ_FILTER
	jq --raw-output --exit-status "$1" "$RUN/gc.json"
}

start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" launch_is_proven 1
first=$(status .jobId)
await "and has some checkpoints" has_completed 4 "$first"
killed 2
killed 3
upgraded 4 two
second=$(status .jobId)
killed 5
upgraded 6 three
third=$(status .jobId)
killed 7
await "the maps of dead jobs are deleted" not has_map "$(job_map "$second")"
check "Flink's HA has checkpoints of the first job" test -n "$(kept_for "$first")"
check "and of the second" test -n "$(kept_for "$second")"
is "$(find "$HA" -name 'submitted*' | wc -l)" 3 "and all three jobs"

# ---- the maps may not be read
check "the Role does not name the maps any more" api_role_without \
	'del(.rules[] | select(.resourceNames // [] | any(endswith("-config-map"))))' get "configmaps/$(cluster_map)"
collect --delete
is "$? $(collected '.deleted.files')" "4 0" "403: nothing is deleted"
check "and it says why" collected '.stopped | contains("cannot be read")'
check "what Flink's HA has is in doubt" collected '[.rows[] | select(.directory | endswith("/'"$APPLICATION"'")) | .verdict] | unique == ["doubt"]'
check "the Role names them again" api_role
await "they can be read" api_may get "configmaps/$(cluster_map)"

# ---- judged, and deleted
check "a dry run" collect
is "$(collected '.stopped // "nothing"')" nothing "nothing stops it"
diag "$(collected '[.rows[] | "\(.reason) \(.files)"] | join(", ")')"
is "$(collected '[.rows[] | select(.reason == "ha") | .jobId] | sort | join(" ")')" \
	"$(printf '%s\n' "$first" "$second" | sort | paste -sd' ')" "what Flink's HA has of the two dead jobs would go"
collected '.rows[] | select(.verdict == "delete") | .names[] | split("/")[-1]' | sort >"$RUN/would-go"
check "the ConfigMaps refer to files" test -n "$(named)"
is "$(named | comm -12 - "$RUN/would-go")" "" "nothing of it is referred to by a ConfigMap"
check "it deletes" collect --delete
check "all that it said" collected '.deleted.files > 0 and .failed == 0 and .deleted.files == .delete.files'
is "$(kept_for "$first" "$second")" "" "no checkpoint of a dead job is left in Flink's HA"
is "$(find "$HA" -name 'submitted*' | wc -l)" 1 "and one job"
check "what the ConfigMaps refer to is there" all_named_are_there
check "a dry run after that" collect
is "$(collected .delete.files)" 0 "has nothing more to delete"
check "the job has not noticed" status_is ".jobId == \"$third\" and .phase == \"Running\" and .launch.number == 7"

# ---- Flink still continues, and so does another launch
killed 8
upgraded 9 four
check "no state was lost all the time" continuity
e2e_end
