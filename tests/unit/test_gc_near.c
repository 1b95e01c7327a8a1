/* Which checkpoints are asked for, though no listing has them. */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/gc/gc.h"
#include "tap.h"

#define DEAD    "11111111111111111111111111111111"
#define LAST    "22222222222222222222222222222222"
#define FOREIGN "ffffffffffffffffffffffffffffffff"

struct world {
	struct journal journal;
	struct gc gc;
	struct buf asked;
};

static void begin(struct world *w)
{
	*w = (struct world){.gc.now_unix_ms = 100000};
	journal_init(&w->journal, "app");
	memcpy(journal_add_launch(&w->journal)->job_id, DEAD, JOB_ID_BYTES);
	memcpy(journal_add_launch(&w->journal)->job_id, LAST, JOB_ID_BYTES);
}

static void end(struct world *w)
{
	buf_release(&w->asked);
	gc_release(&w->gc);
	journal_release(&w->journal);
}

#define NEAR_TEST(name) TEST_WITH(name, struct world, w, begin, end)

static void add(struct world *w, const char *path)
{
	struct gc_snapshot s = {.path = (char *)path, .kind = SNAPSHOT_CHECKPOINT, .unix_ms = 1500};

	gc_add_snapshot(&w->gc, &s);
}

/* As "1:21", the first digit of the job and the number; "s3a 1:21" where its path begins like that. */
static void on_near(void *ctx, const char *dir)
{
	struct world *w = ctx;
	const char *name = strrchr(dir, '/');

	buf_addf(&w->asked, "%s%s%c:%s", w->asked.len_bytes ? " " : "",
		 strncmp(dir, "s3a:", 4) ? "" : "s3a ", name[-1], name + strlen("/chk-"));
}

static void check_asked(struct world *w, const char *expected)
{
	buf_clear(&w->asked);
	gc_near(&w->gc, &w->journal, on_near, w);
	CHECK_STR(buf_str(&w->asked), expected);
}

#define IN(job, n) "s3://b/ck/" job "/chk-" #n

NEAR_TEST(the_nearest_of_the_newest_come_first)
{
	check_asked(w, "");
	add(w, IN(DEAD, 20));
	check_asked(w, "1:21 1:19 1:22 1:18 1:23 1:17");
}

NEAR_TEST(a_gap_is_asked_for_and_what_is_known_is_not)
{
	add(w, IN(DEAD, 53));
	add(w, IN(DEAD, 56));
	check_asked(w, "1:57 1:55 1:54 1:52 1:58 1:51");
}

NEAR_TEST(flink_counts_from_1)
{
	add(w, IN(DEAD, 1));
	add(w, IN(DEAD, 2));
	check_asked(w, "1:3 1:4 1:5 1:6 1:7 1:8");
}

NEAR_TEST(each_job_has_numbers_of_its_own_also_a_foreign_one)
{
	add(w, IN(FOREIGN, 1));
	add(w, IN(LAST, 2));
	check_asked(w, "2:3 2:1 2:4 2:5 2:6 2:7 f:2 f:3 f:4 f:5 f:6 f:7");
}

NEAR_TEST(what_the_journal_names_is_known_however_its_path_is_spelled)
{
	add(w, IN(DEAD, 2));
	w->journal.launches[0].last_checkpoint_path = xstrdup("s3a://b/ck/" DEAD "/chk-1/");
	w->journal.launches[1].restore_path = xstrdup("s3a://b/ck/" DEAD "/chk-3/_metadata");
	check_asked(w, "s3a 1:4 s3a 1:5 s3a 1:6 s3a 1:7 s3a 1:8 s3a 1:9");
}

NEAR_TEST(what_has_no_job_or_no_number_leads_nowhere)
{
	add(w, "s3://b/chk-5");
	add(w, "s3://b/ck/chk-5");
	add(w, "s3://b/ck/" DEAD "/chk-0");
	add(w, "s3://b/ck/" DEAD "/chk-x");
	add(w, "s3://b/ck/x" DEAD "/chk-5");
	add(w, "s3://b/sp/savepoint-111111-0123456789ab");
	check_asked(w, "");
}

NEAR_TEST(a_checkpoint_is_known_by_its_job_and_its_number)
{
	add(w, IN(DEAD, 5));
	CHECK(gc_has_checkpoint(&w->gc, "s3a://b/ck/" DEAD "/chk-5/_metadata"));
	CHECK(!gc_has_checkpoint(&w->gc, IN(DEAD, 6)));
	CHECK(!gc_has_checkpoint(&w->gc, IN(LAST, 5)));
	CHECK(!gc_has_checkpoint(&w->gc, "s3://b/chk-5"));
	w->gc.snapshots[0].gone = true;
	CHECK(!gc_has_checkpoint(&w->gc, IN(DEAD, 5)));
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
