#!/usr/bin/env bash
#
# release.sh - everything of a release, in one directory: `make release`.
#
#   tools/release/release.sh DEST
#
#   drey-VERSION-linux-ARCH.tar.gz      static drey, drey-init and drey-migrate, for any Linux (docs/tasks/static.md)
#   drey_VERSION_ARCH.deb               package for this distribution, with its libraries; of this machine's architecture
#   drey-crds-VERSION.tgz, flink-application-VERSION.tgz
#                                       charts
#   drey-image-FLINK-ARCH.oci.tar       OCI layout of an image, for each ROOTFS that is given
#   drey.krew.yaml                      manifest for krew, of the static archives (URL: where they are published)
#   drey-VERSION.spdx.json              what all of that is made of (SPDX 2.3)
#   drey-VERSION.intoto.jsonl           how it was made (SLSA provenance), signed with KEY
#   SHA256SUMS, SHA256SUMS.sig          the latter with KEY
#
# Environment:
#   ARCHS      architectures of the static programs (default: amd64 arm64)
#   ROOTFS     root directories with Flink in /opt/flink, one a word; drey is added, the directories are not changed
#   KEY        private key (PEM) that signs SHA256SUMS and the provenance (docs/development/release.md)
#   URL        where the archives are published, for drey.krew.yaml (tools/release/krew.sh)
#   SOURCE_DATE_EPOCH
#              date of all files (default: that of the commit)
#
# The same commit gives the same bytes, in any directory: tests/image/test_release.sh builds twice.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ $# -eq 1 ] || {
	echo "usage: tools/release/release.sh DEST" >&2
	exit 2
}
# shellcheck source=tools/release/lib.sh
. tools/release/lib.sh
release_begin "$1"
read -ra archs <<<"${ARCHS:-amd64 arm64}"
read -ra roots <<<"${ROOTFS:-}"

say() {
	printf 'release: %s\n' "$*" >&2
}

static_archive() { # ARCH
	local name=drey-$VERSION-linux-$1
	local tree=$WORK/$name
	make --no-print-directory ARCH="$1" static >&2
	install -D -m 755 -t "$tree" "build/static/$1/drey" "build/static/$1/drey-init" "build/static/$1/drey-migrate"
	install -m 644 LICENSE CHANGELOG.md "build/static/$1/licenses.txt" "$tree"
	"$(strip_for "$1")" "$tree/drey" "$tree/drey-migrate"
	release_tar "$WORK" "$name" | gzip -9n >"$DEST/$name.tar.gz"
}

# A chart archive is its directory; `helm package` would put the time into it.
chart_archive() { # NAME
	local at
	at=$(sed -n 's/^version: *//p' "chart/$1/Chart.yaml")
	mkdir -p "$WORK/chart"
	cp -r "chart/$1" "$WORK/chart/"
	release_tar "$WORK/chart" "$1" | gzip -9n >"$DEST/$1-$at.tgz"
}

for arch in "${archs[@]}"; do
	say "static programs for $arch"
	static_archive "$arch"
done
say "Debian package"
make --no-print-directory all jars >&2
tools/release/deb.sh "$DEST"
install -m 644 build/drey-gate.jar "$DEST/drey-gate-$VERSION.jar"
say "charts"
chart_archive drey-crds
chart_archive flink-application
for root in "${roots[@]}"; do
	say "image of $root"
	tools/release/oci.sh "$root" "$DEST"
done
say "krew manifest"
tools/release/krew.sh "$DEST" >"$WORK/krew"
mv "$WORK/krew" "$DEST/drey.krew.yaml"
say "SBOM"
tools/release/sbom.sh "$DEST" >"$WORK/sbom"
mv "$WORK/sbom" "$DEST/drey-$VERSION.spdx.json"
say "provenance"
tools/release/provenance.sh "$DEST" >"$WORK/provenance"
mv "$WORK/provenance" "$DEST/drey-$VERSION.intoto.jsonl"
(cd "$DEST" && sha256sum -- * >"$WORK/sums" && mv "$WORK/sums" SHA256SUMS)
if [ -n "${KEY:-}" ]; then
	openssl pkeyutl -sign -inkey "$KEY" -rawin -in "$DEST/SHA256SUMS" -out "$DEST/SHA256SUMS.sig"
else
	say "not signed: set KEY to a private key (PEM)"
fi
say "$DEST has $(find "$DEST" -type f | wc -l) files"
