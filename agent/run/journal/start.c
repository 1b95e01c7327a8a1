/*
 * What drey must know before the first step: the journal, and what it has seen of the control inputs.
 * Both are read on a lane; messages of drey-init are kept meanwhile, and taken in order afterwards.
 *
 * A journal in a ConfigMap may be unreachable for a while, or edited into nonsense; a person can
 * repair that from outside. So drey retries without a limit, and every report has the reason;
 * nothing is started and nothing is written. A running Flink continues.
 */
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/http_url.h"
#include "base/mem.h"
#include "run/config/setup_side.h"
#include "run/driver_internal.h"
#include "run/handover/standing.h"
#include "run/inputs/control_seen.h"
#include "run/part.h"

struct message {
	struct link_msg msg;
	int64_t came_ms;
};

struct start {
	struct driver *driver;
	driver_link_fn *take;
	struct message hello;
	struct message *later; /* what came since */
	size_t later_count;
	struct loop_timer *retry;
	int failures; /* to read the journal, in a row */
	bool flink_runs, stopping;
	bool held;
	struct driver_claim claim; /* zeroed: no hand-overs */
};

struct start_job {
	struct driver *driver;
	bool flink_runs, stopping;
	enum upgrade upgrade; /* when it stops already */
	char upgrade_reason[OWNER_REASON_BYTES];
	bool claimed; /* the journal was read */
	struct journal journal;
	struct desired_seen seen;
	struct err seen_err;
	int result;
	bool unreadable; /* the journal, and that may pass */
	struct err err;
};

static int read_seen(struct journal_store *store, struct desired_seen *ret_seen, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct err why = {0};

	if (journal_store_read_seen(store, &text, &why) == 0)
		return control_seen_decode(buf_str(&text), text.len_bytes, ret_seen, err);
	if (why.kind == ERR_ABSENT)
		return 0;
	return err_pass(err, &why);
}

static int read_journal(struct start_job *job)
{
	const char *application = job->driver->setup->config.application;
	struct journal_store *store = job->driver->store;
	struct err why = {0};

	if (journal_store_read(store, &job->journal, &why) < 0) {
		if (why.kind != ERR_ABSENT) {
			job->err = why;
			job->unreadable = journal_store_is_remote(store);
			return -1;
		}
		journal_init(&job->journal, application);
	}
	(void)read_seen(store, &job->seen, &job->seen_err);
	return 0;
}

static void start_work(void *arg)
{
	struct start_job *job = arg;
	struct driver *driver = job->driver;

	driver->starting = "the configuration and the stores are being checked";
	if (!job->flink_runs)
		job->result = setup_check(driver->setup, &job->err);
	driver->starting = "the journal is being read";
	if (job->result == 0 && job->claimed)
		(void)read_seen(job->driver->store, &job->seen, &job->seen_err);
	else if (job->result == 0)
		job->result = read_journal(job);
	driver->starting = "the owner of the Pod is being read";
	if (job->result == 0 && job->stopping)
		job->upgrade = driver_owner_ask(job->driver->setup, job->upgrade_reason,
						sizeof(job->upgrade_reason));
}

/* ---- the journal is read ---- */

static void forget_placeholder(struct driver *driver)
{
	if (driver->held)
		lifecycle_release(&driver->life);
	driver->held = false;
}

/* Takes the journal over. */
static int come_alive(struct driver *driver, struct journal *journal,
		      const struct driver_claim *claim, struct err *err)
{
	struct rng rng;

	if (fs_random(&rng, sizeof(rng), err) < 0) {
		journal_release(journal);
		return -1;
	}
	forget_placeholder(driver);
	journal_take_over(journal, driver->writer);
	driver->life_config = driver->setup->life;
	driver_choose_side(driver, claim->claim ? claim->side : setup_side(driver->setup, journal));
	driver->life_config.handover.me.side = driver->side;
	driver->life_config.handover.shadow = claim->shadow;
	lifecycle_init(&driver->life, &driver->life_config, journal, &rng);
	life_trace_begin(&driver->trace, &driver->life);
	driver->alive = true;
	return 0;
}

/* Part of the grace has passed while the message was waiting. -1: there is no deadline. */
static int64_t grace_now_ms(const struct message *message)
{
	int64_t left_ms = message->msg.grace_left_ms - (clock_mono_ms() - message->came_ms);

	if (message->msg.grace_left_ms < 0)
		return message->msg.grace_left_ms;
	return left_ms > 0 ? left_ms : 0;
}

static void greet(struct driver *driver, const struct message *hello, const struct start_job *job)
{
	cleanup_buf struct buf rest = BUF_INIT;
	const struct link_msg *msg = &hello->msg;
	struct event event = {
		.type = EVENT_HELLO,
		.hello = {.running = msg->flags & LINK_RUNNING ? msg->launch_id : NULL,
			  .last = msg->flags & LINK_LAST_EXIT ? msg->last_launch_id : NULL,
			  .running_number = msg->argc,
			  .last_number = msg->envc,
			  .fenced = driver_fence_was_noted(driver),
			  .last_wait_status = msg->last_wait_status,
			  .stopping = msg->flags & LINK_IS_STOPPING,
			  .grace_left_ms = grace_now_ms(hello),
			  .upgrade = job->upgrade,
			  .claim = driver->start->claim.claim,
			  .wanted = driver->start->claim.wanted,
			  .held = *driver->start->claim.held ? driver->start->claim.held : NULL}};

	http_url_tell_server(driver->setup->rest_url, &rest);
	driver->init_takes_lease = msg->flags & LINK_TAKES_LEASE;
	driver->init_takes_spare = msg->flags & LINK_TAKES_SPARE;
	log_info(driver->log, "drey supervises", LOG_STR("version", DREY_VERSION),
		 LOG_STR("flink", driver->setup->version_text), LOG_STR("rest", buf_str(&rest)),
		 LOG_STR("stateDirectory", driver->setup->config.state_directory),
		 LOG_STR("journal", journal_store_place(driver_store(driver))),
		 LOG_I64("agentRestarts", msg->restarts));
	if (job->stopping)
		log_info(driver->log, "the container is already ending",
			 LOG_STR("owner", job->upgrade_reason));
	driver_step(driver, &event);
}

static void take_over(struct driver *driver, struct start_job *job)
{
	struct start *start = driver->start;
	const struct link_msg *hello = &start->hello.msg;
	const struct part_start known = {
		.running = hello->flags & LINK_RUNNING ? hello->launch_id : NULL,
		.seen = &job->seen,
	};

	if (come_alive(driver, &job->journal, &start->claim, driver->err) < 0) {
		desired_seen_release(&job->seen);
		driver_stop(driver, 2);
		return;
	}
	if (start->held && !start->claim.claim)
		log_info(driver->log, "the journal is readable again");
	greet(driver, &start->hello, job);
	driver->start = NULL;
	if (job->seen_err.kind)
		log_warn(driver->log, "the last known control inputs cannot be read",
			 LOG_ERR(&job->seen_err));
	for (const struct part_row *row = parts; row->part; row++)
		if (row->part->alive)
			row->part->alive(driver, &known);
	desired_seen_release(&job->seen);
	for (size_t i = 0; i < start->later_count; i++) {
		start->later[i].msg.grace_left_ms = grace_now_ms(&start->later[i]);
		start->take(driver, &start->later[i].msg);
	}
	driver->start = start;
	driver_start_close(driver);
}

/* ---- the journal cannot be read ---- */

/* Nothing of ours runs and the container is to end: there is nothing to wait for. */
static void leave_if_idle(struct driver *driver)
{
	const struct start *start = driver->start;
	struct err err = {0};

	if (!start->held || !start->stopping || start->flink_runs)
		return;
	driver->life.terminating = true;
	if (init_link_exit(driver->link, 0, &err) < 0)
		log_error(driver->log, "cannot tell drey-init to exit", LOG_ERR(&err));
	driver_stop(driver, 0);
}

/* Stands in for the machine for every question about the state; nothing is ever decided by it. */
static void show(struct driver *driver, const char *reason)
{
	forget_placeholder(driver);
	lifecycle_init_unread(&driver->life, &driver->setup->life,
			      driver->setup->config.application, reason);
	driver->held = true;
	driver_judge(driver);
	termination_see(&driver->last, &driver->life);
	driver_stepped(driver);
}

static void hold(struct driver *driver, const struct err *why)
{
	const struct config *config = &driver->setup->config;
	struct start *start = driver->start;
	bool same = start->held && strstr(driver->life.reason, why->msg);

	start->held = true;
	show(driver, why->msg);
	if (!same)
		log_error(driver->log, driver->life.reason, LOG_STR("phase", "Holding"),
			  LOG_STR("cause", cause_name(driver->life.cause)));
	loop_timer_set(start->retry, backoff_ms(config->holding.retry_first_ms,
						config->holding.retry_max_ms, ++start->failures));
	leave_if_idle(driver);
}

/* ---- the order of it all ---- */

static void start_done(void *arg, bool ran)
{
	struct start_job *job = arg;
	struct driver *driver = job->driver;

	if (!ran || driver->closing) {
		if (ran && job->result == 0) {
			journal_release(&job->journal);
			desired_seen_release(&job->seen);
		}
	} else if (job->result == 0) {
		take_over(driver, job);
	} else if (job->claimed) { /* the configuration was refused: the next agent tries again */
		log_error(driver->log, "this pod cannot take the application", LOG_ERR(&job->err));
		journal_release(&job->journal);
		desired_seen_release(&job->seen);
		driver_stop(driver, 1);
	} else if (job->unreadable) {
		hold(driver, &job->err);
	} else {
		if (driver->err)
			*driver->err = job->err;
		driver_stop(driver, 2);
	}
	free(job);
}

static void start_try(void *arg)
{
	struct driver *driver = arg;
	struct start_job *job = xcalloc(1, sizeof(*job));

	job->driver = driver;
	job->flink_runs = driver->start->flink_runs;
	job->stopping = driver->start->hello.msg.flags & LINK_IS_STOPPING;
	lane_submit(driver->journal_lane, start_work, start_done, job);
}

void driver_start(struct driver *driver, const struct link_msg *hello, driver_link_fn *take)
{
	struct start *start;

	if (driver->start || driver->alive) /* said once for every agent */
		return;
	start = driver->start = xcalloc(1, sizeof(*start));
	start->driver = driver;
	start->take = take;
	start->hello = (struct message){*hello, clock_mono_ms()};
	start->flink_runs = hello->flags & LINK_RUNNING;
	start->stopping = hello->flags & LINK_IS_STOPPING;
	start->retry = loop_timer_new(driver->loop, start_try, driver);
	if (driver->setup->handover.on)
		standing_begin(driver, hello);
	else
		start_try(driver);
}

void driver_start_own(struct driver *driver, const struct link_msg *hello, struct journal *journal,
		      const struct driver_claim *claim)
{
	struct start_job *job = xcalloc(1, sizeof(*job));
	struct start *start = driver->start;

	driver->stands = false;
	start->hello.msg = *hello;
	start->claim = *claim;
	start->flink_runs = *claim->held || hello->flags & LINK_RUNNING;
	start->stopping = hello->flags & LINK_IS_STOPPING;
	job->driver = driver;
	job->claimed = true;
	job->journal = *journal;
	job->flink_runs = start->flink_runs;
	job->stopping = start->stopping;
	memset(journal, 0, sizeof(*journal));
	lane_submit(driver->journal_lane, start_work, start_done, job);
}

void driver_start_show(struct driver *driver, enum phase phase, enum cause cause,
		       const char *reason)
{
	bool same = driver->held && driver->life.phase == phase && driver->life.cause == cause &&
		    !strcmp(driver->life.reason, reason);

	if (driver->alive || same)
		return;
	forget_placeholder(driver);
	lifecycle_init_standing(&driver->life, &driver->setup->life,
				driver->setup->config.application, phase, cause, reason);
	driver->held = driver->stands = true;
	driver_judge(driver);
	driver_stepped(driver);
}

void driver_start_keep(struct driver *driver, const struct link_msg *msg)
{
	struct start *start = driver->start;

	if (!start || standing_link(driver, msg))
		return;
	start->later = xreallocarray(start->later, start->later_count + 1, sizeof(*start->later));
	start->later[start->later_count++] = (struct message){*msg, clock_mono_ms()};
	if (msg->type == LINK_EXITED || msg->type == LINK_LAUNCH_FAILED)
		start->flink_runs = false;
	if (msg->type == LINK_STOPPING)
		start->stopping = true;
	leave_if_idle(driver);
}

void driver_start_close(struct driver *driver)
{
	struct start *start = driver->start;

	if (!start)
		return;
	loop_timer_free(start->retry);
	free(start->later);
	free(start);
	driver->start = NULL;
}
