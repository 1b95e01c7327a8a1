#!/usr/bin/env bash
#
# get-promtool.sh - promtool, which tests alerting rules, from the distribution's package `prometheus`: it is unpacked, not
# installed, so no service is started. Prints the path of the program.
#
# It is kept in ${XDG_CACHE_HOME:-~/.cache}/drey. Exit status: 0 done, 1 this machine, 3 a tool is missing, 4 the download
# failed.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/ui.sh
. "$here/ui.sh"
# shellcheck source=tools/cache.sh
. "$here/cache.sh"

cache=${XDG_CACHE_HOME:-$HOME/.cache}/drey
dest=$cache/promtool

if command -v promtool >/dev/null; then
	command -v promtool
	exit
fi
if ! "$dest/promtool" --version >/dev/null 2>&1; then
	for tool in apt-get dpkg-deb; do
		command -v "$tool" >/dev/null || die 3 "promtool is needed; install Prometheus"
	done
	cache_lock "$cache" promtool
	cache_scratch "$cache" promtool
	# apt checks the signature
	fetch() {
		(cd "$tmp" && run_with_progress "fetching promtool (20 MB)" "$tmp/log" apt-get download prometheus 9>&-)
	}
	# a machine whose packages came with its image has no lists of them
	fetch || { [ "$(id -u)" -eq 0 ] && apt-get update >"$tmp/log" 2>&1 9>&- && fetch; } ||
		die 4 "could not fetch the package prometheus; run apt-get update, and check the network"
	dpkg-deb --fsys-tarfile "$tmp"/prometheus_*.deb | tar --extract --directory "$tmp" ./usr/bin/promtool ||
		die 1 "the package prometheus has no promtool"
	mkdir "$tmp/promtool"
	mv "$tmp/usr/bin/promtool" "$tmp/promtool/"
	"$tmp/promtool/promtool" --version >/dev/null 2>&1 || die 1 "the new promtool does not run"
	rm -rf "$dest"
	mv --no-target-directory "$tmp/promtool" "$dest"
fi
echo "$dest/promtool"
