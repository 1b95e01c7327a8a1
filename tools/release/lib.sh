# shellcheck shell=bash
#
# lib.sh - what the scripts of a release share.
#
#   release_begin DEST   sets VERSION, DEST (absolute, made), WORK (a directory that goes at the exit), SOURCE_DATE_EPOCH
#   release_tar DIR NAME prints a tar of DIR/NAME that depends only on names, contents and executable bits
#   strip_for ARCH       the strip of that architecture

release_begin() { # DEST
	VERSION=$(cat VERSION)
	mkdir -p "$1"
	DEST=$(cd "$1" && pwd)
	WORK=$(mktemp -d)
	trap 'rm -rf "$WORK"' EXIT
	SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
	export VERSION DEST WORK SOURCE_DATE_EPOCH
	export LC_ALL=C TZ=UTC
	umask 022
}

release_tar() { # DIR NAME
	tar --create --directory "$1" --format=gnu --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
		--mode='u+rwX,go+rX,go-w' "$2"
}

strip_for() { # ARCH
	case $1-$(uname -m) in
	arm64-x86_64) echo aarch64-linux-gnu-strip ;;
	amd64-aarch64) echo x86_64-linux-gnu-strip ;;
	*) echo strip ;;
	esac
}
