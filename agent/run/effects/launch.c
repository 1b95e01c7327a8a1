#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/driver_internal.h"
#include "run/effects/launch_build.h"
#include "run/part.h"

#define FLINK_LOCK_NAME "flink.lock"

/* A launch that could not even be asked for: the answer has to come as an event of its own, after the
 * step that is being executed. */
struct refusal {
	struct driver *driver;
	char launch_id[JOB_ID_BYTES];
	enum cause held;
	char *error;
};

static void tell_refusal(void *arg)
{
	struct refusal *refusal = arg;
	struct event failed = {
		.type = EVENT_LAUNCH_FAILED,
		.process = {.launch_id = refusal->launch_id, .error = refusal->error}};
	struct event refused = {.type = EVENT_REFUSED,
				.refused = {.effect = EFFECT_LAUNCH,
					    .cause = refusal->held,
					    .why = refusal->error,
					    .launch_id = refusal->launch_id}};

	driver_step(refusal->driver, refusal->held ? &refused : &failed);
	free(refusal->error);
	free(refusal);
}

void effect_refuse_launch(struct driver *driver, const struct err *err, enum cause held)
{
	const struct launch *launch = journal_launch(&driver->life.journal);
	struct refusal *refusal = xcalloc(1, sizeof(*refusal));

	refusal->driver = driver;
	refusal->held = held;
	memcpy(refusal->launch_id, launch->job_id, JOB_ID_BYTES);
	refusal->error = xstrdup(err->msg);
	loop_post(driver->loop, tell_refusal, refusal);
}

/* Flink inherits this descriptor: the lock is held as long as any process of a launch lives, also one
 * that an earlier drey-init has left behind. Getting it proves that none does; and whoever has it knows that
 * nothing newer comes into being while it decides what to start from. */
int driver_take_flink_lock(struct driver *driver, struct err *err)
{
	const char *dir = driver->setup->config.state_directory;
	char *path;
	int fd = -1, result = 0;

	if (driver->flink_lock_fd >= 0)
		return 0;
	path = xasprintf("%s/%s", dir, FLINK_LOCK_NAME);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		result = err_set(err, err_kind_of_errno(errno), errno, "open %s", path);
	else if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		result = err_set(err, errno == EWOULDBLOCK ? ERR_BUSY : ERR_SYS,
				 errno == EWOULDBLOCK ? 0 : errno,
				 "a Flink of %s still runs (it holds %s)", dir, path);
	free(path);
	if (result < 0 && fd >= 0)
		close(fd);
	if (result == 0)
		driver->flink_lock_fd = fd;
	return result;
}

/* Without it a start only takes longer; somebody may wonder why. */
static void say_class_archive(struct driver *driver, const struct class_archive *archive)
{
	if (archive->use == CLASS_ARCHIVE_USED)
		log_info(driver->log, "Flink takes its classes from an archive",
			 LOG_STR("file", archive->file));
	else if (archive->use == CLASS_ARCHIVE_REFUSED)
		log_warn(driver->log, "Flink starts without the archive of its classes",
			 LOG_STR("file", archive->file), LOG_STR("reason", archive->why));
}

void effect_launch(struct driver *driver)
{
	const struct launch *launch = journal_launch(&driver->life.journal);
	struct class_archive archive = {0};
	struct flink_exec exec = {0};
	struct err err = {0};

	if (!driver_ha_prepare(driver))
		return;          /* called once more */
	if (driver->life.fenced) /* since it was put off */
		return effect_refuse_launch(driver,
					    &(struct err){.msg = "another drey has the journal"},
					    CAUSE_JOURNAL_TAKEN);
	if (driver->setup->life.lease_ms && !driver->init_takes_lease)
		return effect_refuse_launch(
			driver,
			&(struct
			  err){.msg = "fencing is strict, and this drey-init is too old for that: it has to be of the same version as drey"},
			CAUSE_JOURNAL_UNREADABLE);
	if (driver_take_flink_lock(driver, &err) < 0 || setup_check_port(driver->setup, &err) < 0 ||
	    launch_build(driver->setup, launch, &exec, &archive, &err) < 0 ||
	    init_link_launch(driver->link, launch->job_id, launch->number, exec.argv, exec.env,
			     driver->flink_lock_fd, &err) < 0)
		effect_refuse_launch(driver, &err, CAUSE_NONE);
	else
		say_class_archive(driver, &archive);
	if (driver->flink_lock_fd >= 0) /* drey-init and Flink keep theirs */
		close(driver->flink_lock_fd);
	driver->flink_lock_fd = -1;
	flink_exec_release(&exec);
	class_archive_release(&archive);
}

static void effect_signal(struct driver *driver, const struct effect *effect)
{
	struct err err = {0};

	if (init_link_signal(driver->link, effect->id, effect->signo, effect->group, &err) < 0)
		log_error(driver->log, "Flink cannot be signalled", LOG_ERR(&err));
}

static void effect_lease(struct driver *driver, const struct effect *effect)
{
	struct err err = {0};

	if (driver->init_takes_lease && init_link_lease(driver->link, effect->until_ms, &err) < 0)
		log_error(driver->log, "drey-init cannot be told that Flink may go on",
			  LOG_ERR(&err));
}

static void effect_stop_ack(struct driver *driver)
{
	struct err err = {0};

	if (init_link_stop_ack(driver->link, &err) < 0)
		log_error(driver->log, "drey-init cannot be answered", LOG_ERR(&err));
}

void driver_leave(struct driver *driver)
{
	struct err err = {0};
	bool told;

	if (!driver_hooks_exit(driver))
		return;
	told = driver_resource_exit(driver);
	told = driver_ready_exit(driver) && told; /* both at once */
	if (!told)
		return;
	if (init_link_exit(driver->link, driver->init_status, &err) < 0)
		log_error(driver->log, "drey-init cannot be told to end", LOG_ERR(&err));
	driver_stop(driver, 0);
}

static void effect_exit(struct driver *driver, const struct effect *effect)
{
	driver->init_status = effect->status;
	driver_leave(driver);
}

static void launch_execute(struct driver *driver, const struct effect *effect)
{
	switch (effect->type) {
	case EFFECT_LAUNCH:
		effect_launch(driver);
		break;
	case EFFECT_SIGNAL:
		effect_signal(driver, effect);
		break;
	case EFFECT_LEASE:
		effect_lease(driver, effect);
		break;
	case EFFECT_STOP_ACK:
		effect_stop_ack(driver);
		break;
	case EFFECT_EXIT:
		effect_exit(driver, effect);
		break;
	default:
		break;
	}
}

const struct part part_launch = {.name = "launch", .execute = launch_execute};
