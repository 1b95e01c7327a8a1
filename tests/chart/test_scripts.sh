#!/usr/bin/env bash
#
# The scripts inside the chart, against a server that imitates drey and Flink: a terminating TaskManager waits for the
# last savepoint, and for nothing else; what `helm test` detects.

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
RUN=$(mktemp -d "${TMPDIR:-/tmp}/drey-chart-scripts.XXXXXX")
EVENTS=$RUN/events.log
mkdir -p "$RUN/log"
trap run_end EXIT
FILES=$TOP/chart/flink-application/files
take_port PORT
export SETTLE_S=2 REST_PORT=$PORT

# Answers with what is in RUN/answer: its first line is the status, the rest the body. Without the file: not at all. What
# was asked for is a line in RUN/asked.
cat >"$RUN/server.py" <<'PY'
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(sys.argv[3], "a") as asked:
            print(self.path, file=asked, flush=True)
        try:
            status, body = open(sys.argv[2] + self.path.replace("/", "_")).read().split("\n", 1)
        except FileNotFoundError:
            return self.connection.close()
        self.send_response(int(status))
        self.end_headers()
        self.wfile.write(body.encode())
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
PY

answer() { # PATH STATUS BODY
	printf '%s\n%s\n' "$2" "$3" >"$RUN/new"
	mv "$RUN/new" "$RUN/answer${1//\//_}"
}

answers() {
	curl --silent --max-time 5 "http://127.0.0.1:$PORT/readyz" | grep --quiet .
}

await_stop() { # LIMIT_S
	bash "$FILES/await-stop.sh" 127.0.0.1 "$PORT" "$1"
}

# Somebody asks for the N-th time since forget_asked; a second is seven times at most.
asks() { # N
	[ "$(wc -l <"$RUN/asked")" -ge "$1" ]
}

forget_asked() {
	: >"$RUN/asked"
}

ended() { # PID
	! kill -0 "$1" 2>/dev/null
}

answer /readyz 200 "Running: the job runs"
spawn server python3 "$RUN/server.py" "$PORT" "$RUN/answer" "$RUN/asked"
await "the server answers" answers

# ---- a TaskManager that is to end ------------------------------------------------------------------

SECONDS=0
check "the job runs on: a TaskManager that is moved ends soon" await_stop 600
check "but not at once: a stop may be about to begin" test "$SECONDS" -ge 1
answer /readyz 503 "Stopping: stop with savepoint"
forget_asked
await_stop 600 &
waits=$!
await "a stop is under way: it waits twice as long as it would for nothing" asks 25
check "and is still there" kill -0 "$waits"
answer /readyz 503 "Suspended: stopped with a savepoint"
await "the stop is over: it ends" ended "$waits"
answer /readyz 503 "Stopping: stop with savepoint"
forget_asked
await_stop 600 &
waits=$!
await "a stop is under way once more" asks 2
answer /readyz 503 "Terminating: stopped with a savepoint"
forget_asked
await "Flink is being ended, after the savepoint: it ends" ended "$waits"
check "at once" not asks 3
answer /readyz 503 "Stopping: stop with savepoint"
check "a limit is a limit" await_stop 3
forget_asked
await_stop 600 &
waits=$!
await "the JobManager has not gone yet: it waits" asks 5
check "and is still there" kill -0 "$waits"
rm "$RUN/answer_readyz"
await "the JobManager has gone: it ends" ended "$waits"
check "nobody answers at all: it ends" await_stop 600

# ---- helm test -------------------------------------------------------------------------------------

helm_test() {
	bash "$FILES/test.sh" 127.0.0.1 "$PORT" 127.0.0.1
}

check "helm test: nobody answers" not helm_test
answer /readyz 503 "Holding: the bucket cannot be read"
check "helm test: drey holds" not helm_test
check "and it says why" grep --quiet 'the bucket cannot be read' <(helm_test 2>&1)
answer /readyz 200 "Running: the job runs"
check "helm test: nobody answers for Flink" not helm_test
answer /jobs/overview 200 '{"jobs":[{"jid":"a","state":"RESTARTING"}]}'
check "helm test: the job restarts" not helm_test
answer /jobs/overview 200 '{"jobs":[{"jid":"a","state":"RUNNING"}]}'
check "helm test: the job runs" helm_test
e2e_end
