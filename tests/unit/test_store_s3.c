#include "base/clock.h"
#include "s3_world.h"
#include "store_dir.h"

static void check_stat(struct world *world, const char *uri, int64_t size_bytes)
{
	struct store_stat stat = {.size_bytes = -1, .mtime_unix_ms = -1};

	world->err = (struct err){0};
	if (!CHECK_INT(store_stat(world->store, uri, &stat, &world->err), ==, 0))
		tap_note("%s", world->err.msg);
	CHECK_INT(stat.size_bytes, ==, size_bytes);
	CHECK_INT(stat.mtime_unix_ms, ==, S3_STUB_TIME_MS);
}

static void check_no_stat(struct world *world, const char *uri, enum err_kind kind, const char *why)
{
	struct store_stat stat;

	world->err = (struct err){0};
	CHECK_INT(store_stat(world->store, uri, &stat, &world->err), ==, -1);
	if (!CHECK_INT(world->err.kind, ==, kind))
		tap_note("%s", world->err.msg);
	CHECK_HAS(world->err.msg, why);
	check_hush(&world->err);
}

/* ---- single files ---- */

#define WORLD_TEST(name) TEST_WITH(name, struct world, world, begin, end)

WORLD_TEST(asks_with_a_signed_head)
{
	s3_stub_put(world->stub, "ck/a b+c%d~\xC3\xA9", 12);
	s3_stub_put(world->stub, "empty", 0);
	check_stat(world, "s3://b/ck/a b+c%d~\xC3\xA9", 12);
	CHECK_STR(buf_str(&world->stub->seen), "HEAD /b/ck/a%20b%2Bc%25d~%C3%A9\n");
	check_stat(world, "s3://b/empty", 0);
	check_no_stat(world, "s3://b", ERR_FORMAT, "is a bucket, not a file");
	CHECK_INT(s3_stub_requests(world->stub), ==, 2);
}

WORLD_TEST(signs_and_sends_a_session_token)
{
	cleanup_free char *names = NULL;

	store_close(world->store);
	world->config.s3.session_token = xstrdup("token/+=");
	world->stub->token = "token/+=";
	s3_stub_put(world->stub, "x", 1);
	CHECK_INT(store_open(&world->config, "s3a://b/", &world->store, NULL), ==, 0);
	check_stat(world, "s3a://b/x", 1);
	names = s3_stub_header(buf_str(&world->stub->last_head), "Authorization");
	CHECK_HAS(names, "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token");
	CHECK_INT(s3_stub_requests(world->stub), ==, 1);
}

WORLD_TEST(a_404_is_absence_only_with_the_document_of_s3)
{
	check_no_stat(world, "s3://b/none", ERR_ABSENT, "s3://b/none does not exist");
	CHECK_STR(buf_str(&world->stub->seen), "HEAD /b/none\nGET /b/none\n");
	CHECK_INT(s3_stub_requests(world->stub), ==, 2);
	/* an answer to HEAD has no body, so nothing in it is S3's */
	check_no_stat(world, "s3://b/none", ERR_ABSENT, "");
	CHECK_INT(s3_stub_requests(world->stub), ==, 2);
}

WORLD_TEST(a_bucket_that_is_not_there_is_no_absence)
{
	struct store_stream *stream;

	store_close(world->store);
	CHECK_INT(store_open(&world->config, "s3://other/", &world->store, NULL), ==, 0);
	check_no_stat(world, "s3://other/x", ERR_CONFIG,
		      "there is no bucket 'other': http://127.0.0.1:");
	CHECK_HAS(world->err.msg,
		  " (storage.s3.endpoint in drey.yaml): s3://other/x: HTTP 404 NoSuchBucket");
	check_no_list(world, "s3://other/ck", ERR_CONFIG, "there is no bucket 'other'");
	CHECK_INT(store_read_open(world->store, "s3://other/x", 0, &stream, &world->err), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_CONFIG);
}

static bool some_web_server(struct s3_stub *stub, const struct http_stub_request *request,
			    struct http_stub_answer *answer)
{
	(void)stub;
	(void)request;
	answer->status = 404;
	buf_addstr(&answer->headers, "Content-Type: text/html\r\n");
	buf_addstr(&answer->body, "<html><body>Not found</body></html>");
	return true;
}

WORLD_TEST(a_404_of_something_else_is_no_absence)
{
	set_fault(world, some_web_server);
	check_no_stat(world, "s3://b/x", ERR_CONFIG, "is the endpoint an S3 server?");
	check_no_list(world, "s3://b/x", ERR_CONFIG, "is the endpoint an S3 server?");
}

static bool archived(struct s3_stub *stub, const struct http_stub_request *request,
		     struct http_stub_answer *answer)
{
	static const char *const headers[] = {
		"x-amz-storage-class: GLACIER\r\n",
		"x-amz-storage-class: DEEP_ARCHIVE\r\nx-amz-restore: ongoing-request=\"true\"\r\n",
		"x-amz-storage-class: INTELLIGENT_TIERING\r\nx-amz-archive-status: ARCHIVE_ACCESS\r\n",
		"x-amz-storage-class: GLACIER\r\nx-amz-restore: ongoing-request=\"false\", "
		"expiry-date=\"Fri, 21 Dec 2029 00:00:00 GMT\"\r\n",
		"x-amz-storage-class: GLACIER_IR\r\n",
		"x-amz-storage-class: INTELLIGENT_TIERING\r\n",
	};

	(void)request;
	buf_addstr(&answer->headers, headers[stub->faults]);
	buf_addstr(&answer->body, "12345");
	return true;
}

WORLD_TEST(what_must_be_restored_first_is_archived)
{
	struct store_stat stat;

	set_fault(world, archived);
	for (int i = 0; i < 6; i++) {
		world->stub->faults = i;
		CHECK_INT(store_stat(world->store, "s3://b/x", &stat, &world->err), ==, 0);
		CHECK_INT(stat.archived, ==, i < 3);
	}
}

/* ---- refusals ---- */

WORLD_TEST(a_refusal_is_told_with_the_servers_words)
{
	set_fault(world, denied);
	check_no_stat(
		world, "s3://b/x", ERR_DENIED,
		"(storage.s3.endpoint in drey.yaml): s3://b/x: HTTP 403 AccessDenied: User x may not");
	check_no_list(world, "s3://b/ck", ERR_DENIED, "AccessDenied: User x may not");
}

static bool talkative(struct s3_stub *stub, const struct http_stub_request *request,
		      struct http_stub_answer *answer)
{
	static const char *const messages[] = {
		"<Message>hush-hush is wrong</Message>",
		"<Message>nobody knows AKTEST</Message>",
		"<Message>Signature=1</Message>",
		"<Message>Credential=other/20260301</Message>",
		"<Message>to/ken/long/token is wrong</Message>",
		"<Message>0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-"
		"0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-"
		"0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-"
		"0123456789-0123456789-to/ken/long/token</Message>", /* cut in the token */
	};

	(void)request;
	s3_stub_error(answer, 403, "SignatureDoesNotMatch", messages[stub->faults++]);
	return true;
}

WORLD_TEST(a_server_that_repeats_secrets_is_not_repeated)
{
	store_close(world->store);
	world->config.s3.session_token = xstrdup("to/ken/long/token");
	CHECK_INT(store_open(&world->config, "s3://b/", &world->store, NULL), ==, 0);
	set_fault(world, talkative);
	for (int i = 0; i < 6; i++) {
		check_no_list(world, "s3://b/x", ERR_DENIED, "s3://b/x/: HTTP 403");
		CHECK(!strstr(world->err.msg, "Credential") && !strstr(world->err.msg, "to/ken"));
	}
}

WORLD_TEST(wrong_keys_are_denied)
{
	world->stub->secret = "another one";
	check_no_stat(world, "s3://b/x", ERR_DENIED, "HTTP 403");
	check_no_list(world, "s3://b/x", ERR_DENIED, "HTTP 403");
}

/* ---- elsewhere ---- */

static bool moved(struct s3_stub *stub, const struct http_stub_request *request,
		  struct http_stub_answer *answer)
{
	(void)request;
	s3_stub_error(answer, 301, "PermanentRedirect",
		      "<Endpoint>b.s3.eu-west-1.amazonaws.com</Endpoint>");
	buf_addf(&answer->headers, "Location: %s/elsewhere?X-Amz-Signature=1\r\n", stub->url);
	if (stub->faults)
		buf_addstr(&answer->headers, "x-amz-bucket-region: eu-west-1\r\n");
	return true;
}

WORLD_TEST(a_redirect_is_told_and_not_followed)
{
	set_fault(world, moved);
	check_no_stat(world, "s3://b/x", ERR_CONFIG,
		      "/elsewhere, which drey does not follow: http://127.0.0.1:");
	CHECK_HAS(world->err.msg, "(storage.s3.endpoint in drey.yaml): s3://b/x: HTTP 301");
	check_no_list(world, "s3://b/x", ERR_CONFIG,
		      "use the endpoint 'b.s3.eu-west-1.amazonaws.com' for this bucket");
	world->stub->faults = 1;
	check_no_stat(world, "s3://b/x", ERR_CONFIG,
		      "the bucket is in the region 'eu-west-1', but 'us-east-1' is configured");
	check_no_list(world, "s3://b/x", ERR_CONFIG, "the bucket is in the region 'eu-west-1'");
	CHECK_INT(s3_stub_requests(world->stub), ==, 4);
}

static bool moved_to_secrets(struct s3_stub *stub, const struct http_stub_request *request,
			     struct http_stub_answer *answer)
{
	(void)request;
	s3_stub_error(answer, 301, "PermanentRedirect",
		      stub->faults ? "" : "<Endpoint>hush-hush</Endpoint>");
	if (stub->faults++)
		buf_addstr(&answer->headers, "Location: http://AKTEST:hush-hush@host/AKTEST\r\n");
	else
		buf_addstr(&answer->headers, "x-amz-bucket-region: AKTEST\r\n");
	return true;
}

WORLD_TEST(a_redirect_to_secrets_is_not_repeated)
{
	set_fault(world, moved_to_secrets);
	check_no_list(world, "s3://b/x", ERR_CONFIG, "the endpoint redirects, which drey does not");
	check_no_list(world, "s3://b/x", ERR_CONFIG, "the endpoint redirects, which drey does not");
}

static bool wrong_region(struct s3_stub *stub, const struct http_stub_request *request,
			 struct http_stub_answer *answer)
{
	(void)request;
	s3_stub_error(answer, 400, "AuthorizationHeaderMalformed",
		      "<Message>The region 'us-east-1' is wrong</Message>"
		      "<Region>eu-west-1</Region>");
	if (stub->faults)
		buf_addstr(&answer->headers, "x-amz-bucket-region: ap-south-1\r\n");
	return true;
}

TEST(a_wrong_region_is_named)
{
	struct world world;

	begin(&world);
	set_fault(&world, wrong_region);
	/* HEAD cannot tell it, so GET is asked */
	check_no_stat(&world, "s3://b/x", ERR_CONFIG, "the bucket is in the region 'eu-west-1'");
	check_no_list(&world, "s3://b/x", ERR_CONFIG, "the bucket is in the region 'eu-west-1'");
	end(&world);
	begin(&world);
	set_fault(&world, wrong_region);
	world.stub->faults = 1;
	check_no_stat(&world, "s3://b/x", ERR_CONFIG, "the bucket is in the region 'ap-south-1'");
	CHECK_INT(s3_stub_requests(world.stub), ==, 1);
	end(&world);
}

/* ---- what mends itself ---- */

TEST(a_wrong_clock_is_corrected_once)
{
	struct world world;

	for (int sign = -1; sign <= 1; sign += 2) {
		begin(&world);
		s3_stub_put(world.stub, "x", 1);
		world.stub->ahead_ms = sign * INT64_C(7200000);
		check_stat(&world, "s3://b/x", 1);
		CHECK_INT(s3_stub_requests(world.stub), <=, 3);
		check_stat(&world, "s3://b/x", 1);
		CHECK_INT(s3_stub_requests(world.stub), ==, 1);
		world.stub->ahead_ms = 0; /* and somebody has set it right */
		check_stat(&world, "s3://b/x", 1);
		end(&world);
	}
}

static bool always_skewed(struct s3_stub *stub, const struct http_stub_request *request,
			  struct http_stub_answer *answer)
{
	(void)stub;
	(void)request;
	s3_stub_error(answer, 403, "RequestTimeTooSkewed", "");
	s3_stub_date(answer, "Date", clock_unix_ms());
	return true;
}

WORLD_TEST(a_clock_that_cannot_be_corrected_is_denied)
{
	set_fault(world, always_skewed);
	check_no_list(world, "s3://b/x", ERR_DENIED, "RequestTimeTooSkewed");
	CHECK_INT(s3_stub_requests(world->stub), <=, 3);
}

/* The keys come from a file, which the stub writes anew when it has refused the old ones. */
static bool renewing(struct s3_stub *stub, const struct http_stub_request *request,
		     struct http_stub_answer *answer)
{
	cleanup_free char *token = s3_stub_header(request->head, "x-amz-security-token");
	FILE *file;

	if (token && !strcmp(token, "new"))
		return false;
	stub->faults++;
	file = fopen(getenv("AWS_SHARED_CREDENTIALS_FILE"), "w");
	fprintf(file,
		"[default]\naws_access_key_id = " S3_STUB_KEY "\naws_secret_access_key = "
		"%s\naws_session_token = new\n",
		S3_STUB_SECRET);
	fclose(file);
	s3_stub_error(answer, 400, "ExpiredToken",
		      "<Message>The provided token has expired.</Message>");
	return true;
}

TEST(expired_keys_are_fetched_anew)
{
	static const char old[] = "[default]\naws_access_key_id = AKOLD\n"
				  "aws_secret_access_key = x\naws_session_token = old\n";
	cleanup_dir char *top = dir_new();
	cleanup_free char *path = dir_path(top, "credentials");
	struct world world;

	begin(&world);
	store_close(world.store);
	xstrset(&world.config.s3.access_key, NULL);
	xstrset(&world.config.s3.secret_key, NULL);
	dir_put(top, "credentials", old, strlen(old));
	unsetenv("AWS_ACCESS_KEY_ID");
	unsetenv("AWS_SECRET_ACCESS_KEY");
	unsetenv("AWS_WEB_IDENTITY_TOKEN_FILE");
	unsetenv("AWS_PROFILE");
	setenv("AWS_SHARED_CREDENTIALS_FILE", path, 1);
	setenv("AWS_CONFIG_FILE", path, 1);
	s3_stub_put(world.stub, "x", 1);
	set_fault(&world, renewing);
	CHECK_INT(store_open(&world.config, "s3://b/", &world.store, NULL), ==, 0);
	check_stat(&world, "s3://b/x", 1);
	CHECK_INT(world.stub->faults, ==, 2); /* HEAD, and GET for the reason */
	CHECK_INT(s3_stub_requests(world.stub), ==, 3);
	check_stat(&world, "s3://b/x", 1);
	CHECK_INT(s3_stub_requests(world.stub), ==, 1);
	end(&world);
	unsetenv("AWS_SHARED_CREDENTIALS_FILE");
	unsetenv("AWS_CONFIG_FILE");
}

WORLD_TEST(expired_keys_without_others_are_denied)
{
	world->stub->token = "one that nobody has";
	check_no_list(world, "s3://b/x", ERR_DENIED,
		      "HTTP 400 ExpiredToken: The provided token has expired.");
	CHECK_INT(s3_stub_requests(world->stub), ==, 1);
}

static bool busy_twice(struct s3_stub *stub, const struct http_stub_request *request,
		       struct http_stub_answer *answer)
{
	static const struct {
		int status;
		const char *code;
	} says[] = {{503, "SlowDown"}, {400, "RequestTimeout"}};

	(void)request;
	if (stub->faults >= (int)ARRAY_LEN(says))
		return false;
	s3_stub_error(answer, says[stub->faults].status, says[stub->faults].code, "");
	stub->faults++;
	return true;
}

static bool always_busy(struct s3_stub *stub, const struct http_stub_request *request,
			struct http_stub_answer *answer)
{
	(void)stub;
	(void)request;
	s3_stub_error(answer, 503, "SlowDown",
		      "<Message>Please reduce your request rate.</Message>");
	return true;
}

WORLD_TEST(a_busy_store_is_asked_again_and_not_for_ever)
{
	struct store_stream *stream;

	s3_stub_put(world->stub, "x", 1);
	set_fault(world, busy_twice);
	if (CHECK_INT(store_read_open(world->store, "s3://b/x", 0, &stream, &world->err), ==, 0))
		store_read_close(stream);
	CHECK_INT(s3_stub_requests(world->stub), ==, 3);
	set_fault(world, always_busy);
	check_no_list(
		world, "s3://b/x", ERR_RETRY,
		"gave up after 5 attempts, the last one: s3://b/x/: HTTP 503 SlowDown: Please");
	CHECK_INT(s3_stub_requests(world->stub), ==, 5);
}

WORLD_TEST(a_file_that_is_not_there_cannot_be_read)
{
	struct store_stream *stream;

	CHECK_INT(store_read_open(world->store, "s3://b/none", 0, &stream, &world->err), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_ABSENT);
	CHECK_HAS(world->err.msg, "s3://b/none: HTTP 404 NoSuchKey");
	CHECK(!strstr(world->err.msg, "drey.yaml")); /* the endpoint is right */
	CHECK_INT(store_read_open(world->store, "s3://b", 0, &stream, &world->err), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_FORMAT);
}

WORLD_TEST(a_server_that_does_not_answer_is_named_with_its_setting)
{
	struct store_stat stat;

	store_close(world->store);
	xstrset(&world->config.s3.endpoint, "http://127.0.0.1:1");
	xstrset(&world->config.s3.endpoint_from, "s3.endpoint in config.yaml");
	CHECK_INT(store_open(&world->config, "s3://b/", &world->store, NULL), ==, 0);
	CHECK_INT(store_stat(world->store, "s3://b/x", &stat, &world->err), ==, -1);
	CHECK_HAS(world->err.msg,
		  "http://127.0.0.1:1 (s3.endpoint in config.yaml): HEAD http://127.0.0.1:1/b/x: ");
}

TEST(a_store_without_bucket_or_with_a_bad_endpoint_is_not_opened)
{
	struct store_config config = {.s3.endpoint = xstrdup("http://user:hush-hush@host")};
	struct err err = {0};
	struct store *store;

	CHECK_INT(store_open(&config, "s3://b/", &store, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	check_hush(&err);
	CHECK_INT(store_open(NULL, "s3:///ck", &store, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	store_config_release(&config);
}

/* ---- delete ---- */

/* Without an answer of its own the stub says 404 for what is not there. */
static bool deletes_some(struct s3_stub *stub, const struct http_stub_request *request,
			 struct http_stub_answer *answer)
{
	if (strcmp(request->method, "DELETE") != 0)
		return false;
	if (strstr(request->target, "/kept"))
		s3_stub_error(answer, 403, "AccessDenied", "");
	else if (strstr(request->target, "/busy") && stub->faults++ < 2)
		s3_stub_error(answer, 503, "SlowDown", "");
	else if (strstr(request->target, "/none"))
		return false;
	else
		answer->status = 204;
	return true;
}

static const char *deletion(void *ctx, size_t index)
{
	static const char *const uris[] = {"s3://b/ck/kept", "s3://b/ck/busy", "s3://b/ck/none",
					   "s3://b/ck/gone", "s3://b",         "s3://other/x"};

	(void)ctx;
	return uris[index];
}

static int on_deletion(void *ctx, size_t index, const struct err *why, struct err *err)
{
	static const enum err_kind kinds[] = {ERR_DENIED, ERR_NONE,   ERR_NONE,
					      ERR_NONE,   ERR_FORMAT, ERR_CONFIG};

	(void)ctx;
	(void)err;
	if (!CHECK_INT(why ? why->kind : ERR_NONE, ==, kinds[index]) && why)
		tap_note("%s", why->msg);
	return 0;
}

WORLD_TEST(a_file_that_may_not_be_deleted_is_said_and_others_are_deleted)
{
	set_fault(world, deletes_some);
	CHECK_INT(store_delete_many(world->store, deletion, 6, on_deletion, NULL, &world->err), ==,
		  0);
	CHECK_HAS(buf_str(&world->stub->seen), "DELETE /b/ck/gone\n");
	CHECK(!strstr(buf_str(&world->stub->seen), "DELETE /b\n"));
}
