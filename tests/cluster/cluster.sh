#!/usr/bin/env bash
#
# cluster.sh - a real Kubernetes control plane for tests: etcd, API server and controllers as plain processes.
#
#   cluster.sh up DIR [--owner PID]    starts what does not run; prints the kubeconfig of an administrator
#   cluster.sh down DIR                ends everything; the logs stay
#   cluster.sh status DIR              one line per process; 0 if all run and the API server is ready, else 1
#   cluster.sh start|stop|kill DIR NAME...    one of them: apiserver, etcd or controllers; `start` waits until it works
#   cluster.sh signal DIR SIGNAL NAME...      STOP and CONT make one that hangs
#   cluster.sh renew DIR               another CA, and the API server with another certificate
#   cluster.sh client DIR NAME SUBJECT [SUBJECT_ALT_NAMES]     pki/NAME.crt, .key and .conf, the kubeconfig of a client
#
# DIR has all that belongs to it (log/, pki/, the database), so there can be many side by side: all listen on 127.0.0.1
# only, on ports that take_port (tests/e2e/lib.sh) has found free and keeps. With --owner it ends when that process does,
# however that comes. Without a node (node.sh) nothing is scheduled: Pods stay Pending. RBAC is on, every request of somebody
# else than the control plane and the administrator is in log/audit.log, and pki/sa.key signs the tokens.
#
# In the environment: APISERVER_FLAGS, more flags for kube-apiserver (words); API_ADDRESS, where it listens instead, so that
# Pods can reach it and it finds the kubelet, whose certificate is of the same authority as the clients'; KUBE_HOME, the programs, instead of those
# that tools/get-kube.sh gives. No root is needed. Exit status: 0 done, 1 not, 2 usage, 3-5 as tools/get-kube.sh.

set -euo pipefail
cluster_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/lib.sh
. "$cluster_here/../e2e/lib.sh"

SERVICES=10.96.0.0/16
SERVICE1=10.96.0.1
START_S=${WAIT_S:-120}

usage() {
	sed -n '5,10p' "${BASH_SOURCE[0]}" | sed 's/^#   //' >&2
	exit 2
}

# ---- keys ----------------------------------------------------------------------------------------

new_cert() { # CA NAME SUBJECT [SUBJECT_ALT_NAMES]
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$pki/$2.key" -subj "$3" 2>/dev/null |
		openssl x509 -req -CA "$pki/$1.crt" -CAkey "$pki/$1.key" -days 365 -out "$pki/$2.crt" 2>/dev/null \
			-extfile <(echo "extendedKeyUsage=clientAuth,serverAuth" && echo "${4:+subjectAltName=$4}")
}

new_kubeconfig() { # NAME
	jq --null-input --arg server "https://$API_ADDRESS:$API_PORT" --arg user "$1" --arg ca "$(base64 -w0 "$pki/ca.crt")" \
		--arg crt "$(base64 -w0 "$pki/$1.crt")" --arg key "$(base64 -w0 "$pki/$1.key")" '{
			apiVersion: "v1", kind: "Config", "current-context": "drey",
			contexts: [{name: "drey", context: {cluster: "drey", user: $user}}],
			clusters: [{name: "drey", cluster: {server: $server, "certificate-authority-data": $ca}}],
			users: [{name: $user, user: {"client-certificate-data": $crt, "client-key-data": $key}}]
		}' >"$pki/$1.conf"
}

# The API server's certificate and whom to trust. Clients are told apart by another CA, so this one can be renewed.
new_server_cert() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj "/CN=drey-test-ca-$RANDOM" \
		-keyout "$pki/ca.key" -out "$pki/ca.crt" 2>/dev/null
	new_cert ca apiserver /CN=kube-apiserver "IP:$API_ADDRESS,IP:$SERVICE1,DNS:localhost,DNS:kubernetes.default.svc"
	new_kubeconfig admin
	new_kubeconfig controllers
}

# An RSA key for the tokens, because a shell can sign with it: a test can make one that ends in a moment.
new_pki() {
	pki=$dir/pki.new
	rm -rf "$pki"
	(umask 077 && mkdir -p "$pki")
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj /CN=drey-test-clients \
		-keyout "$pki/clients.key" -out "$pki/clients.crt" 2>/dev/null
	openssl genrsa -out "$pki/sa.key" 2048 2>/dev/null
	openssl rsa -in "$pki/sa.key" -pubout -out "$pki/sa.pub" 2>/dev/null
	new_cert clients admin /O=system:masters/CN=admin
	new_cert clients controllers /CN=system:kube-controller-manager
	new_server_cert
	mv "$pki" "$dir/pki"
	pki=$dir/pki
}

# ---- processes -----------------------------------------------------------------------------------

# The pid of NAME while it runs. What else may have got the number has not DIR on its command line; that of a zombie is
# empty, but so is, for a moment, that of a process in the middle of exec.
pid_of() { # NAME
	local pid line
	pid=$(cat "$dir/pid/$1" 2>/dev/null) || return 1
	line=$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") || return 1
	case $line in
	*"$dir/"*) ;;
	'') grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$pid/status" || return 1 ;;
	*) return 1 ;;
	esac
	echo "$pid"
}

launch() { # NAME PROGRAM FLAG...
	local name=$1
	shift
	setsid env --default-signal=INT --default-signal=QUIT "$KUBE_HOME/bin/kube" "$@" >>"$dir/log/$name.log" 2>&1 </dev/null &
	echo $! >"$dir/pid/$name"
	# one that has just been forked has the command line of this script still
	until pid_of "$name" >/dev/null || ! kill -0 $! 2>/dev/null; do
		sleep 0.02
	done
}

launch_etcd() {
	launch etcd etcd --data-dir="$dir/etcd" --unsafe-no-fsync --log-level=warn \
		--listen-client-urls="http://127.0.0.1:$ETCD_PORT" --advertise-client-urls="http://127.0.0.1:$ETCD_PORT" \
		--listen-peer-urls="http://127.0.0.1:$PEER_PORT" --initial-advertise-peer-urls="http://127.0.0.1:$PEER_PORT" \
		--initial-cluster="default=http://127.0.0.1:$PEER_PORT"
}

etcd_works() {
	curl --silent --fail --max-time 5 "http://127.0.0.1:$ETCD_PORT/health" | grep -q '"health":"true"'
}

launch_apiserver() {
	local more
	read -ra more <<<"${APISERVER_FLAGS:-}"
	if [ "$API_ADDRESS" = 127.0.0.1 ]; then
		more+=(--endpoint-reconciler-type=none)
	else
		more+=(--advertise-address="$API_ADDRESS" --kubelet-preferred-address-types=InternalIP
			--kubelet-certificate-authority="$pki/clients.crt"
			--kubelet-client-certificate="$pki/admin.crt" --kubelet-client-key="$pki/admin.key")
	fi
	launch apiserver kube-apiserver --bind-address="$API_ADDRESS" --secure-port="$API_PORT" \
		--etcd-servers="http://127.0.0.1:$ETCD_PORT" --service-cluster-ip-range="$SERVICES" \
		--tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" --client-ca-file="$pki/clients.crt" \
		--service-account-issuer=https://kubernetes.default.svc.cluster.local \
		--service-account-key-file="$pki/sa.pub" --service-account-signing-key-file="$pki/sa.key" \
		--authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --profiling=false \
		--audit-policy-file="$cluster_here/audit.yaml" --audit-log-path="$dir/log/audit.log" "${more[@]}"
}

apiserver_works() {
	curl --silent --fail --max-time 5 --cacert "$pki/ca.crt" "https://$API_ADDRESS:$API_PORT/readyz"
}

launch_controllers() {
	launch controllers kube-controller-manager --kubeconfig="$pki/controllers.conf" --secure-port=0 --leader-elect=false \
		--kube-api-qps=500 --kube-api-burst=500 --use-service-account-credentials \
		--service-account-private-key-file="$pki/sa.key" --root-ca-file="$pki/ca.crt" \
		--cluster-signing-cert-file="$pki/clients.crt" --cluster-signing-key-file="$pki/clients.key"
}

controllers_works() {
	curl --silent --fail --max-time 5 --cacert "$pki/ca.crt" --cert "$pki/admin.crt" --key "$pki/admin.key" \
		"https://$API_ADDRESS:$API_PORT/api/v1/namespaces/default/serviceaccounts/default"
}

has_ended() { # NAME
	[ -z "$(pid_of "$1")" ]
}

# Ends the waiting also when it has ended; the caller asks for that once more.
works_or_ended() { # NAME
	"$1_works" || has_ended "$1"
}

start_one() { # NAME
	[ -z "$(pid_of "$1")" ] || return 0
	"launch_$1"
	if ! wait_until "$1 works" "$START_S" works_or_ended "$1" || has_ended "$1"; then
		say "$1 does not work; the last lines of $dir/log/$1.log:"
		tail -n 10 "$dir/log/$1.log" | cut -c1-300 | sed 's/^/    /' >&2
		die 1 "the control plane in $dir has not started"
	fi
}

end_one() { # NAME SIGNAL
	local pid
	pid=$(pid_of "$1") || return 0
	kill "-$2" "$pid" 2>/dev/null || :
	kill -CONT "$pid" 2>/dev/null || :
	if ! wait_quietly 20 has_ended "$1"; then
		kill -KILL "$pid" 2>/dev/null || :
		wait_quietly 20 has_ended "$1" || die 1 "$1 ($pid) cannot be ended"
	fi
	rm -f "$dir/pid/$1"
}

# Nothing of it is needed any more, so nobody is asked to leave in good order.
end_all() {
	local name
	for name in controllers apiserver etcd; do
		end_one "$name" KILL
	done
}

# Keeps the ports (their files name this process), and ends the rest when the owner has ended.
keep() { # [OWNER]
	trap 'rm -f "${PORT_FILES[@]}"' EXIT
	trap 'exit 0' TERM
	if [ ! -e "$dir/ports" ]; then
		take_port API_PORT
		take_port ETCD_PORT
		take_port PEER_PORT
		printf '%s\n' "$API_PORT $ETCD_PORT $PEER_PORT" >"$dir/ports.new"
		mv "$dir/ports.new" "$dir/ports"
	fi
	exec 8<> <(:)
	while [ -z "${1:-}" ] || kill -0 "$1" 2>/dev/null; do
		read -r -t 1 -u 8 || :
	done
	end_all
}

# ---- commands ------------------------------------------------------------------------------------

read_ports() {
	read -r API_PORT ETCD_PORT PEER_PORT <"$dir/ports"
	API_ADDRESS=$(cat "$dir/address")
}

need_programs() {
	local tool
	for tool in openssl curl jq setsid; do
		command -v "$tool" >/dev/null || die 3 "$tool is missing; on Debian: apt-get install openssl curl jq util-linux"
	done
	[ -n "${KUBE_HOME:-}" ] || KUBE_HOME=$("$TOP/tools/get-kube.sh" kube) || exit $?
}

up() { # [--owner PID]
	local owner=''
	case ${1:-} in
	'') ;;
	--owner) owner=${2:?} ;;
	*) usage ;;
	esac
	need_programs
	mkdir -p "$dir"/{log,pid}
	[ -e "$dir/address" ] || echo "${API_ADDRESS:-127.0.0.1}" >"$dir/address"
	if ! pid_of keeper >/dev/null; then
		setsid "$cluster_here/cluster.sh" keep "$dir/" ${owner:+"$owner"} >>"$dir/log/keeper.log" 2>&1 </dev/null &
		echo $! >"$dir/pid/keeper"
		wait_until "ports are found" 20 test -e "$dir/ports" || die 1 "no free ports: see $dir/log/keeper.log"
	fi
	read_ports
	[ -e "$dir/pki/admin.conf" ] || new_pki
	start_one etcd
	start_one apiserver
	start_one controllers
	echo "$pki/admin.conf"
}

down() {
	local pid
	if pid=$(pid_of keeper); then
		kill "$pid" 2>/dev/null || :
		wait_quietly 10 has_ended keeper || kill -KILL "$pid"
		rm -f "$dir/pid/keeper"
	fi
	end_all
	rm -rf "$dir/etcd" "$dir/ports" "$dir/address" "$dir/pki"
}

# The controllers have the old CA in memory.
renew() {
	read_ports
	need_programs
	end_one controllers TERM
	end_one apiserver TERM
	new_server_cert
	start_one apiserver
	start_one controllers
}

show_status() {
	local name pid all=0
	for name in etcd apiserver controllers; do
		if pid=$(pid_of "$name"); then
			printf '%-12s %-7s %s MiB\n' "$name" "$pid" "$(awk '/^VmRSS/ { print int($2 / 1024) }' "/proc/$pid/status")"
		else
			printf '%-12s down\n' "$name"
			all=1
		fi
	done
	if [ "$all" -eq 0 ] && read_ports && apiserver_works >/dev/null; then
		echo "ready        $pki/admin.conf"
	else
		return 1
	fi
}

[ $# -ge 2 ] || usage
command=$1
[ "$command" = up ] && mkdir -p "$2"
[ -d "$2" ] || die 1 "there is no control plane in $2"
dir=$(cd "$2" && pwd)
pki=$dir/pki
shift 2
case $command in
up) up "$@" ;;
down) down ;;
renew) renew ;;
status) show_status ;;
client)
	read_ports
	new_cert clients "$@"
	new_kubeconfig "$1"
	;;
keep) keep "$@" ;;
start | stop | kill | signal)
	if [ "$command" = signal ]; then
		signal=${1:?}
		shift
	fi
	read_ports || die 1 "there is no control plane in $dir"
	for name; do
		case $name in
		etcd | apiserver | controllers) ;;
		*) usage ;;
		esac
		case $command in
		start) need_programs && start_one "$name" ;;
		stop) end_one "$name" TERM ;;
		kill) end_one "$name" KILL ;;
		signal) kill "-$signal" "$(pid_of "$name")" ;;
		esac
	done
	;;
*) usage ;;
esac
