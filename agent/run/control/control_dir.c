#include "run/control/control_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"

#define SWAP_LINK  "..data"
#define READ_TRIES 5

/* ---- the files ---- */

/* 0 also for a value that is refused; -1 when it cannot be read; ERR_ABSENT: it has gone. */
static int read_key(struct control_wish *wish, enum control_key key, int dir_fd, struct err *err)
{
	const char *name = control_keys[key];
	cleanup_close int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	cleanup_buf struct buf text = BUF_INIT;
	struct err why = {0};
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		err_set(&why, ERR_CONFIG, 0, "%s: not a file", name);
	else if (fs_read_fd(fd, name, CONTROL_VALUE_MAX, &text, &why) < 0 &&
		 why.kind != ERR_FORMAT) {
		if (err)
			*err = why;
		return -1;
	}
	if (!why.kind)
		control_wish_set(wish, key, buf_str(&text), text.len_bytes);
	else if (!wish->bad.kind)
		wish->bad = why;
	return 0;
}

static int read_files(struct control_wish *wish, int dir_fd, struct err *err)
{
	const struct dirent *entry;
	int list_fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = list_fd < 0 ? NULL : fdopendir(list_fd);
	int result = 0, count = 0;

	if (!list) {
		result = err_set(err, err_kind_of_errno(errno), errno, "list");
		if (list_fd >= 0)
			close(list_fd);
		return result;
	}
	while (result == 0) {
		int key;

		errno = 0;
		entry = readdir(list);
		if (!entry) {
			if (errno)
				result = err_set(err, err_kind_of_errno(errno), errno, "list");
			break;
		}
		if (*entry->d_name == '.')
			continue;
		key = control_wish_key(entry->d_name);
		if (++count > CONTROL_FILES_MAX)
			result = err_set(err, ERR_FORMAT, 0, "more than %d files",
					 CONTROL_FILES_MAX);
		else if (key >= 0)
			result = read_key(wish, (enum control_key)key, dir_fd, err);
		else
			control_wish_ignore(wish, entry->d_name);
	}
	closedir(list);
	return result;
}

/* Where the files are: the target of the link, or the directory itself. *ret_target: "" without. */
static int open_target(int dir_fd, char *target, size_t target_bytes, int *ret_fd, struct err *err)
{
	ssize_t len = readlinkat(dir_fd, SWAP_LINK, target, target_bytes - 1);

	if (len < 0 && errno != ENOENT && errno != EINVAL)
		return err_set(err, err_kind_of_errno(errno), errno, SWAP_LINK);
	target[len < 0 ? 0 : len] = '\0';
	*ret_fd = openat(dir_fd, len < 0 ? "." : target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret_fd < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "%s", target);
	return 0;
}

/* 1: consistent; 0: it was swapped under our hands; -1: it cannot be read. */
static int read_once(const char *path, struct control_wish *wish, struct err *err)
{
	cleanup_close int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int fd = -1;
	char before[PATH_MAX], after[PATH_MAX];
	struct err why = {0};
	ssize_t len;

	if (dir_fd < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "%s", path);
	if (open_target(dir_fd, before, sizeof(before), &fd, &why) < 0 ||
	    read_files(wish, fd, &why) < 0) {
		if (why.kind == ERR_ABSENT) /* deleted while we looked */
			return 0;
		if (err)
			*err = why;
		return err_wrap(err, "%s", path);
	}
	len = readlinkat(dir_fd, SWAP_LINK, after, sizeof(after) - 1);
	after[len < 0 ? 0 : len] = '\0';
	return !strcmp(before, after);
}

int control_dir_read(const char *path, struct control_wish *ret_wish, struct err *err)
{
	for (int i = 0; i < READ_TRIES; i++) {
		struct control_wish wish = {0};
		int result = read_once(path, &wish, err);

		if (result > 0) {
			control_wish_judge(&wish);
			*ret_wish = wish;
			return 0;
		}
		control_wish_release(&wish);
		if (result < 0)
			return -1;
	}
	return err_set(err, ERR_RETRY, 0, "%s: is changed all the time", path);
}

/* ---- what has changed ---- */

static bool differs(const char *now, const char *before)
{
	return now && (!before || strcmp(now, before) != 0);
}

/* There is an order, and nobody knows that it was carried out. */
static bool may_restore(const struct control_wish *wish, const struct journal *journal)
{
	return wish->restore.kind != RESTORE_NONE && !control_wish_is_used(wish) &&
	       !journal_is_consumed(journal, wish->restore.token);
}

static bool is_new_restore(const struct control_wish *wish, const struct control_seen *seen,
			   const struct journal *journal)
{
	return may_restore(wish, journal) && differs(wish->restore.token, seen->restore_token);
}

static bool is_other(const struct restore_request *wanted, enum restore_request_kind kind,
		     const char *path)
{
	return wanted->kind != kind ||
	       (kind == RESTORE_PATH && !snapshot_same_path(wanted->path, path));
}

bool control_dir_reuses_token(const struct control_wish *wish, const struct journal *journal)
{
	const struct restore_request *wanted = &wish->restore, *given = &journal->intent.restore;

	if (wanted->kind == RESTORE_NONE)
		return false;
	if (given->kind != RESTORE_NONE && xstrsame(given->token, wanted->token))
		return is_other(wanted, given->kind, given->path) ||
		       wanted->foreign != given->foreign ||
		       wanted->allow_non_restored != given->allow_non_restored;
	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];

		if (launch->request_token && xstrsame(launch->request_token, wanted->token))
			return is_other(wanted, launch->restore_path ? RESTORE_PATH : RESTORE_EMPTY,
					launch->restore_path);
	}
	return false;
}

static unsigned compare_state(const struct control_wish *wish, const struct control_seen *seen,
			      const struct lifecycle *life)
{
	unsigned fields = 0;

	if (!differs(wish->text[CONTROL_KEY_STATE], seen->text[CONTROL_KEY_STATE]) ||
	    (!seen->known && wish->state == life->journal.intent.state))
		return 0;
	fields |= CONTROL_STATE;
	if (wish->state == DESIRED_RUNNING && seen->known)
		fields |= CONTROL_NEW_START;
	/* what was asked for while it was suspended is for this start */
	if (wish->state == DESIRED_RUNNING && may_restore(wish, &life->journal))
		fields |= CONTROL_RESTORE;
	return fields;
}

static unsigned compare_all(const struct control_wish *wish, const struct control_seen *seen,
			    const struct lifecycle *life)
{
	unsigned fields = compare_state(wish, seen, life);

	if (is_new_restore(wish, seen, &life->journal)) {
		fields |= CONTROL_RESTORE;
		if (seen->known)
			fields |= CONTROL_NEW_START;
	}
	/* the first nonce that is seen asks for nothing */
	if (seen->known && differs(wish->text[CONTROL_KEY_SAVEPOINT_NONCE],
				   seen->text[CONTROL_KEY_SAVEPOINT_NONCE]))
		fields |= CONTROL_SAVEPOINT;
	if (seen->known &&
	    differs(wish->text[CONTROL_KEY_RESTART_NONCE], seen->text[CONTROL_KEY_RESTART_NONCE]))
		fields |= CONTROL_RESTART;
	return fields;
}

static unsigned compare_brake(const struct control_wish *wish, const struct control_seen *seen,
			      const struct lifecycle *life, bool at_start)
{
	bool changed = differs(wish->text[CONTROL_KEY_DO_NOT_RESTART],
			       seen->text[CONTROL_KEY_DO_NOT_RESTART]);

	if (wish->do_not_restart)
		return (changed || at_start) && !life->journal.intent.do_not_restart
			       ? CONTROL_DO_NOT_RESTART
			       : 0;
	return changed && !wish->bad.kind && life->journal.intent.do_not_restart
		       ? CONTROL_DO_NOT_RESTART
		       : 0;
}

bool control_dir_compare(const struct control_wish *wish, const struct control_seen *seen,
			 const struct lifecycle *life, bool at_start, struct event *ret_event,
			 bool *ret_refused)
{
	unsigned fields = compare_brake(wish, seen, life, at_start);
	struct event event = {.type = EVENT_CONTROL};
	struct intent *intent = &event.control.intent;

	*ret_refused = false;
	if (!wish->bad.kind)
		fields |= compare_all(wish, seen, life);
	if ((fields & CONTROL_RESTORE) && lifecycle_refuses_restore(life)) {
		fields &= ~(unsigned)(CONTROL_RESTORE | CONTROL_NEW_START);
		/* with the stop it is for the start after that, and is taken then */
		*ret_refused = !(fields & CONTROL_STATE) || wish->state == DESIRED_RUNNING;
	}
	if (!fields)
		return false;
	intent->state = wish->state;
	intent->do_not_restart = wish->do_not_restart;
	intent->savepoint_nonce = wish->text[CONTROL_KEY_SAVEPOINT_NONCE];
	intent->restart_nonce = wish->text[CONTROL_KEY_RESTART_NONCE];
	if (fields & CONTROL_RESTORE) {
		intent->restore = wish->restore;
		intent->restore.generation = wish->restore_generation;
		fields |= wish->restore_standing ? CONTROL_STANDING : 0;
	}
	event.control.fields = fields;
	*ret_event = event;
	return true;
}
