#!/usr/bin/env bash
#
# get-home.sh - a whole distribution of Flink, as Flink's images have it in /opt/flink, and prints where it is.
#
#   tests/image/get-home.sh VERSION
#
# bin/ and conf/ are in the Python package apache-flink, lib/, opt/ and plugins/ in the source archive of
# apache-flink-libraries; both are pinned (tools/flink/versions.txt, homes.txt). Kept in
# ${XDG_CACHE_HOME:-~/.cache}/drey. Exit status as of tools/get-flink.sh.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tools=$here/../../tools
# shellcheck source=tools/ui.sh
. "$tools/ui.sh"
# shellcheck source=tools/cache.sh
. "$tools/cache.sh"

version=${1:-}
libraries=$(awk -v version="$version" '$1 == version && $2 == "pypi" { print $3 }' "$tools/flink/versions.txt")
scripts=$(awk -v version="$version" '$1 == version { print $2 }' "$here/homes.txt")
[ -n "$libraries" ] && [ -n "$scripts" ] || die 2 "'$version' is not in both tools/flink/versions.txt and tests/image/homes.txt"
parent=${XDG_CACHE_HOME:-$HOME/.cache}/drey
dest=$parent/flink-home-$version-${scripts:0:12}

pip_download() { # PACKAGE SHA256 OPTION...
	echo "$1==$version --hash=sha256:$2" >"$tmp/requirements.txt"
	TMPDIR=$tmp run_with_progress "fetching $1 $version with pip" "$tmp/fetch.log" python3 -m pip download --no-cache-dir \
		--no-deps --disable-pip-version-check --progress-bar off --dest "$tmp" --requirement "$tmp/requirements.txt" "${@:3}" ||
		die 4 "could not fetch $1 $version from PyPI: $(tail -n 1 "$tmp/fetch.log")"
}

if [ ! -d "$dest" ]; then
	python3 -m pip --version >/dev/null 2>&1 || die 3 "python3 with pip is needed to fetch Flink $version: apt-get install python3-pip"
	mkdir -p "$parent" || die 1 "cannot make $parent"
	cache_lock "$parent" flink-home
	if [ ! -d "$dest" ]; then
		cache_scratch "$parent" flink-home
		pip_download apache-flink-libraries "$libraries" --no-binary apache-flink-libraries 9>&-
		pip_download apache-flink "$scripts" --only-binary :all: --python-version 3.11 --implementation cp --abi cp311 \
			--platform manylinux2014_x86_64 9>&-
		mkdir -p "$tmp/home"/{log,usrlib}
		tar --extract --gzip --file "$(echo "$tmp"/apache*libraries*.tar.gz)" --directory "$tmp/home" --no-same-owner \
			--strip-components=2 --wildcards '*/deps/bin/*' '*/deps/lib/*' '*/deps/opt/*' '*/deps/plugins/*'
		python3 -m zipfile -e "$(echo "$tmp"/apache_flink-*.whl)" "$tmp/wheel"
		cp -r "$tmp/wheel/pyflink/bin" "$tmp/wheel/pyflink/conf" "$tmp/home/"
		chmod 755 "$tmp/home/bin"/*
		mv --no-target-directory "$tmp/home" "$dest"
	fi
fi
echo "$dest"
