#include "core/resolve/lineage_dirs.h"

#include "resolve_world.h"

static struct launch *told(struct launch *launch, const char *checkpoints, const char *savepoints)
{
	xstrset(&launch->checkpoint_dir, checkpoints);
	xstrset(&launch->savepoint_dir, savepoints);
	return launch;
}

/* "c file:/a; s file:/b; c file:/c ours" */
static const char *dirs_of(const struct world *w, size_t *ret_left_out)
{
	static char text[2048];
	struct lineage_dirs dirs;
	size_t used = 0;

	text[0] = '\0';
	lineage_dirs_find(&w->journal, "file:///cp", "file:///sp", &dirs);
	for (size_t i = 0; i < dirs.count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%c %s%s",
					 used ? "; " : "",
					 dirs.list[i].kind == SNAPSHOT_CHECKPOINT ? 'c' : 's',
					 dirs.list[i].dir, dirs.list[i].only_ours ? " ours" : "");
	if (ret_left_out)
		*ret_left_out = dirs.left_out;
	lineage_dirs_release(&dirs);
	return text;
}

WORLD_TEST(what_is_configured_is_not_named_twice)
{
	CHECK_STR(dirs_of(w, NULL), "");
	told(proved(w, JOB_A, NULL, 0, 5), "/cp/", "file:/sp");
	CHECK_STR(dirs_of(w, NULL), "");
}

WORLD_TEST(the_directories_of_the_last_launch_stay_sources)
{
	told(proved(w, JOB_A, NULL, 0, 5), "file:/old", "s3://b/sp");
	CHECK_STR(dirs_of(w, NULL), "c file:/old; s s3://b/sp");
}

WORLD_TEST(the_path_of_a_checkpoint_tells_where_the_job_really_writes)
{
	struct launch *launch;

	launch = told(proved(w, JOB_A, NULL, 0, 5), "file:/cp", "file:/sp");
	xstrset(&launch->last_checkpoint_path, "s3://own/x/" JOB_A "/chk-5");
	CHECK_STR(dirs_of(w, NULL), "c s3://own/x ours");
	/* also where 0.1.0 has written down nothing else */
	told(launch, NULL, NULL);
	CHECK_STR(dirs_of(w, NULL), "c s3://own/x ours");
}

WORLD_TEST(a_directory_without_the_job_id_is_listed_too)
{
	struct launch *launch = told(proved(w, JOB_A, NULL, 0, 5), "file:/cp", "file:/sp");

	xstrset(&launch->last_checkpoint_path, "file:/own/chk-5");
	CHECK_STR(dirs_of(w, NULL), "c file:/own ours");
	CHECK(lineage_dir_is_hidden(launch));
	xstrset(&launch->last_checkpoint_path, "file:/cp/chk-5");
	CHECK_STR(dirs_of(w, NULL), "");
	CHECK(lineage_dir_is_hidden(launch));
	xstrset(&launch->last_checkpoint_path, "db:/5");
	CHECK_STR(dirs_of(w, NULL), "");
	CHECK(lineage_dir_is_hidden(launch));
	xstrset(&launch->last_checkpoint_path, "file:/own/" JOB_A "/chk-5");
	CHECK(!lineage_dir_is_hidden(launch));
	xstrset(&launch->last_checkpoint_path, NULL);
	CHECK(!lineage_dir_is_hidden(launch));
}

WORLD_TEST(the_way_back_ends_at_a_proven_launch)
{
	told(proved(w, JOB_A, NULL, 0, 5), "file:/first", NULL);
	told(proved(w, JOB_B, NULL, 0, 5), "file:/second", NULL);
	told(ran(w, JOB_C, NULL, 0), "file:/third", NULL);
	CHECK_STR(dirs_of(w, NULL), "c file:/third; c file:/second");
}

WORLD_TEST(an_order_of_a_person_has_given_up_what_was_before)
{
	told(proved(w, JOB_A, NULL, 0, 5), "file:/first", NULL);
	told(ran(w, JOB_B, NULL, 0), "file:/second", NULL);
	xstrset(&journal_launch(&w->journal)->request_token, "t");
	CHECK_STR(dirs_of(w, NULL), "c file:/second");
	/* which was never carried out */
	journal_launch(&w->journal)->never_started = true;
	CHECK_STR(dirs_of(w, NULL), "c file:/first");
}

/* Its code has chosen another directory at each start, and may go back to the first. */
WORLD_TEST(a_job_that_continues_may_write_where_it_wrote_before)
{
	struct launch *launch;

	told(proved(w, JOB_A, NULL, 0, 5), "file:/old", NULL);
	launch = told(proved(w, JOB_B, NULL, 0, 5), "file:/cp", NULL);
	xstrset(&launch->last_checkpoint_path, "file:/cp2/" JOB_B "/chk-5");
	launch = told(proved(w, JOB_B, NULL, 0, 7), "file:/cp", NULL);
	xstrset(&launch->last_checkpoint_path, "file:/cp/" JOB_B "/chk-7");
	told(ran(w, JOB_B, NULL, 0), "file:/cp", NULL);
	CHECK_STR(dirs_of(w, NULL), "c file:/cp2 ours");
}

/* If it is damaged, the one before it counts. */
WORLD_TEST(the_directory_of_a_requested_checkpoint_is_one)
{
	struct launch *launch;

	told(proved(w, JOB_A, NULL, 0, 5), "file:/first", NULL);
	told(proved(w, JOB_B, NULL, 0, 5), "file:/second", NULL);
	launch = told(ran(w, JOB_C, "file:/own/" JOB_A "/chk-5", 5), "file:/third", NULL);
	xstrset(&launch->request_token, "t");
	CHECK_STR(dirs_of(w, NULL), "c file:/third; c file:/own ours");
	launch->proven_unix_ms = 1;
	CHECK_STR(dirs_of(w, NULL), "c file:/third");
	launch->proven_unix_ms = 0;
	xstrset(&launch->restore_path, "file:/sp/savepoint-aaaaaa-000000000009");
	CHECK_STR(dirs_of(w, NULL), "c file:/third");
}

/* drey had to go back behind what the proven launch left; if that is damaged, too, the one before it counts. */
WORLD_TEST(the_directory_that_drey_has_gone_back_to_is_one)
{
	struct launch *launch;

	told(proved(w, JOB_A, NULL, 0, 5), "file:/first", NULL);
	told(proved(w, JOB_B, "file:/own/" JOB_A "/chk-5", 5, 7), "file:/second", NULL);
	CHECK_STR(dirs_of(w, NULL), "c file:/second");
	launch = told(ran(w, JOB_C, "file:/own/" JOB_A "/chk-5", 5), "file:/third", NULL);
	CHECK_STR(dirs_of(w, NULL), "c file:/third; c file:/own ours; c file:/second");
	launch->proven_unix_ms = 1;
	CHECK_STR(dirs_of(w, NULL), "c file:/third");
}

WORLD_TEST(the_directory_of_an_operation_in_flight_is_one)
{
	w->journal.operation.kind = OPERATION_STOP;
	xstrset(&w->journal.operation.path, "s3://b/_entropy_/sp");
	xstrset(&w->journal.operation.directory, "s3://b/sp");
	CHECK_STR(dirs_of(w, NULL), "s s3://b/sp");
	w->journal.operation.kind = OPERATION_CANCEL;
	CHECK_STR(dirs_of(w, NULL), "");
}

WORLD_TEST(more_than_a_few_are_counted)
{
	size_t left_out = 0;

	for (int i = 0; i < LINEAGE_DIRS_MAX + 3; i++) {
		cleanup_free char *job = xasprintf("%032x", (unsigned)i);
		cleanup_free char *dir = xasprintf("file:/cp-%d", i);

		told(ran(w, job, NULL, 0), dir, NULL);
	}
	dirs_of(w, &left_out);
	CHECK_INT(left_out, ==, 3);
}

WORLD_TEST(ha_data_of_launches_before_are_read_as_long_as_they_may_be_newer)
{
	const char *ids[LINEAGE_HA_MAX];
	struct launch *launch;

	CHECK_INT(lineage_ha_clusters(&w->journal, NULL, ids), ==, 0);
	proved(w, JOB_A, NULL, 0, 5)->ha_cluster_id = xstrdup("first");
	proved(w, JOB_B, NULL, 0, 5)->ha_cluster_id = xstrdup("second");
	CHECK_INT(lineage_ha_clusters(&w->journal, "second", ids), ==, 0);
	CHECK_INT(lineage_ha_clusters(&w->journal, NULL, ids), ==, 1); /* HA was switched off */
	CHECK_STR(ids[0], "second");
	launch = ran(w, JOB_C, NULL, 0); /* without HA, and not proven yet */
	CHECK_INT(lineage_ha_clusters(&w->journal, NULL, ids), ==, 1);
	launch->ha_cluster_id = xstrdup("third");
	CHECK_INT(lineage_ha_clusters(&w->journal, "fourth", ids), ==, 2);
	CHECK_STR(ids[0], "third");
	CHECK_STR(ids[1], "second");
	launch->never_started = true;
	CHECK_INT(lineage_ha_clusters(&w->journal, NULL, ids), ==, 1);
	launch->never_started = false;
	launch->proven_unix_ms = 1;
	CHECK_INT(lineage_ha_clusters(&w->journal, "third", ids), ==, 0);
	launch->job_ended = true;
	CHECK_INT(lineage_ha_clusters(&w->journal, NULL, ids), ==, 0);
}

TEST(only_flinks_own_form_names_a_directory)
{
	static const char *const bad[] = {
		"<checkpoint-not-externally-addressable>",
		"file:/x/" JOB_A "/chk-",
		"file:/x/" JOB_A "/chk-1a",
		"file:/x/" JOB_A "/savepoint-1",
		"file:/x/" JOB_B "/chk-1",
		"file:/xx" JOB_A "/chk-1",
		JOB_A "/chk-1",
		"/chk-1",
		"",
	};
	char *dir = lineage_dir_of_checkpoint("s3://b/x/" JOB_A "/chk-12", JOB_A);

	CHECK_STR(dir, "s3://b/x");
	free(dir);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_STR(lineage_dir_of_checkpoint(bad[i], JOB_A), NULL);
	CHECK_STR(lineage_dir_of_checkpoint(NULL, JOB_A), NULL);
	CHECK_STR(lineage_dir_of_checkpoint("file:/x/chk-1", ""), NULL);
}
