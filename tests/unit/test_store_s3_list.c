#include "s3_world.h"
#include "store/store_ops.h"
#include "store/store_walk.h"

/* ---- listings ---- */

static int add_entry(void *ctx, const struct store_entry *entry, struct err *err)
{
	struct buf *text = ctx;

	(void)err;
	buf_addf(text, "%s", entry->name);
	if (!entry->is_prefix && CHECK_INT(entry->stat.mtime_unix_ms, ==, S3_STUB_TIME_MS))
		buf_addf(text, "=%jd", (intmax_t)entry->stat.size_bytes);
	buf_addstr(text, entry->is_prefix ? "/ " : " ");
	return 0;
}

static void check_list(struct world *world, const char *uri, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	world->err = (struct err){0};
	if (!CHECK_INT(store_list(world->store, uri, add_entry, &text, &world->err), ==, 0))
		tap_note("%s", world->err.msg);
	CHECK_STR(buf_str(&text), want);
}

#define WORLD_TEST(name) TEST_WITH(name, struct world, world, begin, end)

WORLD_TEST(lists_one_level_over_many_pages)
{
	world->stub->page = 2;
	s3_stub_put(world->stub, "a&b=c/d e+f/", 0); /* the directory itself */
	s3_stub_put(world->stub, "a&b=c/d e+f/1", 1);
	s3_stub_put(world->stub, "a&b=c/d e+f/2/x", 1);
	s3_stub_put(world->stub, "a&b=c/d e+f/2/y", 1);
	s3_stub_put(world->stub, "a&b=c/d e+f/2/z", 1);
	s3_stub_put(world->stub, "a&b=c/d e+f/3", 3);
	s3_stub_put(world->stub, "a&b=c/d e+f/4 +%/x", 3);
	s3_stub_put(world->stub, "a&b=c/d e+f//x", 3);
	s3_stub_put(world->stub, "a&b=c/d e+f/../x", 3);
	s3_stub_put(world->stub, "a&b=c/d e+f-more", 3);
	check_list(world, "s3://b/a&b=c/d e+f", "1=1 2/ 3=3 4 +%/ ");
	CHECK_INT(s3_stub_requests(world->stub), ==, 6);
	check_list(world, "s3://b", "a&b=c/ ");
}

WORLD_TEST(what_nothing_begins_with_is_absent)
{
	check_list(world, "s3://b", ""); /* the bucket is there */
	s3_stub_put(world->stub, "dir/", 0);
	s3_stub_put(world->stub, "directory/x", 0);
	check_list(world, "s3://b/dir", "");
	check_no_list(world, "s3://b/direct", ERR_ABSENT, "no name starts with s3://b/direct/");
}

#define PAGE(inner) "<ListBucketResult>" inner "</ListBucketResult>"
#define NAME(name)                                                                                 \
	"<Contents><Key>ck/" name "</Key><LastModified>2026-03-01T12:00:00Z</LastModified>"        \
	"<Size>1</Size></Contents>"
#define MORE(token)                                                                                \
	"<IsTruncated>true</IsTruncated><NextContinuationToken>" token "</NextContinuationToken>"
#define LAST "<IsTruncated>false</IsTruncated>"

/* What the second page may be, and what is said of it. */
static const struct broken {
	const char *page, *why;
} broken[] = {
	{"", "no element"},
	{"<ListBucketResult>" NAME("b"), "page 2"},
	{PAGE(NAME("b")), "IsTruncated is missing"},
	{PAGE(NAME("b") "<IsTruncated>true</IsTruncated>"), "without a token"},
	{PAGE(NAME("a") LAST), "out of order"},
	{PAGE(NAME("c") NAME("b") LAST), "out of order"},
	{PAGE(NAME("b/c") LAST), "below the requested directory"},
	{PAGE("<CommonPrefixes><Prefix>ck/b</Prefix></CommonPrefixes>" LAST),
	 "not a requested prefix"},
	{PAGE("<CommonPrefixes><Prefix>ck/b/c/</Prefix></CommonPrefixes>" LAST),
	 "below the requested"},
	{PAGE("<CommonPrefixes><Prefix>other/</Prefix></CommonPrefixes>" LAST), "not start with"},
	{"<Error><Code>InternalError</Code></Error>", "found Error"},
};

/* Not the first page: it begins somewhere. */
static bool is_later(const struct http_stub_request *request)
{
	return strstr(request->target, "continuation-token=") ||
	       strstr(request->target, "start-after=");
}

static bool second_is_broken(struct s3_stub *stub, const struct http_stub_request *request,
			     struct http_stub_answer *answer)
{
	buf_addstr(&answer->body,
		   is_later(request) ? broken[stub->faults].page : PAGE(NAME("a") MORE("t")));
	return true;
}

WORLD_TEST(a_broken_page_voids_the_listing)
{
	set_fault(world, second_is_broken);
	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		cleanup_buf struct buf text = BUF_INIT;

		world->stub->faults = (int)i;
		world->err = (struct err){0};
		CHECK_INT(store_list(world->store, "s3://b/ck", add_entry, &text, &world->err), ==,
			  -1);
		CHECK_INT(world->err.kind, ==, ERR_FORMAT);
		CHECK_HAS(world->err.msg, "list s3://b/ck, page 2: ");
		CHECK_HAS(world->err.msg, broken[i].why);
	}
}

static bool second_comes_again(struct s3_stub *stub, const struct http_stub_request *request,
			       struct http_stub_answer *answer)
{
	stub->faults++;
	buf_addstr(&answer->body,
		   is_later(request) ? PAGE(NAME("b") MORE("t")) : PAGE(NAME("a") MORE("t")));
	return true;
}

static bool is_empty_for_ever(struct s3_stub *stub, const struct http_stub_request *request,
			      struct http_stub_answer *answer)
{
	(void)request;
	buf_addf(&answer->body,
		 "<ListBucketResult><Prefix>ck/</Prefix><IsTruncated>true</IsTruncated>"
		 "<NextContinuationToken>%d</NextContinuationToken></ListBucketResult>",
		 ++stub->faults);
	return true;
}

/* Each page joins the one before, and has greater names: nothing but their number shows that it never ends. */
static bool grows_for_ever(struct s3_stub *stub, const struct http_stub_request *request,
			   struct http_stub_answer *answer)
{
	const char *after = strstr(request->target, "start-after=ck%2F");
	int from = after ? atoi(after + strlen("start-after=ck%2F")) : 100000;

	stub->faults++;
	buf_addstr(&answer->body, "<ListBucketResult>");
	for (int i = from + 1; i <= from + 2; i++)
		buf_addf(
			&answer->body,
			"<Contents><Key>ck/%d</Key><LastModified>2026-03-01T12:00:00Z</LastModified>"
			"<Size>1</Size></Contents>",
			i);
	buf_addf(&answer->body, MORE("t%d") "</ListBucketResult>", from);
	return true;
}

WORLD_TEST(a_listing_of_ever_greater_names_is_ended)
{
	static const struct store_walk_limits rows[] = {
		{.pages = 40, .names = 1000, .ms = 60000},
		{.pages = 1000, .names = 80, .ms = 60000},
		{.pages = 1000000, .names = 1000000000, .ms = 300},
	};

	set_fault(world, grows_for_ever);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_buf struct buf text = BUF_INIT;

		world->stub->faults = 0;
		world->err = (struct err){0};
		world->store->limits = &rows[i];
		CHECK_INT(store_list(world->store, "s3://b/ck", add_entry, &text, &world->err), ==,
			  -1);
		CHECK_INT(world->err.kind, ==, ERR_FORMAT);
		CHECK_HAS(world->err.msg, "the listing has no end: ");
		CHECK_HAS(world->err.msg, " pages with ");
		if (i < 2)
			CHECK_INT(world->stub->faults, ==, 40);
	}
}

WORLD_TEST(a_listing_without_an_end_is_ended)
{
	cleanup_buf struct buf text = BUF_INIT;

	set_fault(world, second_comes_again);
	CHECK_INT(store_list(world->store, "s3://b/ck", add_entry, &text, &world->err), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_FORMAT);
	CHECK_HAS(world->err.msg, "list s3://b/ck, page 2: the next page is the same one again");
	CHECK_INT(world->stub->faults, ==, 2);
	set_fault(world, is_empty_for_ever);
	CHECK_INT(store_list(world->store, "s3://b/ck", add_entry, &text, &world->err), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_FORMAT);
	CHECK_HAS(world->err.msg, "100 pages without a name");
	CHECK_INT(world->stub->faults, ==, 101);
}

/* A token may stand for a name that no page has returned. */
WORLD_TEST(a_page_begins_after_a_name_that_was_returned)
{
	cleanup_buf struct buf text = BUF_INIT;

	world->stub->page = 3;
	for (char c = 'a'; c < 'h'; c++) {
		char key[] = {'c', 'k', '/', c, '\0'},
		     below[] = {'c', 'k', '/', c, 'd', '/', 'f', '\0'};

		s3_stub_put(world->stub, key, 1);
		s3_stub_put(world->stub, below, 1);
	}
	CHECK_INT(store_list(world->store, "s3://b/ck", add_entry, &text, &world->err), ==, 0);
	for (char c = 'a'; c < 'h'; c++) {
		char file[] = {c, '\0'}, dir[] = {c, 'd', '\0'};

		CHECK_HAS(buf_str(&text), file);
		CHECK_HAS(buf_str(&text), dir);
	}
	CHECK(!strstr(buf_str(&world->stub->seen), "continuation-token"));
	CHECK_INT(world->stub->lists, ==, 7);
}

static bool second_is_cut(struct s3_stub *stub, const struct http_stub_request *request,
			  struct http_stub_answer *answer)
{
	if (!is_later(request))
		return false;
	stub->faults++;
	buf_addstr(&answer->body, PAGE(NAME("b") LAST));
	answer->cut_at_bytes = 30;
	return true;
}

static bool second_is_denied(struct s3_stub *stub, const struct http_stub_request *request,
			     struct http_stub_answer *answer)
{
	return is_later(request) && denied(stub, request, answer);
}

WORLD_TEST(a_lost_page_voids_the_listing)
{
	cleanup_buf struct buf text = BUF_INIT;

	world->stub->page = 1;
	s3_stub_put(world->stub, "ck/a", 1);
	s3_stub_put(world->stub, "ck/b", 1);
	set_fault(world, second_is_cut);
	CHECK_INT(store_list(world->store, "s3://b/ck", add_entry, &text, &world->err), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_RETRY);
	CHECK_INT(world->stub->faults, ==, 5);
	set_fault(world, second_is_denied);
	CHECK_INT(store_list(world->store, "s3://b/ck", add_entry, &text, &world->err), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_DENIED);
}

static bool no_such_key(struct s3_stub *stub, const struct http_stub_request *request,
			struct http_stub_answer *answer)
{
	(void)stub;
	(void)request;
	s3_stub_error(answer, 404, "NoSuchKey", "");
	return true;
}

WORLD_TEST(only_an_empty_listing_is_absence)
{
	set_fault(world, no_such_key);
	check_no_list(world, "s3://b/ck", ERR_FORMAT, "HTTP 404 NoSuchKey");
}

static bool ask_inside(struct s3_stub *stub, const struct http_stub_request *request,
		       struct http_stub_answer *answer)
{
	(void)request;
	(void)answer;
	stub->faults++;
	return false;
}

static int stat_inside(void *ctx, const struct store_entry *entry, struct err *err)
{
	cleanup_free char *uri = xasprintf("s3://b/ck/%s", entry->name);
	struct world *world = ctx;
	struct store_stat stat;

	if (store_stat(world->store, uri, &stat, err))
		return -1;
	return !strcmp(entry->name, "b"); /* and that is enough */
}

WORLD_TEST(the_store_may_be_asked_while_it_is_listed)
{
	world->stub->page = 1;
	s3_stub_put(world->stub, "ck/a", 1);
	s3_stub_put(world->stub, "ck/b", 1);
	s3_stub_put(world->stub, "ck/c", 1);
	set_fault(world, ask_inside);
	if (!CHECK_INT(store_list(world->store, "s3://b/ck", stat_inside, world, &world->err), ==,
		       0))
		tap_note("%s", world->err.msg);
	CHECK_INT(world->stub->faults, ==, 4);
}

/* ---- directories ---- */

struct dirs {
	int present, absent, wrong;
	char last[32];
};

static int on_dir(void *ctx, const struct store_dir *dir, struct err *err)
{
	struct dirs *dirs = ctx;

	(void)err;
	dirs->present += dir->leaf == STORE_LEAF_PRESENT;
	dirs->absent += dir->leaf == STORE_LEAF_ABSENT;
	dirs->wrong += dir->leaf == STORE_LEAF_UNREADABLE;
	if (dir->leaf == STORE_LEAF_PRESENT)
		dirs->wrong +=
			dir->stat.size_bytes != 5 || dir->stat.mtime_unix_ms != S3_STUB_TIME_MS;
	dirs->wrong += !strcmp(dirs->last, dir->name);
	snprintf(dirs->last, sizeof(dirs->last), "%s", dir->name);
	return 0;
}

static void put_dirs(struct s3_stub *stub, int count, int files)
{
	for (int i = 0; i < count; i++) {
		for (int j = 0; j < files; j++) {
			cleanup_free char *file = xasprintf("sp/d%04d/%04d", i, j);

			stub->objects[stub->object_count++] =
				(struct s3_object){xstrdup(file), 1, "\"e\""};
		}
		if (i != 3) {
			cleanup_free char *leaf = xasprintf("sp/d%04d/_metadata", i);

			stub->objects[stub->object_count++] =
				(struct s3_object){xstrdup(leaf), 5, "\"e\""};
		}
	}
	qsort(stub->objects, stub->object_count, sizeof(*stub->objects), s3_stub_by_key);
}

static void check_dirs(int count, int files, int most_requests)
{
	struct dirs found = {0};
	struct world world;

	begin(&world);
	put_dirs(world.stub, count, files);
	if (!CHECK_INT(store_list_dirs(world.store, "s3://b/sp", "_metadata", on_dir, &found,
				       &world.err),
		       ==, 0))
		tap_note("%s", world.err.msg);
	CHECK_INT(found.present, ==, count - 1);
	CHECK_INT(found.absent, ==, 1);
	CHECK_INT(found.wrong, ==, 0);
	CHECK_INT(s3_stub_requests(world.stub), <=, most_requests);
	/* where the names go on as directories */
	CHECK_INT(strstr(buf_str(&world.stub->seen), "delimiter=%2F") != NULL, ==, files > 100);
	CHECK_INT(strstr(buf_str(&world.stub->seen), "start-after=sp%2Fd0005\n") != NULL, ==,
		  files > 100);
	end(&world);
}

TEST(few_files_to_a_directory_cost_a_page_per_thousand)
{
	/* two pages of names, and what reading them in spans may cost in addition */
	check_dirs(2000, 1, 2 + 6);
}

TEST(many_files_to_a_directory_cost_a_question_each)
{
	/* a thousand names, the directories, and the leaf of each (one more where it is absent) */
	check_dirs(40, 150, 2 + 1 + 40 + 1);
}

/* ---- spans: several pages at once ---- */

enum { SPREAD = 12000, SPREAD_PAGES = SPREAD / 1000 };

/* Savepoints of one job with random names, as Flink makes them. */
static void put_spread(struct s3_stub *stub, int count)
{
	for (int i = 0; i < count; i++) {
		uint64_t random = (uint64_t)(i + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 16;

		stub->objects[stub->object_count++] = (struct s3_object){
			xasprintf("sp/savepoint-5b2c01-%012jx/_metadata", (uintmax_t)random), 5,
			"\"e\""};
	}
	qsort(stub->objects, stub->object_count, sizeof(*stub->objects), s3_stub_by_key);
}

struct seen {
	const struct s3_stub *stub;
	char *times; /* of each object */
	int strange;
};

static int see_dir(void *ctx, const struct store_dir *dir, struct err *err)
{
	cleanup_free char *key = xasprintf("sp/%s/_metadata", dir->name);
	struct seen *seen = ctx;
	struct s3_stub *stub = (struct s3_stub *)(uintptr_t)seen->stub;
	const struct s3_object *object = s3_stub_find(stub, key);

	(void)err;
	if (object && dir->leaf == STORE_LEAF_PRESENT)
		seen->times[object - stub->objects]++;
	else
		seen->strange++;
	return 0;
}

/* 0 when each was passed on exactly once; else how many were not. */
static int list_spread(struct world *world, int *ret_rc)
{
	struct seen seen = {world->stub, xcalloc(world->stub->object_count, 1), 0};
	int wrong = 0;

	world->err = (struct err){0};
	*ret_rc = store_list_dirs(world->store, "s3://b/sp", "_metadata", see_dir, &seen,
				  &world->err);
	for (size_t i = 0; i < world->stub->object_count; i++)
		wrong += seen.times[i] != 1;
	free(seen.times);
	return wrong + seen.strange;
}

static void check_spread(struct world *world, int most_requests)
{
	int rc;

	s3_stub_requests(world->stub);
	CHECK_INT(list_spread(world, &rc), ==, 0);
	if (!CHECK_INT(rc, ==, 0))
		tap_note("%s", world->err.msg);
	CHECK_INT(s3_stub_requests(world->stub), <=, most_requests);
}

WORLD_TEST(many_names_are_read_in_spans)
{
	put_spread(world->stub, SPREAD);
	check_spread(world, SPREAD_PAGES + 7);
	CHECK_HAS(buf_str(&world->stub->seen), "start-after=sp%2Fsavepoint-5b2c01-");
}

WORLD_TEST(what_is_between_and_behind_the_savepoints_is_read_too)
{
	static const char *const other[] = {
		"sp/a/_metadata",
		"sp/savepoint-/_metadata",
		"sp/savepoint-5b2c01-/_metadata",
		"sp/savepoint-5b2c01-8/_metadata",
		"sp/savepoint-5b2c01-88/_metadata",
		"sp/savepoint-5b2c01-ffffffffffff0/_metadata",
		"sp/savepoint-5b2c01-g/_metadata",
		"sp/savepoint-5b2c01-x~/_metadata",
		"sp/savepoint-f00000-000000000000/_metadata",
		"sp/z/_metadata",
		"sp/\xC3\xA9/_metadata",
	};

	put_spread(world->stub, SPREAD);
	for (size_t i = 0; i < ARRAY_LEN(other); i++)
		s3_stub_put(world->stub, other[i], 5);
	check_spread(world, SPREAD_PAGES + 8);
}

static bool cuts_are_late;

static bool begins_anew(struct s3_stub *stub, const struct http_stub_request *request,
			struct http_stub_answer *answer)
{
	char *start = strstr(request->target, "start-after=");

	stub->faults += start != NULL;
	/* the answers to what begins after a cut come later than the second page */
	if (cuts_are_late && start && !strstr(start, "_metadata"))
		answer->after_ms = 100;
	if (start)
		memcpy(start, "stxrt", 5);
	return false;
}

static void read_from_the_beginning(struct world *world, bool late)
{
	int rc;

	cuts_are_late = late;
	put_spread(world->stub, SPREAD);
	/* the signature is not that of the changed request, so the stub must not check it */
	world->stub->unsigned_ok = true;
	set_fault(world, begins_anew);
	CHECK_INT(list_spread(world, &rc), ==, 0);
	if (!CHECK_INT(rc, ==, 0))
		tap_note("%s", world->err.msg);
	CHECK_INT(s3_stub_requests(world->stub), <=, 2 * SPREAD_PAGES + STORE_IN_FLIGHT);
	CHECK_INT(world->stub->faults, >, 0);
}

WORLD_TEST(a_store_that_ignores_where_to_begin_is_read_page_by_page)
{
	read_from_the_beginning(world, false);
}

WORLD_TEST(also_if_that_shows_after_the_second_page)
{
	read_from_the_beginning(world, true);
}

/* What the server does to a later page of a later span. */
static const struct lie {
	const char *page; /* NULL: see the fault */
	int status;
	enum err_kind kind;
	const char *why;
} lies[] = {
	{NULL, 403, ERR_DENIED, "AccessDenied"},
	{NULL, 503, ERR_RETRY, "gave up after 5 attempts"},
	{NULL, 404, ERR_CONFIG, "NoSuchBucket"},
	{NULL, 1, ERR_RETRY, ""}, /* cut short */
	{"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", 200, ERR_FORMAT,
	 "without a token"},
	{"<ListBucketResult><IsTruncated>false</IsTruncated>"
	 "<NextContinuationToken>t</NextContinuationToken></ListBucketResult>",
	 200, ERR_FORMAT, ""},
	/* what was in an earlier span: overlapping, and out of order */
	{"<ListBucketResult><Contents><Key>sp/a/_metadata</Key>"
	 "<LastModified>2026-03-01T12:00:00Z</LastModified><Size>1</Size></Contents>"
	 "<IsTruncated>false</IsTruncated></ListBucketResult>",
	 200, ERR_FORMAT, "out of order"},
	{"<ListBucketResult><Contents><Key>other/x/_metadata</Key>"
	 "<LastModified>2026-03-01T12:00:00Z</LastModified><Size>1</Size></Contents>"
	 "<IsTruncated>false</IsTruncated></ListBucketResult>",
	 200, ERR_FORMAT, "requested prefix"},
	{"<ListBucketResult>", 200, ERR_FORMAT, ""},
};

/* The second page of a span other than the first one. */
static bool lies_in_a_span(struct s3_stub *stub, const struct http_stub_request *request,
			   struct http_stub_answer *answer)
{
	cleanup_free char *start = s3_stub_parameter(request->target, "start-after");
	const struct lie *lie = stub->fault_arg;

	/* a cut has no slash, and a later page begins after a name that was returned */
	if (!start || !strstr(start, "/_metadata") || strcmp(start, "sp/savepoint-5b2c01-8") < 0)
		return false;
	stub->faults++;
	if (lie->status == 503)
		buf_addstr(&answer->headers, "Retry-After: 0\r\n");
	if (lie->page)
		buf_addstr(&answer->body, lie->page);
	else if (lie->status == 1)
		s3_stub_list(stub, request, answer);
	else
		s3_stub_error(answer, lie->status,
			      lie->status == 403   ? "AccessDenied"
			      : lie->status == 404 ? "NoSuchBucket"
						   : "SlowDown",
			      "");
	if (lie->status == 1)
		answer->cut_at_bytes = 3000;
	return true;
}

WORLD_TEST(a_broken_span_voids_the_whole)
{
	int rc;

	put_spread(world->stub, SPREAD);
	for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
		const struct lie *lie = &lies[i];

		set_fault_with(world, lies_in_a_span, lie);
		list_spread(world, &rc);
		CHECK_INT(rc, ==, -1);
		CHECK_INT(world->stub->faults, >, 0);
		if (!CHECK_INT(world->err.kind, ==, lie->kind))
			tap_note("%zu: %s", i, world->err.msg);
		CHECK_HAS(world->err.msg, "list s3://b/sp, page 2 after 'savepoint-5b2c01-");
		CHECK_HAS(world->err.msg, lie->why);
	}
}

/* Honours the first cuts, and ignores a later one. A cut has no slash; what a page has returned does. */
static bool forgets(struct s3_stub *stub, const struct http_stub_request *request,
		    struct http_stub_answer *answer)
{
	char *start = strstr(request->target, "start-after=");

	(void)answer;
	if (start && !strstr(start, "_metadata") && stub->faults++ >= 3)
		memcpy(start, "stxrt", 5);
	return false;
}

WORLD_TEST(a_name_before_the_beginning_of_its_span_is_a_lie)
{
	int rc;

	put_spread(world->stub, SPREAD);
	world->stub->unsigned_ok = true;
	set_fault(world, forgets);
	list_spread(world, &rc);
	CHECK_INT(rc, ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_FORMAT);
	CHECK_HAS(world->err.msg, "was not requested, only what comes after");
}

/* A page without names that is not the last one. */
static bool pauses(struct s3_stub *stub, const struct http_stub_request *request,
		   struct http_stub_answer *answer)
{
	cleanup_free char *start = s3_stub_parameter(request->target, "start-after");

	if (!start)
		return false;
	stub->faults++;
	buf_addstr(&answer->body,
		   "<ListBucketResult><Prefix>sp/</Prefix><IsTruncated>true</IsTruncated>"
		   "<NextContinuationToken>");
	percent_encode(&answer->body, start, false);
	buf_addstr(&answer->body, "</NextContinuationToken></ListBucketResult>");
	return true;
}

WORLD_TEST(an_empty_page_with_a_token_is_not_the_end_of_a_span)
{
	int rc;

	put_spread(world->stub, SPREAD);
	set_fault(world, pauses);
	CHECK_INT(list_spread(world, &rc), ==, 0);
	if (!CHECK_INT(rc, ==, 0))
		tap_note("%s", world->err.msg);
	CHECK_INT(world->stub->faults, >, 2);
}

/* ---- answers to another question ---- */

static const char *page_now;

static bool page_of_a_cache(struct s3_stub *stub, const struct http_stub_request *request,
			    struct http_stub_answer *answer)
{
	(void)stub;
	(void)request;
	buf_addf(&answer->body,
		 "<ListBucketResult>%s<IsTruncated>false</IsTruncated></ListBucketResult>",
		 page_now);
	return true;
}

WORLD_TEST(a_listing_that_does_not_say_that_it_was_asked_for_is_not_empty)
{
	static const struct {
		const char *page;
		enum err_kind kind;
		const char *why;
	} pages[] = {
		{"", ERR_CONTRADICTED, "does not say what it is about"},
		{"<Prefix></Prefix>", ERR_CONTRADICTED, "does not say what it is about"},
		{"<Prefix>elsewhere/</Prefix>", ERR_CONTRADICTED,
		 "'d/' was requested, but the answer is about 'elsewhere/'"},
		{"<Prefix>d/</Prefix><Delimiter>,</Delimiter>", ERR_CONTRADICTED,
		 "about another delimiter: ','"},
		{"<Prefix>d/</Prefix><KeyCount>1</KeyCount>", ERR_FORMAT,
		 "it has 0 names, but says 1"},
		{"<Prefix>d/</Prefix>", ERR_ABSENT, "no name starts with"},
		{"<Prefix>d%2F</Prefix><EncodingType>url</EncodingType><Delimiter>%2F</Delimiter>"
		 "<KeyCount>0</KeyCount>",
		 ERR_ABSENT, "no name starts with"},
	};

	set_fault(world, page_of_a_cache);
	for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
		page_now = pages[i].page;
		check_no_list(world, "s3://b/d", pages[i].kind, pages[i].why);
	}
	/* a bucket has no prefix */
	page_now = "";
	CHECK_INT(store_list(world->store, "s3://b", no_entry, NULL, &world->err), ==, 0);
}

/* ---- many looks ---- */

struct looks {
	const char *const *uris;
	struct buf text;
	size_t head_bytes;
	int fail_at;
};

static const char *look_uri(void *ctx, size_t index)
{
	struct looks *looks = ctx;

	return looks->uris[index];
}

static int on_look(void *ctx, const struct store_look *look, struct err *err)
{
	struct looks *looks = ctx;

	if (looks->fail_at && !--looks->fail_at)
		return err_set(err, ERR_BUSY, 0, "enough");
	if (look->state == STORE_LOOK_ABSENT)
		buf_addf(&looks->text, "%zu absent|", look->index);
	else if (look->state == STORE_LOOK_UNREADABLE)
		buf_addf(&looks->text, "%zu %s|", look->index, look->why->msg);
	else
		buf_addf(&looks->text, "%zu %jd+%zu|", look->index, (intmax_t)look->stat.size_bytes,
			 look->head_len_bytes);
	if (look->state == STORE_LOOK_PRESENT) {
		CHECK_INT(look->stat.mtime_unix_ms, ==, S3_STUB_TIME_MS);
		for (size_t i = 0; i < look->head_len_bytes; i++)
			CHECK_INT(((const char *)look->head)[i], ==, i);
	}
	return 0;
}

static const char *const many[] = {"s3://b/large", "s3://b/none",  "s3://b/empty", "s3://b/small",
				   "s3://b",       "s3://other/x", "nonsense"};

static void check_looks(struct world *world, size_t head_bytes, const char *large)
{
	struct looks looks = {.uris = many};

	if (!CHECK_INT(store_look_many(world->store, look_uri, ARRAY_LEN(many), head_bytes, on_look,
				       &looks, &world->err),
		       ==, 0))
		tap_note("%s", world->err.msg);
	CHECK_HAS(buf_str(&looks.text), large);
	CHECK_HAS(buf_str(&looks.text), "1 absent|");
	CHECK_HAS(buf_str(&looks.text), "2 0+0|");
	CHECK_HAS(buf_str(&looks.text), head_bytes ? "3 3+3|" : "3 3+0|");
	CHECK_HAS(buf_str(&looks.text), "4 's3://b' is a bucket, not a file|");
	CHECK_HAS(buf_str(&looks.text), "5 's3://other/x' is not in the store s3://b|");
	CHECK_HAS(buf_str(&looks.text), "6 'nonsense' is neither a URI");
	buf_release(&looks.text);
}

WORLD_TEST(looks_at_many_files)
{
	s3_stub_put(world->stub, "large", 100);
	s3_stub_put(world->stub, "small", 3);
	s3_stub_put(world->stub, "empty", 0);
	check_looks(world, 0, "0 100+0|");
	CHECK_INT(s3_stub_requests(world->stub), <=, 5);
	check_looks(world, 16, "0 100+16|");
	CHECK_INT(s3_stub_requests(world->stub), ==, 5); /* the date of the empty one: HEAD */
}

static bool no_ranges(struct s3_stub *stub, const struct http_stub_request *request,
		      struct http_stub_answer *answer)
{
	(void)stub;
	if (!strstr(request->target, "large"))
		return false;
	s3_stub_date(answer, "Last-Modified", S3_STUB_TIME_MS);
	for (int i = 0; i < 100; i++)
		buf_addch(&answer->body, (char)i);
	return true;
}

WORLD_TEST(a_server_without_ranges_will_do_for_small_files)
{
	s3_stub_put(world->stub, "small", 3);
	s3_stub_put(world->stub, "empty", 0);
	set_fault(world, no_ranges);
	check_looks(world, 16, "0 100+16|");
}

static bool wrong_part(struct s3_stub *stub, const struct http_stub_request *request,
		       struct http_stub_answer *answer)
{
	static const char *const ranges[] = {
		"bytes 1-16/17", "bytes 1-15/16", "bytes 0-14/100", "bytes 0-15/*",
		"bytes 0-15/10", "0-15/100",      "bytes 15-0/100", "",
	};

	(void)request;
	answer->status = 206;
	buf_addf(&answer->headers, "Content-Range: %s\r\n", ranges[stub->faults]);
	for (int i = 0; i < 16; i++)
		buf_addch(&answer->body, (char)i);
	return true;
}

WORLD_TEST(a_part_that_was_not_asked_for_is_refused)
{
	static const char *const uri[] = {"s3://b/x"};
	struct store_stream *stream;

	set_fault(world, wrong_part);
	for (int i = 0; i < 8; i++) {
		struct looks looks = {.uris = uri};

		world->stub->faults = i;
		CHECK_INT(store_look_many(world->store, look_uri, 1, 16, on_look, &looks, NULL), ==,
			  0);
		CHECK_HAS(buf_str(&looks.text),
			  "0 an answer that does not fit the request: http://127.0.0.1:");
		CHECK_HAS(buf_str(&looks.text),
			  " (storage.s3.endpoint in drey.yaml): s3://b/x: HTTP 206");
		buf_release(&looks.text);
		CHECK_INT(store_read_open(world->store, "s3://b/x", 0, &stream, &world->err), ==,
			  -1);
		CHECK_INT(world->err.kind, ==, ERR_FORMAT);
		CHECK_HAS(world->err.msg, "not the requested range");
	}
}

WORLD_TEST(ends_when_the_reader_fails)
{
	struct looks looks = {.uris = many};

	s3_stub_put(world->stub, "large", 100);
	s3_stub_put(world->stub, "small", 100);
	for (int i = 1; i <= (int)ARRAY_LEN(many); i++) {
		looks.fail_at = i;
		CHECK_INT(store_look_many(world->store, look_uri, ARRAY_LEN(many), 16, on_look,
					  &looks, &world->err),
			  ==, -1);
		CHECK_STR(world->err.msg, "enough");
	}
	buf_release(&looks.text);
}

/* ---- reading ---- */

enum { BIG = (1 << 20) + 1000 };

static void read_all(struct world *world, const char *uri, int64_t offset, int64_t size_bytes)
{
	int64_t at = offset, wrong = 0;
	struct store_stream *stream;
	char part[4096];
	size_t got = 1;

	world->err = (struct err){0};
	if (!CHECK_INT(store_read_open(world->store, uri, offset, &stream, &world->err), ==, 0)) {
		tap_note("%s", world->err.msg);
		return;
	}
	CHECK_INT(store_read_size(stream), ==, size_bytes > offset ? size_bytes - offset : 0);
	while (got && CHECK_INT(store_read(stream, part, sizeof(part), &got, NULL), ==, 0))
		for (size_t i = 0; i < got; i++)
			wrong += part[i] != (char)at++;
	CHECK_INT(at, ==, size_bytes > offset ? size_bytes : offset);
	CHECK_INT(wrong, ==, 0);
	store_read_close(stream);
}

WORLD_TEST(reads_in_parts_from_any_offset)
{
	s3_stub_put(world->stub, "big", BIG);
	s3_stub_put(world->stub, "empty", 0);
	read_all(world, "s3://b/big", 0, BIG);
	CHECK_INT(s3_stub_requests(world->stub), ==, 2);
	CHECK_HAS(buf_str(&world->stub->last_head), "Range: bytes=1048576-2097151\r\n");
	CHECK_HAS(buf_str(&world->stub->last_head), "If-Match: \"e1\"\r\n");
	read_all(world, "s3://b/big", BIG - 1, BIG);
	read_all(world, "s3://b/big", BIG, BIG);
	read_all(world, "s3://b/big", BIG + 5, BIG);
	read_all(world, "s3://b/empty", 0, 0);
}

static bool ignores_match(struct s3_stub *stub, const struct http_stub_request *request,
			  struct http_stub_answer *answer)
{
	cleanup_free char *match = s3_stub_header(request->head, "If-Match");
	struct s3_object other = {.size_bytes = BIG + stub->faults};

	if (!match)
		return false;
	buf_addf(&answer->headers, "ETag: %s\r\n", stub->faults ? match : "\"e2\"");
	s3_stub_bytes(&other, "bytes=1048576-2097151", answer);
	return true;
}

static void check_replaced(struct world *world, bool by_server)
{
	struct store_stream *stream;
	char part[4096];
	size_t got = 1;
	int rc = 0;

	if (!CHECK_INT(store_read_open(world->store, "s3://b/big", 0, &stream, NULL), ==, 0))
		return;
	if (by_server) {
		pthread_mutex_lock(&world->stub->lock);
		s3_stub_find(world->stub, "big")->etag = "\"e3\"";
		pthread_mutex_unlock(&world->stub->lock);
	}
	while (got && !rc)
		rc = store_read(stream, part, sizeof(part), &got, &world->err);
	CHECK_INT(rc, ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_RETRY);
	CHECK_STR(world->err.msg, "s3://b/big: it was replaced during the read");
	store_read_close(stream);
}

WORLD_TEST(a_file_that_is_replaced_while_it_is_read_is_an_error)
{
	s3_stub_put(world->stub, "big", BIG);
	check_replaced(world, true);
	set_fault(world, ignores_match);
	check_replaced(world, false); /* another ETag */
	world->stub->faults = 1;
	check_replaced(world, false); /* another size */
}
