#!/usr/bin/env bash
#
# get-servers.sh - installs real object stores for the tests on this machine, once, and prints their path.
#
#   tools/get-servers.sh versitygw|minio|openstack|hdfs|kafka|gcs|azurite
#
# versitygw   prints a directory with bin/versitygw: S3 over a plain folder, built from its Go module
# minio       prints a directory with bin/minio: S3 whose conditional writes are atomic, built from its Go module
# openstack   prints a virtual environment with Swift and Keystone and with independent clients (boto3, aws, swift),
#             from PyPI; tools/servers/requirements.txt pins every package
# hdfs        prints a directory with the jars of a NameNode and a DataNode (lib/), and those that a Flink needs on its class
#             path (client/), from Maven; tools/servers/hadoop.sha256 pins each
# kafka       prints a directory with the jars of a broker and its clients (lib/), and those that a job needs beside its own for
#             Flink's Kafka connector (flink-1/ and flink-2/, by the line of Flink), from Maven; tools/servers/kafka.sha256 pins
#             each
# gcs         prints a directory with bin/fake-gcs-server: Google Cloud Storage over a plain folder, built from its Go module
# azurite     prints a directory with node_modules/.bin/azurite-blob: Azure's blob storage, from npm;
#             tools/servers/azurite/package-lock.json pins every package
#
# They are kept in ${XDG_CACHE_HOME:-~/.cache}/drey. No root is needed and nothing is started. They need python3 (3.10
# or newer, with venv), hdfs and kafka Maven, azurite npm, and the others Go 1.21 or newer; without one a pinned Go toolchain (70 MB) is
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

# ---- jars from Maven -----------------------------------------------------------------------------

maven_pom() { # GROUP:NAME:VERSION...
	local artifact group name version
	echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
	echo '<groupId>drey</groupId><artifactId>server</artifactId><version>1</version><packaging>pom</packaging>'
	echo '<dependencies>'
	for artifact; do
		IFS=: read -r group name version <<<"$artifact"
		echo "<dependency><groupId>$group</groupId><artifactId>$name</artifactId><version>$version</version></dependency>"
	done
	echo '</dependencies></project>'
}

# ALONE: true for only these, false for all that they need at run time, too.
maven_jars() { # WHAT DIR ALONE GROUP:NAME:VERSION...
	command -v mvn >/dev/null || die 3 "mvn is needed for $1; install it: apt-get install maven"
	mkdir -p "$2"
	maven_pom "${@:4}" >"$tmp/pom.xml"
	run_with_progress "fetching $1 with Maven" "$tmp/log" mvn --batch-mode --no-transfer-progress --file "$tmp/pom.xml" \
		org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies "-DoutputDirectory=$2" \
		-DincludeScope=runtime "-DexcludeTransitive=$3" 9>&- || die 4 "could not fetch $1; check the network"
}

jars_are_whole() { # DIR SHA256_LIST
	(cd "$1" 2>/dev/null && sha256sum --check --quiet --strict "$2" >/dev/null 2>&1)
}

# The scratch directory FROM has exactly the jars of the list, and becomes dest.
jars_install() { # WHAT FROM SHA256_LIST JARS_BELOW
	diff <(LC_ALL=C sort -k2 "$3") <(cd "$4" && find . -name '*.jar' -printf '%P\n' | xargs sha256sum | LC_ALL=C sort -k2) >&2 ||
		die 5 "$1 from Maven differs from ${3#"$here/"} (< pinned, > fetched); nothing was installed"
	rm -rf "$dest"
	mv --no-target-directory "$2" "$dest"
}

# ---- HDFS ----------------------------------------------------------------------------------------

hdfs_artifacts=(org.apache.hadoop:hadoop-client-api:3.3.6 org.apache.hadoop:hadoop-client-runtime:3.3.6
	org.apache.hadoop:hadoop-client-minicluster:3.3.6 commons-logging:commons-logging:1.2 ch.qos.reload4j:reload4j:1.2.22
	org.slf4j:slf4j-api:1.7.36 org.slf4j:slf4j-reload4j:1.7.36 javax.xml.bind:jaxb-api:2.3.1
	javax.activation:javax.activation-api:1.2.0)
hdfs_client=(hadoop-client-api-3.3.6.jar hadoop-client-runtime-3.3.6.jar commons-logging-1.2.jar)

get_hdfs() {
	local wanted=$here/servers/hadoop.sha256 jar
	dest=$cache/hdfs-3.3.6-$(sha256sum <"$wanted" | head -c 12)
	! jars_are_whole "$dest/lib" "$wanted" || return 0
	begin hdfs
	! jars_are_whole "$dest/lib" "$wanted" || return 0
	maven_jars "HDFS (90 MB)" "$tmp/hdfs/lib" true "${hdfs_artifacts[@]}"
	mkdir "$tmp/hdfs/client"
	for jar in "${hdfs_client[@]}"; do
		ln -s "../lib/$jar" "$tmp/hdfs/client/"
	done
	jars_install HDFS "$tmp/hdfs" "$wanted" "$tmp/hdfs/lib"
}

# ---- Kafka ---------------------------------------------------------------------------------------

kafka_version=4.2.0
# The newest connector for each line of Flink: that for 2.2 runs with 2.3. Each with the client that it was built for.
kafka_flink_1=(org.apache.flink:flink-connector-kafka:3.4.0-1.20 org.apache.flink:flink-connector-base:1.20.0
	org.apache.kafka:kafka-clients:3.4.0 com.google.guava:guava:32.1.2-jre com.google.guava:failureaccess:1.0.1)
kafka_flink_2=(org.apache.flink:flink-connector-kafka:5.0.0-2.2 org.apache.flink:flink-connector-base:2.3.0
	org.apache.kafka:kafka-clients:4.2.0)

get_kafka() {
	local wanted=$here/servers/kafka.sha256
	dest=$cache/kafka-$kafka_version-$(sha256sum <"$wanted" | head -c 12)
	! jars_are_whole "$dest" "$wanted" || return 0
	begin kafka
	! jars_are_whole "$dest" "$wanted" || return 0
	maven_jars "Kafka $kafka_version (43 MB)" "$tmp/kafka/lib" false "org.apache.kafka:kafka_2.13:$kafka_version" \
		org.slf4j:slf4j-simple:1.7.36
	maven_jars "the Kafka connector of Flink 1.20" "$tmp/kafka/flink-1" true "${kafka_flink_1[@]}"
	maven_jars "the Kafka connector of Flink 2" "$tmp/kafka/flink-2" true "${kafka_flink_2[@]}"
	jars_install Kafka "$tmp/kafka" "$wanted" "$tmp/kafka"
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
		--require-hashes --requirement "$wanted" 9>&- ||
		die 4 "could not install tools/servers/requirements.txt; check the network"
	printf '[database]\nconnection = sqlite:///%s/keystone.db\n' "$dest" >"$tmp/keystone.conf"
	run_with_progress "making an empty database for Keystone" "$tmp/log" \
		"$dest/bin/keystone-manage" --config-file "$tmp/keystone.conf" db_sync 9>&- ||
		die 1 "keystone-manage db_sync failed"
	: >"$dest/complete"
}

case ${1:-} in
versitygw | minio | openstack | hdfs | kafka | gcs | azurite) [ $# -eq 1 ] || usage ;;
*) usage ;;
esac
"get_$1"
echo "$dest"
