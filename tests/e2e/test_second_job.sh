#!/usr/bin/env bash
#
# Flink's HA is turned on without drey's knowledge, by a script in flink.command: after a crash a Flink up to 2.2 recovers
# the job of the previous launch and runs it next to the new one. drey ends both, reports it, and gives up if it happens
# at every launch. Real HA, in a ZooKeeper that Flink contains.
#
# runs in: ci on 1.20.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

case ${FLINK_VERSION:-2.3.0} in
1.* | 2.[0-2]*) ;;
*)
	echo "1..0 # SKIP Flink 2.3 and later does not recover a job beside another one"
	exit 0
	;;
esac

e2e_begin second-job
take_port ZK_PORT
take_port ZK_PEER_PORT
take_port ZK_LEADER_PORT
mkdir -p "$RUN/zk"
cat >"$RUN/zk/zoo.cfg" <<-CFG
	dataDir=$RUN/zk/data
	tickTime=500
	clientPort=$ZK_PORT
	clientPortAddress=127.0.0.1
	admin.enableServer=false
	server.1=127.0.0.1:$ZK_PEER_PORT:$ZK_LEADER_PORT
CFG
spawn zk java -Xmx64m -XX:+UseSerialGC -cp "$RUN/flink/lib/*" \
	org.apache.flink.runtime.zookeeper.FlinkZooKeeperQuorumPeer --zkConfigFile "$RUN/zk/zoo.cfg" --peerId 1
MUST_LIVE=(zk)
zk_listens() {
	(: <>"/dev/tcp/127.0.0.1/$ZK_PORT") 2>/dev/null
}
await "ZooKeeper listens" zk_listens

# The script that drey cannot look into: what it adds is on no command line that drey knows.
flink_jm_argv "$RUN"
cp -r "$RUN/conf" "$RUN/hidden"
cat >>"$RUN/hidden/config.yaml" <<-YAML
	high-availability.type: zookeeper
	high-availability.storageDir: file://$RUN/ha
	high-availability.zookeeper.quorum: 127.0.0.1:$ZK_PORT
	high-availability.zookeeper.client.session-timeout: 4 s
	high-availability.zookeeper.client.tolerate-suspended-connections: true
YAML
{
	echo '#!/bin/bash'
	printf 'exec'
	printf ' %q' "${FLINK_JM_ARGV[@]/"$RUN/conf"/"$RUN/hidden"}"
	echo ' "$@"'
} >"$RUN/start-flink"
chmod +x "$RUN/start-flink"

DREY_CONF[attempts.max]=2
DREY_CONF[attempts.backoffFirst]=1s
drey_conf
DREY_CONF[flink.command]=$(yaml_list "$RUN/start-flink")
DREY_CONF[flink.version]=$FLINK_VERSION
flink_tm_argv "$RUN"
# finds its JobManager by the same HA
# shellcheck disable=SC2016 # expanded by that shell
spawn tm bash -c 'until "$@"; do echo "the TaskManager has ended with status $?"; done' tm \
	"${FLINK_TM_ARGV[@]/"$RUN/conf"/"$RUN/hidden"}"
start_drey
await "the job runs" phase_is Running
await "the launch is proven" status_is .launch.proven
first=$(status .jobId)

kill -KILL "$(jm_pid)"
said_second() { grep -q '"cause":"SecondJob"' "$RUN/log/jm.log" || grep -q SecondJob "$RUN/log/jm.log"; }
await "the second job is noticed" said_second
check "it is the job of the launch before, or the one beside it" grep -q "a second job is running in this Flink: $first" "$RUN/log/jm.log"
await "it happens at every start, so drey gives up" phase_is Failed
check "the reason names the second job" status_is '.reason | test("a second job is running in this Flink")'
no_jm() { [ -z "$(jm_pid)" ]; }
await "no JobManager runs" no_jm
e2e_end
