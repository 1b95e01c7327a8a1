/*
 * flink.lock in the state directory: as long as any process of a launch lives, nobody else can take it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/driver_internal.h"

int driver_open_flink_lock(const struct driver *driver, struct err *err)
{
	cleanup_free char *path =
		xasprintf("%s/%s", driver->setup->config.state_directory, FLINK_LOCK_NAME);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? err_set(err, err_kind_of_errno(errno), errno, "open %s", path) : fd;
}

/* Flink inherits this descriptor: the lock is held as long as any process of a launch lives, also one
 * that an earlier drey-init has left behind. Getting it proves that none does; and whoever has it knows that
 * nothing newer comes into being while it decides what to start from. */
int driver_take_flink_lock(struct driver *driver, struct err *err)
{
	const char *dir = driver->setup->config.state_directory;
	int fd, result;

	if (driver->flink_lock_fd >= 0)
		return 0;
	fd = driver_open_flink_lock(driver, err);
	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		result = err_set(err, errno == EWOULDBLOCK ? ERR_BUSY : ERR_SYS,
				 errno == EWOULDBLOCK ? 0 : errno,
				 "a Flink of %s is still running (it owns %s/%s)", dir, dir,
				 FLINK_LOCK_NAME);
		close(fd);
		return result;
	}
	driver->flink_lock_fd = fd;
	return 0;
}

/* Another Flink may still write newer state than is to be seen now. */
static enum gate_verdict flink_lock_may(struct driver *driver, enum gate_type type,
					struct gate *gate)
{
	struct err err = {0};

	/* the one that waits in main() has it, and has run nothing */
	if (*driver->life.handover.held_id)
		return GATE_PASSES;
	if (type == GATE_OBSERVE && driver_take_flink_lock(driver, &err) < 0)
		return gate_refuses(gate, CAUSE_FLINK_STILL_RUNS, "%s", err.msg);
	return GATE_PASSES;
}

static void flink_lock_close(struct driver *driver)
{
	if (driver->flink_lock_fd >= 0)
		close(driver->flink_lock_fd);
	driver->flink_lock_fd = -1;
}

const struct part part_flink_lock = {
	.name = "flink-lock",
	.may = flink_lock_may,
	.close = flink_lock_close,
};
