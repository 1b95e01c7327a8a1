#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "core/overlap.h"
#include "run/config/setup_overlap.h"
#include "store_dir.h"

TEST(results_have_a_directory_of_their_own)
{
	static const struct {
		enum overlap_role a, b;
		enum overlap_relation relation;
		bool refused;
	} rows[] = {
		{OVERLAP_RESULTS, OVERLAP_CHECKPOINTS, OVERLAP_SAME, true},
		{OVERLAP_CHECKPOINTS, OVERLAP_RESULTS, OVERLAP_SAME, true},
		{OVERLAP_SAVEPOINTS, OVERLAP_RESULTS, OVERLAP_SAME, true},
		{OVERLAP_HA, OVERLAP_RESULTS, OVERLAP_SAME, true},
		{OVERLAP_RESULTS, OVERLAP_CHECKPOINTS, OVERLAP_INSIDE, false}, /* the default */
		{OVERLAP_RESULTS, OVERLAP_CHECKPOINTS, OVERLAP_APART, false},
		{OVERLAP_SAVEPOINTS, OVERLAP_CHECKPOINTS, OVERLAP_SAME, false},
		{OVERLAP_HA, OVERLAP_CHECKPOINTS, OVERLAP_SAME, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_INT(overlap_is_refused(rows[i].a, rows[i].b, rows[i].relation), ==,
			  rows[i].refused);
}

static char *overlap_of(const struct setup *setup, const struct journal *journal)
{
	struct err err = {0};
	char *why = NULL;
	int rc = setup_overlap(setup, journal, &why, &err);

	CHECK_INT(rc, ==, why ? 1 : 0);
	return why;
}

TEST(a_directory_under_two_names_is_found)
{
	struct setup setup = {0};
	cleanup_free char *why = NULL;

	setup.places.checkpoint_dir = (char *)"s3://b/ck";
	setup.places.savepoint_dir = (char *)"s3://b/sp";
	setup.config.flink.result_store_directory = (char *)"s3://b/ck/job-results";
	CHECK(!overlap_of(&setup, NULL));
	setup.config.flink.result_store_directory = (char *)"s3p://b/x/../ck/";
	why = overlap_of(&setup, NULL);
	CHECK_STR(why, "flink.checkpointDirectory (s3://b/ck) and flink.resultStoreDirectory "
		       "(s3p://b/x/../ck/) are one directory: set another one for "
		       "flink.resultStoreDirectory");
}

TEST(a_link_is_the_directory_behind_it)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *ck = xasprintf("%s/ck", top), *link = xasprintf("%s/link", top),
			  *why = NULL;
	struct setup setup = {0};

	dir_mkdir(top, "ck");
	CHECK_INT(symlink(ck, link), ==, 0);
	setup.places.checkpoint_dir = ck;
	setup.config.flink.result_store_directory = link;
	why = overlap_of(&setup, NULL);
	CHECK_HAS(why, "are one directory");
}

TEST(a_directory_that_cannot_be_looked_at_could_be_another_one)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *loop = xasprintf("%s/loop", top);
	struct setup setup = {0};
	struct err err = {0};
	char *why = NULL;

	CHECK_INT(symlink(loop, loop), ==, 0);
	setup.places.checkpoint_dir = top;
	setup.config.flink.result_store_directory = loop;
	CHECK_INT(setup_overlap(&setup, NULL, &why, &err), ==, -1);
	CHECK_HAS(err.msg, "loop");
}

/* The directories of the last launch: those that it was given, and where its job writes. */
TEST(a_job_that_writes_its_checkpoints_among_the_results_is_found)
{
	struct setup setup = {0};
	struct journal journal;
	struct launch *launch;
	cleanup_free char *why = NULL;

	journal_init(&journal, "app");
	launch = journal_add_launch(&journal);
	setup.places.checkpoint_dir = (char *)"s3://b/ck";
	setup.config.flink.result_store_directory = (char *)"s3://b/results";
	launch->job_result_path = xstrdup("s3://b/results/0123");
	launch->checkpoint_dir = xstrdup("s3://b/ck");
	launch->last_checkpoint_path = xstrdup("s3://b/ck/4567/chk-7");
	CHECK(!overlap_of(&setup, &journal));
	free(launch->last_checkpoint_path);
	launch->last_checkpoint_path = xstrdup("s3a://b/results/4567/chk-7");
	CHECK(!overlap_of(&setup, NULL));
	why = overlap_of(&setup, &journal);
	CHECK_HAS(why, "(s3a://b/results) are one directory");
	journal_release(&journal);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
