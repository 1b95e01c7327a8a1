#!/usr/bin/env bash
#
# How Argo CD judges a FlinkApplication: chart/argocd/health.lua, in the Lua of Argo CD (5.1).

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"

if ! command -v lua5.1 >/dev/null; then
	[ -z "${DREY_TEST_REQUIRE:-}" ] || die 1 "lua5.1 is missing, and DREY_TEST_REQUIRE is set"
	echo "1..0 # SKIP lua5.1 is missing"
	exit 0
fi

# A JSON document as a Lua table; null is what is not there.
as_lua='def lua:
	if type == "object" then "{" + ([to_entries[] | select(.value != null) | "[\(.key | @json)]=\(.value | lua)"] | join(",")) + "}"
	elif type == "array" then "{" + (map(lua) | join(",")) + "}"
	else @json end; lua'

health() { # RESOURCE_JSON
	{
		echo "obj = $(jq --raw-output "$as_lua" <<<"$1")"
		echo 'local function check()'
		cat "$TOP/chart/argocd/health.lua"
		echo 'end'
		echo 'local health = check()'
		echo 'print(health.status .. ": " .. health.message)'
	} | lua5.1 -
}

resource() { # PHASE TRUE_CONDITION [OBSERVED_GENERATION]
	jq --null-input --arg phase "$1" --arg true "$2" --argjson observed "${3:-3}" '{
		metadata: {name: "orders", generation: 3},
		status: {phase: $phase, reason: "because", observedGeneration: $observed, jobId: null,
			conditions: ["Ready", "Reconciling", "Stalled"] | map({type: ., status: (if . == $true then "True" else "False" end),
				reason: $phase, message: "the message of \(.)"})}}'
}

is "$(health '{"metadata": {"generation": 1}}')" "Progressing: drey has not written a status yet" "no status"
is "$(health '{"metadata": {"generation": 1}, "status": {}}')" "Progressing: drey has not read the last change yet" "an empty one"
is "$(health "$(resource Running Ready 2)")" "Progressing: drey has not read the last change yet" "an older generation"
is "$(health "$(resource Running Ready)")" "Healthy: because" "the job runs"
is "$(health "$(resource Launching Reconciling)")" "Progressing: because" "it starts"
is "$(health "$(resource Resolving '')")" "Progressing: because" "nothing holds yet"
is "$(health "$(resource Holding Stalled)")" "Degraded: the message of Stalled" "drey holds"
is "$(health "$(resource Failed Stalled)")" "Degraded: the message of Stalled" "it has failed"
is "$(health "$(resource Suspended '')")" "Suspended: because" "suspended"
is "$(health "$(resource Cancelled '')")" "Suspended: because" "cancelled"
is "$(health "$(resource Holding Reconciling)")" "Progressing: because" "it holds for a moment"
is "$(health "$(resource Holding '' | jq '.status.conditions[0].reason = "DoNotRestart"')")" "Suspended: because" "do-not-restart"
is "$(health "$(resource Running Stalled)")" "Degraded: the message of Stalled" "the spec is refused"
is "$(health "$(resource Finished '')")" "Healthy: because" "finished"
is "$(health '{"metadata": {"generation": 3}, "status": {"observedGeneration": 3}}')" "Progressing: " "no conditions"
e2e_end
