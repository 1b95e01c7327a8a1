#include "run/outputs/termination.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "tap.h"

struct rig {
	struct lifecycle_config config;
	struct lifecycle life;
	struct termination_last last;
	struct buf text;
	struct json *doc;
};

static void rig_begin(struct rig *rig, enum phase phase, const char *reason)
{
	struct journal journal;
	struct rng rng = {0};

	memset(rig, 0, sizeof(*rig));
	journal_init(&journal, "orders");
	lifecycle_init(&rig->life, &rig->config, &journal, &rng);
	rig->life.phase = phase;
	snprintf(rig->life.reason, sizeof(rig->life.reason), "%s", reason);
	termination_see(&rig->last, &rig->life);
	rig->life.phase = PHASE_TERMINATING;
	snprintf(rig->life.reason, sizeof(rig->life.reason), "the container ends");
	termination_see(&rig->last, &rig->life);
}

static void rig_end(struct rig *rig)
{
	json_free(rig->doc);
	buf_release(&rig->text);
	lifecycle_release(&rig->life);
}

static const struct json *words(struct rig *rig)
{
	struct err err = {0};

	buf_clear(&rig->text);
	json_free(rig->doc);
	termination_text(&rig->last, &rig->life, NULL, &rig->text);
	CHECK_INT(rig->text.len_bytes, <=, TERMINATION_MAX_BYTES);
	CHECK_INT(buf_str(&rig->text)[rig->text.len_bytes - 1], ==, '\n');
	rig->doc = json_parse(rig->text.data, rig->text.len_bytes, TERMINATION_MAX_BYTES, &err);
	if (!CHECK(rig->doc != NULL))
		tap_note("%s", err.msg);
	return rig->doc;
}

TEST(says_what_was_before_the_end_began)
{
	struct rig rig;

	rig_begin(&rig, PHASE_HOLDING, "rule 5: the storage denies access");
	rig.last.cause = CAUSE_STORAGE_UNREADABLE;
	CHECK(termination_is_failure(&rig.last, &rig.life));
	CHECK_STR(json_str(words(&rig), "phase"), "Holding");
	CHECK_STR(json_str(rig.doc, "cause"), "StorageUnreadable");
	CHECK_STR(json_str(rig.doc, "reason"), "rule 5: the storage denies access");
	CHECK_STR(json_str(rig.doc, "application"), "orders");
	CHECK(!json_get(rig.doc, "error") && !json_get(rig.doc, "jobId"));
	rig_end(&rig);
}

TEST(says_which_state_there_is)
{
	struct rig rig;
	struct launch *launch;
	struct snapshot savepoint = {.path = (char *)"file:/sp/1", .kind = SNAPSHOT_SAVEPOINT};

	rig_begin(&rig, PHASE_FAILED, "given up");
	launch = journal_add_launch(&rig.life.journal);
	launch->last_checkpoint_id = 3;
	launch->last_checkpoint_path = xstrdup("file:/ck/3");
	snprintf(launch->job_id, JOB_ID_BYTES, "aa");
	journal_add_snapshot(&rig.life.journal, &savepoint);
	rig.life.journal.last_error = xstrdup("java.lang.OutOfMemoryError");
	rig.life.journal.outcome.kind = OUTCOME_FAILED;
	rig.life.journal.outcome.reason = xstrdup("5 failed attempts");
	CHECK_STR(json_str(words(&rig), "outcome"), "5 failed attempts");
	CHECK_STR(json_str(rig.doc, "lastError"), "java.lang.OutOfMemoryError");
	CHECK_STR(json_str(rig.doc, "lastCheckpoint"), "file:/ck/3");
	CHECK_STR(json_str(rig.doc, "lastSavepoint"), "file:/sp/1");
	CHECK_STR(json_str(rig.doc, "jobId"), "aa");
	CHECK_INT(json_i64_or(rig.doc, "launch", 0), ==, 1);
	rig_end(&rig);
}

TEST(is_valid_and_short_whatever_the_texts_are)
{
	struct rig rig;
	char ugly[3000];

	rig_begin(&rig, PHASE_FAILED, "given up");
	for (size_t i = 0; i < sizeof(ugly) - 1; i++)
		ugly[i] = i % 3 ? '\x01' : (char)0xc3; /* control bytes, half characters */
	ugly[sizeof(ugly) - 1] = '\0';
	memcpy(rig.last.reason, ugly, sizeof(rig.last.reason) - 1);
	rig.life.journal.last_error = xstrdup(ugly);
	rig.life.journal.outcome.kind = OUTCOME_FAILED;
	rig.life.journal.outcome.reason = xstrdup(ugly);
	CHECK_STR(json_str(words(&rig), "phase"), "Failed");
	CHECK(json_str(rig.doc, "lastError") != NULL);
	rig_end(&rig);
}

TEST(an_end_that_was_wanted_is_no_failure)
{
	struct rig rig;

	rig_begin(&rig, PHASE_RUNNING, "the job runs");
	CHECK(!termination_is_failure(&rig.last, &rig.life));
	rig.life.journal.outcome.kind = OUTCOME_FINISHED;
	CHECK(!termination_is_failure(&rig.last, &rig.life));
	rig.life.journal.outcome.kind = OUTCOME_UNKNOWN;
	CHECK(termination_is_failure(&rig.last, &rig.life));
	rig_end(&rig);
	rig_begin(&rig, PHASE_HOLDING, "do-not-restart is on");
	rig.life.journal.intent.do_not_restart = true;
	CHECK(!termination_is_failure(&rig.last, &rig.life));
	rig_end(&rig);
	rig_begin(&rig, PHASE_SUSPENDED, "suspended");
	CHECK(!termination_is_failure(&rig.last, &rig.life));
	rig_end(&rig);
}

TEST(without_a_journal_there_is_the_error)
{
	struct termination_last none = {0};
	struct buf text = BUF_INIT;

	termination_text(&none, NULL, "drey.yaml: line 3: no", &text);
	CHECK_STR(buf_str(&text), "{\"error\":\"drey.yaml: line 3: no\"}\n");
	buf_release(&text);
}

TEST(only_a_file_that_is_there_is_written)
{
	char dir[] = "/tmp/drey-words.XXXXXX";
	cleanup_free char *path = NULL;
	cleanup_free char *fifo = NULL;
	struct buf text = BUF_INIT, got = BUF_INIT;
	struct stat st;

	CHECK(mkdtemp(dir) != NULL);
	path = xasprintf("%s/log", dir);
	fifo = xasprintf("%s/fifo", dir);
	buf_addstr(&text, "last words\n");
	CHECK_INT(termination_write(path, &text, NULL), ==, 0);
	CHECK_INT(stat(path, &st), ==, -1);
	CHECK_INT(fs_write_atomic(path, "something longer was here before", 32, 0600, NULL), ==, 0);
	CHECK_INT(termination_write(path, &text, NULL), ==, 1);
	CHECK_INT(fs_read(path, 100, &got, NULL), ==, 0);
	CHECK_STR(buf_str(&got), "last words\n");
	CHECK_INT(mkfifo(fifo, 0600), ==, 0);
	CHECK_INT(termination_write(fifo, &text, NULL), ==, 0);
	CHECK_INT(termination_write("/dev/null", &text, NULL), ==, 0);
	CHECK_INT(termination_write(dir, &text, NULL), ==, -1);
	unlink(path);
	unlink(fifo);
	rmdir(dir);
	buf_release(&text);
	buf_release(&got);
}
