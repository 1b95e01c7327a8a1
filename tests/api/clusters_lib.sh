# shellcheck shell=bash disable=SC2034,SC2119,SC2153,SC2154
#
# clusters_lib.sh - two clusters, each with a control plane, an installation of the application and a real Flink, that share
# one bucket and one lease object. Sourced after tap.sh, tests/servers/lib.sh, lease_lib.sh and lib.sh of this directory.
#
#   clusters_begin NAME         both, a and b, each with a network of its own to the store; no Pod runs yet
#   between RET LEAST MOST      a number from RANDOM
#   pod_start SITE              another Pod of it; its wall clock is right
#   cut_off, heal SITE          its network to the store
#   cluster_lost, cluster_back SITE      the Pod and the control plane; then only the control plane
#   forget SITE                 what a person does when a lost cluster is back: its journal is deleted, and a new Pod begins
#   other SITE
#   one_runs                    one runs the job, HOLDER, and the other one waits for the lease

between() { # RET LEAST MOST
	printf -v "$1" '%d' $(($2 + RANDOM % ($3 - $2 + 1)))
}

# ---- two clusters --------------------------------------------------------------------------------------

# The control plane belongs to the whole run: it is ended one by one.
cluster_make() { # SITE
	local port CLUSTER API_URL API_PORT
	E2E_RUN=$TWO "$CLUSTER_SH" up "$RUN/cluster" --owner $$ >/dev/null || api_fail "the control plane has not started"
	api_begin two-clusters own
	trap two_end EXIT
	DREY_CONF[kubernetes.enabled]=true
	DREY_CONF[kubernetes.kubeconfig]=$POD_KUBECONFIG
	DREY_CONF[kubernetes.namespace]=$NAMESPACE
	DREY_CONF[kubernetes.resource]=none
	DREY_CONF[application]=$APPLICATION
	write_drey_yaml
}

link_up() { # SITE PORT
	spawn "link-$1" python3 "$TOP/tests/e2e/link.py" "$2" "${S3_ENDPOINT##*:}"
	await "the network of $1" server_answers "http://127.0.0.1:$2/"
}

cut_off() { # SITE
	kill -STOP "${PIDS[link-$1]}"
}

heal() { # SITE
	kill -CONT "${PIDS[link-$1]}"
}

pod_start() { # SITE: another Pod of it
	echo 0 >"$TWO/$1/wall"
	at "$1" site_start env "POD_NAME=$APPLICATION-$1" "POD_UID=uid-$RANDOM" "POD_NAMESPACE=$NAMESPACE" \
		"WALL_CLOCK=$TWO/$1/wall"
}

cluster_lost() { # SITE
	at "$1" site_lose
	"$CLUSTER_SH" kill "$TWO/$1/cluster" apiserver etcd
}

cluster_back() { # SITE
	E2E_RUN=$TWO "$CLUSTER_SH" start "$TWO/$1/cluster" etcd apiserver
	wait_until "the API server of $1 works" "$WAIT_S" at "$1" kubectl get namespace
}

# What a person does when a lost cluster is back, so that it can take over.
forget() { # SITE
	at "$1" site_lose
	at "$1" kubectl delete configmap "$APPLICATION-drey-journal" --ignore-not-found >/dev/null
	rm -rf "${TWO:?}/$1/state"
	pod_start "$1"
}

other() { # SITE
	case $1 in
	a) echo b ;;
	*) echo a ;;
	esac
}

one_runs() {
	if at a site_runs && at b site_holds LeaseElsewhere; then
		HOLDER=a
	elif at b site_runs && at a site_holds LeaseElsewhere; then
		HOLDER=b
	else
		return 1
	fi
}

clusters_begin() { # NAME
	local site link_port
	KUBE_HOME=$("$TOP/tools/get-kube.sh" kube) || api_fail "there is no Kubernetes: see above"
	HELM_HOME=$("$TOP/tools/get-kube.sh" helm) || api_fail "there is no Helm: see above"
	export KUBE_HOME
	two_begin "$1" # from here on HOME is another one
	"${CC:-cc}" -shared -fPIC -O1 -o "$RUN/wall_clock.so" "$TOP/tests/api/wall_clock.c" -ldl || api_fail "wall_clock.c: see above"
	printf '#!/bin/sh\nLD_PRELOAD=%q exec %q "$@"\n' "$RUN/wall_clock.so" "$BUILD/drey" >"$RUN/drey"
	chmod +x "$RUN/drey"
	SITE_DREY=$RUN/drey
	for site in a b; do
		take_port link_port
		link_up "$site" "$link_port"
		SITE_ENDPOINT[$site]=http://127.0.0.1:$link_port
		site_make "$site"
		at "$site" cluster_make "$site"
	done
}
