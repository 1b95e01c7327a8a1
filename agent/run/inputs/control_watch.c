#include "run/inputs/control_watch.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/mem.h"

#define FALLBACK_POLL_MS 30000
#define XFS_MAGIC        0x58465342 /* not in linux/magic.h */
/* Not IN_CREATE: a file that has just been made is still empty. */
#define SIGNS (IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

struct control_watch {
	struct loop *loop;
	struct lane *lane;
	const char *path;
	int64_t poll_ms;
	control_watch_fn *fn;
	void *arg;
	int inotify_fd; /* -1: does not work */
	struct loop_fd *signs;
	struct loop_timer *timer;
	bool reading, again;
	bool watching; /* the directory is watched, as far as we know */
	bool local;    /* and nothing changes there that this kernel does not see */
};

struct reading {
	struct control_watch *watch;
	const char *path;
	int inotify_fd;
	bool watching, local;
	struct desired desired;
	int result;
	struct err err;
};

/* A file system that only this kernel writes. Where volumes of Kubernetes are: tmpfs, or the node's disk. What is
 * not known is taken for one over a network. */
static bool is_local(const char *path)
{
	static const unsigned long known[] = {
		TMPFS_MAGIC,      RAMFS_MAGIC, EXT4_SUPER_MAGIC,     BTRFS_SUPER_MAGIC,
		F2FS_SUPER_MAGIC, XFS_MAGIC,   OVERLAYFS_SUPER_MAGIC};
	struct statfs fs;

	if (statfs(path, &fs) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if ((unsigned long)fs.f_type == known[i])
			return true;
	return false;
}

/* Watch first, then read: what changes in between is noticed. Adding a watch twice is one watch, and
 * a directory that was replaced gets a new one. */
static void read_work(void *arg)
{
	struct reading *reading = arg;

	reading->watching = reading->inotify_fd >= 0 &&
			    inotify_add_watch(reading->inotify_fd, reading->path, SIGNS) >= 0;
	reading->local = reading->watching && is_local(reading->path);
	reading->result = control_dir_read(reading->path, &reading->desired, &reading->err);
}

static void wait_for_next(struct control_watch *watch, bool failed)
{
	int64_t wait_ms = watch->poll_ms;

	if (watch->local)
		wait_ms *= CONTROL_POLL_LOCAL;
	if (!wait_ms && !watch->watching)
		wait_ms = FALLBACK_POLL_MS;
	if (failed && (!wait_ms || wait_ms > CONTROL_RETRY_MS))
		wait_ms = CONTROL_RETRY_MS;
	if (watch->again)
		wait_ms = CONTROL_SETTLE_MS;
	watch->again = false;
	if (wait_ms)
		loop_timer_set(watch->timer, wait_ms);
	else
		loop_timer_stop(watch->timer);
}

static void read_done(void *arg, bool ran)
{
	struct reading *reading = arg;
	struct control_watch *watch = reading->watch;

	if (ran) {
		watch->reading = false;
		watch->watching = reading->watching;
		watch->local = reading->local;
		wait_for_next(watch, reading->result < 0);
		watch->fn(watch->arg, reading->result == 0 ? &reading->desired : NULL,
			  &reading->err);
	}
	desired_release(&reading->desired);
	free(reading);
}

static void read_now(void *arg)
{
	struct control_watch *watch = arg;
	struct reading *reading = xcalloc(1, sizeof(*reading));

	watch->reading = true;
	reading->watch = watch;
	reading->path = watch->path;
	reading->inotify_fd = watch->inotify_fd;
	lane_submit(watch->lane, read_work, read_done, reading);
}

/* What has happened does not matter, nor if some of it was lost: all is read again. */
static void on_signs(void *arg, int fd, unsigned events)
{
	struct control_watch *watch = arg;
	char waste[4096] __attribute__((aligned(__alignof__(struct inotify_event))));

	(void)events;
	while (read(fd, waste, sizeof(waste)) > 0)
		;
	if (watch->reading)
		watch->again = true;
	else
		loop_timer_set(watch->timer, CONTROL_SETTLE_MS);
}

struct control_watch *control_watch_new(struct loop *loop, struct lane *lane, const char *path,
					int64_t poll_ms, control_watch_fn *fn, void *arg)
{
	struct control_watch *watch = xcalloc(1, sizeof(*watch));

	*watch = (struct control_watch){.loop = loop,
					.lane = lane,
					.path = path,
					.poll_ms = poll_ms,
					.fn = fn,
					.arg = arg,
					.inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
	watch->timer = loop_timer_new(loop, read_now, watch);
	if (watch->inotify_fd >= 0)
		watch->signs =
			loop_fd_new(loop, watch->inotify_fd, LOOP_READ, on_signs, watch, NULL);
	if (watch->inotify_fd >= 0 && !watch->signs) {
		close(watch->inotify_fd);
		watch->inotify_fd = -1;
	}
	read_now(watch);
	return watch;
}

bool control_watch_has_inotify(const struct control_watch *watch)
{
	return watch->watching;
}

bool control_watch_sees_all(const struct control_watch *watch)
{
	return watch->local;
}

void control_watch_free(struct control_watch *watch)
{
	if (!watch)
		return;
	loop_fd_free(watch->signs);
	loop_timer_free(watch->timer);
	if (watch->inotify_fd >= 0)
		close(watch->inotify_fd);
	free(watch);
}
