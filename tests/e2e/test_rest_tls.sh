#!/usr/bin/env bash
#
# TLS on Flink's REST API, by Flink's own keys: a PKCS12 keystore and truststore, then mutual TLS by JKS with a password of the key.
# The job is proven, survives its JobManager, takes a savepoint, is stopped and goes on; a wrong password is named by drey check.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119,SC2317 # optional arguments; functions that check calls
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

stores() { # TYPE KEY_PASSWORD: $RUN/keys and $RUN/trust
	rm -f "$RUN/keys" "$RUN/trust" "$RUN/own.pem"
	keytool -genkeypair -alias rest -keyalg RSA -keysize 2048 -dname CN=orders-jobmanager -validity 2 \
		-storetype "$1" -keystore "$RUN/keys" -storepass geheim1 -keypass "$2" &&
		keytool -exportcert -rfc -alias rest -keystore "$RUN/keys" -storepass geheim1 -file "$RUN/own.pem" &&
		keytool -importcert -noprompt -alias rest -file "$RUN/own.pem" -storetype "$1" -keystore "$RUN/trust" -storepass geheim2 &&
		keytool -importkeystore -noprompt -srckeystore "$RUN/keys" -srcstorepass geheim1 -srckeypass "$2" -srcalias rest \
			-destkeystore "$RUN/own.p12" -deststoretype PKCS12 -deststorepass geheim1 -destkeypass geheim1
} >>"$RUN/log/keytool.log" 2>&1

tls_conf() { # KEY_PASSWORD MUTUAL
	sed -i '/^security[.]ssl/d' "$RUN/conf/config.yaml"
	cat >>"$RUN/conf/config.yaml" <<-YAML
		security.ssl.rest.enabled: true
		security.ssl.rest.keystore: $RUN/keys
		security.ssl.rest.keystore-password: geheim1
		security.ssl.rest.key-password: $1
		security.ssl.rest.truststore: $RUN/trust
		security.ssl.rest.truststore-password: geheim2
		security.ssl.rest.authentication-enabled: $2
	YAML
}

e2e_begin rest-tls
check "a PKCS12 keystore is made" stores PKCS12 geheim1
tls_conf geheim1 false
REST_SCHEME=https REST_CURL=(--insecure)
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
await "its first checkpoint proves the launch" status_is .launch.proven
check "Flink speaks TLS" job_runs
check "and plain HTTP is sent there" \
	grep -qx '30[1278]' <(curl --silent --output /dev/null --write-out '%{http_code}\n' "http://127.0.0.1:$REST_PORT/config")
check "drey status --vertices asks Flink itself" drey status --vertices
job=$(status .jobId)
location=$(drey savepoint 2>>"$RUN/log/cli.log")
check "a savepoint is taken" verify "$location"
kill -KILL "$(jm_pid)"
await "JobManager killed: the job runs again" runs_after "$job"
check "and never went back to something older" never_older
check "it is stopped with a savepoint" drey suspend
end_drey TERM
await "drey has ended" drey_has_ended

# ---- mutual TLS, JKS, a password of its own for the key
check "a JKS keystore is made" stores JKS geheim3
tls_conf wrong-one true
refuses_the_password() {
	! drey check >"$RUN/said" 2>&1
}
check "drey check refuses a wrong password" refuses_the_password
check "by the key, the file and the reason" grep -q "security.ssl.rest.keystore: $RUN/keys: the password of its key is another one" "$RUN/said"
check "without a password" eval '! grep -qE "geheim|wrong-one" "$RUN/said"'
tls_conf geheim3 true
REST_CURL=(--insecure --cert-type P12 --cert "$RUN/own.p12:geheim1")
start_drey
await "drey is there" phase_is Suspended
check "the job is resumed" drey resume
await "it runs" phase_is Running
await "and is proven" status_is .launch.proven
without_a_certificate() {
	local REST_CURL=(--insecure)
	! rest config 2>/dev/null
}
check "Flink wants a certificate" without_a_certificate
continuity
e2e_end
