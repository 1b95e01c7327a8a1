#include "run/outputs/termination.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"

#define LONGEST_TEXT  1024
#define SHORTEST_TEXT 16

void termination_see(struct termination_last *last, const struct lifecycle *life)
{
	if (life->phase == PHASE_TERMINATING)
		return;
	last->phase = life->phase;
	last->cause = life->cause;
	memcpy(last->reason, life->reason, sizeof(last->reason));
}

bool termination_is_failure(const struct termination_last *last, const struct lifecycle *life)
{
	switch (life->journal.outcome.kind) {
	case OUTCOME_FAILED:
	case OUTCOME_UNKNOWN:
	case OUTCOME_RESTORE_MISMATCH:
		return true;
	case OUTCOME_FINISHED:
	case OUTCOME_CANCELLED:
		return false;
	case OUTCOME_NONE:
		break;
	}
	if (last->phase == PHASE_HOLDING) /* do-not-restart is no failure */
		return lifecycle_is_inert(life) || !life->journal.intent.do_not_restart;
	return last->phase == PHASE_FAILED;
}

/* At most max_bytes of the text; a character that is cut in two becomes U+FFFD. */
static void add_cut(struct json *to, const char *key, const char *text, size_t max_bytes)
{
	cleanup_free char *cut = text ? xstrndup(text, strnlen(text, max_bytes)) : NULL;

	json_add_str_opt(to, key, cut);
}

static void add_snapshots(struct json *doc, const struct journal *journal, size_t max_bytes)
{
	const struct launch *launch = journal_last_checkpointed(journal);
	const struct snapshot *savepoint = journal_last_savepoint(journal);

	if (launch)
		add_cut(doc, "lastCheckpoint", launch->last_checkpoint_path, max_bytes);
	if (savepoint)
		add_cut(doc, "lastSavepoint", savepoint->path, max_bytes);
}

static void build(const struct termination_last *last, const struct lifecycle *life,
		  const char *error, size_t max_bytes, struct buf *text)
{
	cleanup_json struct json *doc = json_object();
	const struct journal *journal = life ? &life->journal : NULL;
	const struct launch *launch = journal ? journal_launch_const(journal) : NULL;

	add_cut(doc, "error", error, max_bytes);
	json_add_str_opt(doc, "cause", cause_name(last->cause));
	if (life) {
		json_add_str(doc, "phase", phase_name(last->phase));
		add_cut(doc, "reason", last->reason, max_bytes);
		if (journal->outcome.kind != OUTCOME_NONE)
			add_cut(doc, "outcome", journal->outcome.reason, max_bytes);
		add_cut(doc, "lastError", journal->last_error, max_bytes);
		add_cut(doc, "application", journal->application, max_bytes);
	}
	if (launch) {
		add_cut(doc, "jobId", launch->job_id, max_bytes);
		json_add_i64(doc, "launch", launch->number);
	}
	if (journal)
		add_snapshots(doc, journal, max_bytes);
	json_print(doc, text);
	buf_addch(text, '\n');
}

void termination_text(const struct termination_last *last, const struct lifecycle *life,
		      const char *error, struct buf *text)
{
	size_t before = text->len_bytes;

	for (size_t max = LONGEST_TEXT; max >= SHORTEST_TEXT; max /= 2) {
		cleanup_buf struct buf attempt = BUF_INIT;

		build(last, life, error, max, &attempt);
		if (attempt.len_bytes > TERMINATION_MAX_BYTES)
			continue;
		buf_add(text, attempt.data, attempt.len_bytes);
		break;
	}
	if (text->len_bytes == before) /* SHORTEST_TEXT of every member always fits */
		abort();
}

int termination_write(const char *path, const struct buf *text, struct err *err)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 && (errno == ENOENT || errno == ENXIO || errno == ENOTDIR))
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return 0;
	if (ftruncate(fd, 0) < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "%s", path);
	if (fs_write_all(fd, text->data, text->len_bytes, err) < 0)
		return err_wrap(err, "%s", path);
	return 1;
}
