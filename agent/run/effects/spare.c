/*
 * The warm spare (core/spare.h): asks drey-init to start one once a launch is proven, and to end it when
 * it is of no use, and offers it to the next launch. Whatever goes wrong here is one line in the log and
 * an ordinary start.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/spare.h"
#include "flink/exit_status.h"
#include "run/driver_internal.h"
#include "run/effects/spare_line.h"
#include "run/part.h"

/* How often the memory is looked at while there is a spare. */
#define LOOK_MS 5000

struct spare_part {
	struct spare spare;
	const char *jar;
	char line[SHA256_HEX_BYTES]; /* spare_line_hash() of its launch */
	uint32_t argc;               /* words of a launch that it has already */
	int64_t since_unix_ms;       /* in its state */
	int64_t looked_ms, asked_ms;
	enum spare_why told; /* why there is none, as logged last */
	/* the last launch that did not run in it although it was configured */
	enum spare_why unused;
	int64_t unused_unix_ms;
};

static void changes(struct driver *driver)
{
	driver->spare->since_unix_ms = clock_unix_ms();
	driver->metrics.spare_ready = driver->spare->spare.state == SPARE_READY;
}

/* ---- start ---- */

static int ask_for_one(struct driver *driver, struct err *err)
{
	const struct jvm_line *line = driver->jvm.line;
	struct spare_part *part = driver->spare;
	struct spare next = part->spare;
	/* the spare inherits it, unlocked: a launch that enters it locks it */
	cleanup_close int lock_fd = driver_open_flink_lock(driver, err);
	char **argv;
	int result = -1;

	if (lock_fd < 0)
		return -1;
	if (!line) /* as start_one() knows */
		return err_set(err, ERR_ABSENT, 0, "the command line of the JVM is not known");
	argv = spare_line_argv(line, part->jar);
	spare_starts(&next, driver->jvm.fingerprint);
	result = init_link_spare(
		driver->link,
		&(struct init_link_launch){
			.job_id = next.id, .argv = argv, .env = line->env, .lock_fd = lock_fd},
		0, err);
	if (result == 0) {
		part->spare = next;
		part->argc = (uint32_t)line->entry + 1;
		spare_line_hash(line->argv, part->argc, line->env, part->line);
	}
	spare_line_free(argv);
	return result;
}

static void say_none(struct driver *driver, enum spare_why why, const char *detail)
{
	struct spare_part *part = driver->spare;

	spare_is_refused(&part->spare, why, clock_mono_ms());
	if (part->told == why)
		return;
	part->told = why;
	log_warn(driver->log, "no spare JVM: a killed JobManager takes an ordinary start",
		 LOG_STR("reason", detail ? detail : spare_why_sentence(why)));
}

static void start_one(struct driver *driver)
{
	struct spare_part *part = driver->spare;
	const struct spare_outside outside = {
		.configured = true,
		.init_takes_it = driver->init_takes_spare,
		.has_program = access(part->jar, R_OK) == 0,
		.made_of = driver->jvm.line ? driver->jvm.fingerprint : NULL,
		.headroom_bytes = cgroup_headroom_bytes(NULL),
		.exclusive = driver->jvm.line && spare_line_exclusive(driver->jvm.line),
	};
	enum spare_why why = spare_start_why(&outside);
	struct err err = {0};

	if (why != SPARE_WELL) {
		say_none(driver, why, NULL);
	} else if (ask_for_one(driver, &err) < 0) {
		say_none(driver, SPARE_GONE, err.msg);
	} else {
		part->told = SPARE_WELL;
		part->asked_ms = clock_mono_ms();
		driver->metrics.spares++;
		log_info(driver->log, "a spare JVM is being prepared");
		changes(driver);
	}
}

/* ---- end ---- */

static void end_it(struct driver *driver, enum spare_why why)
{
	struct spare_part *part = driver->spare;
	struct err err = {0};

	if (init_link_spare_end(driver->link, part->spare.id, &err) < 0)
		log_error(driver->log, "cannot end the spare JVM", LOG_ERR(&err));
	spare_ends(&part->spare, why);
	changes(driver);
	log_info(driver->log, "the spare JVM is ended", LOG_STR("reason", spare_why_sentence(why)));
}

static void spare_stepped(struct driver *driver)
{
	struct spare_part *part = driver->spare;
	int64_t now_ms = clock_mono_ms(), headroom_bytes = INT64_MAX;
	enum spare_why why;

	if (!part || !driver->alive || driver->closing)
		return;
	if (part->spare.state != SPARE_NONE && now_ms - part->looked_ms >= LOOK_MS) {
		part->looked_ms = now_ms;
		headroom_bytes = cgroup_headroom_bytes(NULL);
	}
	why = spare_end_why(&part->spare, &driver->life, headroom_bytes);
	if (why != SPARE_WELL)
		end_it(driver, why);
	else if (spare_is_wanted(&part->spare, &driver->life, now_ms) && driver->jvm.looked)
		start_one(driver);
}

/* ---- what drey-init reports ---- */

static const char *gone_why(const struct link_msg *msg, struct flink_exit *exit)
{
	switch (msg->sys_errno) {
	case 0:
		*exit = flink_exit_explain(msg->wait_status, msg->flags & LINK_OOM_KILLED);
		return exit->sentence;
	case ETIMEDOUT:
		return "it was not ready in time, or did not answer";
	case EPROTO:
		return "it answered something else, or closed its end of the connection";
	case EMSGSIZE:
		return "it did not take its arguments";
	case EPERM:
		return "its oom_score_adj could not be restored";
	default:
		return strerror(msg->sys_errno);
	}
}

static void on_gone(struct driver *driver, const struct link_msg *msg)
{
	struct spare_part *part = driver->spare;
	enum spare_state before = part->spare.state;
	struct flink_exit exit;

	if (!spare_is_gone(&part->spare, msg->launch_id, clock_mono_ms()))
		return;
	changes(driver);
	if (before == SPARE_ENTERING) {
		part->unused = SPARE_NOT_ENTERED;
		part->unused_unix_ms = clock_unix_ms();
		log_warn(driver->log, "Flink does not start in the spare JVM",
			 LOG_STR("reason", gone_why(msg, &exit)));
	} else if (before != SPARE_ENDING && msg->sys_errno != ECANCELED) {
		log_warn(driver->log, "the spare JVM has ended", LOG_I64("pid", msg->pid),
			 LOG_STR("reason", gone_why(msg, &exit)));
	}
}

static void spare_is_answered(struct driver *driver, const struct link_msg *msg)
{
	struct spare_part *part = driver->spare;
	bool in_spare = msg->type == LINK_STARTED && msg->flags & LINK_FROM_SPARE;

	driver->metrics.spare_launches += in_spare;
	if (!spare_entered(&part->spare, in_spare, clock_mono_ms()))
		return;
	changes(driver);
	if (in_spare)
		part->unused = SPARE_WELL;
}

bool driver_spare_heard(struct driver *driver, const struct link_msg *msg)
{
	struct spare_part *part = driver->spare;

	switch (msg->type) {
	case LINK_SPARE_READY:
		if (part && spare_is_ready(&part->spare, msg->launch_id, clock_mono_ms())) {
			changes(driver);
			log_info(driver->log, "the spare JVM is ready", LOG_I64("pid", msg->pid),
				 LOG_I64("ms", clock_mono_ms() - part->asked_ms));
		}
		return true;
	case LINK_SPARE_GONE:
		if (part)
			on_gone(driver, msg);
		return true;
	case LINK_STARTED:
	case LINK_LAUNCH_FAILED:
		if (part)
			spare_is_answered(driver, msg);
		return false;
	default:
		return false;
	}
}

/* ---- the next launch ---- */

void driver_spare_offer(struct driver *driver, const char *fingerprint,
			struct init_link_launch *launch)
{
	struct spare_part *part = driver->spare;
	char line[SHA256_HEX_BYTES];
	struct spare_launch made = {.configured = part != NULL, .made_of = fingerprint};
	enum spare_why why;

	if (!part)
		return;
	if (fingerprint && part->spare.state == SPARE_READY) {
		spare_line_hash(launch->argv, part->argc, launch->env, line);
		made.same_command = strcmp(line, part->line) == 0;
	}
	why = spare_use_why(&part->spare, &made);
	if (why == SPARE_WELL) {
		launch->spare = part->spare.id;
		launch->spare_argc = part->argc;
		spare_enters(&part->spare);
		changes(driver);
		return;
	}
	if (why != SPARE_NOT_PROVEN && why != part->told)
		log_info(driver->log, "Flink starts without the spare JVM",
			 LOG_STR("reason", spare_why_sentence(why)));
	part->unused = why;
	part->unused_unix_ms = clock_unix_ms();
	spare_is_passed_by(&part->spare, why);
	changes(driver);
}

/* ---- part ---- */

static void spare_status(const struct driver *driver, struct json *document)
{
	const struct spare_part *part = driver->spare;
	struct json *to, *unused;

	if (!part) {
		json_add_null(document, "spare");
		return;
	}
	to = json_add_object(document, "spare");
	json_add_str(to, "state", spare_state_name(part->spare.state));
	json_add_i64(to, "sinceUnixMs", part->since_unix_ms);
	json_add_str(to, "reason",
		     part->spare.state == SPARE_NONE && part->spare.why != SPARE_WELL
			     ? spare_why_sentence(part->spare.why)
			     : NULL);
	if (part->unused == SPARE_WELL) {
		json_add_null(to, "lastNotUsed");
		return;
	}
	unused = json_add_object(to, "lastNotUsed");
	json_add_str(unused, "cause", spare_why_name(part->unused));
	json_add_str(unused, "reason", spare_why_sentence(part->unused));
	json_add_i64(unused, "unixMs", part->unused_unix_ms);
}

static int spare_open(struct driver *driver, struct err *err)
{
	const char *jar = config_spare_jar(&driver->setup->config);

	(void)err;
	if (!jar)
		return 0;
	driver->spare = xcalloc(1, sizeof(*driver->spare));
	driver->spare->jar = jar;
	driver->spare->since_unix_ms = clock_unix_ms();
	return 0;
}

static void spare_close(struct driver *driver)
{
	free(driver->spare); /* drey-init ends the spare when this agent ends */
	driver->spare = NULL;
}

const struct part part_spare = {
	.name = "spare",
	.open = spare_open,
	.stepped = spare_stepped,
	.status = spare_status,
	.close = spare_close,
};
