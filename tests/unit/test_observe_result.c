/* The record of the end in object storage: what has the word of one answer alone. */
#include "core/resolve/facts.h"
#include "run/observe/observe_internal.h"
#include "s3_world.h"

#define JOB "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa02"

static enum source_state state_of(struct world *world)
{
	struct observe_plan plan = {0};
	struct facts facts = {0};
	struct look look = {.plan = &plan, .facts = &facts, .stores = {.config = &world->config}};
	enum source_state state;

	plan.result_dir = (char *)"s3://b/results/one";
	memcpy(plan.result_job, JOB, sizeof(JOB));
	observe_result(&look);
	state = facts.sources[SOURCE_RESULTS].state;
	stores_release(&look.stores);
	facts_release(&facts);
	return state;
}

TEST(an_empty_listing_is_believed_only_if_another_one_agrees)
{
	struct world world;

	begin(&world);
	CHECK_INT(state_of(&world), ==, SOURCE_ABSENT);
	s3_stub_put(world.stub, "results/one/" JOB ".json", 2);
	CHECK_INT(state_of(&world), ==, SOURCE_PRESENT);
	world.stub->hides = "results/one/";
	CHECK_INT(state_of(&world), ==, SOURCE_UNREADABLE);
	end(&world);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
