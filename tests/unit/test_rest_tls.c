/* TLS on Flink's REST API by Flink's own keys, against a real TLS server. */
#include "flink/rest_tls.h"

#include <openssl/pkcs12.h>
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "flink/rest.h"
#include "store_dir.h"
#include "tap.h"
#include "tls_stub.h"

#define LIMIT_MS 120000

/* A JobManager with a certificate of its own name, and Flink's configuration for that. */
struct rig {
	char *top;
	struct tls_identity ca, server, other;
	struct tls_stub stub;
	struct flink_conf conf;
	struct http_response response;
	struct err err;
};

static char *file_in(const struct rig *rig, const char *name)
{
	return xasprintf("%s/%s", rig->top, name);
}

/* `ca`: of whom it has the certificate only, in a truststore. */
static void write_pkcs12(const struct rig *rig, const char *name, const struct tls_identity *me,
			 const struct tls_identity *ca)
{
	cleanup_free char *path = file_in(rig, name);
	STACK_OF(X509) *others = sk_X509_new_null();
	FILE *file = fopen(path, "w");
	PKCS12 *store;

	if (ca)
		sk_X509_push(others, ca->cert);
	store = PKCS12_create("geheim", "flink", me ? me->key : NULL, me ? me->cert : NULL, others,
			      0, 0, 0, 0, 0);
	if (!file || !store || !i2d_PKCS12_fp(file, store) || fclose(file))
		abort();
	PKCS12_free(store);
	sk_X509_free(others);
}

static void set_file(struct rig *rig, const char *key, const char *name)
{
	cleanup_free char *path = file_in(rig, name);

	flink_conf_set(&rig->conf, key, path);
}

static void prepare(struct rig *rig, int days)
{
	memset(rig, 0, sizeof(*rig));
	rig->top = dir_new();
	rig->ca = tls_identity_new("test CA", NULL, NULL, 2);
	rig->server =
		tls_identity_new("orders-jobmanager", "DNS:orders-jobmanager", &rig->ca, days);
	rig->other = tls_identity_new("orders-jobmanager", NULL, NULL, 2);
	write_pkcs12(rig, "keys.p12", &rig->server, &rig->ca);
	write_pkcs12(rig, "trust.p12", NULL, &rig->ca);
	flink_conf_set(&rig->conf, "security.ssl.rest.enabled", "true");
	set_file(rig, "security.ssl.rest.keystore", "keys.p12");
	flink_conf_set(&rig->conf, "security.ssl.rest.keystore-password", "geheim");
	flink_conf_set(&rig->conf, "security.ssl.rest.key-password", "geheim");
	set_file(rig, "security.ssl.rest.truststore", "trust.p12");
	flink_conf_set(&rig->conf, "security.ssl.rest.truststore-password", "geheim");
}

static void rig_start(struct rig *rig)
{
	prepare(rig, 2);
	tls_stub_start(&rig->stub, &rig->server, NULL, TLS1_3_VERSION);
}

static void rig_stop(struct rig *rig)
{
	tls_stub_stop(&rig->stub);
	http_response_release(&rig->response);
	flink_conf_release(&rig->conf);
	tls_identity_release(&rig->ca);
	tls_identity_release(&rig->server);
	tls_identity_release(&rig->other);
	dir_removep(&rig->top);
}

static int ask(struct rig *rig, struct http *http)
{
	char url[FLINK_REST_URL_BYTES];
	struct http_request request = {
		.url = url, .timeout_ms = LIMIT_MS, .connect_timeout_ms = LIMIT_MS};

	flink_rest_url("127.0.0.1", rig->stub.port, true, url);
	rig->err = (struct err){0};
	return http_do(http, &request, &rig->response, &rig->err);
}

/* 0, and what the server says of whom it has seen; -1 with rig->err. */
static int reaches(struct rig *rig)
{
	struct rest_tls *tls = rest_tls_new(&rig->conf);
	struct http *http = rest_tls_http(tls, &rig->err);
	int rc = http ? ask(rig, http) : -1;

	http_free(http);
	rest_tls_free(tls);
	return rc;
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_start, rig_stop)

TEST(without_it_there_is_none)
{
	struct flink_conf conf = {0};

	CHECK(!rest_tls_new(&conf));
	flink_conf_set(&conf, "security.ssl.rest.enabled", "false");
	flink_conf_set(&conf, "security.ssl.enabled", "true");
	CHECK(!rest_tls_new(&conf));
	flink_conf_release(&conf);
}

/* The certificate is for orders-jobmanager, and drey asks 127.0.0.1. */
RIG_TEST(the_job_manager_is_trusted_by_its_truststore_whatever_its_name)
{
	CHECK_INT(reaches(rig), ==, 0);
	CHECK_STR(buf_str(&rig->response.body), "nobody");
	/* the keystore alone is enough: it is this JobManager's own */
	flink_conf_set(&rig->conf, "security.ssl.rest.truststore", NULL);
	CHECK_INT(reaches(rig), ==, 0);
}

RIG_TEST(the_keys_of_all_of_flink_are_taken_where_rest_has_none)
{
	struct flink_conf conf = {0};

	for (size_t i = 0; i < rig->conf.count; i++) {
		cleanup_free char *key =
			xasprintf("security.ssl%s", strrchr(rig->conf.entries[i].key, '.'));

		flink_conf_set(&conf, key, rig->conf.entries[i].value);
	}
	flink_conf_release(&rig->conf);
	rig->conf = conf;
	CHECK_STR(flink_conf_get(&conf, "security.ssl.enabled"), "true");
	CHECK_INT(reaches(rig), ==, 0);
}

RIG_TEST(another_server_is_not_trusted)
{
	struct tls_stub stub = {0};
	int port = rig->stub.port;

	tls_stub_start(&stub, &rig->other, NULL, TLS1_3_VERSION);
	rig->stub.port = stub.port;
	CHECK_INT(reaches(rig), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_DENIED);
	CHECK_INT(stub.requests, ==, 0);
	rig->stub.port = port;
	tls_stub_stop(&stub);
}

TEST(an_expired_certificate_is_not_trusted)
{
	struct rig rig;

	prepare(&rig, -1);
	tls_stub_start(&rig.stub, &rig.server, NULL, TLS1_3_VERSION);
	CHECK_INT(reaches(&rig), ==, -1);
	CHECK_INT(rig.err.kind, ==, ERR_DENIED);
	CHECK_HAS(rig.err.msg, "expired");
	rig_stop(&rig);
}

TEST(a_job_manager_that_wants_a_certificate_gets_that_of_the_keystore)
{
	struct rig rig;

	prepare(&rig, 2);
	tls_stub_start(&rig.stub, &rig.server, &rig.ca, TLS1_3_VERSION);
	CHECK(reaches(&rig) != 0); /* it asks for one */
	flink_conf_set(&rig.conf, "security.ssl.rest.authentication-enabled", "true");
	CHECK_INT(reaches(&rig), ==, 0);
	CHECK_STR(buf_str(&rig.response.body), "orders-jobmanager");
	/* a truststore of certificates only has nothing to show */
	set_file(&rig, "security.ssl.rest.keystore", "trust.p12");
	CHECK_INT(reaches(&rig), ==, -1);
	CHECK_INT(rig.err.kind, ==, ERR_CONFIG);
	CHECK_HAS(rig.err.msg, "security.ssl.rest.keystore has no private key");
	rig_stop(&rig);
}

RIG_TEST(what_cannot_be_read_is_named)
{
	flink_conf_set(&rig->conf, "security.ssl.rest.truststore-password", "secret-one");
	CHECK_INT(reaches(rig), ==, -1);
	CHECK_HAS(rig->err.msg, "security.ssl.rest.truststore: ");
	CHECK_HAS(rig->err.msg, "trust.p12: its password is another one");
	CHECK(!strstr(rig->err.msg, "secret-one"));
	set_file(rig, "security.ssl.rest.truststore", "nowhere");
	CHECK_INT(reaches(rig), ==, -1);
	CHECK_HAS(rig->err.msg, "nowhere");
	flink_conf_set(&rig->conf, "security.ssl.rest.truststore", NULL);
	flink_conf_set(&rig->conf, "security.ssl.rest.keystore", NULL);
	CHECK_INT(reaches(rig), ==, -1);
	CHECK_HAS(rig->err.msg, "neither security.ssl.rest.keystore nor");
}

/* The keystore is replaced while drey runs, and the JobManager has the new one. */
RIG_TEST(a_keystore_that_is_replaced_is_read_again)
{
	struct rest_tls *tls = rest_tls_new(&rig->conf);
	struct http *http = rest_tls_http(tls, &rig->err);
	struct tls_stub stub = {0};
	int port = rig->stub.port;

	CHECK_INT(ask(rig, http), ==, 0);
	CHECK(!rest_tls_renew(tls, http));
	tls_stub_start(&stub, &rig->other, NULL, TLS1_3_VERSION);
	rig->stub.port = stub.port;
	CHECK_INT(ask(rig, http), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_DENIED);
	write_pkcs12(rig, "keys.p12", &rig->other, NULL);
	CHECK(rest_tls_renew(tls, http));
	CHECK_INT(ask(rig, http), ==, 0);
	http_free(http);
	rest_tls_free(tls);
	rig->stub.port = port;
	tls_stub_stop(&stub);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN); /* the server's */
	return tap_main(argc, argv);
}
