#!/usr/bin/env bash
#
# build.sh - compiles a test job against a Flink directory.
#
#   tests/job/build.sh FLINK_DIR OUT_JAR [CLASS]
#
# CLASS is ContinuityJob (the default), HandoverJob, BlueGreenJob, which has the gate and HandoverJob in its jar, FlipJob, which has a gate of FLIP-504, WriteAheadJob, TableJob, which needs Flink's Table API in lib/, or Autoscaler, which needs
# flink-autoscaler there and is no job. FLINK_DIR is what tools/get-flink.sh prints. The class files are kept
# under ${XDG_CACHE_HOME:-~/.cache}/drey, by the hash of the source and of the names of Flink's jars, so a second call only
# copies. Exit status: 0 done, 1 it does not compile, 2 usage, 3 a tool is missing.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/ui.sh
. "$here/../../tools/ui.sh"

[ $# -eq 2 ] || [ $# -eq 3 ] || die 2 "usage: tests/job/build.sh FLINK_DIR OUT_JAR [CLASS]"
flink=$1 out=$2 class=${3:-ContinuityJob}
source=$here/$class.java
more=() gate=''
[ "$class" != BlueGreenJob ] || more=("$here/HandoverJob.java")
[ "$class" != FlipJob ] || more=("$here/HandoverJob.java" "$here/FlipGate.java")
[ -f "$source" ] || die 2 "there is no test job $class"
ls "$flink"/lib/flink-*.jar >/dev/null 2>&1 || die 2 "$flink has no lib/flink-*.jar; tools/get-flink.sh makes one"

hash=$({ cat "$source" "${more[@]}" "${BASH_SOURCE[0]}"; [ ${#more[@]} -eq 0 ] || find "$here/../../java/gate" -name '*.java' -exec cat {} +; (cd "$flink/lib" && ls); } | sha256sum | cut -c1-16)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/drey/job-$hash.jar
mkdir -p "$(dirname "$cache")" "$(dirname "$out")"
if [ ! -f "$cache" ]; then
	for tool in javac jar; do
		command -v "$tool" >/dev/null || die 3 "$tool is needed to build the test job; install it: apt-get install openjdk-17-jdk-headless"
	done
	tmp=$(mktemp -d "$cache.XXXXXX")
	trap 'ui_is_main && ui_ticker_stop && rm -rf "$tmp"' EXIT
	if [ "$class" = BlueGreenJob ]; then
		gate=$tmp/gate.jar
		FLINK_HOME='' "$here/../../java/build.sh" gate "$gate" || exit $?
		mkdir "$tmp/classes"
		(cd "$tmp/classes" && jar --extract --file "$gate" && rm -r META-INF)
	fi
	run_with_progress "compiling the test job" "$tmp/log" \
		javac --release 11 -Werror -Xlint:all,-options,-classfile,-processing,-serial,-path \
		-cp "$flink/lib/*:$gate" -d "$tmp/classes" "$source" "${more[@]}" || exit 1
	printf 'Main-Class: drey.%s\n' "$class" >"$tmp/manifest"
	jar --create --file "$tmp/job.jar" --manifest "$tmp/manifest" -C "$tmp/classes" .
	mv "$tmp/job.jar" "$cache"
fi
cp "$cache" "$out.new.$$"
mv "$out.new.$$" "$out"
