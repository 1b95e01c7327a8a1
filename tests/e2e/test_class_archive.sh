#!/usr/bin/env bash
#
# The class archive: made by the script of the image, used if it matches; otherwise drey rejects it and says so; and a JVM
# that cannot use an archive that it was given starts anyway.
#
# shellcheck disable=SC2119,SC2317 # optional arguments; functions that check calls
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

archive_is_mapped() {
	grep -q " $RUN/flink.jsa\$" "/proc/$(jm_pid)/maps"
}

# A TaskManager beside the one that the job runs in.
start_joining() { # NAME
	flink_tm_argv "$RUN"
	POD_NAME=$1 spawn "$1" "$BUILD/drey-init" -- "$BUILD/drey" join --service 127.0.0.1 --port "${HTTP_PORT:?}" --generation 1 \
		--class-archive "$RUN/flink-taskmanager.jsa" --file "$RUN/ready-$1" -- "${FLINK_TM_ARGV[@]}"
}

has_registered() { # NAME
	rest taskmanagers '.taskmanagers[].id' | grep -q -x "1-$1"
}

maps_for_taskmanager() { # NAME
	local pid
	pid=$(pgrep -P "$(pgrep -P "${PIDS[$1]}" -x drey)" -x java) && grep -q " $RUN/flink-taskmanager.jsa\$" "/proc/$pid/maps"
}

joined_said() { # NAME REGEX
	grep -qE -- "$2" "$RUN/log/$1.log"
}

said() { # REGEX: in what drey has logged about its last start
	tac "$RUN/log/jm.log" | sed '/"msg":"drey supervises"/q' | grep -qE -- "$1"
}

# The files that the JobManager's JVM has open.
has_open() { # FILE
	find "/proc/$(jm_pid)/fd" -lname "$1" | grep -q .
}

# In the archive is the class whose main() waits.
held_is_in_archive() {
	flink_java "$RUN" 160m 192m jm
	"${FLINK_JAVA[@]}" "-XX:SharedArchiveFile=$RUN/flink.jsa" -Xlog:class+load dev.drey.Held 2>/dev/null |
		grep -q 'dev.drey.Held source: shared objects file (top)'
}

e2e_begin class-archive
check "the parts of drey for Flink's JVM are built" drey_jars
check "and the jar in Flink's lib directory" held_jar
check "the script makes an archive" make_class_archive
check "with the main() of drey" held_is_in_archive
check "and says which Java has made it" grep -q ^JAVA_VERSION= "$RUN/flink.jsa.jvm"
check "and one for TaskManagers" test -s "$RUN/flink-taskmanager.jsa.jvm"
take_port HTTP_PORT
DREY_CONF[flink.classArchive]=$RUN/flink.jsa
drey_conf
DREY_CONF[generation]=1
DREY_CONF[http.port]=$HTTP_PORT
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
check "its JobManager has the classes from the archive" archive_is_mapped
check "and its RPC from the unpacked jar" has_open "$RUN/drey/flink-rpc.jar"
check "of which there is no copy" test -z "$(find "$RUN/tmp" -name 'flink-rpc*')"
start_joining tm-2
await "a TaskManager joins" has_registered tm-2
check "it has the classes from its archive" maps_for_taskmanager tm-2
check "drey join says so" joined_said tm-2 "TaskManager loads its classes from the class archive.*$RUN/flink-taskmanager.jsa"
kill -TERM "${PIDS[tm-2]}"
await "it ends" exit_status tm-2
chmod u+w "$RUN/flink-taskmanager.jsa"
truncate --size=-4096 "$RUN/flink-taskmanager.jsa"
start_joining tm-3
await "with a truncated one a TaskManager joins, too" has_registered tm-3
check "without it" not maps_for_taskmanager tm-3
check "and drey join says why" joined_said tm-3 'TaskManager starts without the class archive.*it is incomplete'
kill -TERM "${PIDS[tm-3]}"
await "it ends, too" exit_status tm-3
check "drey says so" said "loads its classes from the class archive.*$RUN/flink.jsa"
end_drey TERM

cp "$RUN/flink.jsa" "$RUN/kept.jsa"
chmod u+w "$RUN/flink.jsa"
truncate --size=-4096 "$RUN/flink.jsa"
start_drey
MUST_LIVE=(jm tm)
await "with a truncated archive the job runs, too" phase_is Running
check "without it" not archive_is_mapped
check "and drey says why" said 'without the class archive.*it is incomplete'
end_drey TERM
mv -f "$RUN/kept.jsa" "$RUN/flink.jsa"

cp "$RUN/flink.jsa.jvm" "$RUN/kept.jvm"
sed -i 's/^IMPLEMENTOR=.*/IMPLEMENTOR="Somebody Else"/; s/^JAVA_RUNTIME_VERSION=.*/JAVA_RUNTIME_VERSION="17.0.0+1"/' \
	"$RUN/flink.jsa.jvm"
start_drey
MUST_LIVE=(jm tm)
await "with the archive of another Java the job runs, too" phase_is Running
check "without it" not archive_is_mapped
check "and drey says why" said 'without the class archive.*made by Somebody Else 17\.0\.0\+1, but Flink is started by '
end_drey TERM

# offered, but the class path is another one: a jar in front that the archive does not know
cp "$RUN/kept.jvm" "$RUN/flink.jsa.jvm"
cp "$JOB_JAR" "$RUN/first.jar"
DREY_CONF[flink.command]=$(jq --compact-output --arg jar "$RUN/first.jar:" \
	'map(if contains("/lib/*") then $jar + . else . end)' <<<"${DREY_CONF[flink.command]}")
start_drey
MUST_LIVE=(jm tm)
await "with another class path the job runs, too" phase_is Running
check "the JVM was offered the archive" said "loads its classes from the class archive"
check "and does without" not archive_is_mapped
MUST_LIVE=()
e2e_end
