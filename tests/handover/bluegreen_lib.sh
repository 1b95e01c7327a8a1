# shellcheck shell=bash
#
# bluegreen_lib.sh - what the tests of blue/green upgrades have in common. Sourced after surge_lib.sh of tests/handover or tests/cluster.
#
#   bluegreen_begin NAME SETTLE   of tests/handover only: the bench, and versions g1, g2 and g3 of a job with a gate
#   from_outside WORD...          of tests/handover only: kubectl drey WORD..., by a person; the control ConfigMap is there
#   bluegreen_cases CASE...       runs these functions, and then what is true of all

transition_is() { # STATE
	journal_is ".handover.transition.state == \"$1\" and .handover.transition.id == .handover.id"
}

shadow_is() { # STATE
	[ "$(candidate "select(.pod == \"$CANDIDATE\") | .shadow.state" 2>/dev/null)" = "$1" ]
}

gates_are() { # WORD
	[ "$(candidate .shadow.gate.word 2>/dev/null)" = "$1" ]
}

own_journal() { # JQ
	kubectl get configmap "$APPLICATION-drey-candidate-journal" --output json 2>/dev/null | jq --raw-output '.data["journal.json"]' | jq --raw-output "$1"
}

own_journal_is_gone() {
	! kubectl get configmap "$APPLICATION-drey-candidate-journal" >/dev/null 2>&1
}

# What both have committed, and not what they have read.
committed_by() { # VERSION
	find "$OUT/committed" -name 'part-*' -exec cat {} + | awk -v version="$1" '$1 == version' | wc -l
}

has_committed() { # VERSION AT_LEAST
	[ "$(committed_by "$1")" -ge "$2" ]
}

commits_more() { # VERSION
	[ "$(committed_by "$1")" -ge $((WRITTEN + 100)) ]
}

# Of the old version only what is below the cut, of the new one only what is at or above it.
divided_at() { # CUT OLD NEW
	find "$OUT/committed" -name 'part-*' -exec cat {} + | awk -v cut="$1" -v old="$2" -v new="$3" '
		$1 == old && $4 >= cut || $1 == new && $4 < cut { print; wrong++ }
		END { exit wrong > 0 }'
}

# Both jobs write what they read into the log, so only what was committed counts.
exactly() {
	judge -v replay=1 -v splits=2 && [ "$(verdict '"\(.lost) \(.doubled)"')" = "0 0" ]
}

bluegreen_keys() { # T SETTLE [KEY=VALUE...]
	template_keys "$1" blueGreen.sourcesCanBeReadTwice=true "blueGreen.sinkUids=[commit-blue, commit-green]" blueGreen.lead=3s \
		blueGreen.caughtUp=2s "blueGreen.settle=$2" "${@:3}"
}

bluegreen_begin() { # NAME SETTLE
	local one
	watched_begin "$1" blueGreen
	for one in g1 g2 g3; do
		template "$one"
		bluegreen_keys "$one" "$2" blueGreen.deadline=4min
	done
	kubectl create configmap "$APPLICATION-drey-control" >/dev/null
	ln -s "$(realpath "$BUILD/drey")" "$RUN/kubectl-drey"
}

from_outside() { # WORD...
	"$RUN/kubectl-drey" --kubeconfig "$ADMIN" --namespace "$NAMESPACE" "$@"
}

# The jobs of two versions run at a time, and their outputs were judged by the cases.
bluegreen_cases() { # CASE...
	run_cases "$@"
	check "the observer ends" end_observer
	check "no TaskManager was at the JobManager of another version" nobody_astray
	diag "$(observed 'select(.what == "end")')"
	check_denied
	e2e_end
}
