/* Would Flink restore a snapshot into a job? */
#include "core/resolve/graph_fit.h"

#include <string.h>

#include "tap.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccccccccccc"

static const struct fit_operator count_state = {
	.id = A, .name = "count", .parallelism = 2, .max_parallelism = 128, .has_state = true};
static const struct fit_operator count_job = {
	.id = A, .name = "count", .parallelism = 2, .max_parallelism = -1};

static struct graph_fit fit;

/* The words for one operator of a snapshot, and the job's. */
static const char *compared(const struct fit_operator *state, const struct fit_operator *job,
			    size_t job_count)
{
	static struct buf text;

	graph_fit_release(&fit);
	graph_fit_compare(state, 1, job, job_count, &fit);
	buf_clear(&text);
	for (size_t i = 0; i < fit.count; i++)
		fit_problem_print(&fit.problems[i], "12 kB", &text);
	return buf_str(&text);
}

TEST(the_same_operators_fit)
{
	CHECK_STR(compared(&count_state, &count_job, 1), "");
	CHECK_INT(fit.matched, ==, 1);
	CHECK_INT(fit.added, ==, 0);
	CHECK(!graph_fit_is_refused(&fit, false));
}

TEST(a_new_operator_starts_without_state)
{
	const struct fit_operator job[] = {count_job, {.id = B, .name = "new", .parallelism = 500}};

	CHECK_STR(compared(&count_state, job, 2), "");
	CHECK_INT(fit.matched, ==, 1);
	CHECK_INT(fit.added, ==, 1);
}

TEST(state_without_an_operator_is_refused_unless_that_is_allowed)
{
	struct fit_operator job = count_job;

	job.id = B;
	job.name = "other";
	CHECK_STR(compared(&count_state, &job, 1),
		  "operator 'count' (id " A
		  ", 12 kB of state) is not in the new job; give an operator its "
		  "uid, or request a restore with allowNonRestoredState");
	CHECK(graph_fit_is_refused(&fit, false));
	CHECK(!graph_fit_is_refused(&fit, true));
}

TEST(an_operator_without_state_may_go)
{
	struct fit_operator state = count_state, job = count_job;

	state.has_state = false;
	job.id = B;
	CHECK_STR(compared(&state, &job, 1), "");
	CHECK_INT(fit.added, ==, 1);
}

TEST(an_operator_of_the_same_name_is_probably_the_same)
{
	struct fit_operator state = count_state, job = count_job;

	job.id = B;
	CHECK_HAS(compared(&state, &job, 1), "has another id, " B ", because the job has changed "
					     "around it: give it the old one by "
					     "setUidHash(\"" A "\")");
	state.uid = "counter";
	CHECK_HAS(compared(&state, &job, 1),
		  "operator 'count' (uid 'counter', id " A ", 12 kB of state)");
	CHECK_HAS(compared(&state, &job, 1), "give it the uid 'counter'");
}

/* It has state of its own, so it is another one. */
TEST(one_of_the_same_name_that_has_state_is_not_proposed)
{
	const struct fit_operator state[] = {
		count_state, {.id = B, .name = "count", .max_parallelism = 128, .has_state = true}};

	graph_fit_release(&fit);
	graph_fit_compare(state, 2,
			  &(struct fit_operator){.id = B, .name = "count", .parallelism = 1}, 1,
			  &fit);
	CHECK_INT(fit.count, ==, 1);
	CHECK(fit.problems[0].job == NULL);
}

TEST(an_id_that_the_user_has_set_counts_like_the_other)
{
	struct fit_operator job = count_job;

	job.id = B;
	job.user_id = A;
	CHECK_STR(compared(&count_state, &job, 1), "");
	CHECK_INT(fit.matched, ==, 1);
}

TEST(the_max_parallelism_of_state_cannot_be_changed)
{
	struct fit_operator job = count_job;

	job.max_parallelism = 128;
	CHECK_STR(compared(&count_state, &job, 1), "");
	job.max_parallelism = 256;
	CHECK_HAS(compared(&count_state, &job, 1),
		  "has state for max parallelism 128, and the new job sets 256");
	CHECK(graph_fit_is_refused(&fit, true));
}

TEST(a_job_has_no_more_subtasks_than_its_state_has_key_groups)
{
	struct fit_operator job = count_job;

	job.parallelism = 128;
	CHECK_STR(compared(&count_state, &job, 1), "");
	job.parallelism = 129;
	CHECK_HAS(compared(&count_state, &job, 1),
		  "the new job has parallelism 129: set 128 or less");
	CHECK(graph_fit_is_refused(&fit, true));
}

TEST(each_operator_that_does_not_fit_is_named_once_those_left_out_first)
{
	const struct fit_operator state[] = {
		count_state,
		{.id = B, .max_parallelism = 64, .has_state = true},
		{.id = C, .name = "gone", .max_parallelism = 64, .has_state = true},
	};
	const struct fit_operator job[] = {
		{.id = B, .parallelism = 65, .max_parallelism = 70},
		{.id = A, .parallelism = 1, .max_parallelism = 1},
	};

	graph_fit_release(&fit);
	graph_fit_compare(state, 3, job, 2, &fit);
	CHECK_INT(fit.count, ==, 3);
	CHECK_INT(fit.problems[0].kind, ==, FIT_LEFT_OUT);
	CHECK_STR(fit.problems[0].state->name, "gone");
	CHECK_INT(fit.problems[1].kind, ==, FIT_MAX_PARALLELISM);
	CHECK_INT(fit.problems[2].kind, ==, FIT_TOO_PARALLEL);
	graph_fit_release(&fit);
}

TEST(only_state_that_stays_with_its_side_may_be_left_out)
{
	struct fit_operator state[] = {
		{.id = B, .name = "sink", .uid = "sink-blue", .has_state = true, .stays = true},
		{.id = C, .name = "gone", .has_state = true},
	};

	graph_fit_release(&fit);
	graph_fit_compare(state, 1, NULL, 0, &fit);
	CHECK_INT(fit.count, ==, 1);
	CHECK(!graph_fit_is_refused(&fit, false));
	graph_fit_release(&fit);
	graph_fit_compare(state, 2, NULL, 0, &fit);
	CHECK(graph_fit_is_refused(&fit, false));
	CHECK(!graph_fit_is_refused(&fit, true));
	graph_fit_release(&fit);
}
