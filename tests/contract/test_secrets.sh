#!/usr/bin/env bash
#
# No key, password or token is ever printed, whatever goes wrong: every command that reads storage runs with canaries
# in the environment, in files and in URLs, against stores that are away, refuse, redirect, lie, and send back
# what they were sent.

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin python3
CANARY=cAnArY7 # in every secret; case is looked at neither way
what=() command=()

# ---- a store that behaves as badly as its first path component says ---------------------------------------

cat >"$dir/store.py" <<'PY'
import http.server, sys

class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *args):
        pass

    def answer(self):
        length = int(self.headers.get('Content-Length') or 0)
        body = self.rfile.read(length).decode('utf-8', 'replace')
        echo = ' '.join(f'{k}: {v}' for k, v in self.headers.items()) + ' ' + self.path + ' ' + body
        echo = echo.replace('<', '(').replace('&', '+')
        kind = self.server.kind
        status, headers, text = 200, {}, ''
        if kind == 'denied':
            status, text = 403, f'<Error><Code>SignatureDoesNotMatch</Code><Message>{echo}</Message><StringToSign>{echo}</StringToSign></Error>'
        elif kind == 'bad':
            status, text = 400, f'<Error><Code>Refused</Code><Message>{echo}</Message></Error>'
        elif kind == 'redirect':
            status, headers = 307, {'Location': f'http://user:{SECRET}@127.0.0.1:1/elsewhere?signature={SECRET}'}
        elif kind == 'broken':
            status, text = 500, echo
        elif kind == 'nonsense':
            text = f'<ListBucketResult><Contents><Key>{echo}'
        elif kind == 'header':
            status, headers = 401, {'Www-Authenticate': f'Basic realm="{SECRET}"', 'X-Auth-Token': SECRET}
            text = '{"error": {"code": 401, "message": "%s"}}' % echo.replace('"', "'")
        data = text.encode()
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(data)

    do_GET = do_HEAD = do_POST = do_PUT = answer

SECRET = sys.argv[1]
servers = []
import threading
for kind in sys.argv[3:]:
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Store)
    server.kind = kind
    servers.append((kind, server))
    threading.Thread(target=server.serve_forever, daemon=True).start()
with open(sys.argv[2] + '.new', 'w') as out:
    for kind, server in servers:
        out.write(f'{kind} {server.server_address[1]}\n')
import os
os.rename(sys.argv[2] + '.new', sys.argv[2])
threading.Event().wait()
PY
KINDS='denied bad redirect broken nonsense header'
# shellcheck disable=SC2086 # the words are meant
python3 "$dir/store.py" "answer-$CANARY" "$dir/ports" $KINDS &
pids+=($!)
wait_for test -e "$dir/ports" || {
	echo "Bail out! the store did not start"
	exit 1
}
port() { awk -v kind="$1" '$1 == kind { print $2 }' "$dir/ports"; }

# ---- secrets ------------------------------------------------------------------------------------------------

unset AWS_PROFILE
export HOME=$dir AWS_EC2_METADATA_DISABLED=true AWS_REGION=eu-test-1 AWS_MAX_ATTEMPTS=1
export AWS_ACCESS_KEY_ID=AK$CANARY AWS_SECRET_ACCESS_KEY=secret/$CANARY AWS_SESSION_TOKEN=token+$CANARY
export OS_PASSWORD=os-$CANARY ST_KEY=st-$CANARY OS_AUTH_TOKEN=tok-$CANARY
mkdir -p "$dir/flink" "$dir/files"
for name in access secret token; do echo "$name-$CANARY" >"$dir/files/$name"; done

# Writes $yaml, a new one each time.
config() { # ENDPOINT
	yaml=$dir/drey-$count.yaml
	mkdir "$dir/state-$count"
	cat >"$yaml" <<-YAML
		application: orders
		stateDirectory: $dir/state-$count
		flink:
		  command: [/bin/sleep, "1"]
		  version: 2.3.0
		  checkpointDirectory: s3://flink/ck
		  savepointDirectory: s3://flink/sp
		  resultStoreDirectory: file://$dir/results
		  restPort: $((20000 + RANDOM % 10000))
		http:
		  port: 0
		storage:
		  s3:
		    endpoint: $1
		    accessKeyFile: $dir/files/access
		    secretKeyFile: $dir/files/secret
		    sessionTokenFile: $dir/files/token
	YAML
}

# silent WHAT COMMAND...: it fails, and neither stream has a canary. Runs beside the others, for most of the time is
# spent in pauses before another attempt; judge() looks at all of them at the end.
limited() {
	if [ "$(type -t "$1")" = function ]; then "$@"; else timeout 300 "$@"; fi
}

silent() {
	count=$((count + 1))
	what[count]=$1
	shift
	command[count]=$*
	while [ "$(jobs -rp | wc -l)" -gt 8 ]; do wait -n; done
	{
		status=0
		limited "$@" >"$dir/$count.out" 2>"$dir/$count.err" </dev/null || status=$?
		echo "$status" >"$dir/$count.status"
	} &
}

judge() {
	local number status ok
	for number in $(seq "$count"); do
		while [ ! -s "$dir/$number.status" ]; do sleep 0.1; done
		status=$(cat "$dir/$number.status") ok=0
		[ "$status" -ne 0 ] && [ "$status" -lt 124 ] || ok=1
		[ -s "$dir/$number.out" ] || [ -s "$dir/$number.err" ] || ok=1
		! grep -qi -- "$CANARY" "$dir/$number.out" "$dir/$number.err" || ok=1
		if [ "$ok" -eq 0 ]; then
			echo "ok $number - ${what[number]}"
		else
			failed=$((failed + 1))
			echo "# status $status: ${command[number]}"
			sed 's/^/# /' "$dir/$number.out" "$dir/$number.err" | head -n 12
			echo "not ok $number - ${what[number]}"
		fi
	done
}

# The agent as it is meant to run: until it gives up, or has looked at the storage and held. All that it says is in its log.
run_a_while() { # CONFIG
	timeout -k 5 12 "$BUILD/drey-init" --agent -- "$DREY" run --config "$1"
	return 1 # how it ends is the business of other tests
}

# Every command that reads storage.
all() { # WHAT SCHEME://CONTAINER
	silent "$1: verify" "$DREY" verify "$2/sp/savepoint-aaaaaa-000000000001"
	silent "$1: verify --json" "$DREY" verify --json "$2/sp/savepoint-aaaaaa-000000000001"
	silent "$1: inspect" "$DREY" inspect "$2/sp/savepoint-aaaaaa-000000000001/_metadata"
	silent "$1: resolve" "$DREY" resolve --explain --checkpoints "$2/ck" --savepoints "$2/sp"
	silent "$1: resolve --json" "$DREY" resolve --json --checkpoints "$2/ck" --savepoints "$2/sp"
	silent "$1: snapshots" "$DREY" snapshots --checkpoints "$2/ck" --savepoints "$2/sp"
	silent "$1: snapshots --json" "$DREY" snapshots --json --checkpoints "$2/ck"
}

# ---- S3 -----------------------------------------------------------------------------------------------------

export AWS_ENDPOINT_URL=http://127.0.0.1:1
all "S3, nobody there" s3://flink
for kind in $KINDS; do
	AWS_ENDPOINT_URL=http://127.0.0.1:$(port "$kind")
	all "S3, $kind" s3://flink
	config "$AWS_ENDPOINT_URL"
	silent "S3, $kind: drey.yaml, resolve" "$DREY" resolve --explain --config "$yaml"
	silent "S3, $kind: drey.yaml, snapshots" "$DREY" snapshots --config "$yaml"
	silent "S3, $kind: drey.yaml, run" run_a_while "$yaml"
done

# a password in a place where none belongs
for url in "http://user:pass-$CANARY@127.0.0.1:1" "http://$CANARY@127.0.0.1:1" "https://127.0.0.1:1/?token=$CANARY" \
	"ftp://user:$CANARY@host" "user:$CANARY@host"; do
	AWS_ENDPOINT_URL=$url
	all "an endpoint like ${url//$CANARY/SECRET}" s3://flink
	config "$url"
	silent "the same in drey.yaml, resolve" "$DREY" resolve --config "$yaml"
	silent "the same in drey.yaml, run" "$DREY" run --config "$yaml"
done
AWS_ENDPOINT_URL=http://127.0.0.1:1
all 'keys in the path, as Hadoop once had them' "s3a://AK$CANARY:secret-$CANARY@flink"

# keys that are not to be had
export AWS_WEB_IDENTITY_TOKEN_FILE=$dir/files/token AWS_ROLE_ARN=arn:aws:iam::1:role/x
for kind in $KINDS; do
	AWS_ENDPOINT_URL=http://127.0.0.1:$(port "$kind")
	silent "web identity, $kind" env -u AWS_ACCESS_KEY_ID -u AWS_SECRET_ACCESS_KEY -u AWS_SESSION_TOKEN \
		"$DREY" verify s3://flink/sp/x
	silent "container, $kind" env -u AWS_ACCESS_KEY_ID -u AWS_SECRET_ACCESS_KEY -u AWS_SESSION_TOKEN \
		-u AWS_WEB_IDENTITY_TOKEN_FILE AWS_CONTAINER_CREDENTIALS_FULL_URI="$AWS_ENDPOINT_URL/c" \
		AWS_CONTAINER_AUTHORIZATION_TOKEN="tok-$CANARY" "$DREY" verify s3://flink/sp/x
done
for url in "http://user:pass-$CANARY@127.0.0.1:1" "http://127.0.0.1:1/?token=$CANARY"; do
	silent "STS at ${url//$CANARY/SECRET}" env -u AWS_ACCESS_KEY_ID -u AWS_SECRET_ACCESS_KEY -u AWS_SESSION_TOKEN \
		AWS_ENDPOINT_URL_STS="$url" "$DREY" verify s3://flink/sp/x
done
mkdir -p "$dir/.aws"
printf '[default]\naws_access_key_id = AK%s\nnonsense %s\n' "$CANARY" "$CANARY" >"$dir/.aws/credentials"
silent 'a damaged profile' env -u AWS_ACCESS_KEY_ID -u AWS_SECRET_ACCESS_KEY -u AWS_WEB_IDENTITY_TOKEN_FILE \
	"$DREY" verify s3://flink/sp/x

# ---- Swift --------------------------------------------------------------------------------------------------

unset OS_AUTH_TOKEN
for kind in $KINDS; do
	ST_AUTH=http://127.0.0.1:$(port "$kind")/auth/v1.0
	export ST_AUTH ST_USER=test:tester
	all "tempauth, $kind" swift://flink
	unset ST_AUTH ST_USER
	OS_AUTH_URL=http://127.0.0.1:$(port "$kind")/v3
	export OS_AUTH_URL OS_USERNAME=u OS_PROJECT_NAME=p
	all "Keystone, $kind" swift://flink
	unset OS_AUTH_URL
	export OS_STORAGE_URL OS_AUTH_TOKEN=tok-$CANARY
	OS_STORAGE_URL=http://127.0.0.1:$(port "$kind")/v1/AUTH_x
	all "a token, $kind" swift://flink
	unset OS_STORAGE_URL OS_AUTH_TOKEN
done
export OS_AUTH_URL="http://user:$CANARY@127.0.0.1:1/v3"
all 'a password in the URL of Keystone' swift://flink

judge
contract_end
