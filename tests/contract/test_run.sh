#!/usr/bin/env bash
#
# tests/run.sh: which files a level has, with which Flink, and that nothing tested, or a mark with a mistake in it, is no
# success. The tests that it runs here are scripts of two lines.

# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

contract_begin prove

mkdir -p "$dir"/tests/{contract,e2e,api}
cp tests/run.sh tests/versions.txt "$dir/tests/"

a_test() { # PATH MARK [LINE]
	{
		echo '#!/bin/sh'
		[ -z "$2" ] || echo "# runs in: $2"
		echo 'e2e_begin() { :; }'
		[ "${3:-}" != flink ] || echo 'e2e_begin'
		# shellcheck disable=SC2016 # for that shell
		echo 'echo "${0##*/} $FLINK_VERSION" >>"$RAN"; echo 1..1; echo ok 1'
	} | if [ "${3:-}" = flink ]; then cat; else grep -v e2e_begin; fi >"$dir/tests/$1"
	chmod +x "$dir/tests/$1"
}

a_test contract/test_quick.sh ''
a_test contract/test_slow.sh all
a_test e2e/test_new.sh '' flink
a_test e2e/test_both.sh test flink
a_test e2e/test_one.sh 'test on 2.3.0' flink
a_test e2e/test_late.sh 'ci on 1.20.0 2.3.0' flink
a_test e2e/test_tool.sh test

run() { # WORD...: what ran, one line; $dir/out has what it said
	: >"$dir/ran"
	RAN=$dir/ran MAKELEVEL=1 "$dir/tests/run.sh" "$@" >"$dir/out" 2>"$dir/err"
	sed 's/^test_//; s/\.sh//; s/ $//' "$dir/ran" | sort | paste -sd,
}

ran() { # WANT WORD...
	local want=$1 got
	shift
	got=$(run "$@")
	[ "$got" = "$want" ] || {
		echo "# ran: $got"
		return 1
	}
}

unset FLINK_VERSION FLINK_VERSIONS
ok "test: those that are marked so, with the Flink of the mark" \
	ran "both 1.20.0,both 2.3.0,one 2.3.0,tool" --level test e2e
ok "ci: those of test, and more" \
	ran "both 1.20.0,both 2.3.0,late 1.20.0,late 2.3.0,one 2.3.0,tool" --level ci e2e
ok "all: also what has no mark, with each Flink" \
	ran "both 1.20.0,both 2.3.0,late 1.20.0,late 2.3.0,new 1.20.0,new 2.3.0,one 1.20.0,one 2.3.0,tool" --level all e2e
ok "no level is all: a file by its name" ran "new 1.20.0,new 2.3.0" e2e new
FLINK_VERSIONS=1.20.0 ok "FLINK_VERSIONS takes precedence over the mark" \
	ran "both 1.20.0,one 1.20.0,tool" --level test e2e
ok "a quick group is in each level" ran "quick" --level test contract
ok "but what its head excepts" ran "quick,slow" contract
ok "nothing tested ends with 1" status 1 env MAKELEVEL=1 "$dir/tests/run.sh" --level test e2e new
ok "and says so" grep -q "no test was found" "$dir/err"
ok "a level that there is not" status 2 env MAKELEVEL=1 "$dir/tests/run.sh" --level quick e2e
a_test e2e/test_flaky.sh 'ci on 2.3.0' flink
sed -i "s/^echo .*/[ -e \"\$RAN.once\" ] || { touch \"\$RAN.once\"; exit 1; }; &/" "$dir/tests/e2e/test_flaky.sh"
again() { rm -f "$dir/ran.once"; RAN=$dir/ran MAKELEVEL=1 "$dir/tests/run.sh" "$@" >"$dir/out" 2>"$dir/err"; }
ok "ci: a file that passes at its second try has passed" again --level ci e2e flaky
ok "and is named" grep -q "failed once, see above: tests/e2e/test_flaky.sh" "$dir/err"
ok "all: it has failed" status 1 again --level all e2e flaky
ok "and is counted as one" grep -q "^. passed, 1 failed" "$dir/out"
a_test api/test_typo.sh tests
ok "a mark with a mistake in it" status 2 env MAKELEVEL=1 "$dir/tests/run.sh" --level test e2e
ok "is named" grep -q "test_typo.sh" "$dir/err"
contract_end
