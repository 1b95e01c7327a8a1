#!/usr/bin/env bash
#
# The scripts inside the chart, against servers that imitate drey and Flink: a terminating TaskManager waits for the last
# savepoint, and for nothing else, also where there are JobManagers of two generations; the liveness of a TaskManager; what is
# removed from a volume with local state; what `helm test` detects.

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
http.server.ThreadingHTTPServer((sys.argv[4], int(sys.argv[1])), Handler).serve_forever()
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
spawn server python3 "$RUN/server.py" "$PORT" "$RUN/answer" "$RUN/asked" 127.0.0.1
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

# ---- JobManagers of two generations ----------------------------------------------------------------

# The headless Service: every address of RUN/addresses, a line each.
mkdir -p "$RUN/bin"
cat >"$RUN/bin/getent" <<'SH'
#!/usr/bin/env bash
[ "$1 $2" = "ahosts jobmanager" ] || exit 2
while read -r address; do
	printf '%s STREAM jobmanager\n%s DGRAM\n%s RAW\n' "$address" "$address" "$address"
done <"$RUN/addresses"
SH
chmod +x "$RUN/bin/getent"
export RUN

addresses() { # ADDRESS...
	printf '%s\n' "$@" >"$RUN/addresses"
}

# Its drey: of which generation, and what it says.
pod() { # NUMBER GENERATION READYZ
	answer_of "$1" "/join?generation=$2" 200 "{\"generation\":\"$2\",\"side\":\"blue\",\"clusterId\":\"orders\"}"
	answer_of "$1" /readyz 503 "$3"
	[ "$2" = old ] || answer_of "$1" "/join?generation=old" 404 "{\"generation\":\"$2\"}"
}

answer_of() { # NUMBER PATH STATUS BODY
	printf '%s\n%s\n' "$3" "$4" >"$RUN/new"
	mv "$RUN/new" "$RUN/pod$1${2//\//_}"
}

of_generation() { # LIMIT_S [late]
	PATH=$RUN/bin:$PATH APPEAR_S=4 bash "$FILES/await-stop.sh" jobmanager "$PORT" "$1" old ${2:+"$2"}
}

# It does not wait for a stop that may begin.
at_once() { # COMMAND...
	SECONDS=0
	SETTLE_S=20 "$@" && [ "$SECONDS" -lt 10 ]
}

begin_wait() { # [late]
	forget_asked
	of_generation 600 "$@" &
	waits=$!
}

for number in 2 3; do
	spawn "pod$number" python3 "$RUN/server.py" "$PORT" "$RUN/pod$number" "$RUN/asked" "127.0.0.$number"
	await "Pod $number answers" eval "curl --silent --max-time 5 http://127.0.0.$number:$PORT/ || [ \$? -eq 52 ]"
done
pod 2 old "Running: the job runs"
pod 3 new "Standby: waits for the job"
addresses 127.0.0.2 127.0.0.3
SECONDS=0
check "the next version prepares itself: a TaskManager that is moved ends soon" of_generation 30
check "and within seconds" test "$SECONDS" -le 10
pod 3 new "Stopping: stop with savepoint"
SECONDS=0
check "a stop of another generation is not waited for" of_generation 30
check "nor is it within seconds" test "$SECONDS" -le 10
pod 2 old "Stopping: stop with savepoint"
pod 3 new "Standby: waits for the job"
begin_wait
await "the old version stops: it waits" asks 25
check "and is still there" kill -0 "$waits"
pod 2 old "HandedOver: to orders-jobmanager-2"
forget_asked
await "it has handed over: it ends" ended "$waits"
check "at once" not asks 4
pod 2 old "HandedOver: to orders-jobmanager-2"
check "it had handed over before" at_once of_generation 30
pod 3 old "Stopping: stop with savepoint"
begin_wait
await "a Pod that replaces one of its generation stops: it waits" asks 25
check "and is still there" kill -0 "$waits"
rm "$RUN"/pod3*
pod 3 new "Running: the job runs"
await "until that one runs the job of the next version" ended "$waits"
addresses 127.0.0.3
check "only another generation answers" at_once of_generation 30
addresses 127.0.0.3 127.0.0.9
SECONDS=0
check "an address that does not answer may be ours: it waits for a stop" of_generation 30
check "as long as one may begin" test "$SECONDS" -ge 1

# ---- late: TaskManagers that end when the upgrade begins -------------------------------------------

pod 2 old "Running: the job runs"
addresses 127.0.0.2
SECONDS=0
check "late, and there is no other version: it ends" of_generation 30 late
check "after one could have appeared" test "$SECONDS" -ge 3
check "and not much later" test "$SECONDS" -lt 20
addresses 127.0.0.2 127.0.0.9
begin_wait late
sleep 5
check "late: it stays for one that does not answer yet" kill -0 "$waits"
addresses 127.0.0.2 127.0.0.3
pod 3 new "Standby: waits for the job"
sleep 6
check "and for one that prepares itself" kill -0 "$waits"
pod 2 old "Stopping: stop with savepoint"
forget_asked
await "and while the old version stops" asks 10
pod 2 old "Running: the job runs"
forget_asked
await "and when that stop has failed" asks 10
check "it is still there" kill -0 "$waits"
pod 2 old "HandedOver: to orders-jobmanager-2"
await "it ends when the old version has handed over" ended "$waits"
pod 2 old "Running: the job runs"
begin_wait late
await "late once more" asks 6
addresses 127.0.0.2
await "the next version has been taken back: it ends" ended "$waits"

# ---- the liveness of a TaskManager -----------------------------------------------------------------

process() { # PID NAME
	mkdir -p "$RUN/proc/$1"
	echo "$2" >"$RUN/proc/$1/comm"
}

alive() { # PORT
	PROC=$RUN/proc POD_IP=127.0.0.1 bash "$FILES/alive.sh" "$1"
}

take_port NOBODY
process 1 drey-init
process 7 drey
check "no JVM yet: it is alive" alive "$NOBODY"
process 9 java
check "a JVM that does not listen is not" not alive "$NOBODY"
check "one that listens is" alive "$PORT"

# ---- local recovery --------------------------------------------------------------------------------

local_volume() { # what is on it
	(cd "$RUN/local" && find . -mindepth 1 -maxdepth 2 | sort | tr '\n' ' ')
}

mkdir -p "$RUN/local"/{lost+found,tm_old-orders-0,rocksdb/job_1} "$RUN/local/tm_new-orders-0/localState"
is "$(bash "$FILES/local.sh" "$RUN/local" new-orders-0 printf '%s,' a 'b c')" "a,b c," "local recovery: the command is started"
is "$(local_volume)" "./lost+found ./rocksdb ./tm_new-orders-0 ./tm_new-orders-0/localState " "what nobody would find is gone, and what is of this TaskManager is there"
rm -rf "$RUN/local"/*
is "$(bash "$FILES/local.sh" "$RUN/local" new-orders-0 echo started)" started "a new volume is empty"
check "the exit status is that of the command" test "$(bash "$FILES/local.sh" "$RUN/local" a bash -c 'exit 7'; echo $?)" = 7

# ---- values that are in Secrets --------------------------------------------------------------------

join_secrets() {
	sh "$FILES/configuration.sh" "$RUN/conf.chart" "$RUN/conf.secrets" "$RUN/conf"
}

mkdir -p "$RUN"/conf{,.chart,.secrets}
printf 'parallelism.default: 1\n' >"$RUN/conf.chart/config.yaml"
echo old >"$RUN/conf.chart/log4j-console.properties"
# shellcheck disable=SC2016
printf '%s\n' "it's \$HOME: #1 \"x\" \\ é" >"$RUN/conf.secrets/security.ssl.rest.key-password"
printf 'a' >"$RUN/conf.secrets/security.ssl.rest.keystore-password"
check "Flink's configuration with Secrets: it is made" join_secrets
is "$(python3 -c 'import sys, yaml; print(yaml.safe_load(open(sys.argv[1])))' "$RUN/conf/config.yaml")" \
	"{'parallelism.default': 1, 'security.ssl.rest.key-password': 'it\\'s \$HOME: #1 \"x\" \\\\ é', 'security.ssl.rest.keystore-password': 'a'}" \
	"with each value as it is in the Secret"
is "$(stat --format %a "$RUN/conf/config.yaml")" 600 "only for one user"
echo new >"$RUN/conf.chart/log4j-console.properties"
is "$(cat "$RUN/conf/log4j-console.properties")" new "a change of the log configuration is seen"
check "a container that is started again makes it again" join_secrets
is "$(grep --count keystore-password "$RUN/conf/config.yaml")" 1 "with each key once"
printf 'a\nb\n' >"$RUN/conf.secrets/security.ssl.rest.key-password"
is "$(join_secrets 2>&1)" "flink.configurationFrom: the value of security.ssl.rest.key-password is empty or has more than one line" "a value of two lines is refused by its key"
: >"$RUN/conf.secrets/security.ssl.rest.key-password"
check "so is an empty one" not join_secrets

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
is "$(bash "$FILES/test.sh" 127.0.0.1 "$PORT" 127.0.0.1 tls | tail -1)" "Flink: the REST API listens, with TLS" "helm test: with TLS it is enough that the port is open"
check "helm test: with TLS and no Pod that listens" not env REST_PORT="$NOBODY" bash "$FILES/test.sh" 127.0.0.1 "$PORT" 127.0.0.1 tls
addresses 127.0.0.2 127.0.0.1
pod 2 old "HandedOver: to orders-jobmanager-2"
check "helm test: the job runs, beside a Pod that has handed over" env PATH="$RUN/bin:$PATH" bash "$FILES/test.sh" jobmanager "$PORT" 127.0.0.1
answer /readyz 503 "Holding: the bucket cannot be read"
check "helm test: it runs in none of them" not env PATH="$RUN/bin:$PATH" bash "$FILES/test.sh" jobmanager "$PORT" 127.0.0.1
e2e_end
