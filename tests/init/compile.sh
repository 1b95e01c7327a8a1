#!/bin/sh
# Compiles one contract test (and the helpers that all of them use) into $BUILD/tests/init and runs it.
set -eu
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
OUT=$BUILD/tests/init
mkdir -p "$OUT"

build() { # build TARGET SOURCE...
	target=$OUT/$1
	shift
	if [ -e "$target" ] && [ -z "$(find "$@" tests/init/rig.h tests/init/spare_rig.h entrypoint/link.h -newer "$target")" ]; then
		return
	fi
	${CC:-cc} -std=gnu11 -O1 -g -Wall -Wextra -D_GNU_SOURCE -Iagent -I. -o "$target.$$" "$@" -lutil
	mv "$target.$$" "$target"
}

build puppet tests/init/puppet.c
build "$1" "tests/init/$1.c" tests/init/rig.c tests/init/spare_rig.c tests/unit/tap.c
BUILD=$BUILD exec "$OUT/$1"
