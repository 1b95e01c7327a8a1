# shellcheck shell=bash disable=SC2034,SC2119 # variables for the caller; functions with optional arguments
#
# lib.sh - parts of bench/agent/run.sh: a Flink that drey supervises, black holes, and sums over samples.

# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
MEASURE=$PWD/build/bench/agent/measure

# A run with drey.yaml, without anything started: checkpoints every INTERVAL, a control directory, drey's own defaults.
# The REST server of Flink logs each request.
agent_prepare() { # NAME INTERVAL
	run_begin "bench-$1" "${FLINK_VERSION:-2.3.0}"
	sed -i "s/^execution.checkpointing.interval:.*/execution.checkpointing.interval: $2/" "$RUN/conf/config.yaml"
	cat >>"$RUN/conf/log4j.properties" <<-'END'
		logger.rest.name = org.apache.flink.runtime.rest.handler
		logger.rest.level = TRACE
	END
	mkdir -p "$RUN/wanted"
	take_port HTTP_PORT
	DREY_CONF=([http.port]=$HTTP_PORT [control.directory]=$RUN/wanted)
	drey_conf
	unset 'DREY_CONF[poll.slow]'
}

agent_start() {
	start_tm_pod
	start_drey
	MUST_LIVE=(jm tm)
	agent_is_proven || die 1 "the job is not running"
}

agent_is_proven() {
	wait_until "the job runs, with a checkpoint" "$WAIT_S" status_is '.phase == "Running" and .launch.proven'
}

agent_end() {
	run_stop
	rm -rf "$RUN"
	PIDS=()
}

rest_requests() { # number of requests to Flink so far
	grep -c 'Received request' "$RUN/log/jm.log"
}

# Runs in the background, so that a signal to this script is not kept waiting.
patiently() { # CMD...
	"$@" &
	wait $!
}

row() { # CELL...
	printf '|'
	printf ' %s |' "$@"
	printf '\n'
}

# Sets MIN, MEDIAN, MAX of the numbers on stdin.
spread() {
	local all
	mapfile -t all < <(sort -n)
	MIN=${all[0]-} MEDIAN=${all[${#all[@]} / 2]-} MAX=${all[-1]-}
}

# Takes connections and never answers.
dig_hole() { # NAME PORT
	# shellcheck disable=SC2016 # for perl
	spawn "$1" perl -e 'use IO::Socket::INET;
		my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $ARGV[0], Listen => 64, ReuseAddr => 1) or die;
		my @all; while (my $c = $s->accept) { push @all, $c }' "$2"
	wait_until "a black hole" "$WAIT_S" connects "$2"
}

connects() { # PORT
	(exec 3<>"/dev/tcp/127.0.0.1/$1")
}
