/*
 * What drey-init says becomes events. Until the machine is alive, it is kept (journal/start.c).
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "flink/exit_status.h"
#include "run/driver_internal.h"
#include "run/effects/relaunch.h"
#include "run/handover/standing.h"

static void on_process(struct driver *driver, const struct link_msg *msg)
{
	struct flink_exit meaning = {0};
	struct event event = {.process = {.launch_id = msg->launch_id,
					  .number = msg->argc,
					  .wait_status = msg->wait_status,
					  .oom_killed = msg->flags & LINK_OOM_KILLED}};
	char text[160];

	if (msg->type != LINK_STARTED)
		event.process.shortcut = driver_relaunch_ends(driver);
	switch (msg->type) {
	case LINK_STARTED:
		event.type = EVENT_STARTED;
		log_info(driver->log, "Flink started", LOG_I64("pid", msg->pid),
			 LOG_STR("jobId", msg->launch_id),
			 LOG_BOOL("spare", msg->flags & LINK_FROM_SPARE));
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
		break;
	}
	driver_step(driver, &event);
}

/* Part of the grace period has passed while it waited. */
static void stopping_passes(struct driver *driver, const struct gate *gate,
			    enum gate_verdict verdict)
{
	struct event event = {
		.type = EVENT_STOPPING,
		.stopping = {.grace_left_ms = gate->grace_left_ms, .upgrade = gate->upgrade}};
	int64_t passed_ms = clock_mono_ms() - gate->came_ms;

	if (gate->grace_left_ms > 0)
		event.stopping.grace_left_ms =
			gate->grace_left_ms > passed_ms ? gate->grace_left_ms - passed_ms : 1;
	if (verdict == GATE_PASSES)
		driver_step(driver, &event);
}

static void on_stopping(struct driver *driver, int64_t grace_left_ms)
{
	if (!driver->gates[GATE_STOPPING].number) /* else it waits already */
		gate_ask(driver, GATE_STOPPING,
			 &(struct gate){.grace_left_ms = grace_left_ms,
					.came_ms = clock_mono_ms(),
					.then = stopping_passes});
}

static void init_message_taken(struct driver *driver, const struct link_msg *msg)
{
	if (driver_spare_heard(driver, msg))
		return;
	switch (msg->type) {
	case LINK_STARTED:
	case LINK_LAUNCH_FAILED:
	case LINK_EXITED:
		on_process(driver, msg);
		break;
	case LINK_STOPPING:
		on_stopping(driver, msg->grace_left_ms);
		break;
	default:
		break; /* a newer drey-init may say more than we need */
	}
}

/* Which process runs is known before the machine is alive. */
static void note_process(struct driver *driver, const struct link_msg *msg)
{
	if (msg->type == LINK_HELLO)
		driver->flink_is_ours = false;
	if (msg->type == LINK_STARTED || (msg->type == LINK_HELLO && (msg->flags & LINK_RUNNING))) {
		driver->flink_pid = msg->pid;
		driver->flink_since_unix_ms = msg->since_unix_ms;
	} else if (msg->type == LINK_EXITED || msg->type == LINK_LAUNCH_FAILED) {
		driver->flink_pid = 0;
	}
}

static void on_link(void *arg, const struct link_msg *msg)
{
	struct driver *driver = arg;

	if (msg)
		note_process(driver, msg);
	if (!msg) { /* our end comes with PDEATHSIG anyway */
		log_error(driver->log, "drey-init has exited");
		driver_stop(driver, 1);
	} else if (msg->type == LINK_HELLO) {
		driver_start(driver, msg, init_message_taken);
	} else if (!driver->alive) {
		driver_start_keep(driver, msg);
	} else if (!standing_link(driver,
				  msg)) { /* else it is about the pod of a job in the shadow */
		init_message_taken(driver, msg);
	}
}

static int init_open(struct driver *driver, struct err *err)
{
	driver->link = init_link_open(driver->loop, on_link, driver, err);
	return driver->link ? 0 : -1;
}

static void init_close(struct driver *driver)
{
	driver_start_close(driver);
	init_link_free(driver->link);
	driver->link = NULL;
}

const struct part part_init = {.name = "init", .open = init_open, .close = init_close};
