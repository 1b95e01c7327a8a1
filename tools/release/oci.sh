#!/usr/bin/env bash
#
# oci.sh - an image with drey, as an archive of an OCI layout, without a daemon and without a registry.
#
#   tools/release/oci.sh ROOT DEST
#
# ROOT: a root directory with Java and with Flink in /opt/flink; it is not changed. It becomes the first layer, the static drey the second
# one. The archive of Flink's classes is not in it: it must be made by the Java that uses it, see docs/tasks/image.md. As root, so that the
# owners of the files are right.
#
# Source: OCI image specification 1.1 (image-layout.md, manifest.md, config.md).

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tools/release/lib.sh
. tools/release/lib.sh
root=$1
release_begin "$2"
jar=$(find "$root/opt/flink/lib" -maxdepth 1 -name 'flink-dist-*.jar' | head -n 1)
[ -n "$jar" ] || {
	echo "oci.sh: $root has no Flink in /opt/flink; give a root directory with one" >&2
	exit 2
}
flink=$(basename "$jar" .jar)
flink=${flink#flink-dist-}
arch=$(dpkg --print-architecture)
layout=$WORK/layout
mkdir -p "$layout/blobs/sha256"

# What a file is called in the layout; prints its descriptor.
add_blob() { # MEDIA_TYPE FILE
	local digest size
	digest=$(sha256sum "$2" | cut -d' ' -f1)
	size=$(stat --format=%s "$2")
	mv "$2" "$layout/blobs/sha256/$digest"
	jq --null-input --compact-output --arg type "$1" --arg digest "sha256:$digest" --argjson size "$size" \
		'{mediaType: $type, digest: $digest, size: $size}'
}

add_layer() { # FILE_OF_TAR: appends to layers and diff_ids
	diff_ids+=("sha256:$(sha256sum "$1" | cut -d' ' -f1)")
	gzip -n "$1"
	layers+=("$(add_blob application/vnd.oci.image.layer.v1.tar+gzip "$1.gz")")
}

layers=() diff_ids=()
tar --create --directory "$root" --format=pax --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime --sort=name \
	--clamp-mtime --mtime="@$SOURCE_DATE_EPOCH" --numeric-owner --file "$WORK/root.tar" .
add_layer "$WORK/root.tar"

make --no-print-directory ARCH="$arch" static >&2
tools/image/pack.sh "build/static/$arch" "$WORK/drey" >/dev/null 2>&1
for jar in build/drey-*.jar; do
	[ ! -e "$jar" ] || install -D -m 644 "$jar" "$WORK/drey/usr/lib/drey/${jar##*/drey-}"
done
mkdir -p "$WORK/drey/opt/flink/lib"
for jar in rpc held; do
	[ ! -e "$WORK/drey/usr/lib/drey/$jar.jar" ] || ln -s "/usr/lib/drey/$jar.jar" "$WORK/drey/opt/flink/lib/drey-$jar.jar"
done
release_tar "$WORK/drey" . >"$WORK/drey.tar"
add_layer "$WORK/drey.tar"

created=$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
path=/opt/flink/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
[ ! -d "$root/opt/java/openjdk" ] || path=/opt/java/openjdk/bin:$path
printf '%s\n' "${diff_ids[@]}" | jq --raw-input --slurp --arg created "$created" --arg arch "$arch" --arg path "$path" --arg version "$VERSION" \
	--arg flink "$flink" '{created: $created, architecture: $arch, os: "linux",
	config: {User: "9999:9999", WorkingDir: "/opt/flink", Env: ["PATH=" + $path, "FLINK_HOME=/opt/flink"],
		Entrypoint: ["/usr/bin/drey-init", "--agent", "--", "/usr/bin/drey", "run"],
		Labels: {"org.opencontainers.image.title": "drey", "org.opencontainers.image.version": $version,
			"org.opencontainers.image.licenses": "Apache-2.0", "dev.drey.flink": $flink}},
	rootfs: {type: "layers", diff_ids: (split("\n") | map(select(. != "")))},
	history: [{created: $created, created_by: "root directory with Flink \($flink)"}, {created: $created, created_by: "drey \($version)"}]}' \
	>"$WORK/config"
config=$(add_blob application/vnd.oci.image.config.v1+json "$WORK/config")
printf '%s\n' "${layers[@]}" | jq --slurp --argjson config "$config" '{schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json",
	config: $config, layers: .}' >"$WORK/manifest"
manifest=$(add_blob application/vnd.oci.image.manifest.v1+json "$WORK/manifest")
jq --null-input --argjson manifest "$manifest" --arg arch "$arch" --arg tag "drey:$VERSION-flink-$flink" '{schemaVersion: 2,
	manifests: [$manifest + {platform: {architecture: $arch, os: "linux"}, annotations: {"org.opencontainers.image.ref.name": $tag}}]}' \
	>"$layout/index.json"
printf '{"imageLayoutVersion": "1.0.0"}\n' >"$layout/oci-layout"
release_tar "$layout" . >"$DEST/drey-image-$flink-$arch.oci.tar"
