/*
 * The journal on its lane: it is written when the life cycle says so, and compared with what was
 * written last.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "run/driver_internal.h"
#include "run/handover/standing.h"
#include "run/journal/journal_file.h"
#include "run/part.h"

/* ---- WRITE_JOURNAL ---- */

struct write_job {
	struct driver *driver;
	struct journal_store *store;
	int64_t sequence;
	struct buf text;
	int result;
	struct err err;
};

static void write_work(void *arg)
{
	struct write_job *job = arg;

	if (job->result == 0)
		job->result = journal_store_put(job->store, &job->text, job->sequence,
						job->driver->writer, &job->err);
}

/* drey-init starts the next agent, which reads what was written. */
static void begin_anew(struct driver *driver, const struct err *err)
{
	log_warn(
		driver->log,
		"another drey has written the journal since it was read: this agent exits, the next one reads it again",
		LOG_ERR(err));
	driver_stop(driver, 1);
}

static void written(void *arg, bool ran)
{
	struct write_job *job = arg;
	bool ok = job->result == 0;
	struct event event = {.type = ok ? EVENT_JOURNAL_WRITTEN : EVENT_JOURNAL_FAILED,
			      .journal = {.sequence = job->sequence,
					  .conflict = !ok && job->err.kind == ERR_BUSY,
					  .error = job->err.msg}};

	if (ran && event.journal.conflict && lifecycle_is_newcomer(&job->driver->life))
		begin_anew(job->driver, &job->err);
	else if (ran)
		driver_step(job->driver, &event);
	buf_release(&job->text);
	free(job);
}

static void write_journal(struct driver *driver, const struct effect *effect)
{
	struct write_job *job = xcalloc(1, sizeof(*job));

	job->driver = driver;
	job->store = driver_store(driver);
	job->sequence = effect->sequence;
	job->result = journal_encode(&driver->life.journal, &job->text, &job->err);
	lane_submit(driver->journal_lane, write_work, written, job);
}

/* ---- CHECK_JOURNAL ---- */

struct check_job {
	struct driver *driver;
	struct journal_store *store;
	int result;
	struct err err;
};

static void check_work(void *arg)
{
	struct check_job *job = arg;

	job->result = journal_store_check(job->store, job->driver->writer, &job->err);
}

static void checked(void *arg, bool ran)
{
	struct check_job *job = arg;
	struct driver *driver = job->driver;
	const struct lifecycle *life = &driver->life;
	bool conflict = job->err.kind == ERR_BUSY;
	/* a write that is under way, or tried again, will say so itself */
	bool nonsense = (job->err.kind == ERR_FORMAT || job->err.kind == ERR_CONFIG) &&
			life->requested == life->acknowledged && !life->journal_broken;
	struct event event = {.type = EVENT_JOURNAL_FAILED,
			      .journal = {.sequence = life->requested,
					  .conflict = conflict,
					  .error = job->err.msg}};

	struct event seen = {.type = EVENT_JOURNAL_SEEN,
			     .journal = {.lost = job->result > 0, .unknown = job->result < 0}};

	driver->checking = false;
	if (ran && !driver->closing && !conflict)
		driver_step(driver, &seen);
	if (ran && !driver->closing && (conflict || nonsense))
		driver_step(driver, &event);
	free(job);
}

static void check_journal(struct driver *driver)
{
	struct check_job *job;

	if (driver->checking)
		return;
	driver->checking = true;
	job = xcalloc(1, sizeof(*job));
	job->driver = driver;
	job->store = driver_store(driver);
	lane_submit(driver->journal_lane, check_work, checked, job);
}

/* ---- the part ---- */

/* Names this process: a journal that bears another name was written by another agent. A pod is named
 * with its UID, because the next one of a StatefulSet has the same name. */
static char *make_writer(const struct setup_kube *kube, struct err *err)
{
	unsigned char bytes[8];
	char hex[2 * sizeof(bytes) + 1];
	char host[65] = "";

	if (fs_random(bytes, sizeof(bytes), err) < 0)
		return NULL;
	fs_hex(bytes, sizeof(bytes), hex);
	if (kube->pod_name && kube->pod_uid)
		return xasprintf("%s/%s/%s", kube->pod_name, kube->pod_uid, hex);
	gethostname(host, sizeof(host) - 1);
	return xasprintf("%s/%d/%s", host, (int)getpid(), hex);
}

static int journal_open(struct driver *driver, struct err *err)
{
	const char *dir = driver->setup->config.state_directory;

	if (state_lock_take(dir, &driver->state_lock_fd, err) < 0)
		return -1;
	/* in a Pod it is a volume of the Pod alone, which Kubernetes makes for everybody in it */
	if (!driver->setup->kube.on && state_dir_is_open(dir))
		log_warn(driver->log,
			 "other users may enter the state directory: set its mode to 0700",
			 LOG_STR("stateDirectory", dir));
	driver->journal_lane = lane_new(driver->workers, "drey-journal");
	driver->writer = make_writer(&driver->setup->kube, err);
	if (!driver->writer)
		return -1;
	driver->store = journal_store_open(&driver->setup->config, &driver->setup->kube);
	journal_store_guard(driver->store, &driver->setup->kube);
	if (driver->setup->handover.shadow) {
		driver->shadow_store =
			journal_store_open_shadow(&driver->setup->config, &driver->setup->kube,
						  driver->setup->handover.shadow);
		journal_store_guard(driver->shadow_store, &driver->setup->kube);
	}
	return 0;
}

static void journal_execute(struct driver *driver, const struct effect *effect)
{
	if (effect->type == EFFECT_WRITE_JOURNAL)
		write_journal(driver, effect);
	else if (effect->type == EFFECT_CHECK_JOURNAL)
		check_journal(driver);
}

static void journal_close(struct driver *driver)
{
	if (driver->store)
		journal_store_stop(driver->store);
	if (driver->shadow_store)
		journal_store_stop(driver->shadow_store);
	/* a call that hangs keeps what it uses */
	if (lane_free(driver->journal_lane, LANE_PATIENCE_MS)) {
		journal_store_free(driver->store);
		journal_store_free(driver->shadow_store);
		free(driver->writer);
		standing_free(driver);
	}
	driver->journal_lane = NULL;
	if (driver->state_lock_fd >= 0)
		close(driver->state_lock_fd);
	driver->state_lock_fd = -1;
}

const struct part part_journal = {
	.name = "journal",
	.open = journal_open,
	.execute = journal_execute,
	.stepped = driver_fence_step,
	.close = journal_close,
};
