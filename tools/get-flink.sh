#!/usr/bin/env bash
#
# get-flink.sh - installs a real Apache Flink on this machine, once, and prints its path.
#
#   tools/get-flink.sh VERSION [DEST]
#   tools/get-flink.sh --plugin NAME VERSION
#
# VERSION is a full version (2.3.0) or a line (2.3, 1.20); tools/flink/versions.txt lists what is pinned. DEST is
# the directory to create; without it ${XDG_CACHE_HOME:-~/.cache}/drey/flink-VERSION, which is kept and reused.
# The directory holds lib/ (the jars), plugins/ (empty) and SHA256SUMS. It has no shell scripts and no conf/:
# Flink is started by `java -cp` (tools/flink-env.sh).
#
# --plugin prints the jar of a file system instead, for example flink-s3-fs-hadoop; tools/flink/plugins.txt lists them.
#
# FLINK_HOME=DIR    use this distribution instead; nothing is fetched
# FLINK_SOURCE=...  maven or pypi, instead of the first row that matches
#
# Safe to call from several processes at once. A directory appears only when it is complete and checked; one that
# was damaged later is fetched again. Exit status: 0 done, 1 this machine (disk, permissions), 2 usage, 3 a tool
# is missing, 4 the download failed, 5 the download is not the pinned one.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/ui.sh
. "$here/ui.sh"
# shellcheck source=tools/cache.sh
. "$here/cache.sh"

table=$here/flink/versions.txt
log4j_version=2.24.3
artifacts=(flink-container flink-runtime flink-clients flink-streaming-java flink-runtime-web)

usage() {
	sed -n '3,6p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//' >&2
	exit 2
}

# Prints the rows "version source check" for an exact version or, if there are none, for a line like 2.3.
rows_for() {
	awk -v want="$1" '
		/^#/ || NF < 2 { next }
		$1 == want { exact = exact $0 "\n" }
		index($1, want ".") == 1 { line = line $0 "\n" }
		END { printf "%s", exact != "" ? exact : line }' "$table"
}

have() {
	command -v "$1" >/dev/null 2>&1
}

can_fetch_from() {
	case $1 in
	maven) have mvn ;;
	pypi) have python3 && python3 -m pip --version >/dev/null 2>&1 ;;
	esac
}

need_tool_for() {
	case $1 in
	maven) die 3 "mvn is needed to fetch Flink $version; install it: apt-get install maven" ;;
	pypi) die 3 "python3 with pip is needed to fetch Flink $version; install it: apt-get install python3-pip" ;;
	esac
}

use_flink_home() {
	local jars=("$FLINK_HOME"/lib/flink-dist*.jar "$FLINK_HOME"/lib/flink-runtime-[0-9]*.jar)
	local found='' jar
	for jar in "${jars[@]}"; do
		[ -e "$jar" ] && found=${jar##*/}
	done
	[ -n "$found" ] || die 2 "FLINK_HOME=$FLINK_HOME has no lib/flink-dist*.jar: not a Flink distribution"
	case $found in
	*"-$version"*) ;;
	*) say "note: FLINK_HOME has $found, not Flink $version; using it anyway" ;;
	esac
	(cd "$FLINK_HOME" && pwd)
}

# 0 if DIR is complete and undamaged.
is_whole() {
	[ -f "$1/SHA256SUMS" ] && (cd "$1/lib" && sha256sum --check --quiet --strict ../SHA256SUMS) >/dev/null 2>&1
}

write_pom() {
	local artifact
	echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
	echo '<groupId>drey</groupId><artifactId>flink</artifactId><version>1</version><packaging>pom</packaging>'
	echo '<dependencies>'
	for artifact in "${artifacts[@]}"; do
		echo "<dependency><groupId>org.apache.flink</groupId><artifactId>$artifact</artifactId><version>$version</version></dependency>"
	done
	for artifact in log4j-api log4j-core log4j-slf4j-impl; do
		echo "<dependency><groupId>org.apache.logging.log4j</groupId><artifactId>$artifact</artifactId><version>$log4j_version</version></dependency>"
	done
	echo '</dependencies></project>'
}

fetch_maven() {
	write_pom >"$tmp/pom.xml"
	run_with_progress "fetching Flink $version with Maven (about 90 MB)" "$tmp/fetch.log" \
		mvn --batch-mode --no-transfer-progress --file "$tmp/pom.xml" \
		org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
		"-DoutputDirectory=$tmp/flink/lib" -DincludeScope=runtime
}

fetch_pypi() {
	echo "apache-flink-libraries==$version${check:+ --hash=sha256:$check}" >"$tmp/requirements.txt"
	# pip unpacks the archive beside its download to read its name, so its temporary files go where there is space.
	TMPDIR=$tmp run_with_progress "fetching Flink $version with pip (250-350 MB)" "$tmp/fetch.log" \
		python3 -m pip download --no-cache-dir --no-deps --no-binary apache-flink-libraries \
		--disable-pip-version-check --progress-bar off --dest "$tmp/sdist" --requirement "$tmp/requirements.txt" ||
		return 1
	run_with_progress "unpacking Flink $version" "$tmp/fetch.log" \
		tar --extract --gzip --file "$(ls "$tmp"/sdist/apache*flink*libraries*.tar.gz)" --directory "$tmp/flink/lib" \
		--strip-components=3 --wildcards '*/deps/lib/flink-dist-*.jar' '*/deps/lib/log4j-*.jar'
}

# Compares lib/ with the pinned list, both ways, or makes the list where nothing is pinned per jar.
check_and_seal() {
	local pinned=$here/flink/$version-maven.sha256 difference
	(cd "$tmp/flink/lib" && LC_ALL=C sha256sum -- *.jar) >"$tmp/flink/SHA256SUMS"
	if [ "$source" = maven ] && [ -f "$pinned" ]; then
		if ! difference=$(diff <(LC_ALL=C sort -k2 "$pinned") <(LC_ALL=C sort -k2 "$tmp/flink/SHA256SUMS")); then
			say "$difference"
			die 5 "Flink $version from Maven differs from ${pinned#"$here/"} (< pinned, > fetched); nothing was installed"
		fi
	elif [ -z "$check" ]; then
		say "note: Flink $version from $source is not pinned in tools/flink/versions.txt; using it unchecked"
	fi
}

fetch() {
	local parent
	parent=$(dirname "$dest")
	cache_lock "$parent" flink
	is_whole "$dest" && return 0
	can_fetch_from "$source" || need_tool_for "$source"

	cache_scratch "$parent" flink
	mkdir -p "$tmp/flink/lib" "$tmp/flink/plugins"
	# The children must not keep the lock after the end of this script.
	if ! "fetch_$source" 9>&-; then
		grep -q 'DO NOT MATCH THE HASHES' "$tmp/fetch.log" 2>/dev/null &&
			die 5 "Flink $version from PyPI is not the archive that tools/flink/versions.txt pins; nothing was installed"
		die 4 "could not fetch Flink $version from $source; check the network, or set FLINK_HOME=DIR to use your own Flink"
	fi
	check_and_seal
	rm -rf "$dest"
	mv --no-target-directory "$tmp/flink" "$dest"
}

# The cached jar has its checksum in its path, so it is never a different one.
get_plugin() { # NAME VERSION
	local name=$1 version=$2 sum dir tmp
	sum=$(awk -v name="$name" -v version="$version" '$1 == version && $2 == name { print $3 }' "$here/flink/plugins.txt")
	[ -n "$sum" ] || die 2 "$name $version is not in tools/flink/plugins.txt"
	dir=${XDG_CACHE_HOME:-$HOME/.cache}/drey/$name-$version-${sum:0:12}
	if ! echo "$sum  $dir/$name-$version.jar" | sha256sum --check --status 2>/dev/null; then
		have mvn || need_tool_for maven
		tmp=$(mktemp -d) || die 1 "cannot create a temporary directory"
		if ! run_with_progress "fetching $name $version with Maven" "$tmp/log" mvn --batch-mode --no-transfer-progress \
			org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
			"-Dartifact=org.apache.flink:$name:$version" "-DoutputDirectory=$tmp"; then
			rm -rf "$tmp"
			die 4 "could not fetch $name $version; check the network"
		fi
		if ! echo "$sum  $tmp/$name-$version.jar" | sha256sum --check --status; then
			rm -rf "$tmp"
			die 5 "$name $version from Maven is not the pinned jar; nothing was installed"
		fi
		if ! mkdir -p "$dir" || ! cp "$tmp/$name-$version.jar" "$dir/.$$" || ! mv "$dir/.$$" "$dir/$name-$version.jar"; then
			die 1 "cannot write to $dir; set XDG_CACHE_HOME to another directory"
		fi
		rm -rf "$tmp"
	fi
	echo "$dir/$name-$version.jar"
}

if [ "${1:-}" = --plugin ]; then
	[ $# -eq 3 ] || usage
	get_plugin "$2" "$3"
	exit
fi
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	usage
fi
case $1 in
-h | --help | '') usage ;;
*[!0-9.]*) die 2 "'$1' is not a Flink version; expected one such as 2.3.0" ;;
esac
version=$1
if [ -n "${FLINK_HOME:-}" ]; then
	use_flink_home
	exit 0
fi

# The row: the requested source, else the first one whose tool is installed, else the first one.
rows=$(rows_for "$version")
source='' check='' default=''
while read -r row_version row_source row_check; do
	[ -n "$row_version" ] || continue
	default=${default:-$row_version $row_source}
	[ "$row_version" = "${default% *}" ] || continue
	[ "${FLINK_SOURCE:-$row_source}" = "$row_source" ] || continue
	if [ -z "$source" ] || { ! can_fetch_from "$source" && can_fetch_from "$row_source"; }; then
		version=$row_version source=$row_source check=${row_check:-}
	fi
done <<<"$rows"
if [ -z "$source" ]; then
	source=${FLINK_SOURCE:-pypi}
	case $version in
	*.*.*) ;;
	*) die 2 "Flink $version is not in tools/flink/versions.txt; pass a full version, for example 2.3.0" ;;
	esac
fi
case $source in
maven | pypi) ;;
*) die 2 "FLINK_SOURCE=$source: must be maven or pypi" ;;
esac

name=flink-$version
[ -z "$default" ] || [ "$default" = "$version $source" ] || name=$name-$source
dest=${2:-${XDG_CACHE_HOME:-$HOME/.cache}/drey/$name}
is_whole "$dest" || fetch
(cd "$dest" && pwd)
