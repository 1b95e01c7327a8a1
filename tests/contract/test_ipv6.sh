#!/usr/bin/env bash
#
# IPv6 as in a Pod: addresses that are not loopback, a name with several of them, and a node that keeps the families apart
# (net.ipv6.bindv6only). drey's probes, the API server, S3, a proxy, NO_PROXY, and `drey join`, with servers that scripts play; in a
# network namespace of its own. With a real Flink: tests/e2e/test_ipv6.sh.

# shellcheck disable=SC2317 # functions that wait_for and ok call

set -uo pipefail
if [ -z "${DREY_TEST_NET:-}" ] && command -v unshare >/dev/null; then
	users=(--map-root-user)
	[ "$(id -u)" -ne 0 ] || users=()
	if unshare "${users[@]}" --net --mount sh -c 'ip link set lo up && ip addr add fd00::7/128 dev lo' 2>/dev/null; then
		DREY_TEST_NET=yes exec unshare "${users[@]}" --net --mount "$0" "$@"
	fi
fi
# shellcheck source=tests/contract/join_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/join_lib.sh"
contract_begin unshare ip curl jq openssl python3
show=(log out err)
if [ -z "${DREY_TEST_NET:-}" ]; then
	[ -z "${DREY_TEST_REQUIRE:-}" ] || { echo "not ok 1 - no network namespace with IPv6, and DREY_TEST_REQUIRE is set" && echo 1..1 && exit 1; }
	echo "1..0 # SKIP no network namespace with IPv6 (unshare --net, as root)"
	exit 0
fi
ip link set lo up
ip addr add fd00::7/128 dev lo nodad
ip addr add fd00::8/128 dev lo nodad
echo 1 >/proc/sys/net/ipv6/bindv6only
printf '127.0.0.1 localhost\nfd00::7 dreys\nfd00::8 dreys\n127.0.0.1 both\nfd00::7 both\n' >"$dir/hosts"
mount --bind "$dir/hosts" /etc/hosts
mount -t tmpfs none /run
account=/run/secrets/kubernetes.io/serviceaccount # /var/run is a link to it
mkdir -p "$account" "$dir/peers"

# ---- the servers

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=peer -days 2 \
	-addext 'subjectAltName=IP:fd00::7,IP:fd00::8' -keyout "$dir/key" -out "$dir/ca.pem" 2>/dev/null
cat "$dir/key" "$dir/ca.pem" >"$dir/server.pem"
cp "$dir/ca.pem" "$account/ca.crt"
echo token >"$account/token"
echo team-a >"$account/namespace"
for name in api s3 proxy http tm; do
	take_port "${name}_port"
done

start_peer() { # ADDRESS PORT [CERTIFICATE]
	python3 tests/contract/ipv6_peer.py "$dir/peers" "$@" 2>"$dir/peers/errors-$2" &
	pids+=($!)
	wait_for test -e "$dir/peers/up-$2"
}

requested() { # REGEX
	grep -qE -- "$1" "$dir/peers/requests"
}

start_peer fd00::7 "${api_port:?}" "$dir/server.pem"
start_peer fd00::8 "${s3_port:?}" "$dir/server.pem"
start_peer fd00::7 "${proxy_port:?}"
result $? 'the servers that are played listen'

# ---- drey's probes, and the API server

flink_is 'exec sleep 1000'
drey_yaml <<-YAML
	http: {address: "::", port: ${http_port:?}}
YAML
export KUBERNETES_SERVICE_HOST=fd00::7 KUBERNETES_SERVICE_PORT=$api_port POD_NAMESPACE=team-a
start_drey
unset KUBERNETES_SERVICE_HOST
probe() { # HOST
	curl --silent --globoff --noproxy '*' "http://$1:$http_port/healthz" >"$dir/out"
}
for host in '[::1]' '[fd00::8]' 127.0.0.1; do
	ok "http.address '::' answers $host" wait_for probe "$host"
done
ok 'KUBERNETES_SERVICE_HOST with an IPv6 address: the API server is asked, and its certificate is for that address' \
	wait_for requested "^GET \[fd00::7\]:$api_port /api/v1/namespaces/team-a/configmaps/orders-drey-journal\$"
wait_for grep -q 'HTTP 403' "$dir/log"
result $? 'and its answer is understood'
end_drey

# ---- S3

export AWS_ACCESS_KEY_ID=AKIDEXAMPLE AWS_SECRET_ACCESS_KEY=hush AWS_REGION=x AWS_CA_BUNDLE=$dir/ca.pem
export AWS_ENDPOINT_URL="https://[fd00::8]:$s3_port"
verify() { # STATUS TEXT
	: >"$dir/peers/requests"
	status "$1" "$DREY" verify s3://flink/savepoint-1 && grep -qF -- "$2" "$dir/out" "$dir/err"
}
ok 'an S3 endpoint with an IPv6 address: there is no such savepoint' verify 1 's3://flink/savepoint-1'
ok 'the bucket is in the path, and Host has the address in brackets' requested "^(HEAD|GET) \[fd00::8\]:$s3_port /flink/savepoint-1"
export HTTPS_PROXY="http://[fd00::7]:$proxy_port"
ok 'a proxy with an IPv6 address is used' verify 4 "(AWS_ENDPOINT_URL in the environment)"
ok 'for a server with an IPv6 address' requested "^CONNECT \[fd00::8\]:$s3_port "
for list in fd00::8 localhost,fd00::8; do
	export NO_PROXY=$list
	ok "NO_PROXY=$list: not for this one" verify 1 's3://flink/savepoint-1'
	ok 'really not' eval '! requested ^CONNECT'
done
export NO_PROXY=fd00::9
ok 'NO_PROXY with another address does not count' verify 4 "(AWS_ENDPOINT_URL in the environment)"
unset HTTPS_PROXY NO_PROXY AWS_ENDPOINT_URL

# ---- the chart's liveness probe of a TaskManager

mkdir -p "$dir/proc/7"
echo java >"$dir/proc/7/comm"
alive() { # PORT
	PROC=$dir/proc POD_IP=fd00::7 bash chart/flink-application/files/alive.sh "$1"
}
ok 'a JVM that listens on POD_IP, an IPv6 address, is alive' alive "$api_port"
ok 'one that does not listen there is not' eval '! alive "$s3_port"'

# ---- drey join

log=log
port=${tm_port:?}
export POD_NAME=tm-1
mkdir "$dir/dreys"
: >"$dir/dreys/requests"
make_tm
python3 tests/contract/fake_drey.py "$dir/dreys" "$port" fd00::7 fd00::8 2>"$dir/dreys.log" &
pids+=($!)
wait_for test -e "$dir/dreys/up"

asked_at() { # ADDRESS TIMES
	[ "$(requests "$1")" -ge "$2" ]
}

start_join_at() { # HOST
	: >"$dir/$log"
	: >"$dir/dreys/requests"
	"$BUILD/drey-init" --remap 143 -- "$DREY" join --service "$1" --port "$port" --generation G \
		--file "$dir/ready" -- "$dir/tm" plain >"$dir/$log" 2>&1 </dev/null &
	init_pid=$!
	pids+=("$init_pid")
}

other fd00::7
own fd00::8
start_join_at dreys
wait_for up
result $? 'a headless Service with two IPv6 addresses: the second one is the drey of this generation, and the TaskManager starts'
[ "$(requests fd00::7)" -ge 1 ]
result $? 'both were asked'
other fd00::8
wait_for says 'TaskManager ends: only dreys of another generation answer'
result $? 'when both are of another generation, it ends'
end_join
own fd00::7
start_join_at fd00::7
wait_for up
result $? 'an address instead of a name'
end_join
# dual stack, but the drey listens on IPv6 only: 127.0.0.1 refuses
start_join_at both
wait_for up
result $? 'a name with addresses of both families, one of which refuses: the TaskManager starts'
other fd00::7
wait_for asked_at fd00::7 8
! says 'TaskManager ends'
result $? 'and it stays when only the other one answers: the one that refuses could be its own'
end_join

contract_end
