#!/usr/bin/env bash
#
# get-servers.sh - installs real object stores for the tests on this machine, once, and prints their path.
#
#   tools/get-servers.sh versitygw|minio|openstack|hdfs|gcs|azurite
#
# versitygw   prints a directory with bin/versitygw: S3 over a plain folder, built from its Go module
# minio       prints a directory with bin/minio: S3 whose conditional writes are atomic, built from its Go module
# openstack   prints a virtual environment with Swift and Keystone and with independent clients (boto3, aws, swift),
#             from PyPI; tools/servers/requirements.txt pins every package
# hdfs        prints a directory with the jars of a NameNode and a DataNode (lib/), and those that a Flink needs on its class
#             path (client/), from Maven; tools/servers/hadoop.sha256 pins each
# gcs         prints a directory with bin/fake-gcs-server: Google Cloud Storage over a plain folder, built from its Go module
# azurite     prints a directory with node_modules/.bin/azurite-blob: Azure's blob storage, from npm;
#             tools/servers/azurite/package-lock.json pins every package
#
# They are kept in ${XDG_CACHE_HOME:-~/.cache}/drey. No root is needed and nothing is started. They need python3 (3.10
# or newer, with venv), hdfs Maven, azurite npm, and the others Go 1.21 or newer; without one a pinned Go toolchain (70 MB) is
# fetched and removed afterwards.
#
# Safe to call from several processes at once. A directory appears only when it is complete. Exit status: 0 done,
# 1 this machine (disk, permissions), 2 usage, 3 a tool is missing, 4 the download failed, 5 the download is not the
# pinned one.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/ui.sh
. "$here/ui.sh"
# shellcheck source=tools/cache.sh
. "$here/cache.sh"
# shellcheck source=tools/go.sh
. "$here/go.sh"

versitygw_version=1.7.0
minio_version=v0.0.0-20260212201848-7aac2a2c5b7c
cache=${XDG_CACHE_HOME:-$HOME/.cache}/drey

usage() {
	sed -n '5p' "${BASH_SOURCE[0]}" | sed 's/^# *//' >&2
	exit 2
}

begin() { # WHAT
	cache_lock "$cache" "$1"
	cache_scratch "$cache" "$1"
}

# A python3 that is new enough and can create virtual environments; the system's own is tried first.
find_python() {
	for python in /usr/bin/python3 python3; do
		! "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || return 0
	done
	die 3 "Python 3.10 or newer with venv is needed; install it: apt-get install python3-venv"
}

# ---- S3 ------------------------------------------------------------------------------------------

# Sets dest, with bin/NAME in it.
build_go() { # NAME VERSION MODULE
	dest=$cache/$1-$2
	! "$dest/bin/$1" --version >/dev/null 2>&1 || return 0
	begin "$1"
	! "$dest/bin/$1" --version >/dev/null 2>&1 || return 0
	go_find "$1" "$tmp"
	go_run "building $1 $2 from its Go module (a few minutes, once)" "$tmp/log" \
		env GOBIN="$tmp/gw/bin" "$go" install -ldflags "-s -w" "$3" ||
		die 4 "could not build $1 $2; check the network"
	"$tmp/gw/bin/$1" --version >/dev/null || die 1 "the new $1 does not run"
	rm -rf "$dest"
	mv --no-target-directory "$tmp/gw" "$dest"
}

get_versitygw() {
	build_go versitygw "$versitygw_version" "github.com/versity/versitygw/cmd/versitygw@v$versitygw_version"
}

get_minio() {
	build_go minio "$minio_version" "github.com/minio/minio@$minio_version"
}

# ---- fake-gcs-server -----------------------------------------------------------------------------

gcs_version=1.52.2

get_gcs() {
	dest=$cache/fake-gcs-server-$gcs_version
	[ ! -f "$dest/complete" ] || return 0
	begin gcs
	[ ! -f "$dest/complete" ] || return 0
	go_find fake-gcs-server "$tmp"
	go_run "building fake-gcs-server $gcs_version from its Go module (a few minutes, once)" "$tmp/log" \
		env GOBIN="$tmp/gcs/bin" "$go" install -ldflags "-s -w" "github.com/fsouza/fake-gcs-server@v$gcs_version" ||
		die 4 "could not build fake-gcs-server $gcs_version; check the network"
	: >"$tmp/gcs/complete"
	rm -rf "$dest"
	mv --no-target-directory "$tmp/gcs" "$dest"
}

# ---- HDFS ----------------------------------------------------------------------------------------

hdfs_artifacts=(org.apache.hadoop:hadoop-client-api:3.3.6 org.apache.hadoop:hadoop-client-runtime:3.3.6
	org.apache.hadoop:hadoop-client-minicluster:3.3.6 commons-logging:commons-logging:1.2 ch.qos.reload4j:reload4j:1.2.22
	org.slf4j:slf4j-api:1.7.36 org.slf4j:slf4j-reload4j:1.7.36 javax.xml.bind:jaxb-api:2.3.1
	javax.activation:javax.activation-api:1.2.0)
hdfs_client=(hadoop-client-api-3.3.6.jar hadoop-client-runtime-3.3.6.jar commons-logging-1.2.jar)

hdfs_pom() {
	local artifact group name version
	echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
	echo '<groupId>drey</groupId><artifactId>hdfs</artifactId><version>1</version><packaging>pom</packaging>'
	echo '<dependencies>'
	for artifact in "${hdfs_artifacts[@]}"; do
		IFS=: read -r group name version <<<"$artifact"
		echo "<dependency><groupId>$group</groupId><artifactId>$name</artifactId><version>$version</version></dependency>"
	done
	echo '</dependencies></project>'
}

get_hdfs() {
	local wanted=$here/servers/hadoop.sha256 jar
	dest=$cache/hdfs-3.3.6-$(sha256sum <"$wanted" | head -c 12)
	! (cd "$dest/lib" 2>/dev/null && sha256sum --check --quiet --strict "$wanted" >/dev/null 2>&1) || return 0
	command -v mvn >/dev/null || die 3 "mvn is needed for HDFS; install it: apt-get install maven"
	begin hdfs
	mkdir -p "$tmp/hdfs/lib" "$tmp/hdfs/client"
	hdfs_pom >"$tmp/pom.xml"
	run_with_progress "fetching HDFS with Maven (90 MB)" "$tmp/log" mvn --batch-mode --no-transfer-progress --file "$tmp/pom.xml" \
		org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies "-DoutputDirectory=$tmp/hdfs/lib" \
		-DexcludeTransitive=true 9>&- || die 4 "could not fetch HDFS; check the network"
	(cd "$tmp/hdfs/lib" && sha256sum --check --quiet --strict "$wanted" >&2) ||
		die 5 "HDFS from Maven differs from ${wanted#"$here/"}; nothing was installed"
	for jar in "${hdfs_client[@]}"; do
		ln -s "../lib/$jar" "$tmp/hdfs/client/"
	done
	rm -rf "$dest"
	mv --no-target-directory "$tmp/hdfs" "$dest"
}

# ---- Azurite -------------------------------------------------------------------------------------

get_azurite() {
	local from=$here/servers/azurite
	dest=$cache/azurite-$(cat "$from"/package*.json | sha256sum | head -c 12)
	[ ! -f "$dest/complete" ] || return 0
	command -v npm >/dev/null || die 3 "npm is needed for Azurite; install it: apt-get install npm"
	begin azurite
	[ ! -f "$dest/complete" ] || return 0
	mkdir "$tmp/azurite"
	cp "$from"/package*.json "$tmp/azurite/"
	# each package has its checksum in the lock file, and no script of it is run
	(cd "$tmp/azurite" && run_with_progress "fetching Azurite with npm (60 MB)" "$tmp/log" \
		npm ci --no-audit --no-fund --ignore-scripts 9>&-) || die 4 "could not install Azurite; check the network"
	: >"$tmp/azurite/complete"
	rm -rf "$dest"
	mv --no-target-directory "$tmp/azurite" "$dest"
}

# ---- OpenStack and clients -----------------------------------------------------------------------

openstack_is_whole() {
	[ -f "$dest/complete" ] && "$dest/bin/python" -c '' 2>/dev/null
}

# An environment cannot be moved, so it is created in its place, and `complete` is written last. Keystone's empty
# database is created here too: that takes longer than starting the server.
get_openstack() {
	local wanted=$here/servers/requirements.txt
	find_python
	dest=$cache/openstack-$("$python" -c 'import sys; print("py%d.%d" % sys.version_info[:2])')-$(
		sha256sum <"$wanted" | head -c 12)
	! openstack_is_whole || return 0
	begin openstack
	! openstack_is_whole || return 0
	rm -rf "$dest"
	"$python" -m venv "$dest" >"$tmp/log" 2>&1 || die 3 "python3 -m venv failed: $(tail -n 1 "$tmp/log")"
	run_with_progress "fetching Swift, Keystone, boto3 and awscli with pip (70 MB)" "$tmp/log" \
		"$dest/bin/pip" install --no-input --disable-pip-version-check --progress-bar off --only-binary :all: \
		--requirement "$wanted" 9>&- ||
		die 4 "could not install tools/servers/requirements.txt; check the network"
	printf '[database]\nconnection = sqlite:///%s/keystone.db\n' "$dest" >"$tmp/keystone.conf"
	run_with_progress "making an empty database for Keystone" "$tmp/log" \
		"$dest/bin/keystone-manage" --config-file "$tmp/keystone.conf" db_sync 9>&- ||
		die 1 "keystone-manage db_sync failed"
	: >"$dest/complete"
}

case ${1:-} in
versitygw | minio | openstack | hdfs | gcs | azurite) [ $# -eq 1 ] || usage ;;
*) usage ;;
esac
"get_$1"
echo "$dest"
