#!/usr/bin/env bash
#
# tools/get-flink.sh without a network: a copy of tools/ whose pinned list is small, and a mvn that only creates files. It
# checks what counts as complete, when, and what the messages name.
#
# runs in: test

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

RUN=$(mktemp -d)
EVENTS=$RUN/events.log
mkdir -p "$RUN"/{log,bin,tools/flink}
trap run_end EXIT
cp "$TOP"/tools/{get-flink.sh,cache.sh,ui.sh} "$RUN/tools/"
export XDG_CACHE_HOME=$RUN/cache
unset FLINK_HOME FLINK_SOURCE
dist=$RUN/cache/drey/flink-9.1.0

cat >"$RUN/tools/flink/versions.txt" <<-EOF
	# a comment
	9.1.0 maven
	9.1.0 pypi 0000000000000000000000000000000000000000000000000000000000000000
	9.0.3 maven
EOF
printf '%s  a.jar\n' "$(printf hello | sha256sum | cut -d' ' -f1)" >"$RUN/tools/flink/9.1.0-maven.sha256"

# Writes $CONTENT into a.jar; $STALL: a file whose removal it waits for; counts its calls.
cat >"$RUN/bin/mvn" <<-'EOF'
	#!/bin/bash
	echo call >>"$CALLS"
	for word; do case $word in -DoutputDirectory=*) out=${word#*=} ;; esac; done
	printf '%s' "$CONTENT" >"$out/a.jar"
	while [ -n "$STALL" ] && [ -e "$STALL" ]; do sleep 0.05; done
	exit "$STATUS"
EOF
chmod +x "$RUN/bin/mvn"
export CALLS=$RUN/calls CONTENT=hello STALL='' STATUS=0
: >"$CALLS"

get() { # ARG...: sets SAID and STATUS_OF
	SAID=$(PATH="$RUN/bin:$PATH" "$RUN/tools/get-flink.sh" "$@" 2>"$RUN/stderr")
	STATUS_OF=$?
}

# shellcheck disable=SC2317 # called through check
said() { # REGEX, on stderr
	grep -qE -- "$1" "$RUN/stderr"
}

get
is "$STATUS_OF" 2 "no version: usage"
get bogus
is "$STATUS_OF" 2 "a word that is no version is refused"
get 8.7
is "$STATUS_OF" 2 "a line that is not pinned is refused"
check "and the message says what to do" said 'full version'

STATUS=1 get 9.1.0
is "$STATUS_OF" 4 "a fetch that fails"
check "leaves nothing" test ! -e "$dist"
check "and names FLINK_HOME" said FLINK_HOME
CONTENT=evil get 9.1.0
is "$STATUS_OF" 5 "a jar that is not the pinned one"
check "is not installed" test ! -e "$dist"
check "and is named" said 'a\.jar'

get 9.1
is "$STATUS_OF $SAID" "0 $dist" "a line is its newest pinned version; the directory is printed"
is "$(cat "$dist/lib/a.jar")" hello "the jar is there"
: >"$CALLS"
get 9.1.0
is "$(wc -l <"$CALLS")" 0 "a second call fetches nothing"
printf damaged >"$dist/lib/a.jar"
get 9.1.0
is "$(cat "$dist/lib/a.jar")" hello "a damaged directory is fetched again"
get 9.1.0 "$RUN/elsewhere/flink"
is "$SAID" "$RUN/elsewhere/flink" "DEST is used"

# Two at once, and one that is killed in the middle.
rm -rf "$dist"
: >"$CALLS"
export STALL=$RUN/stall
: >"$STALL"
spawn one env PATH="$RUN/bin:$PATH" "$RUN/tools/get-flink.sh" 9.1.0
await "the first call fetches" grep -q call "$CALLS"
spawn two env PATH="$RUN/bin:$PATH" "$RUN/tools/get-flink.sh" 9.1.0
await "the second waits for it" grep -q waiting "$RUN/log/two.log"
check "nothing is there before it is whole" test ! -e "$dist"
rm "$STALL"
await "both end" test -f "$RUN/two.status" -a -f "$RUN/one.status"
is "$(exit_status one) $(exit_status two) $(wc -l <"$CALLS")" "0 0 1" "both are served by one fetch"

rm -rf "$dist"
: >"$CALLS"
: >"$STALL"
spawn killed env PATH="$RUN/bin:$PATH" "$RUN/tools/get-flink.sh" 9.1.0
await "a third call fetches" grep -q call "$CALLS"
kill -KILL "${PIDS[killed]}"
rm "$STALL"
await "it is killed" test -f "$RUN/killed.status"
check "and leaves no directory" test ! -e "$dist"
get 9.1.0
is "$STATUS_OF" 0 "the next call is not held up"
is "$(find "$RUN/cache/drey" -maxdepth 1 -name '.flink-tmp*' | wc -l)" 0 "and removes what was left over"

# What is missing is named.
rm -rf "$dist" "$RUN/bin/mvn"
mkdir "$RUN/few"
for tool in bash dirname sed awk cut grep mktemp mkdir sha256sum flock rm cat; do
	ln -s "$(command -v "$tool")" "$RUN/few/$tool"
done
SAID=$(PATH="$RUN/few" "$RUN/tools/get-flink.sh" 9.0.3 2>"$RUN/stderr")
is "$?" 3 "without mvn and pip"
check "mvn and its package are named" said 'mvn.*apt-get install maven'

mkdir -p "$RUN/own/lib"
FLINK_HOME=$RUN/own get 9.1.0
is "$STATUS_OF" 2 "a FLINK_HOME without Flink is refused"
: >"$RUN/own/lib/flink-dist-9.1.0.jar"
FLINK_HOME=$RUN/own get 9.1.0
is "$STATUS_OF $SAID" "0 $RUN/own" "FLINK_HOME is used as it is"
e2e_end
