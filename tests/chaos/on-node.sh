#!/usr/bin/env bash
#
# on-node.sh - `make chaos WHERE=cluster`: starts a node (tests/cluster/node.sh), or takes that in DREY_NODE, and runs
# tests/cluster/test_chaos.sh there, with SEED and STEPS. As root.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

export DREY_TEST_REQUIRE=1
for name in KUBE:kube NODE:node DNS:dns HELM:helm; do
	home=$(tools/get-kube.sh "${name#*:}")
	export "${name%:*}_HOME=$home"
done
VERSITYGW=$(tools/get-servers.sh versitygw)
export VERSITYGW
if [ -z "${DREY_NODE:-}" ]; then
	layout=$(tests/cluster/images.sh "${IMAGES:-${XDG_CACHE_HOME:-$HOME/.cache}/drey/images}")
	DREY_NODE=$(mktemp -d "${TMPDIR:-/tmp}/drey-node.XXXXXX")
	export DREY_NODE
	trap 'tests/cluster/node.sh down "$DREY_NODE" && rm -rf "$DREY_NODE"' EXIT
	tests/cluster/node.sh up "$DREY_NODE" --owner $$
	tests/cluster/node.sh load "$DREY_NODE" "$layout"
fi
STEPS=${STEPS:-100} tests/cluster/node.sh enter "$DREY_NODE" tests/cluster/test_chaos.sh
