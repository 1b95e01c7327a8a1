#!/usr/bin/env bash
# 20,000 histories of the life cycle against models of the world, with faults: the promise holds in each of them. They are
# always the same ones, on two processors, however long that takes: 20 to 40 s.
set -u
BUILD=${BUILD:-build}
SEEDS=${SIM_SEEDS:-20000}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

echo 1..7
half() { # FIRST: half of them from there on
	"$BUILD/tests/sim/sim" --first "$1" --seeds $((SEEDS / 2)) >"$out/$1" 2>&1
}
speed() { # OUTPUT: how many histories in a second
	grep 'seeds from .* CPU time' "$out/$1" | tail -n 1
}
judge() { # NUMBER FIRST STATUS
	if [ "$3" -eq 0 ]; then
		echo "ok $1 - $((SEEDS / 2)) histories from $2 keep the promise"
	else
		echo "not ok $1 - $((SEEDS / 2)) histories from $2 keep the promise"
		seed=$(sed -n 's/^seed \([0-9]*\):.*/\1/p' "$out/$2" | head -n 1)
		grep -m 1 "^seed $seed:" "$out/$2" | sed 's/^/# /'
		echo "# replay it with: $BUILD/tests/sim/sim --seed $seed"
	fi
	grep '^# ' "$out/$2" | tail -n 4
}
second=$((SEEDS / 2 + 1))
half 1 &
first=$!
half $second
status=$?
wait $first
judge 1 1 $?
judge 2 $second $status

if [ "$("$BUILD/tests/sim/sim" --seed 7 | sha256sum)" = "$("$BUILD/tests/sim/sim" --seed 7 | sha256sum)" ]; then
	echo "ok 3 - the same seed gives the same history"
else
	echo "not ok 3 - the same seed gives the same history"
fi

if "$BUILD/tests/sim/sim" --world all --seeds $((SEEDS / 10)) >"$out/spare" 2>&1; then
	echo "ok 4 - $((SEEDS / 10)) histories with a spare JVM, and with jobs whose checkpoints end, keep the promise"
else
	echo "not ok 4 - $((SEEDS / 10)) histories with a spare JVM, and with jobs whose checkpoints end, keep the promise"
	grep '^seed' "$out/spare" | tail -n 1 | sed 's/^/# /'
fi
speed spare

if "$BUILD/tests/sim/sim" --world handover --seeds $((SEEDS / 10)) >"$out/handover" 2>&1; then
	echo "ok 5 - $((SEEDS / 10)) histories with several pods keep the promise"
else
	echo "not ok 5 - $((SEEDS / 10)) histories with several pods keep the promise"
	grep -m 1 '^seed ' "$out/handover" | sed 's/^/# /'
fi
speed handover

if "$BUILD/tests/sim/sim" --world bluegreen --seeds $((SEEDS / 10)) >"$out/bluegreen" 2>&1; then
	echo "ok 6 - in $((SEEDS / 10)) histories with two jobs and their gates each record is written once, or as often as is said"
else
	echo "not ok 6 - in $((SEEDS / 10)) histories with two jobs and their gates each record is written once, or as often as is said"
	grep -m 1 '^seed ' "$out/bluegreen" | sed 's/^/# /'
fi
speed bluegreen

if "$BUILD/tests/sim/sim" --world lies --seeds $((SEEDS / 10)) >"$out/lies" 2>&1; then
	echo "ok 7 - in $((SEEDS / 10)) histories stores, HA data and journals lie, and no start is older or empty without a word"
else
	echo "not ok 7 - in $((SEEDS / 10)) histories stores, HA data and journals lie, and no start is older or empty without a word"
	grep -m 1 '^seed ' "$out/lies" | sed 's/^/# /'
fi
speed lies
