/*
 * One small object as a whole, in the stores that drey itself writes: local files, S3, Swift. With a condition
 * where the store has them. tests/servers/ tests with real ones.
 */
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "s3_world.h"
#include "store/store_object.h"
#include "store/uri.h"
#include "store_dir.h"

static struct store_object object_of(const char *text, const char *etag)
{
	struct store_object object = {.body = BUF_INIT};

	buf_addstr(&object.body, text);
	snprintf(object.etag, sizeof(object.etag), "%s", etag);
	return object;
}

static int put_text(struct store *store, const char *uri, size_t kept, const char *text, char *etag,
		    struct err *err)
{
	struct store_object object = object_of(text, etag);
	int rc = store_object_put(store, uri, kept, &object, 5000, etag, err);

	buf_release(&object.body);
	return rc;
}

TEST(base64_is_as_in_the_rfc)
{
	static const char *const pairs[][2] = {
		{"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
		{"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}};

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		cleanup_buf struct buf text = BUF_INIT;

		base64_encode(pairs[i][0], strlen(pairs[i][0]), &text);
		CHECK_STR(buf_str(&text), pairs[i][1]);
	}
}

TEST(which_stores_drey_writes)
{
	CHECK(store_object_is_writable("file:///x"));
	CHECK(store_object_is_writable("/x"));
	CHECK(store_object_is_writable("s3://b/x"));
	CHECK(store_object_is_writable("s3a://b/x"));
	CHECK(store_object_is_writable("swift://c.s/x"));
	CHECK(!store_object_is_writable("hdfs://nn/x"));
	CHECK(!store_object_is_writable("gs://b/x"));
	CHECK(!store_object_is_writable("nonsense"));
}

/* ---- files ---- */

struct files {
	char *top, *uri;
	struct store *store;
	char etag[STORE_ETAG_BYTES];
	struct err err;
};

static void files_begin(struct files *f)
{
	*f = (struct files){.top = dir_new()};
	f->uri = xasprintf("file://%s/.drey/orders/journal.json", f->top);
	CHECK_INT(store_open(NULL, f->uri, &f->store, NULL), ==, 0);
}

static void files_end(struct files *f)
{
	store_close(f->store);
	dir_removep(&f->top);
	free(f->uri);
}

static size_t kept_of(const struct files *f)
{
	return strlen("file://") + strlen(f->top);
}

TEST(a_file_is_made_with_its_directories_and_replaced)
{
	struct files f;
	struct store_object seen = {.body = BUF_INIT};

	files_begin(&f);
	CHECK_INT(store_object_read(f.store, f.uri, 5000, &seen, &f.err), ==, -1);
	CHECK_INT(f.err.kind, ==, ERR_ABSENT);
	CHECK_INT(put_text(f.store, f.uri, kept_of(&f), "one", f.etag, &f.err), ==, 0);
	CHECK_INT(put_text(f.store, f.uri, kept_of(&f), "two", f.etag, &f.err), ==, 0);
	CHECK_INT(store_object_read(f.store, f.uri, 5000, &seen, &f.err), ==, 0);
	CHECK_STR(buf_str(&seen.body), "two");
	CHECK_STR(seen.etag, f.etag);
	buf_release(&seen.body);
	files_end(&f);
}

TEST(a_file_that_has_changed_is_not_replaced)
{
	struct files f;
	char other[STORE_ETAG_BYTES] = "";

	files_begin(&f);
	CHECK_INT(put_text(f.store, f.uri, kept_of(&f), "one", f.etag, &f.err), ==, 0);
	CHECK_INT(put_text(f.store, f.uri, kept_of(&f), "two", other, &f.err), ==, -1);
	CHECK_INT(f.err.kind, ==, ERR_BUSY);
	snprintf(other, sizeof(other), "%s", f.etag);
	CHECK_INT(put_text(f.store, f.uri, kept_of(&f), "three", other, &f.err), ==, 0);
	CHECK_INT(put_text(f.store, f.uri, kept_of(&f), "four", f.etag, &f.err), ==, -1);
	CHECK_INT(f.err.kind, ==, ERR_BUSY);
	files_end(&f);
}

/* What would be written there lies under the mount point, and is gone when the volume comes. */
TEST(a_volume_that_is_not_mounted_is_not_written_to)
{
	struct files f;
	cleanup_free char *uri = NULL;

	files_begin(&f);
	uri = xasprintf("file://%s/volume/.drey/orders/journal.json", f.top);
	CHECK_INT(put_text(f.store, uri, kept_of(&f) + strlen("/volume"), "one", f.etag, &f.err),
		  ==, -1);
	CHECK_INT(f.err.kind, ==, ERR_RETRY);
	CHECK_HAS(f.err.msg, "/volume does not exist");
	files_end(&f);
}

/* ---- S3 ---- */

#define KEY_URI "s3://b/ck/.drey/orders/journal.json"

static struct {
	char head[4096], body[64];
	int puts, plain;
} asked;

static bool takes(struct s3_stub *stub, const struct http_stub_request *request,
		  struct http_stub_answer *answer)
{
	if (strcmp(request->method, "PUT") != 0)
		return false;
	if (!s3_stub_may(stub, request, answer)) /* it is not signed as it has to be */
		return true;
	asked.puts++;
	asked.plain +=
		!strstr(request->head, "If-Match") && !strstr(request->head, "If-None-Match");
	snprintf(asked.head, sizeof(asked.head), "%s", request->head);
	snprintf(asked.body, sizeof(asked.body), "%.*s", (int)request->body_len_bytes,
		 request->body);
	buf_addf(&answer->headers, "ETag: \"e%d\"\r\n", asked.puts);
	return true;
}

static bool knows_no_conditions(struct s3_stub *stub, const struct http_stub_request *request,
				struct http_stub_answer *answer)
{
	if (strcmp(request->method, "PUT") == 0 &&
	    (strstr(request->head, "If-Match") || strstr(request->head, "If-None-Match"))) {
		asked.puts++;
		answer->status = 501;
		buf_addstr(&answer->body, "<Error><Code>NotImplemented</Code></Error>");
		return true;
	}
	return takes(stub, request, answer);
}

static bool has_changed(struct s3_stub *stub, const struct http_stub_request *request,
			struct http_stub_answer *answer)
{
	(void)stub, (void)request;
	answer->status = 412;
	return true;
}

TEST(an_object_is_put_with_a_condition_and_a_checksum)
{
	struct world world;
	char etag[STORE_ETAG_BYTES] = "";

	memset(&asked, 0, sizeof(asked));
	begin(&world);
	set_fault(&world, takes);
	CHECK_INT(put_text(world.store, KEY_URI, 9, "one", etag, &world.err), ==, 0);
	CHECK_STR(etag, "\"e1\"");
	CHECK_HAS(asked.head, "If-None-Match: *");
	/* a bucket with object lock takes nothing without; this is `printf one | sha256sum` in base64 */
	CHECK_HAS(asked.head,
		  "x-amz-checksum-sha256: dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=");
	CHECK_STR(asked.body, "one");
	CHECK_INT(put_text(world.store, KEY_URI, 9, "two", etag, &world.err), ==, 0);
	CHECK_HAS(asked.head, "If-Match: \"e1\"");
	CHECK_INT(asked.puts, ==, 2);
	end(&world);
}

TEST(a_server_without_conditions_is_written_without)
{
	struct world world;
	char etag[STORE_ETAG_BYTES] = "";

	memset(&asked, 0, sizeof(asked));
	begin(&world);
	set_fault(&world, knows_no_conditions);
	CHECK_INT(put_text(world.store, KEY_URI, 9, "one", etag, &world.err), ==, 0);
	CHECK_INT(asked.puts, ==, 2);
	CHECK_INT(asked.plain, ==, 1);
	CHECK_INT(put_text(world.store, KEY_URI, 9, "two", etag, &world.err), ==, 0);
	CHECK_INT(asked.puts, ==, 3);
	end(&world);
}

TEST(an_object_that_has_changed_is_not_replaced)
{
	struct world world;
	char etag[STORE_ETAG_BYTES] = "\"e7\"";

	begin(&world);
	set_fault(&world, has_changed);
	CHECK_INT(put_text(world.store, KEY_URI, 9, "one", etag, &world.err), ==, -1);
	CHECK_INT(world.err.kind, ==, ERR_BUSY);
	end(&world);
}

TEST(a_bucket_that_refuses_the_write_says_so)
{
	struct world world;
	char etag[STORE_ETAG_BYTES] = "";

	begin(&world);
	set_fault(&world, denied);
	CHECK_INT(put_text(world.store, KEY_URI, 9, "one", etag, &world.err), ==, -1);
	CHECK_INT(world.err.kind, ==, ERR_DENIED);
	check_hush(&world.err);
	end(&world);
}

/* ---- conditional writes: the lease ---- */

#define LEASE_URI "s3://b/lease.json"

/* A server that has one object more, with a tag of its own for each write. What it ignores is set by the test. */
static struct {
	bool exists, ignores_match, ignores_none_match, has_no_tag;
	int writes, conflicts;
	char etag[64], body[64];
} shared;

static bool is_required(const struct http_stub_request *request)
{
	cleanup_free char *match = s3_stub_header(request->head, "If-Match");
	cleanup_free char *none = s3_stub_header(request->head, "If-None-Match");

	if (match && !shared.ignores_match)
		return shared.exists && !strcmp(match, shared.etag);
	return !none || shared.ignores_none_match || !shared.exists;
}

static bool shares(struct s3_stub *stub, const struct http_stub_request *request,
		   struct http_stub_answer *answer)
{
	if (!strcmp(request->method, "GET") && !shared.exists)
		return false; /* the stub has none */
	if (!s3_stub_may(stub, request, answer))
		return true;
	if (!strcmp(request->method, "GET")) {
		buf_addf(&answer->headers, "ETag: %s\r\n", shared.etag);
		buf_addstr(&answer->body, shared.body);
		return true;
	}
	if (!is_required(request)) {
		shared.conflicts++;
		s3_stub_error(answer, 412, "PreconditionFailed", "");
		return true;
	}
	shared.exists = true;
	snprintf(shared.etag, sizeof(shared.etag), "\"w%d\"", ++shared.writes);
	snprintf(shared.body, sizeof(shared.body), "%.*s", (int)request->body_len_bytes,
		 request->body);
	if (!shared.has_no_tag)
		buf_addf(&answer->headers, "ETag: %s\r\n", shared.etag);
	return true;
}

static void share(struct world *world)
{
	memset(&shared, 0, sizeof(shared));
	begin(world);
	set_fault(world, shares);
}

static int write_text(struct world *world, const char *text, char *etag)
{
	struct store_object object = object_of(text, etag);
	int rc = store_object_write(world->store, LEASE_URI, &object, 5000, etag, &world->err);

	buf_release(&object.body);
	return rc;
}

TEST(a_conditional_write_returns_the_tag_that_the_next_one_needs)
{
	struct world world;
	struct store_object seen = {.body = BUF_INIT};
	char etag[STORE_ETAG_BYTES] = "";

	share(&world);
	CHECK_INT(write_text(&world, "one", etag), ==, 0);
	CHECK_STR(etag, "\"w1\"");
	for (int i = 2; i < 5; i++) {
		CHECK_INT(write_text(&world, "again", etag), ==, 0);
		CHECK_STR(etag, shared.etag);
	}
	CHECK_INT(store_object_read(world.store, LEASE_URI, 5000, &seen, &world.err), ==, 0);
	CHECK_STR(seen.etag, etag);
	CHECK_STR(buf_str(&seen.body), "again");
	CHECK_INT(shared.conflicts, ==, 0);
	/* and after a read by the tag that it has shown */
	CHECK_INT(write_text(&world, "last", seen.etag), ==, 0);
	CHECK_STR(seen.etag, "\"w5\"");
	buf_release(&seen.body);
	end(&world);
}

TEST(of_two_conditional_writers_the_second_one_hears_of_the_first)
{
	struct world world;
	char first[STORE_ETAG_BYTES] = "", second[STORE_ETAG_BYTES] = "";

	share(&world);
	CHECK_INT(write_text(&world, "one", first), ==, 0);
	CHECK_INT(write_text(&world, "two", second), ==, -1);
	CHECK_INT(world.err.kind, ==, ERR_BUSY);
	CHECK_STR(second, "");
	snprintf(second, sizeof(second), "%s", first);
	CHECK_INT(write_text(&world, "two", second), ==, 0);
	CHECK_INT(write_text(&world, "three", first), ==, -1);
	CHECK_INT(world.err.kind, ==, ERR_BUSY);
	CHECK_STR(shared.body, "two");
	/* one that was deleted has no tag: it is not made again by a renewal */
	shared.exists = false;
	CHECK_INT(write_text(&world, "four", second), ==, -1);
	CHECK_INT(world.err.kind, ==, ERR_BUSY);
	CHECK(!shared.exists);
	end(&world);
}

TEST(a_write_whose_answer_has_no_tag_is_not_known)
{
	struct world world;
	char etag[STORE_ETAG_BYTES] = "";

	share(&world);
	shared.has_no_tag = true;
	CHECK_INT(write_text(&world, "one", etag), ==, -1);
	CHECK_INT(world.err.kind, ==, ERR_FORMAT);
	end(&world);
}

TEST(a_server_that_ignores_a_condition_is_found_out)
{
	static const struct {
		bool exists, ignores_match, ignores_none_match;
		const char *why; /* NULL: it may be used */
	} cases[] = {
		{false, false, false, NULL},
		{true, false, false, NULL}, /* the object is there from the last time */
		{false, true, false, "ignores If-Match"},
		{true, true, false, "ignores If-Match"},
		{false, false, true, "ignores If-None-Match"},
		{true, false, true, "ignores If-None-Match"},
		{true, true, true, "ignores If-None-Match"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world world;

		share(&world);
		shared.exists = cases[i].exists;
		shared.ignores_match = cases[i].ignores_match;
		shared.ignores_none_match = cases[i].ignores_none_match;
		CHECK_INT(store_object_check(world.store, LEASE_URI, 5000, &world.err), ==,
			  cases[i].why ? -1 : 0);
		CHECK_INT(world.err.kind, ==, cases[i].why ? ERR_CONFIG : ERR_NONE);
		CHECK_HAS(world.err.msg, cases[i].why ? cases[i].why : "");
		end(&world);
	}
}

TEST(a_store_that_cannot_be_asked_is_not_called_unfit)
{
	struct world world;

	begin(&world);
	set_fault(&world, denied);
	CHECK_INT(store_object_check(world.store, LEASE_URI, 5000, &world.err), ==, -1);
	CHECK_INT(world.err.kind, ==, ERR_DENIED);
	end(&world);
}

TEST(a_store_without_conditional_writes_is_refused)
{
	struct files f;
	struct store_object object = object_of("one", "");

	files_begin(&f);
	CHECK_INT(store_object_write(f.store, f.uri, &object, 5000, f.etag, &f.err), ==, -1);
	CHECK_INT(f.err.kind, ==, ERR_CONFIG);
	CHECK_HAS(f.err.msg, "has no conditional writes; use S3");
	buf_release(&object.body);
	files_end(&f);
}
