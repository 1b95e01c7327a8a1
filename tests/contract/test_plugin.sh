#!/usr/bin/env bash
#
# `kubectl drey` without a cluster: installed under its name, what it says, and the manifest with which krew installs it.

# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin make tar python3
version=$(cat VERSION)

# ---- installed --------------------------------------------------------------------------------------------

make -n install PREFIX=/usr DESTDIR="$dir/to" 2>/dev/null >"$dir/out"
ok 'make install makes the link' grep -qx "ln -sf drey $dir/to/usr/bin/kubectl-drey" "$dir/out"
mkdir -p "$dir/bin" "$dir/home/.kube"
ln -s "$DREY" "$dir/bin/kubectl-drey"

plugin() { # WORD...
	env --ignore-environment "HOME=$dir/home" "$dir/bin/kubectl-drey" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}
said() { # STATUS TEXT
	[ "$status" -eq "$1" ] && grep -qF -- "$2" "$dir/out" "$dir/err"
}

for command in list status history explain savepoint suspend resume acknowledge restart promote abort snapshots logs page version; do
	plugin "$command" --help
	said 0 "Usage: kubectl drey $command"
	result $? "kubectl drey $command --help"
	grep -q "^| \`kubectl drey $command" docs/reference/kubectl.md
	result $? 'docs/reference/kubectl.md has it'
done
plugin --help
[ "$status" -eq 0 ] && [ "$(grep -cE '^  [a-z]' "$dir/out")" -eq 15 ]
result $? 'these are all'
plugin explain --markdown StopFailed
[ "$status" -eq 0 ] && cmp -s "$dir/out" docs/runbook/StopFailed.md
result $? 'explain needs no cluster'
plugin run
said 2 "kubectl drey: unknown command 'run'"
result $? 'it supervises nothing'
plugin promote orders --at noon
said 2 '--at:'
result $? 'a time that is none: nothing is asked'

# ---- which cluster ------------------------------------------------------------------------------------------

plugin list
said 2 'not in a cluster'
result $? 'no kubeconfig: it is said'
kubeconfig() { # FILE NAMESPACE
	cat >"$1" <<-YAML
		current-context: a
		contexts:
		- {name: a, context: {cluster: c, user: u, namespace: $2}}
		- {name: b, context: {cluster: c, user: u, namespace: of-b}}
		clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]
		users: [{name: u, user: {token: t}}]
	YAML
}
kubeconfig "$dir/home/.kube/config" of-home
kubeconfig "$dir/given" of-given
namespace_is() { # NAMESPACE WORD...
	local want=$1
	shift
	plugin list "$@"
	said 5 "/namespaces/$want/flinkapplications"
}
namespace_is of-home
result $? '.kube/config in the home directory is found, as by kubectl'
namespace_is of-given --kubeconfig "$dir/given"
result $? '--kubeconfig'
namespace_is of-b --context b
result $? '--context'
namespace_is mine -n mine
result $? '--namespace'
plugin -n mine list
said 5 /namespaces/mine/flinkapplications
result $? 'which may stand in front'
plugin list --context nobody
said 2 "there is no context 'nobody'"
result $? 'a context that is none'
mkdir -p "$dir/gke"
cat >"$dir/gke/gke-gcloud-auth-plugin" <<-'SH'
	#!/bin/sh
	case $KUBERNETES_EXEC_INFO in *'"cluster":{"server":"http://127.0.0.1:1"'*) ;; *) exit 3 ;; esac
	echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"token":"t"}}'
SH
chmod +x "$dir/gke/gke-gcloud-auth-plugin"
# as gcloud container clusters get-credentials writes it
sed "s|user: {token: t}|user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: $dir/gke/gke-gcloud-auth-plugin, installHint: x, provideClusterInfo: true}}|" \
	"$dir/given" >"$dir/gke.conf"
namespace_is of-given --kubeconfig "$dir/gke.conf"
result $? 'a login of GKE, which hears of its cluster'
plugin list --as-group system:masters
said 2 "requires a user ('as')"
result $? 'a group without a user: as kubectl'
plugin list -A -n mine
said 2 'exclude each other'
result $? 'all namespaces, or one'
plugin status orders
said 5 '/api/v1/namespaces/of-home/configmaps/orders-drey'
result $? 'a server that does not answer is no absence'

# ---- krew -------------------------------------------------------------------------------------------------------

mkdir -p "$dir/release" "$dir/drey-$version-linux-amd64" "$dir/store"
cp "$DREY" LICENSE "$dir/drey-$version-linux-amd64"
touch "$dir/drey-$version-linux-amd64/licenses.txt"
tar --create --gzip --directory "$dir" --file "$dir/release/drey-$version-linux-amd64.tar.gz" "drey-$version-linux-amd64"
URL=https://example.net/x tools/release/krew.sh "$dir/release" >"$dir/krew.yaml" 2>"$dir/err"
result $? 'the manifest, without SHA256SUMS yet'
(cd "$dir/release" && sha256sum -- * >SHA256SUMS)
ok 'with SHA256SUMS it is the same' cmp -s <(URL=https://example.net/x tools/release/krew.sh "$dir/release") "$dir/krew.yaml"
# as krew does it: the archive is unpacked, the files are moved, and `bin` is linked
cat >"$dir/krew.py" <<'PYTHON'
import hashlib, os, shutil, sys, tarfile, yaml
manifest, release, store = sys.argv[1:]
doc = yaml.safe_load(open(manifest))
assert doc["apiVersion"] == "krew.googlecontainertools.github.com/v1alpha2" and doc["kind"] == "Plugin"
assert doc["metadata"]["name"] == "drey" and doc["spec"]["version"].startswith("v")
assert len(doc["spec"]["shortDescription"]) <= 50
(platform,) = doc["spec"]["platforms"]
assert platform["selector"]["matchLabels"] == {"os": "linux", "arch": "amd64"}
assert platform["uri"].startswith("https://example.net/x/")
archive = os.path.join(release, os.path.basename(platform["uri"]))
assert hashlib.sha256(open(archive, "rb").read()).hexdigest() == platform["sha256"]
tarfile.open(archive).extractall(store + "/unpacked")
for file in platform["files"]:
    to = os.path.basename(file["from"]) if file["to"] == "." else file["to"]
    shutil.move(os.path.join(store, "unpacked", file["from"]), os.path.join(store, to))
PYTHON
if python3 -c 'import yaml' 2>/dev/null; then
	python3 "$dir/krew.py" "$dir/krew.yaml" "$dir/release" "$dir/store" 2>"$dir/err" &&
		"$dir/store/kubectl-drey" list --help | grep -q 'Usage: kubectl drey list'
	result $? 'what krew does with it gives kubectl drey'
else
	skip 'what krew does with it gives kubectl drey' 'no PyYAML'
fi
echo more >>"$dir/release/drey-$version-linux-amd64.tar.gz"
status 1 tools/release/krew.sh "$dir/release"
result $? 'an archive that is not the one of SHA256SUMS is refused'
rm "$dir/release/drey-$version-linux-amd64.tar.gz"
status 1 tools/release/krew.sh "$dir/release"
result $? 'no archive, no manifest'

contract_end
