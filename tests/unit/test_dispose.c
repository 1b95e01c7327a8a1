/* When a savepoint that Flink could not delete counts as deleted. */
#include "run/effects/dispose.c" /* NOLINT(bugprone-suspicious-include) */

#include "run/config/setup.h"
#include "s3_world.h"

/* Each file answers 404, whatever a listing says. */
static bool hides_files(struct s3_stub *stub, const struct http_stub_request *request,
			struct http_stub_answer *answer)
{
	(void)stub;
	if (strstr(request->target, "list-type"))
		return false;
	s3_stub_error(answer, 404, "NoSuchKey", "");
	return true;
}

/* The same, and nothing may be listed. */
static bool denies_listings(struct s3_stub *stub, const struct http_stub_request *request,
			    struct http_stub_answer *answer)
{
	return strstr(request->target, "list-type") ? denied(stub, request, answer)
						    : hides_files(stub, request, answer);
}

static bool gone(struct world *world)
{
	struct setup setup = {.storage = world->config};
	struct driver driver = {.setup = &setup};
	struct dispose_job job = {.driver = &driver, .path = (char *)"s3://b/sp/savepoint-1"};

	return is_gone(&job);
}

TEST(a_savepoint_is_gone_only_if_its_directory_does_not_list_it)
{
	struct world world;

	begin(&world);
	CHECK(gone(&world));
	set_fault(&world, denies_listings);
	CHECK(!gone(&world));
	set_fault(&world, NULL);
	s3_stub_put(world.stub, "sp/savepoint-1/_metadata", 2);
	CHECK(!gone(&world));
	set_fault(&world, hides_files);
	CHECK(!gone(&world));
	end(&world);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
