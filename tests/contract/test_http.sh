#!/usr/bin/env bash
#
# Probes, status and metrics over HTTP, while everything that drey asks is a black hole: storage that takes connections
# and never answers, a REST API that does the same, a journal whose fsync never returns. Without Flink: its place is
# taken by a script. Prometheus' own parser reads the metrics where it is installed ($PYTHON, prometheus_client).

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin curl jq perl
show=(body log)

# Takes connections and never answers.
# shellcheck disable=SC2016 # for perl
black_hole='use IO::Socket::INET;
my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $ARGV[0], Listen => 64, ReuseAddr => 1) or die;
my @all; while (my $c = $s->accept) { push @all, $c }'

dig_hole() { # PORT
	perl -e "$black_hole" "$1" &
	pids+=($!)
	wait_for connects "$1"
}

connects() { # PORT
	(exec 3<>"/dev/tcp/127.0.0.1/$1")
}

take_port port
take_port rest_port
take_port hole
flink_is "exec perl -e '$black_hole' $rest_port"

export AWS_ACCESS_KEY_ID=AKIDEXAMPLE AWS_SECRET_ACCESS_KEY=hush-hush-hush AWS_REGION=eu-west-1
export AWS_ENDPOINT_URL=http://127.0.0.1:${hole:?}

start() { # CHECKPOINTS [COMMAND...]
	checkpoints=$1
	shift
	rm -rf "$dir/state" "$dir/ck/.drey" # no journal, and no copy of one
	mkdir -p "$dir/state"
	drey_yaml <<-YAML
		generation: 1.2+a b
		http:
		  address: 127.0.0.1
		  port: ${port:?}
		  hosts: [status.example]
		log:
		  level: debug
	YAML
	start_drey "$@"
}

kill_drey() {
	kill -KILL "$drey_pid" 2>/dev/null # the agent and Flink end with it
	reap_drey 2>/dev/null
	wait_for gone "$port"
	wait_for gone "$rest_port"
}

gone() { # PORT
	! connects "$1" 2>/dev/null
}

# The status; the body is in $dir/body.
get() { # PATH [CURL_OPTION...]
	local path=$1
	shift
	: >"$dir/body"
	curl --silent --max-time 10 --output "$dir/body" --write-out '%{http_code}' "$@" "http://127.0.0.1:$port$path"
}

answers() { # PATH STATUS
	[ "$(get "$1")" = "$2" ]
}

says() { # PATH TEXT
	get "$1" >/dev/null && grep -qF -- "$2" "$dir/body"
}

# A hundred probes, one after another: all are answered, nearly all at once. What a loaded machine adds is not drey's.
prompt() { # WHAT [PATH]
	local median slowest all=$dir/times path=${2:-/livez}
	for _ in {1..100}; do
		curl --silent --fail --max-time 10 --output /dev/null --write-out '%{time_total}\n' \
			"http://127.0.0.1:$port$path" || echo 99
	done | sort -n >"$all"
	median=$(sed -n 50p "$all")
	slowest=$(tail -n 1 "$all")
	echo "# $path: median $median s, slowest $slowest s"
	awk -v median="$median" -v slowest="$slowest" 'BEGIN { exit !(median < 0.5 && slowest < 8) }'
	result $? "$1"
}

# Of the agent's loop; a loaded machine does not make it more.
cpu_ns() {
	cut -d' ' -f1 "/proc/$agent/task/$agent/schedstat"
}

# ---- storage is a black hole, from the first moment

dig_hole "$hole"
start s3://bucket/ck
wait_for answers /livez 200
result $? 'storage never answers: /livez does'
prompt 'and promptly'
answers /readyz 503 && grep -qF 'Starting: the configuration and the stores are being checked' "$dir/body"
result $? '/readyz: 503, it starts, and says with what'
answers /status 503
result $? '/status: 503 until the journal was read'
answers /metrics 200 && grep -q '^drey_build_info{' "$dir/body"
result $? '/metrics says what it is'
answers / 200 && grep -q '<title>Starting - orders - drey</title>' "$dir/body"
result $? 'the page says that it starts'
answers /startupz 503 && answers /healthz 200
result $? '/startupz: 503 until the journal was read; /healthz is /livez'
answers '/join?generation=1.2%2Ba%20b' 503 && jq -e '.generation == "1.2+a b" and (.why | test("journal")) and .clusterId == null' "$dir/body" >/dev/null
result $? '/join: 503 until the journal was read'
answers '/join?generation=other' 404 && jq -e '. == {generation: "1.2+a b"}' "$dir/body" >/dev/null
result $? '/join: another generation is told at once that this is not its drey'
kill -TERM "$drey_pid"
wait_for test ! -e "/proc/$drey_pid/cwd"
result $? 'SIGTERM ends it all the same'
kill_drey

# ---- Flink's REST API is a black hole

start "file://$dir/ck"
wait_for says /readyz Launching
result $? 'a REST API that never answers: the launch goes on'
prompt '/livez is prompt'
answers /readyz 503 && grep -q '^Launching: ' "$dir/body"
result $? '/readyz: 503 with phase and reason'
answers /status 200 && jq -e '.phase == "Launching" and .launch.number == 1' "$dir/body" >/dev/null
result $? '/status is the status document'
cp "$dir/body" "$dir/over-http"
"$DREY" status --json --config "$dir/drey.yaml" >"$dir/over-socket"
diff <(jq -S 'del(.journal, .transitions, .retryInMs, .nowUnixMs, .lineage)' "$dir/over-http") <(jq -S 'del(.journal, .transitions, .retryInMs, .nowUnixMs, .lineage)' "$dir/over-socket")
result $? 'the same as over the socket'
named() { # NAME PATH STATUS
	[ "$(curl -s -m 5 -o "$dir/body" -w '%{http_code}' -H "Host: $1" "http://127.0.0.1:$port$2")" = "$3" ]
}
refused=0
for path in / /status /runbook/StopFailed; do
	named evil.example:8085 "$path" 421 && ! grep -q Launching "$dir/body" && named "localhost:$port" "$path" 200 &&
		named status.example "$path" 200 || refused=1
done
result $refused 'a name that could lead here by DNS rebinding gets neither page nor status; localhost and http.hosts do'
refused=0
for path in /livez /metrics; do
	named evil.example "$path" 200 || refused=1
done
result $refused 'probes and metrics are answered by any name'
[ "$(get /livez --head)" = 200 ] && [ "$(get /livez --request POST)" = 405 ] &&
	[ "$(get /livez --request DELETE)" = 405 ] && [ "$(get /livez --data x --request GET)" = 413 ]
result $? 'GET and HEAD without a body only'
[ "$(get /index.html)" = 404 ] && [ "$(get /livez/)" = 404 ] && [ "$(get /runbook/)" = 404 ] && [ "$(get /runbook/README)" = 404 ] && [ "$(get /../../etc/passwd --path-as-is)" = 404 ] &&
	[ "$(get "/livez?verbose=1")" = 200 ]
result $? 'nothing else is there'
answers / 200 && grep -q '<title>Launching - orders - drey</title>' "$dir/body" && grep -q '<dt>Last launch</dt><dd>1, ' "$dir/body"
result $? 'the page at / has the phase and the last launch, also without its script'
answers /status 200 && jq -e '.lineage.launches[0].launch == 1 and .sinceUnixMs <= .nowUnixMs and .agent.pod == null and .runbook == null' "$dir/body" >/dev/null
result $? 'and the status has what the script shows'
curl --silent --head "http://127.0.0.1:$port/" | tr -d '\r' >"$dir/head"
grep -q "^Content-Security-Policy: default-src 'none'; .*script-src 'sha256-" "$dir/head" && grep -qi '^content-type: text/html; charset=utf-8$' "$dir/head" &&
	grep -q '^Referrer-Policy: no-referrer$' "$dir/head" && grep -q '^X-Content-Type-Options: nosniff$' "$dir/head" &&
	grep -q '^Cache-Control: no-store$' "$dir/head" && ! grep -q unsafe "$dir/head"
result $? 'with headers that let the browser run and load nothing else'
answers /runbook/NoUsableState 200 && diff "$dir/body" docs/runbook/NoUsableState.md >"$dir/out"
result $? 'the pages of the runbook are there'
answers /startupz 200
result $? '/startupz: 200 when the journal was read'
agent=$(pgrep -P "$drey_pid" -f 'drey run')
before=$(cpu_ns)
prompt 'the page is prompt' /
spent=$((($(cpu_ns) - before) / 100))
echo "# the page: $spent ns of processor time"
[ "$spent" -gt 0 ] && [ "$spent" -lt 5000000 ]
result $? 'and takes at most 5 ms, while Flink never answers'
before=$(cpu_ns)
prompt 'so is the status that it reads' /status
spent=$((($(cpu_ns) - before) / 100))
echo "# the status: $spent ns of processor time"
[ "$spent" -gt 0 ] && [ "$spent" -lt 5000000 ]
result $? 'and takes at most 5 ms'
[ "$(get /livez --header "a: $(head -c 20000 /dev/zero | tr '\0' a)")" = 431 ]
result $? 'headers are limited'

answers '/join?x=%zz&generation=1.2+a%20b&y' 200 && jq -e '. == {generation: "1.2+a b", side: "blue", clusterId: "orders"}' "$dir/body" >/dev/null
result $? '/join: its own generation is told the side'
curl --silent --head "http://127.0.0.1:$port/join?generation=x" | grep -qi '^content-type: application/json'
result $? 'as JSON'
answers '/readyz?generation=1.2%2Ba%20b' 503 && answers '/readyz?generation=other' 503 && ! grep -q Launching "$dir/body"
result $? '/readyz?generation=: 503 while its job does not run'
bad=0
for query in '' '?' '?generation=%' '?generation=%zz' '?generation=a%00b' '?generation=%0d%0aX:y' '?generation=%ff' \
	'?generation=1&generation=1' '?generation=1&%67eneration=2' "?generation=$(head -c 4000 /dev/zero | tr '\0' a)"; do
	answers "/join$query" 400 || bad=1
	[ -z "${query#'?'}" ] || answers "/readyz$query" 400 || bad=1
done
result "$bad" 'a generation that is missing, given twice, too long or no text: 400'

for path in / /livez /readyz /status /metrics '/join?generation=x'; do
	get "$path" >/dev/null
	cat "$dir/body"
done >"$dir/all"
[ -s "$dir/all" ] && ! grep -qE 'hush-hush-hush|AKIDEXAMPLE' "$dir/all" "$dir/log"
result $? 'no secret in any answer, nor in the log'

get /metrics >/dev/null
cp "$dir/body" "$dir/metrics"
curl --silent --head "http://127.0.0.1:$port/metrics" | grep -qi '^content-type: text/plain; version=0.0.4'
result $? 'metrics have the content type of their format'
python=${PYTHON:-python3}
if "$python" -c 'import prometheus_client' 2>/dev/null; then
	"$python" - "$dir/metrics" <<-'PYTHON'
		import sys
		from prometheus_client.parser import text_string_to_metric_families as parse
		families = {f.name: f for f in parse(open(sys.argv[1]).read())}
		phases = {s.labels["phase"]: s.value for s in families["drey_phase"].samples}
		assert phases["Launching"] == 1 and sum(phases.values()) == 1, phases
		assert families["drey_launches"].type == "counter"
		assert families["drey_launches"].samples[0].value == 1
		assert all(f.documentation and f.type in ("gauge", "counter") for f in families.values())
		assert len(families) > 30, len(families)
	PYTHON
	result $? "Prometheus' parser reads the metrics"
else
	skip "Prometheus' parser reads the metrics" "prometheus_client is not installed for $python"
fi

# ---- clients that want nothing

perl -e 'use IO::Socket::INET; my @all;
for (1 .. 150) { push @all, IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0]); }
open my $f, ">", $ARGV[1]; close $f; sleep 1000' "$port" "$dir/crowd" &
pids+=($!)
crowd=$!
wait_for test -e "$dir/crowd"
prompt 'a crowd of silent clients does not keep probes out'
kill "$crowd"
kill_drey

# a browser that keeps 1,000 connections, and asks for the page on each
start "file://$dir/ck"
wait_for says /readyz Launching
perl -e 'use IO::Socket::INET; my @all;
for (1 .. 1000) { my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0]) or next;
	print $s "GET / HTTP/1.1\r\nHost: x\r\n\r\n"; push @all, $s; }
open my $f, ">", $ARGV[1]; close $f; sleep 1000' "$port" "$dir/browser" &
pids+=($!)
crowd=$!
wait_for test -e "$dir/browser"
prompt 'a browser that keeps 1,000 connections does not keep probes out'
kill "$crowd"
kill_drey

# ---- the journal is a black hole

cat >"$dir/hang.c" <<-'C'
	#include <stdlib.h>
	#include <unistd.h>
	int fsync(int fd)
	{
		(void)fd;
		while (access(getenv("HANG_WHILE"), F_OK) == 0)
			usleep(10000);
		return 0;
	}
C
if [[ $BUILD == */*san || $BUILD == */static/* ]] || ! cc -shared -fPIC -o "$dir/hang.so" "$dir/hang.c" 2>/dev/null; then
	skip 'the journal hangs: /status is answered' 'needs a build with shared libraries and without sanitizers, and cc'
else
	start "file://$dir/ck" env "LD_PRELOAD=$dir/hang.so" "HANG_WHILE=$dir/hang"
	wait_for says /readyz Launching
	touch "$dir/hang"
	"$DREY" do-not-restart on --config "$dir/drey.yaml" >/dev/null 2>&1 &
	asked=$!
	pids+=("$asked")
	wait_for says /metrics 'drey_do_not_restart 1'
	answers /status 200 && kill -0 "$asked"
	result $? 'the journal hangs: /status is answered, while the command still waits for the journal'
	rm "$dir/hang"
	wait "$asked"
	result $? 'which it gets when the journal can be written again'
	touch "$dir/hang"
	"$DREY" do-not-restart off --config "$dir/drey.yaml" >/dev/null 2>&1 & # waits for 10 s, the probes may take longer
	pids+=($!)
	wait_for says /metrics 'drey_do_not_restart 0'
	prompt 'the journal hangs: /livez is prompt'
	rm "$dir/hang"
	kill_drey
fi

# ---- the port is taken

dig_hole "$port"
taken=${pids[-1]}
start "file://$dir/ck"
wait_for grep -q 'no HTTP' "$dir/log"
result $? 'a port that is taken is said'
wait_for connects "$rest_port"
result $? 'and is no reason not to supervise'
kill "$taken"
wait "$taken" 2>/dev/null
wait_for answers /livez 200
result $? 'when it is free again, it is taken'
kill_drey

sed -i "s/address: 127.0.0.1/address: localhost/" "$dir/drey.yaml"
"$BUILD/drey-init" --agent -- "$DREY" run --config "$dir/drey.yaml" >"$dir/log" 2>&1 </dev/null
[ $? -eq 2 ] && grep -q "http.address: 'localhost' is not an IP address" "$dir/log"
result $? 'an address that is none is refused at the start'

contract_end
