/* The second witness of an absence in object stores: one page of the names that begin like the one in question. */
#include "s3_world.h"
#include "store/sightings.h"
#include "swift_stub.h"

enum { MANY = 3500, MANY_SWIFT = 30 };

/* What lies in the store, and whether "a/b" is listed. */
static const struct {
	const char *keys[3];
	int between;       /* names "a/b-0000", which come before "a/b/" */
	int listed, lists; /* a directory in S3: one more, which shows that it is not empty */
	int swift_lists; /* Swift says by an empty page that there is no more; short pages show that they join */
} rows[] = {
	{{"a/b"}, 0, 1, 1, 2},
	{{"a/b/c"}, 0, 1, 2, 2},
	{{"a/b/c", "a/b/d", "a/c"}, 0, 1, 2, 2},
	{{"a/a", "a/c"}, 0, 0, 1, 1},
	{{"a/bc"}, 0, 0, 1, 1},
	{{"a/bc/d", "a/b.", "a/b-/b"}, 0, 0, 1, 1},
	{{"a/b0"}, 0, 0, 1, 2},
	{{"x"}, 0, 0, 1, 1},
	{{"a/b/c", "a/bc"}, 1500, 1, 3, 4},
	{{"a/bc"}, 1500, 0, 2, 3},
	{{"a/b"}, 1500, 1, 2, 5},
};

static void s3_put(struct s3_stub *stub, char *key)
{
	stub->objects[stub->object_count++] = (struct s3_object){key, 5, "\"e\""};
}

static void check_s3(size_t row)
{
	struct world world;

	begin(&world);
	for (size_t i = 0; i < ARRAY_LEN(rows[row].keys) && rows[row].keys[i]; i++)
		s3_put(world.stub, xstrdup(rows[row].keys[i]));
	for (int i = 0; i < rows[row].between; i++)
		s3_put(world.stub, xasprintf("a/b-%04d", i));
	for (int i = 0; i < MANY; i++)
		s3_put(world.stub, xasprintf("a/other-%04d/f", i));
	qsort(world.stub->objects, world.stub->object_count, sizeof(*world.stub->objects),
	      s3_stub_by_key);
	if (!CHECK_INT(store_is_listed(world.store, "s3://b/a/b", &world.err), ==,
		       rows[row].listed) ||
	    !CHECK_INT(s3_stub_requests(world.stub), ==, rows[row].lists))
		tap_note("S3, row %zu: %s", row, world.err.msg);
	end(&world);
}

TEST(s3_is_asked_for_one_name_and_decides_rightly)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check_s3(i);
}

TEST(a_name_that_is_listed_is_not_absent_later)
{
	struct world world;

	begin(&world);
	s3_stub_put(world.stub, "a/b", 5);
	CHECK_INT(store_is_listed(world.store, "s3://b/a/b", &world.err), ==, 1);
	world.stub->object_count = 0;
	CHECK_INT(store_exists(world.store, "s3://b/a/b", &world.err), ==, -1);
	CHECK_INT(world.err.kind, ==, ERR_CONTRADICTED);
	world.stub->object_count = 1;
	end(&world);
}

TEST(a_name_whose_listing_is_denied_is_not_known)
{
	struct world world;

	begin(&world);
	set_fault(&world, denied);
	CHECK_INT(store_is_listed(world.store, "s3://b/a/b", &world.err), ==, -1);
	CHECK_INT(world.err.kind, ==, ERR_DENIED);
	end(&world);
}

static void check_swift(size_t row)
{
	struct swift_stub *stub = stub_new();
	cleanup_free char *url = xasprintf("%s/auth/v1.0", stub->url);
	struct store_config config = {.swift = {.auth_url = url,
						.user = (char *)STUB_USER,
						.password = (char *)STUB_PASSWORD}};
	struct err err = {0};
	struct store *store;

	for (size_t i = 0; i < ARRAY_LEN(rows[row].keys) && rows[row].keys[i]; i++)
		stub_put(stub, rows[row].keys[i], 5);
	for (int i = 0; i < MANY_SWIFT; i++) {
		cleanup_free char *other = xasprintf("a/other-%04d/f", i),
				  *like = xasprintf("a/b-%04d", i);

		stub_put(stub, other, 5);
		if (rows[row].between)
			stub_put(stub, like, 5);
	}
	stub_sort(stub);
	stub->page = MANY_SWIFT / 2 + 1;
	CHECK_INT(store_open(&config, "swift://c", &store, NULL), ==, 0);
	if (!CHECK_INT(store_is_listed(store, "swift://c/a/b", &err), ==, rows[row].listed) ||
	    !CHECK_INT(stub->lists, ==, rows[row].swift_lists))
		tap_note("Swift, row %zu: %s", row, err.msg);
	store_close(store);
	stub_free(stub);
}

TEST(swift_is_asked_for_one_name_and_decides_rightly)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check_swift(i);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
