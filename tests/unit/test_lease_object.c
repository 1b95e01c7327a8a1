/*
 * One object that several write (store/store_object.h), on a small S3 with conditional writes: every renewal of the
 * lease rests on the entity tag that is read, sent and returned. tests/servers/test_lease.sh does so with real servers.
 */
#include "store/store_object.h"

#include "s3_world.h"

#define URI     "s3://b/orders/lease.json"
#define TIMEOUT 5000

/* One object with conditional writes, in place of the stub; guarded by its lock. */
static struct {
	struct buf body;
	int version; /* 0 = there is no object */
	bool ignores_absent, ignores_match, has_no_conditions, no_tag, weak, conflicts, lost;
	char if_match[128], if_none_match[16]; /* of the last PUT; "" = not sent */
} there;

static void answer_tag(struct http_stub_answer *answer)
{
	if (!there.no_tag)
		buf_addf(&answer->headers, "ETag: %s\"v%d\"\r\n", there.weak ? "W/" : "",
			 there.version);
}

static void note_header(const struct http_stub_request *request, const char *name, char *to,
			size_t size)
{
	cleanup_free char *value = s3_stub_header(request->head, name);

	snprintf(to, size, "%s", value ? value : "");
}

static bool is_refused(void)
{
	char tag[16];

	snprintf(tag, sizeof(tag), "\"v%d\"", there.version);
	if (there.if_none_match[0])
		return there.version && !there.ignores_absent;
	return there.if_match[0] && strcmp(there.if_match, tag) != 0 && !there.ignores_match;
}

static void put(const struct http_stub_request *request, struct http_stub_answer *answer)
{
	note_header(request, "If-Match", there.if_match, sizeof(there.if_match));
	note_header(request, "If-None-Match", there.if_none_match, sizeof(there.if_none_match));
	if (there.has_no_conditions) {
		s3_stub_error(answer, 501, "NotImplemented", "");
	} else if (there.conflicts) {
		s3_stub_error(answer, 409, "ConditionalRequestConflict", "");
	} else if (there.if_match[0] && !there.version && !there.ignores_match) {
		s3_stub_error(answer, 404, "NoSuchKey", "");
	} else if (is_refused()) {
		s3_stub_error(answer, 412, "PreconditionFailed", "");
	} else {
		there.version++;
		buf_clear(&there.body);
		buf_add(&there.body, request->body, request->body_len_bytes);
		answer_tag(answer);
		answer->reset = there.lost;
	}
}

static bool serve(struct s3_stub *stub, const struct http_stub_request *request,
		  struct http_stub_answer *answer)
{
	(void)stub;
	if (!strcmp(request->method, "PUT")) {
		put(request, answer);
	} else if (!there.version) {
		s3_stub_error(answer, 404, "NoSuchKey", "");
	} else {
		answer_tag(answer);
		buf_add(&answer->body, there.body.data, there.body.len_bytes);
	}
	return true;
}

static void begin_object(struct world *world)
{
	memset(&there, 0, sizeof(there));
	begin(world);
	world->stub->unsigned_ok = true; /* the stub signs no bodies */
	set_fault(world, serve);
}

static void end_object(struct world *world)
{
	end(world);
	buf_release(&there.body);
}

#define OBJECT_TEST(name) TEST_WITH(name, struct world, world, begin_object, end_object)

static int write_text(struct world *world, const char *etag, const char *text, char *ret_etag)
{
	struct store_object object = {.body = BUF_INIT};
	int rc;

	world->err = (struct err){0};
	snprintf(object.etag, sizeof(object.etag), "%s", etag);
	buf_addstr(&object.body, text);
	rc = store_object_write(world->store, URI, &object, TIMEOUT, ret_etag, &world->err);
	buf_release(&object.body);
	http_stub_settle(world->stub->http); /* the answer may be lost */
	return rc;
}

static void check_read(struct world *world, const char *text, const char *etag)
{
	struct store_object object = {.body = BUF_INIT};

	CHECK_INT(store_object_read(world->store, URI, TIMEOUT, &object, &world->err), ==, 0);
	CHECK_STR(buf_str(&object.body), text);
	CHECK_STR(object.etag, etag);
	buf_release(&object.body);
}

static void check_no_read(struct world *world, enum err_kind kind)
{
	struct store_object object = {.body = BUF_INIT};

	world->err = (struct err){0};
	CHECK_INT(store_object_read(world->store, URI, TIMEOUT, &object, &world->err), ==, -1);
	CHECK_INT(world->err.kind, ==, kind);
	buf_release(&object.body);
}

OBJECT_TEST(it_is_created_only_if_there_is_none)
{
	char etag[STORE_ETAG_BYTES] = "";

	check_no_read(world, ERR_ABSENT);
	CHECK_INT(write_text(world, "", "first", etag), ==, 0);
	CHECK_STR(there.if_none_match, "*");
	CHECK_STR(there.if_match, "");
	CHECK_STR(etag, "\"v1\"");
	check_read(world, "first", "\"v1\"");
	CHECK_INT(write_text(world, "", "second", etag), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_BUSY);
	check_read(world, "first", "\"v1\"");
}

/* Each renewal sends the tag that the one before it has got. */
OBJECT_TEST(it_is_replaced_only_if_it_still_has_its_tag)
{
	char etag[STORE_ETAG_BYTES] = "", stale[STORE_ETAG_BYTES];

	CHECK_INT(write_text(world, "", "1", etag), ==, 0);
	memcpy(stale, etag, sizeof(stale));
	for (int i = 2; i < 6; i++) {
		char before[STORE_ETAG_BYTES], text[8];

		memcpy(before, etag, sizeof(before));
		snprintf(text, sizeof(text), "%d", i);
		CHECK_INT(write_text(world, etag, text, etag), ==, 0);
		CHECK_STR(there.if_match, before);
		CHECK_STR(there.if_none_match, "");
	}
	CHECK_STR(etag, "\"v5\"");
	CHECK_INT(write_text(world, stale, "late", stale), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_BUSY);
	CHECK_STR(stale, "\"v1\""); /* untouched */
	check_read(world, "5", "\"v5\"");
}

OBJECT_TEST(one_that_was_deleted_is_not_as_required)
{
	char etag[STORE_ETAG_BYTES] = "";

	CHECK_INT(write_text(world, "\"v3\"", "x", etag), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_BUSY);
	there.conflicts = true; /* two at the same time */
	CHECK_INT(write_text(world, "", "x", etag), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_BUSY);
}

OBJECT_TEST(an_answer_without_a_strong_tag_is_an_error)
{
	char etag[STORE_ETAG_BYTES] = "";

	CHECK_INT(write_text(world, "", "x", etag), ==, 0);
	there.weak = true;
	check_no_read(world, ERR_FORMAT);
	CHECK_INT(write_text(world, "\"v1\"", "x", etag), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_FORMAT);
	there.weak = false;
	there.no_tag = true;
	check_no_read(world, ERR_FORMAT);
}

/* It may have been written: that is no refusal, and no absence. One attempt only. */
OBJECT_TEST(a_lost_answer_is_neither_success_nor_refusal)
{
	char etag[STORE_ETAG_BYTES] = "";

	there.lost = true;
	CHECK_INT(write_text(world, "", "x", etag), ==, -1);
	CHECK(world->err.kind != ERR_BUSY && world->err.kind != ERR_ABSENT);
	CHECK_INT(there.version, ==, 1);
}

OBJECT_TEST(a_server_that_keeps_the_conditions_is_accepted)
{
	for (int i = 0; i < 2; i++) /* the object stays there */
		if (!CHECK_INT(store_object_check(world->store, URI, TIMEOUT, &world->err), ==, 0))
			tap_note("%s", world->err.msg);
}

OBJECT_TEST(a_server_that_ignores_a_condition_is_found_out)
{
	there.ignores_absent = true;
	CHECK_INT(store_object_check(world->store, URI, TIMEOUT, &world->err), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_CONFIG);
	CHECK_HAS(world->err.msg, "ignores If-None-Match");
	there.ignores_absent = false;
	there.ignores_match = true;
	world->err = (struct err){0};
	CHECK_INT(store_object_check(world->store, URI, TIMEOUT, &world->err), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_CONFIG);
	CHECK_HAS(world->err.msg, "ignores If-Match");
}

OBJECT_TEST(a_server_without_conditions_is_refused)
{
	there.has_no_conditions = true;
	CHECK_INT(store_object_check(world->store, URI, TIMEOUT, &world->err), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_CONFIG);
	CHECK_HAS(world->err.msg, "no conditional writes");
}
