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
	int abort_fd;         /* eventfd: kills what runs */
	size_t pending;       /* jobs that have not come back */
	int64_t start_number; /* of the gate: the start that the pre-launch hook is asked about */
	enum gate_verdict start; /* what it says */
	char *start_key, *refusal;
	char *approved;             /* the start that it has let pass; counts once */
	char stop_id[JOB_ID_BYTES]; /* the stop whose pre-stop hook was asked for */
	int64_t stop_number;        /* of the gate that it was asked for; 0 = it has ended */
	struct loop_timer *exit_timer;
	int64_t exit_end_ms; /* 0 = drey does not exit */
	bool exit_now;
};

struct hook_job {
	struct driver *driver;
	struct hook_call call;
	struct buf input;
	struct hook_result result;
	int64_t number; /* of the gate that waits for it; 0 = none does */
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
		log_info(driver->log, "hook output omitted", LOG_I64("lines", count - HOOK_LINES));
}

static void say_result(struct driver *driver, const struct hook_job *job)
{
	const char *name = hook_event_name(job->call.event);
	bool ok = !job->result.failure;

	say_output(driver, job);
	if (!ok)
		log_warn(driver->log, "hook failed", LOG_STR("hook", name),
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

static void start_judged(struct hooks *hooks, const struct hook_job *job);

static void hook_done(void *arg, bool ran)
{
	struct hook_job *job = arg;
	struct driver *driver = job->driver;
	struct hooks *hooks = driver->hooks;

	hooks->pending--;
	if (ran)
		say_result(driver, job);
	if (job->call.event == HOOK_PRE_LAUNCH && job->number == hooks->start_number)
		start_judged(hooks, job);
	else if (job->call.event == HOOK_PRE_STOP && job->number == hooks->stop_number)
		hooks->stop_number = 0;
	hook_result_release(&job->result);
	buf_release(&job->input);
	free(job);
	driver_again(driver);
}

static void run_hook(struct driver *driver, enum hook_event event, struct json *more,
		     int64_t number)
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
	job->number = number;
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
		log_warn(driver->log, "too many hooks are waiting, one is skipped",
			 LOG_STR("hook", hook_event_name(event)));
		return;
	}
	run_hook(driver, event, NULL, 0);
}

/* ---- hooks that something waits for ---- */

/* Names the start: another one is asked about again. */
static char *start_key(const struct gate *gate)
{
	return xasprintf("%s %s", decision_kind_name(gate->decision->kind),
			 gate->path ? gate->path : "");
}

static void ask_start(struct driver *driver, const struct gate *gate)
{
	struct json *more = json_object();

	json_add_str(more, "kind", decision_kind_name(gate->decision->kind));
	json_add_str(more, "path", gate->path);
	json_add_str(more, "reason", gate->decision->reason);
	run_hook(driver, HOOK_PRE_LAUNCH, more, gate->number);
}

/* What a hook does not let pass is held, and is no failed attempt. One that took its time makes the
 * facts old: all is looked at once more, and the same start passes then without being asked. */
static void start_judged(struct hooks *hooks, const struct hook_job *job)
{
	hooks->start = job->result.failure ? GATE_REFUSED
		       : job->result.count ? GATE_STALE
					   : GATE_PASSES;
	xstrset(&hooks->refusal, job->result.failure);
	if (hooks->start == GATE_STALE)
		xstrset(&hooks->approved, hooks->start_key);
}

static enum gate_verdict may_start(struct hooks *hooks, struct gate *gate)
{
	if (!decision_starts(gate->decision))
		return GATE_PASSES;
	if (hooks->start_number != gate->number) {
		free(hooks->start_key);
		hooks->start_key = start_key(gate);
		hooks->start_number = gate->number;
		hooks->start =
			xstrsame(hooks->approved, hooks->start_key) ? GATE_PASSES : GATE_NOT_YET;
		/* MUT: what a hook has allowed is allowed forever */
		xstrset(&hooks->approved, NULL);
		if (hooks->start == GATE_NOT_YET)
			ask_start(hooks->driver, gate);
	}
	if (hooks->start == GATE_REFUSED)
		return gate_refuses(gate, CAUSE_HOOK_REFUSED, "vetoed by hook: %s", hooks->refusal);
	return hooks->start == GATE_NOT_YET ? gate_waits(gate, "the pre-launch hook", 0)
					    : hooks->start;
}

static enum gate_verdict may_stop(struct hooks *hooks, struct gate *gate)
{
	enum operation_kind kind = hooks->driver->life.journal.operation.kind;

	if (kind != OPERATION_STOP && kind != OPERATION_CANCEL)
		return GATE_PASSES;
	if (strcmp(hooks->stop_id, gate->effect.id) != 0) {
		memcpy(hooks->stop_id, gate->effect.id, JOB_ID_BYTES);
		hooks->stop_number = gate->number;
		run_hook(hooks->driver, HOOK_PRE_STOP, NULL, gate->number);
	}
	return hooks->stop_number ? gate_waits(gate, "the pre-stop hook", 0) : GATE_PASSES;
}

static enum gate_verdict may_exit(struct hooks *hooks, struct gate *gate)
{
	if (hooks->exit_now || !hooks->pending)
		return GATE_PASSES;
	if (!hooks->exit_end_ms) {
		hooks->exit_end_ms = clock_mono_ms() + HOOK_EXIT_MS;
		loop_timer_set(hooks->exit_timer, HOOK_EXIT_MS);
	}
	return gate_waits(gate, "hooks that still run", hooks->exit_end_ms);
}

static enum gate_verdict hooks_may(struct driver *driver, enum gate_type type, struct gate *gate)
{
	struct hooks *hooks = driver->hooks;

	if (!hooks)
		return GATE_PASSES;
	if (type == GATE_OBSERVED)
		return may_start(hooks, gate);
	if (type == GATE_TRIGGER)
		return may_stop(hooks, gate);
	return type == GATE_EXIT ? may_exit(hooks, gate) : GATE_PASSES;
}

static void exit_now(void *arg)
{
	struct hooks *hooks = arg;

	/* MUT: drey waits for its hooks forever */
	hooks->exit_now = true;
	driver_again(hooks->driver);
}

/* ---- begin and end ---- */

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
	free(hooks->start_key);
	free(hooks->refusal);
	free(hooks);
	driver->hooks = NULL;
}

const struct part part_hooks = {
	.name = "hooks",
	.open = hooks_open,
	.notice = hooks_notice,
	.may = hooks_may,
	.close = hooks_close,
};
