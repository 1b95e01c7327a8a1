/* Listings that are begun at the same time: each takes what it has got, once, and asks itself for what it has not. */
#include "s3_world.h"

#define WORLD_TEST(name) TEST_WITH(name, struct world, world, ahead_begin, end)

static void ahead_begin(struct world *world)
{
	begin(world);
	s3_stub_put(world->stub, "ck/a/chk-1/_metadata", 1);
	s3_stub_put(world->stub, "ck/b/chk-1/_metadata", 2);
	s3_stub_put(world->stub, "ck/b/chk-2/_metadata", 3);
	s3_stub_put(world->stub, "ck/c", 4);
}

static int add_size(void *ctx, const struct store_dir *dir, struct err *err)
{
	(void)err;
	*(int *)ctx += (int)dir->stat.size_bytes;
	return 0;
}

static int add_entry(void *ctx, const struct store_entry *entry, struct err *err)
{
	(void)err;
	*(int *)ctx += entry->is_prefix ? 10 : (int)entry->stat.size_bytes;
	return 0;
}

/* What the files of a listing add up to; -1: it has failed. */
static int sum_dirs(struct world *world, const char *uri)
{
	int sum = 0;

	return store_list_dirs(world->store, uri, "_metadata", add_size, &sum, &world->err) ? -1
											    : sum;
}

static int sum_level(struct world *world, const char *uri)
{
	int sum = 0;

	return store_list(world->store, uri, add_entry, &sum, &world->err) ? -1 : sum;
}

static const struct store_next next[] = {
	{"s3://b/ck/a", STORE_NEXT_DIRS},      {"s3://b/ck/b", STORE_NEXT_DIRS},
	{"s3://b/ck", STORE_NEXT_LIST},        {"s3://b/ck/c", STORE_NEXT_LIST},
	{"s3://b/ck/c", STORE_NEXT_IS_LISTED}, {"s3://b", STORE_NEXT_LIST},
	{"s3://other/ck", STORE_NEXT_LIST},
};

static void begin_all(struct world *world, int requests)
{
	s3_stub_requests(world->stub);
	store_ahead(world->store, next, ARRAY_LEN(next));
	CHECK_INT(s3_stub_requests(world->stub), ==, requests);
}

/* All of them, in another order. */
static void check_all(struct world *world, int requests)
{
	CHECK_INT(sum_level(world, "s3://b/ck/c"), ==, -1);
	CHECK_INT(world->err.kind, ==, ERR_ABSENT);
	CHECK_INT(sum_dirs(world, "s3://b/ck/b"), ==, 5);
	CHECK_INT(sum_level(world, "s3://b/ck"), ==, 24);
	CHECK_INT(store_is_listed(world->store, "s3://b/ck/c", &world->err), ==, 1);
	CHECK_INT(sum_dirs(world, "s3://b/ck/a"), ==, 1);
	CHECK_INT(s3_stub_requests(world->stub), ==, requests);
}

WORLD_TEST(listings_that_were_begun_together_take_their_pages_once)
{
	begin_all(world, 5);
	check_all(world, 0);
	check_all(world, 5);
}

WORLD_TEST(a_listing_goes_on_behind_the_page_that_was_fetched)
{
	for (int i = 0; i < 1500; i++)
		world->stub->objects[world->stub->object_count++] =
			(struct s3_object){xasprintf("ck/b/chk-3%04d/_metadata", i), 1, "\"e1\""};
	qsort(world->stub->objects, world->stub->object_count, sizeof(*world->stub->objects),
	      s3_stub_by_key);
	begin_all(world, 5);
	CHECK_INT(sum_dirs(world, "s3://b/ck/b"), ==, 1505);
	CHECK_INT(s3_stub_requests(world->stub), >, 0);
}

/* The first five requests fail. */
static bool fails_first(struct s3_stub *stub, const struct http_stub_request *request,
			struct http_stub_answer *answer)
{
	return stub->faults++ < 5 && denied(stub, request, answer);
}

WORLD_TEST(what_has_failed_is_asked_again)
{
	set_fault(world, fails_first);
	begin_all(world, 5);
	check_all(world, 5);
}

WORLD_TEST(a_listing_that_was_not_begun_takes_no_page_of_another_one)
{
	begin_all(world, 5);
	CHECK_INT(sum_level(world, "s3://b/ck/a"), ==, 10);
	CHECK_INT(sum_dirs(world, "s3://b/ck"), ==, 0);
	CHECK_INT(s3_stub_requests(world->stub), ==, 2);
	check_all(world, 0);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
