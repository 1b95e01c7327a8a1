#!/usr/bin/env bash
#
# Stands for /docker-entrypoint.sh of Flink's official images, which no package registry has. Does what drey has to live
# with: writes the address of the JobManager and FLINK_PROPERTIES into Flink's configuration, by Flink's own script, goes on
# where that cannot be written, and becomes the script of the component.

conf=$FLINK_HOME/conf
properties=("-Djobmanager.rpc.address=${JOB_MANAGER_RPC_ADDRESS:-$(hostname)}" -Dblob.server.port=6124)
while IFS=': ' read -r key value; do
	[ -z "$key" ] || properties+=("-D$key=$value")
done <<<"${FLINK_PROPERTIES:-}"
"$FLINK_HOME/bin/config-parser-utils.sh" "$conf" "$FLINK_HOME/bin" "$FLINK_HOME/lib" "${properties[@]}"

component=$1
shift
case $component in
standalone-job) exec "$FLINK_HOME/bin/standalone-job.sh" start-foreground "$@" ;;
taskmanager) exec "$FLINK_HOME/bin/taskmanager.sh" start-foreground "$@" ;;
*) exec "$component" "$@" ;;
esac
