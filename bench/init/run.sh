#!/usr/bin/env bash
#
# bench/init/run.sh - drey-init compared to tini, dumb-init and catatonit, as Debian packages them.
#
#   bench/init/run.sh [full]      everything; SIGTERM loss with 10,000 tries of each, and 100,000 of drey-init: 20 minutes
#   bench/init/run.sh quick       everything, SIGTERM loss with 200 tries of each
#   bench/init/run.sh loss [N]    only the SIGTERM loss: N tries (100,000) of drey-init, a tenth of that of the others
#
# Prints Markdown, and its progress on stderr. Needs root (pid namespaces) and the packages tini, dumb-init and catatonit;
# installs them if it may.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=bench/lib.sh
. bench/lib.sh

BUILD=${BUILD:-build}
mode=${1:-full} tries=10000 idle_s=60 starts=400 many=100000
case $mode in
full) [ $# -le 1 ] || bench_usage 5,7 ;;
quick)
	tries=200 idle_s=5 starts=100 many=0
	[ $# -eq 1 ] || bench_usage 5,7
	;;
loss)
	many=${2:-100000} idle_s=0
	[[ $many =~ ^[1-9][0-9]*$ && $# -le 2 ]] || bench_usage 5,7
	tries=$(((many + 9) / 10))
	;;
*) bench_usage 5,7 ;;
esac
out=$BUILD/bench/init

[ "$(id -u)" = 0 ] || bench_lacks "needs root, to start the inits as PID 1"
missing=()
for name in tini tini-static dumb-init catatonit; do
	command -v $name >/dev/null || missing+=("${name%-static}")
done
if [ ${#missing[@]} -gt 0 ]; then
	apt-get install -y "${missing[@]}" >/dev/null 2>&1 || bench_lacks "please install: ${missing[*]}"
fi
make "$BUILD/drey-init" >&2
mkdir -p "$out"
cc=$(command -v musl-gcc || echo cc)
"$cc" -std=gnu11 -O2 -Wall -Wextra -D_GNU_SOURCE -static -I. -o "$out/measure" bench/init/*.c
"$cc" -std=gnu11 -O2 -D_GNU_SOURCE -static -I. -o "$out/puppet" tests/init/puppet.c

init=$PWD/$BUILD/drey-init
measure() { # TRIES IDLE_S SUBJECT...
	"$out/measure" "$PWD/$out/puppet" "$1" "$2" "$starts" "${@:3}"
}
bench_head "An init for the container" \
	"drey-init $("$init" --version | cut -d' ' -f2), $(dpkg-query -W -f '${Package} ${Version}, ' tini dumb-init catatonit)as packaged"
echo
measure "$tries" "$idle_s" \
	"drey-init=$init --grace 3" "drey-init -g=$init -g --grace 3" \
	"tini=$(command -v tini) -s" "tini -g=$(command -v tini) -s -g" "tini-static=$(command -v tini-static) -s" \
	"dumb-init=$(command -v dumb-init)" "dumb-init -c=$(command -v dumb-init) -c" \
	"catatonit=$(command -v catatonit)" "catatonit -g=$(command -v catatonit) -g"
if [ "$many" -gt 0 ]; then
	echo
	measure "$many" 0 "drey-init=$init" "drey-init -g=$init -g"
fi
echo
bench_load | sed 's/$/ at the end/'
cat <<'END'

Limits of these figures:
* Size and start compare static musl (drey-init) with what Debian ships: dynamic or static glibc. glibc's start costs
  0.5-1 ms on virtual machines that trap CPUID; on bare metal the distance is smaller.
* PSS of a dynamic program depends on how many other processes have mapped libc; private dirty does not.
* The hop is measured by a polling reader that sleeps 50 us between polls, on a machine that may be shared: medians are
  accurate to about 10 us, p99 is an upper bound and changes from run to run.
* The kernel's fork and exit limit the storm, and fork limits the stream; only "left" distinguishes the inits.
* Lost means: 50 ms and more after the signal, it is pending neither for the init nor for its command, and both sleep.
  Losses depend on timing: on a busy machine more of the signals arrive before the init has started, which kills it and is
  not a loss. 0 means none in this many tries on this machine; the tests with injected delays are the proof
  (tests/init/start.c).
* "hangs" means "still running after the limit"; only drey-init has a deadline.
END
