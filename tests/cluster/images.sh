#!/usr/bin/env bash
#
# images.sh - the images for the tests on a cluster, made by the Dockerfile and by the lines of docs/tasks/image.md.
#
#   tests/cluster/images.sh DIR [python]     as root; prints the OCI layout (a directory), which node.sh loads
#
# In it are localhost/pause:1, which is what holds a Pod's namespaces, and localhost/orders:1 and :2, which tests/image/build.sh
# makes, with Flink's file system for S3 and with HandoverJob, BlueGreenJob and FlipJob beside ContinuityJob. `python`: a layout of its
# own, with localhost/orders-py:1 and :2, which have Python, PyFlink and python/counter.py as well. DIR keeps everything between two calls; only what
# has changed is made anew. It grows with each change of drey; remove it at any time. Exit status as of tests/image/build.sh.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 0 ] || set -- "$(realpath -m "$1")" "${@:2}"
cd "$here/../.."
# shellcheck source=tools/ui.sh
. tools/ui.sh
# shellcheck source=tests/image/lib.sh
. tests/image/lib.sh

if [ $# -ne 1 ] && [ "${2:-}" != python ]; then
	die 2 "usage: tests/cluster/images.sh DIR [python]"
fi
dir=$1 version=2.3.0
why=$(image_missing)
[ -z "$why" ] || die 3 "$why"
mkdir -p "$dir"
image_alone "$here/images.sh" "$@"
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
tests/job/build.sh "$(tools/get-flink.sh "$version")" "$dir/context/s3/handover.jar" BlueGreenJob
tests/job/build.sh "$(tools/get-flink.sh "$version")" "$dir/context/s3/flip.jar" FlipJob
printf '%s\n' 'FROM localhost/orders:1' "COPY ${plugin##*/} /opt/flink/plugins/s3/" 'COPY handover.jar flip.jar /opt/flink/usrlib/' >"$dir/context/s3/Dockerfile"
make_image localhost/orders-s3:1 "$dir/context/s3"
printf '%s\n' 'FROM localhost/orders-s3:1' 'LABEL version=2' >"$dir/context/next/Dockerfile"
make_image localhost/orders-s3:2 "$dir/context/next"

# Python and its packages are a layer that stays: only the image of Flink makes it anew. They are those of tools/get-pyflink.sh without
# Flink itself, for a Python of the same version.
python_images() {
	local python site
	python=$(tools/get-pyflink.sh "$version")
	site=$("$python" -c 'import pyflink; print(pyflink.__path__[0].rpartition("/")[0])')
	mkdir -p "$dir"/context/{base/packages,py,py-next}
	tar --directory "$site" --exclude='./pyflink/lib' --exclude='./pyflink/opt' --exclude='./pyflink/plugins' --exclude='*/tests' --exclude='__pycache__' \
		--create . | tar --directory "$dir/context/base/packages" --extract
	cat >"$dir/context/base/Dockerfile" <<-END
		FROM localhost/flink:$version
		USER root
		RUN apt-get -o APT::Sandbox::User=root update && apt-get -o APT::Sandbox::User=root install --yes --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*
		COPY packages /usr/lib/python3/dist-packages/
		RUN python3 -c 'import pyflink.datastream, pyflink.fn_execution.beam.beam_operations'
	END
	make_image localhost/python:1 "$dir/context/base"
	# what the image of the other jobs has, on top of Python; the job comes last, so that another one does not need another class archive
	cp "$plugin" "$here/python/counter.py" "$dir/context/py/"
	{
		echo 'FROM localhost/python:1'
		sed -n '/^LABEL drey=/,$p' "$dir/orders/Dockerfile"
		echo "COPY ${plugin##*/} /opt/flink/plugins/s3/"
		echo 'COPY counter.py /opt/flink/usrlib/'
	} >"$dir/context/py/Dockerfile"
	make_image localhost/orders-py:1 "$dir/context/py"
	printf '%s\n' 'FROM localhost/orders-py:1' 'LABEL version=2' >"$dir/context/py-next/Dockerfile"
	make_image localhost/orders-py:2 "$dir/context/py-next"
}

# Sets `layout`. LOCAL=NAME: the names that they have in a cluster.
write_layout() { # NAME LOCAL=NAME...
	local image ids
	layout=$dir/$1
	shift
	ids=$(for image; do
		"${BUILDAH[@]}" inspect --type image --format '{{.FromImageID}}' "localhost/${image%=*}"
	done)
	[ "$ids" != "$(cat "$layout.ids" 2>/dev/null)" ] || return 0
	say "writing the images to $layout"
	rm -rf "$layout" "$layout.ids"
	for image; do
		"${BUILDAH[@]}" push --quiet --disable-compression "localhost/${image%=*}" "oci:$layout:localhost/${image#*=}" 9>&-
	done
	jq '.manifests[].annotations |= . + {"io.containerd.image.name": .["org.opencontainers.image.ref.name"]}' \
		"$layout/index.json" >"$layout/index.new"
	mv "$layout/index.new" "$layout/index.json"
	echo "$ids" >"$layout.ids"
}

if [ "${2:-}" = python ]; then
	python_images
	write_layout layout-python orders-py:1=orders-py:1 orders-py:2=orders-py:2
else
	write_layout layout pause:1=pause:1 orders-s3:1=orders:1 orders-s3:2=orders:2
fi
echo "$layout"
