#include "run/driver.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/report/status.h"
#include "core/report/status_history.h"
#include "core/report/status_lineage.h"
#include "core/report/transitions.h"
#include "core/report/ways_out.h"
#include "kube/kube_watch.h"
#include "run/driver_internal.h"
#include "run/part.h"

/* ---- one step ---- */

/* What has happened, before anything is done about it. */
static void tell(struct driver *driver, const struct effects *effects)
{
	/* what happens to the application its owner says */
	for (size_t i = 0; i < effects->count && !driver_in_shadow(driver); i++)
		for (const struct part_row *row = parts; row->part; row++)
			if (effects->list[i].type == EFFECT_TELL && row->part->notice)
				row->part->notice(driver, &effects->list[i].notice);
}

void driver_execute(struct driver *driver, const struct effect *effect)
{
	for (const struct part_row *row = parts; row->part; row++)
		if (row->part->execute)
			row->part->execute(driver, effect);
}

static void execute_all(struct driver *driver, const struct effects *effects)
{
	for (size_t i = 0; i < effects->count; i++)
		if (!gate_ask_effect(driver, &effects->list[i]))
			driver_execute(driver, &effects->list[i]);
}

void driver_judge(struct driver *driver)
{
	struct conditions_outside outside = {0};

	for (const struct part_row *row = parts; row->part; row++)
		if (row->part->outside)
			row->part->outside(driver, &outside);
	conditions_update(&driver->conditions, &driver->life, &outside, clock_unix_ms());
}

void driver_stepped(struct driver *driver)
{
	for (const struct part_row *row = parts; row->part; row++)
		if (row->part->stepped)
			row->part->stepped(driver);
	driver_again(driver);
}

struct json *driver_status(const struct driver *driver)
{
	struct json *document = status_document(
		&driver->life,
		driver->conditions.list[0].since_unix_ms ? &driver->conditions : NULL,
		clock_unix_ms());

	for (const struct part_row *row = parts; row->part; row++)
		if (row->part->status)
			row->part->status(driver, document);
	return document;
}

/* The document's own drey, and what its reader can paste. */
static void add_here(const struct driver *driver, struct json *document)
{
	const struct setup *setup = driver->setup;
	const struct setup_kube *kube = &setup->kube;
	const char *file = setup->config_file;
	const struct ways_out_facts facts = {
		.pod = kube->pod_name,
		.namespace = kube->pod_name ? kube->config.namespace : NULL,
		.deployment = kube->owner_kind == WORKLOAD_JOB ? NULL : kube->owner,
		.config_file = file && strcmp(file, CONFIG_DEFAULT_FILE) != 0 ? file : NULL,
	};
	struct json *to = json_add_object(document, "agent");

	json_add_str(to, "version", DREY_VERSION);
	json_add_str(to, "pod", kube->pod_name);
	status_add_runbook(document, &facts);
}

struct json *driver_status_full(const struct driver *driver)
{
	struct json *document = driver_status(driver);
	int64_t now_unix_ms = clock_unix_ms();

	status_add_history(document, &driver->life, driver->decision, now_unix_ms);
	status_add_since(document, now_unix_ms);
	status_add_lineage(document, now_unix_ms);
	add_here(driver, document);
	gates_status(driver, document);
	return document;
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
	struct json *seen;

	if (!driver->alive || driver->closing)
		return;
	before = driver->life.phase;
	seen = life_trace_event(event);
	for (const struct part_row *row = parts; row->part; row++)
		if (row->part->event)
			row->part->event(driver, event);
	lifecycle_step(&driver->life, event, clock_mono_ms(), clock_unix_ms(), &effects);
	driver_trace(driver, seen, before, &effects);
	driver_judge(driver);
	termination_see(&driver->last, &driver->life);
	tell(driver, &effects);
	execute_all(driver, &effects);
	effects_clear(&effects);
	driver_stepped(driver);
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

/* ---- begin and end ---- */

static void on_sigterm(void *arg, int signo)
{
	(void)signo;
	driver_stop(arg, 0);
}

static int open_all(struct driver *driver, struct err *err)
{
	driver->loop = loop_new(err);
	if (!driver->loop)
		return -1;
	driver->timer = loop_timer_new(driver->loop, tick, driver);
	driver->on_term = loop_signal_new(driver->loop, SIGTERM, on_sigterm, driver, err);
	driver->workers = driver->on_term ? workers_new(driver->loop, err) : NULL;
	if (!driver->workers)
		return -1;
	if (driver->setup->kube.on)
		driver->watches = kube_watches_new(driver->setup->kube.client, driver->loop);
	for (const struct part_row *row = parts; row->part; row++)
		if (row->part->open && row->part->open(driver, err) < 0)
			return -1;
	return 0;
}

static void close_all(struct driver *driver)
{
	size_t count = 0;

	driver->closing = true;
	gates_drop(driver);
	while (parts[count].part)
		count++;
	while (count--)
		if (parts[count].part->close)
			parts[count].part->close(driver);
	if (driver->alive || driver->held)
		lifecycle_release(&driver->life);
	life_trace_release(&driver->trace);
	driver->alive = driver->held = false;
	kube_watches_free(driver->watches);
	workers_free(driver->workers);
	loop_signal_free(driver->on_term);
	loop_timer_free(driver->timer);
	loop_free(driver->loop);
}

/* Why the container ends, for people who look at the Pod. */
static void last_words(struct driver *driver, int status)
{
	const struct lifecycle *life = driver->alive || driver->held ? &driver->life : NULL;
	const char *error = status && driver->err ? driver->err->msg : NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = {0};

	if (status == DRIVER_AGAIN)
		return;
	if (!status && !(life && (life->terminating || life->left) &&
			 termination_is_failure(&driver->last, life)))
		return;
	if (!driver->link) /* not in a container of ours */
		return;
	if (!life && error && driver->err->kind == ERR_CONFIG)
		driver->last.cause = CAUSE_CONFIGURATION_REFUSED;
	termination_text(&driver->last, life, error, &text);
	if (termination_write(driver->setup->config.termination_message, &text, &err) < 0)
		log_warn(driver->log, "cannot write the termination message", LOG_ERR(&err));
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
