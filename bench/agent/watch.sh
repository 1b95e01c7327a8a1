#!/usr/bin/env bash
#
# watch.sh URL - what is written where there is no supervisor: bash asks Flink every 5 s whether the job still runs.
# bench/agent/run.sh measures it beside drey. It proves nothing, saves nothing and starts nothing.

last=
while :; do
	state=$(curl --silent --max-time 5 "$1/jobs" | grep -o '"status":"[A-Z]*"' | head -n 1)
	[ "$state" = "$last" ] || echo "the job: ${state:-unknown}"
	last=$state
	sleep 5
done
