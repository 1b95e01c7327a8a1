#!/usr/bin/env bash
#
# bench/gate/run.sh - what the gate of a blue/green upgrade costs for each record (java/gate), beside a map operator, and how
# often it writes its report.
#
#   bench/gate/run.sh [full]    30 million records for each subject, five rounds; ten minutes
#   bench/gate/run.sh quick     5 million, two rounds
#
# FLINK_VERSION=2.3.0 is the Flink. Prints Markdown.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=bench/lib.sh
. bench/lib.sh

case ${1:-full} in
full) records=30000000 rounds=5 ;;
quick) records=5000000 rounds=2 ;;
*) bench_usage 6,7 ;;
esac
[ $# -le 1 ] || bench_usage 6,7
command -v javac >/dev/null || bench_lacks "needs a JDK: apt-get install openjdk-17-jdk-headless"
version=${FLINK_VERSION:-2.3.0}
flink=$(tools/get-flink.sh "$version")
run=$(mktemp -d)
trap 'rm -rf "$run"' EXIT
mkdir "$run/gate"
FLINK_HOME='' java/build.sh gate "$run/gate.jar"
javac -nowarn -Xlint:-options -cp "$run/gate.jar:$flink/lib/*" -d "$run/classes" bench/gate/GateBench.java
printf 'rootLogger.level = OFF\n' >"$run/classes/log4j2.properties"

bench_head "A gate in the stream" "Flink $version, $(java -version 2>&1 | head -n 1)"
cat <<END

One task of one thread: a sequence of $records numbers, timestamps and watermarks (1,000 numbers for each millisecond), the
subject, a sink that does nothing. Processor time of the thread; median of $rounds rounds (least-most).

| between source and sink | ns a record, all of the job | beside the map operator |
|---|---|---|
END
java -XX:+UseSerialGC -Xmx800m --add-opens=java.base/java.util=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED \
	-cp "$run/classes:$run/gate.jar:$flink/lib/*" GateBench "$run/gate" "$records" "$rounds"
