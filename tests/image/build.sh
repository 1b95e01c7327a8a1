#!/usr/bin/env bash
#
# build.sh - the images, made by the Dockerfile and by the lines of docs/tasks/image.md, without a registry.
#
#   tests/image/build.sh DIR [VERSION [SUITE]]     as root; VERSION of Flink: 2.3.0
#
# SUITE of Debian or Ubuntu; without it that of this machine. With it all tags end in -SUITE.
#
# Leaves in the buildah storage in DIR (`image_store DIR` of lib.sh is how to call buildah on it):
#
#   localhost/flink:VERSION        stands for Flink's official image: packages of SUITE (mmdebstrap), a JRE, a whole
#                                  Flink in /opt/flink, user flink 9999
#   localhost/drey:flink-VERSION   the Dockerfile
#   localhost/orders:1             the image of an engineer: a job, and drey by the four lines
#
# Exit status: 0 done, 1 failed, 3 something is missing on this machine (said on stderr).

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 0 ] || set -- "$(realpath -m "$1")" "${@:2}"
cd "$here/../.."
# shellcheck source=tools/ui.sh
. tools/ui.sh
# shellcheck source=tools/cache.sh
. tools/cache.sh
# shellcheck source=tests/image/lib.sh
. tests/image/lib.sh

[ $# -ge 1 ] || die 2 "usage: tests/image/build.sh DIR [VERSION [SUITE]]"
dir=$1 version=${2:-2.3.0} suite=${3:-} tag=${3:+-$3}
mkdir -p "$dir"
why=$(image_missing)
[ -z "$why" ] || die 3 "$why"
image_alone "$here/build.sh" "$@"
image_store "$dir"

# ---- what stands for the official image -----------------------------------------------------------

# Kept for a week in the user's cache: it is the packages of a distribution, and only a test.
root_archive() {
	local cache=${XDG_CACHE_HOME:-$HOME/.cache}/drey components=main java=17 keys=()
	[ -n "$suite" ] || suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	root_tar=$cache/image-root-$suite.tar
	cache_lock "$cache" image-root
	[ -z "$(find "$root_tar" -mtime -7 2>/dev/null)" ] || return 0
	cache_scratch "$cache" image-root
	case $suite in
	trixie) java=21 ;;
	jammy | noble)
		components=main,universe
		image_ubuntu_keys "$tmp" || exit 1
		# apt's own user need not be able to look into the cache
		keys=(--keyring="$tmp/$IMAGE_UBUNTU_KEYRING" --aptopt='APT::Sandbox::User "root"')
		;;
	esac
	run_with_progress "making a root directory of $suite" "$tmp/log" mmdebstrap --variant=apt "${keys[@]}" \
		--components="$components" --include="openjdk-$java-jre-headless,gettext-base,ca-certificates,passwd" "$suite" "$tmp/root.tar" 9>&- ||
		die 1 "mmdebstrap failed: $(tail -n 2 "$tmp/log")"
	mv "$tmp/root.tar" "$root_tar"
}

flink_image() {
	local container home java
	root_archive
	home=$(tests/image/get-home.sh "$version")
	container=$("${BUILDAH[@]}" from scratch)
	"${BUILDAH[@]}" add --quiet "$container" "$root_tar" / >/dev/null
	exec 9>&-
	"${BUILDAH[@]}" add --quiet --chown 9999:9999 "$container" "$home" /opt/flink >/dev/null
	"${BUILDAH[@]}" add --quiet --chmod 755 "$container" tests/image/docker-entrypoint.sh / >/dev/null
	"${BUILDAH[@]}" run --isolation chroot "$container" -- sh -c \
		'groupadd --system --gid=9999 flink && useradd --system --home-dir /opt/flink --uid=9999 --gid=flink flink'
	java=$("${BUILDAH[@]}" run --isolation chroot "$container" -- readlink -f /usr/bin/java)
	"${BUILDAH[@]}" config --env FLINK_HOME=/opt/flink --env "JAVA_HOME=${java%/bin/java}" \
		--env PATH=/opt/flink/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		--workingdir /opt/flink --user flink --entrypoint '["/docker-entrypoint.sh"]' "$container"
	"${BUILDAH[@]}" commit --quiet --rm "$container" "localhost/flink:$version$tag" >/dev/null
}

# ---- the others --------------------------------------------------------------------------------------

image() { # NAME FILE CONTEXT [OPTION...]
	say "building $1"
	"${BUILDAH[@]}" build --layers --isolation chroot --quiet --tag "$1" --file "$2" "${@:4}" "$3" >"$dir/build.log" 2>&1 || {
		tail -n 40 "$dir/build.log" >&2
		die 1 "$1 could not be built"
	}
}

# The lines as an engineer reads them.
four_lines() {
	sed -n '/^USER root$/,/^```$/p' docs/tasks/image.md | grep -v '^```' | sed "s|drey:flink-2\.3\.0|localhost/&|; s|2\.3\.0|$version$tag|"
}

job_image() {
	local context=$dir/orders
	mkdir -p "$context"
	tests/job/build.sh "$(tools/get-flink.sh "$version")" "$context/job.jar" >/dev/null
	{
		echo "FROM localhost/flink:$version$tag"
		echo "COPY job.jar /opt/flink/usrlib/job.jar"
		# buildah does not see that the image of a mount is another one, and would take the layer of the old one
		echo "LABEL drey=$("${BUILDAH[@]}" inspect --type image --format '{{.FromImageID}}' "localhost/drey:flink-$version$tag")"
		four_lines
	} >"$context/Dockerfile"
	[ "$(four_lines | wc -l)" -eq 4 ] || die 1 "docs/tasks/image.md has no four lines any more"
	image "localhost/orders:1$tag" "$context/Dockerfile" "$context"
}

"${BUILDAH[@]}" inspect --type image "localhost/flink:$version$tag" >/dev/null 2>&1 || flink_image
image "localhost/drey:flink-$version$tag" Dockerfile . --build-arg "FLINK_IMAGE=localhost/flink:$version$tag"
job_image
