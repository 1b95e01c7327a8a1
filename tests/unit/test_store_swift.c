#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/store.h"
#include "store/store_dirs.h"
#include "store/store_http.h"
#include "store/store_object.h"
#include "store/swift/swift_read.h"
#include "store/uri.h"
#include "swift_stub.h"
#include "tap.h"

/* A store before a stub. */
struct rig {
	struct swift_stub *stub;
	struct store_config config;
	struct store *store;
	struct err err;
	struct err why; /* of the last unreadable file */
	char url[128];

	/* what a listing or a look has told, in order of names */
	struct buf told;
	size_t count;
	const char *const *uris;
	int end_at, end_with; /* the callback returns end_with at this call; 0 never */
	int calls;
};

static void rig_start(struct rig *rig)
{
	*rig = (struct rig){.stub = stub_new()};
	snprintf(rig->url, sizeof(rig->url), "%s/auth/v1.0", rig->stub->url);
	rig->config.swift.auth_url = rig->url;
	rig->config.swift.auth_url_from = (char *)"OS_AUTH_URL in the environment";
	rig->config.swift.user = (char *)STUB_USER;
	rig->config.swift.password = (char *)STUB_PASSWORD;
	CHECK_INT(store_open(&rig->config, "swift://c", &rig->store, &rig->err), ==, 0);
}

static void rig_stop(struct rig *rig)
{
	stub_check_message(rig->err.msg);
	store_close(rig->store);
	stub_free(rig->stub);
	buf_release(&rig->told);
}

static void put(struct rig *rig, const char *name, int64_t size_bytes)
{
	stub_put(rig->stub, name, size_bytes);
	stub_sort(rig->stub);
}

/* The last call has failed, and so. */
static void failed(struct rig *rig, int rc, enum err_kind kind, const char *why)
{
	CHECK_INT(rc, ==, -1);
	CHECK_STR(err_kind_name(rig->err.kind), err_kind_name(kind));
	CHECK_HAS(rig->err.msg, why);
	stub_check_message(rig->err.msg);
	rig->err = (struct err){0};
}

static void worked(struct rig *rig, int rc)
{
	CHECK_INT(rc, ==, 0);
	CHECK_STR(rig->err.msg, "");
}

static int stop_here(struct rig *rig, struct err *err)
{
	if (++rig->calls != rig->end_at)
		return 0;
	return rig->end_with < 0 ? err_set(err, ERR_BUSY, 0, "enough") : rig->end_with;
}

static int on_entry(void *ctx, const struct store_entry *entry, struct err *err)
{
	struct rig *rig = ctx;
	/* a large object that HEAD does not find */
	const bool undated = !strcmp(entry->name, "dlo") && !entry->stat.size_bytes;

	if (entry->is_prefix)
		buf_addf(&rig->told, "%s/ ", entry->name);
	else
		buf_addf(&rig->told, "%s=%lld ", entry->name, (long long)entry->stat.size_bytes);
	if (!entry->is_prefix)
		CHECK_INT(entry->stat.mtime_unix_ms, ==, undated ? 0 : STUB_TIME_MS);
	return stop_here(rig, err);
}

static int list(struct rig *rig, const char *uri)
{
	buf_clear(&rig->told);
	rig->calls = 0;
	return store_list(rig->store, uri, on_entry, rig, &rig->err);
}

static int on_dir(void *ctx, const struct store_dir *dir, struct err *err)
{
	static const char *const leaves[] = {"+", "-", "?"};
	struct rig *rig = ctx;

	rig->count++;
	if (rig->count <= 20)
		buf_addf(&rig->told, "%s%s ", leaves[dir->leaf], dir->name);
	if (dir->leaf == STORE_LEAF_PRESENT) {
		CHECK_INT(dir->stat.size_bytes, ==, 10);
		CHECK_INT(dir->stat.mtime_unix_ms, ==, STUB_TIME_MS);
	}
	if (dir->leaf == STORE_LEAF_UNREADABLE)
		CHECK(dir->why && dir->why->kind != ERR_ABSENT);
	return stop_here(rig, err);
}

static int list_dirs(struct rig *rig, const char *uri)
{
	buf_clear(&rig->told);
	rig->calls = 0;
	rig->count = 0;
	return store_list_dirs(rig->store, uri, "_metadata", on_dir, rig, &rig->err);
}

static const char *uri_at(void *ctx, size_t index)
{
	return ((struct rig *)ctx)->uris[index];
}

static int on_look(void *ctx, const struct store_look *look, struct err *err)
{
	struct rig *rig = ctx;
	const char *name = uri_name(rig->uris[look->index]);

	switch (look->state) {
	case STORE_LOOK_PRESENT:
		buf_addf(&rig->told, "%s=%lld:%zu ", name, (long long)look->stat.size_bytes,
			 look->head_len_bytes);
		for (size_t i = 0; i < look->head_len_bytes; i++)
			CHECK_INT(((const unsigned char *)look->head)[i], ==, i);
		break;
	case STORE_LOOK_ABSENT:
		buf_addf(&rig->told, "%s- ", name);
		break;
	case STORE_LOOK_UNREADABLE:
		buf_addf(&rig->told, "%s? ", name);
		stub_check_message(look->why->msg);
		rig->why = *look->why;
		break;
	}
	return stop_here(rig, err);
}

static int look(struct rig *rig, const char *const *uris, size_t count, size_t head_bytes)
{
	buf_clear(&rig->told);
	rig->calls = 0;
	rig->uris = uris;
	return store_look_many(rig->store, uri_at, count, head_bytes, on_look, rig, &rig->err);
}

/* ---- names ---- */

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_start, rig_stop)

RIG_TEST(takes_a_container_with_and_without_a_service)
{
	static const char *const good[] = {"swift://c", "swift://c.region-1/a/b", "SWIFT://c/"};
	static const char *const bad[] = {"swift:///a",      "swift://.x/a",  "swift://c./a",
					  "swift://c.d.e/a", "swift://u@c/a", "swift://c:80/a"};
	struct store *store;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		CHECK_INT(store_open(&rig->config, good[i], &store, &rig->err), ==, 0);
		store_close(store);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		failed(rig, store_open(&rig->config, bad[i], &store, &rig->err), ERR_CONFIG,
		       "neither swift://container nor");
	/* the service is no part of the address */
	put(rig, "a/b", 3);
	CHECK_INT(store_open(&rig->config, "swift://c.s", &store, &rig->err), ==, 0);
	CHECK_INT(store_exists(store, "swift://c.s/a/b", &rig->err), ==, 1);
	store_close(store);
}

RIG_TEST(nothing_is_asked_before_the_first_call)
{
	CHECK_INT(http_stub_counts(rig->stub->http).requests, ==, 0);
	failed(rig, store_open(NULL, "swift://c", &rig->store, &rig->err), ERR_CONFIG,
	       "no address for the sign-in");
}

/* ---- stat ---- */

RIG_TEST(stats_an_object)
{
	struct store_stat stat = {0};

	put(rig, "a/\xc3\xa9 %2F+&?#", 5000000000);
	worked(rig, store_stat(rig->store, "swift://c/a/\xc3\xa9 %2F+&?#", &stat, &rig->err));
	CHECK_INT(stat.size_bytes, ==, 5000000000);
	CHECK_INT(stat.mtime_unix_ms, ==, STUB_TIME_MS);
}

RIG_TEST(only_an_object_of_a_container_that_is_there_can_be_absent)
{
	struct store *other;

	CHECK_INT(store_exists(rig->store, "swift://c/none", &rig->err), ==, 0);
	CHECK_HAS(buf_str(&rig->stub->seen), "HEAD /v1/AUTH_test/c\n");
	CHECK_INT(store_open(&rig->config, "swift://d", &other, &rig->err), ==, 0);
	failed(rig, store_exists(other, "swift://d/none", &rig->err), ERR_CONFIG,
	       "there is no container 'd'");
	failed(rig, store_list(other, "swift://d/x", on_entry, rig, &rig->err), ERR_CONFIG,
	       "there is no container 'd'");
	failed(rig, store_list_dirs(other, "swift://d/x", "_metadata", on_dir, rig, &rig->err),
	       ERR_CONFIG, "there is no container 'd'");
	store_close(other);
}

RIG_TEST(what_stands_for_a_directory_is_no_file)
{
	struct store_stat stat;

	stub_put(rig->stub, "d", 0)->type = "application/directory";
	put(rig, "d/f", 1);
	failed(rig, store_stat(rig->store, "swift://c/d", &stat, &rig->err), ERR_FORMAT,
	       "it is a directory marker");
	worked(rig, list(rig, "swift://c"));
	CHECK_STR(buf_str(&rig->told), "d/ ");
}

/* ---- faults of single requests ---- */

static int fault_status, fault_times;
static const char *fault_in; /* part of the request line's target */
static const char *fault_headers, *fault_body;
static int fault_bytes; /* > 0: a body of bytes that count instead */

static bool fault(struct swift_stub *stub, const struct http_stub_request *request,
		  struct http_stub_answer *answer)
{
	if (!strstr(request->target, fault_in) || stub->faults >= fault_times)
		return false;
	stub->faults++;
	answer->status = fault_status;
	if (fault_headers)
		buf_addstr(&answer->headers, fault_headers);
	if (fault_body && !fault_bytes)
		buf_addstr(&answer->body, fault_body);
	for (int i = 0; i < fault_bytes; i++)
		buf_addch(&answer->body, (char)i);
	return true;
}

static void set_fault(struct rig *rig, const char *in, int status, int times)
{
	fault_in = in;
	fault_status = status;
	fault_times = times;
	fault_headers = NULL;
	fault_bytes = 0;
	fault_body = "hush";
	rig->stub->faults = 0;
	rig->stub->fault = fault;
}

RIG_TEST(a_token_that_was_refused_is_renewed_once)
{
	struct store_stat stat;

	put(rig, "f", 3);
	worked(rig, store_stat(rig->store, "swift://c/f", &stat, &rig->err));
	rig->stub->valid_from = 2; /* as if the first had expired */
	worked(rig, store_stat(rig->store, "swift://c/f", &stat, &rig->err));
	CHECK_INT(rig->stub->sign_ins, ==, 2);
	set_fault(rig, "/c/f", 401, 100);
	failed(rig, store_stat(rig->store, "swift://c/f", &stat, &rig->err), ERR_DENIED,
	       "/v1/AUTH_test (from the sign-in, OS_AUTH_URL in the environment): HEAD swift://c/f: HTTP 401: a new token was rejected, too");
	CHECK_INT(rig->stub->faults, ==, 2);
	CHECK_INT(rig->stub->sign_ins, ==, 3);
}

RIG_TEST(many_calls_share_one_new_token)
{
	const char *uris[200];

	put(rig, "f", 3);
	for (size_t i = 0; i < ARRAY_LEN(uris); i++)
		uris[i] = "swift://c/f";
	worked(rig, look(rig, uris, 1, 0));
	rig->stub->valid_from = 2;
	worked(rig, look(rig, uris, ARRAY_LEN(uris), 0));
	CHECK_INT(rig->calls, ==, 200);
	CHECK(!strchr(buf_str(&rig->told), '?'));
	CHECK_INT(rig->stub->sign_ins, ==, 2);
	CHECK_INT(http_stub_counts(rig->stub->http).most_under_way, <=, STORE_IN_FLIGHT);
}

RIG_TEST(says_what_a_status_means)
{
	static const struct {
		int status;
		enum err_kind kind;
		const char *why;
		int attempts;
	} cases[] = {
		{403, ERR_DENIED, "HTTP 403: access denied", 1},
		{404, ERR_ABSENT, "HTTP 404: no such object", 1},
		{301, ERR_FORMAT, "a redirect, which drey does not follow", 1},
		{400, ERR_FORMAT, "HTTP 400: not a valid answer", 1},
		{416, ERR_FORMAT, "HTTP 416", 1},
		{429, ERR_RETRY, "HTTP 429: the store is busy", STORE_HTTP_ATTEMPTS},
		{498, ERR_RETRY, "HTTP 498: the store is busy", STORE_HTTP_ATTEMPTS},
		{503, ERR_RETRY, "HTTP 503: the store is busy", STORE_HTTP_ATTEMPTS},
	};
	struct store_stat stat;

	put(rig, "f", 3);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		set_fault(rig, "/c/f", cases[i].status, 100);
		failed(rig, store_stat(rig->store, "swift://c/f", &stat, &rig->err), cases[i].kind,
		       cases[i].why);
		CHECK_INT(rig->stub->faults, ==, cases[i].attempts);
		set_fault(rig, "/c/f", cases[i].status, 1);
		if (cases[i].kind == ERR_RETRY)
			worked(rig, store_stat(rig->store, "swift://c/f", &stat, &rig->err));
	}
}

RIG_TEST(an_answer_without_a_size_is_none)
{
	static const char *const uris[] = {"swift://c/f"};

	put(rig, "f", 3);
	set_fault(rig, "/c/f", 206, 100);
	worked(rig, look(rig, uris, 1, 4));
	CHECK_STR(buf_str(&rig->told), "f? ");
	CHECK_HAS(rig->why.msg, "the answer has no size for the object");
	fault_headers = "Content-Range: bytes 0-3/*\r\n";
	worked(rig, look(rig, uris, 1, 4));
	CHECK_STR(buf_str(&rig->told), "f? ");
}

/* ---- listings ---- */

#define NAMED(name)                                                                                \
	"{\"name\":\"" name "\",\"bytes\":1,\"last_modified\":\"2026-11-21T15:13:36.355440\"}"

RIG_TEST(lists_one_level)
{
	put(rig, "a/b", 1);
	put(rig, "a/c/d", 2);
	put(rig, "a/c/e", 2);
	put(rig, "ab", 3);
	stub_put(rig->stub, "a/", 0)->type = "application/directory"; /* its own marker */
	stub_sort(rig->stub);
	worked(rig, list(rig, "swift://c/a"));
	CHECK_STR(buf_str(&rig->told), "b=1 c/ ");
	worked(rig, list(rig, "swift://c"));
	CHECK_STR(buf_str(&rig->told), "a/ ab=3 ");
	failed(rig, list(rig, "swift://c/none"), ERR_ABSENT, "nothing starts with swift://c/none");
	failed(rig, list(rig, "swift://c/ab"), ERR_ABSENT, "nothing starts with swift://c/ab");
}

RIG_TEST(pages_until_one_is_empty)
{
	put(rig, "d/a", 1);
	put(rig, "d/b/x", 1);
	put(rig, "d/b/y", 1);
	put(rig, "d/c", 1);
	put(rig, "d/e/x", 1);
	rig->stub->page = 1; /* fewer than asked for */
	worked(rig, list(rig, "swift://c/d"));
	CHECK_STR(buf_str(&rig->told), "a=1 b/ c=1 e/ ");
	CHECK_INT(rig->stub->lists, ==, 5);
}

/* What S3's API keeps of a directory from which all was deleted. */
/* The second page was to be the end. */
RIG_TEST(short_pages_show_that_they_join)
{
	char name[32];

	for (int i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), i % 3 ? "d/f%d" : "d/f%d/x", i);
		put(rig, name, 9);
	}
	worked(rig, list(rig, "swift://c/d"));
	CHECK_INT(rig->calls, ==, 9);
	CHECK_INT(rig->stub->lists, ==, 2);
	for (size_t page = 2; page < 6; page++) {
		rig->stub->page = page;
		rig->stub->gap = 0;
		rig->calls = 0;
		worked(rig, list(rig, "swift://c/d"));
		CHECK_INT(rig->calls, ==, 9);
		rig->stub->gap = 1;
		failed(rig, list(rig, "swift://c/d"), ERR_CONTRADICTED,
		       "was listed, but is left out of what comes after");
	}
}

RIG_TEST(a_directory_that_has_only_its_marker_ends)
{
	put(rig, "d/", 0);
	put(rig, "e", 1);
	worked(rig, list(rig, "swift://c/d"));
	CHECK_STR(buf_str(&rig->told), "");
	CHECK_INT(rig->stub->lists, ==, 2);
	worked(rig, list_dirs(rig, "swift://c/d"));
	CHECK_INT(rig->stub->lists, ==, 4);
	put(rig, "d/a", 1);
	rig->stub->page = 1;
	worked(rig, list(rig, "swift://c/d"));
	CHECK_STR(buf_str(&rig->told), "a=1 ");
	CHECK_INT(rig->stub->lists, ==, 7);
}

RIG_TEST(one_that_comes_again_and_again_is_refused)
{
	put(rig, "d/", 0);
	set_fault(rig, "marker=", 200, 1000);
	fault_body = "[" NAMED("d/") "]";
	failed(rig, list(rig, "swift://c/d"), ERR_FORMAT,
	       "pages without a name, and there is another one");
	CHECK_INT(rig->stub->faults, <, 200);
}

RIG_TEST(the_caller_can_end_a_listing)
{
	put(rig, "d/a", 1);
	put(rig, "d/b", 0);
	put(rig, "d/c", 1);
	rig->stub->page = 1;
	rig->end_at = 1;
	rig->end_with = 1;
	worked(rig, list(rig, "swift://c/d"));
	CHECK_STR(buf_str(&rig->told), "a=1 ");
	CHECK_INT(rig->stub->lists, ==, 1);
	rig->end_at = 3; /* one of those that were asked by HEAD */
	worked(rig, list(rig, "swift://c/d"));
	CHECK_STR(buf_str(&rig->told), "a=1 c=1 b=0 ");
	rig->end_with = -1;
	failed(rig, list(rig, "swift://c/d"), ERR_BUSY, "enough");
}

RIG_TEST(a_broken_page_voids_the_listing)
{
	put(rig, "d/a", 1);
	put(rig, "d/b", 1);
	rig->stub->page = 1;
	set_fault(rig, "marker=d%2Fa", 500, 100);
	failed(rig, list(rig, "swift://c/d"), ERR_RETRY, "list swift://c/d, page 2: ");
	failed(rig, list_dirs(rig, "swift://c/d"), ERR_RETRY, "list swift://c/d, page 2: ");
	set_fault(rig, "marker=d%2Fa", 200, 100);
	fault_body = "[{\"name\":\"d/b\"";
	failed(rig, list(rig, "swift://c/d"), ERR_FORMAT,
	       "list swift://c/d, page 2: the listing: ");
	set_fault(rig, "marker=d%2Fa", 404, 100);
	failed(rig, list(rig, "swift://c/d"), ERR_CONFIG, "there is no container 'c'");
}

RIG_TEST(a_page_that_does_not_advance_is_refused)
{
	static const struct {
		const char *body, *why;
	} cases[] = {
		{"[" NAMED("d/a") "]", "'a' comes after 'a': out of order"}, /* for ever the same */
		{"[" NAMED("d/c") "," NAMED("d/b") "]", "'b' comes after 'c': out of order"},
		{"[" NAMED("e/c") "]", "'e/c' does not start with the requested prefix"},
		{"[" NAMED("d") "]", "'d' does not start with the requested prefix"},
		{"[" NAMED("d/b/c") "]", "'b/c' is not directly in this directory"},
	};

	put(rig, "d/a", 1);
	put(rig, "d/z", 1);
	rig->stub->page = 1;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		set_fault(rig, "marker=d%2Fa", 200, 100);
		fault_body = cases[i].body;
		failed(rig, list(rig, "swift://c/d"), ERR_FORMAT, cases[i].why);
		CHECK_INT(rig->stub->faults, ==, 1);
	}
}

RIG_TEST(the_size_of_a_dlo_is_that_of_head)
{
	stub_put(rig->stub, "d/dlo", 7000)->listed_bytes = 0;
	put(rig, "d/empty", 0);
	put(rig, "d/full", 5);
	worked(rig, list(rig, "swift://c/d"));
	CHECK_HAS(buf_str(&rig->told), "dlo=7000 ");
	CHECK_HAS(buf_str(&rig->told), "empty=0 ");
	CHECK_INT(rig->stub->heads, ==, 2);
	/* one that cannot be asked voids the listing; one that is not found is in it, without a size and a date */
	set_fault(rig, "/d/dlo", 403, 100);
	failed(rig, list(rig, "swift://c/d"), ERR_DENIED, "HTTP 403");
	set_fault(rig, "/d/dlo", 404, 100);
	worked(rig, list(rig, "swift://c/d"));
	CHECK_HAS(buf_str(&rig->told), "full=5 ");
	CHECK_HAS(buf_str(&rig->told), "dlo=0 ");
	CHECK_HAS(buf_str(&rig->told), "empty=0 "); /* those two in the order of their answers */
}

RIG_TEST(asks_for_many_doubtful_sizes)
{
	char name[32];

	for (int i = 0; i < 2500; i++) {
		snprintf(name, sizeof(name), "d/f%05d", i);
		stub_put(rig->stub, name, 9)->listed_bytes = 0;
	}
	worked(rig, list(rig, "swift://c/d"));
	CHECK_INT(rig->calls, ==, 2500);
	CHECK(!strstr(buf_str(&rig->told), "=0"));
	CHECK_INT(rig->stub->heads, ==, 2500);
	CHECK_INT(rig->stub->lists, <=, 4 + 4);
}

/* ---- directories and their leaves ---- */

RIG_TEST(finds_directories_and_their_leaves)
{
	put(rig, "sp/s1/_metadata", 10);
	put(rig, "sp/s1/x", 10);
	put(rig, "sp/s2/x", 10);
	put(rig, "sp/s3/deep/_metadata", 10);
	stub_put(rig->stub, "sp/s4/_metadata", 10)->listed_bytes = 0; /* a DLO */
	put(rig, "sp/s5/x", 10);
	stub_put(rig->stub, "sp/s5/_metadata", 10)->unlisted = true; /* not yet listed */
	put(rig, "sp/file", 10);
	put(rig, "sp/s6.x/_metadata", 10);
	stub_sort(rig->stub);
	worked(rig, list_dirs(rig, "swift://c/sp"));
	CHECK_INT(rig->count, ==, 6);
	CHECK_HAS(buf_str(&rig->told), "+s1 ");
	CHECK_HAS(buf_str(&rig->told), "-s2 ");
	CHECK_HAS(buf_str(&rig->told), "-s3 ");
	CHECK_HAS(buf_str(&rig->told), "+s4 ");
	CHECK_HAS(buf_str(&rig->told), "+s5 ");
	CHECK_HAS(buf_str(&rig->told), "+s6.x ");
	set_fault(rig, "/s5/_metadata", 403, 100);
	worked(rig, list_dirs(rig, "swift://c/sp"));
	CHECK_HAS(buf_str(&rig->told), "?s5 ");
	failed(rig, list_dirs(rig, "swift://c/none"), ERR_ABSENT, "nothing starts with");
}

static void put_savepoints(struct rig *rig, int count, int files)
{
	char name[64];

	for (int i = 0; i < count; i++)
		for (int j = 0; j < files; j++) {
			snprintf(name, sizeof(name), j ? "sp/s%05d/f%05d" : "sp/s%05d/_metadata", i,
				 j);
			stub_put(rig->stub, name, 10);
		}
	stub_sort(rig->stub);
}

RIG_TEST(small_directories_cost_a_request_for_a_thousand)
{
	put_savepoints(rig, 10000, 1);
	worked(rig, list_dirs(rig, "swift://c/sp"));
	CHECK_INT(rig->count, ==, 10000);
	/* ten pages and an empty one; their numbers are counters, which costs a few more */
	CHECK_INT(rig->stub->lists, <=, 11 + 4);
	CHECK_INT(rig->stub->heads, ==, 0);
}

RIG_TEST(large_directories_are_asked_for_their_leaf)
{
	put_savepoints(rig, 40, 300);
	put(rig, "sp/s00001-", 1);
	worked(rig, list_dirs(rig, "swift://c/sp"));
	CHECK_INT(rig->count, ==, 40);
	CHECK(!strpbrk(buf_str(&rig->told), "-?"));
	CHECK_INT(rig->stub->lists, ==, 3); /* 13 pages of names otherwise */
	CHECK_INT(rig->stub->heads, >=, 35);
	CHECK_INT(rig->stub->heads, <=, 40);
}

RIG_TEST(no_directory_is_told_twice_or_left_out_in_batches)
{
	char name[64];

	for (int i = 0; i < 2 * STORE_DIRS_BATCH + 100; i++) {
		snprintf(name, sizeof(name), "sp/s%05d/_metadata", i);
		stub_put(rig->stub, name, 10)->unlisted = i < 20;
	}
	/* a big one at the front makes the rest go by leaves */
	for (int i = 0; i < STORE_DIRS_SAMPLE; i++) {
		snprintf(name, sizeof(name), "sp/a/f%05d", i);
		stub_put(rig->stub, name, 10);
	}
	stub_sort(rig->stub);
	worked(rig, list_dirs(rig, "swift://c/sp"));
	CHECK_INT(rig->count, ==, 2 * STORE_DIRS_BATCH + 100 - 20 + 1);
	CHECK_INT(rig->stub->heads, ==, 2 * STORE_DIRS_BATCH + 100 - 20 + 1);
	rig->end_at = 5000;
	rig->end_with = 1;
	worked(rig, list_dirs(rig, "swift://c/sp"));
	CHECK_INT(rig->count, ==, 5000);
	rig->end_with = -1;
	failed(rig, list_dirs(rig, "swift://c/sp"), ERR_BUSY, "enough");
	CHECK_INT(rig->count, ==, 5000);
}

/* ---- many looks ---- */

RIG_TEST(looks_at_many_files)
{
	static const char *const uris[] = {"swift://c/d/a",     "swift://c/d/none",
					   "swift://c/d/empty", "swift://c/d/denied",
					   "swift://other/x",   "nonsense"};

	put(rig, "d/a", 300);
	put(rig, "d/empty", 0);
	put(rig, "d/denied", 1);
	set_fault(rig, "/d/denied", 403, 100);
	for (size_t head = 0; head <= STORE_HEAD_MAX_BYTES; head += 64) {
		char want[32];

		worked(rig, look(rig, uris, ARRAY_LEN(uris), head));
		snprintf(want, sizeof(want), "a=300:%zu ", head);
		CHECK_HAS(buf_str(&rig->told), want);
		CHECK_HAS(buf_str(&rig->told), "none- ");
		CHECK_HAS(buf_str(&rig->told), "empty=0:0 ");
		CHECK_HAS(buf_str(&rig->told), "denied? ");
		CHECK_HAS(buf_str(&rig->told), "x? ");
		CHECK_HAS(buf_str(&rig->told), "nonsense? ");
		CHECK_INT(rig->calls, ==, ARRAY_LEN(uris));
	}
}

RIG_TEST(a_store_that_sends_more_than_was_asked_for_is_understood)
{
	static const char *const uris[] = {"swift://c/f"};

	set_fault(rig, "/c/f", 200, 100);
	fault_bytes = 6;
	worked(rig, look(rig, uris, 1, 4));
	CHECK_STR(buf_str(&rig->told), "f=6:4 ");
}

RIG_TEST(a_wrong_container_is_found_out_once)
{
	const char *uris[100];
	struct store *other;

	for (size_t i = 0; i < ARRAY_LEN(uris); i++)
		uris[i] = "swift://d/f";
	CHECK_INT(store_open(&rig->config, "swift://d", &other, &rig->err), ==, 0);
	rig->uris = uris;
	CHECK_INT(store_look_many(other, uri_at, 100, 0, on_look, rig, NULL), ==, 0);
	CHECK_INT(rig->calls, ==, 100);
	CHECK_INT(rig->why.kind, ==, ERR_CONFIG);
	CHECK_INT(http_stub_counts(rig->stub->http).requests, ==, 2);
	store_close(other);
}

RIG_TEST(the_caller_can_end_a_look)
{
	static const char *const uris[] = {"swift://c/a", "swift://c/b", "swift://c/none"};

	put(rig, "a", 3);
	put(rig, "b", 3);
	rig->end_with = -1;
	for (rig->end_at = 1; rig->end_at <= 3; rig->end_at++) {
		failed(rig, look(rig, uris, 3, 0), ERR_BUSY, "enough");
		CHECK_INT(rig->calls, ==, rig->end_at);
	}
}

/* ---- reading ---- */

/* Everything from `offset` on; checks each byte. How many, or -1. */
static int64_t read_all(struct rig *rig, const char *uri, int64_t offset)
{
	struct store_stream *stream;
	unsigned char bytes[7777];
	int64_t count = 0, size;
	size_t got = 1;
	int rc = 0, wrong = 0;

	if (store_read_open(rig->store, uri, offset, &stream, &rig->err))
		return -1;
	size = store_read_size(stream);
	while (!rc && got) {
		rc = store_read(stream, bytes, sizeof(bytes), &got, &rig->err);
		for (size_t i = 0; !rc && i < got; i++)
			wrong += bytes[i] != (unsigned char)(offset + count + (int64_t)i);
		count += rc ? 0 : (int64_t)got;
	}
	store_read_close(stream);
	CHECK_INT(wrong, ==, 0);
	if (rc)
		return -1;
	CHECK_INT(count, ==, size);
	return count;
}

RIG_TEST(reads_an_object_in_growing_parts)
{
	put(rig, "f", 3000000);
	CHECK_INT(read_all(rig, "swift://c/f", 0), ==, 3000000);
	CHECK_INT(rig->stub->gets, ==, 5); /* 64 KiB, 256 KiB, 1 MiB, 1 MiB, the rest */
	CHECK_INT(read_all(rig, "swift://c/f", 2999990), ==, 10);
	CHECK_INT(read_all(rig, "swift://c/f", 3000000), ==, 0);
	CHECK_INT(read_all(rig, "swift://c/f", 4000000), ==, 0);
}

RIG_TEST(reads_what_is_empty_and_says_what_is_absent)
{
	put(rig, "empty", 0);
	CHECK_INT(read_all(rig, "swift://c/empty", 0), ==, 0);
	failed(rig, (int)read_all(rig, "swift://c/none", 0), ERR_ABSENT,
	       "read swift://c/none: GET swift://c/none: HTTP 404");
}

/* Once the second part is asked for, the object is another one. */
static bool replace(struct swift_stub *stub, const struct http_stub_request *request,
		    struct http_stub_answer *answer)
{
	(void)answer;
	if (strstr(request->head, "Range: bytes=65536-"))
		stub_find(stub, "f")->etag = "\"e2\"";
	return false;
}

static bool grow(struct swift_stub *stub, const struct http_stub_request *request,
		 struct http_stub_answer *answer)
{
	(void)answer;
	if (strstr(request->head, "Range: bytes=65536-"))
		stub_find(stub, "f")->size_bytes = 200001;
	return false;
}

RIG_TEST(two_versions_of_an_object_are_never_mixed)
{
	put(rig, "f", 200000);
	rig->stub->fault = replace;
	failed(rig, (int)read_all(rig, "swift://c/f", 0), ERR_RETRY,
	       "HTTP 412: it was replaced during the read");
	/* without an ETag, at least another size is seen */
	rig->stub->objects[0].etag = NULL;
	rig->stub->fault = NULL;
	CHECK_INT(read_all(rig, "swift://c/f", 0), ==, 200000);
	rig->stub->fault = grow;
	failed(rig, (int)read_all(rig, "swift://c/f", 0), ERR_RETRY,
	       "its size changed during the read");
}

RIG_TEST(quotes_an_etag_that_has_no_quotes)
{
	put(rig, "f", 100000);
	rig->stub->objects[0].etag = "bare";
	failed(rig, (int)read_all(rig, "swift://c/f", 0), ERR_RETRY, "HTTP 412");
	rig->stub->objects[0].etag = "W/\"weak\"";
	CHECK_INT(read_all(rig, "swift://c/f", 0), ==, 100000);
}

RIG_TEST(a_part_that_was_not_asked_for_is_refused)
{
	static const struct {
		int status;
		const char *headers;
	} cases[] = {
		{206, "Content-Range: bytes 1-4/9\r\n"},  {206, "Content-Range: bytes 0-4/9\r\n"},
		{206, "Content-Range: bytes 0-3/3\r\n"},  {206, "Content-Range: pages 0-3/9\r\n"},
		{206, "Content-Range: bytes 0-99/9\r\n"}, {206, ""},
		{416, "Content-Range: bytes */9\r\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		set_fault(rig, "/c/f", cases[i].status, 100);
		fault_headers = cases[i].headers;
		failed(rig, (int)read_all(rig, "swift://c/f", 0), ERR_FORMAT, "read swift://c/f");
	}
	set_fault(rig, "/c/f", 200, 100); /* a store that knows no ranges */
	failed(rig, (int)read_all(rig, "swift://c/f", 5), ERR_FORMAT, "does not support ranges");
}

/* ---- one small object ---- */

static struct {
	char body[64];
	int puts;
} taken;

static bool takes_object(struct swift_stub *stub, const struct http_stub_request *request,
			 struct http_stub_answer *answer)
{
	(void)stub;
	if (strcmp(request->method, "PUT") != 0)
		return false;
	if (!strstr(request->head, "X-Auth-Token: ")) {
		answer->status = 401;
		return true;
	}
	taken.puts++;
	snprintf(taken.body, sizeof(taken.body), "%.*s", (int)request->body_len_bytes,
		 request->body);
	CHECK_STR(request->target, "/v1/AUTH_test/c/ck/.drey/orders/journal.json");
	answer->status = 201;
	return true;
}

RIG_TEST(writes_a_small_object_as_a_whole_and_reads_it)
{
	const char *uri = "swift://c/ck/.drey/orders/journal.json";
	struct store_object object = {.body = BUF_INIT}, seen = {.body = BUF_INIT};
	char etag[STORE_ETAG_BYTES] = "\"e\"";

	failed(rig, store_object_read(rig->store, uri, 5000, &seen, &rig->err), ERR_ABSENT, "404");
	rig->stub->fault = takes_object;
	buf_addstr(&object.body, "one");
	CHECK_INT(store_object_put(rig->store, uri, 12, &object, 5000, etag, &rig->err), ==, 0);
	CHECK_STR(etag, "");
	CHECK_STR(taken.body, "one");
	CHECK_INT(taken.puts, ==, 1);
	rig->stub->fault = NULL;
	put(rig, "ck/.drey/orders/journal.json", 5);
	CHECK_INT(store_object_read(rig->store, uri, 5000, &seen, &rig->err), ==, 0);
	CHECK_INT(seen.body.len_bytes, ==, 5);
	/* a lease needs conditions, which Swift does not have */
	failed(rig, store_object_write(rig->store, uri, &object, 5000, etag, &rig->err), ERR_CONFIG,
	       "has no conditional writes");
	buf_release(&object.body);
	buf_release(&seen.body);
}
