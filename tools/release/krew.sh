#!/usr/bin/env bash
#
# krew.sh - the manifest with which krew installs `kubectl drey`, on standard output.
#
#   tools/release/krew.sh DEST
#
# From the static archives of a release in DEST; their digests must be those in SHA256SUMS, if that is there. The program is
# `drey` itself: krew puts it into place as kubectl-drey.
#
# Environment:
#   URL     where the archives are published (default: https://drey.dev/releases/vVERSION)
#
# Source: krew, docs/developer-guide/plugin-manifest.md (v1alpha2).

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ $# -eq 1 ] || {
	echo "usage: tools/release/krew.sh DEST" >&2
	exit 2
}
version=$(cat VERSION)
dest=$1
url=${URL:-https://drey.dev/releases/v$version}

digest_of() { # FILE
	local digest
	digest=$(sha256sum "$dest/$1" | cut -d' ' -f1)
	if [ -e "$dest/SHA256SUMS" ] && ! grep -qx "$digest [ *]$1" "$dest/SHA256SUMS"; then
		echo "krew.sh: $dest/$1 is not the file of $dest/SHA256SUMS: make the release again" >&2
		return 1
	fi
	echo "$digest"
}

platform() { # ARCH
	local name=drey-$version-linux-$1 digest
	digest=$(digest_of "$name.tar.gz") || return 1
	cat <<-YAML
		  - selector:
		      matchLabels: {os: linux, arch: $1}
		    uri: $url/$name.tar.gz
		    sha256: $digest
		    files:
		    - {from: $name/drey, to: kubectl-drey}
		    - {from: $name/LICENSE, to: .}
		    - {from: $name/licenses.txt, to: .}
		    bin: kubectl-drey
	YAML
}

platforms=
for arch in amd64 arm64; do
	[ -e "$dest/drey-$version-linux-$arch.tar.gz" ] || continue
	platforms+=$(platform "$arch")$'\n'
done
[ -n "$platforms" ] || {
	echo "krew.sh: there is no drey-$version-linux-ARCH.tar.gz in $dest" >&2
	exit 1
}
cat <<-YAML
	apiVersion: krew.googlecontainertools.github.com/v1alpha2
	kind: Plugin
	metadata:
	  name: drey
	spec:
	  version: v$version
	  homepage: https://drey.dev
	  shortDescription: Show and operate Apache Flink applications
	  description: |
	    Lists the Apache Flink applications that drey supervises, shows what each was started from and why it does not
	    run, and suspends, resumes, restarts them and takes savepoints: through ConfigMaps and custom resources, with
	    your rights only.
	  caveats: |
	    The rights that each command needs are in docs/reference/kubectl.md.
	  platforms:
YAML
printf '%s' "$platforms"
