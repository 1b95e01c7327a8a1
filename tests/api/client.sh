# shellcheck shell=bash disable=SC2034
#
# client.sh - drey's client of the API server alone (kube_driver.c), for the tests of it; after lib.sh and api_begin.
#
#   client_as KUBECONFIG [NAMESPACE] from now on this is asked; the one before ends
#   ask WORD...                      one command of the driver: sets ANSWER, a line of JSON
#   answers WANT WORD...             the same, as a check: KIND [STATUS [REASON]] is WANT
#   field JQ                         of ANSWER
#   proxy_begin, proxy_faults RULE... a fault_proxy.py in front of the API server; PROXY_KUBECONFIG leads to it; its rules
#                                    from now on, one a word (none: everything passes)

driver=$BUILD/tests/api/kube_driver

client_as() { # KUBECONFIG [NAMESPACE]
	client_end
	# shellcheck disable=SC2090
	coproc CLIENT { exec env "E2E_RUN=$RUN" "${POD_ENV[@]}" "$driver" "$@" 2>>"$RUN/log/driver.log"; }
	client_in=${CLIENT[1]}
	client_out=${CLIENT[0]}
	client_pid=$CLIENT_PID
}

client_end() {
	[ -n "${client_pid:-}" ] || return 0
	exec {client_in}>&-
	wait "$client_pid" 2>/dev/null || :
	client_pid=''
}

ask() { # WORD...
	ANSWER=''
	printf '%s\n' "$*" >&"$client_in"
	read -r -t "$WAIT_S" -u "$client_out" ANSWER || ANSWER='{"kind":"no answer"}'
}

field() { # JQ
	jq --raw-output "$1" <<<"$ANSWER"
}

answers() { # WANT WORD...
	local want=$1 got
	shift
	ask "$@"
	got=$(field '[.kind, .status, .reason] | map(tostring) | join(" ")')
	case $got in
	"$want" | "$want "*) tap_result 0 "$(cut -c1-100 <<<"$*"): $want" ;;
	*)
		tap_result 1 "$(cut -c1-100 <<<"$*"): $want"
		diag "$(cut -c1-600 <<<"$ANSWER")"
		;;
	esac
}

# Succeeds when the command gives that kind; for await.
asking_gives() { # KIND WORD...
	local kind=$1
	shift
	ask "$@"
	[ "$(field .kind)" = "$kind" ]
}

# ---- the proxy -----------------------------------------------------------------------------------

# A certificate for 127.0.0.1 of the control plane's CA.
proxy_begin() {
	PROXY_FAULTS=$RUN/faults
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$RUN/proxy.key" -subj /CN=proxy 2>/dev/null |
		openssl x509 -req -CA "$CLUSTER/pki/ca.crt" -CAkey "$CLUSTER/pki/ca.key" -CAcreateserial -days 1 \
			-out "$RUN/proxy.crt" -extfile <(echo "subjectAltName=IP:127.0.0.1") 2>/dev/null
	spawn proxy python3 "$TOP/tests/api/fault_proxy.py" --upstream "$API_URL" --ca "$CLUSTER/pki/ca.crt" \
		--cert "$RUN/proxy.crt" --key "$RUN/proxy.key" --faults "$PROXY_FAULTS" --port-file "$RUN/proxy.port"
	await "the proxy listens" test -e "$RUN/proxy.port"
	PROXY_KUBECONFIG=$RUN/proxy.conf
	jq --arg server "https://127.0.0.1:$(cat "$RUN/proxy.port")" '.clusters[0].cluster.server = $server' "$POD_KUBECONFIG" \
		>"$PROXY_KUBECONFIG"
}

proxy_faults() { # RULE...
	: >"$PROXY_FAULTS.new"
	[ $# -eq 0 ] || printf '%s\n' "$@" >"$PROXY_FAULTS.new"
	mv "$PROXY_FAULTS.new" "$PROXY_FAULTS"
}
