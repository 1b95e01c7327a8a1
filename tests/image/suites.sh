#!/usr/bin/env bash
#
# suites.sh - does drey build, and work, on the distributions that images of Flink are made of?
#
#   tests/image/suites.sh DIR SUITE...     as root; DIR keeps the images (build.sh)
#
# For each SUITE: all of build.sh, and the unit tests in the stage of the Dockerfile that has the compiler. Prints a line each:
# the suite, its glibc, what drey needs of it, and the tests. Exit status: 0 all passed, 1 not, 2 usage, 3 something is missing.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 0 ] || set -- "$(realpath -m "$1")" "${@:2}"
cd "$here/../.."
# shellcheck source=tools/ui.sh
. tools/ui.sh
# shellcheck source=tests/image/lib.sh
. tests/image/lib.sh

[ $# -ge 2 ] || die 2 "usage: tests/image/suites.sh DIR SUITE..."
dir=$1 version=2.3.0 status=0
why=$(image_missing)
[ -z "$why" ] || die 3 "$why"
image_alone "$here/suites.sh" "$@"
shift
for suite; do
	tests/image/build.sh "$dir" "$version" "$suite"
	image_store "$dir"
	"${BUILDAH[@]}" build --layers --isolation chroot --quiet --target build --tag "localhost/build:$suite" \
		--build-arg "FLINK_IMAGE=localhost/flink:$version-$suite" . >"$dir/build.log" 2>&1 || die 1 "$suite: $(tail -n 5 "$dir/build.log")"
	container=$("${BUILDAH[@]}" from "localhost/build:$suite")
	# The context of the Dockerfile is without the tests.
	# shellcheck disable=SC2016 # expanded in the container
	"${BUILDAH[@]}" run --isolation chroot --volume "$PWD:/source:ro" "$container" -- bash -c '
		mkdir /tmp/drey && cd /tmp/drey && tar -C /source --exclude=./build --exclude=./.git -c . | tar -x
		apt-get install --yes --no-install-recommends perl procps >/dev/null
		make -j"$(nproc)" WERROR=1 build-tests >/dev/null && tests/run.sh unit
		echo "status $?, $(getconf GNU_LIBC_VERSION)"
		objdump -T build/drey | grep -o "GLIBC_[0-9.]*" | sort -uV | tail -n 1' >"$dir/unit-$suite.log" 2>&1 || :
	"${BUILDAH[@]}" rm "$container" >/dev/null
	grep -q '^status 0, ' "$dir/unit-$suite.log" || status=1
	echo "$suite: $(grep '^status' "$dir/unit-$suite.log"), drey needs $(tail -n 1 "$dir/unit-$suite.log"): $(grep 'passed,' "$dir/unit-$suite.log")"
done
exit "$status"
