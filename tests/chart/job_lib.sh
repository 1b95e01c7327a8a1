# shellcheck shell=bash disable=SC2034,SC2154
#
# job_lib.sh - what a Job of the chart does, from outside of Pods, with the account of that Job. Sourced after tests/api/lib.sh.
#
#   job_begin NAME               its files are in JOB_DIR: RUN/NAME
#   as_account ACCOUNT FILE      a kubeconfig with the token of an account
#   says STATUS TEXT WHAT        STATUS, and what is in JOB_DIR/err
#   control KEY VALUE            in the control ConfigMap
#   control_has KEY REGEX        it has such a value
#   savepoints                   how many there are
#   asked ACCOUNT                what it has asked for: "VERB RESOURCE NAME", once each, and what was refused

job_begin() { # NAME
	CONTROL_MAP=$APPLICATION-drey-control
	JOB_DIR=$RUN/$1
	mkdir -p "$JOB_DIR"
}

as_account() { # ACCOUNT FILE
	jq --arg token "$(kubectl create token "$1")" '.users[0].user = {token: $token}' "$POD_KUBECONFIG" >"$2"
}

says() { # STATUS TEXT WHAT
	local got=$STATUS
	grep --quiet --fixed-strings -- "$2" "$JOB_DIR/err" || got="$STATUS: $(cat "$JOB_DIR/err")"
	is "$got" "$1" "$3"
}

control() { # KEY VALUE
	kubectl patch configmap "$CONTROL_MAP" --type merge --patch "{\"data\":{\"$1\":\"$2\"}}" >/dev/null
}

control_has() { # KEY REGEX
	kubectl get configmap "$CONTROL_MAP" --output json | jq --exit-status --arg key "$1" --arg regex "$2" '.data[$key] // "" | test($regex)' >/dev/null
}

savepoints() {
	find "$RUN/sp/" -name _metadata | wc -l
}

asked() { # ACCOUNT
	jq --raw-output --arg user "system:serviceaccount:$NAMESPACE:$1" 'select(.user.username == $user and .objectRef.resource != null) |
		"\(.verb) \(.objectRef.resource) \(.objectRef.name)\(if .responseStatus.code == 401 or .responseStatus.code == 403 then " refused" else "" end)"' \
		"$CLUSTER/log/audit.log" | sort --unique
}
