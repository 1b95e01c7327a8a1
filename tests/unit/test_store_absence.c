/* What counts as absence: every function of store.h that can say so, and every kind of answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "s3_world.h"
#include "store/store.h"
#include "store/uri.h"
#include "store_dir.h"
#include "swift_stub.h"

#define NAME "ck/job/chk-5/_metadata"

/* ---- the functions, each of which says one word ---- */

static const char *word_of(const struct err *err)
{
	return err_kind_name(err->kind);
}

struct told {
	const char *word;
	char why[ERR_MSG_BYTES];
	const char *uri;
};

static void told_by_stat(struct store *store, struct told *told)
{
	struct store_stat stat;
	struct err err = {0};

	told->word = store_stat(store, told->uri, &stat, &err) ? word_of(&err) : "found";
	snprintf(told->why, sizeof(told->why), "%s", err.msg);
}

static void told_by_read(struct store *store, struct told *told)
{
	struct store_stream *stream = NULL;
	struct err err = {0};

	told->word = store_read_open(store, told->uri, 0, &stream, &err) ? word_of(&err) : "found";
	snprintf(told->why, sizeof(told->why), "%s", err.msg);
	store_read_close(stream);
}

static const char *told_uri(void *ctx, size_t index)
{
	const struct told *told = ctx;

	(void)index;
	return told->uri;
}

static int on_told(void *ctx, const struct store_look *look, struct err *err)
{
	struct told *told = ctx;

	(void)err;
	told->word = look->state == STORE_LOOK_PRESENT  ? "found"
		     : look->state == STORE_LOOK_ABSENT ? "absent"
							: word_of(look->why);
	snprintf(told->why, sizeof(told->why), "%s", look->why ? look->why->msg : "");
	return 0;
}

static void told_by_look(struct store *store, struct told *told)
{
	CHECK_INT(store_look_many(store, told_uri, 1, 0, on_told, told, NULL), ==, 0);
}

static void told_by_head(struct store *store, struct told *told)
{
	CHECK_INT(store_look_many(store, told_uri, 1, 100, on_told, told, NULL), ==, 0);
}

static int on_gone(void *ctx, size_t index, const struct err *why, struct err *err)
{
	struct told *told = ctx;

	(void)index;
	(void)err;
	told->word = why ? word_of(why) : "gone";
	return 0;
}

static void told_by_delete(struct store *store, struct told *told)
{
	CHECK_INT(store_delete_many(store, told_uri, 1, on_gone, told, NULL), ==, 0);
}

static const struct {
	const char *name;
	void (*run)(struct store *store, struct told *told);
	bool deletes;
} functions[] = {
	{"stat", told_by_stat, false},    {"read", told_by_read, false},
	{"look", told_by_look, false},    {"head", told_by_head, false},
	{"delete", told_by_delete, true},
};

/* ---- the answers ---- */

struct answer {
	const char *name;
	int status;
	const char *headers, *body;
	const char *unseen, *seen,
		*deleted; /* what is said if it was never listed, and if it was */
	bool only_stat;   /* it takes its time: five attempts */
};

static const struct answer *answer_now;
static int answers_left;

static bool give(struct http_stub_answer *answer, const char *target)
{
	if (!strstr(target, "_metadata") || strchr(target, '?') || !answers_left)
		return false;
	answers_left--;
	answer->status = answer_now->status;
	buf_addstr(&answer->headers, answer_now->headers);
	buf_addstr(&answer->body, answer_now->body);
	return true;
}

static void check_all(struct store *store, const char *uri, const struct answer *answers,
		      size_t count, bool seen)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < ARRAY_LEN(functions); k++) {
			struct told told = {.uri = uri};
			const char *expected = functions[k].deletes ? answers[i].deleted
					       : seen               ? answers[i].seen
								    : answers[i].unseen;

			if (answers[i].only_stat && k)
				continue;
			if (functions[k].deletes && seen)
				continue; /* it would be forgotten */
			answer_now = &answers[i];
			answers_left = 1000;
			functions[k].run(store, &told);
			if (!CHECK_STR(told.word, expected))
				tap_note("%s, %s, %s: %s", functions[k].name, answers[i].name,
					 seen ? "listed before" : "never seen", told.why);
		}
}

static int ignore_entry(void *ctx, const struct store_entry *entry, struct err *err)
{
	(void)ctx;
	(void)entry;
	(void)err;
	return 0;
}

static int ignore_dir(void *ctx, const struct store_dir *dir, struct err *err)
{
	(void)ctx;
	(void)dir;
	(void)err;
	return 0;
}

static void list_it(struct store *store, const char *dir)
{
	struct err err = {0};

	if (!CHECK_INT(store_list_dirs(store, dir, "_metadata", ignore_dir, NULL, &err), ==, 0))
		tap_note("%s", err.msg);
}

/* ---- S3 ---- */

#define XML(code, more) "<Error><Code>" code "</Code>" more "</Error>"

static const struct answer s3_answers[] = {
	{"its own", 404, "", XML("NoSuchKey", ""), "absent", "contradicted", "gone", false},
	{"its own, with the key", 404, "", XML("NoSuchKey", "<Key>" NAME "</Key>"), "absent",
	 "contradicted", "gone", false},
	{"of no bucket", 404, "", XML("NoSuchBucket", ""), "config", "config", "config", false},
	{"archived", 403, "", XML("InvalidObjectState", ""), "config", "config", "config", false},
	{"of another key", 404, "", XML("NoSuchKey", "<Key>ck/x</Key>"), "retry", "retry", "retry",
	 true},
	{"of a proxy", 404, "Content-Type: text/plain\r\n", "404 page not found", "retry", "retry",
	 "retry", true},
};

static bool s3_lie(struct s3_stub *stub, const struct http_stub_request *request,
		   struct http_stub_answer *answer)
{
	(void)stub;
	return give(answer, request->target);
}

TEST(s3_says_what_counts_as_absence)
{
	struct world world;

	begin(&world);
	s3_stub_put(world.stub, NAME, 5312);
	s3_stub_put(world.stub, "other/x", 1);
	CHECK_INT(store_list(world.store, "s3://b/other", ignore_entry, NULL, NULL), ==, 0);
	set_fault(&world, s3_lie);
	check_all(world.store, "s3://b/" NAME, s3_answers, ARRAY_LEN(s3_answers), false);
	list_it(world.store, "s3://b/ck/job");
	check_all(world.store, "s3://b/" NAME, s3_answers, ARRAY_LEN(s3_answers), true);
	end(&world);
}

TEST(a_404_of_a_proxy_that_passes_is_asked_again)
{
	static const struct answer proxy = {"of a proxy", 404, "", "no route", "", "", "", false};
	struct told told = {.uri = "s3://b/" NAME};
	struct world world;

	begin(&world);
	s3_stub_put(world.stub, NAME, 5312);
	list_it(world.store, "s3://b/ck/job");
	set_fault(&world, s3_lie);
	for (size_t k = 0; k < ARRAY_LEN(functions) && !functions[k].deletes; k++) {
		answer_now = &proxy;
		answers_left = 1;
		functions[k].run(world.store, &told);
		CHECK_STR(told.word, "found");
		CHECK_INT(answers_left, ==, 0);
	}
	end(&world);
}

TEST(a_directory_that_was_listed_is_not_empty)
{
	struct err err = {0};
	struct world world;

	begin(&world);
	s3_stub_put(world.stub, NAME, 5312);
	list_it(world.store, "s3://b/ck/job");
	CHECK_INT(store_list(world.store, "s3://b/ck", ignore_entry, NULL, &err), ==, 0);
	pthread_mutex_lock(&world.stub->lock);
	world.stub->object_count = 0;
	pthread_mutex_unlock(&world.stub->lock);
	CHECK_INT(
		store_list_dirs(world.store, "s3://b/ck/job", "_metadata", ignore_dir, NULL, &err),
		==, -1);
	CHECK_INT(err.kind, ==, ERR_CONTRADICTED);
	CHECK_HAS(err.msg, "s3://b/ck/job/: listed at ");
	/* nothing is left of it: for who must know what is gone */
	CHECK_INT(store_look_again(world.store, "s3://b/ck/job", &err), ==, 0);
	CHECK_INT(
		store_list_dirs(world.store, "s3://b/ck/job", "_metadata", ignore_dir, NULL, &err),
		==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	world.stub->object_count = 1;
	end(&world);
}

/* ---- Swift ---- */

static const struct answer swift_answers[] = {
	{"its own", 404, "X-Trans-Id: tx1\r\n", "", "absent", "contradicted", "gone", false},
	{"of a proxy", 404, "", "404 page not found", "retry", "retry", "retry", true},
};

static bool swift_lie(struct swift_stub *stub, const struct http_stub_request *request,
		      struct http_stub_answer *answer)
{
	stub->unmarked = true;
	return give(answer, request->target);
}

TEST(swift_says_what_counts_as_absence)
{
	struct swift_stub *stub = stub_new();
	cleanup_free char *url = xasprintf("%s/auth/v1.0", stub->url);
	struct store_config config = {.swift = {.auth_url = url,
						.user = (char *)STUB_USER,
						.password = (char *)STUB_PASSWORD}};
	struct store *store;

	stub_put(stub, NAME, 5312);
	CHECK_INT(store_open(&config, "swift://c", &store, NULL), ==, 0);
	CHECK_INT(store_list(store, "swift://c", ignore_entry, NULL, NULL), ==, 0);
	stub->fault = swift_lie;
	check_all(store, "swift://c/" NAME, swift_answers, ARRAY_LEN(swift_answers), false);
	answers_left = 0;
	list_it(store, "swift://c/ck/job");
	check_all(store, "swift://c/" NAME, swift_answers, ARRAY_LEN(swift_answers), true);
	store_close(store);
	stub_free(stub);
}

/* ---- files ---- */

TEST(a_file_that_vanishes_after_it_was_listed_is_not_absent)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *uri = uri_join(top, "job/chk-5/_metadata"), *job = uri_join(top, "job"),
			  *none = uri_join(top, "job/chk-6/_metadata"),
			  *chk = uri_join(top, "job/chk-5");
	struct told told = {.uri = uri};
	struct store *store;

	dir_put(top, "job/chk-5/_metadata", "12345", 5);
	CHECK_INT(store_open(NULL, top, &store, NULL), ==, 0);
	list_it(store, job);
	CHECK_INT(unlink(uri), ==, 0);
	for (size_t k = 0; k < ARRAY_LEN(functions) && !functions[k].deletes; k++) {
		functions[k].run(store, &told);
		CHECK_STR(told.word, "contradicted");
		CHECK_HAS(told.why, "with 5 bytes, but no such file at ");
	}
	told.uri = none;
	told_by_stat(store, &told);
	CHECK_STR(told.word, "absent");
	CHECK_INT(store_look_again(store, chk, NULL), ==, 0);
	told.uri = uri;
	told_by_stat(store, &told);
	CHECK_STR(told.word, "absent");
	store_close(store);
}

TEST(a_name_that_its_directory_lists_is_not_absent)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *volume = uri_join(top, "volume"), *link = uri_join(top, "link"),
			  *behind = uri_join(top, "link/job/chk-5/_metadata");
	struct told told = {.uri = behind};
	struct store *store;

	/* a volume that is not mounted, behind a link */
	CHECK_INT(symlink(volume, link), ==, 0);
	CHECK_INT(store_open(NULL, top, &store, NULL), ==, 0);
	for (size_t k = 0; k < ARRAY_LEN(functions) && !functions[k].deletes; k++) {
		functions[k].run(store, &told);
		CHECK_STR(told.word, "contradicted");
		CHECK_HAS(told.why, "lists 'link', but ");
	}
	store_close(store);
}

TEST(a_file_that_became_shorter_is_not_read)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *uri = uri_join(top, "job/chk-5/_metadata"), *job = uri_join(top, "job");
	struct told told = {.uri = uri};
	struct store *store;

	dir_put(top, "job/chk-5/_metadata", "12345", 5);
	CHECK_INT(store_open(NULL, top, &store, NULL), ==, 0);
	list_it(store, job);
	CHECK_INT(truncate(uri, 4), ==, 0);
	for (size_t k = 0; k < ARRAY_LEN(functions) && !functions[k].deletes; k++) {
		functions[k].run(store, &told);
		CHECK_STR(told.word, "contradicted");
		CHECK_HAS(told.why, "with 5 bytes, but answered with 4 bytes at ");
	}
	store_close(store);
}

TEST(a_file_that_ends_before_its_size_is_not_read)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *uri = uri_join(top, "f");
	struct store_stream *stream;
	struct err err = {0};
	struct store *store;
	char bytes[10];
	size_t got = 0;

	dir_put(top, "f", "12345", 5);
	CHECK_INT(store_open(NULL, top, &store, NULL), ==, 0);
	CHECK_INT(store_read_open(store, uri, 1, &stream, &err), ==, 0);
	CHECK_INT(truncate(uri, 3), ==, 0);
	CHECK_INT(store_read(stream, bytes, sizeof(bytes), &got, &err), ==, 0);
	CHECK_INT(got, ==, 2);
	CHECK_INT(store_read(stream, bytes, sizeof(bytes), &got, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONTRADICTED);
	CHECK_HAS(err.msg, "it was opened with 4 bytes, but ends after 2");
	store_read_close(stream);
	store_close(store);
}

/* Behind its end a file has no bytes, however far: that says nothing of its size, unless it was seen to reach there. */
TEST(a_read_behind_the_end_of_a_file_does_not_make_it_longer)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *uri = uri_join(top, "f");
	struct store_stream *stream;
	struct err err = {0};
	struct store *store;

	dir_put(top, "f", "12345", 5);
	CHECK_INT(store_open(NULL, top, &store, NULL), ==, 0);
	for (int64_t offset = 99; offset >= 0; offset -= 33) {
		CHECK_INT(store_read_open(store, uri, offset, &stream, &err), ==, 0);
		CHECK_INT(store_read_size(stream), ==, offset ? 0 : 5);
		store_read_close(stream);
	}
	CHECK_INT(truncate(uri, 3), ==, 0);
	CHECK_INT(store_read_open(store, uri, 4, &stream, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONTRADICTED);
	CHECK_HAS(err.msg, "found at");
	CHECK_HAS(err.msg, "with 5 bytes, but has nothing from byte 4 on at");
	store_close(store);
}

static int tell_leaf(void *ctx, const struct store_dir *dir, struct err *err)
{
	struct told *told = ctx;

	(void)err;
	told->word = dir->leaf == STORE_LEAF_PRESENT  ? "found"
		     : dir->leaf == STORE_LEAF_ABSENT ? "absent"
						      : word_of(dir->why);
	return 0;
}

TEST(the_leaf_of_a_directory_that_was_seen_before_is_not_absent)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *uri = uri_join(top, "chk-5/_metadata");
	struct told told = {.uri = uri};
	struct store *store;

	dir_put(top, "chk-5/_metadata", "12345", 5);
	CHECK_INT(store_open(NULL, top, &store, NULL), ==, 0);
	CHECK_INT(store_list_dirs(store, top, "_metadata", tell_leaf, &told, NULL), ==, 0);
	CHECK_STR(told.word, "found");
	CHECK_INT(unlink(uri), ==, 0);
	CHECK_INT(store_list_dirs(store, top, "_metadata", tell_leaf, &told, NULL), ==, 0);
	CHECK_STR(told.word, "contradicted");
	store_close(store);
}

TEST(what_the_store_was_told_to_delete_may_be_absent)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *uri = uri_join(top, "f");
	struct told told = {.uri = uri};
	struct store *store;

	dir_put(top, "f", "12345", 5);
	CHECK_INT(store_open(NULL, top, &store, NULL), ==, 0);
	told_by_stat(store, &told);
	CHECK_STR(told.word, "found");
	told_by_delete(store, &told);
	CHECK_STR(told.word, "gone");
	told_by_stat(store, &told);
	CHECK_STR(told.word, "absent");
	store_close(store);
}
