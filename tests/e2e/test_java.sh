#!/usr/bin/env bash
#
# What runs inside Flink's JVM (java/), with this Flink: all of it compiles against it, and its RPC is loaded from the unpacked jar
# and from no other. Starts no Flink. FLINK_VERSIONS="1.20.0 2.0.2 2.1.3 2.2.1 2.3.0" are all lines.
#
# runs in: ci

# shellcheck disable=SC2119,SC2317 # optional arguments; functions that check calls
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# The RPC of the Flink $1, as a JobManager loads it; DIR/rpc.jar is in front.
load_rpc() { # JAVA_OPTION...
	rm -rf "$RUN/tmp" && mkdir "$RUN/tmp"
	java -XX:TieredStopAtLevel=1 "$@" -cp "$RUN/drey/rpc.jar:$RUN/classes:$FLINK/lib/*" LoadRpc "$RUN/tmp" >"$RUN/said" 2>&1
}

said() { # REGEX
	grep -qE -- "$1" "$RUN/said"
}

e2e_begin java
mkdir -p "$RUN/drey"
for part in "$TOP"/java/*/; do
	name=$(basename "$part")
	check "java/$name compiles against Flink $FLINK_VERSION" "$TOP/java/build.sh" "$name" "$RUN/drey/$name.jar" "$FLINK/lib"
done
check "a jar has the same bytes wherever it is made" env TZ=Asia/Tokyo XDG_CACHE_HOME="$RUN/cache" \
	"$TOP/java/build.sh" rpc "$RUN/again.jar" "$FLINK/lib"
check "a jar has the same bytes whenever it is made" cmp "$RUN/again.jar" "$RUN/drey/rpc.jar"
check "Flink $FLINK_VERSION has what loads its RPC" javac -nowarn -cp "$FLINK/lib/*" -d "$RUN/classes" "$TOP/tests/job/LoadRpc.java"

check "without the unpacked jar Flink's own loader follows" load_rpc
check "which copies it" said '^copies \[flink-rpc'
check "and one line says why" said '^drey: Flink unpacks its RPC itself: .*flink-rpc.jar does not exist'

check "the jar is unpacked" java -XX:TieredStopAtLevel=1 -cp "$RUN/drey/rpc.jar:$FLINK/lib/*" drey.rpc.Unpack
check "Flink $FLINK_VERSION takes drey's loader" load_rpc
check "its RPC works" said '^url pekko.*://.*localhost:6123'
check "nothing is copied" said '^copies \[\]'
check "nothing is said" not said '^drey:'
check "a job does not see Pekko's Scala" said '^scala is hidden'

check "it can be switched off" load_rpc -Ddrey.rpc=off
check "then Flink copies it" said '^copies \[flink-rpc'

# the comment at the end of the jar names the packed one: another size
python3 - "$RUN/drey/flink-rpc.jar" <<'END'
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(-3, 2)
    f.write(b"zzz")
END
check "with the jar of another Flink, Flink's own loader follows" load_rpc
check "which copies its own" said '^copies \[flink-rpc'
check "and one line says why" said '^drey: Flink unpacks its RPC itself: .*made from another Flink'
truncate --size=1000000 "$RUN/drey/flink-rpc.jar"
check "with a truncated jar as well" load_rpc
check "which copies its own" said '^copies \[flink-rpc'

# ---- the directory of a spare, in one that every user may write

mkdir -p "$RUN/scratch" "$RUN/shared/elsewhere"
chmod 1777 "$RUN/shared"
touch "$RUN/shared/elsewhere/kept"
check "what tries it compiles" javac -nowarn -cp "$RUN/drey/spare.jar:$FLINK/lib/*" -d "$RUN/scratch" "$TOP/tests/job/TryScratch.java"
try_scratch() { # [exit]
	java -XX:TieredStopAtLevel=1 -cp "$RUN/scratch:$RUN/drey/spare.jar:$FLINK/lib/*" drey.spare.TryScratch "$RUN/shared" "$@" >"$RUN/said" 2>&1
}
own="$RUN/shared/drey-spare-$(id -u)"
check "a spare that is killed" try_scratch exit
left=$(cat "$RUN/said")
is "$(stat -c %a "$own")" 700 "leaves its directory in one that only its user may enter"
check "which is its own" test -e "$left/lock" -a "$(dirname "$left")" = "$own"
ln -s "$RUN/shared/elsewhere" "$left/passing/out"
ln -s "$RUN/shared/elsewhere" "$own/link"
# as another user makes it: a lock that is free, and a link where the walk would go
mkdir -p "$RUN/shared/drey-spare-other"
touch "$RUN/shared/drey-spare-other/lock"
ln -s "$RUN/shared/elsewhere" "$RUN/shared/drey-spare-other/out"
check "the next one starts" try_scratch
is "$(cat "$RUN/said")" lock "removes what it wrote itself"
check "and the directory of the dead one" test ! -e "$left"
check "but nothing outside of that one: not where a link leads" test -e "$RUN/shared/elsewhere/kept"
check "and no other directory of that name" test -e "$RUN/shared/drey-spare-other/lock"
rm -rf "$own" && ln -s "$RUN/shared/elsewhere" "$own"
check "whoever takes its name gets nothing of it" try_scratch
is "$(find "$RUN/shared/elsewhere" -mindepth 1 -printf '%f ')" "kept " "not even an empty directory"
rm "$own" && mkdir -m 755 "$own"
check "nor one that others may enter" try_scratch
is "$(find "$own" -mindepth 1 | wc -l)" 0 "which stays empty"
e2e_end
