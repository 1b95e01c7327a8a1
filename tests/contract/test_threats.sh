#!/usr/bin/env bash
#
# docs/tasks/security.md says who can do what. What each of them cannot is in a second table, with a test that shows it: none of the
# first is missing in the second, and each test is there and runs where the table says.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
PAGE=${PAGE:-docs/tasks/security.md}
count=0
failed=0

result() { # STATUS WHAT
	count=$((count + 1))
	[ "$1" -eq 0 ] || failed=1
	echo "$([ "$1" -eq 0 ] || echo 'not ')ok $count - $2"
}

# The rows below the line that begins a table, without the blanks around the cells. What stands between them is no white
# space: `read` would take two empty ones for one.
rows() { # HEAD
	awk -v head="$1" 'index($0, head) == 1 { on = 1; getline; next } on && !/^\|/ { exit } on' "$PAGE" |
		sed 's/^| *//; s/ *|$//; s/ *| */\x1f/g'
}

# Each "cannot" on a line: WHO, and WHAT. The words in bold are who it is.
cannots() {
	rows '| Who | can | cannot' | while IFS=$'\x1f' read -r who _ cannot _; do
		who=$(sed 's/.*\*\*\(.*\)\*\*.*/\1/' <<<"$who")
		[ -z "$cannot" ] || sed "s/; /\n/g" <<<"$cannot" | sed "s/^/$who\x1f/"
	done
}

# Where a test runs: of these groups tests/run.sh takes the level from the head of the file, and all else in every level.
level() { # FILE
	local mark
	case $1 in
	tests/unit/* | tests/contract/* | tests/init/* | tests/sim/*) echo test ;;
	*)
		mark=$(sed -n '/^# runs in: /{ s///p; q; }' "$1")
		echo "${mark:-all}" | sed 's/ on .*//'
		;;
	esac
}

# Why the test of a row is no test; nothing if it is one.
complaint() { # SHOWN_BY LEVEL
	local file name
	file=$(cut -d'`' -f2 <<<"$1") name=$(cut -d'`' -f4 <<<"$1")
	case $file in
	tests/unit/test_*.c | tests/*/test_*.sh) ;;
	*) echo "is no test: $file" ;;
	esac
	[ -f "$file" ] || { echo "is not there: $file" && return; }
	[[ $file = *.c ]] || [ -x "$file" ] || echo "is not executable: $file"
	[ -n "$name" ] && grep -qF -- "$name" "$file" || echo "has nothing of that name: $file: $name"
	[[ $file != *.c ]] || grep -qE "TEST\w*\((\w+, )?$name\)" "$file" || echo "is no test there: $name"
	[ "$(level "$file")" = "$2" ] || echo "runs in $(level "$file"): $file"
}

listed=$(rows '| Who | must not' | cut -d $'\x1f' -f1,2)
while IFS= read -r line; do
	grep -qxF -- "$line" <<<"$listed"
	result $? "a test shows that who has ${line%%$'\x1f'*} cannot ${line#*$'\x1f'}"
done < <(cannots)
[ "$count" -ge 8 ]
result $? 'the table is read'
while IFS=$'\x1f' read -r who must_not shown level; do
	why=$(complaint "$shown" "$level")
	[ -z "$why" ]
	result $? "$who, $must_not: $(cut -d'`' -f4 <<<"$shown")"
	[ -z "$why" ] || sed 's/^/# the test /' <<<"$why"
	grep -qxF -- "$who"$'\x1f'"$must_not" < <(cannots)
	result $? 'and it is what the first table says'
done < <(rows '| Who | must not')
echo "1..$count"
exit $failed
