#!/usr/bin/env bash
#
# build.sh - compiles the Java parts of drey that run inside Flink's JVM: each directory java/NAME becomes one jar.
#
#   java/build.sh NAME OUT_JAR [FLINK_LIB]
#
# FLINK_LIB is the lib directory of the Flink to compile against; without it $FLINK_HOME/lib if that is set, else Flink 1.20.0
# of tools/get-flink.sh. The oldest line on purpose: the same jar runs with all later ones. Files that are not Java sources
# (META-INF/...) go into the jar as they are. Of java/shared a jar has the classes that its own use. java/NAME/.needs lists jars
# that Flink has outside of lib/ (tools/flink/plugins.txt): they are taken from FLINK_LIB, or else fetched.
#
# The same sources, Flink and JDK give the same bytes. The jar is kept under ${XDG_CACHE_HOME:-~/.cache}/drey, so that a second
# call only copies. Exit status: 0 done, 1 it does not compile, 2 usage, 3 a tool is missing.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/ui.sh
. "$here/../tools/ui.sh"

[ $# -ge 2 ] && [ $# -le 3 ] || die 2 "usage: java/build.sh NAME OUT_JAR [FLINK_LIB]"
name=$1 out=$2 lib=${3:-${FLINK_HOME:+$FLINK_HOME/lib}}
[ -d "$here/$name" ] || die 2 "$here/$name does not exist"
for tool in javac jar; do
	command -v "$tool" >/dev/null || die 3 "$tool is needed for $out; install it: apt-get install openjdk-17-jdk-headless"
done
if [ -z "$lib" ]; then
	lib=$("$here/../tools/get-flink.sh" 1.20.0)/lib
fi
ls "$lib"/flink-*.jar >/dev/null 2>&1 || die 2 "$lib has no flink-*.jar; set FLINK_HOME to a Flink distribution"

# jars of the same version, or of the oldest one where that is not pinned
classpath="$lib/*"
if [ -f "$here/$name/.needs" ]; then
	version=$(printf '%s\n' "$lib"/flink-core-[0-9]*.jar "$lib"/flink-dist-[0-9]*.jar | sed -n 's/.*-\([0-9.]*\)\.jar$/\1/p' | head -n 1)
	while read -r jar; do
		ls "$lib/$jar"-*.jar >/dev/null 2>&1 && continue
		grep -q "^$version *$jar " "$here/../tools/flink/plugins.txt" || version=1.20.0
		classpath=$classpath:$("$here/../tools/get-flink.sh" --plugin "$jar" "$version")
	done <"$here/$name/.needs"
fi

cd "$here/$name"
mapfile -t files < <(find . -type f ! -name '.*' -printf '%P\n' | LC_ALL=C sort)
hash=$({
	cat "$here/build.sh" "${files[@]}" "$here"/shared/dev/drey/*
	printf '%s\n' "${files[@]}"
	ls "$lib"
	echo "${classpath#"$lib"}"
	javac -version 2>&1
} | sha256sum | cut -c1-16)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/drey/java-$name-$hash.jar
case $out in
/*) ;;
*) out=$OLDPWD/$out ;;
esac
mkdir -p "$(dirname "$cache")" "$(dirname "$out")"
if [ ! -f "$cache" ]; then
	tmp=$(mktemp -d "$cache.XXXXXX")
	trap 'ui_is_main && ui_ticker_stop && rm -rf "$tmp"' EXIT
	sources=()
	for file in "${files[@]}"; do
		case $file in
		*.java) sources+=("$file") ;;
		*) install -D -m 644 "$file" "$tmp/classes/$file" ;;
		esac
	done
	# The jars of Flink do not all have what their class files refer to: warnings about that are not about this source.
	run_with_progress "compiling java/$name" "$tmp/log" \
		javac --release 11 -g -Werror -Xlint:all,-options,-classfile,-processing,-serial,-path,-deprecation \
		-cp "$classpath" -sourcepath "$here/shared" -implicit:class -d "$tmp/classes" "${sources[@]}" || exit 1
	# a jar has the time of each file, in the local time zone, and the order of its arguments
	(
		cd "$tmp/classes"
		export TZ=UTC
		find . -type f -exec touch --date=@946684800 {} +
		find . -type f -printf '%P\n' | LC_ALL=C sort >"$tmp/list"
		jar --create --no-manifest --file "$tmp/out.jar" "@$tmp/list"
	)
	mv "$tmp/out.jar" "$cache"
fi
cp "$cache" "$out.new.$$"
mv "$out.new.$$" "$out"
