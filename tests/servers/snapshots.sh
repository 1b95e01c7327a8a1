# shellcheck shell=bash
#
# snapshots.sh - what drey's commands must report about snapshots in any object store. Sourced by the tests of the
# stores.
#
#   snapshots_make DIR        makes the files that a test uploads to its store with a client other than drey
#   snapshots_check URI       verify, inspect, snapshots and resolve on what was put under URI
#   store_check URI           the contract of store.h on what `check_store make` has made and a test put under URI
#   says STATUS TEXT WHAT COMMAND...  one assertion: drey ends with STATUS and its output contains TEXT
#   no_secret SECRET...       none of them is in anything that drey has printed
#
# $RUN/said.log has all of drey's output.

FIXTURES=$TOP/tests/fixtures/metadata
GOOD=savepoint-aaaaaa-0123456789aa # complete
HOLE=savepoint-bbbbbb-0123456789bb # newer; one of its two files is missing
SHORT=savepoint-cccccc-0123456789cc # newer; one of its files has lost a byte
WEIRD='a b+c%41&=?#é~(1)' # a directory with a complete one in it
JOB=0123456789abcdef0123456789abcdef

# A savepoint as Flink 2.3 leaves it: what it refers to is two files beside it, of known sizes.
snapshots_savepoint() { # DIR
	mkdir -p "$1"
	cp "$FIXTURES/2.3.0-hashmap-files-sp-stop-nodrain" "$1/_metadata"
	head -c 265 /dev/zero >"$1/b36518ca-92d4-4560-8546-264ea8844651"
	head -c 1973 /dev/zero >"$1/2c80035a-a571-4e6c-84c7-06e497c888af"
}

snapshots_make() { # DIR
	local dir=$1
	mkdir -p "$dir"
	"$BUILD/tests/store/check_store" make "$dir/check"
	snapshots_savepoint "$dir/sp/$GOOD"
	snapshots_savepoint "$dir/hole/$HOLE"
	rm "$dir/hole/$HOLE/b36518ca-92d4-4560-8546-264ea8844651"
	snapshots_savepoint "$dir/short/$SHORT"
	truncate -s -1 "$dir/short/$SHORT/2c80035a-a571-4e6c-84c7-06e497c888af"
	snapshots_savepoint "$dir/$WEIRD/$GOOD"
	# a retained checkpoint with everything inside, one that was never completed, and a newer one that is damaged
	mkdir -p "$dir/ck/$JOB/chk-"{7,8} "$dir/ck/$JOB/"{shared,taskowned}
	cp "$FIXTURES/2.3.0-hashmap-chk" "$dir/ck/$JOB/chk-7/_metadata"
	echo state >"$dir/ck/$JOB/chk-8/0b0ccd4e-8f1c-4a6e-b84c-5f0d0ce0e0d3"
	mkdir -p "$dir/damaged/$JOB/chk-9"
	head -c 300 "$FIXTURES/2.3.0-hashmap-chk" >"$dir/damaged/$JOB/chk-9/_metadata"
}

store_check() { # URI
	local status=0
	"$BUILD/tests/store/check_store" "$1" >"$RUN/check.tap" 2>&1 || status=$?
	cat "$RUN/check.tap" >>"$RUN/said.log"
	tap_result "$status" "store.h is kept by ${1%%:*}: $(sed -n 's/^1[.][.]//p' "$RUN/check.tap") promises"
	[ "$status" -eq 0 ] || diag "$(cat "$RUN/check.tap")"
}

says() { # STATUS TEXT WHAT COMMAND...
	local status=0 expected=$1 text=$2 what=$3 said
	shift 3
	said=$("$BUILD/drey" "$@" 2>&1) || status=$?
	printf '%s\n' "$ drey $*" "$said" "status $status" >>"$RUN/said.log"
	if [ "$status" = "$expected" ] && [[ $said == *"$text"* ]]; then
		tap_result 0 "$what"
	else
		tap_result 1 "$what"
		diag "drey $*"
		diag "expected $expected with '$text', got $status with:"
		diag "$said"
	fi
}

no_secret() { # SECRET...
	local secret found=
	for secret; do
		[ -n "$secret" ] || diag "an empty secret cannot be looked for"
		! grep -qF -- "$secret" "$RUN/said.log" || found="$found $secret"
		! grep -qF -- "$(printf %s "$secret" | base64 | tr -d =)" "$RUN/said.log" || found="$found $secret"
	done
	is "$found" '' "no secret is in what drey has said"
}

snapshots_check() { # URI
	local uri=$1
	says 0 'complete' "verify: a savepoint with all its files is complete" verify "$uri/sp/$GOOD"
	says 0 'complete' "verify: in a directory of many special characters, too" verify "$uri/$WEIRD/$GOOD"
	says 1 "missing     $uri/hole/$HOLE/b36518ca-92d4-4560-8546-264ea8844651" \
		"verify: a missing file is named" verify "$uri/hole/$HOLE"
	says 1 "$uri/short/$SHORT/2c80035a-a571-4e6c-84c7-06e497c888af" \
		"verify: a file of the wrong size is named" verify "$uri/short/$SHORT"
	says 1 "missing     $uri/sp/nothing/_metadata" "verify: what is not there is missing" verify "$uri/sp/nothing"
	says 1 "damaged" "verify: half a _metadata is damaged" verify "$uri/damaged/$JOB/chk-9"
	is "$("$BUILD/drey" inspect --json "$uri/ck/$JOB/chk-7/_metadata" 2>&1)" \
		"$("$BUILD/drey" inspect --json "$FIXTURES/2.3.0-hashmap-chk")" "inspect: the same as of the local file"
	says 0 "$uri/sp/$GOOD" "snapshots: lists the savepoint" snapshots --savepoints "$uri/sp" --checkpoints "$uri/ck"
	says 0 "$uri/ck/$JOB/chk-7" "snapshots: and the checkpoint" snapshots --checkpoints "$uri/ck"
	says 0 "START_FROM" "resolve: starts from the good savepoint" resolve --explain --savepoints "$uri/sp"
	says 0 "$uri/ck/$JOB/chk-7" "resolve: finds the retained checkpoint" resolve --explain --checkpoints "$uri/ck"
	says 4 "is missing" "resolve: holds when only a damaged one is left" resolve --explain --savepoints "$uri/hole"
	says 0 "START_EMPTY" "resolve: a directory that is not there is a first start" \
		resolve --explain --savepoints "$uri/none"
}
