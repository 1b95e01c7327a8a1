#!/usr/bin/env bash
#
# get-axe.sh - axe-core, which tests whether a page can be read by everybody, from npm. Prints the path of axe.min.js.
#
# It is kept in ${XDG_CACHE_HOME:-~/.cache}/drey. Exit status: 0 done, 1 this machine, 3 a tool is missing, 4 the download
# failed, 5 the download is not the pinned one.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/ui.sh
. "$here/ui.sh"
# shellcheck source=tools/cache.sh
. "$here/cache.sh"

version=4.14.1
sha256=e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745
cache=${XDG_CACHE_HOME:-$HOME/.cache}/drey
dest=$cache/axe-core-$version

if [ ! -f "$dest/axe.min.js" ]; then
	for tool in npm tar; do
		command -v "$tool" >/dev/null || die 3 "$tool is needed for axe-core; install it: apt-get install $tool"
	done
	cache_lock "$cache" axe
	cache_scratch "$cache" axe
	(cd "$tmp" && run_with_progress "fetching axe-core with npm (3 MB)" "$tmp/log" npm pack "axe-core@$version" 9>&-) ||
		die 4 "could not fetch axe-core; check the network"
	archive=$tmp/axe-core-$version.tgz
	[ "$(sha256sum <"$archive")" = "$sha256  -" ] || die 5 "axe-core $version is not the pinned one"
	mkdir "$tmp/axe"
	tar --extract --gzip --file "$archive" --directory "$tmp/axe" --strip-components 1 package/axe.min.js package/LICENSE ||
		die 1 "cannot unpack axe-core into $cache"
	rm -rf "$dest"
	mv --no-target-directory "$tmp/axe" "$dest"
fi
echo "$dest/axe.min.js"
