#!/bin/sh
#
# bench/init/run.sh - drey-init beside tini, dumb-init and catatonit, as Debian packages them.
#
#   bench/init/run.sh            everything; SIGTERM loss with LOSS=2000 tries, idle for IDLE=20 seconds
#   bench/init/run.sh full       100,000 tries (hours: they are sequential), idle for 60 seconds
#   bench/init/run.sh loss N     only the SIGTERM loss of drey-init, N tries
#
# Needs root (pid namespaces) and the packages tini, dumb-init and catatonit; installs them if it may.
set -eu
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
mode=${1:-quick}
out=$BUILD/bench/init

[ "$(id -u)" = 0 ] || {
	echo "bench/init/run.sh: needs root, to start the inits as PID 1" >&2
	exit 2
}
missing=
for name in tini tini-static dumb-init catatonit; do
	command -v $name >/dev/null || missing="$missing ${name%-static}"
done
if [ -n "$missing" ] && [ "$mode" != loss ]; then
	# shellcheck disable=SC2086 # a list
	apt-get install -y $missing >/dev/null 2>&1 || {
		echo "bench/init/run.sh: please install:$missing" >&2
		exit 2
	}
fi
[ -x "$BUILD/drey-init" ] || make "$BUILD/drey-init"

mkdir -p "$out"
cc=$(command -v musl-gcc || echo cc)
$cc -std=gnu11 -O2 -Wall -Wextra -D_GNU_SOURCE -static -o "$out/measure" bench/init/*.c
$cc -std=gnu11 -O2 -D_GNU_SOURCE -static -I. -o "$out/puppet" tests/init/puppet.c

init=$PWD/$BUILD/drey-init
puppet=$PWD/$out/puppet
case $mode in
loss)
	exec "$out/measure" "$puppet" "${2:-100000}" 0 "drey-init=$init" "drey-init -g=$init -g"
	;;
full) LOSS=${LOSS:-100000} IDLE=${IDLE:-60} ;;
quick) LOSS=${LOSS:-2000} IDLE=${IDLE:-20} ;;
*)
	sed -n '5,7s/^# *//p' "$0" >&2
	exit 2
	;;
esac

echo "$(nproc) CPUs, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), Linux $(uname -r), load $(cut -d' ' -f1-3 /proc/loadavg)" \
	"at the start; drey-init $("$init" --version | cut -d' ' -f2), $(dpkg-query -W -f '${Package} ${Version}, ' tini dumb-init catatonit)built as packaged"
echo
"$out/measure" "$puppet" "$LOSS" "$IDLE" \
	"drey-init=$init --grace 3" "drey-init -g=$init -g --grace 3" \
	"tini=$(command -v tini) -s" "tini -g=$(command -v tini) -s -g" "tini-static=$(command -v tini-static) -s" \
	"dumb-init=$(command -v dumb-init)" "dumb-init -c=$(command -v dumb-init) -c" \
	"catatonit=$(command -v catatonit)" "catatonit -g=$(command -v catatonit) -g"
cat <<'END'

What these figures can be wrong about:
* Size and start compare static musl (drey-init) with what Debian ships: dynamic or static glibc. glibc's start costs
  0.5-1 ms on virtual machines that trap CPUID; on bare metal the distance is smaller.
* PSS of a dynamic program depends on who else has libc mapped; private dirty does not.
* The hop is measured through a polling reader with a 50 us nap, on a machine that may be shared: medians are good to
  about 10 us, p99 is an upper bound and changes from run to run.
* The storm is bounded by the kernel's fork and exit, the stream by fork; only "left" tells the inits apart.
* Losses depend on timing. 0 means none in this many tries on this machine; the proofs are the tests with injected
  delays (tests/init/start.c). A SIGTERM before the first instruction of an init that is not PID 1 kills it: no loss.
* "hangs" is "still there after the limit"; only drey-init has a deadline at all.
END
