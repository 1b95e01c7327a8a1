/*
 * DISPOSE: Flink deletes an old savepoint, unless a snapshot that stays refers to its files. It may take long
 * and nothing waits for it, so it has a thread and a connection of its own.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "flink/operation.h"
#include "format/metadata.h"
#include "run/driver_internal.h"
#include "run/gc/gc_needs.h"
#include "run/part.h"
#include "store/snapshots.h"
#include "store/store.h"
#include "store/uri.h"

#define REST_TIMEOUT_MS 10000
#define ASK_AGAIN_MS    500
#define PATIENCE_MS     300000 /* a savepoint of many files is deleted file by file */

struct dispose_job {
	struct driver *driver;
	char job_id[JOB_ID_BYTES];
	char *path;
	char *needed;   /* why it stays; NULL = nothing refers to it */
	struct err err; /* kind ERR_NONE: the savepoint is gone, or needed */
};

static void pause_ms(int64_t ms)
{
	struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};

	nanosleep(&pause, NULL);
}

/* Only the Flink that runs the job may be asked: another launch may stand on this very savepoint. */
static int ask_flink(const struct flink_rest *rest, const struct dispose_job *job,
		     char ret_id[FLINK_ID_CHARS + 1], struct err *err)
{
	enum flink_job_state state;

	if (flink_rest_job_state(rest, job->job_id, REST_TIMEOUT_MS, &state, err) != FLINK_OK ||
	    state != FLINK_JOB_RUNNING)
		return err_set(err, ERR_RETRY, 0, "the job is no longer running");
	return flink_rest_dispose(rest, job->path, REST_TIMEOUT_MS, ret_id, err) == FLINK_OK ? 0
											     : -1;
}

static int wait_for_flink(const struct flink_rest *rest, const char *id, struct err *err)
{
	int64_t end_ms = clock_mono_ms() + PATIENCE_MS;

	while (clock_mono_ms() < end_ms) {
		struct flink_operation operation = {0};
		enum flink_operation_state state;

		if (flink_rest_disposal(rest, id, REST_TIMEOUT_MS, &operation, err) != FLINK_OK)
			return -1;
		state = operation.state;
		if (state == FLINK_OPERATION_FAILED)
			err_set(err, ERR_SYS, 0, "%s",
				operation.failure ? operation.failure : "Flink gives no reason");
		flink_operation_release(&operation);
		if (state != FLINK_OPERATION_IN_PROGRESS)
			return state == FLINK_OPERATION_FAILED ? -1 : 0;
		pause_ms(ASK_AGAIN_MS);
	}
	return err_set(err, ERR_RETRY, 0, "Flink did not finish within %d s", PATIENCE_MS / 1000);
}

/* Another program may have deleted it, or an earlier agent, or the job that claimed it. One answer is not
 * enough: neither is it found, nor does a listing of its directory name it. */
static bool is_gone(const struct dispose_job *job)
{
	cleanup_free char *uri = snapshots_metadata_uri(job->path);
	struct store *store;
	bool gone;

	if (store_open(&job->driver->setup->storage, uri, &store, NULL))
		return false;
	gone = store_exists(store, uri, NULL) == 0 && store_is_listed(store, uri, NULL) == 0;
	store_close(store);
	return gone;
}

static void delete_savepoint(struct dispose_job *job)
{
	struct flink_rest rest = job->driver->setup->rest;
	char id[FLINK_ID_CHARS + 1];

	rest.http = rest_tls_http(rest.tls, &job->err);
	if (!rest.http)
		return;
	if (ask_flink(&rest, job, id, &job->err) == 0)
		wait_for_flink(&rest, id, &job->err);
	http_free(rest.http);
	if (job->err.kind != ERR_NONE && is_gone(job))
		job->err = (struct err){0};
}

static void dispose_work(void *arg)
{
	struct dispose_job *job = arg;

	if (gc_needs(job->driver->setup, job->path, &job->needed, &job->err) == 0)
		delete_savepoint(job);
	mem_give_back();
}

static void dispose_done(void *arg, bool ran)
{
	struct dispose_job *job = arg;
	struct event event = {.type = EVENT_DISPOSED,
			      .disposed = {.path = job->path,
					   .error = job->err.kind ? job->err.msg : NULL,
					   .needed = job->needed}};

	if (ran)
		driver_step(job->driver, &event);
	free(job->path);
	free(job->needed);
	free(job);
}

static void dispose_execute(struct driver *driver, const struct effect *effect)
{
	struct dispose_job *job;

	if (effect->type != EFFECT_DISPOSE)
		return;
	job = xcalloc(1, sizeof(*job));
	job->driver = driver;
	job->path = xstrdup(effect->text);
	memcpy(job->job_id, effect->id, JOB_ID_BYTES);
	lane_submit(driver->dispose_lane, dispose_work, dispose_done, job);
}

static int dispose_open(struct driver *driver, struct err *err)
{
	(void)err;
	driver->dispose_lane = lane_new(driver->workers, "drey-dispose");
	return 0;
}

static void dispose_close(struct driver *driver)
{
	lane_free(driver->dispose_lane, 0);
	driver->dispose_lane = NULL;
}

const struct part part_dispose = {
	.name = "dispose",
	.open = dispose_open,
	.execute = dispose_execute,
	.close = dispose_close,
};
