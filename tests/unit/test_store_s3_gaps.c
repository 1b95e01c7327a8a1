/* Listings of a store that leaves names out behind the name where a page is to begin (MinIO, summer of 2025). */
#include "s3_world.h"

#define WORLD_TEST(name) TEST_WITH(name, struct world, world, begin, end)

enum { SPREAD = 6000 };

static void put(struct s3_stub *stub, char *key)
{
	stub->objects[stub->object_count++] = (struct s3_object){key, 5, "\"e\""};
}

/* Savepoints of one job with random names, as Flink makes them: a listing of these is cut. */
static void put_savepoints(struct s3_stub *stub)
{
	for (int i = 0; i < SPREAD; i++) {
		uint64_t random = (uint64_t)(i + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 16;

		put(stub, xasprintf("sp/savepoint-5b2c01-%012jx/_metadata", (uintmax_t)random));
	}
	qsort(stub->objects, stub->object_count, sizeof(*stub->objects), s3_stub_by_key);
}

static int count_dir(void *ctx, const struct store_dir *dir, struct err *err)
{
	(void)dir;
	(void)err;
	++*(int *)ctx;
	return 0;
}

static int count_entry(void *ctx, const struct store_entry *entry, struct err *err)
{
	(void)entry;
	(void)err;
	++*(int *)ctx;
	return 0;
}

static int list_dirs(struct world *world, int *ret_count)
{
	*ret_count = 0;
	world->err = (struct err){0};
	return store_list_dirs(world->store, "s3://b/sp", "_metadata", count_dir, ret_count,
			       &world->err);
}

static void check_gap(struct world *world, int rc, const char *why)
{
	CHECK_INT(rc, ==, -1);
	if (!CHECK_INT(world->err.kind, ==, ERR_CONTRADICTED))
		tap_note("%s", world->err.msg);
	CHECK_HAS(world->err.msg, why);
}

WORLD_TEST(what_is_left_out_behind_a_cut_is_missed)
{
	int count;

	put_savepoints(world->stub);
	CHECK_INT(list_dirs(world, &count), ==, 0);
	CHECK_INT(count, ==, SPREAD);
	world->stub->gap = 1;
	world->stub->gap_nowhere = true;
	check_gap(world, list_dirs(world, &count),
		  "was listed, but is left out of what comes after 'savepoint-5b2c01-");
}

/* All names that follow a cut. */
static bool has_nothing(struct s3_stub *stub, const struct http_stub_request *request,
			struct http_stub_answer *answer)
{
	cleanup_free char *start = s3_stub_parameter(request->target, "start-after");

	if (!start || strstr(start, "/_metadata") || strcmp(start, "sp/savepoint-5b2c01-9") < 0)
		return false;
	stub->faults++;
	buf_addstr(&answer->body, "<ListBucketResult><IsTruncated>false</IsTruncated>"
				  "<Prefix>sp/</Prefix></ListBucketResult>");
	return true;
}

WORLD_TEST(so_is_a_span_without_names)
{
	int count;

	put_savepoints(world->stub);
	world->stub->fault = has_nothing;
	check_gap(world, list_dirs(world, &count), "was listed, but is left out of what comes");
	CHECK_INT(world->stub->faults, >, 0);
}

WORLD_TEST(what_is_left_out_between_two_pages_is_missed)
{
	int count = 0;

	for (int i = 0; i < 2500; i++)
		put(world->stub, xasprintf("ck/x%05d.", i));
	CHECK_INT(store_list(world->store, "s3://b/ck", count_entry, &count, &world->err), ==, 0);
	CHECK_INT(count, ==, 2500);
	CHECK_INT(s3_stub_requests(world->stub), <=, 7);
	world->stub->gap = 1;
	check_gap(world, store_list(world->store, "s3://b/ck", count_entry, &count, &world->err),
		  "'x00999.' was listed, but is left out of what comes after 'x00998.'");
}

WORLD_TEST(also_between_folded_directories)
{
	int count = 0;

	for (int i = 0; i < 2500; i++)
		put(world->stub, xasprintf("ck/%c%05d./f", 'g' + i / 500, i));
	CHECK_INT(store_list(world->store, "s3://b/ck", count_entry, &count, &world->err), ==, 0);
	CHECK_INT(count, ==, 2500);
	world->stub->gap = 1;
	world->stub->gap_nowhere = true;
	check_gap(world, store_list(world->store, "s3://b/ck", count_entry, &count, &world->err),
		  "was listed, but is left out of what comes after '");
}

/* A listing of all names goes on with directories only, where these have many files. */
WORLD_TEST(also_where_a_listing_goes_on_with_directories)
{
	int count;

	for (int i = 0; i < 40; i++)
		for (int k = 0; k < 150; k++)
			put(world->stub, xasprintf("sp/d%04d/%04d", i, k));
	CHECK_INT(list_dirs(world, &count), ==, 0);
	CHECK_INT(count, ==, 40);
	world->stub->gap = 1;
	world->stub->gap_nowhere = true;
	check_gap(world, list_dirs(world, &count), "was listed, but is left out of what comes");
}

/* ---- what a page says that it is ---- */

static bool says_otherwise(struct s3_stub *stub, const struct http_stub_request *request,
			   struct http_stub_answer *answer)
{
	static const char end[] = "</ListBucketResult>";

	if (!strstr(request->target, "start-after="))
		return false;
	s3_stub_list(stub, request, answer);
	answer->body.len_bytes -= sizeof(end) - 1;
	buf_addf(&answer->body, "%s%s", (const char *)stub->fault_arg, end);
	return true;
}

WORLD_TEST(a_page_that_says_that_it_begins_elsewhere_is_none)
{
	static const struct {
		const char *echo, *why;
	} rows[] = {
		{"<StartAfter>ck/a</StartAfter>", "is about what comes after 'ck/a'"},
		{"<ContinuationToken>t</ContinuationToken>", NULL}, /* versitygw */
		{"<StartAfter></StartAfter><ContinuationToken></ContinuationToken>", NULL},
		{"", NULL},
	};

	for (int i = 0; i < 1500; i++)
		put(world->stub, xasprintf("ck/x%05d.", i));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int count = 0, rc;

		/* a page that the one before has asked for ahead may still be answered */
		set_fault_with(world, says_otherwise, rows[i].echo);
		world->err = (struct err){0};
		rc = store_list(world->store, "s3://b/ck", count_entry, &count, &world->err);
		if (rows[i].why)
			check_gap(world, rc, rows[i].why);
		else
			CHECK_INT(rc + count, ==, 1500);
	}
}

/* An empty page with a token; what follows is about another one. */
static bool mixes_up(struct s3_stub *stub, const struct http_stub_request *request,
		     struct http_stub_answer *answer)
{
	buf_addf(&answer->body, "<ListBucketResult><Prefix>ck/</Prefix>%s</ListBucketResult>",
		 strstr(request->target, "continuation-token=one")
			 ? (const char *)stub->fault_arg
			 : "<IsTruncated>true</IsTruncated>"
			   "<NextContinuationToken>one</NextContinuationToken>");
	return true;
}

WORLD_TEST(nor_is_the_page_of_another_token)
{
	int count = 0;

	set_fault_with(
		world, mixes_up,
		"<IsTruncated>false</IsTruncated><ContinuationToken>two</ContinuationToken>");
	check_gap(world, store_list(world->store, "s3://b/ck", count_entry, &count, &world->err),
		  "the page of another token: 'two'");
	set_fault_with(
		world, mixes_up,
		"<IsTruncated>false</IsTruncated><ContinuationToken>one</ContinuationToken>");
	check_no_list(world, "s3://b/ck", ERR_ABSENT, "no name starts with");
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
