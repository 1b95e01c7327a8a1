#!/usr/bin/env bash
#
# install - puts drey into an image of Flink: run as root in a Dockerfile (docs/tasks/image.md).
#
#   /usr/share/drey/install          its files are installed already: only their libraries, and the archive of Flink's classes
#   ROOT/usr/share/drey/install ROOT  the files first, from the root directory of another image
#
# Libraries that are missing come from the package sources of the image (apt-get); nothing else is fetched.

set -euo pipefail
from=${1:-}
if [ "$(id -u)" -ne 0 ]; then
	echo "install: must run as root; put USER root before it, and USER 9999:9999 after it" >&2
	exit 1
fi
if [ -n "$from" ]; then
	install -D -m 755 -t /usr/bin "$from"/usr/bin/{drey,drey-init,drey-class-archive}
	cp -r "$from/usr/share/drey" /usr/share/
	for jar in spare rpc archive held files gate; do
		[ ! -f "$from/usr/lib/drey/$jar.jar" ] || install -D -m 644 -t /usr/lib/drey "$from/usr/lib/drey/$jar.jar"
	done
	mkdir -p /etc/drey
fi

missing=()
while read -r package; do
	[ "$(dpkg-query --show --showformat='${db:Status-Abbrev}' "$package" 2>/dev/null)" = "ii " ] || missing+=("$package")
done </usr/share/drey/packages
if [ ${#missing[@]} -gt 0 ]; then
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q
	apt-get install -q -y --no-install-recommends "${missing[@]}"
	apt-get clean
	rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
fi
/usr/bin/drey version
/usr/bin/drey-init --version

# Flink's user may rebuild the archive
install -d -o 9999 -g 9999 /usr/lib/drey
lib=${FLINK_HOME:-/opt/flink}/lib
for jar in rpc held; do
	if [ -f "/usr/lib/drey/$jar.jar" ] && [ -d "$lib" ]; then
		ln -sfn "/usr/lib/drey/$jar.jar" "$lib/drey-$jar.jar"
	fi
done
/usr/bin/drey-class-archive
chown 9999:9999 /usr/lib/drey/*
