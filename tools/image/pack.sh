#!/usr/bin/env bash
#
# pack.sh - copies all files of drey for an image into a directory, with the list of packages that it needs.
#
#   tools/image/pack.sh BUILD DEST
#
# Run it where BUILD/drey was built: the packages are those that contain its libraries there (Debian, Ubuntu). A static drey needs
# none. A second run with another BUILD replaces the programs and the list.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ $# -eq 2 ] || {
	echo "usage: tools/image/pack.sh BUILD DEST" >&2
	exit 2
}
build=$1 dest=$2

# The package of a library. dpkg knows it as it was packed: with /usr in front, or without.
package_of() { # FILE
	local real plain name
	real=$(readlink -f "$1")
	plain=${real#/usr}
	for name in "$plain" "/usr$plain"; do
		dpkg-query --search "$name" 2>/dev/null | grep -v '^diversion ' | sed 's/:.*//' && return 0
	done
	echo "pack.sh: no package contains $1" >&2
	return 1
}

install -D -m 755 -t "$dest/usr/bin" "$build/drey" "$build/drey-init"
strip "$dest/usr/bin/drey"
install -m 755 tools/make-class-archive.sh "$dest/usr/bin/drey-class-archive"
install -D -m 755 -t "$dest/usr/share/drey/hooks" hooks/newest-savepoint
install -m 755 tools/image/install.sh "$dest/usr/share/drey/install"
install -m 644 LICENSE "$dest/usr/share/drey/LICENSE"
[ ! -e "$build/licenses.txt" ] || install -m 644 "$build/licenses.txt" "$dest/usr/share/drey/licenses.txt"
mkdir -p "$dest/etc/drey"
for jar in "$build"/drey-*.jar; do
	[ ! -e "$jar" ] || install -D -m 644 "$jar" "$dest/usr/lib/drey/${jar##*/drey-}"
done

# only the libraries of drey itself: the packages have dependencies for the rest
readelf --dynamic "$build/drey" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | while read -r library; do
	file=$(ldd "$build/drey" | awk -v name="$library" '$1 == name { print $3 } $1 ~ "/" name "$" { print $1 }')
	package_of "$file"
done | sort -u >"$dest/usr/share/drey/packages"
needs=$(paste -sd' ' "$dest/usr/share/drey/packages")
echo "pack.sh: drey needs ${needs:-no package}" >&2
