#!/usr/bin/env bash
#
# images.sh - the images for the tests on a cluster, made by the Dockerfile and by the lines of docs/tasks/image.md.
#
#   tests/cluster/images.sh DIR     as root; prints the OCI layout (a directory), which node.sh loads
#
# In it are localhost/pause:1, which is what holds a Pod's namespaces, and localhost/orders:1 and :2, which tests/image/build.sh
# makes, with Flink's file system for S3 and with HandoverJob beside ContinuityJob. DIR keeps everything between two calls; only what has changed is made anew. It
# grows with each change of drey; remove it at any time. Exit status as of tests/image/build.sh.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 0 ] || set -- "$(realpath -m "$1")"
cd "$here/../.."
# shellcheck source=tools/ui.sh
. tools/ui.sh
# shellcheck source=tests/image/lib.sh
. tests/image/lib.sh

[ $# -eq 1 ] || die 2 "usage: tests/cluster/images.sh DIR"
dir=$1 version=2.3.0 layout=$1/layout
why=$(image_missing)
[ -z "$why" ] || die 3 "$why"
mkdir -p "$dir"
image_alone "$here/images.sh" "$dir"
exec 9>"$dir/.lock"
flock 9
tests/image/build.sh "$dir" "$version" 9>&-
plugin=$(tools/get-flink.sh --plugin flink-s3-fs-hadoop "$version")
image_store "$dir"

make_image() { # NAME CONTEXT, with a Dockerfile
	"${BUILDAH[@]}" build --layers --isolation chroot --quiet --tag "$1" "$2" >"$dir/build.log" 2>&1 9>&- || {
		tail -n 20 "$dir/build.log" >&2
		die 1 "$1 could not be built"
	}
}

rm -rf "$dir/context"
mkdir -p "$dir"/context/{pause,s3,next}
cc -Os -static -s -o "$dir/context/pause/pause" "$here/pause.c"
printf '%s\n' 'FROM scratch' 'COPY pause /pause' 'ENTRYPOINT ["/pause"]' >"$dir/context/pause/Dockerfile"
make_image localhost/pause:1 "$dir/context/pause"
cp "$plugin" "$dir/context/s3/"
tests/job/build.sh "$(tools/get-flink.sh "$version")" "$dir/context/s3/handover.jar" HandoverJob
printf '%s\n' 'FROM localhost/orders:1' "COPY ${plugin##*/} /opt/flink/plugins/s3/" 'COPY handover.jar /opt/flink/usrlib/' >"$dir/context/s3/Dockerfile"
make_image localhost/orders-s3:1 "$dir/context/s3"
printf '%s\n' 'FROM localhost/orders-s3:1' 'LABEL version=2' >"$dir/context/next/Dockerfile"
make_image localhost/orders-s3:2 "$dir/context/next"

# the names that they have in a cluster
images='pause:1=pause:1 orders-s3:1=orders:1 orders-s3:2=orders:2'
ids=$(for image in $images; do
	"${BUILDAH[@]}" inspect --type image --format '{{.FromImageID}}' "localhost/${image%=*}"
done)
if [ "$ids" != "$(cat "$layout.ids" 2>/dev/null)" ]; then
	say "writing the images to $layout"
	rm -rf "$layout" "$layout.ids"
	for image in $images; do
		"${BUILDAH[@]}" push --quiet --disable-compression "localhost/${image%=*}" "oci:$layout:localhost/${image#*=}" 9>&-
	done
	jq '.manifests[].annotations |= . + {"io.containerd.image.name": .["org.opencontainers.image.ref.name"]}' \
		"$layout/index.json" >"$layout/index.new"
	mv "$layout/index.new" "$layout/index.json"
	echo "$ids" >"$layout.ids"
fi
echo "$layout"
