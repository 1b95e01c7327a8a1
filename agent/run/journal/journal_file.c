#include "run/journal/journal_file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

#define LOCK_STEP_MS 10

void journal_file_init(struct journal_file *file, const char *dir)
{
	*file = (struct journal_file){.dir = xstrdup(dir)};
}

void journal_file_release(struct journal_file *file)
{
	if (!file)
		return;
	free(file->dir);
	*file = (struct journal_file){0};
}

static char *path_in(const char *dir, const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static int load(const char *dir, struct journal *ret_journal, struct err *err)
{
	cleanup_free char *path = path_in(dir, JOURNAL_FILE_NAME);
	cleanup_buf struct buf text = BUF_INIT;

	if (fs_read(path, JOURNAL_MAX_BYTES, &text, err))
		return -1;
	if (journal_decode(buf_str(&text), text.len_bytes, ret_journal, err))
		return err_wrap(err, "%s", path);
	return 0;
}

int journal_file_read(struct journal_file *file, struct journal *ret_journal, struct err *err)
{
	if (load(file->dir, ret_journal, err))
		return -1;
	file->sequence = ret_journal->sequence;
	return 0;
}

/* ERR_BUSY is kept for a journal that another drey has changed; this is a file that cannot be had just now. */
static int not_now(struct err *err)
{
	if (err && err->kind == ERR_BUSY)
		err->kind = ERR_RETRY;
	return -1;
}

/* Writers hold it for milliseconds, so wait; a lock that stays is reported, never broken. */
static int write_lock(const char *dir, int *ret_fd, struct err *err)
{
	cleanup_free char *path = path_in(dir, JOURNAL_FILE_NAME ".lock");
	struct timespec step = {.tv_nsec = LOCK_STEP_MS * 1000000L};
	struct err busy = {0};

	for (int waited_ms = 0; waited_ms < JOURNAL_FILE_LOCK_WAIT_MS; waited_ms += LOCK_STEP_MS) {
		if (!fs_lock(path, ret_fd, &busy))
			return 0;
		if (busy.kind != ERR_BUSY)
			break;
		nanosleep(&step, NULL);
	}
	err_pass(err, &busy);
	return not_now(err);
}

static bool is_backup(const struct journal *found, const char *text, size_t len_bytes,
		      int64_t newest)
{
	cleanup_journal struct journal ours = {0};

	if (journal_decode(text, len_bytes, &ours, NULL))
		return false;
	return journal_is_backup(found, &ours, newest);
}

/* Is what the file holds now ours to replace by this text? */
static int compare(const struct journal_file *file, const char *text, size_t len_bytes,
		   int64_t sequence, const char *writer, struct err *err)
{
	cleanup_journal struct journal now = {0};
	struct err why = {0};
	int result = 0;

	if (load(file->dir, &now, &why)) {
		if (why.kind == ERR_ABSENT)
			return 0;
		err_pass(err, &why);
		(void)not_now(err);
		return err_wrap(err, "not overwritten");
	}
	if (now.sequence != file->sequence &&
	    !(now.writer && writer && !strcmp(now.writer, writer) &&
	      now.sequence > file->sequence && now.sequence <= sequence) &&
	    !is_backup(&now, text, len_bytes, file->sequence))
		result = err_set(err, ERR_BUSY, 0,
				 "%s/%s was written by %s in the meantime (sequence %" PRId64
				 ", expected %" PRId64 "): another drey uses it",
				 file->dir, JOURNAL_FILE_NAME,
				 now.writer ? now.writer : "another drey", now.sequence,
				 file->sequence);
	return result;
}

int journal_file_put(struct journal_file *file, const char *text, size_t len_bytes,
		     int64_t sequence, const char *writer, struct err *err)
{
	cleanup_free char *path = path_in(file->dir, JOURNAL_FILE_NAME);
	cleanup_close int lock = -1;

	if (write_lock(file->dir, &lock, err) ||
	    compare(file, text, len_bytes, sequence, writer, err))
		return err_wrap(err, "write the journal");
	if (fs_write_atomic(path, text, len_bytes, 0600, err)) {
		(void)not_now(err);
		return err_wrap(err, "write the journal");
	}
	file->sequence = sequence;
	return 0;
}

int journal_file_check(const struct journal_file *file, struct err *err)
{
	cleanup_free char *path = path_in(file->dir, JOURNAL_FILE_NAME);

	if (access(path, F_OK) == 0)
		return 0;
	if (errno == ENOENT)
		return 1;
	return err_set(err, ERR_RETRY, errno, "look for %s", path);
}

/* A process that was killed while it wrote leaves its temporary file behind. We hold the lock of the
 * directory, so no other process is writing, and these files are of no use. */
static void sweep(const char *dir)
{
	static const char begin[] = JOURNAL_FILE_NAME ".", end[] = ".tmp";
	DIR *stream = opendir(dir);
	struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		size_t len = strlen(entry->d_name);

		if (len > sizeof(begin) + sizeof(end) &&
		    !strncmp(entry->d_name, begin, sizeof(begin) - 1) &&
		    !strcmp(entry->d_name + len - (sizeof(end) - 1), end))
			unlinkat(dirfd(stream), entry->d_name, 0);
	}
	if (stream)
		closedir(stream);
}

int state_lock_take(const char *dir, int *ret_fd, struct err *err)
{
	cleanup_free char *path = path_in(dir, "lock");
	struct err why = {0};

	if (fs_mkdirs(dir, 0700, err))
		return err_wrap(err, "create the state directory");
	if (fs_lock(path, ret_fd, &why) == 0) {
		sweep(dir);
		return 0;
	}
	if (why.kind == ERR_BUSY)
		return err_set(
			err, ERR_BUSY, 0,
			"another drey uses the state directory: %s; stop it, or set another stateDirectory",
			why.msg);
	err_pass(err, &why);
	return err_wrap(err, "take the state directory %s", dir);
}

bool state_dir_is_open(const char *dir)
{
	struct stat st;

	return stat(dir, &st) == 0 && (st.st_mode & (S_IXGRP | S_IXOTH | S_IWGRP | S_IWOTH)) != 0;
}
