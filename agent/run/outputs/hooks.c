#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "run/driver_internal.h"
#include "run/outputs/hook.h"
#include "run/part.h"

#define HOOK_QUEUE    32   /* hooks that wait; more are left out */
#define HOOK_LINES    200  /* of output that go into the log */
#define HOOK_EXIT_MS  5000 /* how long an end that drey asks for waits for hooks */
#define HOOK_ABORT_MS 500  /* from the kill to the end */
#define HOOK_GRACE_MS 5000 /* deadline of pre-stop when the container ends */

struct hooks {
	struct driver *driver;
	struct lane *lane;
	int abort_fd;               /* eventfd: kills what runs */
	size_t pending;             /* jobs that have not come back */
	char stop_id[JOB_ID_BYTES]; /* the stop whose pre-stop hook was asked for */
	char *approved;             /* the decision that the pre-launch hook has let pass */
	struct loop_timer *exit_timer;
	bool exit_waits, exit_now;
};

struct hook_job {
	struct driver *driver;
	struct hook_call call;
	struct buf input;
	struct hook_result result;
	driver_hook_fn *then; /* or NULL */
	void *arg;
};

/* ---- one hook ---- */

static void say_output(struct driver *driver, const struct hook_job *job)
{
	char *text = buf_str(&job->result.output)[0] ? job->result.output.data : NULL;
	char *rest = NULL;
	int count = 0;

	for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest))
		if (++count <= HOOK_LINES)
			log_info(driver->log, "hook", LOG_STR("line", line));
	if (count > HOOK_LINES)
		log_info(driver->log, "hook output left out", LOG_I64("lines", count - HOOK_LINES));
}

static void say_result(struct driver *driver, const struct hook_job *job)
{
	const char *name = hook_event_name(job->call.event);
	bool ok = !job->result.failure;

	say_output(driver, job);
	if (!ok)
		log_warn(driver->log, "a hook has failed", LOG_STR("hook", name),
			 LOG_STR("error", job->result.failure));
	else if (job->result.count)
		log_info(driver->log, "hook done", LOG_STR("hook", name),
			 LOG_I64("count", job->result.count));
	if (job->result.count || !ok)
		driver->metrics.hooks[job->call.event][ok]++;
}

static void hook_work(void *arg)
{
	struct hook_job *job = arg;

	hook_run(&job->call, &job->result);
}

static void hook_done(void *arg, bool ran)
{
	struct hook_job *job = arg;
	struct driver *driver = job->driver;
	struct hooks *hooks = driver->hooks;

	hooks->pending--;
	if (ran)
		say_result(driver, job);
	if (job->then)
		job->then(job->arg, ran && !driver->closing ? &job->result : NULL);
	if (hooks->exit_waits && !hooks->pending && !driver->closing)
		loop_timer_set(hooks->exit_timer, 0);
	hook_result_release(&job->result);
	buf_release(&job->input);
	free(job);
}

static void run_hook(struct driver *driver, enum hook_event event, struct json *more,
		     driver_hook_fn *then, void *arg)
{
	const struct config *config = &driver->setup->config;
	struct hook_job *job = xcalloc(1, sizeof(*job));
	struct json *doc = json_object();

	json_add_str(doc, "hook", hook_event_name(event));
	json_add_i64(doc, "unixMs", clock_unix_ms());
	if (more)
		json_add(doc, "decision", more);
	json_add(doc, "status", driver_status(driver));
	json_print(doc, &job->input);
	buf_addch(&job->input, '\n');
	json_free(doc);
	job->driver = driver;
	job->then = then;
	job->arg = arg;
	job->call = (struct hook_call){
		.directory = config->hooks.directory,
		.event = event,
		.application = config->application,
		.environment = (const char *const *)config->hooks.environment,
		.zone = driver->setup->zone_before,
		.input = &job->input,
		.timeout_ms = config->hooks.timeout_ms,
		.abort_fd = driver->hooks->abort_fd,
	};
	if (event == HOOK_PRE_STOP && driver->life.terminating &&
	    job->call.timeout_ms > HOOK_GRACE_MS)
		job->call.timeout_ms = HOOK_GRACE_MS;
	driver->hooks->pending++;
	lane_submit(driver->hooks->lane, hook_work, hook_done, job);
}

static void hooks_notice(struct driver *driver, const struct notice *notice)
{
	enum hook_event event = hook_event_of(notice);

	if (!driver->hooks || event == HOOK_EVENTS)
		return;
	if (lane_queued(driver->hooks->lane) >= HOOK_QUEUE) {
		log_warn(driver->log, "too many hooks wait, one is left out",
			 LOG_STR("hook", hook_event_name(event)));
		return;
	}
	run_hook(driver, event, NULL, NULL, NULL);
}

/* ---- hooks that something waits for ---- */

/* Names the decision: another one is asked about again. */
static char *decision_key(const struct decision *decision, const char *path)
{
	return xasprintf("%s %s", decision_kind_name(decision->kind), path ? path : "");
}

bool driver_hooks_approved(struct driver *driver, const struct decision *decision, const char *path)
{
	struct hooks *hooks = driver->hooks;
	cleanup_free char *key = decision_key(decision, path);
	bool approved = !hooks || (hooks->approved && !strcmp(hooks->approved, key));

	if (hooks)
		xstrset(&hooks->approved, NULL);
	return approved;
}

void driver_hooks_approve(struct driver *driver, const struct decision *decision, const char *path)
{
	free(driver->hooks->approved);
	driver->hooks->approved = decision_key(decision, path);
}

void driver_hooks_pre_launch(struct driver *driver, const struct decision *decision,
			     const char *path, driver_hook_fn *then, void *arg)
{
	struct json *more = json_object();

	json_add_str(more, "kind", decision_kind_name(decision->kind));
	json_add_str(more, "path", path);
	json_add_str(more, "reason", decision->reason);
	run_hook(driver, HOOK_PRE_LAUNCH, more, then, arg);
}

struct stop {
	struct driver *driver;
	struct effect effect;
};

/* The stop may have been overtaken or given up meanwhile: then nobody waits for its POST. */
static void stop_goes_on(void *arg, const struct hook_result *result)
{
	struct stop *stop = arg;
	struct driver *driver = stop->driver;
	const struct lifecycle *life = &driver->life;

	if (result && life->asking && !strcmp(life->journal.operation.trigger_id, stop->effect.id))
		effect_trigger(driver, &stop->effect);
	free(stop);
}

bool driver_hooks_stop(struct driver *driver, const struct effect *effect)
{
	struct hooks *hooks = driver->hooks;
	enum operation_kind kind = driver->life.journal.operation.kind;
	struct stop *stop;

	if (!hooks || (kind != OPERATION_STOP && kind != OPERATION_CANCEL) ||
	    !strcmp(hooks->stop_id, effect->id))
		return true;
	memcpy(hooks->stop_id, effect->id, JOB_ID_BYTES);
	stop = xcalloc(1, sizeof(*stop));
	stop->driver = driver;
	stop->effect = *effect;
	stop->effect.text = NULL;
	run_hook(driver, HOOK_PRE_STOP, NULL, stop_goes_on, stop);
	return false;
}

/* ---- the end ---- */

static void exit_now(void *arg)
{
	struct hooks *hooks = arg;

	hooks->exit_now = true;
	driver_leave(hooks->driver);
}

bool driver_hooks_exit(struct driver *driver)
{
	struct hooks *hooks = driver->hooks;

	if (!hooks || hooks->exit_now || !hooks->pending)
		return true;
	if (!hooks->exit_waits)
		loop_timer_set(hooks->exit_timer, HOOK_EXIT_MS);
	hooks->exit_waits = true;
	return false;
}

static int hooks_open(struct driver *driver, struct err *err)
{
	int abort_fd;

	if (!driver->setup->config.hooks.directory)
		return 0;
	abort_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (abort_fd < 0)
		return err_set(err, ERR_SYS, errno, "create an eventfd");
	driver->hooks = xcalloc(1, sizeof(*driver->hooks));
	driver->hooks->abort_fd = abort_fd;
	driver->hooks->driver = driver;
	driver->hooks->lane = lane_new(driver->workers, "drey-hooks");
	driver->hooks->exit_timer = loop_timer_new(driver->loop, exit_now, driver->hooks);
	return 0;
}

static void hooks_close(struct driver *driver)
{
	struct hooks *hooks = driver->hooks;
	uint64_t one = 1;

	if (!hooks)
		return;
	(void)!write(hooks->abort_fd, &one, sizeof(one));
	if (lane_free(hooks->lane, HOOK_ABORT_MS))
		close(hooks->abort_fd);
	loop_timer_free(hooks->exit_timer);
	free(hooks->approved);
	free(hooks);
	driver->hooks = NULL;
}

const struct part part_hooks = {
	.name = "hooks",
	.open = hooks_open,
	.notice = hooks_notice,
	.close = hooks_close,
};
