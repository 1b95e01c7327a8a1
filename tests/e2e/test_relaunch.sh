#!/usr/bin/env bash
#
# Flink is started again by the command line of its last JVM, and that is the same Flink as its scripts start: a whole
# distribution with the entry point of Flink's image, FLINK_PROPERTIES, a library in LD_PRELOAD, options of the JVM. After a
# kill, a restart, a suspension and the death of drey; not after a change, and not twice if it fails.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

e2e_begin relaunch
case $FLINK_VERSION in
1.20.*) distribution=$("$TOP/tests/image/get-home.sh" 1.20.5) ;;
*) distribution=$("$TOP/tests/image/get-home.sh" 2.3.0) ;;
esac
[ -n "$distribution" ] || exit 4
home=$RUN/home conf=$RUN/home/conf

# ---- the distribution, and what users add to it ------------------------------------------------------------

make_home() {
	flink_java "$RUN" 160m 192m jm
	mkdir -p "$home"/{lib,plugins,log}
	cp -r "$distribution"/{bin,conf} "$home/"
	ln -s "$distribution/opt" "$home/"
	ln -s "$distribution/lib"/* "$home/lib/" # Flink's scripts look for jars with find(1)
	cp -r "$RUN/flink/usrlib" "$home/"
	ln -sfn "$distribution/lib" "$RUN/flink/lib" # the TaskManager has the same
	cp "$RUN/conf/config.yaml" "$conf/config.yaml"
	cat >>"$conf/config.yaml" <<-YAML
		env.java.opts.all: $(printf '%s ' "${FLINK_JAVA[@]:4:${#FLINK_JAVA[@]}-8}") -Xlog:gc:file=$RUN/gc/gc.log
		jobmanager.memory.heap.size: 160m
		jobmanager.memory.jvm-metaspace.size: 192m
	YAML
}

# As the entry point of the image puts jemalloc there, if it is installed; and something that has to be done before java runs.
make_entrypoint() {
	local library
	library=$(ldconfig -p | awk '$1 == "libm.so.6" { print $NF; exit }')
	{
		echo '#!/usr/bin/env bash'
		echo "export LD_PRELOAD=\$LD_PRELOAD:$library"
		echo "mkdir -p $RUN/gc"
		cat "$TOP/tests/image/docker-entrypoint.sh"
	} >"$RUN/docker-entrypoint.sh"
	chmod 755 "$RUN/docker-entrypoint.sh"
}

# ---- what runs ----------------------------------------------------------------------------------------------

# What makes one launch of a configuration differ from another.
without_identity() {
	sed -E 's/drey-[0-9a-f]{32}-[0-9]+/DIRECTORY/g; s/[0-9a-f]{32}/ID/g; s/(chk|savepoint)-[^ ,]*/SNAPSHOT/g'
}

effective() { # NAME: what the JobManager that runs has got, into $RUN/NAME.*
	local pid
	pid=$(jm_pid)
	rest jobmanager/config '.[] | .key + "=" + .value' | grep -vE '^(web\.tmpdir|blob\.server\.port|jobmanager\.rpc\.port|execution\.state-recovery\.path|execution\.savepoint\.path)=' |
		without_identity | sort >"$RUN/$1.config"
	rest jobmanager/environment | jq '.jvm, .classpath' | without_identity >"$RUN/$1.environment"
	tr '\0' '\n' <"/proc/$pid/environ" | without_identity | sort >"$RUN/$1.environ"
	tr '\0' '\n' <"/proc/$pid/cmdline" | without_identity | grep -vE '^(--fromSavepoint|.*SNAPSHOT)$' >"$RUN/$1.cmdline"
}

same_effect() { # NAME NAME
	local kind bad=0
	for kind in config environment environ cmdline; do
		[ -s "$RUN/$1.$kind" ] && diff "$RUN/$1.$kind" "$RUN/$2.$kind" || bad=1
	done
	return "$bad"
}

script_starts() {
	grep -c 'Starting standalonejob as a console application' "$RUN/log/jm.log"
}

direct_starts() {
	grep -c 'started by the command line of its last JVM' "$RUN/log/jm.log"
}

starts() { # by the scripts, and without them
	echo "$(script_starts) $(direct_starts)"
}

kill_jm() {
	job=$(status .jobId)
	kill -KILL "$(jm_pid)"
}

said() { # REGEX
	grep -qE -- "$1" "$RUN/log/jm.log"
}

make_home
make_entrypoint
DREY_CONF[attempts.backoffFirst]=200ms
drey_conf
DREY_CONF[flink.version]=$(basename "$distribution" | cut -d- -f3)
DREY_CONF[flink.command]=$(yaml_list "$RUN/docker-entrypoint.sh" standalone-job -D blob.server.port=0)
DREY_CONF[flink.environment]="{FLINK_HOME: $home, FLINK_CONF_DIR: $conf, FLINK_LIB_DIR: $home/lib, FLINK_PLUGINS_DIR: $home/plugins, \
FLINK_LOG_DIR: $home/log, FLINK_PID_DIR: $home/log, JOB_MANAGER_RPC_ADDRESS: 127.0.0.1, \
FLINK_PROPERTIES: \"who: variable\\nweb.refresh-interval: 4 s\"}"
start_tm_pod
start_drey
MUST_LIVE=(jm tm)

# ---- the same Flink -----------------------------------------------------------------------------------------

await "the job runs" phase_is Running
await "the launch is proven" status_is .launch.proven
is "$(starts)" "1 0" "the first start is by the scripts"
effective scripts
is "$(sed -n 's/^who=//p' "$RUN/scripts.config")" variable "they have written FLINK_PROPERTIES"
check "and their library is preloaded" grep -q '^LD_PRELOAD=.*libm' "$RUN/scripts.environ"

kill_jm
await "JobManager killed: the job runs again" runs_after "$job"
is "$(starts)" "1 1" "without the scripts"
effective direct
check "it is the same Flink: configuration, environment, options" same_effect scripts direct
check "from the newest retained checkpoint" restore_matches "$(newest_retained "$job")"

# ---- a change -------------------------------------------------------------------------------------------------

await "the launch is proven" status_is .launch.proven
sed -i 's/^jobmanager.memory.heap.size:.*/jobmanager.memory.heap.size: 176m/' "$conf/config.yaml"
grep -q 176m "$conf/config.yaml" || sed -i 's/size: 160m/size: 176m/' "$conf/config.yaml"
kill_jm
await "killed after a change of the configuration: the job runs again" runs_after "$job"
is "$(starts)" "2 1" "by the scripts"
check "drey says why" said 'Flink is started by its scripts.*what they read has changed'
effective changed
check "with the new configuration" grep -qx -- -Xmx$((176 * 1024 * 1024)) "$RUN/changed.cmdline"
is "$(sed -n 's/^who=//p' "$RUN/changed.config")" variable "and with FLINK_PROPERTIES"

# ---- other ways to start again ---------------------------------------------------------------------------------

await "the launch is proven" status_is .launch.proven
check "drey restart" drey restart
is "$(starts)" "2 2" "the new job was started without the scripts"
effective restarted
check "it is the same Flink" same_effect changed restarted

kill -KILL "$(agent_pid)"
await "drey killed: another one sees the job" phase_is Running
await "its launch is proven" status_is .launch.proven
kill_jm
await "then the JobManager: the job runs again" runs_after "$job"
is "$(starts)" "2 3" "without the scripts"
effective adopted
check "it is the same Flink" same_effect changed adopted

await "the launch is proven" status_is .launch.proven
check "drey suspend" drey suspend
check "drey resume" drey resume
await "the job runs again" phase_is Running
is "$(starts)" "2 4" "without the scripts"

# ---- one that fails ----------------------------------------------------------------------------------------------

await "the launch is proven" status_is .launch.proven
rm -r "$RUN/gc"
kill_jm
await "killed, and the JVM cannot be started without what the scripts do: the job runs" runs_after "$job"
is "$(starts)" "3 5" "without the scripts, then with them"
check "that was no failed attempt" not said 'attempt 2 of'
await "the launch is proven" status_is .launch.proven
kill_jm
await "killed again: the job runs" runs_after "$job"
is "$(starts)" "3 6" "without the scripts"

check "drey logs nothing of the environment" not said '^[{].*web[.]refresh-interval'
check "the state was continuous all the time" continuity
check "and never went back to something older" never_older
e2e_end
