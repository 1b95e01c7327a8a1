# shellcheck shell=bash
#
# gc_world.sh - an application whose dead launches have left something, for `drey gc`. Sourced by tests/contract/test_gc.sh,
# tests/servers/gc.sh and bench/gc/run.sh.
#
#   gc_configure DIR URI          DIR/drey.yaml and DIR/state; ck, sp and results are below URI
#   gc_journal DIR URI COUNT [AT [JQ]]    DIR/state/journal.json with COUNT launches, all proven when they began: AT is jq of
#                                 the time in ms, of the number n and of $now; JQ changes the journal
#   gc_job N                      the job id of launch N, from 1 to 9
#   gc_file N                     the name of a state file
#   gc_metadata FIXTURE N TO      a _metadata as that of checkpoint N

gc_job() { # N
	printf '%032x\n' "$1"
}

gc_file() { # N
	printf '%08x-0000-4000-8000-%012x\n' "$1" "$1"
}

gc_metadata() { # FIXTURE N TO
	local id
	id=$(printf '%016x' "$2" | sed 's/../\\x&/g')
	# shellcheck disable=SC2059 # behind magic number and version
	{ head -c 8 "$1" && printf "$id" && tail -c +17 "$1"; } >"$3"
}

gc_configure() { # DIR URI
	mkdir -p "$1/state"
	cat >"$1/drey.yaml" <<-YAML
		application: orders
		stateDirectory: $1/state
		flink:
		  version: 2.3.0
		  command: [$1/flink]
		  jobClass: example.Job
		  checkpointDirectory: $2/ck
		  savepointDirectory: $2/sp
		  resultStoreDirectory: $2/results
	YAML
}

gc_journal() { # DIR URI COUNT [AT [JQ]]
	jq -n --arg uri "$2" --argjson count "$3" --argjson now "$(date +%s%3N)" '
		def at(n): '"${4:-\$now}"';
		{schema: 1, application: "orders", sequence: 7, writer: "x", phase: "Running", everProven: true,
			intent: {state: "running", doNotRestart: false}, snapshots: [], failuresUnixMs: [], consumedTokens: [], formerJobIds: [],
			failedGenerations: [], log: [],
			launches: [range(1; $count + 1) as $n | ("0000000000000000000000000000000\($n)") as $id |
				{number: $n, jobId: $id, jobResultPath: "\($uri)/results/\($id)", checkpointDirectory: "\($uri)/ck",
					savepointDirectory: "\($uri)/sp", intendedUnixMs: at($n), startedUnixMs: at($n), verifiedUnixMs: at($n),
					provenUnixMs: at($n)}]} | '"${5:-.}" >"$1/state/journal.json"
}
