#!/usr/bin/env bash
#
# Stands for /docker-entrypoint.sh of Flink's official images (1.19 to 2.3 have the same), which no package registry has. Does
# what drey has to live with, in the same way, with the same slips of the shell: links the plugins of ENABLE_BUILT_IN_PLUGINS,
# writes the address of the JobManager and then FLINK_PROPERTIES into Flink's configuration by Flink's own script, goes on where
# that cannot be written, and becomes the script of the component.

# shellcheck disable=SC2086 # the real one quotes no more
for plugin in $(tr ';' ' ' <<<"${ENABLE_BUILT_IN_PLUGINS:-}"); do
	mkdir -p "$FLINK_HOME/plugins/${plugin%.jar}"
	[ -e "$FLINK_HOME/opt/$plugin" ] || exit 1
	ln -fs "$FLINK_HOME/opt/$plugin" "$FLINK_HOME/plugins/${plugin%.jar}"
done

write() { # KEY=VALUE...
	[ $# -eq 0 ] || "$FLINK_HOME/bin/config-parser-utils.sh" "$FLINK_HOME/conf" "$FLINK_HOME/bin" "$FLINK_HOME/lib" "${@/#/-D}"
}

options=("jobmanager.rpc.address=${JOB_MANAGER_RPC_ADDRESS:-$(hostname -f)}" blob.server.port=6124 query.server.port=6125)
[ -z "${TASK_MANAGER_NUMBER_OF_TASK_SLOTS:-}" ] ||
	options+=("taskmanager.numberOfTaskSlots=$TASK_MANAGER_NUMBER_OF_TASK_SLOTS")
write "${options[@]}"

properties() {
	local IFS=$'\n' line key value words=()
	for line in ${FLINK_PROPERTIES:-}; do
		line=$(echo $line | tr -d '[:space:]')
		[ -n "$line" ] || continue
		IFS=: read -r key value <<<"$line"
		words+=("$key=$(echo $value | envsubst)")
	done
	write "${words[@]}"
}
properties

component=$1
shift
case $component in
standalone-job) exec "$FLINK_HOME/bin/standalone-job.sh" start-foreground "$@" ;;
taskmanager) exec "$FLINK_HOME/bin/taskmanager.sh" start-foreground "$@" ;;
*) exec "$component" "$@" ;;
esac
