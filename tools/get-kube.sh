#!/usr/bin/env bash
#
# get-kube.sh - installs the parts of a Kubernetes for the tests on this machine, once, and prints their path.
#
#   tools/get-kube.sh kube|node|dns|helm|helm4|kubeconform|kube-score|schemas
#
# kube         prints a directory with bin/kube, which is etcd, kube-apiserver, kube-controller-manager and kubectl in one
#              program (tests/cluster/kube), and bin/kubectl; built from Go modules that go.sum pins
# node         prints a directory with bin/node, which is kubelet, kube-scheduler and kube-proxy of the same version in one
#              program (tests/cluster/node)
# dns          prints a directory with bin/dns, a CoreDNS with the plugins that a cluster needs (tests/cluster/dns)
# helm, helm4  print a directory with bin/helm of that major version, built from its Go module
# kubeconform, kube-score    print a directory with bin/kubeconform, bin/kube-score, likewise
# schemas      prints a directory with v1.29 ... v1.37: the objects that each of these Kubernetes accepts, as JSON schemas,
#              KIND-GROUP-VERSION.json. From a wheel on PyPI that has them all (tools/kube-schemas.py); needs python3
#              with venv
#
# They are kept in ${XDG_CACHE_HOME:-~/.cache}/drey. No root is needed and nothing is started. Any Go from 1.21 on
# works, because it fetches a newer one for modules that need it; without one a pinned toolchain (70 MB) is fetched and
# removed afterwards. On two idle cores kube takes about 6 minutes, helm 2, node after kube 2 and dns 3; they need 700 MB
# of modules, 5 GB of disk for the compiler, and 3 GB of memory.
#
# Safe to call from several processes at once. A directory appears only when it is complete. Exit status: 0 done,
# 1 this machine (disk, permissions), 2 usage, 3 a tool is missing, 4 the build failed, 5 the download is not the
# pinned one.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/ui.sh
. "$here/ui.sh"
# shellcheck source=tools/cache.sh
. "$here/cache.sh"
# shellcheck source=tools/go.sh
. "$here/go.sh"

modules=$here/../tests/cluster
helm_version=3.21.4
helm_kubernetes_minor=36
helm4_version=4.2.4
kubeconform_version=0.7.0
kube_score_version=1.20.0
schemas_version=1.37.0 # of the wheel
schemas_sha256=85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9
schemas_minors="29 30 31 32 33 34 35 36 37"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/drey

usage() {
	sed -n '5p' "${BASH_SOURCE[0]}" | sed 's/^# *//' >&2
	exit 2
}

begin() { # WHAT
	cache_lock "$cache" "$1"
	cache_scratch "$cache" "$1"
}

# The directory's name has the hash of the module, so a changed one is rebuilt.
find_module() { # NAME WHOSE_VERSION
	module=$modules/$1
	version=$(awk -v of="$2" '{ sub("^require ", "") } $1 == of { print $2; exit }' "$module/go.mod")
	dest=$cache/$1-${version#v}-$(cd "$module" && cat go.mod go.sum ./*.go | sha256sum | head -c 12)
}

build_module() { # NAME WHAT LINKER_FLAGS
	(cd "$module" && go_run "fetching the modules of $2 (600 MB)" "$tmp/log" "$go" mod download) ||
		die 4 "could not fetch the modules of $2; check the network and GOPROXY"
	(cd "$module" && go_run "building $2 (several minutes, once)" "$tmp/log" "$go" build -mod=readonly \
		-o "$tmp/new/bin/$1" -ldflags "-s -w $3" .) ||
		die 4 "could not build $2; it needs 5 GB of disk and 3 GB of memory"
}

kubernetes_flags() {
	local minor=${version#v1.} name=k8s.io/component-base/version client=k8s.io/client-go/pkg/version
	minor=${minor%%.*}
	echo "-X $name.gitVersion=$version -X $name.gitMajor=1 -X $name.gitMinor=$minor -X $name.gitTreeState=clean" \
		"-X $client.gitVersion=$version -X $client.gitMajor=1 -X $client.gitMinor=$minor"
}

find_kube() {
	find_module kube k8s.io/kubernetes
}

build_kube() {
	build_module kube "Kubernetes $version" "$(kubernetes_flags)"
	ln -s kube "$tmp/new/bin/kubectl"
	"$tmp/new/bin/kubectl" version --client >/dev/null || die 1 "the new kubectl does not run"
}

find_node() {
	find_module node k8s.io/kubernetes
}

build_node() {
	build_module node "a node of Kubernetes $version" "$(kubernetes_flags)"
	"$tmp/new/bin/node" kubelet --version >/dev/null || die 1 "the new kubelet does not run"
}

find_dns() {
	find_module dns github.com/coredns/coredns
}

build_dns() {
	build_module dns "CoreDNS $version" ''
	"$tmp/new/bin/dns" -version >/dev/null || die 1 "the new CoreDNS does not run"
}

find_helm() {
	version=v$helm_version
	dest=$cache/helm-$helm_version
}

find_helm4() {
	version=v$helm4_version
	dest=$cache/helm4-$helm4_version
}

find_kubeconform() {
	version=v$kubeconform_version
	dest=$cache/kubeconform-$kubeconform_version
}

find_kube_score() {
	version=v$kube_score_version
	dest=$cache/kube-score-$kube_score_version
}

find_schemas() {
	dest=$cache/kube-schemas-$schemas_version-$( (echo "$schemas_sha256 $schemas_minors"; cat "$here/kube-schemas.py") | sha256sum | head -c 12)
}

build_program() { # NAME PACKAGE LDFLAGS PROOF...: the arguments with which it shows that it runs
	local name=$1 package=$2 flags=$3
	shift 3
	go_run "building $name $version from its Go module (a few minutes, once)" "$tmp/log" \
		env GOBIN="$tmp/new/bin" "$go" install -ldflags "-s -w $flags" "$package@$version" ||
		die 4 "could not build $name $version; check the network"
	"$tmp/new/bin/$name" "$@" >/dev/null || die 1 "the new $name does not run"
}

# Without the flags it would assume Kubernetes 1.20, and refuse charts.
build_helm() {
	local helm=helm.sh/helm/v3 flags place
	flags="-X $helm/internal/version.version=$version -X $helm/internal/version.metadata="
	for place in chartutil lint/rules; do
		flags+=" -X $helm/pkg/$place.k8sVersionMajor=1 -X $helm/pkg/$place.k8sVersionMinor=$helm_kubernetes_minor"
	done
	build_program helm $helm/cmd/helm "$flags" version --short
}

build_helm4() {
	local helm=helm.sh/helm/v4
	build_program helm $helm/cmd/helm "-X $helm/internal/version.version=$version -X $helm/internal/version.metadata=" version --short
}

build_kubeconform() {
	build_program kubeconform github.com/yannh/kubeconform/cmd/kubeconform "-X main.version=$version" -v
}

build_kube_score() {
	build_program kube-score github.com/zegl/kube-score/cmd/kube-score "-X main.version=$version" version
}

# 22 MB, of which 1 is kept. It has its own environment, because not every system has a pip.
build_schemas() {
	local python
	for python in /usr/bin/python3 python3 ''; do
		! "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || break
	done
	[ -n "$python" ] || die 3 "python3 with venv is needed for the schemas; install it: apt-get install python3-venv"
	echo "kubernetes-validate==$schemas_version --hash=sha256:$schemas_sha256" >"$tmp/requirements.txt"
	"$python" -m venv "$tmp/venv" >"$tmp/log" 2>&1 || die 3 "python3 -m venv failed: $(tail -n 1 "$tmp/log")"
	if ! run_with_progress "fetching the schemas of Kubernetes (22 MB)" "$tmp/log" \
		"$tmp/venv/bin/python" -m pip download --no-input --disable-pip-version-check --progress-bar off --no-deps \
		--only-binary :all: --dest "$tmp/wheel" --requirement "$tmp/requirements.txt" 9>&-; then
		! grep -q 'DO NOT MATCH THE HASHES' "$tmp/log" || die 5 "the file from PyPI is not the pinned wheel; nothing was installed"
		die 4 "could not fetch kubernetes-validate $schemas_version from PyPI; check the network"
	fi
	# shellcheck disable=SC2086 # one word each
	"$python" "$here/kube-schemas.py" "$(echo "$tmp"/wheel/*.whl)" "$tmp/new" $schemas_minors ||
		die 1 "the schemas cannot be read"
}

case ${1:-} in
kube | node | dns | helm | helm4 | kubeconform | kube-score | schemas) [ $# -eq 1 ] || usage ;;
*) usage ;;
esac
name=${1//-/_}
"find_$name"
if [ ! -d "$dest" ]; then
	begin "$1"
	if [ ! -d "$dest" ]; then
		[ "$1" = schemas ] || go_find "$1" "$tmp"
		mkdir -p "$tmp/new"
		"build_$name"
		mv --no-target-directory "$tmp/new" "$dest"
	fi
fi
echo "$dest"
