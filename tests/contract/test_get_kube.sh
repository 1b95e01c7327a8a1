#!/usr/bin/env bash
#
# tools/get-kube.sh without a network: a copy of it, and a go that only creates files. It checks what is built, when, and
# what the messages name; and that a test run without a control plane does not succeed.

# shellcheck disable=SC2317 # functions that check and await call

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"

RUN=$(mktemp -d)
EVENTS=$RUN/events.log
mkdir -p "$RUN"/{log,bin,tools,tests/cluster}
trap run_end EXIT
cp "$TOP"/tools/{get-kube.sh,cache.sh,go.sh,ui.sh} "$RUN/tools/"
cp -r "$TOP/tests/cluster/kube" "$RUN/tests/cluster/"
export XDG_CACHE_HOME=$RUN/cache
unset KUBE_HOME HELM_HOME

# Counts its builds; $FAIL: the command that fails; $STALL: a file whose removal a build waits for.
cat >"$RUN/bin/go" <<'EOF2'
	#!/bin/bash
	case $1 in
	env) echo "${GO_IS:-go1.26.8}"; exit ;;
	esac
	[ "$1" != "$FAIL" ] || { echo "dial tcp: lookup proxy: no such host" && exit 1; }
	[ "$1" != mod ] || exit 0
	echo "$1" >>"$CALLS"
	while [ -n "$STALL" ] && [ -e "$STALL" ]; do sleep 0.05; done
	out=$(printf '%s\n' "$@" | grep -A1 -x -e -o | tail -n 1)
	out=${out:-$GOBIN/helm}
	mkdir -p "${out%/*}"
	printf '#!/bin/sh\n' >"$out"
	chmod +x "$out"
EOF2
sed -i 's/^\t//' "$RUN/bin/go"
cat >"$RUN/bin/curl" <<'EOF2'
#!/bin/bash
while [ $# -gt 0 ]; do [ "$1" != --output ] || echo "not Go" >"$2"; shift; done
exit "${CURL_STATUS:-0}"
EOF2
chmod +x "$RUN"/bin/*
export CALLS=$RUN/calls FAIL='' STALL=''
: >"$CALLS"

get() { # ARG...: sets SAID and STATUS_OF
	SAID=$(PATH="$RUN/bin:$PATH" "$RUN/tools/get-kube.sh" "$@" 2>"$RUN/stderr")
	STATUS_OF=$?
}

builds() {
	wc -l <"$CALLS"
}

has_built() { # TIMES
	[ "$(builds)" -ge "$1" ]
}

said() { # TEXT
	grep -qF -- "$1" "$RUN/stderr" || { cat "$RUN/stderr" && return 1; }
}

nothing_is_left() {
	[ -z "$(find "$RUN/cache" -mindepth 2 ! -name '.*.lock' 2>/dev/null)" ]
}

get
is $STATUS_OF 2 "without a word: usage"
get etcd
is $STATUS_OF 2 "what there is not: usage"

FAIL=mod get kube
is $STATUS_OF 4 "no network: status 4"
check "the message names the way out" said "check the network and GOPROXY"
check "and what was the matter" said "no such host"
FAIL=build get kube
is $STATUS_OF 4 "a build that fails: status 4"
check "the message says what it needs" said "5 GB of disk and 3 GB of memory"
FAIL=install get helm
is $STATUS_OF 4 "the same for helm"
check "nothing is left of it" nothing_is_left
GO_IS=go1.19.8 CURL_STATUS=6 get kube
is $STATUS_OF 4 "an old Go, and no network for a newer one: status 4"
check "the message says so" said "could not fetch Go"
GO_IS=go1.19.8 get kube
is $STATUS_OF 5 "a Go that is not the one that is pinned: status 5"
check "nothing is left of that either" nothing_is_left
is "$(builds)" 0 "nothing was built so far"

get kube
is "$STATUS_OF $(builds)" "0 1" "it is built"
check "kubectl is there" test -x "$SAID/bin/kubectl"
first=$SAID
get kube
is "$SAID $(builds)" "$first 1" "once"
echo "// another" >>"$RUN/tests/cluster/kube/main.go"
get kube
check "another module is another directory" test "$SAID" != "$first"
is "$(builds)" 2 "and another build"
get helm
is "$STATUS_OF $(builds)" "0 3" "helm is built"
first=$SAID
get helm4
is "$STATUS_OF $(builds)" "0 4" "and Helm 4"
check "in another directory" test "$SAID" != "$first"

rm -rf "$RUN/cache"
STALL=$RUN/stall
: >"$STALL"
for i in 1 2; do
	PATH="$RUN/bin:$PATH" "$RUN/tools/get-kube.sh" helm >"$RUN/said.$i" 2>"$RUN/stderr.$i" &
done
await "one builds" has_built 5
rm "$STALL"
wait
is "$(builds) $(cat "$RUN/said.1")" "5 $(cat "$RUN/said.2")" "the other waits, and takes what was built"

FAIL=mod XDG_CACHE_HOME=$RUN/empty MAKELEVEL=1 PATH="$RUN/bin:$PATH" "$TOP/tests/run.sh" --build "$BUILD" api cluster \
	>"$RUN/stdout" 2>"$RUN/stderr"
is "$? $(tail -n 1 "$RUN/stdout")" "1 0 passed, 1 failed" "a run of the tests without a control plane has failed"
check "and says why" said "no Kubernetes control plane"
e2e_end
