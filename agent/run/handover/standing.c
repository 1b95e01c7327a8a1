#include "run/handover/standing.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/journal/journal_adopt.h"
#include "flink/exit_status.h"
#include "flink/held.h"
#include "kube/configmap_watch.h"
#include "run/handover/standing_internal.h"

#define SILENT_MS 15000 /* an owner that leads no more, and does not answer */

/* ---- what people see ---- */

static enum phase phase_of(const struct standby *standby)
{
	if (standby->verdict.role == ROLE_RESERVE)
		return PHASE_HANDED_OVER;
	if (standby->record.state == CANDIDATE_PREPARED && standby->verdict.role == ROLE_CANDIDATE)
		return PHASE_PREPARED;
	return PHASE_STANDBY;
}

static void show(struct standing *standing)
{
	const struct standby *standby = &standing->standby;
	struct driver *driver = standing->driver;
	cleanup_free char *text = NULL;

	/* a person who asks here is told where to ask */
	if (standby->owner.pod && !xstris(standby->owner.uid, standing->config.me.uid))
		text = xasprintf("%s; the owner is %s", standby->reason, standby->owner.pod);
	driver_start_show(driver, phase_of(standby),
			  standby->cause ? standby->cause : CAUSE_STANDING_BY,
			  text ? text : standby->reason);
}

/* What only this pod knows. Events of the hand-over itself are the owner's. */
static void tell_trouble(struct standing *standing)
{
	const struct standby *standby = &standing->standby;
	bool trouble =
		standby->cause == CAUSE_PREPARE_FAILED || standby->cause == CAUSE_OWNER_SILENT;

	if (trouble && standby->cause != standing->told)
		driver_event(standing->driver, true, cause_name(standby->cause), "HandOver",
			     standby->reason);
	standing->told = standby->cause;
}

/* ---- effects ---- */

static void kill_flink(struct standing *standing, const char *id)
{
	struct err err = {0};

	if (init_link_signal(standing->driver->link, id, SIGKILL, true, &err) < 0)
		log_error(standing->driver->log, "cannot signal Flink", LOG_ERR(&err));
}

static void leave(struct standing *standing)
{
	struct driver *driver = standing->driver;
	struct err err = {0};

	if (init_link_exit(driver->link, 0, &err) < 0)
		log_error(driver->log, "cannot tell drey-init to exit", LOG_ERR(&err));
	driver_stop(driver, 0);
}

/* drey-init says what runs: of a Flink that is held the life cycle hears otherwise. */
static void claim_held(struct driver_claim *claim, const struct journal *journal,
		       const char *running, struct link_msg *hello)
{
	if (!handover_waits_in_main(journal, claim->claim, running))
		return;
	memcpy(claim->held, journal->handover.job_id, JOB_ID_BYTES); /* which `running` is */
	hello->flags &= ~(uint32_t)LINK_RUNNING;
}

static void own(struct standing *standing)
{
	const struct standby *standby = &standing->standby;
	bool lives =
		standby->flink == STANDBY_FLINK_STARTED || standby->flink == STANDBY_FLINK_HELD;
	struct driver_claim claim = {.claim = standby->verdict.claim,
				     .side = standby->verdict.side,
				     .wanted = standby->wanted};
	struct journal journal = standing->journal;

	memset(&standing->journal, 0, sizeof(standing->journal));
	standing->over = true;
	loop_timer_stop(standing->timer);
	claim_held(&claim, &journal, lives ? standby->job_id : NULL, &standing->hello);
	log_info(standing->driver->log, "this pod owns the application",
		 LOG_STR("reason", standby->verdict.why), LOG_STR("claim", claim_name(claim.claim)),
		 LOG_STR("side", side_name(claim.side)), LOG_STR("held", claim.held));
	driver_start_own(standing->driver, &standing->hello, &journal, &claim);
}

/* It is written with the first launch: until then nothing has happened that had to be known. */
static struct journal make_own(struct standing *standing, bool seed)
{
	const struct setup *setup = standing->driver->setup;
	struct journal own = standing->own;
	int64_t sequence = own.sequence;

	memset(&standing->own, 0, sizeof(standing->own));
	if (!seed)
		return own;
	journal_release(&own);
	journal_seed(&standing->journal, setup->life.handover.blue_green.allow_non_restored,
		     clock_unix_ms(), &own);
	own.sequence = sequence;
	return own;
}

static void begin_shadow(struct standing *standing, bool seed)
{
	const struct standby *standby = &standing->standby;
	struct driver *driver = standing->driver;
	struct driver_claim claim = {.claim = seed ? CLAIM_TAKE : CLAIM_OWN,
				     .side = standby->handover.to.side,
				     .shadow = true};
	struct link_msg hello = standing->hello;
	struct journal own = make_own(standing, seed);

	atomic_store(&standing->in_shadow, true);
	claim_held(&claim, &own, hello.flags & LINK_RUNNING ? hello.launch_id : NULL, &hello);
	log_info(driver->log, "the job runs in the shadow",
		 LOG_STR("handover", standby->handover.id), LOG_STR("side", side_name(claim.side)),
		 LOG_STR("seed", standby->handover.transition.seed.path), LOG_BOOL("again", !seed),
		 LOG_STR("held", claim.held));
	driver_start_own(driver, &hello, &own, &claim);
}

static void execute(struct standing *standing, const struct standby_effect *effect)
{
	struct err err = {0};

	switch (effect->type) {
	case STANDBY_DO_READ:
		standing_read(standing);
		break;
	case STANDBY_DO_LOCK:
		standing_lock(standing, effect->side);
		break;
	case STANDBY_DO_WANTED:
		standing_wanted(standing);
		break;
	case STANDBY_DO_CHECK:
		standing_check(standing);
		break;
	case STANDBY_DO_RECORD:
		standing_record(standing);
		break;
	case STANDBY_DO_LAUNCH:
		standing_launch(standing);
		break;
	case STANDBY_DO_WARM:
		standing_warm(standing);
		break;
	case STANDBY_DO_KILL:
		kill_flink(standing, effect->id);
		break;
	case STANDBY_DO_OWN:
		own(standing);
		break;
	case STANDBY_DO_SHADOW:
		begin_shadow(standing, effect->seed);
		break;
	case STANDBY_DO_ADOPT:
		standing_adopt(standing);
		break;
	case STANDBY_DO_AGAIN:
		driver_stop(standing->driver, DRIVER_AGAIN);
		break;
	case STANDBY_DO_EXIT:
		leave(standing);
		break;
	case STANDBY_DO_STOP_ACK:
		if (init_link_stop_ack(standing->driver->link, &err) < 0)
			log_error(standing->driver->log, "cannot answer drey-init", LOG_ERR(&err));
		break;
	case STANDBY_DO_NOTE:
		log_any(standing->driver->log, effect->warning ? LOG_WARN : LOG_INFO, effect->text,
			LOG_STR("role", role_name(standing->standby.verdict.role)));
		break;
	}
}

static void arm(struct standing *standing)
{
	int64_t deadline_ms = standby_deadline_ms(&standing->standby);

	if (deadline_ms < 0)
		loop_timer_stop(standing->timer);
	else
		loop_timer_set(standing->timer, deadline_ms - clock_mono_ms());
}

static void step_on(struct standing *standing, const struct standby_event *event)
{
	struct standby_effects effects = {.count = 0};
	struct driver *driver = standing->driver;

	if (standing->over || driver->closing)
		return;
	standby_step(&standing->standby, event, clock_mono_ms(), clock_unix_ms(), &effects);
	if (!standing->standby.in_shadow) /* else the life cycle shows itself */
		show(standing);
	tell_trouble(standing);
	for (size_t i = 0; i < effects.count && !driver->closing; i++)
		execute(standing, &effects.list[i]);
	if (standing->standby.in_shadow && !driver->closing)
		standing_tell_gates(standing);
	if (!standing->over)
		arm(standing);
}

/* ---- what happens ---- */

static void tick(void *arg)
{
	step_on(arg, &(struct standby_event){.type = STANDBY_TICK});
}

static void journal_changed(void *arg)
{
	struct standing *standing = arg;

	if (!standing->over)
		standing_take_news(standing);
}

static void process_event(struct standing *standing, const struct link_msg *msg)
{
	struct standby_event event = {.process = {.launch_id = msg->launch_id}};
	struct flink_exit meaning;

	switch (msg->type) {
	case LINK_STARTED:
		event.type = STANDBY_STARTED;
		standing->hello.flags |= LINK_RUNNING;
		memcpy(standing->hello.launch_id, msg->launch_id, sizeof(msg->launch_id));
		if (!standing->standby.in_shadow)
			driver_ha_held(standing->driver, msg->launch_id, true);
		break;
	case LINK_LAUNCH_FAILED:
		event.type = STANDBY_FAILED;
		event.process.why = "Flink could not be started";
		break;
	default:
		event.type = STANDBY_EXITED;
		meaning = flink_exit_explain(msg->wait_status, msg->flags & LINK_OOM_KILLED);
		event.process.why = meaning.sentence;
		standing->hello.flags &= ~(uint32_t)LINK_RUNNING;
		standing->hello.flags |= LINK_LAST_EXIT;
		memcpy(standing->hello.last_launch_id, msg->launch_id, sizeof(msg->launch_id));
		standing->hello.last_wait_status = msg->wait_status;
		standing->hello.envc = msg->argc;
		if (!standing->standby.in_shadow)
			driver_ha_held(standing->driver, msg->launch_id, false);
		break;
	}
	step_on(standing, &event);
}

bool standing_link(struct driver *driver, const struct link_msg *msg)
{
	struct standing *standing = driver->standing;
	bool in_shadow = standing && standing->standby.in_shadow;

	if (!standing || standing->over)
		return false;
	switch (msg->type) {
	case LINK_STARTED:
	case LINK_LAUNCH_FAILED:
	case LINK_EXITED:
		process_event(standing, msg);
		break;
	case LINK_STOPPING:
		standing->hello.flags |= LINK_IS_STOPPING;
		standing->hello.grace_left_ms = msg->grace_left_ms;
		step_on(standing, &(struct standby_event){.type = STANDBY_STOPPING});
		break;
	default:
		return !in_shadow;
	}
	/* its Flink is the life cycle's, the end of the pod is not */
	return !in_shadow || msg->type == LINK_STOPPING;
}

/* ---- begin and end ---- */

static void configure(struct standing *standing)
{
	const struct setup *setup = standing->driver->setup;
	const struct config *config = &setup->config;

	standing->config = (struct standby_config){
		.application = config->application,
		.me = setup->life.handover.me,
		.generation = config->generation,
		.flink_version = setup->version_text,
		.limits = {.silent_ms = SILENT_MS,
			   .take_ms = config->handover.take_deadline_ms,
			   .run_ms = config->handover.run_deadline_ms},
		.blue_green = setup->life.handover.mode == HANDOVER_BLUE_GREEN
				      ? &setup->life.handover.blue_green
				      : NULL,
		.hold_main = standing->driver->holds_main,
		.max_attempts = (int)config->attempts.max,
		.retry_first_ms = config->attempts.backoff_first_ms,
		.retry_max_ms = config->attempts.backoff_max_ms,
		.kill_after_ms = config->flink.kill_after_ms,
		.ready_deadline_ms = config->attempts.ready_deadline_ms,
	};
}

static void watch_journal(struct standing *standing)
{
	struct driver *driver = standing->driver;
	const struct setup_kube *kube = &driver->setup->kube;
	struct err err = {0};

	standing->watch = configmap_watch_keep(driver->watches, kube->config.namespace,
					       kube->journal, journal_changed, standing, &err);
	if (!standing->watch)
		log_warn(driver->log, "the journal cannot be watched, and is read now and then",
			 LOG_ERR(&err));
}

/* Where main() cannot be held, the candidate's Flink starts when the job is handed over. */
static void choose_hold(struct driver *driver)
{
	const struct setup *setup = driver->setup;
	cleanup_free char *why = NULL;
	struct flink_launch launch;

	setup_launch(setup, &launch);
	driver->holds_main = setup->config.handover.hold == HANDOVER_HOLD_MAIN &&
			     held_is_possible(&launch, geteuid() == 0, &why);
	if (why)
		log_warn(
			driver->log,
			"Flink is started only when the job is handed over: its main() cannot be held",
			LOG_STR("reason", why));
}

void standing_begin(struct driver *driver, const struct link_msg *hello)
{
	struct standing *standing = xcalloc(1, sizeof(*standing));
	struct standby_event event = {.type = STANDBY_HELLO};

	choose_hold(driver);
	driver->standing = standing;
	standing->driver = driver;
	standing->step = step_on;
	standing->hello = *hello;
	standing->timer = loop_timer_new(driver->loop, tick, standing);
	standing->kube =
		kube_lane_open(driver->workers, driver->setup->kube.client, "drey-handover");
	configure(standing);
	standby_init(&standing->standby, &standing->config);
	watch_journal(standing);
	event.hello.running = hello->flags & LINK_RUNNING ? hello->launch_id : NULL;
	event.hello.stopping = hello->flags & LINK_IS_STOPPING;
	step_on(standing, &event);
}

const struct standby *standing_standby(const struct driver *driver)
{
	return driver->standing && !driver->standing->over ? &driver->standing->standby : NULL;
}

void standing_close(struct driver *driver)
{
	struct standing *standing = driver->standing;

	if (!standing)
		return;
	standing->over = true;
	kube_watch_free(standing->watch);
	loop_timer_free(standing->timer);
	standby_release(&standing->standby);
	log_seldom_release(&standing->own_trouble);
	log_seldom_release(&standing->adopt_trouble);
	journal_release(&standing->journal);
	journal_release(&standing->own);
	driver->standing = NULL;
	/* a call that hangs keeps what it uses */
	if (kube_lane_close(&standing->kube, LANE_PATIENCE_MS))
		driver->standing_closed = standing;
}

void standing_free(struct driver *driver)
{
	struct standing *standing = driver->standing_closed;

	if (!standing)
		return;
	driver->standing_closed = NULL;
	candidate_reading_release(&standing->reading);
	for (int i = 0; i < SIDES; i++)
		ha_unchanged_release(&standing->locks[i]);
	free(standing);
}
