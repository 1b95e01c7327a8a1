#include "core/rescale.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tap.h"

#define NUMBERS "ca88eee0095684d687a1b6495617f957" /* uid numbers */
#define COUNT   "b71731f1c0df9c3076c4a455334d0ad6" /* uid count */

static const struct rescale_vertex job[] = {
	{.id = NUMBERS,
	 .name = "Source: numbers",
	 .parallelism = 1,
	 .max_parallelism = 4,
	 .lower = 1,
	 .upper = 1},
	{.id = COUNT,
	 .name = "count -> sink",
	 .parallelism = 2,
	 .max_parallelism = 128,
	 .lower = 1,
	 .upper = 2},
};

static struct rescale_plan plan(const struct parallelism *wanted, bool strict)
{
	struct rescale_plan plan;

	rescale_plan(wanted, job, ARRAY_LEN(job), strict, &plan);
	CHECK_INT(plan.count, ==, 2);
	return plan;
}

TEST(every_vertex_gets_what_is_wanted_for_all_or_for_itself)
{
	static const struct {
		int64_t all, count; /* 0 = not given */
		const char *name;
		int64_t upper[2];
		enum rescale_verdict verdict;
	} cases[] = {
		{3, 0, NULL, {3, 3}, RESCALE_APPLY},   {3, 5, "count", {3, 5}, RESCALE_APPLY},
		{3, 5, COUNT, {3, 5}, RESCALE_APPLY},  {0, 5, "count", {1, 5}, RESCALE_APPLY},
		{0, 2, "count", {1, 2}, RESCALE_SAME}, {1, 2, "count", {1, 2}, RESCALE_SAME},
		{0, 0, NULL, {1, 2}, RESCALE_SAME},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct parallelism wanted = {.all = cases[i].all};
		struct rescale_plan got;

		if (cases[i].name)
			parallelism_set(&wanted, cases[i].name, cases[i].count);
		got = plan(&wanted, true);
		CHECK_INT(got.verdict, ==, cases[i].verdict);
		CHECK_INT(got.bounds[0].upper, ==, cases[i].upper[0]);
		CHECK_INT(got.bounds[1].upper, ==, cases[i].upper[1]);
		CHECK_INT(got.bounds[1].lower, ==, 1);
		CHECK_STR(got.why, NULL);
		rescale_plan_release(&got);
		parallelism_release(&wanted);
	}
}

TEST(what_the_job_cannot_have_is_refused_with_the_way_out)
{
	struct parallelism wanted = {.all = 5};
	struct rescale_plan got = plan(&wanted, true);

	CHECK_INT(got.verdict, ==, RESCALE_REFUSED);
	CHECK_HAS(got.why, "the maximum parallelism of Source: numbers is 4, not 5");
	CHECK_HAS(got.why, "--vertex " NUMBERS "=N");
	rescale_plan_release(&got);
	wanted.all = 0;
	parallelism_set(&wanted, "nobody", 2);
	got = plan(&wanted, true);
	CHECK_INT(got.verdict, ==, RESCALE_REFUSED);
	CHECK_HAS(got.why, "the job has no vertex 'nobody'");
	CHECK_HAS(got.why, "count -> sink (" COUNT ")");
	rescale_plan_release(&got);
	parallelism_release(&wanted);
}

TEST(named_vertices_do_not_add_up_for_ever)
{
	struct parallelism wanted = {0};
	struct rescale_plan got;

	for (int i = 0; i <= RESCALE_MAX_VERTICES; i++) {
		cleanup_free char *name = xasprintf("v%d", i);

		parallelism_set(&wanted, name, 1);
	}
	got = plan(&wanted, true);
	CHECK_INT(got.verdict, ==, RESCALE_REFUSED);
	CHECK_HAS(got.why, "more than 64 vertices are named");
	rescale_plan_release(&got);
	parallelism_release(&wanted);
}

/* After an upgrade: the job has changed, and nobody waits for an answer. */
TEST(a_changed_job_gets_what_it_can_have_and_the_rest_is_named)
{
	struct parallelism wanted = {.all = 5};
	struct rescale_plan got;

	parallelism_set(&wanted, "nobody", 2);
	got = plan(&wanted, false);
	CHECK_INT(got.verdict, ==, RESCALE_APPLY);
	CHECK_INT(got.bounds[0].upper, ==, 4);
	CHECK_INT(got.bounds[1].upper, ==, 5);
	CHECK_HAS(got.why, "nobody");
	CHECK_HAS(got.why, "the maximum parallelism of Source: numbers is 4");
	rescale_plan_release(&got);
	parallelism_release(&wanted);
}

TEST(the_body_has_all_vertices_as_flink_requires)
{
	static const struct rescale_bounds bounds[] = {{1, 3}, {2, 2}};
	cleanup_free char *body = rescale_body(job, bounds, 2);

	CHECK_STR(body,
		  "{\"" NUMBERS "\":{\"parallelism\":{\"lowerBound\":1,\"upperBound\":3}},\"" COUNT
		  "\":{\"parallelism\":{\"lowerBound\":2,\"upperBound\":2}}}");
}

TEST(vertices_that_do_not_run_as_wanted_are_named)
{
	struct rescale_vertex vertices[2] = {job[0], job[1]};
	char *missing = rescale_missing(vertices, 2);

	CHECK_STR(missing, NULL);
	vertices[1].upper = 4;
	missing = rescale_missing(vertices, 2);
	CHECK_STR(missing, "count -> sink: 2 of 4");
	free(missing);
}

TEST(a_request_replaces_what_was_wanted_or_changes_parts_of_it)
{
	struct parallelism before = {.nonce = xstrdup("a"), .all = 4}, request = {0}, after;

	parallelism_set(&before, "count", 2);
	request.nonce = xstrdup("b");
	request.merge = true;
	parallelism_set(&request, "sink", 3);
	parallelism_after(&after, &before, &request);
	CHECK_INT(after.all, ==, 4);
	CHECK_INT(after.vertex_count, ==, 2);
	CHECK_STR(after.nonce, "b");
	CHECK(!after.merge);
	parallelism_release(&after);
	request.merge = false;
	parallelism_after(&after, &before, &request);
	CHECK_INT(after.all, ==, 0);
	CHECK_INT(after.vertex_count, ==, 1);
	CHECK(!parallelism_same(&after, &before));
	parallelism_release(&after);
	parallelism_copy(&after, &before);
	CHECK(parallelism_same(&after, &before));
	parallelism_set(&after, "count", 3);
	CHECK(!parallelism_same(&after, &before));
	CHECK(!parallelism_is_empty(&after));
	parallelism_release(&after);
	request.reset = true;
	parallelism_after(&after, &before, &request);
	CHECK(parallelism_is_empty(&after));
	parallelism_release(&after);
	parallelism_release(&before);
	parallelism_release(&request);
}

TEST(vertices_of_one_group_share_slots)
{
	struct rescale_vertex vertices[] = {{.upper = 3, .slot_group = "g"},
					    {.upper = 5, .slot_group = "g"},
					    {.upper = 2, .slot_group = "h"}};

	CHECK_INT(rescale_slots(vertices, 3), ==, 7);
	CHECK_INT(rescale_slots(job, ARRAY_LEN(job)), ==, 2);
}
