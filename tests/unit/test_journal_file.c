#include "run/journal/journal_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "tap.h"

static char dir[32];

static void dir_make(void)
{
	snprintf(dir, sizeof(dir), "/tmp/drey-journal-XXXXXX");
	CHECK(mkdtemp(dir) != NULL);
}

static void dir_remove(void)
{
	char command[128];

	snprintf(command, sizeof(command), "chmod -R u+rwX %s && rm -rf %s", dir, dir);
	CHECK_INT(system(command), ==, 0);
}

static char *file_path(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void file_put(const char *name, const char *text)
{
	cleanup_free char *path = file_path(name);
	cleanup_fclose FILE *file = fopen(path, "w");

	CHECK(file && fputs(text, file) >= 0);
}

static char *file_get(void)
{
	cleanup_free char *path = file_path(JOURNAL_FILE_NAME);
	struct buf text = BUF_INIT;

	fs_read(path, JOURNAL_MAX_BYTES, &text, NULL);
	return buf_steal(&text);
}

static void journal_make(struct journal *journal, int64_t sequence, const char *writer)
{
	journal_init(journal, "orders");
	journal->sequence = sequence;
	xstrset(&journal->writer, writer);
}

static int write_journal(struct journal_file *file, struct journal *journal, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (journal_encode(journal, &text, err))
		return -1;
	return journal_file_put(file, text.data, text.len_bytes, journal->sequence, journal->writer,
				err);
}

/* Write one document with this sequence through `file`. */
static int put(struct journal_file *file, int64_t sequence, const char *writer, struct err *err)
{
	struct journal journal;
	int result;

	journal_make(&journal, sequence, writer);
	result = write_journal(file, &journal, err);
	journal_release(&journal);
	return result;
}

static int64_t sequence_on_disk(void)
{
	struct journal_file file;
	struct journal journal;
	int64_t sequence = -1;
	struct err err = {0};

	journal_file_init(&file, dir);
	if (!journal_file_read(&file, &journal, &err)) {
		sequence = journal.sequence;
		journal_release(&journal);
	} else if (err.kind == ERR_ABSENT) {
		sequence = 0;
	} else {
		tap_note("%s", err.msg);
	}
	journal_file_release(&file);
	return sequence;
}

TEST(what_was_written_is_read)
{
	struct journal_file file, again;
	struct journal journal;
	struct err err = {0};

	dir_make();
	journal_file_init(&file, dir);
	CHECK_INT(put(&file, 1, "a", &err), ==, 0);
	CHECK_INT(put(&file, 2, "a", &err), ==, 0);
	CHECK_INT(put(&file, 9, "a", &err), ==, 0);
	CHECK_INT(file.sequence, ==, 9);
	journal_file_init(&again, dir);
	CHECK_INT(journal_file_read(&again, &journal, &err), ==, 0);
	CHECK_STR(err.msg, "");
	CHECK_INT(journal.sequence, ==, 9);
	CHECK_INT(again.sequence, ==, 9);
	journal_release(&journal);
	journal_file_release(&again);
	journal_file_release(&file);
	dir_remove();
}

static void read_fails(enum err_kind kind, const char *message)
{
	struct journal_file file;
	struct journal journal;
	struct err err = {0};

	journal_file_init(&file, dir);
	CHECK_INT(journal_file_read(&file, &journal, &err), ==, -1);
	CHECK_STR(err_kind_name(err.kind), err_kind_name(kind));
	CHECK_HAS(err.msg, message);
	CHECK_HAS(err.msg, JOURNAL_FILE_NAME);
	journal_file_release(&file);
}

TEST(absent_damaged_and_newer_are_told_apart)
{
	dir_make();
	read_fails(ERR_ABSENT, dir);
	file_put(JOURNAL_FILE_NAME, "");
	read_fails(ERR_FORMAT, dir);
	file_put(JOURNAL_FILE_NAME, "{\"schema\": 1, \"applic");
	read_fails(ERR_FORMAT, "journal");
	file_put(JOURNAL_FILE_NAME, "{\"schema\": 2}");
	read_fails(ERR_CONFIG, "newer drey");
	dir_remove();
	read_fails(ERR_ABSENT, dir); /* the directory itself */
}

/* Run body() in a child that is no superuser; its exit status. */
static int as_nobody(int (*body)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
			_exit(99);
		_exit(body());
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int read_kind(void)
{
	struct journal_file file;
	struct journal journal;
	struct err err = {0};

	journal_file_init(&file, dir);
	if (!journal_file_read(&file, &journal, &err))
		journal_release(&journal);
	journal_file_release(&file);
	return (int)err.kind;
}

static int write_kind(void)
{
	struct journal_file file;
	struct err err = {0};

	journal_file_init(&file, dir);
	file.sequence = 1;
	put(&file, 2, "a", &err);
	journal_file_release(&file);
	return (int)err.kind;
}

TEST(a_denied_file_is_no_absent_file)
{
	struct journal_file file;
	cleanup_free char *path = NULL;

	dir_make();
	path = file_path(JOURNAL_FILE_NAME);
	CHECK_INT(chmod(dir, 0777), ==, 0);
	journal_file_init(&file, dir);
	CHECK_INT(put(&file, 1, "a", NULL), ==, 0);
	CHECK_INT(chmod(path, 0000), ==, 0);
	CHECK_INT(as_nobody(read_kind), ==, ERR_DENIED);
	CHECK_INT(as_nobody(write_kind), ==, ERR_DENIED);
	CHECK_INT(chmod(path, 0644), ==, 0);
	CHECK_INT(sequence_on_disk(), ==, 1);
	journal_file_release(&file);
	dir_remove();
}

TEST(a_read_only_directory_keeps_the_old_document)
{
	struct journal_file file;
	cleanup_free char *path = NULL;
	int kind;

	dir_make();
	path = file_path(JOURNAL_FILE_NAME);
	journal_file_init(&file, dir);
	CHECK_INT(put(&file, 1, "a", NULL), ==, 0);
	CHECK_INT(chmod(path, 0644), ==, 0);
	CHECK_INT(chmod(dir, 0555), ==, 0);
	kind = as_nobody(write_kind);
	CHECK_STR(err_kind_name((enum err_kind)kind), "denied");
	CHECK_INT(sequence_on_disk(), ==, 1);
	journal_file_release(&file);
	dir_remove();
}

/* No file may grow beyond 64 bytes: a full disk, in the middle of the document. */
static int write_on_a_full_disk(void)
{
	struct rlimit limit = {64, 64};
	struct journal_file file;
	struct err err = {0};

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit))
		return 99;
	journal_file_init(&file, dir);
	file.sequence = 1;
	put(&file, 2, "a", &err);
	journal_file_release(&file);
	return err.sys == EFBIG ? 0 : 1;
}

TEST(a_full_disk_keeps_the_old_document_and_leaves_nothing_behind)
{
	struct journal_file file;
	cleanup_free char *before = NULL;
	cleanup_free char *after = NULL;
	char command[160];

	dir_make();
	journal_file_init(&file, dir);
	CHECK_INT(chmod(dir, 0777), ==, 0);
	CHECK_INT(put(&file, 1, "a", NULL), ==, 0);
	before = file_get();
	{
		int status = -1;
		pid_t pid = fork();

		if (pid == 0)
			_exit(write_on_a_full_disk());
		CHECK_INT(waitpid(pid, &status, 0), ==, pid);
		CHECK_INT(status, ==, 0);
	}
	after = file_get();
	CHECK_STR(after, before);
	snprintf(command, sizeof(command), "test $(ls -A %s | grep -vc lock) = 1", dir);
	CHECK_INT(system(command), ==, 0);
	CHECK_INT(put(&file, 2, "a", NULL), ==, 0); /* and works again once there is room */
	journal_file_release(&file);
	dir_remove();
}

TEST(another_writer_is_a_conflict_and_named)
{
	struct journal_file ours, theirs;
	struct err err = {0};

	dir_make();
	journal_file_init(&ours, dir);
	journal_file_init(&theirs, dir);
	CHECK_INT(put(&ours, 1, "boot-a", NULL), ==, 0);
	theirs.sequence = 1;
	CHECK_INT(put(&theirs, 2, "boot-b", NULL), ==, 0);
	CHECK_INT(put(&ours, 2, "boot-a", &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_HAS(err.msg, "boot-b");
	CHECK_HAS(err.msg, dir);
	CHECK_INT(put(&ours, 7, "boot-a", &err), ==, -1); /* a higher number does not help */
	CHECK_INT(ours.sequence, ==, 1);
	CHECK_INT(sequence_on_disk(), ==, 2);
	CHECK_INT(put(&theirs, 3, "boot-b", NULL), ==, 0);
	journal_file_release(&theirs);
	/* nothing known, something there: also a conflict */
	journal_file_init(&theirs, dir);
	CHECK_INT(put(&theirs, 4, "boot-c", &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	journal_file_release(&theirs);
	journal_file_release(&ours);
	dir_remove();
}

TEST(our_own_write_with_a_lost_answer_is_no_conflict)
{
	struct journal_file file;
	struct err err = {0};

	dir_make();
	journal_file_init(&file, dir);
	CHECK_INT(put(&file, 1, "boot-a", NULL), ==, 0);
	CHECK_INT(put(&file, 2, "boot-a", NULL), ==, 0);
	file.sequence = 1; /* as if the last fsync had failed */
	CHECK_INT(put(&file, 2, "boot-a", &err), ==, 0);
	file.sequence = 1;
	CHECK_INT(put(&file, 3, "boot-a", &err), ==, 0);
	CHECK_STR(err.msg, "");
	/* but never back over something newer */
	file.sequence = 1;
	CHECK_INT(put(&file, 2, "boot-a", &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	journal_file_release(&file);
	dir_remove();
}

TEST(what_cannot_be_understood_is_never_overwritten)
{
	static const char *const texts[] = {"", "{\"schema\": 1, \"sequ", "{\"schema\": 99}",
					    "hello"};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct journal_file file;
		struct err err = {0};
		cleanup_free char *after = NULL;

		dir_make();
		journal_file_init(&file, dir);
		file_put(JOURNAL_FILE_NAME, texts[i]);
		CHECK_INT(put(&file, 1, "a", &err), ==, -1);
		CHECK_HAS(err.msg, "not overwritten");
		CHECK_INT(err.kind, ==, i == 2 ? ERR_CONFIG : ERR_FORMAT);
		after = file_get();
		CHECK_STR(after, texts[i]);
		journal_file_release(&file);
		dir_remove();
	}
}

TEST(a_vanished_document_is_written_again)
{
	struct journal_file file;
	cleanup_free char *path = NULL;

	dir_make();
	path = file_path(JOURNAL_FILE_NAME);
	journal_file_init(&file, dir);
	CHECK_INT(put(&file, 5, "a", NULL), ==, 0);
	CHECK_INT(journal_file_check(&file, NULL), ==, 0);
	CHECK_INT(unlink(path), ==, 0);
	CHECK_INT(journal_file_check(&file, NULL), ==, 1);
	CHECK_INT(put(&file, 6, "a", NULL), ==, 0);
	CHECK_INT(journal_file_check(&file, NULL), ==, 0);
	CHECK_INT(sequence_on_disk(), ==, 6);
	journal_file_release(&file);
	dir_remove();
}

/* Not to see it is not the same as that it is not there. */
TEST(a_document_that_cannot_be_looked_for_has_not_vanished)
{
	struct journal_file file;
	cleanup_free char *path = NULL;
	struct err err = {0};

	dir_make();
	path = file_path("state");
	journal_file_init(&file, path);
	file_put("state", "not a directory");
	CHECK_INT(journal_file_check(&file, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_RETRY);
	journal_file_release(&file);
	dir_remove();
}

/* One writer of several: read, add one, write; until it has written ten times. */
static int count_to_ten(int who)
{
	struct journal_file file;
	char writer[16];
	int written = 0;

	snprintf(writer, sizeof(writer), "w%d", who);
	journal_file_init(&file, dir);
	while (written < 10) {
		struct journal journal;
		struct err err = {0};

		if (journal_file_read(&file, &journal, &err)) {
			if (err.kind != ERR_ABSENT)
				return 1;
			journal_make(&journal, 0, writer);
		}
		journal.sequence++;
		xstrset(&journal.writer, writer);
		journal_add_failure(&journal, who);
		if (!write_journal(&file, &journal, &err))
			written++;
		else if (err.kind != ERR_BUSY && err.kind != ERR_RETRY)
			return 2;
		journal_release(&journal);
	}
	journal_file_release(&file);
	return 0;
}

TEST(concurrent_writers_never_lose_a_write)
{
	struct journal_file file;
	struct journal journal;
	pid_t pids[3];

	dir_make();
	for (int i = 0; i < 3; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(count_to_ten(i));
	}
	for (int i = 0; i < 3; i++) {
		int status = -1;

		CHECK_INT(waitpid(pids[i], &status, 0), ==, pids[i]);
		CHECK_INT(status, ==, 0);
	}
	journal_file_init(&file, dir);
	CHECK_INT(journal_file_read(&file, &journal, NULL), ==, 0);
	CHECK_INT(journal.sequence, ==, 30);
	CHECK_INT(journal.failure_count, ==, 30);
	journal_release(&journal);
	journal_file_release(&file);
	dir_remove();
}

static void traced_write(void)
{
	struct journal_file file;

	journal_file_init(&file, dir);
	file.sequence = 1;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(77);
	raise(SIGSTOP);
	_exit(put(&file, 2, "a", NULL) ? 1 : 0);
}

/* Kill a writer at entry or exit of its n-th system call. True while it had that many; *ret_skip
 * when tracing is not allowed here. */
static bool killed_at(int stop, bool *ret_skip)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		traced_write();
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) {
		*ret_skip = true;
		return false;
	}
	for (int i = 0; i < stop; i++) {
		if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid)
			break;
		if (WIFEXITED(status)) {
			CHECK_INT(WEXITSTATUS(status), ==, 0);
			return false;
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return true;
}

TEST(death_at_any_system_call_leaves_the_old_or_the_new_document)
{
	int old = 0, new = 0, stop = 0;
	bool skip = false;

	dir_make();
	while (stop < 1000) {
		struct journal_file file;
		cleanup_free char *path = file_path(JOURNAL_FILE_NAME);
		int64_t sequence;

		unlink(path);
		journal_file_init(&file, dir);
		CHECK_INT(put(&file, 1, "a", NULL), ==, 0);
		journal_file_release(&file);
		if (!killed_at(++stop, &skip))
			break;
		sequence = sequence_on_disk();
		old += sequence == 1;
		new += sequence == 2;
		CHECK_INT(old + new, ==, stop);
	}
	if (skip) {
		tap_skip("ptrace is not allowed here");
	} else {
		CHECK_INT(old, >, 4);
		CHECK_INT(new, >, 1);
		CHECK_INT(sequence_on_disk(), ==, 2);
		tap_note("killed at %d stops: old %d, new %d", stop - 1, old, new);
	}
	dir_remove();
}

TEST(a_second_drey_on_the_directory_is_refused)
{
	int fd = -1, other = -1, ready[2], go[2], status;
	struct err err = {0};
	char pid_text[32], byte = 0;
	pid_t pid;

	dir_make();
	CHECK_INT(pipe(ready), ==, 0);
	CHECK_INT(pipe(go), ==, 0);
	pid = fork();
	if (pid == 0) {
		cleanup_free char *sub = file_path("state/deep");

		close(go[1]);
		if (state_lock_take(sub, &fd, NULL) || write(ready[1], "x", 1) != 1)
			_exit(1);
		_exit(read(go[0], &byte, 1) == 0 ? 0 : 2);
	}
	close(go[0]);
	CHECK_INT(read(ready[0], &byte, 1), ==, 1);
	{
		cleanup_free char *sub = file_path("state/deep");

		CHECK_INT(state_lock_take(sub, &other, &err), ==, -1);
		CHECK_INT(other, ==, -1);
		CHECK_INT(err.kind, ==, ERR_BUSY);
		snprintf(pid_text, sizeof(pid_text), "%d", (int)pid);
		CHECK_HAS(err.msg, pid_text);
		CHECK_HAS(err.msg, sub);
		close(go[1]);
		CHECK_INT(waitpid(pid, &status, 0), ==, pid);
		CHECK_INT(status, ==, 0);
		/* the lock dies with the process, however it died */
		CHECK_INT(state_lock_take(sub, &other, &err), ==, 0);
		close(other);
	}
	close(ready[0]);
	close(ready[1]);
	dir_remove();
}

TEST(what_a_killed_writer_left_is_swept_when_the_directory_is_taken)
{
	static const char *const names[] = {"journal.json.0badcafe.tmp", "journal.json",
					    "journal.json.kept", "other.0badcafe.tmp"};
	int fd = -1;

	dir_make();
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cleanup_free char *path = file_path(names[i]);

		CHECK_INT(fs_write_atomic(path, "x", 1, 0600, NULL), ==, 0);
	}
	{
		cleanup_free char *taken = file_path(".");

		CHECK_INT(state_lock_take(taken, &fd, NULL), ==, 0);
		close(fd);
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cleanup_free char *path = file_path(names[i]);

		CHECK_INT(access(path, F_OK), ==, i == 0 ? -1 : 0);
	}
	dir_remove();
}

/* A mount point cannot be renamed over. Status 77: this machine does not let us have one. */
static int put_onto_a_mount(const char *path)
{
	struct journal_file file;
	struct err err = {0};

	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(path, path, "none", MS_BIND, NULL) < 0)
		return 77;
	journal_file_init(&file, dir);
	file.sequence = 5;
	if (put(&file, 6, "a", &err) != -1)
		return 1;
	return err.sys == EBUSY ? err.kind == ERR_RETRY ? 0 : 2 : 3;
}

TEST(a_state_directory_that_others_may_enter_is_seen)
{
	static const struct {
		mode_t mode;
		bool open;
	} rows[] = {{0700, false}, {0755, true}, {0710, true},
		    {0701, true},  {0777, true}, {0744, false}};
	char top[] = "/tmp/drey-open.XXXXXX";

	CHECK(mkdtemp(top) != NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CHECK_INT(chmod(top, rows[i].mode), ==, 0);
		CHECK_INT(state_dir_is_open(top), ==, rows[i].open);
	}
	rmdir(top);
	CHECK(!state_dir_is_open(top));
}

TEST(a_file_that_is_busy_is_no_other_drey)
{
	cleanup_free char *path = NULL;
	struct journal_file file;
	int status = 0;
	pid_t pid;

	dir_make();
	path = file_path(JOURNAL_FILE_NAME);
	journal_file_init(&file, dir);
	CHECK_INT(put(&file, 5, "a", NULL), ==, 0);
	pid = fork();
	if (!pid)
		_exit(put_onto_a_mount(path));
	CHECK_INT(waitpid(pid, &status, 0), ==, pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		tap_note("no mounts here: not tried");
	else
		CHECK_INT(status, ==, 0);
	journal_file_release(&file);
	dir_remove();
}
