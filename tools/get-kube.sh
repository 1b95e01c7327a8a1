#!/usr/bin/env bash
#
# get-kube.sh - puts what a Kubernetes for the tests is made of on this machine, once, and prints where it is.
#
#   tools/get-kube.sh kube|helm
#
# kube   prints a directory with bin/kube, which is etcd, kube-apiserver, kube-controller-manager and kubectl in one
#        program (tests/cluster/kube), and bin/kubectl; built from Go modules that go.sum pins
# helm   prints a directory with bin/helm, built from its Go module
#
# They are kept in ${XDG_CACHE_HOME:-~/.cache}/drey. No root is needed and nothing is started. Any Go from 1.21 on will
# do, because it fetches a newer one when a module asks for that; without one a pinned toolchain (70 MB) is fetched and
# thrown away afterwards. On two idle cores kube takes about 6 minutes and helm 2; they need 600 MB of modules, 4 GB of disk
# for what the compiler keeps, and 3 GB of memory.
#
# Safe to call from several processes at once. A directory appears only when it is complete. Exit status: 0 done,
# 1 this machine (disk, permissions), 2 usage, 3 a tool is missing, 4 the build failed, 5 what was fetched is not what
# is pinned.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/ui.sh
. "$here/ui.sh"
# shellcheck source=tools/cache.sh
. "$here/cache.sh"
# shellcheck source=tools/go.sh
. "$here/go.sh"

module=$here/../tests/cluster/kube
helm_version=3.21.4
helm_kubernetes_minor=36
cache=${XDG_CACHE_HOME:-$HOME/.cache}/drey

usage() {
	sed -n '5p' "${BASH_SOURCE[0]}" | sed 's/^# *//' >&2
	exit 2
}

begin() { # WHAT
	cache_lock "$cache" "$1"
	cache_scratch "$cache" "$1"
}

# The directory's name has the hash of the module, so a changed one is built anew.
find_kube() {
	version=$(awk '$1 == "k8s.io/kubernetes" { print $2; exit }' "$module/go.mod")
	dest=$cache/kube-${version#v}-$(cd "$module" && cat go.mod go.sum ./*.go | sha256sum | head -c 12)
}

build_kube() {
	local minor=${version#v1.} name=k8s.io/component-base/version client=k8s.io/client-go/pkg/version
	minor=${minor%%.*}
	(cd "$module" && go_run "fetching the modules of Kubernetes $version (600 MB)" "$tmp/log" "$go" mod download) ||
		die 4 "could not fetch the modules of Kubernetes $version; is the network up? GOPROXY names the module proxy"
	(cd "$module" && go_run "building Kubernetes $version (several minutes, once)" "$tmp/log" "$go" build -mod=readonly \
		-o "$tmp/new/bin/kube" -ldflags "-s -w
			-X $name.gitVersion=$version -X $name.gitMajor=1 -X $name.gitMinor=$minor -X $name.gitTreeState=clean
			-X $client.gitVersion=$version -X $client.gitMajor=1 -X $client.gitMinor=$minor" .) ||
		die 4 "could not build Kubernetes $version; it needs 4 GB of disk and 3 GB of memory"
	ln -s kube "$tmp/new/bin/kubectl"
	"$tmp/new/bin/kubectl" version --client >/dev/null || die 1 "the kubectl that was built does not run"
}

find_helm() {
	version=v$helm_version
	dest=$cache/helm-$helm_version
}

# Without the flags it would take itself for one of Kubernetes 1.20, and refuse charts.
build_helm() {
	local helm=helm.sh/helm/v3 flags place
	flags="-s -w -X $helm/internal/version.version=$version -X $helm/internal/version.metadata="
	for place in chartutil lint/rules; do
		flags+=" -X $helm/pkg/$place.k8sVersionMajor=1 -X $helm/pkg/$place.k8sVersionMinor=$helm_kubernetes_minor"
	done
	go_run "building Helm $version from its Go module (a few minutes, once)" "$tmp/log" \
		env GOBIN="$tmp/new/bin" "$go" install -ldflags "$flags" "$helm/cmd/helm@$version" ||
		die 4 "could not build Helm $version; is the network up?"
	"$tmp/new/bin/helm" version --short >/dev/null || die 1 "the helm that was built does not run"
}

case ${1:-} in
kube | helm) [ $# -eq 1 ] || usage ;;
*) usage ;;
esac
"find_$1"
if [ ! -x "$dest/bin/$1" ]; then
	begin "$1"
	if [ ! -x "$dest/bin/$1" ]; then
		go_find "$1" "$tmp"
		mkdir -p "$tmp/new/bin"
		"build_$1"
		rm -rf "$dest"
		mv --no-target-directory "$tmp/new" "$dest"
	fi
fi
echo "$dest"
