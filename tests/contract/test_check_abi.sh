#!/usr/bin/env bash
#
# tools/check-abi.sh: the binaries built here run with the glibc of Flink's oldest images; the script finds and names a
# symbol that is too new.

# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

contract_begin readelf

libc=$(getconf GNU_LIBC_VERSION)
case $libc in
*\ 2.3[0-7]) ok "drey needs nothing newer than glibc 2.35" tools/check-abi.sh "$BUILD/drey" "$BUILD/drey-init" ;;
*) skip "drey needs nothing newer than glibc 2.35" "$libc has newer forms of the most common functions" ;;
esac
ok "it runs on the machine on which it was built" tools/check-abi.sh --limit here "$BUILD/drey" "$BUILD/drey-init"
if [[ $BUILD == */static/* ]]; then
	ok "a static drey needs no symbol either" tools/check-abi.sh --limit 2.0 "$BUILD/drey"
else
	ok "a symbol that is too new is a failure" status 1 tools/check-abi.sh --limit 2.9 "$BUILD/drey"
	ok "it is named, with what it needs" grep -qE '^  [a-z_]+ needs glibc 2\.[0-9]+$' "$dir/out"
	ok "and what to do" grep -q 'Build it with the oldest' "$dir/out"
	ok "numbers are compared, not texts" test "$(grep -cE 'needs glibc 2\.[0-8](\.[0-9]+)?$' "$dir/out")" -eq 0
fi
ok "a static program needs no symbol at any limit" tools/check-abi.sh --limit 2.0 "$BUILD/drey-init"
ok "a file that is no program is no success" status 4 tools/check-abi.sh Makefile
ok "nor is one that is not there" status 4 tools/check-abi.sh "$dir/nothing"
ok "without a program it says how it is used" status 2 tools/check-abi.sh
ok "and with a limit that is none" status 2 tools/check-abi.sh --limit new "$BUILD/drey"
contract_end
