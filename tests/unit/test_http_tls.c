#include "base/http.h"

#include <signal.h>

#include "base/fs.h"
#include "base/mem.h"
#include "store_dir.h"
#include "tap.h"
#include "tls_stub.h"

#define LIMIT_MS 120000 /* to read all CAs of the system takes a while under valgrind */

/* A CA, a server that it vouches for, and what a client needs in a directory. */
struct rig {
	char *top, *ca_file, *other_ca_file, *cert_file, *key_file;
	struct tls_identity ca, other_ca, server, client;
	struct tls_stub stub;
	struct http_response response;
	struct err err;
};

static char *file_in(const char *top, const char *name)
{
	return xasprintf("%s/%s", top, name);
}

/* The server's certificate is for `san` and ends in so many days. */
static void rig_prepare(struct rig *rig, const char *san, int days)
{
	memset(rig, 0, sizeof(*rig));
	rig->top = dir_new();
	rig->ca_file = file_in(rig->top, "ca.pem");
	rig->other_ca_file = file_in(rig->top, "other-ca.pem");
	rig->cert_file = file_in(rig->top, "client.pem");
	rig->key_file = file_in(rig->top, "client.key");
	rig->ca = tls_identity_new("test CA", NULL, NULL, 2);
	rig->other_ca = tls_identity_new("another CA", NULL, NULL, 2);
	rig->server = tls_identity_new("server", san, &rig->ca, days);
	rig->client = tls_identity_new("client 7", NULL, &rig->ca, 2);
	tls_write_cert(&rig->ca, rig->ca_file);
	tls_write_cert(&rig->other_ca, rig->other_ca_file);
	tls_write_cert(&rig->client, rig->cert_file);
	tls_write_key(&rig->client, rig->key_file);
}

static void rig_start(struct rig *rig)
{
	rig_prepare(rig, "IP:127.0.0.1", 2);
	tls_stub_start(&rig->stub, &rig->server, NULL, TLS1_3_VERSION);
}

static void rig_stop(struct rig *rig)
{
	tls_stub_stop(&rig->stub);
	http_response_release(&rig->response);
	tls_identity_release(&rig->ca);
	tls_identity_release(&rig->other_ca);
	tls_identity_release(&rig->server);
	tls_identity_release(&rig->client);
	free(rig->ca_file);
	free(rig->other_ca_file);
	free(rig->cert_file);
	free(rig->key_file);
	dir_removep(&rig->top);
}

static int get(struct rig *rig, struct http *http)
{
	cleanup_free char *url = xasprintf("https://127.0.0.1:%d/", rig->stub.port);
	struct http_request request = {
		.url = url, .timeout_ms = LIMIT_MS, .connect_timeout_ms = LIMIT_MS};

	rig->err = (struct err){0};
	return http_do(http, &request, &rig->response, &rig->err);
}

static int get_with(struct rig *rig, const struct http_config *config)
{
	struct http *http = http_new(config, NULL);
	int rc = get(rig, http);

	http_free(http);
	return rc;
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_start, rig_stop)

RIG_TEST(a_server_of_the_given_ca_is_trusted)
{
	struct http_config config = {0};

	config.ca_file = rig->ca_file;
	CHECK_INT(get_with(rig, &config), ==, 0);
	CHECK_INT(rig->response.status, ==, 200);
	CHECK_STR(buf_str(&rig->response.body), "nobody");
}

RIG_TEST(a_server_of_an_unknown_ca_is_denied)
{
	struct http_config config = {0};

	CHECK_INT(get_with(rig, NULL), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_DENIED);
	CHECK_HAS(rig->err.msg, "GET https://127.0.0.1:");
	CHECK_HAS(rig->err.msg, "certificate");
	config.ca_file = rig->other_ca_file;
	CHECK_INT(get_with(rig, &config), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_DENIED);
	CHECK_INT(rig->stub.requests, ==, 0);
}

#define SETTING "; give the CA of this server in storage.s3.caFile"

RIG_TEST(an_unknown_ca_is_told_with_the_place_for_it)
{
	struct http_config config = {.ca_setting = "storage.s3.caFile"};

	CHECK_INT(get_with(rig, &config), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_DENIED);
	CHECK_HAS(rig->err.msg, "certificate");
	CHECK_HAS(rig->err.msg, SETTING);
	config.ca_file = rig->other_ca_file;
	CHECK_INT(get_with(rig, &config), ==, -1);
	CHECK_HAS(rig->err.msg, SETTING);
}

TEST(a_certificate_for_another_host_is_denied)
{
	static const char *const sans[] = {"IP:127.0.0.2", "DNS:localhost", NULL};

	for (size_t i = 0; i < ARRAY_LEN(sans); i++) {
		struct rig rig;
		struct http_config config = {0};

		rig_prepare(&rig, sans[i], 2);
		tls_stub_start(&rig.stub, &rig.server, NULL, TLS1_3_VERSION);
		config.ca_file = rig.ca_file;
		config.ca_setting = "storage.s3.caFile";
		CHECK_INT(get_with(&rig, &config), ==, -1);
		CHECK_INT(rig.err.kind, ==, ERR_DENIED);
		CHECK(!strstr(rig.err.msg, "caFile")); /* another CA would be no help */
		CHECK_INT(rig.stub.requests, ==, 0);
		rig_stop(&rig);
	}
}

TEST(a_certificate_that_has_ended_is_denied)
{
	struct rig rig;
	struct http_config config = {0};

	rig_prepare(&rig, "IP:127.0.0.1", -1);
	tls_stub_start(&rig.stub, &rig.server, NULL, TLS1_3_VERSION);
	config.ca_file = rig.ca_file;
	config.ca_setting = "storage.s3.caFile";
	CHECK_INT(get_with(&rig, &config), ==, -1);
	CHECK_INT(rig.err.kind, ==, ERR_DENIED);
	CHECK_HAS(rig.err.msg, "expired");
	CHECK(!strstr(rig.err.msg, "caFile"));
	rig_stop(&rig);
}

RIG_TEST(a_person_may_leave_a_certificate_unchecked)
{
	struct http_config config = {.no_verify = true};

	CHECK_INT(get_with(rig, &config), ==, 0);
	config.ca_file = rig->ca_file;
	CHECK(!http_new(&config, &rig->err));
	CHECK_INT(rig->err.kind, ==, ERR_CONFIG);
}

TEST(a_server_that_wants_to_know_the_client_is_told)
{
	static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};

	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct rig rig;
		struct http_config config = {0};

		rig_prepare(&rig, "IP:127.0.0.1", 2);
		tls_stub_start(&rig.stub, &rig.server, &rig.ca, versions[i]);
		config.ca_file = rig.ca_file;
		CHECK_INT(get_with(&rig, &config), ==, -1);
		CHECK_INT(rig.stub.requests, ==, 0);
		config.cert_file = rig.cert_file;
		config.key_file = rig.key_file;
		CHECK_INT(get_with(&rig, &config), ==, 0);
		CHECK_STR(buf_str(&rig.response.body), "client 7");
		rig_stop(&rig);
	}
}

RIG_TEST(unusable_files_are_a_mistake_of_the_configuration)
{
	struct http_config config = {0};

	config.ca_file = "/nonexistent/ca.pem";
	CHECK_INT(get_with(rig, &config), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_CONFIG);
	config.ca_file = rig->ca_file;
	config.cert_file = rig->ca_file; /* not the certificate of that key */
	config.key_file = rig->key_file;
	CHECK_INT(get_with(rig, &config), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_CONFIG);
	CHECK_INT(rig->stub.requests, ==, 0);
}

RIG_TEST(a_ca_file_that_is_replaced_counts_from_the_next_connection_on)
{
	struct http_config config = {0};
	struct http *http;

	rig->stub.close_each = true;
	config.ca_file = rig->ca_file;
	http = http_new(&config, NULL);
	CHECK_INT(get(rig, http), ==, 0);
	tls_write_cert(&rig->other_ca, rig->ca_file);
	CHECK_INT(get(rig, http), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_DENIED);
	tls_write_cert(&rig->ca, rig->ca_file);
	CHECK_INT(get(rig, http), ==, 0);
	http_free(http);
}

/* ---- many ---- */

struct many {
	char *url;
	int begun, good;
};

static int next(void *ctx, struct http_request *ret_request, void **ret_tag, int64_t *ret_wait_ms,
		struct err *err)
{
	struct many *many = ctx;

	(void)ret_tag;
	(void)ret_wait_ms;
	(void)err;
	*ret_request = (struct http_request){
		.url = many->url, .timeout_ms = LIMIT_MS, .connect_timeout_ms = LIMIT_MS};
	return many->begun++ < 200;
}

static int done(void *ctx, void *tag, const struct http_response *response, const struct err *why,
		struct err *err)
{
	struct many *many = ctx;

	(void)tag;
	(void)err;
	many->good += !why && response->status == 200;
	return 0;
}

RIG_TEST(connections_are_kept_here_too)
{
	struct http_config config = {0};
	struct many many = {0};
	struct http_many calls = {.in_flight = 8, .next = next, .done = done, .ctx = &many};
	struct http *http;

	config.ca_file = rig->ca_file;
	http = http_new(&config, NULL);
	many.url = xasprintf("https://127.0.0.1:%d/", rig->stub.port);
	CHECK_INT(get(rig, http), ==, 0);
	CHECK_INT(http_many(http, &calls, NULL), ==, 0);
	CHECK_INT(get(rig, http), ==, 0);
	CHECK_INT(many.good, ==, 200);
	CHECK_INT(rig->stub.requests, ==, 202);
	CHECK_INT(rig->stub.connections, <=, 8);
	http_free(http);
	free(many.url);
}

static char *text_of(const char *path)
{
	struct buf text = BUF_INIT;

	if (fs_read(path, 1u << 20, &text, NULL))
		abort();
	return buf_steal(&text);
}

TEST(certificates_may_be_in_memory)
{
	struct rig rig;
	struct http_config config = {0};
	cleanup_free char *ca = NULL, *other = NULL, *cert = NULL, *key = NULL;

	rig_prepare(&rig, "IP:127.0.0.1", 2);
	tls_stub_start(&rig.stub, &rig.server, &rig.ca, TLS1_3_VERSION);
	config.ca_pem = ca = text_of(rig.ca_file);
	config.cert_pem = cert = text_of(rig.cert_file);
	config.key_pem = key = text_of(rig.key_file);
	CHECK_INT(get_with(&rig, &config), ==, 0);
	CHECK_STR(buf_str(&rig.response.body), "client 7");
	config.ca_pem = other = text_of(rig.other_ca_file);
	CHECK_INT(get_with(&rig, &config), ==, -1);
	CHECK_INT(rig.err.kind, ==, ERR_DENIED);
	rig_stop(&rig);
}

TEST(certificates_that_contradict_each_other_are_refused)
{
	static const struct http_config configs[] = {
		{.ca_file = "a", .ca_pem = "a"},
		{.cert_pem = "a"},
		{.key_pem = "a"},
		{.cert_file = "a", .key_file = "a", .cert_pem = "a", .key_pem = "a"},
	};

	for (size_t i = 0; i < ARRAY_LEN(configs); i++) {
		struct err err = {0};

		CHECK(!http_new(&configs[i], &err));
		CHECK_INT(err.kind, ==, ERR_CONFIG);
	}
}

TEST(the_certificate_may_have_another_name_than_the_host)
{
	struct rig rig;
	struct http_config config = {0};

	rig_prepare(&rig, "DNS:kubernetes.default.svc", 2);
	tls_stub_start(&rig.stub, &rig.server, NULL, TLS1_3_VERSION);
	config.ca_file = rig.ca_file;
	CHECK_INT(get_with(&rig, &config), ==, -1);
	CHECK_INT(rig.err.kind, ==, ERR_DENIED);
	config.tls_name = "kubernetes.default.svc";
	CHECK_INT(get_with(&rig, &config), ==, 0);
	CHECK_INT(rig.response.status, ==, 200);
	config.tls_name = "kubernetes.other.svc";
	CHECK_INT(get_with(&rig, &config), ==, -1);
	CHECK_INT(rig.err.kind, ==, ERR_DENIED);
	CHECK_HAS(rig.err.msg, "GET https://127.0.0.1:");
	config.tls_name = "a b/c";
	CHECK_INT(get_with(&rig, &config), ==, -1);
	CHECK_INT(rig.err.kind, ==, ERR_CONFIG);
	rig_stop(&rig);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN); /* the server's */
	return tap_main(argc, argv);
}
