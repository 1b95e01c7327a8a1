# shellcheck shell=bash
#
# plugin_lib.sh - `kubectl drey` as users see it. Sourced after tests/api/lib.sh, used after api_begin.
#
#   plugin_begin                 kubectl finds this build's drey as its plugin
#   plugin_user USER             a user without any rights
#   plugin_role USER ROLE        the user has the Role or ClusterRole ROLE of docs/reference/kubectl.md
#   plugin_can USER VERB ...     as `kubectl auth can-i`; plugin_cannot
#   plugin USER WORD...          kubectl drey WORD..., as the user: STATUS; $RUN/out, $RUN/err
#   as_plugin USER WORD...       kubectl WORD..., as the user
#   ended WHAT STATUS TEXT [TEXT...]    the last one ended so; the first TEXT is part of its output, the others of its messages; '': none

plugin_begin() {
	mkdir -p "$RUN/bin" "$RUN/home"
	ln -sf "$(cd "$BUILD" && pwd)/drey" "$RUN/bin/kubectl-drey"
}

plugin_user() { # USER
	kubectl create serviceaccount "$1" >/dev/null
	jq --null-input --arg server "$API_URL" --arg namespace "$NAMESPACE" --arg ca "$CLUSTER/pki/ca.crt" \
		--arg token "$(kubectl create token "$1" --duration 3600s)" '{
		apiVersion: "v1", kind: "Config", "current-context": "plugin",
		contexts: [{name: "plugin", context: {cluster: "here", user: "me", namespace: $namespace}}],
		clusters: [{name: "here", cluster: {server: $server, "certificate-authority": $ca}}],
		users: [{name: "me", user: {token: $token}}]
	}' >"$RUN/$1.conf"
}

# The block of the page that has this name.
plugin_role_text() { # ROLE
	awk -v name="metadata: {name: $1}" '
		/^```/ { if (found) printf "%s", text; text = ""; found = 0; inside = !inside; next }
		inside { text = text $0 "\n"; if ($0 == name) found = 1 }' "$TOP/docs/reference/kubectl.md"
}

plugin_role() { # USER ROLE
	local kind=role
	plugin_role_text "$2" >"$RUN/$2.yaml"
	! grep -q '^kind: ClusterRole$' "$RUN/$2.yaml" || kind=clusterrole
	if [ "$kind" = clusterrole ]; then
		# one control plane has many tests
		sed -i "s/{name: $2}/{name: $2-$NAMESPACE}/" "$RUN/$2.yaml"
		kubectl apply --server-side --force-conflicts --filename "$RUN/$2.yaml" >/dev/null &&
			kubectl_cluster create clusterrolebinding "$2-$NAMESPACE" --clusterrole "$2-$NAMESPACE" \
				--serviceaccount "$NAMESPACE:$1" >/dev/null
	else
		kubectl apply --server-side --force-conflicts --filename "$RUN/$2.yaml" >/dev/null &&
			kubectl create rolebinding "$1-$2" --role "$2" --serviceaccount "$NAMESPACE:$1" >/dev/null
	fi || die 1 "docs/reference/kubectl.md has no Role $2 that can be applied"
}

plugin_can() { # USER VERB RESOURCE [OPTION...]
	kubectl auth can-i "${@:2}" --as "system:serviceaccount:$NAMESPACE:$1" >/dev/null
}

plugin_cannot() { # USER VERB RESOURCE
	! plugin_can "$@"
}

as_plugin() { # USER WORD...
	local user=$1
	shift
	env "PATH=$RUN/bin:$PATH" "KUBECONFIG=$RUN/$user.conf" "HOME=$RUN/home" "$KUBE_HOME/bin/kubectl" "$@"
}

plugin() { # USER WORD...
	local user=$1
	shift
	as_plugin "$user" drey "$@" >"$RUN/out" 2>"$RUN/err" </dev/null
	STATUS=$?
}

ended() { # WHAT STATUS [TEXT...]
	local what=$1 want=$2 text ok=0
	shift 2
	[ "$STATUS" -eq "$want" ] || ok=1
	[ -z "${1:-}" ] || grep -qF -- "$1" "$RUN/out" || ok=1
	for text in "${@:2}"; do
		[ -z "$text" ] || grep -qF -- "$text" "$RUN/err" || ok=1
	done
	tap_result "$ok" "$what"
	[ "$ok" -eq 0 ] || diag "status $STATUS, not $want, or without: $*" "$(head -c 1500 "$RUN/out" "$RUN/err")"
}
