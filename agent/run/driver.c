#include "run/driver.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "flink/exit_status.h"
#include "run/driver_internal.h"
#include "run/journal/journal_file.h"

/* How long running jobs may take when the agent ends; a hanging one is left behind. */
#define LANE_PATIENCE_MS 1000

/* ---- one step ---- */

static void say(struct driver *driver, const struct effect *effect)
{
	static const enum log_level levels[] = {LOG_INFO, LOG_WARN, LOG_ERROR};

	const char *text = effect->text ? effect->text : "";
	const char *phase = phase_name(driver->life.phase);

	if (effect->cause)
		log_any(driver->log, levels[effect->level], text, LOG_STR("phase", phase),
			LOG_STR("cause", cause_name(effect->cause)));
	else
		log_any(driver->log, levels[effect->level], text, LOG_STR("phase", phase));
}

static void execute(struct driver *driver, const struct effect *effect)
{
	switch (effect->type) {
	case EFFECT_OBSERVE:
		effect_observe(driver);
		break;
	case EFFECT_WRITE_JOURNAL:
		effect_write_journal(driver, effect);
		break;
	case EFFECT_LAUNCH:
		effect_launch(driver);
		break;
	case EFFECT_POLL:
		effect_poll(driver, effect);
		break;
	case EFFECT_TRIGGER:
		effect_trigger(driver, effect);
		break;
	case EFFECT_POLL_OPERATION:
		effect_poll_operation(driver, effect);
		break;
	case EFFECT_DISPOSE:
		effect_dispose(driver, effect);
		break;
	case EFFECT_INSPECT:
		effect_inspect(driver, effect);
		break;
	case EFFECT_SIGNAL:
		effect_signal(driver, effect);
		break;
	case EFFECT_STOP_ACK:
		effect_stop_ack(driver);
		break;
	case EFFECT_EXIT:
		effect_exit(driver, effect);
		break;
	case EFFECT_LEASE:
		effect_lease(driver, effect);
		break;
	case EFFECT_CHECK_JOURNAL:
		effect_check_journal(driver);
		break;
	case EFFECT_NOTE:
		say(driver, effect);
		break;
	case EFFECT_TELL: /* pass_on() */
		break;
	}
}

/* What has happened, before anything is done about it. */
static void pass_on(struct driver *driver, const struct effects *effects)
{
	for (size_t i = 0; i < effects->count; i++) {
		const struct notice *notice = &effects->list[i].notice;

		if (effects->list[i].type != EFFECT_TELL)
			continue;
		metrics_notice(&driver->metrics, notice);
		driver_hooks_notice(driver, notice);
		driver_event_notice(driver, notice);
	}
}

static void arm_timer(struct driver *driver)
{
	int64_t deadline_ms = lifecycle_deadline_ms(&driver->life);

	if (deadline_ms < 0)
		loop_timer_stop(driver->timer);
	else
		loop_timer_set(driver->timer, deadline_ms - clock_mono_ms());
}

void driver_step(struct driver *driver, const struct event *event)
{
	struct effects effects = {.count = 0};
	enum phase before;

	if (!driver->alive || driver->closing)
		return;
	before = driver->life.phase;
	lifecycle_step(&driver->life, event, clock_mono_ms(), clock_unix_ms(), &effects);
	metrics_event(&driver->metrics, event);
	driver_judge(driver, clock_unix_ms());
	termination_see(&driver->last, &driver->life);
	pass_on(driver, &effects);
	driver_ha_step(driver);
	for (size_t i = 0; i < effects.count; i++)
		execute(driver, &effects.list[i]);
	effects_clear(&effects);
	driver_control_acknowledge(driver);
	driver_directory_acknowledge(driver);
	driver_used_step(driver);
	driver_resource_step(driver);
	driver_fence_step(driver);
	driver_owner_step(driver);
	driver_ready_step(driver);
	arm_timer(driver);
	/* what a phase needed is not needed in the next one, and that may last for months */
	if (driver->life.phase != before)
		mem_give_back();
}

static void tick(void *arg)
{
	struct event event = {.type = EVENT_TICK};

	driver_step(arg, &event);
}

void driver_stop(struct driver *driver, int status)
{
	driver->exit_status = status;
	loop_stop(driver->loop);
}

/* ---- start ---- */

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

/* ---- drey-init speaks ---- */

static void on_process(struct driver *driver, const struct link_msg *msg)
{
	struct flink_exit meaning = {0};
	struct event event = {.process = {.launch_id = msg->launch_id,
					  .number = msg->argc,
					  .wait_status = msg->wait_status,
					  .oom_killed = msg->flags & LINK_OOM_KILLED}};
	char text[160];

	switch (msg->type) {
	case LINK_STARTED:
		event.type = EVENT_STARTED;
		log_info(driver->log, "Flink started", LOG_I64("pid", msg->pid),
			 LOG_STR("jobId", msg->launch_id));
		driver_ha_started(driver, msg->launch_id);
		break;
	case LINK_LAUNCH_FAILED:
		event.type = EVENT_LAUNCH_FAILED;
		snprintf(text, sizeof(text), "cannot start %s: %s",
			 driver->setup->config.flink.command[0], strerror(msg->sys_errno));
		event.process.error = text;
		break;
	default:
		event.type = EVENT_EXITED;
		meaning = flink_exit_explain(msg->wait_status, msg->flags & LINK_OOM_KILLED);
		event.process.meaning = meaning.sentence;
		log_info(driver->log, "Flink ended", LOG_I64("pid", msg->pid),
			 LOG_STR("jobId", msg->launch_id), LOG_STR("meaning", meaning.sentence));
		driver_ha_exited(driver, msg->launch_id);
		break;
	}
	driver_step(driver, &event);
}

void driver_link(struct driver *driver, const struct link_msg *msg)
{
	struct event stopping = {.type = EVENT_STOPPING};

	switch (msg->type) {
	case LINK_STARTED:
	case LINK_LAUNCH_FAILED:
	case LINK_EXITED:
		on_process(driver, msg);
		break;
	case LINK_STOPPING:
		stopping.stopping.grace_left_ms = msg->grace_left_ms;
		if (!driver_owner_stopping(driver, msg))
			driver_step(driver, &stopping);
		break;
	default:
		break; /* a newer drey-init may say more than we need */
	}
}

static void on_link(void *arg, const struct link_msg *msg)
{
	struct driver *driver = arg;

	if (!msg) { /* our end comes with PDEATHSIG anyway */
		log_error(driver->log, "drey-init has gone");
		driver_stop(driver, 1);
	} else if (msg->type == LINK_HELLO) {
		driver_start(driver, msg);
	} else if (!driver->alive) {
		driver_start_keep(driver, msg);
	} else {
		driver_link(driver, msg);
	}
}

static void on_sigterm(void *arg, int signo)
{
	(void)signo;
	driver_stop(arg, 0);
}

static int open_all(struct driver *driver, struct err *err)
{
	const char *dir = driver->setup->config.state_directory;

	driver->loop = loop_new(err);
	if (!driver->loop)
		return -1;
	driver->timer = loop_timer_new(driver->loop, tick, driver);
	driver->on_term = loop_signal_new(driver->loop, SIGTERM, on_sigterm, driver, err);
	driver->link = driver->on_term ? init_link_open(driver->loop, on_link, driver, err) : NULL;
	if (!driver->link || state_lock_take(dir, &driver->state_lock_fd, err) < 0)
		return -1;
	driver->journal_lane = lane_new(driver->loop, "drey-journal", err);
	driver->store_lane = lane_new(driver->loop, "drey-store", err);
	driver->flink_lane = lane_new(driver->loop, "drey-flink", err);
	driver->dispose_lane = lane_new(driver->loop, "drey-dispose", err);
	driver->writer = make_writer(&driver->setup->kube, err);
	if (!driver->journal_lane || !driver->store_lane || !driver->flink_lane ||
	    !driver->dispose_lane || !driver->writer)
		return -1;
	driver->store = journal_store_open(&driver->setup->config, &driver->setup->kube, err);
	if (!driver->store)
		return -1;
	if (driver_control_open(driver, err) < 0)
		return -1;
	if (driver_hooks_open(driver, err) < 0 || driver_directory_open(driver, err) < 0)
		return -1;
	driver_used_open(driver);
	if (driver_resource_open(driver, err) < 0 || driver_event_open(driver, err) < 0 ||
	    driver_owner_open(driver, err) < 0 || driver_ready_open(driver, err) < 0)
		return -1;
	return driver_ha_open(driver, err) < 0 ? -1 : driver_http_open(driver, err);
}

static void close_all(struct driver *driver)
{
	driver->closing = true;
	driver_hooks_abort(driver);
	driver_ha_close(driver);
	if (driver->store)
		journal_store_stop(driver->store);
	lane_free(driver->flink_lane, LANE_PATIENCE_MS);
	lane_free(driver->store_lane, LANE_PATIENCE_MS);
	lane_free(driver->dispose_lane, 0);
	/* a call that hangs keeps what it uses */
	if (lane_free(driver->journal_lane, LANE_PATIENCE_MS)) {
		journal_store_free(driver->store);
		free(driver->writer);
	}
	driver_start_close(driver);
	driver_ready_close(driver);
	driver_owner_close(driver);
	driver_event_close(driver);
	driver_resource_close(driver);
	driver_used_close(driver);
	driver_directory_close(driver);
	driver_hooks_close(driver);
	driver_http_close(driver);
	driver_control_close(driver);
	if (driver->alive || driver->held)
		lifecycle_release(&driver->life);
	driver->alive = driver->held = false;
	init_link_free(driver->link);
	loop_signal_free(driver->on_term);
	loop_timer_free(driver->timer);
	loop_free(driver->loop);
	if (driver->flink_lock_fd >= 0)
		close(driver->flink_lock_fd);
	if (driver->state_lock_fd >= 0)
		close(driver->state_lock_fd);
}

/* Why the container ends, for whoever looks at the pod. */
static void last_words(struct driver *driver, int status)
{
	const struct lifecycle *life = driver->alive || driver->held ? &driver->life : NULL;
	const char *error = status && driver->err ? driver->err->msg : NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = {0};

	if (!status && !(life && (life->terminating || life->left) &&
			 termination_is_failure(&driver->last, life)))
		return;
	if (!driver->link) /* not in a container of ours */
		return;
	if (!life && error && driver->err->kind == ERR_CONFIG)
		driver->last.cause = CAUSE_CONFIGURATION_REFUSED;
	termination_text(&driver->last, life, error, &text);
	if (termination_write(driver->setup->config.termination_message, &text, &err) < 0)
		log_warn(driver->log, "the termination message cannot be written", LOG_ERR(&err));
}

int driver_run(const struct setup *setup, struct log *log, struct err *err)
{
	struct driver driver = {
		.setup = setup, .log = log, .state_lock_fd = -1, .flink_lock_fd = -1, .err = err};
	int status = 2;

	mem_keep_little();
	if (open_all(&driver, err) == 0) {
		status = loop_run(driver.loop, err);
		status = status < 0 ? 1 : driver.exit_status;
	}
	last_words(&driver, status);
	close_all(&driver);
	return status;
}
