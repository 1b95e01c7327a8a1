/* What a _metadata refers to, beside what is there: that of another checkpoint, and a damaged one. */
#include <string.h>

#include "base/mem.h"

#include "core/gc/gc_internal.h"
#include "tap.h"

#define DEAD    "11111111111111111111111111111111"
#define NEXT    "22222222222222222222222222222222"
#define LAST    "33333333333333333333333333333333"
#define FOREIGN "ffffffffffffffffffffffffffffffff"

#define A   "0b0ccd4e-8f1c-4a6e-b84c-5f0d0ce0e0d3"
#define B   "b36518ca-92d4-4560-8546-264ea8844651"
#define C   "2c80035a-a571-4e6c-84c7-06e497c888af"
#define A1  "0b0cXd4e-8f1c-4a6e-b84c-5f0d0ce0e0d3" /* a byte of the first half is damaged */
#define A1S "0b0c/d4e-8f1c-4a6e-b84c-5f0d0ce0e0d3"
#define A2  "0b0ccd4e-8f1c-4a6e-b84c-5f0d0ce0e0d2" /* of the second half */
#define A2S "0b0ccd4e-8f1c-4a6e-b84c-5f0d0ce/e0d3"
#define A3  "1b0ccd4e-8f1c-4a6e-b84c-5f0d0ce0e0d2" /* of both: not known again */

struct world {
	struct journal journal;
	struct gc gc;
	struct gc_body body;
};

static void add_launch(struct world *w, const char *job_id)
{
	struct launch *launch = journal_add_launch(&w->journal);

	memcpy(launch->job_id, job_id, JOB_ID_BYTES);
	launch->intended_unix_ms = launch->started_unix_ms = 1000 * launch->number;
	launch->proven_unix_ms = 10000 * launch->number;
}

/* Two dead launches; of each the directory. */
static void begin(struct world *w)
{
	*w = (struct world){.gc.now_unix_ms = 100000};
	journal_init(&w->journal, "app");
	add_launch(w, DEAD);
	add_launch(w, NEXT);
	add_launch(w, LAST);
	gc_add_tree(&w->gc, GC_TREE_JOB, "file:/ck/" DEAD, DEAD);
	gc_add_file(&w->gc, "chk-5/_metadata", 10, 1500, false);
	gc_add_file(&w->gc, "chk-5/" B, 10, 1500, false);
	gc_add_file(&w->gc, "shared/" A, 10, 1500, false);
	gc_add_tree(&w->gc, GC_TREE_JOB, "file:/ck/" NEXT, NEXT);
	gc_add_file(&w->gc, "chk-5/_metadata", 10, 2500, false);
}

static void end(struct world *w)
{
	gc_release(&w->gc);
	journal_release(&w->journal);
}

#define BODY_TEST(name) TEST_WITH(name, struct world, w, begin, end)

/* The checkpoint 5 of a job; its _metadata is read next. */
static struct gc_snapshot *reads(struct world *w, const char *job_id)
{
	cleanup_free char *path = xasprintf("file:/ck/%s/chk-5", job_id);
	struct gc_snapshot s = {.path = path,
				.kind = SNAPSHOT_CHECKPOINT,
				.checkpoint_id = 5,
				.unix_ms = 1500,
				.retained = true,
				.read = true};
	struct gc_snapshot *there = gc_find_snapshot(&w->gc, path);

	memcpy(s.job_id, job_id, JOB_ID_BYTES);
	if (!there)
		there = gc_add_snapshot(&w->gc, &s);
	gc_body_begin(&w->body, &w->gc, (size_t)(there - w->gc.snapshots));
	return there;
}

static void refers(struct world *w, const char *path)
{
	gc_body_refer(&w->body, &w->gc, &w->journal, path, !strchr(path, ':'));
}

static void check_other(struct world *w, const char *want)
{
	cleanup_free char *why = gc_body_is_of_another(&w->body, &w->gc);

	CHECK_STR(want ? "" : why, want ? "" : NULL);
	if (want)
		CHECK_HAS(why ? why : "(nothing)", want);
}

static void check_stray(struct world *w, const char *want)
{
	cleanup_free char *why = gc_contradiction(&w->gc, &w->journal);

	CHECK_STR(want ? "" : why, want ? "" : NULL);
	if (want)
		CHECK_HAS(why ? why : "(nothing)", want);
}

/* ---- that of another ---- */

BODY_TEST(a_checkpoint_refers_to_no_job_that_ran_later)
{
	reads(w, DEAD);
	refers(w, "file:/ck/" DEAD "/shared/" A);
	refers(w, "s3://elsewhere/" FOREIGN "/shared/" C);
	refers(w, "file:/" NEXT "/ck/" DEAD "/shared/" A);
	refers(w, "file:/ck/" NEXT "/else/" A);
	check_other(w, NULL);
	refers(w, "file:/ck/" NEXT "/shared/" A);
	check_other(w, "it refers to files of job " NEXT ", which ran later");
}

BODY_TEST(it_may_refer_to_one_that_ran_before)
{
	reads(w, NEXT);
	refers(w, "file:/ck/" DEAD "/chk-7/" B);
	refers(w, "file:/ck/" NEXT "/taskowned/" C);
	check_other(w, NULL);
	reads(w, LAST);
	refers(w, "file:/ck/" NEXT "/dstl/" B);
	check_other(w, NULL);
	reads(w, FOREIGN);
	refers(w, "file:/ck/" NEXT "/shared/" B);
	check_other(w, NULL);
	/* an id that has come back ran before and after */
	add_launch(w, DEAD);
	reads(w, NEXT);
	refers(w, "file:/ck/" DEAD "/shared/" A);
	check_other(w, NULL);
}

BODY_TEST(a_checkpoint_names_some_of_its_own_files)
{
	reads(w, DEAD);
	check_other(w, NULL); /* it may have none */
	refers(w, C);
	check_other(w, "it names none of the files in its directory");
	refers(w, B);
	check_other(w, NULL);
	reads(w, NEXT); /* all of them are gone: it is damaged, and nobody knows of another */
	refers(w, C);
	check_other(w, NULL);
	reads(w, LAST); /* its directory is not listed */
	refers(w, C);
	check_other(w, NULL);
}

/* ---- damaged ---- */

BODY_TEST(a_damaged_name_means_a_file_that_nothing_else_refers_to)
{
	static const char *const names[] = {A1, A1S, A2, A2S};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cleanup_free char *path = xasprintf("file:/ck/" DEAD "/shared/%s", names[i]);

		end(w);
		begin(w);
		reads(w, NEXT);
		refers(w, path);
		check_stray(w, "file:/ck/" NEXT "/chk-5 is damaged");
		refers(w, "file:/ck/" DEAD "/shared/" A);
		check_stray(w, NULL);
	}
}

BODY_TEST(so_does_one_of_a_file_in_a_checkpoint)
{
	reads(w, NEXT);
	refers(w, "file:/ck/" DEAD "/chk-5/"
		  "c"
		  "36518ca-92d4-4560-8546-264ea8844651");
	check_stray(w,
		    "file:/ck/" DEAD "/chk-5/" B ", to which nothing refers, has half of its name");
}

BODY_TEST(a_file_that_is_gone_for_good_stops_nothing)
{
	reads(w, NEXT);
	refers(w, "file:/ck/" DEAD "/shared/" C);
	refers(w, "file:/ck/" DEAD "/shared/" A3);
	refers(w, "file:/ck/" DEAD "/shared/short");
	refers(w, "file:/ck/" FOREIGN "/shared/" A1); /* not listed */
	check_stray(w, NULL);
}

BODY_TEST(unless_the_snapshot_is_needed)
{
	struct gc_snapshot *snapshot = reads(w, NEXT);

	refers(w, "file:/ck/" DEAD "/shared/" C);
	check_stray(w, NULL);
	snapshot->named = true;
	check_stray(w, "file:/ck/" NEXT "/chk-5 is needed, and refers to a file in file:/ck/" DEAD);
	snapshot->gone = true;
	w->gc.snapshots[0].kind =
		SNAPSHOT_SAVEPOINT; /* one that is gone is another contradiction */
	check_stray(w, NULL);
	snapshot->gone = snapshot->named = false;
	journal_launch(&w->journal)->restore_path = xstrdup("file:///ck/" NEXT "/chk-5");
	check_stray(w, "is needed");
	/* where nothing would be deleted, nothing is at stake */
	refers(w, "file:/ck/" DEAD "/shared/" A);
	check_stray(w, NULL);
}

BODY_TEST(a_checkpoint_of_the_last_launch_is_needed)
{
	reads(w, LAST);
	refers(w, "file:/ck/" DEAD "/shared/" C);
	check_stray(w, "file:/ck/" LAST "/chk-5 is needed");
	refers(w, "file:/ck/" LAST "/shared/" C); /* not listed */
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
