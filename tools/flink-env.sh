# shellcheck shell=bash disable=SC2034
#
# flink-env.sh - starts a standalone application cluster without Flink's own scripts. Sourced by the tests and by
# the demo; read it to see what a JobManager and a TaskManager need on a bare machine.
#
#   flink_layout RUN FLINK_DIR JOB_JAR    the run directory
#   flink_conf RUN REST_PORT RPC_PORT     its conf/ (more config.yaml lines on stdin)
#   flink_env RUN                         sets FLINK_ENV: "NAME=value" words for `env`
#   flink_jm_argv RUN                     sets FLINK_JM_ARGV: the JobManager, up to and including --configDir
#   flink_tm_argv RUN                     sets FLINK_TM_ARGV: a TaskManager
#
# RUN/flink/{lib,plugins,usrlib}  as FLINK_LIB_DIR requires; RUN/{ck,sp}  checkpoints and savepoints;
# RUN/{conf,log,tmp}  the rest. All servers listen on 127.0.0.1 only.

FLINK_ENTRYPOINT=org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint
FLINK_TASKMANAGER=org.apache.flink.runtime.taskexecutor.TaskManagerRunner

# Flink reads the user's jars from ../usrlib, relative to FLINK_LIB_DIR. With the jar on the JobManager's class path
# only, the TaskManager cannot load it and the job restarts for ever. Hence one lib directory per run, by a link.
flink_layout() { # RUN FLINK_DIR JOB_JAR
	mkdir -p "$1"/{conf,log,tmp,ck,sp,flink/usrlib}
	ln -sfn "$2/lib" "$1/flink/lib"
	mkdir -p "$1/flink/plugins"
	cp "$3" "$1/flink/usrlib/job.jar"
}

# 0.5 s instead of 10 s of error delay: a TaskManager that starts before its JobManager would lose that time. The
# heartbeat is how a TaskManager without Flink HA notices that its JobManager was replaced.
flink_conf() { # RUN REST_PORT RPC_PORT, more lines on stdin
	cat >"$1/conf/log4j.properties" <<-'EOF'
		monitorInterval = 0
		rootLogger.level = INFO
		rootLogger.appenderRef.out.ref = Out
		appender.out.name = Out
		appender.out.type = CONSOLE
		appender.out.layout.type = PatternLayout
		appender.out.layout.pattern = %d{HH:mm:ss,SSS} %-5p %-40.40c{1} %x - %m%n
	EOF
	{
		cat <<-EOF
			jobmanager.rpc.address: 127.0.0.1
			jobmanager.rpc.port: $3
			jobmanager.bind-host: 127.0.0.1
			rest.address: 127.0.0.1
			rest.bind-address: 127.0.0.1
			rest.port: $2
			blob.server.port: "0"
			taskmanager.host: 127.0.0.1
			taskmanager.bind-host: 127.0.0.1
			taskmanager.numberOfTaskSlots: 1
			cluster.registration.error-delay: 500 ms
			heartbeat.interval: 1000
			heartbeat.timeout: 5000
			taskmanager.registration.timeout: 30 s
			io.tmp.dirs: "$1/tmp"
			execution.checkpointing.interval: 1 s
			execution.checkpointing.dir: "file://$1/ck"
			execution.checkpointing.savepoint-dir: "file://$1/sp"
			execution.checkpointing.externalized-checkpoint-retention: RETAIN_ON_CANCELLATION
			execution.checkpointing.num-retained: 3
			restart-strategy.type: fixed-delay
			restart-strategy.fixed-delay.attempts: 2147483647
			restart-strategy.fixed-delay.delay: 500 ms
		EOF
		cat
	} >"$1/conf/config.yaml"
}

flink_env() { # RUN
	FLINK_ENV=("FLINK_LIB_DIR=$1/flink/lib" "FLINK_PLUGINS_DIR=$1/flink/plugins" "FLINK_CONF_DIR=$1/conf")
}

# Options that both JVMs need on Java 11 to 21, and that make a small JVM start fast.
flink_java() { # RUN HEAP METASPACE NAME
	local package rpc=''
	FLINK_JAVA=("${JAVA_HOME:+$JAVA_HOME/bin/}java" "-Xms$2" "-Xmx$2" "-XX:MaxMetaspaceSize=$3"
		-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:+IgnoreUnrecognizedVMOptions)
	for package in java.base/sun.net.util java.rmi/sun.rmi.registry java.security.jgss/sun.security.krb5; do
		FLINK_JAVA+=("--add-exports=$package=ALL-UNNAMED")
	done
	for package in java.lang java.net java.io java.nio sun.nio.ch java.lang.reflect java.text java.time java.util \
		java.util.concurrent java.util.concurrent.atomic java.util.concurrent.locks; do
		FLINK_JAVA+=("--add-opens=java.base/$package=ALL-UNNAMED")
	done
	# log.file is only where Flink's web UI reads; `spawn` writes it.
	FLINK_JAVA+=("-Dlog4j.configurationFile=file:$1/conf/log4j.properties" "-Dlog.file=$1/log/$4.log")
	# drey's loader of Flink's RPC, as in the image, if the tests have it
	[ ! -f "$1/drey/rpc.jar" ] || rpc=:$1/drey/rpc.jar
	FLINK_JAVA+=(-cp "$1/flink/lib/*$rpc")
}

flink_jm_argv() { # RUN
	flink_java "$1" 160m 192m jm
	FLINK_JM_ARGV=("${FLINK_JAVA[@]}" "$FLINK_ENTRYPOINT" --configDir "$1/conf")
}

# Flink's scripts calculate these sizes; without them a TaskManager requires every one.
flink_tm_argv() { # RUN
	local size
	flink_java "$1" 160m 160m tm
	FLINK_TM_ARGV=("${FLINK_JAVA[@]}" "$FLINK_TASKMANAGER" --configDir "$1/conf")
	for size in cpu.cores=1 memory.task.heap.size=64m memory.task.off-heap.size=0b memory.network.min=16m \
		memory.network.max=16m memory.managed.size=32m memory.framework.heap.size=64m \
		memory.framework.off-heap.size=64m memory.jvm-metaspace.size=160m memory.jvm-overhead.min=64m \
		memory.jvm-overhead.max=64m; do
		FLINK_TM_ARGV+=(-D "taskmanager.$size")
	done
}
