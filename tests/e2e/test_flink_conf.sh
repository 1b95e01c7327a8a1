#!/usr/bin/env bash
#
# What drey reads of Flink's configuration is what Flink itself reports at /jobmanager/config, key by key, after every overlay: 40
# combinations of how Flink is started (`java`, Flink's script, the entry point of Flink's image), of its file (config.yaml,
# flink-conf.yaml, both) and of overlays. Each starts the JobManager that drey would start, without drey and a TaskManager.
# ROWS=REGEX: only these of the table.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
e2e_begin flink-conf

case $FLINK_VERSION in
1.20.*) home=$("$TOP/tests/image/get-home.sh" 1.20.5) line=1 ;;
*) home=$("$TOP/tests/image/get-home.sh" 2.3.0) line=2 ;;
esac
[ -n "$home" ] || exit 4

driver=$BUILD/tests/e2e/flink_driver

# ---- what is combined ----------------------------------------------------------------------------------

# FORM OVERLAY...; the overlays are in combination() below. Those that set the key `who` say which one has won.
combinations() {
	cat <<-'TABLE'
		java file
		java odd
		java legacy
		java properties
		java command
		java command properties
		java variable
		java environment conf-dir
		java directory
		java arguments
		java nowhere plugins
		java variable environment command properties arguments directory plugins
		script file
		script odd
		script legacy
		script properties
		script command
		script command properties odd
		script variable environment
		script conf-dir
		script flink-conf-dir
		script conf-dir flink-conf-dir
		script directory
		script arguments
		script nowhere plugins
		script variable conf-dir environment command properties arguments plugins
		image file
		image odd
		image legacy
		image properties
		image command
		image variable
		image environment
		image variable environment odd
		image substituted
		image strange
		image conf-dir variable
		image directory variable
		image plugins slots
		image variable environment command properties arguments plugins slots
	TABLE
}

# The file that Flink has where nothing is laid over it, in the form in which Flink's images have it.
standard_file() { # WHO
	cat <<-YAML
		env: {java: {opts: {all: "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"}}}
		jobmanager: {bind-host: 127.0.0.1, rpc: {address: 127.0.0.1, port: 0}, memory: {heap: {size: 160m}, jvm-metaspace: {size: 192m}}}
		rest: {address: 127.0.0.1, bind-address: 127.0.0.1}
		execution.checkpointing.dir: file://$RUN/ck/$1
		execution.checkpointing.savepoint-dir: file://$RUN/sp/$1
		io.tmp.dirs: $RUN/tmp
		who: $1
	YAML
}

# YAML as people write it.
odd_file() {
	cat <<-'YAML'
		text: "a: b # c"
		single: 'it''s'
		execution:
		  checkpointing:
		    interval: 10 s
		nested.half:
		  way: 1
		number: 007
		yes: no
		float: 1.50
		kubernetes.cluster-id: 1.10
		small: 1e-4
		large: 123456789.5
		hexadecimal: 0x1F
		octal: 0o17
		signed: +05
		boolean: True
		date: 2026-11-23
		tilde: "~"
		empty: ""
		list: [one, "two three"]
		pipeline.global-job-parameters: {"a": "b", c: 1}
		folded: >-
		  one
		  two
	YAML
}

# flink-conf.yaml: the same keys, one a line, with what Flink passes over.
legacy_file() { # WHO
	cat <<-CONF
		# a comment
		env.java.opts.all: -XX:+UseSerialGC -XX:TieredStopAtLevel=1
		jobmanager.bind-host: 127.0.0.1
		jobmanager.rpc.address: 127.0.0.1
		jobmanager.rpc.port: 0
		jobmanager.memory.heap.size: 160m
		jobmanager.memory.jvm-metaspace.size: 192m
		rest.address: 127.0.0.1
		rest.bind-address: 127.0.0.1
		execution.checkpointing.dir: file://$RUN/ck/$1
		execution.checkpointing.savepoint-dir: file://$RUN/sp/$1
		io.tmp.dirs: $RUN/tmp
		who: legacy   # not this
		url: http://a:1/b: c
		no colon
		none:
		glued:value
		quoted: "text"
		  indented:   value
	CONF
}

conf_dir() { # DIR WHO
	mkdir -p "$1"
	cp "$home/conf"/log4j* "$1/"
	standard_file "$2" >"$1/config.yaml"
}

# Each has a distribution of its own, because the image's entry point writes into it. Its jobs need no TaskManager:
# what a job waits for is of no interest.
combination() { # DIR PORT FORM OVERLAY...: DIR/read, what drey has read; DIR/got, what Flink reports
	local dir=$1 port=$2 form=$3 overlay flink='' command file home_of=$1/home variables=()
	local words=() env=() config_dir=$1/home/conf properties='' environment='' options=', -D, blob.server.port=0'
	local arguments="--log, $dir/events, --control, $CONTROL"
	mkdir -p "$dir/home"/{lib,plugins,log}
	cp -r "$home/bin" "$dir/home/"
	ln -s "$home/opt" "$dir/home/"
	ln -s "$home/lib"/* "$dir/home/lib/" # Flink's scripts look for jars with find(1)
	cp -r "$RUN/flink/usrlib" "$dir/home/"
	conf_dir "$dir/home/conf" home
	conf_dir "$dir/other" other
	cp "$TOP/tests/image/docker-entrypoint.sh" "$dir/"
	for overlay in "${@:4}"; do
		case $overlay in
		file) ;;
		odd) odd_file >>"$dir/home/conf/config.yaml" ;;
		legacy)
			legacy_file home >"$dir/home/conf/flink-conf.yaml"
			# the older line reads it, the newer one passes it over
			[ "$line" != 1 ] || [ "$form" = java ] || rm "$dir/home/conf/config.yaml"
			;;
		properties) properties+='who: properties, "a.b": "x=y", "execution.checkpointing.interval": 7 s, ' ;;
		command) options+=', -D, who=command, -Da.b=c, -Dcommand.only=1' ;;
		variable) variables+=($'FLINK_PROPERTIES=who: variable\n  a.b : file:///x:1\n\nexecution.checkpointing.interval: 9 s\nempty:') ;;
		environment) environment+='FLINK_PROPERTIES: "who: environment\nby.environment: 1", ' ;;
		substituted) variables+=("NAME=text" "SOME=two words" $'FLINK_PROPERTIES=who: ${NAME}/$NAME/$NONE-\nspaced: $SOME\nlong: 1 0 s') ;;
		strange) variables+=($'FLINK_PROPERTIES=#who: comment\nwho: first\nwho: last\nends: a:\nendstwice: a::\ntab\t:\tb\nquoted: "a"\nlist: [a, b]\nmap.x: 1\nyes: true\nnumber: 007\nhash: a#b\nno colon') ;;
		conf-dir) variables+=("FLINK_CONF_DIR=$dir/other") ;;
		flink-conf-dir)
			conf_dir "$dir/third" third
			environment+="FLINK_CONF_DIR: $dir/third, "
			;;
		directory)
			flink+=$'\n'"  configDirectory: $dir/other"
			config_dir=$dir/other
			;;
		arguments) arguments+=', -D, who=arguments, --who, arguments, -Dwho=x, --configDir, /nowhere' ;;
		plugins) variables+=('ENABLE_BUILT_IN_PLUGINS=flink-python-'"$(basename "$home" | cut -d- -f3)"'.jar') ;;
		slots) variables+=(TASK_MANAGER_NUMBER_OF_TASK_SLOTS=3 JOB_MANAGER_RPC_ADDRESS=localhost) ;;
		nowhere) home_of=/nowhere ;;
		*) die 1 "no overlay $overlay" ;;
		esac
	done
	case $form in
	java)
		command="java, -Xmx160m, -XX:+UseSerialGC, -XX:TieredStopAtLevel=1, -cp, $dir/home/lib/*, $FLINK_ENTRYPOINT, --configDir, $config_dir"
		variables+=("FLINK_LIB_DIR=$dir/home/lib" "FLINK_PLUGINS_DIR=$dir/home/plugins")
		;;
	script) command="$dir/home/bin/standalone-job.sh, start-foreground" ;;
	image) command="$dir/docker-entrypoint.sh, standalone-job" ;;
	esac
	cat >"$dir/drey.yaml" <<-YAML
		application: a
		stateDirectory: $dir/state
		kubernetes: {enabled: false}
		flink:
		  version: $(basename "$home" | cut -d- -f3)
		  command: [$command$options]
		  jobClass: drey.ContinuityJob
		  restPort: $port
		  arguments: [$arguments]
		  properties: {$properties}
		  environment: {$environment}$flink
	YAML
	env -u JAVA_HOME "FLINK_HOME=$home_of" "${variables[@]}" "$driver" read "$dir/drey.yaml" "$dir" >"$dir/said" 2>&1 || return 1
	mapfile -d '' -t env <"$dir/env"
	mapfile -d '' -t words <"$dir/argv"
	start_and_ask "$dir" "$port"
}

start_and_ask() { # DIR PORT; $env and $words
	local name=${1##*/} dir=$1
	spawn "$name" env -i "${env[@]}" "E2E_RUN=$RUN" "FLINK_LOG_DIR=$dir" "FLINK_PID_DIR=$dir" "${words[@]}"
	MUST_LIVE=("$name")
	wait_quietly "$WAIT_S" report "$dir" "$2"
	MUST_LIVE=()
	kill -KILL -- "-${PIDS[$name]}"
	wait_quietly "$WAIT_S" exit_status "$name"
	[ -s "$dir/got" ]
}

report() { # DIR PORT
	REST_PORT=$2 rest jobmanager/config '.[] | .key + "=" + .value' >"$1/new" && mv "$1/new" "$1/got"
}

# ---- they are started, some at a time ---------------------------------------------------------------

mapfile -t table < <(combinations | grep -E "${ROWS:-.}")
lanes=${LANES:-2}
lane() { # NUMBER PORT: of the rows, every LANES-th
	local i words
	for ((i = $1; i < ${#table[@]}; i += lanes)); do
		read -ra words <<<"${table[i]}"
		combination "$RUN/c$i" "$2" "${words[@]}" || :
	done
}
for ((i = 0; i < lanes; i++)); do
	take_port port
	lane "$i" "$port" &
done
wait

# Left out are the keys that Flink sets while it starts (ports that were 0, where it has taken up the job), and the sizes
# that its scripts work out.
# shellcheck disable=SC2016 # a regular expression
ignored='^(jobmanager\.memory\.|jobmanager\.rpc\.port|blob\.server\.port|[$]internal\.|internal\.|execution\.target|execution\.attached|pipeline\.jars|pipeline\.classpaths|web\.tmpdir|execution\.state-recovery\.(claim-mode|ignore-unclaimed-state))'

differences() { # READ GOT
	[ -s "$1" ] && [ -s "$2" ] && diff <(sort "$1" | grep -vE "$ignored") <(sort "$2" | grep -vE "$ignored")
}

for i in "${!table[@]}"; do
	[ -s "$RUN/c$i/got" ] || diag "${table[i]}: $(tail -qn 3 "$RUN/c$i/said" "$RUN/log/c$i.log" 2>&1)"
	check "${table[i]}: drey has read what Flink reports" differences "$RUN/c$i/read" "$RUN/c$i/got"
done
[ -z "${ROWS:-}" ] || e2e_end
is "${#table[@]}" 40 "combinations"

# The overlays have done something, or the comparison would be of nothing.
who() { # COMBINATION...: what the key says in each, in Flink's words
	local row i
	for row; do
		for i in "${!table[@]}"; do
			[ "${table[i]}" != "$row" ] || sed -n 's/^who=//p' "$RUN/c$i/got"
		done
	done | paste -sd ' '
}
is "$(who "java file" "java variable" "java command properties" "java directory" "java arguments")" \
	"home home properties other home" "-D comes last; FLINK_PROPERTIES and arguments of the job are none of java's"
is "$(who "script variable environment" "script conf-dir" "script conf-dir flink-conf-dir" "script directory")" \
	"home other third other" "a script reads the directory of FLINK_CONF_DIR, where flink.environment goes first"
is "$(who "image variable" "image environment" "image conf-dir variable" "image substituted" "image strange")" \
	"variable environment other text/text/- last" "the image writes FLINK_PROPERTIES, into the directory that it knows"
e2e_end
