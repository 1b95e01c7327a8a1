/*
 * The journal's copy as a fact: when it is read at all, and what is never followed. With local files.
 */
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "core/journal/journal_copy.h"
#include "run/observe/observe.h"
#include "store_dir.h"

#define JOB_1 "11111111111111111111111111111111"
#define JOB_2 "22222222222222222222222222222222"

struct rig {
	char *top, *path, *results;
	struct journal journal; /* what is observed for */
	struct facts facts;
};

static void rig_begin(struct rig *rig)
{
	*rig = (struct rig){.top = dir_new()};
	rig->path = xasprintf("%s/.drey/orders/journal.json", rig->top);
	rig->results = xasprintf("%s/results/" JOB_1, rig->top);
	journal_init(&rig->journal, "orders");
}

static void rig_end(struct rig *rig)
{
	journal_release(&rig->journal);
	facts_release(&rig->facts);
	dir_removep(&rig->top);
	free(rig->path);
	free(rig->results);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static void write_text(struct rig *rig, const char *path, const void *text, size_t len)
{
	cleanup_free char *dir = xstrndup(path, (size_t)(strrchr(path, '/') - path));

	(void)rig;
	CHECK_INT(fs_mkdirs(dir, 0755, NULL), ==, 0);
	CHECK_INT(fs_write_atomic(path, text, len, 0644, NULL), ==, 0);
}

static void write_copy(struct rig *rig, const char *application, const char *name_space)
{
	const struct journal_copy_head head = {.application = (char *)(uintptr_t)application,
					       .name_space = (char *)(uintptr_t)name_space,
					       .written_unix_ms = 5};
	cleanup_buf struct buf text = BUF_INIT;
	struct journal journal;

	journal_init(&journal, application);
	journal.sequence = 70;
	snprintf(journal_add_launch(&journal)->job_id, JOB_ID_BYTES, JOB_1);
	journal_add_former_job(&journal, JOB_2);
	CHECK_INT(journal_copy_encode(&journal, &head, &text, NULL), ==, 0);
	write_text(rig, rig->path, text.data, text.len_bytes);
	journal_release(&journal);
}

/* Of the source, after one observation. */
static enum source_state look(struct rig *rig)
{
	struct observe_places places = {.checkpoint_dir = rig->top,
					.savepoint_dir = rig->top,
					.copy_uri = rig->path,
					.name_space = "shop"};
	struct observe_plan plan;

	facts_release(&rig->facts);
	observe_plan_init(&plan, &places, &rig->journal, NULL);
	observe_gather(&plan, &rig->facts);
	observe_plan_release(&plan);
	return rig->facts.sources[SOURCE_COPY].state;
}

static const char *detail(const struct rig *rig)
{
	return rig->facts.sources[SOURCE_COPY].detail;
}

static void ran_before(struct rig *rig)
{
	struct launch *launch = journal_add_launch(&rig->journal);

	snprintf(launch->job_id, JOB_ID_BYTES, JOB_1);
	launch->started_unix_ms = 1;
	launch->job_result_path = xstrdup(rig->results);
}

RIG_TEST(a_first_launch_finds_none)
{
	CHECK_INT(look(rig), ==, SOURCE_ABSENT);
	CHECK(!rig->facts.copy);
}

RIG_TEST(without_a_launch_it_is_read)
{
	write_copy(rig, "orders", "shop");
	CHECK_INT(look(rig), ==, SOURCE_PRESENT);
	CHECK_INT(rig->facts.copy->journal.sequence, ==, 70);
	CHECK_HAS(detail(rig), "(launch 1) says: running");
	CHECK(facts_is_own_job(&rig->facts, JOB_1));
	CHECK(facts_is_own_job(&rig->facts, JOB_2));
	CHECK_INT(rig->facts.candidate_count, ==, 0);
}

RIG_TEST(a_journal_with_a_launch_that_ran_does_not_read_it)
{
	write_copy(rig, "orders", "shop");
	ran_before(rig);
	CHECK_INT(look(rig), ==, SOURCE_NOT_CONFIGURED);
	CHECK(!rig->facts.copy);
}

RIG_TEST(but_one_whose_job_has_ended_unseen_does)
{
	static const char entry[] =
		"{\"result\":{\"id\":\"" JOB_1 "\",\"application-status\":\"SUCCEEDED\","
		"\"accumulator-results\":{},\"net-runtime\":5},\"version\":1}";
	cleanup_free char *file = xasprintf("%s/" JOB_1 ".json", rig->results);

	write_copy(rig, "orders", "shop");
	ran_before(rig);
	write_text(rig, file, entry, strlen(entry));
	CHECK_INT(look(rig), ==, SOURCE_PRESENT);
	CHECK_INT(rig->facts.ended, ==, JOB_END_FINISHED);
	CHECK(rig->facts.copy != NULL);
}

RIG_TEST(what_must_not_be_followed_is_named)
{
	write_copy(rig, "orders", "test");
	CHECK_INT(look(rig), ==, SOURCE_PRESENT);
	CHECK(!rig->facts.copy);
	CHECK_HAS(detail(rig), "it is of namespace test");
	write_copy(rig, "billing", "shop");
	CHECK_INT(look(rig), ==, SOURCE_PRESENT);
	CHECK(!rig->facts.copy);
	CHECK_HAS(detail(rig), "it is of application billing");
	write_text(rig, rig->path, "{\"journalCopy\": 2}", 18);
	CHECK_INT(look(rig), ==, SOURCE_PRESENT);
	CHECK(!rig->facts.copy);
	CHECK_HAS(detail(rig), "a later drey");
	write_text(rig, rig->path, "{\"journ", 7);
	CHECK_INT(look(rig), ==, SOURCE_PRESENT);
	CHECK(!rig->facts.copy);
	CHECK_HAS(detail(rig), ".drey/orders/journal.json: ");
}

RIG_TEST(what_cannot_be_read_is_not_absent)
{
	cleanup_free char *inside = xasprintf("%s/x", rig->path);

	write_text(rig, inside, "", 0); /* a directory of that name */
	CHECK_INT(look(rig), ==, SOURCE_UNREADABLE);
}
