#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flink/checkpoints.h"
#include "flink/operation.h"
#include "run/driver_internal.h"
#include "run/effects/cleanup.h"
#include "run/effects/operation_status.h"
#include "run/effects/take_checkpoint.h"
#include "run/part.h"

#define REST_TIMEOUT_MS 5000

/* ---- POLL: one look at the job ---- */

struct poll_job {
	struct driver *driver;
	char job_id[JOB_ID_BYTES];
	int64_t launch; /* number: a launch that is continued has the same job id */
	enum poll_depth depth;
	char application_id[JOB_ID_BYTES]; /* "" = Flink has none */
	bool plan_wanted;                  /* the settings of the job, too */
	struct view view;                  /* its strings are the ones below */
	char *restored_path, *completed_path, *failure, *silence;
	char other_job[FLINK_ID_CHARS + 1];
	struct seen_savepoint *savepoints; /* owns their paths */
	size_t savepoint_count;
	bool journal_lost;
	struct cleanup_ask cleanup; /* POLL_CLEANUP */
};

static void add_savepoint(struct poll_job *job, const struct flink_checkpoint *c)
{
	if (c->is_savepoint && c->status == FLINK_CHECKPOINT_COMPLETED && !c->discarded && c->path)
		job->savepoints[job->savepoint_count++] = (struct seen_savepoint){
			.id = c->id,
			.path = xstrdup(c->path),
			.completed_unix_ms = c->ack_unix_ms > 0 ? c->ack_unix_ms : 0,
			.stop = c->is_stop};
}

/* Those that are complete and still there, of the last ones that Flink remembers. */
static void poll_savepoints(struct poll_job *job, const struct flink_checkpoints *checkpoints)
{
	job->savepoints = xcalloc(checkpoints->history_count + 1, sizeof(*job->savepoints));
	if (checkpoints->latest_savepoint)
		add_savepoint(job, checkpoints->latest_savepoint);
	for (size_t i = 0; i < checkpoints->history_count; i++)
		add_savepoint(job, &checkpoints->history[i]);
}

static void poll_job_free(struct poll_job *job)
{
	for (size_t i = 0; i < job->savepoint_count; i++)
		free((char *)(uintptr_t)job->savepoints[i].path);
	free(job->savepoints);
	free(job->restored_path);
	free(job->completed_path);
	free(job->failure);
	free(job->silence);
	cleanup_ask_release(&job->cleanup);
	free(job);
}

/* What is watched of them: whether they come, and what one costs. */
static void poll_checkpoints(struct checkpointing *to, const struct flink_checkpoints *from)
{
	const struct flink_checkpoint *failed, *last = from->latest_completed;

	to->completed = from->completed;
	to->failed = from->failed;
	to->in_progress = from->in_progress;
	to->failures = flink_checkpoints_failures(from, &failed);
	if (failed) {
		to->failed_unix_ms = failed->failure_unix_ms;
		snprintf(to->failure, sizeof(to->failure), "%s",
			 failed->failure ? failed->failure : "");
	}
	if (last) {
		to->duration_ms = last->duration_ms;
		to->size_bytes = last->state_size_bytes;
		to->processed_bytes = last->processed_bytes;
		to->persisted_bytes = last->persisted_bytes;
	}
}

static int word_of(const char *name, const char *const *names, size_t count, int other)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, names[i]))
			return (int)i + 1;
	return *name ? other : 0;
}

/* Source: CheckpointConfigHandler, and the names that the classes give themselves. */
static void poll_effective(const struct flink_checkpoint_config *from, struct effective *to)
{
	static const char *const backends[] = {"HashMapStateBackend", "EmbeddedRocksDBStateBackend",
					       "ForStStateBackend"};
	static const char *const storages[] = {"FileSystemCheckpointStorage",
					       "JobManagerCheckpointStorage"};

	*to = (struct effective){
		.known = true,
		.interval_ms = from->interval_ms,
		.backend = word_of(from->state_backend, backends, ARRAY_LEN(backends),
				   STATE_BACKEND_OTHER),
		.storage = word_of(from->checkpoint_storage, storages, ARRAY_LEN(storages),
				   CHECKPOINT_STORAGE_OTHER),
		.changelog = from->changelog,
		.unaligned = from->unaligned,
	};
	if (!from->externalization_known)
		return;
	to->externalized = !from->externalized            ? EXTERNALIZED_NONE
			   : from->delete_on_cancellation ? EXTERNALIZED_DELETE
							  : EXTERNALIZED_RETAIN;
}

/* Source: the descriptions in RestartStrategies. */
static enum task_restarts poll_task_restarts(const struct poll_job *job)
{
	static const char *const on[] = {"Restart with ", "Failure rate restart with "};
	char strategy[FLINK_STRATEGY_BYTES];
	struct err err = {0};

	if (flink_rest_restart_strategy(&job->driver->setup->rest, job->job_id, REST_TIMEOUT_MS,
					strategy, &err) != FLINK_OK)
		return TASK_RESTARTS_UNKNOWN;
	for (size_t i = 0; i < ARRAY_LEN(on); i++)
		if (!strncmp(strategy, on[i], strlen(on[i])))
			return TASK_RESTARTS_ON;
	return strcmp(strategy, "Restart deactivated.") ? TASK_RESTARTS_UNKNOWN : TASK_RESTARTS_OFF;
}

/* It does not change while the job lives, so once is enough. */
static void poll_plan(struct poll_job *job)
{
	struct checkpoint_plan *to = &job->view.plan;
	struct flink_checkpoint_config config;
	struct err err = {0};

	if (!job->plan_wanted)
		return;
	if (job->view.checkpointing_off) {
		job->view.effective = (struct effective){.known = true, .checkpointing_off = true};
		return;
	}
	if (flink_rest_checkpoint_config(&job->driver->setup->rest, job->job_id, REST_TIMEOUT_MS,
					 &config, &err) != FLINK_OK)
		return;
	*to = (struct checkpoint_plan){.known = true,
				       .interval_ms = config.interval_ms,
				       .min_pause_ms = config.min_pause_ms};
	poll_effective(&config, &job->view.effective);
	job->view.effective.restarts = poll_task_restarts(job);
}

static void poll_statistics(struct poll_job *job)
{
	cleanup_flink_checkpoints struct flink_checkpoints checkpoints = {0};
	struct view *view = &job->view;
	struct err err = {0};
	bool disabled = false;
	enum flink_answer answer =
		flink_rest_checkpoints(&job->driver->setup->rest, job->job_id, REST_TIMEOUT_MS,
				       &checkpoints, &disabled, &err);

	view->checkpointing_off = answer == FLINK_ABSENT && disabled;
	view->statistics_failed = answer != FLINK_OK && !view->checkpointing_off;
	if (answer != FLINK_OK)
		return;
	view->statistics_known = true;
	poll_checkpoints(&view->checkpointing, &checkpoints);
	view->restored = checkpoints.restored.present;
	view->restored_id = checkpoints.restored.id;
	view->restored_as_own = checkpoints.restored.present && !checkpoints.restored.is_savepoint;
	job->restored_path = xstrdup(checkpoints.restored.path);
	if (checkpoints.latest_completed) {
		view->completed_id = checkpoints.latest_completed->id;
		view->completed_unix_ms = checkpoints.latest_completed->ack_unix_ms;
		job->completed_path = xstrdup(checkpoints.latest_completed->path);
	}
	poll_savepoints(job, &checkpoints);
	view->savepoint_count = job->savepoint_count;
}

/* The state of our job, its tasks, and whether there is another one: one list of all jobs tells all. A job is
 * RUNNING for Flink from the moment it is scheduled, so its tasks are what counts. */
static enum flink_answer poll_tasks(struct poll_job *job, struct err *err)
{
	struct flink_job_overview overview = {0};
	struct view *view = &job->view;
	struct cluster *to = &view->cluster;
	enum flink_answer answer =
		flink_rest_job_overview(&job->driver->setup->rest, job->job_id, REST_TIMEOUT_MS,
					&overview, job->other_job, err);

	view->tasks_missing = true;
	view->other_job = *job->other_job ? job->other_job : NULL;
	if (answer != FLINK_OK)
		return answer;
	view->state = job_state_parse(flink_job_state_name(overview.state));
	view->job_unix_ms = overview.start_unix_ms;
	to->tasks_known = true;
	to->tasks_total = overview.tasks_total;
	to->tasks_running = overview.tasks_running + overview.tasks_finished;
	to->tasks_waiting = to->tasks_total - to->tasks_running - overview.tasks_coming;
	view->tasks_missing = !to->tasks_total || to->tasks_running < to->tasks_total;
	flink_job_overview_release(&overview);
	return FLINK_OK;
}

static void poll_slots(struct poll_job *job)
{
	struct cluster *to = &job->view.cluster;
	struct flink_slots slots;
	struct err err = {0};

	if (flink_rest_slots(&job->driver->setup->rest, REST_TIMEOUT_MS, &slots, &err) != FLINK_OK)
		return;
	to->slots_known = true;
	to->task_managers = slots.task_managers;
	to->slots_total = slots.total;
	to->slots_free = slots.available;
}

static void poll_restarts(struct poll_job *job)
{
	struct err err = {0};
	int64_t rescales;

	job->view.restarts_known =
		flink_rest_restarts(&job->driver->setup->rest, job->job_id, REST_TIMEOUT_MS,
				    &job->view.restarts, &rescales, &err) == FLINK_OK;
	job->view.rescales_counted = job->view.restarts_known && rescales >= 0;
}

static void poll_failure(struct poll_job *job)
{
	struct flink_exception exception = {0};
	struct err err = {0};

	if (flink_rest_exception(&job->driver->setup->rest, job->job_id, REST_TIMEOUT_MS,
				 &exception, &err) != FLINK_OK)
		return;
	if (exception.present)
		job->failure = xstrdup(exception.sentence);
	flink_exception_release(&exception);
}

/* Who has cancelled the job: a person, or Flink, because main() has failed? */
static void poll_application(struct poll_job *job)
{
	const struct flink_rest *rest = &job->driver->setup->rest;
	struct flink_exception exception = {0};
	enum flink_application application;
	struct err err = {0};
	enum flink_answer answer;

	if (job->view.state != JOB_CANCELED || !*job->application_id)
		return;
	answer = flink_rest_application(rest, job->application_id, REST_TIMEOUT_MS, &application,
					&err);
	job->view.application = APPLICATION_UNREAD;
	if (answer != FLINK_OK)
		return;
	job->view.application = application == FLINK_APPLICATION_FAILED    ? APPLICATION_FAILED
				: application == FLINK_APPLICATION_FAILING ? APPLICATION_FAILING
									   : APPLICATION_OTHER;
	if (application != FLINK_APPLICATION_FAILED)
		return;
	answer = flink_rest_application_exception(rest, job->application_id, REST_TIMEOUT_MS,
						  &exception, &err);
	if (answer != FLINK_OK)
		job->failure = xasprintf("its exception cannot be read: %s", err.msg);
	else if (exception.present)
		job->failure = xstrdup(exception.sentence);
	flink_exception_release(&exception);
}

/* A look of its own would wake up two threads for this. In a ConfigMap it has one all the same, because others
 * may write it there (EFFECT_CHECK_JOURNAL). */
static bool journal_file_is_lost(const struct poll_job *job)
{
	struct driver *driver = job->driver;
	struct err err = {0};

	return job->depth >= POLL_ALL && !journal_store_is_remote(driver->store) &&
	       journal_store_check(driver->store, driver->writer, &err) > 0;
}

/* Where it was asked, and what came of that; the caller frees. */
static char *why_silent(const struct flink_rest *rest, const struct err *err)
{
	bool says_where = strstr(err->msg, rest->base_url) != NULL;

	return xasprintf("%s%s%s", says_where ? "" : rest->base_url, says_where ? "" : ": ",
			 err->msg);
}

static void poll_work(void *arg)
{
	struct poll_job *job = arg;
	struct view *view = &job->view;
	struct err err = {0};
	enum flink_answer answer;
	bool over;

	if (job->depth == POLL_CLEANUP) {
		view->cleanup = cleanup_look(&job->cleanup, &job->driver->setup->storage);
		return;
	}
	answer = poll_tasks(job, &err);
	job->journal_lost = journal_file_is_lost(job);
	view->reachable = answer == FLINK_OK || answer == FLINK_ABSENT;
	if (!view->reachable) {
		view->silence = job->silence = why_silent(&job->driver->setup->rest, &err);
		/* a refused login, an untrusted certificate and a page of a proxy are answers */
		view->mute = err.kind == ERR_RETRY || err.kind == ERR_SYS;
	}
	if (answer != FLINK_OK)
		return;
	view->job_present = true;
	over = job_state_is_final(view->state);
	/* first of all: a Flink 1.x whose job could not even begin ends half a second later */
	if (view->state == JOB_FAILED || view->state == JOB_FAILING ||
	    view->state == JOB_RESTARTING)
		poll_failure(job);
	poll_application(job);
	if (view->state != JOB_INITIALIZING && (over || job->depth >= POLL_JOB))
		poll_statistics(job);
	if (!over && view->state != JOB_INITIALIZING)
		poll_plan(job);
	if (!over && (view->tasks_missing || job->depth >= POLL_JOB))
		poll_slots(job);
	if (!over && job->depth >= POLL_ALL)
		poll_restarts(job);
	view->restored_path = job->restored_path;
	view->completed_path = job->completed_path;
	view->failure = job->failure;
	view->savepoints = job->savepoints;
}

static void view_passes(struct driver *driver, const struct gate *gate, enum gate_verdict verdict)
{
	struct poll_job *job = gate->arg;
	struct event event = {.type = EVENT_VIEW, .view = job->view};
	struct event lost = {.type = EVENT_JOURNAL_SEEN, .journal = {.lost = true}};
	const struct launch *launch = journal_launch(&driver->life.journal);

	/* what was asked about a launch that has ended in the meantime is no answer about this one */
	if (verdict != GATE_NOT_YET && launch && launch->number == job->launch)
		driver_step(driver, &event);
	if (verdict != GATE_NOT_YET && job->journal_lost)
		driver_step(driver, &lost);
	poll_job_free(job);
}

/* Flink shows an end of the job that drey has not asked for. */
static bool is_outside_end(const struct lifecycle *life, const struct view *view)
{
	enum operation_kind kind = life->journal.operation.kind;

	return view->job_present && !life->end_wanted && !life->terminating &&
	       (view->state == JOB_FINISHED || view->state == JOB_CANCELED) &&
	       kind != OPERATION_STOP && kind != OPERATION_CANCEL;
}

/* The person who stops the job in Flink may have set do-not-restart a moment before: such an end waits
 * until the control inputs were read again. */
static void poll_done(void *arg, bool ran)
{
	struct poll_job *job = arg;
	struct driver *driver = job->driver;
	struct gate wanted = {.then = view_passes, .arg = job};

	if (!ran || driver->closing)
		view_passes(driver, &wanted, GATE_NOT_YET);
	else if (is_outside_end(&driver->life, &job->view))
		gate_ask(driver, GATE_END, &wanted);
	else
		view_passes(driver, &wanted, GATE_PASSES);
}

static void effect_poll(struct driver *driver, const struct effect *effect)
{
	struct poll_job *job = xcalloc(1, sizeof(*job));

	job->driver = driver;
	job->depth = effect->depth;
	job->plan_wanted = effect->plan;
	job->launch = journal_launch(&driver->life.journal)->number;
	memcpy(job->application_id, journal_launch(&driver->life.journal)->application_id,
	       JOB_ID_BYTES);
	memcpy(job->job_id, effect->id, JOB_ID_BYTES);
	if (job->depth == POLL_CLEANUP)
		cleanup_ask_init(&job->cleanup, driver);
	lane_submit(driver->flink_lane, poll_work, poll_done, job);
}

/* ---- TRIGGER and POLL_OPERATION ---- */

struct operation_job {
	struct driver *driver;
	enum operation_kind kind;
	char trigger_id[JOB_ID_BYTES], job_id[JOB_ID_BYTES];
	char *directory;
	bool drain, native;
	enum operation_status status;
	char *location, *error;
};

static void trigger_work(void *arg)
{
	struct operation_job *job = arg;
	const struct flink_rest *rest = &job->driver->setup->rest;
	struct flink_savepoint_request request = {.job_id = job->job_id,
						  .trigger_id = job->trigger_id,
						  .target_directory = job->directory,
						  .format = job->native ? FLINK_SAVEPOINT_NATIVE
									: FLINK_SAVEPOINT_CANONICAL,
						  .drain = job->drain};
	enum flink_answer answer = FLINK_ERROR;
	struct err err = {.kind = ERR_CONFIG, .msg = "not an operation of Flink"};
	bool ended = false;

	if (job->kind == OPERATION_SAVEPOINT)
		answer = flink_rest_savepoint(rest, &request, REST_TIMEOUT_MS, &err);
	else if (job->kind == OPERATION_STOP)
		answer = flink_rest_stop(rest, &request, REST_TIMEOUT_MS, &err);
	else if (job->kind == OPERATION_CANCEL)
		answer = flink_rest_cancel(rest, job->job_id, REST_TIMEOUT_MS, &ended, &err);
	job->status = operation_status_of(answer, &err);
	if (answer == FLINK_ABSENT) /* the POST itself says 404: there is no such job */
		job->status = STATUS_FAILED;
	if (answer != FLINK_OK)
		job->error = xstrdup(err.msg);
}

static void poll_operation_work(void *arg)
{
	struct operation_job *job = arg;
	cleanup_flink_operation struct flink_operation operation = {0};
	struct err err = {0};
	enum flink_answer answer =
		flink_rest_operation(&job->driver->setup->rest, job->job_id, job->trigger_id,
				     REST_TIMEOUT_MS, &operation, &err);

	if (answer != FLINK_OK) {
		job->status = operation_status_of(answer, &err);
		job->error = xstrdup(err.msg);
		return;
	}
	switch (operation.state) {
	case FLINK_OPERATION_IN_PROGRESS:
		job->status = STATUS_IN_PROGRESS;
		break;
	case FLINK_OPERATION_COMPLETED:
		job->status = STATUS_COMPLETED;
		job->location = xstrdup(operation.location);
		break;
	case FLINK_OPERATION_FAILED:
		job->status = STATUS_FAILED;
		job->location = xstrdup(operation.saved_location);
		job->error = xstrdup(operation.failure);
		break;
	}
}

static void operation_done(void *arg, bool ran)
{
	struct operation_job *job = arg;
	struct event event = {.type = EVENT_OPERATION,
			      .operation = {.trigger_id = job->trigger_id,
					    .job_id = job->job_id,
					    .status = job->status,
					    .location = job->location,
					    .error = job->error}};

	if (ran)
		driver_step(job->driver, &event);
	free(job->directory);
	free(job->location);
	free(job->error);
	free(job);
}

static void submit(struct driver *driver, const struct effect *effect, lane_work_fn *work)
{
	const struct operation *operation = &driver->life.journal.operation;
	struct operation_job *job = xcalloc(1, sizeof(*job));

	job->driver = driver;
	job->kind = operation->kind;
	memcpy(job->trigger_id, effect->id, JOB_ID_BYTES);
	memcpy(job->job_id, operation->job_id, JOB_ID_BYTES);
	job->directory = xstrdup(operation->path);
	job->drain = operation->drain;
	job->native = operation->format == FORMAT_NATIVE;
	lane_submit(driver->flink_lane, work, operation_done, job);
}

/* ---- the part ---- */

static int flink_open(struct driver *driver, struct err *err)
{
	(void)err;
	driver->flink_lane = lane_new(driver->workers, "drey-flink");
	return 0;
}

static void flink_execute(struct driver *driver, const struct effect *effect)
{
	if (effect->type == EFFECT_POLL)
		effect_poll(driver, effect);
	else if (effect->type == EFFECT_TRIGGER)
		submit(driver, effect, trigger_work);
	else if (effect->type == EFFECT_POLL_OPERATION)
		submit(driver, effect, poll_operation_work);
	else if (effect->type == EFFECT_TRIGGER_CHECKPOINT ||
		 effect->type == EFFECT_POLL_CHECKPOINT)
		take_checkpoint(driver, effect);
}

static void flink_close(struct driver *driver)
{
	lane_free(driver->flink_lane, LANE_PATIENCE_MS);
	driver->flink_lane = NULL;
}

const struct part part_flink = {
	.name = "flink",
	.open = flink_open,
	.execute = flink_execute,
	.close = flink_close,
};
