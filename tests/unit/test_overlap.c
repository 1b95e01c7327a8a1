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

TEST(a_directory_under_two_names_is_found)
{
	struct setup setup = {0};
	cleanup_free char *why = NULL;

	setup.places.checkpoint_dir = (char *)"s3://b/ck";
	setup.places.savepoint_dir = (char *)"s3://b/sp";
	setup.config.flink.result_store_directory = (char *)"s3://b/ck/job-results";
	CHECK(!setup_overlap(&setup));
	setup.config.flink.result_store_directory = (char *)"s3p://b/x/../ck/";
	why = setup_overlap(&setup);
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
	why = setup_overlap(&setup);
	CHECK_HAS(why, "are one directory");
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
