#!/usr/bin/env bash
#
# The name of the API server cannot be resolved: every lookup hangs without a response. drey still answers its probes and
# its socket, ends in time, and continues automatically once the name resolves. A library that is loaded before the C
# library replaces the resolver; a script replaces Flink.

# shellcheck disable=SC2016,SC2154,SC2317 # $LD_PRELOAD is of that shell; take_port has set it; called by await
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin dns
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"

cat >"$RUN/resolver.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
	int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
		dlsym(RTLD_NEXT, "getaddrinfo");

	if (!name || strcmp(name, "kubernetes.test"))
		return real(name, service, hints, ret);
	while (access(getenv("RESOLVER_HANGS"), F_OK) == 0)
		usleep(10000);
	return real("127.0.0.1", service, hints, ret);
}
C
read -ra cc <<<"${CC:-cc}"
check "the resolver compiles" "${cc[@]}" -shared -fPIC -o "$RUN/resolver.so" "$RUN/resolver.c" -ldl
jq --arg port "$API_PORT" '.clusters[0].cluster += {server: "https://kubernetes.test:\($port)", "tls-server-name": "localhost"}' \
	"$POD_KUBECONFIG" >"$RUN/dns.conf"
take_port http_port
pod_conf a 'control:' '  poll: 500ms'
sed -i "s|kubeconfig: .*|kubeconfig: $RUN/dns.conf|; /^http:/{n;s/port: .*/port: $http_port/}" "$RUN/a/drey.yaml"
# a build with sanitizers wants to be loaded first, and is content without
export LD_PRELOAD_OF_DREY=$RUN/resolver.so RESOLVER_HANGS=$RUN/hangs ASAN_OPTIONS=verify_asan_link_order=0
printf '#!/bin/sh\nLD_PRELOAD=$LD_PRELOAD_OF_DREY exec %q "$@"\n' "$BUILD/drey" >"$RUN/drey"
chmod +x "$RUN/drey"

start() {
	env "E2E_RUN=$RUN" "POD_NAME=$APPLICATION-a" "POD_UID=uid-of-a-$RANDOM" "POD_NAMESPACE=$NAMESPACE" \
		"$BUILD/drey-init" --agent -- "$RUN/drey" run --config "$RUN/a/drey.yaml" >>"$RUN/log/a.log" 2>&1 </dev/null &
	POD_PID[a]=$!
}

# It answers each of ten probes while the name is looked up.
is_alive() {
	local i
	for i in {1..10}; do
		curl --silent --fail --max-time 5 "http://127.0.0.1:$http_port/livez" >/dev/null || return 1
	done
}

touch "$RUN/hangs"
start
await "at a start: it answers its probe" is_alive
await "holds" pod_phase a Holding
check "and answers its probe" is_alive
is "$(launches)" "" "nothing is started"
rm "$RUN/hangs"
await "the name is known: it starts by itself" launched 1
await "on record" journal_is '.launches[0].startedUnixMs != null'

touch "$RUN/hangs"
pod_kill_agent a
await "again, a new agent beside a Flink that runs: it does not know the journal" pod_phase a Holding
check "it answers its probe" is_alive
rm "$RUN/hangs"
await "the name is known: it knows its Flink again" pod_is a '.phase == "Launching" and .launch.number == 1'
is "$(launches)" 1 "which was not started again"
touch "$RUN/hangs"
began=$(date +%s)
pod_end a
check "SIGTERM while the name is looked up: it ends" test $(($(date +%s) - began)) -le 60
diag "after $(($(date +%s) - began)) s"
rm "$RUN/hangs"
e2e_end
