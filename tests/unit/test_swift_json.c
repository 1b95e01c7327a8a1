#include "format/swift_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tap.h"

/* ---- listings ---- */

struct seen {
	struct buf text; /* "name size mtime flags\n" of each */
	int count;
	int end_at; /* return `end_with` at this entry; 0 never */
	int end_with;
};

static int on_entry(void *ctx, const struct swift_json_entry *entry, struct err *err)
{
	struct seen *seen = ctx;

	buf_addf(&seen->text, "%s %lld %lld%s%s%s %s\n", entry->name, (long long)entry->size_bytes,
		 (long long)entry->mtime_unix_ms, entry->is_subdir ? " subdir" : "",
		 entry->is_directory ? " directory" : "", entry->size_in_doubt ? " doubt" : "",
		 entry->hash ? entry->hash : "-");
	if (++seen->count != seen->end_at)
		return 0;
	return seen->end_with < 0 ? err_set(err, ERR_BUSY, 0, "enough") : seen->end_with;
}

static int list(const char *text, struct seen *seen, struct err *err)
{
	return swift_json_listing(text, strlen(text), on_entry, seen, err);
}

static void reads(const char *text, const char *want)
{
	struct seen seen = {0};
	struct err err = {0};

	CHECK_INT(list(text, &seen, &err), >=, 0);
	CHECK_STR(err.msg, "");
	CHECK_STR(buf_str(&seen.text), want);
	buf_release(&seen.text);
}

static void refused(const char *text, const char *why)
{
	struct seen seen = {0};
	struct err err = {0};

	CHECK_INT(list(text, &seen, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_HAS(err.msg, why);
	buf_release(&seen.text);
}

#define OBJECT(name, bytes, more)                                                                  \
	"{\"name\":\"" name "\",\"bytes\":" bytes ",\"last_modified\":"                            \
	"\"2026-11-21T15:13:36.355440\"" more "}"
#define HASH ",\"hash\":\"d41d8cd98f00b204e9800998ecf8427e\""
#define AT   "1795274016355"

TEST(reads_a_page_of_a_real_swift)
{
	reads("[]", "");
	reads("[" OBJECT("a/b", "5",
			 HASH ",\"content_type\":\"text/plain\"") ","
								  "{\"subdir\":\"d\\u00e9 %/\"}]",
	      "a/b 5 " AT " d41d8cd98f00b204e9800998ecf8427e\n"
	      "d\xc3\xa9 %/ -1 -1 subdir -\n");
}

TEST(an_slo_has_its_whole_size)
{
	reads("[" OBJECT("slo", "200", ",\"hash\":\"cbe8\",\"slo_etag\":\"\\\"e18e\\\"\"") "]",
	      "slo 200 " AT " cbe8\n");
}

TEST(an_empty_object_may_be_a_dlo)
{
	reads("[" OBJECT("dlo", "0", HASH ",\"content_type\":\"binary/octet-stream\"") "]",
	      "dlo 0 " AT " doubt d41d8cd98f00b204e9800998ecf8427e\n");
	reads("[" OBJECT("dlo", "0", "") "]", "dlo 0 " AT " doubt -\n");
}

TEST(knows_what_stands_for_a_directory)
{
	reads("[" OBJECT("d", "0", ",\"content_type\":\"Application/Directory; charset=x\"") "]",
	      "d 0 " AT " directory -\n");
	/* not when there is something in it */
	reads("[" OBJECT("d", "1", ",\"content_type\":\"application/directory\"") "]",
	      "d 1 " AT " -\n");
	CHECK(swift_json_is_directory("application/x-directory"));
	CHECK(!swift_json_is_directory("application/directories"));
	CHECK(!swift_json_is_directory(""));
}

TEST(takes_times_with_and_without_a_zone)
{
	reads("[{\"name\":\"a\",\"bytes\":1,\"last_modified\":\"2026-11-21T15:13:36.355Z\"}]",
	      "a 1 " AT " -\n");
	reads("[{\"name\":\"a\",\"bytes\":1,\"last_modified\":\"2026-11-21T16:13:36.355+01:00\"}]",
	      "a 1 " AT " -\n");
	reads("[{\"name\":\"a\",\"bytes\":1,\"last_modified\":\"2026-11-21T15:13:36\"}]",
	      "a 1 1795274016000 -\n");
	refused("[{\"name\":\"a\",\"bytes\":1,\"last_modified\":\"yesterday\"}]", "last_modified");
	refused("[{\"name\":\"a\",\"bytes\":1,\"last_modified\":\"2026-13-21T15:13:36\"}]",
		"last_modified");
	refused("[{\"name\":\"a\",\"bytes\":1,\"last_modified\":\"\"}]", "last_modified");
}

TEST(refuses_the_whole_page_for_one_bad_entry)
{
	refused("[" OBJECT("a", "1", "") ",{}]", "entry 1 of the listing: 'name'");
	refused("[" OBJECT("", "1", "") "]", "'name' is empty");
	refused("[" OBJECT("a", "-1", "") "]", "'bytes' is negative");
	refused("[" OBJECT("a", "1.5", "") "]", "'bytes'");
	refused("[" OBJECT("a", "\"1\"", "") "]", "'bytes'");
	refused("[" OBJECT("a", "99999999999999999999", "") "]", "'bytes'");
	refused("[" OBJECT("a", "1", ",\"hash\":7") "]", "'hash'");
	refused("[{\"name\":\"a\",\"bytes\":1}]", "'last_modified'");
	refused("[{\"subdir\":\"\"}]", "'subdir' is empty");
	refused("[{\"subdir\":\"a/\",\"name\":\"a\"}]", "beside 'name'");
	refused("[{\"subdir\":1}]", "'subdir'");
	refused("[null]", "is null, not an object");
	refused("{}", "not an array");
	refused("[" OBJECT("a", "1", "") "", "the listing");
	refused("", "the listing");
	refused("<html>", "the listing");
}

TEST(ends_when_the_caller_has_enough)
{
	static const char text[] =
		"[" OBJECT("a", "1", "") "," OBJECT("b", "2", "") "," OBJECT("c", "3", "") "]";
	struct seen seen = {.end_at = 2, .end_with = 1};
	struct err err = {0};

	CHECK_INT(list(text, &seen, &err), ==, 3);
	CHECK_INT(seen.count, ==, 2);
	buf_release(&seen.text);
	seen = (struct seen){.end_at = 1, .end_with = -1};
	CHECK_INT(list(text, &seen, &err), ==, -1);
	CHECK_INT(seen.count, ==, 1);
	CHECK_STR(err.msg, "enough");
	buf_release(&seen.text);
}

TEST(reads_a_page_of_ten_thousand)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct seen seen = {0};
	struct err err = {0};

	buf_addch(&text, '[');
	for (int i = 0; i < 10000; i++)
		buf_addf(&text,
			 "%s{\"name\":\"dir/%06d\",\"bytes\":%d,\"last_modified\":"
			 "\"2026-11-21T15:13:36.355440\"" HASH "}",
			 i ? "," : "", i, i);
	buf_addch(&text, ']');
	CHECK_INT(list(buf_str(&text), &seen, &err), ==, 10000);
	CHECK_INT(seen.count, ==, 10000);
	buf_release(&seen.text);
}

/* ---- Keystone ---- */

#define ENDPOINT(interface, region, url)                                                           \
	"{\"interface\":\"" interface "\",\"region\":\"" region "\",\"region_id\":\"" region       \
	"\",\"url\":\"" url "\",\"id\":\"x\"}"
#define TOKEN(endpoints)                                                                           \
	"{\"token\":{\"expires_at\":\"2026-11-21T16:00:00.000000Z\",\"issued_at\":"                \
	"\"2026-11-21T15:00:00.000000Z\",\"catalog\":["                                            \
	"{\"type\":\"identity\",\"endpoints\":[" ENDPOINT(                                         \
		"public", "One", "http://id") "]},"                                                \
					      "{\"type\":\"object-store\",\"name\":\"swift\","     \
					      "\"endpoints\":[" endpoints "]}]}}"

static int token(const char *text, const char *region, struct swift_json_token *ret,
		 struct err *err)
{
	return swift_json_token(text, strlen(text), region, ret, err);
}

static void gives(const char *text, const char *region, const char *url)
{
	struct swift_json_token got = {0};
	struct err err = {0};

	CHECK_INT(token(text, region, &got, &err), ==, 0);
	CHECK_STR(err.msg, "");
	CHECK_STR(got.storage_url, url);
	CHECK_INT(got.expires_unix_ms, ==, 1795276800000);
	free(got.storage_url);
}

static void gives_none(const char *text, const char *region, enum err_kind kind, const char *why)
{
	struct swift_json_token got = {.storage_url = NULL, .expires_unix_ms = 7};
	struct err err = {0};

	CHECK_INT(token(text, region, &got, &err), ==, -1);
	CHECK_INT(err.kind, ==, kind);
	CHECK_HAS(err.msg, why);
	CHECK_INT(got.expires_unix_ms, ==, 7);
}

TEST(finds_the_public_address)
{
	gives(TOKEN(ENDPOINT("internal", "One", "http://i/v1/A") "," ENDPOINT(
		      "public", "One", "http://p/v1/A/") "," ENDPOINT("admin", "One", "http://a")),
	      NULL, "http://p/v1/A");
	/* the same one twice is one */
	gives(TOKEN(ENDPOINT("public", "One", "http://p/v1/A") "," ENDPOINT("public", "One",
									    "http://p/v1/A")),
	      NULL, "http://p/v1/A");
}

TEST(chooses_the_region)
{
	static const char two[] = TOKEN(
		ENDPOINT("public", "One", "http://1") "," ENDPOINT("public", "Two", "http://2"));

	gives(two, "One", "http://1");
	gives(two, "Two", "http://2");
	gives_none(two, NULL, ERR_CONFIG, "several regions, set one of them: One, Two");
	gives_none(two, "Three", ERR_CONFIG,
		   "no object store in the region 'Three', only in: One, Two");
	gives_none(TOKEN(ENDPOINT("public", "One", "http://1") "," ENDPOINT("public", "One",
									    "http://2")),
		   "One", ERR_CONFIG, "several object stores in the region 'One'");
}

TEST(says_what_is_missing_in_a_catalog)
{
	gives_none(TOKEN(""), NULL, ERR_CONFIG, "no object store with a public address");
	gives_none(TOKEN(ENDPOINT("internal", "One", "http://1")), NULL, ERR_CONFIG,
		   "no object store with a public address");
	gives_none("{\"token\":{\"expires_at\":\"2026-11-21T16:00:00Z\"}}", NULL, ERR_CONFIG,
		   "set a project");
	gives_none("{\"token\":{\"expires_at\":\"soon\",\"catalog\":[]}}", NULL, ERR_FORMAT,
		   "'expires_at'");
	gives_none("{\"token\":{\"catalog\":[{\"type\":\"object-store\"}]}}", NULL, ERR_FORMAT,
		   "'endpoints'");
	gives_none("{\"token\":{\"catalog\":[{}]}}", NULL, ERR_FORMAT, "'type'");
	gives_none("{\"token\":{\"catalog\":[{\"type\":\"object-store\",\"endpoints\":[{}]}]}}",
		   NULL, ERR_FORMAT, "'interface'");
	gives_none("{}", NULL, ERR_FORMAT, "'token'");
	gives_none("<html>", NULL, ERR_FORMAT, "the answer to the sign-in");
}
