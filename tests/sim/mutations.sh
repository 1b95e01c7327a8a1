#!/usr/bin/env bash
#
# mutations.sh - shows that the tests can fail: they must catch each deliberate bug.
#
#   tests/sim/mutations.sh [NAME...]     introduce each bug of mutations.txt, or only these, and run the tests that must catch it
#   tests/sim/mutations.sh --applies     only check whether each still changes a source
#
# Builds the mutants in $BUILD/mutants and does not change the sources. TAP; SEEDS (20000, as in `make test`) is how many
# histories may pass before the simulator counts as having missed one.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
SEEDS=${SEEDS:-20000}
CC=${CC:-cc}
BUILD=${BUILD:-build}
list=tests/sim/mutations.txt
work=$BUILD/mutants
flags=(-std=gnu11 -O1 -D_GNU_SOURCE -DDREY_VERSION='"test"' -Iagent -I. -w)
# libssl: the servers of the tests of TLS
read -ra libs < <(pkg-config --libs libcurl yaml-0.1 libevent_core libssl libcrypto expat)
read -r -a compiler <<<"$CC"

# The sources that PREFIX names and SUBSTITUTION changes, each into $work/<name>.c; 1 = there is none.
mutate() { # PREFIX SUBSTITUTION
	local source mutant applied=1
	rm -f "$work"/*.c "$work"/*.o
	for source in agent/"${1%.c}"*.c; do
		[ "$1" = "${1%.c}" ] || [ "$source" = "agent/$1" ] || continue
		mutant=$work/$(basename "$source")
		perl -0pe "$2" "$source" >"$mutant"
		if cmp -s "$source" "$mutant"; then
			rm "$mutant"
		else
			applied=0
		fi
	done
	return $applied
}

# What `@drop`, `@false` and `@true` do to the statement below the comment MUT: NAME, as a substitution: it is left out; or
# the condition of an `if`, or what is returned, is constant.
marked() { # NAME CHANGE
	local mark="\\/\\* MUT: \\Q$1\\E \\*\\/\\s*"
	case $2 in
	@drop) echo "s/${mark}[^;{}]*;/;/" ;;
	@false | @true) echo "s/$mark((?:else )?if )(\\((?:[^()]++|(?2))*+\\))/\$1(${2#@})/; s/${mark}return [^;]*;/return ${2#@};/" ;;
	*) return 1 ;;
	esac
}

# Build the program of a test with the mutated sources. Objects named before the library replace those in it.
build() { # TEST
	local source objects=("$BUILD/obj/tests/unit/$1.o" "$BUILD/obj/tests/unit/tap.o")
	for source in "$work"/*.c; do
		[ -e "${source%.c}.o" ] || "${compiler[@]}" "${flags[@]}" -c -o "${source%.c}.o" "$source" || return 1
	done
	for source in tests/unit/*_stub.c; do
		objects+=("$BUILD/obj/${source%.c}.o")
	done
	[ "${1#sim}" = "$1" ] || objects=("$BUILD"/obj/tests/sim/*.o)
	"${compiler[@]}" -pthread -Wl,--gc-sections -o "$work/$1" "$work"/*.o "${objects[@]}" "$BUILD/libdrey.a" "${libs[@]}"
}

# Says how it was caught; 1 = it was not.
caught_by() { # TEST
	if [ "${1#sim}" != "$1" ]; then
		if [ "$1" = sim ]; then
			! "$work/sim" --seeds "$SEEDS" >"$work/out" 2>&1 || return 1
		else # sim-handover: several pods; a history takes longer
			! "$work/$1" --world "${1#sim-}" --seeds $((SEEDS / 5)) >"$work/out" 2>&1 || return 1
		fi
		grep -m 1 '^seed ' "$work/out" | cut -c1-110
	else
		! timeout 120 "$work/$1" >"$work/out" 2>&1 || return 1
		echo "$1: $(grep -m 1 '^not ok' "$work/out" || echo 'it ends')"
	fi
}

judge() { # NAME PREFIX TESTS CHANGE
	local test prefix=$2 change=$4
	if [ "${change:0:1}" = @ ]; then
		prefix=$(grep -rlF "/* MUT: $1 */" agent) || { echo "no comment /* MUT: $1 */ in agent/"; return 1; }
		prefix=${prefix#agent/}
		change=$(marked "$1" "$change") || { echo "${4} is none of @drop, @false, @true"; return 1; }
	fi
	if ! mutate "$prefix" "$change"; then
		echo "does not apply to agent/$prefix any more: spell it anew in $list"
		return 1
	fi
	[ -z "$only_apply" ] || return 0
	for test in $3; do
		build "$test" || { echo "does not build"; return 1; }
		caught_by "$test" && return 0
	done
	echo "not caught by: $3"
	return 1
}

only_apply=
if [ "${1:-}" = --applies ]; then
	only_apply=yes
	work=$BUILD/mutants-applied
	shift
else
	make -s build-tests
fi
mkdir -p "$work"
number=0
failed=0
while IFS='|' read -r name prefix tests substitution; do
	[ -n "$name" ] && [ "${name:0:1}" != '#' ] || continue
	[ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
	number=$((number + 1))
	if said=$(judge "$name" "$prefix" "$tests" "$substitution"); then
		echo "ok $number - $name${said:+: $said}"
	else
		echo "not ok $number - $name: $said"
		failed=1
	fi
done <"$list"
# a comment that no row uses says that something is tested which is not
while read -r name; do
	grep -qF "$name|-|" "$list" && continue
	number=$((number + 1))
	echo "not ok $number - $name: no row of $list uses this comment"
	failed=1
done < <(grep -rhoP '/\* MUT: \K.*(?= \*/)' agent)
echo "1..$number"
exit $failed
