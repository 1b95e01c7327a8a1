#!/usr/bin/env bash
#
# A store behind a proxy (tinyproxy) and behind a private CA: MinIO with and without TLS. The proxy's log shows which
# requests took it.
#
# runs in: all

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/servers/snapshots.sh
. "$(dirname "${BASH_SOURCE[0]}")/snapshots.sh"

servers_begin proxy minio openstack
for tool in tinyproxy openssl; do
	command -v "$tool" >/dev/null || servers_skip "$tool is missing"
done
mkdir -p "$RUN/minio/buckets/flink" "$RUN/tls/buckets/flink"

# A CA, a certificate for the address of the store, and a CA that has signed nothing.
# shellcheck disable=SC2317 # called through check
make_certificates() {
	local certs=$RUN/tls/.minio/certs ca
	mkdir -p "$certs"
	for ca in ca other; do
		openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=drey $ca" -keyout "$RUN/$ca.key" -out "$RUN/$ca.pem" || return
	done
	openssl req -newkey rsa:2048 -nodes -subj "/CN=store" -keyout "$certs/private.key" -out "$RUN/store.csr" || return
	openssl x509 -req -in "$RUN/store.csr" -CA "$RUN/ca.pem" -CAkey "$RUN/ca.key" -days 2 -out "$certs/public.crt" \
		-extfile <(echo "subjectAltName = IP:0.0.0.0, IP:127.0.0.1")
}
check "a private CA" make_certificates 2>>"$RUN/log/openssl.log"

# shellcheck disable=SC2317 # called through wait_until
listens() { # PORT
	(: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}
take_port PROXY_PORT
PROXY_PASSWORD=$(random_hex 8)
cat >"$RUN/tinyproxy.conf" <<-END
	Port $PROXY_PORT
	Listen 127.0.0.1
	Timeout 60
	LogFile "$RUN/log/proxy.log"
	LogLevel Info
	MaxClients 50
	Allow 127.0.0.1
	BasicAuth drey $PROXY_PASSWORD
END
spawn tinyproxy tinyproxy -d -c "$RUN/tinyproxy.conf"
wait_until "the proxy answers" 20 listens "$PROXY_PORT"
proxy=http://drey:$PROXY_PASSWORD@127.0.0.1:$PROXY_PORT
seen() { # TEXT
	grep -aqF -- "$1" "$RUN/log/proxy.log"
}

server_up minio "$RUN/minio"
snapshots_make "$RUN/tree"
export HOME=$RUN AWS_REGION=$S3_REGION AWS_EC2_METADATA_DISABLED=true
export AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY
AWS_ENDPOINT_URL=$S3_ENDPOINT check "boto3 puts the snapshots there" s3_client upload "$RUN/tree" flink a/
cp -r "$RUN/minio/buckets/." "$RUN/tls/buckets/"

# The proxy is never used for an address that names this host; 0.0.0.0 does not, and leads here as well.
plain=http://0.0.0.0:${S3_ENDPOINT##*:}
unset AWS_CA_BUNDLE http_proxy https_proxy HTTP_PROXY HTTPS_PROXY no_proxy NO_PROXY all_proxy ALL_PROXY

# ---- http
http_proxy=$proxy AWS_ENDPOINT_URL=$plain says 0 "complete" "http: through the proxy, with its password" verify "s3://flink/a/sp/$GOOD"
check "the proxy has seen it" seen "/flink/a/sp/$GOOD/_metadata"
: >"$RUN/log/proxy.log"
http_proxy=$proxy NO_PROXY=0.0.0.0 AWS_ENDPOINT_URL=$plain says 0 "complete" "NO_PROXY: past it" verify "s3://flink/a/sp/$GOOD"
http_proxy=$proxy AWS_ENDPOINT_URL=$S3_ENDPOINT says 0 "complete" "this host: past it, without NO_PROXY" verify "s3://flink/a/sp/$GOOD"
HTTP_PROXY=$proxy AWS_ENDPOINT_URL=$plain says 0 "complete" "HTTP_PROXY in capitals does not count" verify "s3://flink/a/sp/$GOOD"
check "the proxy has seen none of them" not seen "$GOOD"
http_proxy=http://drey:wrong@127.0.0.1:$PROXY_PORT AWS_ENDPOINT_URL=$plain says 4 "HTTP 401" "a wrong password: unreadable, and why" \
	verify "s3://flink/a/sp/$GOOD"
http_proxy=http://127.0.0.1:1 AWS_ENDPOINT_URL=$plain says 4 "127.0.0.1 port 1" "no proxy there: unreadable, and where" \
	verify "s3://flink/a/sp/$GOOD"
http_proxy=http://127.0.0.1:1 AWS_ENDPOINT_URL=$plain says 4 "HOLD" "resolve holds" resolve --explain --savepoints s3://flink/a/none

# ---- https, with the private CA
server_down minio
S3_SCHEME=https server_up minio "$RUN/tls"
export AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY
secure=https://0.0.0.0:${S3_ENDPOINT##*:}
export AWS_ENDPOINT_URL=$secure
hint="give the CA of this server in storage.s3.caFile or AWS_CA_BUNDLE"
says 4 "$hint" "a CA that is not known: unreadable, and where to give it" verify "s3://flink/a/sp/$GOOD"
AWS_CA_BUNDLE=$RUN/other.pem says 4 "$hint" "a wrong CA: the same" verify "s3://flink/a/sp/$GOOD"
AWS_CA_BUNDLE=$RUN/other.pem says 4 "HOLD" "resolve holds" resolve --explain --savepoints s3://flink/a/none
AWS_CA_BUNDLE=$RUN/gone.pem says 4 "$RUN/gone.pem" "a CA file that is not there is named" verify "s3://flink/a/sp/$GOOD"
AWS_CA_BUNDLE=$RUN/ca.pem says 0 "complete" "its own CA" verify "s3://flink/a/sp/$GOOD"
mkdir -p "$RUN/.aws"
printf '[profile jobs]\nca_bundle = %s\n' "$RUN/ca.pem" >"$RUN/.aws/config"
AWS_PROFILE=jobs says 0 "complete" "its own CA, from a profile" verify "s3://flink/a/sp/$GOOD"
: >"$RUN/log/proxy.log"
HTTPS_PROXY=$proxy AWS_CA_BUNDLE=$RUN/ca.pem says 0 "complete" "https: through a tunnel of the proxy" verify "s3://flink/a/sp/$GOOD"
check "the proxy has seen the tunnel" seen "CONNECT 0.0.0.0:${S3_ENDPOINT##*:}"
HTTPS_PROXY=$proxy AWS_CA_BUNDLE=$RUN/other.pem says 4 "$hint" "a wrong CA behind the tunnel" verify "s3://flink/a/sp/$GOOD"
HTTPS_PROXY=http://drey:wrong@127.0.0.1:$PROXY_PORT AWS_CA_BUNDLE=$RUN/ca.pem \
	says 4 "401" "a wrong password: unreadable, and why" verify "s3://flink/a/sp/$GOOD"

# ---- STS beside the store, through the same tunnel
cat >"$RUN/.aws/config" <<-END
	[profile jobs]
	role_arn = arn:minio:iam:::role/any
	source_profile = base
	[profile base]
	aws_access_key_id = $S3_ACCESS_KEY
	aws_secret_access_key = $S3_SECRET_KEY
END
unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
: >"$RUN/log/proxy.log"
AWS_PROFILE=jobs HTTPS_PROXY=$proxy AWS_CA_BUNDLE=$RUN/ca.pem says 0 "complete" "a role, through the tunnel and with the CA" \
	verify "s3://flink/a/sp/$GOOD"
AWS_PROFILE=jobs says 4 "$hint" "STS with a CA that is not known: where to give it" verify "s3://flink/a/sp/$GOOD"

no_secret "$S3_ACCESS_KEY" "$S3_SECRET_KEY" "$PROXY_PASSWORD"
e2e_end
