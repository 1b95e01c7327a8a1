/*
 * The copy of the journal: what is in it, what is not believed, when it is due, and what becomes of a journal
 * that is made from it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/journal/journal_copy.h"
#include "tap.h"

#define JOB_1 "11111111111111111111111111111111"
#define JOB_2 "22222222222222222222222222222222"

static struct launch *add(struct journal *journal, const char *job)
{
	struct launch *launch = journal_add_launch(journal);

	snprintf(launch->job_id, sizeof(launch->job_id), "%s", job);
	launch->intended_unix_ms = 1000 * launch->number;
	launch->started_unix_ms = launch->intended_unix_ms + 1;
	return launch;
}

static void make(struct journal *journal)
{
	struct snapshot savepoint = {.path = (char *)"s3://b/sp/savepoint-111111-a",
				     .kind = SNAPSHOT_SAVEPOINT,
				     .origin = ORIGIN_STOP,
				     .checkpoint_id = 9};

	journal_init(journal, "orders");
	journal->sequence = 41;
	journal->writer = xstrdup("pod/uid/1");
	add(journal, JOB_1);
	journal_add_snapshot(journal, &savepoint);
	journal->intent.state = DESIRED_SUSPENDED;
}

static const struct journal_copy_head head = {.application = (char *)"orders",
					      .name_space = (char *)"shop",
					      .place = (char *)"ConfigMap shop/orders-drey-journal",
					      .drey_version = (char *)"0.3.0",
					      .written_unix_ms = INT64_C(1772368260000)};

static struct buf encoded(struct journal *journal)
{
	struct buf text = BUF_INIT;
	struct err err = {0};

	CHECK_INT(journal_copy_encode(journal, &head, &text, &err), ==, 0);
	return text;
}

static struct journal_copy *copied(struct journal *journal)
{
	cleanup_buf struct buf text = encoded(journal);
	struct journal_copy *copy = NULL;
	struct err err = {0};

	if (!CHECK_INT(journal_copy_decode(buf_str(&text), text.len_bytes, &copy, &err), ==, 0))
		tap_note("%s", err.msg);
	return copy;
}

TEST(it_is_beside_the_snapshots_and_named_by_its_application)
{
	cleanup_free char *uri = journal_copy_uri("s3://b/ck/", "orders", false);
	cleanup_free char *candidate = journal_copy_uri("/ck", "orders", true);

	CHECK_STR(uri, "s3://b/ck/.drey/orders/journal.json");
	CHECK_STR(candidate, "/ck/.drey/orders/journal-candidate.json");
}

TEST(what_was_written_is_read)
{
	struct journal journal;
	struct journal_copy *copy;
	cleanup_buf struct buf said = BUF_INIT;

	make(&journal);
	copy = copied(&journal);
	CHECK_STR(copy->head.name_space, "shop");
	CHECK_INT(copy->journal.sequence, ==, 41);
	CHECK_STR(copy->journal.launches[0].job_id, JOB_1);
	journal_copy_describe(copy, &said);
	CHECK_STR(buf_str(&said),
		  "the copy of 2026-03-01 12:31 UTC (launch 1) says: suspended, newest state "
		  "s3://b/sp/savepoint-111111-a");
	journal_copy_free(copy);
	journal_release(&journal);
}

/* Every byte is under the checksum: one that is changed makes it another document, or none. */
TEST(a_damaged_copy_is_not_believed)
{
	struct journal journal;
	cleanup_buf struct buf text = BUF_INIT;
	size_t believed = 0;

	make(&journal);
	text = encoded(&journal);
	for (size_t i = 0; i + 1 < text.len_bytes; i++) {
		char *byte = (char *)text.data + i, before = *byte;
		struct journal_copy *copy = NULL;
		struct err err = {0};

		*byte = before == '4' ? '5' : (char)(before ^ 1);
		if (journal_copy_decode(buf_str(&text), text.len_bytes, &copy, &err) == 0)
			believed++;
		journal_copy_free(copy);
		*byte = before;
	}
	CHECK_INT(believed, ==, 0);
	for (size_t len = 0; len + 1 < text.len_bytes; len++) {
		struct journal_copy *copy = NULL;

		CHECK(journal_copy_decode(buf_str(&text), len, &copy, NULL) < 0);
	}
	journal_release(&journal);
}

TEST(one_of_a_later_drey_is_named_as_such)
{
	const char *later = "{\"journalCopy\": 2, \"anything\": []}";
	struct journal_copy *copy = NULL;
	struct err err = {0};

	CHECK_INT(journal_copy_decode(later, strlen(later), &copy, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "written by a later drey");
}

TEST(the_largest_journal_fits)
{
	struct journal journal;
	struct journal_copy *copy;
	cleanup_buf struct buf text = BUF_INIT;
	char path[1001] = {0};

	make(&journal);
	memset(path, 'x', sizeof(path) - 1);
	for (int i = 0; i < 190; i++) {
		snprintf(path, 5, "%04d", i);
		path[4] = 'x';
		journal_add_snapshot(&journal,
				     &(struct snapshot){.path = path, .kind = SNAPSHOT_SAVEPOINT});
	}
	text = encoded(&journal);
	CHECK(text.len_bytes > 200000 && text.len_bytes < JOURNAL_COPY_MAX_BYTES);
	copy = copied(&journal);
	CHECK(copy != NULL);
	journal_copy_free(copy);
	journal_release(&journal);
}

TEST(another_application_or_namespace_is_foreign)
{
	struct journal journal;
	struct journal_copy *copy;
	cleanup_buf struct buf why = BUF_INIT;

	make(&journal);
	copy = copied(&journal);
	CHECK(!journal_copy_is_foreign(copy, "orders", "shop", &why));
	CHECK(!journal_copy_is_foreign(copy, "orders", NULL, &why));
	CHECK(journal_copy_is_foreign(copy, "orders", "test", &why));
	CHECK_STR(buf_str(&why), "it is of namespace shop");
	buf_clear(&why);
	CHECK(journal_copy_is_foreign(copy, "billing", "shop", &why));
	CHECK_STR(buf_str(&why), "it is of application orders");
	journal_copy_free(copy);
	journal_release(&journal);
}

/* ---- when it is due ---- */

TEST(launches_ends_savepoints_and_the_desired_state_make_it_due)
{
	struct journal journal;
	struct snapshot more = {.path = (char *)"s3://b/sp/2", .kind = SNAPSHOT_SAVEPOINT};
	uint64_t key[7];

	make(&journal);
	key[0] = journal_copy_mark(&journal).key;
	add(&journal, JOB_2);
	key[1] = journal_copy_mark(&journal).key;
	journal_launch(&journal)->ended_unix_ms = 5000;
	key[2] = journal_copy_mark(&journal).key;
	journal.outcome.kind = OUTCOME_FINISHED;
	key[3] = journal_copy_mark(&journal).key;
	journal_add_snapshot(&journal, &more);
	key[4] = journal_copy_mark(&journal).key;
	journal.intent.state = DESIRED_RUNNING;
	key[5] = journal_copy_mark(&journal).key;
	journal.intent.do_not_restart = true;
	key[6] = journal_copy_mark(&journal).key;
	for (int i = 0; i < 6; i++)
		CHECK(key[i] != key[i + 1]);
	journal_release(&journal);
}

TEST(checkpoints_and_writes_of_a_running_job_do_not)
{
	struct journal journal;
	uint64_t key;

	make(&journal);
	key = journal_copy_mark(&journal).key;
	journal.sequence++;
	journal_launch(&journal)->last_checkpoint_id = 7;
	xstrset(&journal.phase, "Running");
	journal_add_log(&journal, 1, "text");
	CHECK(journal_copy_mark(&journal).key == key);
	journal_release(&journal);
}

TEST(it_is_written_at_most_once_a_minute_and_not_at_rest)
{
	struct copy_pace pace = {0};
	int64_t wait_ms = 0;
	int writes = 0;

	/* a change every second, for ten minutes */
	for (int64_t now_ms = 1; now_ms < 600000; now_ms += 1000)
		if (copy_pace_next(&pace, &(struct copy_mark){(uint64_t)now_ms, 0}, false, now_ms,
				   &wait_ms) == COPY_NOW) {
			copy_pace_begin(&pace, now_ms);
			copy_pace_wrote(&pace, &(struct copy_mark){(uint64_t)now_ms, 0});
			writes++;
		}
	CHECK_INT(writes, ==, 10);
	CHECK_INT(copy_pace_next(&pace, &(struct copy_mark){5, 0}, false, 600000, &wait_ms), ==,
		  COPY_LATER);
	CHECK(wait_ms > 0 && wait_ms <= JOURNAL_COPY_PACE_MS);
	/* drey ends: there is no later */
	CHECK_INT(copy_pace_next(&pace, &(struct copy_mark){5, 0}, true, 600000, &wait_ms), ==,
		  COPY_NOW);
	copy_pace_begin(&pace, 600000);
	copy_pace_wrote(&pace, &(struct copy_mark){5, 0});
	for (int64_t now_ms = 600000; now_ms < INT64_C(86400000); now_ms += 60000)
		CHECK_INT(copy_pace_next(&pace, &(struct copy_mark){5, 0}, false, now_ms, &wait_ms),
			  ==, COPY_REST);
}

/* A start without them would be another one: from a state that is older, or of a job that is not to run. */
TEST(launches_outcomes_and_the_desired_state_are_written_soon)
{
	struct copy_pace pace = {0};
	struct journal journal;
	struct copy_mark mark[5];
	int64_t wait_ms = 0;
	int writes = 0;

	make(&journal);
	mark[0] = journal_copy_mark(&journal);
	journal_launch(&journal)->ended_unix_ms = 5000;
	mark[1] = journal_copy_mark(&journal);
	add(&journal, JOB_2);
	mark[2] = journal_copy_mark(&journal);
	journal.intent.do_not_restart = !journal.intent.do_not_restart;
	mark[3] = journal_copy_mark(&journal);
	journal.outcome.kind = OUTCOME_FINISHED;
	mark[4] = journal_copy_mark(&journal);
	CHECK(mark[0].key != mark[1].key && mark[0].soon == mark[1].soon);
	for (int i = 1; i < 4; i++)
		CHECK(mark[i].soon != mark[i + 1].soon);
	copy_pace_begin(&pace, 1000);
	copy_pace_wrote(&pace, &mark[0]);
	CHECK_INT(copy_pace_next(&pace, &mark[1], false, 1000, &wait_ms), ==, COPY_LATER);
	CHECK_INT(wait_ms, ==, JOURNAL_COPY_PACE_MS);
	CHECK_INT(copy_pace_next(&pace, &mark[2], false, 1000, &wait_ms), ==, COPY_LATER);
	CHECK_INT(wait_ms, ==, JOURNAL_COPY_SOON_MS);
	/* one that is launched again and again does not make it a flood */
	for (int64_t now_ms = 1; now_ms < 60000; now_ms += 1000)
		if (copy_pace_next(&pace, &mark[writes % 2 ? 2 : 3], false, now_ms, &wait_ms) ==
		    COPY_NOW) {
			copy_pace_begin(&pace, now_ms);
			copy_pace_wrote(&pace, &mark[writes % 2 ? 2 : 3]);
			writes++;
		}
	CHECK(writes > 1 && writes <= 12);
	copy_pace_failed(&pace, 60000);
	CHECK_INT(copy_pace_next(&pace, &mark[4], false, 60000, &wait_ms), ==, COPY_LATER);
	CHECK_INT(wait_ms, ==, JOURNAL_COPY_PACE_MS);
	journal_release(&journal);
}

TEST(a_failing_one_is_tried_again_and_less_often)
{
	struct copy_pace pace = {0};
	int64_t wait_ms = 0, now_ms = 1000;

	copy_pace_begin(&pace, now_ms);
	copy_pace_failed(&pace, now_ms);
	CHECK_INT(copy_pace_next(&pace, &(struct copy_mark){1, 0}, false, now_ms, &wait_ms), ==,
		  COPY_LATER);
	CHECK_INT(wait_ms, ==, JOURNAL_COPY_PACE_MS);
	for (int i = 0; i < 20; i++)
		copy_pace_failed(&pace, now_ms);
	copy_pace_next(&pace, &(struct copy_mark){1, 0}, false, now_ms, &wait_ms);
	CHECK_INT(wait_ms, ==, 10 * 60000);
}

/* ---- what may be replaced ---- */

TEST(an_older_journal_does_not_replace_what_knows_more)
{
	struct journal journal;
	struct journal_copy *copy;

	make(&journal);
	copy = copied(&journal);
	CHECK_INT(journal_copy_judge(&journal, copy, "shop"), ==, COPY_REPLACE);
	journal.sequence = 40;
	CHECK_INT(journal_copy_judge(&journal, copy, "shop"), ==, COPY_IS_NEWER);
	CHECK(!journal_copy_is_overtaken(&journal, copy));
	journal.sequence = 50;
	CHECK_INT(journal_copy_judge(&journal, copy, "test"), ==, COPY_IS_FOREIGN);
	journal_copy_free(copy);
	journal_release(&journal);
}

TEST(a_launch_that_runs_shows_which_journal_lives)
{
	struct journal journal, other;
	struct journal_copy *copy;

	make(&journal);
	copy = copied(&journal);
	journal_init(&other, "orders");
	add(&other, JOB_2);
	CHECK_INT(journal_copy_judge(&other, copy, "shop"), ==, COPY_IS_NEWER);
	CHECK_STR(journal_copy_unknown_launch(copy, &other)->job_id, JOB_1);
	CHECK(!journal_copy_is_overtaken(&other, copy));
	journal_launch(&other)->verified_unix_ms = 5000;
	CHECK(journal_copy_is_overtaken(&other, copy));
	journal_release(&other);
	journal_copy_free(copy);
	journal_release(&journal);
}

/* ---- a journal that is made from it ---- */

TEST(the_record_is_the_copys_and_the_writer_is_ours)
{
	struct journal journal, lost;
	struct journal_copy *copy;

	make(&journal);
	journal_consume(&journal, "t1");
	copy = copied(&journal);
	journal_init(&lost, "orders");
	lost.sequence = 3;
	lost.writer = xstrdup("pod2/uid2/1");
	lost.lease_id = xstrdup("lease-of-ours");
	lost.owner.uid = xstrdup("uid2");
	journal_copy_take(&lost, copy);
	CHECK_INT(lost.sequence, ==, 41);
	CHECK_STR(lost.writer, "pod2/uid2/1");
	CHECK_STR(lost.lease_id, "lease-of-ours");
	CHECK_STR(lost.owner.uid, "uid2");
	CHECK_INT(lost.writer_count, ==, 1);
	CHECK_STR(lost.writers[0], "pod/uid/1");
	CHECK_STR(journal_launch(&lost)->job_id, JOB_1);
	CHECK_INT(lost.intent.state, ==, DESIRED_SUSPENDED);
	CHECK(journal_is_consumed(&lost, "t1"));
	CHECK(journal_snapshot(&lost, "s3://b/sp/savepoint-111111-a") != NULL);
	journal_copy_free(copy);
	journal_release(&lost);
	journal_release(&journal);
}

TEST(a_request_that_was_carried_out_before_the_loss_is_not_repeated)
{
	struct journal journal, lost;
	struct journal_copy *copy;

	for (int known = 0; known < 2; known++) {
		make(&journal);
		if (known)
			journal_consume(&journal, "t7");
		copy = copied(&journal);
		journal_init(&lost, "orders");
		lost.intent.restore.kind = RESTORE_EMPTY;
		lost.intent.restore.token = xstrdup("t7");
		journal_copy_take(&lost, copy);
		CHECK_INT(lost.intent.restore.kind, ==, known ? RESTORE_NONE : RESTORE_EMPTY);
		journal_copy_free(copy);
		journal_release(&lost);
		journal_release(&journal);
	}
}

/* ---- an end that an older journal does not have ---- */

TEST(it_knows_which_ends_are_dreys_own)
{
	const char *path = "s3://b/sp/savepoint-111111-a";
	struct journal journal;
	struct journal_copy *copy;

	make(&journal);
	copy = copied(&journal);
	CHECK(journal_copy_made_end(copy, OPERATION_STOP, JOB_1, path));
	CHECK(!journal_copy_made_end(copy, OPERATION_STOP, JOB_1, "s3://b/sp/by-a-person"));
	CHECK(!journal_copy_made_end(copy, OPERATION_STOP, JOB_2, path));
	CHECK(!journal_copy_made_end(copy, OPERATION_CANCEL, JOB_1, NULL));
	/* a cancel of an earlier launch is none of this one */
	copy->journal.last_operation.kind = OPERATION_CANCEL;
	copy->journal.last_operation.ok = true;
	copy->journal.last_operation.ended_unix_ms = 500;
	CHECK(!journal_copy_made_end(copy, OPERATION_CANCEL, JOB_1, NULL));
	copy->journal.last_operation.ended_unix_ms = 5000;
	CHECK(journal_copy_made_end(copy, OPERATION_CANCEL, JOB_1, NULL));
	/* one in flight */
	copy->journal.last_operation.kind = OPERATION_NONE;
	copy->journal.operation.kind = OPERATION_STOP;
	memcpy(copy->journal.operation.job_id, JOB_1, JOB_ID_BYTES);
	CHECK(journal_copy_made_end(copy, OPERATION_STOP, JOB_1, "s3://b/sp/other"));
	/* drey has launched another one since */
	copy->journal.operation.kind = OPERATION_NONE;
	CHECK(!journal_copy_made_end(copy, OPERATION_CANCEL, JOB_1, NULL));
	add(&copy->journal, JOB_2);
	CHECK(journal_copy_made_end(copy, OPERATION_CANCEL, JOB_1, NULL));
	journal_copy_free(copy);
	journal_release(&journal);
}
