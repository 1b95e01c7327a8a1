/* What object storage shows of Flink's work after its job has ended. */
#include "run/effects/cleanup.h"
#include "s3_world.h"

#define JOB "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa02"

TEST(an_empty_listing_of_shared_state_is_believed_only_if_another_one_agrees)
{
	struct cleanup_ask ask = {0};
	struct world world;

	begin(&world);
	memcpy(ask.job_id, JOB, sizeof(JOB));
	ask.result_dir = xstrdup("s3://b/results");
	ask.shared_dir = xstrdup("s3://b/ck/" JOB "/shared");
	s3_stub_put(world.stub, "results/" JOB ".json", 2);
	CHECK_INT(cleanup_look(&ask, &world.config), ==, CLEANUP_DONE);
	s3_stub_put(world.stub, "ck/" JOB "/shared/1", 2);
	CHECK_INT(cleanup_look(&ask, &world.config), ==, CLEANUP_PENDING);
	world.stub->hides = "ck/" JOB "/shared/";
	CHECK_INT(cleanup_look(&ask, &world.config), ==, CLEANUP_PENDING);
	cleanup_ask_release(&ask);
	end(&world);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
