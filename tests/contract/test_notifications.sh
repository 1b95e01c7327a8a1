#!/usr/bin/env bash
#
# Notifications to a webhook over HTTPS (Flink's place is taken by a script): what arrives, when it arrives if the webhook is
# away, and what is in no log.

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin jq python3 openssl
show=(log got)

begin() { # BODY_OF_FLINK
	rm -rf "$dir/state" "$dir/ck/.drey" "$dir/got" "$dir/answers" "$dir/log"
	mkdir -p "$dir/state"
	flink_is "$1"
	drey_yaml <<-YAML
		terminationMessage: $dir/words
		http: {port: 0}
		attempts: {max: 1, backoffFirst: 0}
		notifications:
		  urlFile: $dir/url
		  tokenFile: $dir/token
		  caFile: $dir/ca.pem
	YAML
}

got() { # JQ_CONDITION over the array of all requests
	[ -s "$dir/got" ] && jq --slurp --exit-status "$1" "$dir/got" >/dev/null
}

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=webhook \
	-addext subjectAltName=IP:127.0.0.1 -keyout "$dir/key.pem" -out "$dir/ca.pem" 2>/dev/null
python3 "$(dirname "${BASH_SOURCE[0]}")/webhook.py" "$dir" "$dir/ca.pem" "$dir/key.pem" &
pids+=($!)
wait_for test -s "$dir/port"
url="https://127.0.0.1:$(cat "$dir/port")/services/hush-path?token=hush-query"
echo "$url" >"$dir/url"
echo hush-token >"$dir/token"

# ---- what arrives

begin 'exit 1'
start_drey
wait_for got 'length == 1'
result $? 'a problem is posted'
got '.[0].headers["content-type"] == "application/cloudevents+json; charset=utf-8" and .[0].body.specversion == "1.0" and
	.[0].body.type == "dev.drey.flinkapplication.AttemptsUsedUp" and .[0].body.data.phase == "Failed" and
	.[0].body.source == "/flinkapplications/orders"'
result $? 'as a CloudEvent'
got '.[0].path == "/services/hush-path?token=hush-query" and .[0].headers.authorization == "Bearer hush-token"'
result $? 'to the URL of the file, with the token'
end_drey
! grep -q hush "$dir/log"
result $? 'and neither is in the log'

begin 'exit 0'
sed -i 's/^notifications:/notifications:\n  format: slack\n  events: all/' "$dir/drey.yaml"
start_drey
wait_for got '[.[].body.text] | any(test(":large_green_circle: .orders. Launching: launch 1")) and any(test(":warning: .orders. EndUnknown"))'
result $? 'to Slack, everything: also what is no problem'
got '[.[].body | keys] | all(. == ["text"])'
result $? 'as a text'
end_drey

# ---- the webhook is away

begin 'exit 1'
printf '503 0 0\n429 0 2\n200\n' >"$dir/answers"
start_drey
wait_for got 'length == 3'
result $? 'after 503 and 429 it is sent again'
got '[.[].body.id] | unique | length == 1'
result $? 'it is the same one'
got '.[2].at - .[1].at >= 1.9'
result $? 'after the time that the webhook asked for'
wait_for grep -q 'notifications are delivered again' "$dir/log"
[ "$(grep -c 'cannot send a notification' "$dir/log")" -eq 1 ]
result $? 'the log says once that it could not be sent, and that it was'
grep 'cannot send a notification' "$dir/log" | grep -q "https://127.0.0.1:$(cat "$dir/port"): HTTP 503: no" && ! grep -q hush "$dir/log"
result $? 'with the host and the answer, without the path, which the answer repeats'
end_drey

begin 'exit 1'
mv "$dir/url" "$dir/url.away"
start_drey
wait_for grep -q 'notifications.urlFile: .*No such file' "$dir/log"
result $? 'the file with the URL is not there: the log says so'
mv "$dir/url.away" "$dir/url"
wait_for got 'length == 1'
result $? 'when it comes, the notification is sent'
end_drey

begin 'exit 1'
echo 404 >"$dir/answers"
start_drey
wait_for grep -q 'notification dropped' "$dir/log"
result $? 'a webhook that does not exist is not asked again'
end_drey
[ "$(wc -l <"$dir/got")" -eq 1 ]
result $? 'not once'

begin 'exit 1'
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=other -keyout /dev/null \
	-out "$dir/other.pem" 2>/dev/null
sed -i "s|caFile: .*|caFile: $dir/other.pem|" "$dir/drey.yaml"
start_drey
wait_for grep -q 'notification dropped' "$dir/log"
result $? 'a certificate that is not trusted gets nothing'
end_drey
[ ! -e "$dir/got" ] && ! grep -q hush "$dir/log"
result $? 'not even the URL'

begin 'exit 1'
sed -i 's/^notifications:/notifications:\n  format: slack/' "$dir/drey.yaml"
mv "$dir/url" "$dir/url.https"
echo 'http://hooks.example.com/services/hush' >"$dir/url"
start_drey
wait_for grep -q 'the URL of a Slack webhook is a secret; use https://' "$dir/log"
result $? 'a Slack webhook without TLS is refused'
mv "$dir/url.https" "$dir/url"
wait_for got 'length == 1'
result $? 'until the file has another one'
end_drey

# ---- the end

begin 'exit 1'
echo '200 0.7' >"$dir/answers"
start_drey
wait_for grep -q 'Failed: ' "$dir/log"
end_drey
got '.[0].body.type | endswith(".AttemptsUsedUp")'
result $? 'the end of the container waits a moment for the last one'

begin 'exit 1'
echo '200 30' >"$dir/answers"
start_drey
wait_for grep -q 'Failed: ' "$dir/log"
SECONDS=0
end_drey
[ "$SECONDS" -le 5 ]
result $? 'and not longer'

contract_end
