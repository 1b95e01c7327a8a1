#!/usr/bin/env bash
#
# get-pyflink.sh - a Python with apache-flink, from PyPI. Prints the path of its interpreter.
#
#   tools/get-pyflink.sh VERSION
#
# It is kept in ${XDG_CACHE_HOME:-~/.cache}/drey, about 850 MB; DREY_PYFLINK names an interpreter that has it already. Exit status:
# 0 done, 1 this machine, 2 usage, 3 a tool is missing, 4 the download failed.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/ui.sh
. "$here/ui.sh"
# shellcheck source=tools/cache.sh
. "$here/cache.sh"

[ $# -eq 1 ] || {
	sed -n '5p' "${BASH_SOURCE[0]}" | sed 's/^# *//' >&2
	exit 2
}
version=$1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/drey
dest=$cache/pyflink-$version

has_pyflink() { # PYTHON
	[ "$("$1" -c 'import importlib.metadata as m; print(m.version("apache-flink"))' 2>/dev/null)" = "$version" ]
}

if [ -n "${DREY_PYFLINK:-}" ]; then
	has_pyflink "$DREY_PYFLINK" || die 1 "$DREY_PYFLINK does not have apache-flink $version"
	echo "$DREY_PYFLINK"
	exit
fi
if ! has_pyflink "$dest/bin/python"; then
	python3 -c 'import ensurepip' 2>/dev/null || die 3 "python3 with venv is needed for apache-flink; install it: apt-get install python3-venv"
	cache_lock "$cache" pyflink
	cache_scratch "$cache" pyflink
	# a virtual environment cannot be moved, so what is half done is at its place, and has no apache-flink
	rm -rf "$dest"
	python3 -m venv "$dest" || die 1 "cannot make a virtual environment in $cache"
	run_with_progress "fetching apache-flink $version with pip (850 MB)" "$tmp/log" "$dest/bin/pip" install --quiet \
		"apache-flink==$version" 9>&- || die 4 "could not fetch apache-flink $version; check the network"
	has_pyflink "$dest/bin/python" || die 4 "pip has not installed apache-flink $version"
fi
echo "$dest/bin/python"
