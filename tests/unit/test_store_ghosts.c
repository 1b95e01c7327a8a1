/* A bucket with versions goes on listing a directory of which only deleted versions are left, and a store that hides files
 * looks the same at first. */
#include "s3_world.h"
#include "store/sightings.h"

#define WORLD_TEST(name) TEST_WITH(name, struct world, world, begin, end)

static int any_entry(void *ctx, const struct store_entry *entry, struct err *err)
{
	(void)ctx;
	(void)entry;
	(void)err;
	return 0;
}

static int no_dir(void *ctx, const struct store_dir *dir, struct err *err)
{
	(void)ctx;
	(void)dir;
	(void)err;
	return 0;
}

static int list_job(struct world *world)
{
	world->err = (struct err){0};
	return store_list_dirs(world->store, "s3://b/ck/job", "_metadata", no_dir, NULL,
			       &world->err);
}

static void list_top(struct world *world)
{
	CHECK_INT(store_list(world->store, "s3://b/ck", any_entry, NULL, &world->err), ==, 0);
	s3_stub_requests(world->stub);
}

static void check_kind(struct world *world, enum err_kind kind)
{
	CHECK_INT(list_job(world), ==, -1);
	if (!CHECK_STR(err_kind_name(world->err.kind), err_kind_name(kind)))
		tap_note("%s", world->err.msg);
}

WORLD_TEST(a_directory_of_which_only_deleted_versions_are_left_is_absent)
{
	s3_stub_put(world->stub, "ck/job/chk-1/_metadata", -1);
	s3_stub_put(world->stub, "ck/zzz/chk-1/_metadata", 5);
	CHECK_INT(store_is_listed(world->store, "s3://b/ck/job", &world->err), ==, 0);
	CHECK_INT(s3_stub_requests(world->stub), ==, 3);
	list_top(world);
	check_kind(world, ERR_ABSENT);
	CHECK_INT(s3_stub_requests(world->stub), ==, 3);
	/* also once it is asked again */
	check_kind(world, ERR_ABSENT);
	CHECK_INT(s3_stub_requests(world->stub), ==, 1);
	CHECK_INT(store_is_listed(world->store, "s3://b/ck/zzz", &world->err), ==, 1);
}

WORLD_TEST(one_whose_listing_is_always_empty_is_not)
{
	s3_stub_put(world->stub, "ck/job/chk-1/_metadata", 5);
	list_top(world);
	world->stub->hides = "ck/job/";
	check_kind(world, ERR_CONTRADICTED);
	CHECK_HAS(world->err.msg, "s3://b/ck/job/: listed at ");
	CHECK_INT(store_is_listed(world->store, "s3://b/ck/job", &world->err), ==, 1);
}

WORLD_TEST(nor_one_in_which_names_were_seen)
{
	struct s3_object *file;

	s3_stub_put(world->stub, "ck/job/chk-1/_metadata", 5);
	s3_stub_put(world->stub, "ck/job/chk-2/x", 5);
	CHECK_INT(list_job(world), ==, 0);
	for (int i = 0; i < 2; i++) {
		file = s3_stub_find(world->stub, i ? "ck/job/chk-2/x" : "ck/job/chk-1/_metadata");
		file->size_bytes = -1;
	}
	list_top(world);
	check_kind(world, ERR_CONTRADICTED);
	for (int i = 1; i <= 2; i++) {
		cleanup_free char *dir = xasprintf("s3://b/ck/job/chk-%d", i);

		CHECK_INT(store_list(world->store, dir, any_entry, NULL, &world->err), ==, -1);
		CHECK_INT(world->err.kind, ==, ERR_CONTRADICTED);
	}
}

static bool (*wrong)(struct s3_stub *, const struct http_stub_request *, struct http_stub_answer *);

/* The listing of that number is wrong. */
static bool is_wrong_once(struct s3_stub *stub, const struct http_stub_request *request,
			  struct http_stub_answer *answer)
{
	return stub->faults-- == 0 && wrong(stub, request, answer);
}

static bool shows_a_name(struct s3_stub *stub, const struct http_stub_request *request,
			 struct http_stub_answer *answer)
{
	cleanup_free char *prefix = s3_stub_parameter(request->target, "prefix");

	(void)stub;
	buf_addf(&answer->body,
		 "<ListBucketResult><IsTruncated>false</IsTruncated><Prefix>%s</Prefix><Contents>"
		 "<Key>ck/job/chk-1/_metadata</Key><Size>5</Size></Contents></ListBucketResult>",
		 prefix);
	return true;
}

WORLD_TEST(each_of_two_more_listings_must_be_complete_and_empty)
{
	s3_stub_put(world->stub, "ck/job/chk-1/_metadata", -1);
	for (int listing = 1; listing <= 2; listing++) {
		for (int denies = 0; denies < 2; denies++) {
			list_top(world);
			set_fault(world, is_wrong_once);
			wrong = denies ? denied : shows_a_name;
			world->stub->faults = listing;
			check_kind(world, ERR_CONTRADICTED);
			set_fault(world, NULL);
		}
	}
	check_kind(world, ERR_ABSENT);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
