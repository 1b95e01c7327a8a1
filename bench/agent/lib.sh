# shellcheck shell=bash
#
# lib.sh - what the benchmarks of the agent share: a Flink that drey supervises, and its samples. Sourced by run.sh.

# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh

# A Flink as it is in production as far as drey can tell: a checkpoint every 10 s, drey's own defaults, a control
# directory. The REST server of Flink writes down each request. Options of the job follow.
agent_begin() { # NAME [JOB_ARG...]
	run_begin "bench-$1" "${FLINK_VERSION:-2.3.0}"
	shift
	sed -i 's/^execution.checkpointing.interval:.*/execution.checkpointing.interval: 10 s/' "$RUN/conf/config.yaml"
	cat >>"$RUN/conf/log4j.properties" <<-'END'
		logger.rest.name = org.apache.flink.runtime.rest.handler
		logger.rest.level = TRACE
	END
	mkdir -p "$RUN/wanted"
	take_port HTTP_PORT
	DREY_CONF[http.port]=$HTTP_PORT
	DREY_CONF[control.directory]=$RUN/wanted
	drey_conf "$@"
	unset 'DREY_CONF[poll.slow]'
	start_tm_pod
	start_drey
	MUST_LIVE=(jm tm)
	wait_until "the job runs" "$WAIT_S" phase_is Running || die 1 "the job does not run"
	wait_until "its first checkpoint" "$WAIT_S" status_is .launch.proven || die 1 "no checkpoint"
}

rest_requests() { # so many has Flink been asked so far
	grep -c 'Received request' "$RUN/log/jm.log"
}
