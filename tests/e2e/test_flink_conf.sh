#!/usr/bin/env bash
#
# What drey reads of Flink's configuration is what the JobManager's JVM gets, key by key, after every overlay: 14 overlays
# on a `java` command, with the classes of Flink's own entry point; and once /jobmanager/config of a real JobManager.
# FORMS="java script image" adds Flink's script and the entry point of Flink's image; no level runs these yet.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
e2e_begin flink-conf

case $FLINK_VERSION in
1.20.*) home=$("$TOP/tests/image/get-home.sh" 1.20.5) ;;
*) home=$("$TOP/tests/image/get-home.sh" 2.3.0) ;;
esac
[ -n "$home" ] || exit 4

driver=$RUN/flink_driver
build_driver() {
	local pkgs='libcurl libcjson yaml-0.1 libevent libevent_pthreads libcrypto expat' sanitize=''
	case $BUILD in */san*) sanitize='-fsanitize=address,undefined' ;; esac
	# shellcheck disable=SC2046,SC2086 # lists of words
	"${CC:-cc}" -std=gnu11 -g -D_GNU_SOURCE $sanitize -I"$TOP/agent" -I"$TOP" $(pkg-config --cflags $pkgs) -pthread \
		-o "$driver" "$TOP/tests/e2e/flink_driver.c" "$BUILD/libdrey.a" $(pkg-config --libs $pkgs)
}
check "the driver compiles" build_driver
check "so does the reader of Flink's side" javac --release 11 -nowarn -cp "$home/lib/*" -d "$RUN/classes" \
	"$TOP/tests/e2e/ConfDump.java"

# A java that keeps the words for Flink's entry point instead of starting it; everything else is the real one.
mkdir -p "$RUN/java/bin"
cat >"$RUN/java/bin/java" <<-SH
	#!/bin/bash
	words=("\$@")
	for ((i = 0; i < \${#words[@]}; i++)); do
		case \${words[i]} in
		*StandaloneApplicationClusterEntryPoint)
			printf '%s\0' "\${words[@]:i+1}" >"\$KEEP/words"
			exit 0
			;;
		esac
	done
	exec "$(readlink -f "$(command -v java)")" "\$@"
SH
chmod +x "$RUN/java/bin/java"

conf_file() { # DIR WHO
	mkdir -p "$1"
	cp "$home/conf"/log4j* "$1/"
	cat >"$1/config.yaml" <<-YAML
		env: {java: {opts: {all: "-Dfile=1"}}}
		jobmanager: {memory: {process: {size: 1600m}}, rpc: {address: localhost, port: 6123}}
		execution.checkpointing.dir: file:///$2/ck
		execution.checkpointing.savepoint-dir: file:///$2/sp
		execution:
		  checkpointing:
		    interval: 10 s
		who: $2
		text: "a: b # c"
		io.tmp.dirs: /tmp
	YAML
}

# Each combination has a distribution of its own, because the image's entry point writes into it.
combination() { # FORM OVERLAY
	local dir=$RUN/c/$1-$2 command flink='' env=() words
	mkdir -p "$dir/home"
	cp -r "$home/bin" "$dir/home/"
	ln -s "$home/opt" "$dir/home/"
	mkdir -p "$dir/home"/{lib,plugins,log}
	ln -s "$home/lib"/* "$dir/home/lib/" # Flink's scripts look for jars with find(1)
	conf_file "$dir/home/conf" home
	conf_file "$dir/other" other
	cp "$TOP/tests/image/docker-entrypoint.sh" "$dir/"
	case $1 in
	java) command="java, -cp, $dir/home/lib/*, $FLINK_ENTRYPOINT, --configDir, $dir/home/conf" ;;
	script) command="$dir/home/bin/standalone-job.sh, start-foreground" ;;
	image) command="$dir/docker-entrypoint.sh, standalone-job" ;;
	esac
	env=("FLINK_HOME=$dir/home")
	case $2 in
	none) ;;
	properties) flink='properties: {who: properties, "a.b": "x=y"}' ;;
	command) command+=', -D, who=command, -Da.b=c' ;;
	both) command+=', -D, who=command' flink='properties: {who: properties}' ;;
	variable) env+=($'FLINK_PROPERTIES=who: variable\n  a.b : file:///x:1\n\nempty:') ;;
	environment) flink='environment: {FLINK_PROPERTIES: "who: environment"}' ;;
	substituted) env+=("NAME=some text" $'FLINK_PROPERTIES=who: ${NAME}/$NAME/$NONE-\nlong: 1 0 s') ;;
	all) env+=('FLINK_PROPERTIES=who: variable') command+=', -D, who=command' flink='properties: {who: properties}' ;;
	conf-dir) env+=("FLINK_CONF_DIR=$dir/other") ;;
	flink-conf-dir) flink="environment: {FLINK_CONF_DIR: $dir/other, FLINK_PROPERTIES: 'who: nobody'}" ;;
	directory) [ "$1" = java ] && command=${command/"$dir/home/conf"/"$dir/other"}; flink="configDirectory: $dir/other" ;;
	home) [ "$1" = image ] || env=("FLINK_HOME=/nowhere") ;;
	plugins) env+=('ENABLE_BUILT_IN_PLUGINS=flink-s3-fs-presto.jar' JOB_MANAGER_RPC_ADDRESS=jm TASK_MANAGER_NUMBER_OF_TASK_SLOTS=3) ;;
	arguments) flink='arguments: [-D, who=arguments, --who, arguments, -Dwho=x, --configDir, /nowhere]' ;;
	esac
	cat >"$dir/drey.yaml" <<-YAML
		application: a
		stateDirectory: $dir/state
		kubernetes: {enabled: false}
		flink:
		  version: $(basename "$home" | cut -d- -f3)
		  command: [$command]
		  ${flink:-jobClass: x}
	YAML
	env "${env[@]}" "$driver" read "$dir/drey.yaml" "$dir" 2>"$dir/said" || return 1
	mapfile -d '' -t env <"$dir/env"
	mapfile -d '' -t words <"$dir/argv"
	env -i "${env[@]}" "KEEP=$dir" "JAVA_HOME=$RUN/java" "PATH=$RUN/java/bin:$PATH" "${words[@]}" >>"$dir/said" 2>&1
	[ -s "$dir/words" ]
}

# Keys that differ. Left out are those that Flink's scripts and entry point work out by themselves.
differences() { # READ GOT
	diff <(sort "$1" | grep -vE "$ignored") <(sort "$2" | grep -vE "$ignored")
}
# shellcheck disable=SC2016 # a regular expression
ignored='^(jobmanager\.memory\.(heap|off-heap|jvm-).*|[$]internal\.|execution\.state-recovery\.|execution\.savepoint|env\.java\.opts\.all)'

dirs=()
read -ra forms <<<"${FORMS:-java}"
for form in "${forms[@]}"; do
	for overlay in none properties command both variable environment substituted all conf-dir flink-conf-dir directory \
		home plugins arguments; do
		combination "$form" "$overlay" || say "# $form, $overlay: $(tail -n 3 "$RUN/c/$form-$overlay/said")"
		dirs+=("$RUN/c/$form-$overlay")
	done
done
check "Flink's own classes read them all" java -cp "$RUN/classes:$home/lib/*" \
	org.apache.flink.container.entrypoint.ConfDump "${dirs[@]}"
for dir in "${dirs[@]}"; do
	check "${dir##*/}: drey has read what Flink gets" differences "$dir/read" "$dir/got"
done

# The overlays have done something, or the comparison would be of nothing.
who() { # COMBINATION
	sed -n 's/^who=//p' "$RUN/c/$1/got"
}
is "$(who java-none) $(who java-variable) $(who java-both) $(who java-directory) $(who java-arguments)" \
	"home home properties other home" "-D comes last; FLINK_PROPERTIES and arguments of the job are none of java's"
if [[ " ${forms[*]} " == *" script image "* ]]; then
	is "$(who image-variable) $(who image-all) $(who image-flink-conf-dir) $(who script-conf-dir)" \
		"variable properties other other" "the image reads FLINK_PROPERTIES, a script FLINK_CONF_DIR"
fi

# ---- a real JobManager
DREY_CONF[flink.properties]='{who: properties, "a.b": "x=y"}'
drey_conf
write_drey_yaml
mkdir -p "$RUN/real"
flink_env "$RUN"
check "drey reads the configuration of this run" env "${FLINK_ENV[@]}" "$driver" read "$RUN/drey.yaml" "$RUN/real"
start_drey
MUST_LIVE=(jm)
await "the JobManager answers" rest_is_up
rest jobmanager/config '.[] | .key + "=" + .value' >"$RUN/real/got"
ignored+='|^(job-result-store|application-result-store)\.|^(execution\.target|internal\.|blob\.server\.port|jobmanager\.rpc\.port|pipeline\.|parallelism|web\.tmpdir|jobstore|execution\.attached|taskmanager\.memory)'
check "/jobmanager/config says the same" differences "$RUN/real/read" "$RUN/real/got"
e2e_end
