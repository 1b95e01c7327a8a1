#!/usr/bin/env bash
#
# node.sh - a real Kubernetes with a real node for tests: the control plane of cluster.sh, and a scheduler, kubelet, containerd,
# kube-proxy and CoreDNS as plain processes.
#
#   node.sh up DIR [--owner PID]   starts it and waits until the node is ready
#   node.sh load DIR LAYOUT        the images of an OCI layout (images.sh)
#   node.sh enter DIR CMD...       runs CMD where all this is; `bash` to look around
#   node.sh down DIR               ends everything; the logs stay
#
# As root. Everything is in mount, network and process namespaces of its own: the machine sees no address, no route, no rule, no
# mount, and no setting changes. DIR has all that belongs to it, so there can be several, with the same addresses; the
# kubeconfig is DIR/control/pki/admin.conf, for programs that `enter` runs. There is no way from there to the network of the
# machine, nor back. With --owner it ends when that process does, however that comes.
#
# ADDRESS (below) is the node's, of the API server, of DNS, and for servers of a test that Pods are to reach. DIR/volumes is for
# volumes (hostPath). KUBE_HOME, NODE_HOME and DNS_HOME are what tools/get-kube.sh gives. Exit status: 0 done, 1 not, 2 usage,
# 3-5 as tools/get-kube.sh; `enter`: that of CMD.

set -euo pipefail
node_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/lib.sh
. "$node_here/../e2e/lib.sh"

ADDRESS=10.99.0.1
PODS=10.88.0.0/16
SERVICES=10.96.0.0/16
NODE=node
START_S=${WAIT_S:-180}

usage() {
	sed -n '6,9p' "${BASH_SOURCE[0]}" | sed 's/^#   //' >&2
	exit 2
}

# ---- inside, as process 1 --------------------------------------------------------------------------

start() { # NAME CMD...
	local name=$1
	shift
	setsid env --default-signal=INT --default-signal=QUIT "$@" >>"$dir/log/$name.log" 2>&1 </dev/null &
}

# What they write to outside of DIR, and what the kubelet would set on the machine: it finds it set.
own_mounts() {
	local setting
	mount --make-rshared /
	mount -t tmpfs run /run
	mount -t tmpfs lib /var/lib
	mkdir -p "$dir/pods" /var/lib/kubelet
	mount --bind "$dir/pods" /var/log
	for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
		kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
		mkdir -p "$dir/settings"
		echo "${setting#*=}" >"$dir/settings/${setting##*/}"
		# shellcheck disable=SC2015 # both
		[ ! -e "/proc/sys/${setting%=*}" ] || mount --bind "$dir/settings/${setting##*/}" "/proc/sys/${setting%=*}" || return 1
	done
}

own_network() {
	ip link set lo up
	ip address add "$ADDRESS/32" dev lo
	# kube-proxy changes the destination; there has to be a way before
	ip route add "$SERVICES" dev lo src "$ADDRESS"
	echo 1 >/proc/sys/net/ipv4/ip_forward
	echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables 2>/dev/null || : # only with br_netfilter
}

write_files() {
	local pki=$dir/control/pki
	mkdir -p "$dir"/{net.d,kubelet,plugins}
	cat >"$dir/net.d/10-pods.conflist" <<-JSON
		{"cniVersion": "0.4.0", "name": "pods", "plugins": [
		  {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
		   "ipam": {"type": "host-local", "dataDir": "$dir/cni", "ranges": [[{"subnet": "$PODS"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
		  {"type": "portmap", "capabilities": {"portMappings": true}}]}
	JSON
	cat >"$dir/containerd.toml" <<-TOML
		version = 2
		root = "$dir/containerd"
		state = "/run/containerd"
		[plugins."io.containerd.internal.v1.opt"]
		path = "$dir/containerd/opt"
		[plugins."io.containerd.grpc.v1.cri"]
		sandbox_image = "localhost/pause:1"
		restrict_oom_score_adj = true
		[plugins."io.containerd.grpc.v1.cri".cni]
		bin_dir = "/usr/lib/cni"
		conf_dir = "$dir/net.d"
	TOML
	: >"$dir/resolv.conf"
	cat >"$dir/kubelet.yaml" <<-YAML
		apiVersion: kubelet.config.k8s.io/v1beta1
		kind: KubeletConfiguration
		authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: "$pki/clients.crt"}}
		authorization: {mode: Webhook}
		tlsCertFile: "$pki/kubelet.crt"
		tlsPrivateKeyFile: "$pki/kubelet.key"
		address: $ADDRESS
		containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
		volumePluginDir: "$dir/plugins"
		cgroupDriver: cgroupfs
		cgroupRoot: /$cgroup
		failCgroupV1: false
		failSwapOn: false
		oomScoreAdj: 0
		maxOpenFiles: 20000
		resolvConf: "$dir/resolv.conf"
		clusterDomain: cluster.local
		clusterDNS: [$ADDRESS]
		syncFrequency: 5s
		imageGCHighThresholdPercent: 100
		evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
	YAML
	cat >"$dir/proxy.yaml" <<-YAML
		apiVersion: kubeproxy.config.k8s.io/v1alpha1
		kind: KubeProxyConfiguration
		mode: iptables
		clusterCIDR: $PODS
		hostnameOverride: $NODE
		clientConnection: {kubeconfig: "$pki/proxy.conf"}
		conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
		healthzBindAddress: 127.0.0.1:10256
		oomScoreAdj: 0
	YAML
	cat >"$dir/Corefile" <<-END
		.:53 {
		  errors
		  kubernetes cluster.local {
		    kubeconfig $pki/admin.conf
		  }
		  template ANY ANY {
		    rcode NXDOMAIN
		  }
		}
	END
}

containerd_works() {
	ctr --connect-timeout 2s version
}

dns_works() {
	(exec 3<>"/dev/tcp/$ADDRESS/53") 2>/dev/null
}

kubectl() {
	"$KUBE_HOME/bin/kubectl" --kubeconfig "$dir/control/pki/admin.conf" "$@"
}

node_is_ready() {
	kubectl get node "$NODE" --output 'jsonpath={.status.conditions[?(@.type=="Ready")].status}' | grep -q True
}

# Ends, and with it everything that is inside, when something has not started. What ends later is not started again.
inside() { # CGROUP
	local cluster=$node_here/cluster.sh
	cgroup=$1
	own_mounts
	own_network
	write_files
	start containerd containerd --config "$dir/containerd.toml"
	mkdir -p "$dir/tmp"
	TMPDIR=$dir/tmp API_ADDRESS=$ADDRESS "$cluster" up "$dir/control" >/dev/null
	"$cluster" client "$dir/control" kubelet "/O=system:nodes/CN=system:node:$NODE" "IP:$ADDRESS"
	"$cluster" client "$dir/control" scheduler /CN=system:kube-scheduler
	"$cluster" client "$dir/control" proxy /CN=system:kube-proxy
	wait_until "containerd works" "$START_S" containerd_works
	start kubelet "$NODE_HOME/bin/node" kubelet --config="$dir/kubelet.yaml" --kubeconfig="$dir/control/pki/kubelet.conf" \
		--root-dir="$dir/kubelet" --hostname-override="$NODE" --node-ip="$ADDRESS"
	start scheduler "$NODE_HOME/bin/node" kube-scheduler --kubeconfig="$dir/control/pki/scheduler.conf" --secure-port=0 \
		--leader-elect=false
	start proxy "$NODE_HOME/bin/node" kube-proxy --config="$dir/proxy.yaml"
	start dns "$DNS_HOME/bin/dns" -conf "$dir/Corefile"
	wait_until "names are resolved" "$START_S" dns_works
	wait_until "the node is ready" "$START_S" node_is_ready
	: >"$dir/ready"
	while :; do
		wait || : # also for the orphans
		sleep 1
	done
}

# ---- outside ---------------------------------------------------------------------------------------

cgroup_hierarchies() {
	if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
		echo /sys/fs/cgroup
	else
		find /sys/fs/cgroup -mindepth 1 -maxdepth 1 -type d
	fi
}

no_cgroups() { # NAME
	local hierarchy left=0
	for hierarchy in $(cgroup_hierarchies); do
		[ ! -d "$hierarchy/$1" ] || find "$hierarchy/$1" -depth -type d -exec rmdir {} + 2>/dev/null || left=1
	done
	return "$left"
}

# Left over by a keeper that was killed itself; the name has its number.
old_cgroups() {
	local hierarchy name
	for hierarchy in $(cgroup_hierarchies); do
		find "$hierarchy" -maxdepth 1 -type d -name 'drey-node-*' -printf '%f\n'
	done | sort -u | while read -r name; do
		kill -0 "${name##*-}" 2>/dev/null || no_cgroups "$name" || :
	done
}

# Waits for the end of the owner, or of process 1 inside, and leaves nothing behind.
keep() { # [OWNER]
	local hierarchy
	old_cgroups
	cgroup=drey-node-$$
	for hierarchy in $(cgroup_hierarchies); do
		mkdir -p "$hierarchy/$cgroup"
		# beside a machine's other processes all Pods together would weigh as much as one of these
		echo 4096 2>/dev/null >"$hierarchy/$cgroup/cpu.shares" || :
		echo 400 2>/dev/null >"$hierarchy/$cgroup/cpu.weight" || :
	done
	trap 'exit 0' TERM INT HUP
	trap 'end_inside' EXIT
	setpriv --pdeathsig KILL unshare --mount --net --pid --fork --kill-child=KILL --mount-proc --propagation private \
		"$node_here/node.sh" inside "$dir" "$cgroup" >>"$dir/log/node.log" 2>&1 </dev/null &
	echo $! >"$dir/unshare.pid"
	exec 8<> <(:)
	while kill -0 "$(cat "$dir/unshare.pid")" 2>/dev/null && { [ -z "${1:-}" ] || kill -0 "$1" 2>/dev/null; }; do
		read -r -t 1 -u 8 || :
	done
}

end_inside() {
	ui_is_main || return 0
	trap '' TERM INT HUP
	kill -KILL "$(cat "$dir/unshare.pid")" 2>/dev/null || :
	wait 2>/dev/null || :
	wait_quietly 60 no_cgroups "$cgroup" || say "the control groups $cgroup cannot be removed"
	rm -rf "$dir"/{unshare.pid,ready,containerd,kubelet,cni,tmp,settings,plugins} "$dir"/control/{pid,ports,address,pki,etcd}
	rm -f "$dir/keeper.pid"
}

# The number of process 1 as it is outside.
first_process() {
	local pid
	pid=$(cat "$dir/unshare.pid" 2>/dev/null) && pid=$(tr -d ' ' <"/proc/$pid/task/$pid/children" 2>/dev/null) && [ -n "$pid" ] &&
		echo "$pid"
}

# As pid_of() of cluster.sh: in the middle of exec a process has no command line.
keeper_is_there() {
	local pid line
	pid=$(cat "$dir/keeper.pid" 2>/dev/null) && line=$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") || return 1
	case $line in
	*node.sh*) ;; # for a moment it is still this script, by whatever path it was called
	'') grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$pid/status" ;;
	*) return 1 ;;
	esac
}

keeper_has_ended() {
	! keeper_is_there
}

ready_or_ended() {
	[ -e "$dir/ready" ] || keeper_has_ended
}

need_programs() {
	local tool what
	[ "$(id -u)" -eq 0 ] || die 3 "a node needs root"
	for tool in containerd ctr runc iptables conntrack ip nsenter unshare setpriv jq openssl; do
		command -v "$tool" >/dev/null || die 3 "$tool is missing; tools/deps.sh cluster"
	done
	[ -x /usr/lib/cni/bridge ] || die 3 "/usr/lib/cni/bridge is missing; tools/deps.sh cluster"
	for what in kube node dns; do
		local -n home=${what^^}_HOME
		[ -n "${home:-}" ] || home=$("$TOP/tools/get-kube.sh" "$what") || exit $?
	done
	export KUBE_HOME NODE_HOME DNS_HOME
}

up() { # [--owner PID]
	local owner=''
	case ${1:-} in
	'') ;;
	--owner) owner=${2:?} ;;
	*) usage ;;
	esac
	need_programs
	keeper_is_there && die 1 "there is a node in $dir already"
	mkdir -p "$dir"/{log,volumes}
	rm -f "$dir/ready"
	setsid "$node_here/node.sh" keep "$dir" ${owner:+"$owner"} >>"$dir/log/keeper.log" 2>&1 </dev/null &
	echo $! >"$dir/keeper.pid"
	if ! wait_until "the node is ready" $((3 * START_S)) ready_or_ended || [ ! -e "$dir/ready" ]; then
		tail -n 20 "$dir/log/node.log" "$dir/log/keeper.log" 2>/dev/null | sed 's/^/    /' >&2 || :
		down
		die 1 "the node has not started; the logs are in $dir/log"
	fi
}

down() {
	! keeper_is_there || kill "$(cat "$dir/keeper.pid")"
	wait_quietly 90 keeper_has_ended || die 1 "the node in $dir cannot be ended"
}

enter() { # CMD...
	local pid
	pid=$(first_process) || die 1 "there is no node in $dir"
	# shellcheck disable=SC2016 # expanded inside
	exec nsenter --target "$pid" --mount --net --pid -- bash -c 'cd "$1" && shift && exec "$@"' bash "$PWD" "$@"
}

[ $# -ge 2 ] || usage
command=$1
[ "$command" != up ] || mkdir -p "$2"
[ -d "$2" ] || die 1 "there is no node in $2"
dir=$(cd "$2" && pwd)
shift 2
case $command in
up) up "$@" ;;
down) down ;;
enter) enter "$@" ;;
load) tar --directory "$1" --create . | enter ctr --namespace k8s.io images import - >/dev/null ;;
keep) keep "$@" ;;
inside) inside "$@" ;;
*) usage ;;
esac
