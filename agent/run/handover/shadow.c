/*
 * The job that runs in the shadow of the owner's (core/handover/standby_shadow.c): its own journal, the
 * life cycle on it, and the adoption. A life cycle that has a journal of its own knows nothing of the
 * application's; what that says it is told here, before each launch.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/handover/transition.h"
#include "core/handover/transition_step.h"
#include "core/journal/journal_adopt.h"
#include "core/journal/journal_fields.h"
#include "core/report/readiness.h"
#include "run/handover/standing_internal.h"
#include "run/part.h"

#define REMOVE_AGAIN_MS 60000

/* ---- the adoption ---- */

struct adopt_job {
	struct standing *standing;
	struct party me;
	bool has_own; /* as the life cycle has it; false: it is read */
	struct journal own;
	int result;
	struct err err;
};

static int adopt_into(const struct adopt_job *job, struct journal *journal, struct err *err)
{
	struct handover *handover = &journal->handover;
	int64_t now_unix_ms = clock_unix_ms();
	enum side side = handover->to.side;

	if (transition_of(handover) != TRANSITION_GRANTED)
		return err_set(err, ERR_BUSY, 0, "the hand-over is %s by now",
			       transition_state_name(transition_of(handover)));
	/* one that follows the pod that was granted the job */
	party_set(&handover->to, &job->me);
	handover->to.side = side;
	if (!journal_adopt(journal, &job->own, now_unix_ms))
		return err_set(err, ERR_CONFIG, 0,
			       "the journal of the job in the shadow is of another hand-over");
	transition_take(handover);
	handover->state_unix_ms = now_unix_ms;
	handover->deadline_unix_ms = 0;
	xstrset(&handover->why, "the job that ran in the shadow is the application's");
	return 0;
}

/* The read and the write are of one sequence number: who else has written since keeps the journal. */
static int adopt_now(struct adopt_job *job, struct err *err)
{
	struct driver *driver = job->standing->driver;
	struct journal journal;
	cleanup_buf struct buf text = BUF_INIT;
	int result = -1;

	if (!job->has_own && journal_store_read(driver->shadow_store, &job->own, err) < 0)
		return -1;
	job->has_own = true;
	if (journal_store_read(driver->store, &journal, err) < 0)
		return -1;
	if (adopt_into(job, &journal, err) == 0) {
		journal_take_over(&journal, driver->writer);
		journal.sequence++;
		if (journal_encode(&journal, &text, err) == 0)
			result = journal_store_put(driver->store, &text, journal.sequence,
						   driver->writer, err);
	}
	journal_release(&journal);
	return result;
}

static void adopt_work(void *arg)
{
	struct adopt_job *job = arg;

	job->result = adopt_now(job, &job->err);
}

static void adopt_done(void *arg, bool ran)
{
	struct adopt_job *job = arg;
	struct standing *standing = job->standing;
	struct driver *driver = standing->driver;

	if (ran && job->result < 0 &&
	    log_seldom_due(&standing->adopt_trouble, job->err.msg, clock_mono_ms()))
		log_warn(driver->log, "cannot adopt the job that was granted to this pod",
			 LOG_ERR(&job->err));
	if (ran && job->result < 0) {
		standing->step(standing, &(struct standby_event){.type = STANDBY_ADOPTED});
	} else if (ran) {
		log_info(driver->log, "this pod has adopted the job that ran in the shadow");
		driver_stop(driver, DRIVER_AGAIN);
	}
	party_release(&job->me);
	if (job->has_own)
		journal_release(&job->own);
	free(job);
}

void standing_adopt(struct standing *standing)
{
	struct adopt_job *job = xcalloc(1, sizeof(*job));

	job->standing = standing;
	party_set(&job->me, &standing->config.me);
	job->has_own = driver_in_shadow(standing->driver) && standing->driver->alive;
	if (job->has_own) {
		record_copy(&journal_table, &standing->driver->life.journal, &job->own);
		job->own.origin = NULL; /* of the other one, which is not a copy */
	}
	lane_submit(standing->driver->journal_lane, adopt_work, adopt_done, job);
}

/* ---- when it is over ---- */

struct remove_job {
	struct standing *standing;
	struct handover handover;
	int result;
	struct err err;
};

/* Only of this hand-over: another one may have begun. */
static void remove_work(void *arg)
{
	struct remove_job *job = arg;
	struct journal_store *store = job->standing->driver->shadow_store;
	struct journal own;

	job->result = journal_store_read(store, &own, &job->err);
	if (job->result < 0) {
		job->result = job->err.kind == ERR_ABSENT ? 0 : -1;
		return;
	}
	if (journal_is_seeded(&own, &job->handover))
		job->result = journal_store_remove(store, &job->err);
	journal_release(&own);
}

static void remove_done(void *arg, bool ran)
{
	struct remove_job *job = arg;
	struct standing *standing = job->standing;

	standing->removing = false;
	standing->removed = ran && job->result == 0;
	standing->remove_ms = clock_mono_ms() + REMOVE_AGAIN_MS;
	if (ran && job->result < 0)
		log_warn(
			standing->driver->log,
			"cannot delete the journal of a candidate, which is not needed any more; tried again later",
			LOG_ERR(&job->err));
	handover_release(&job->handover);
	free(job);
}

/* What it had more is in the application's journal, and on record. */
static void remove_own(struct standing *standing)
{
	const struct lifecycle *life = &standing->driver->life;
	const struct handover *handover = &life->journal.handover;
	struct remove_job *job;

	if (standing->removed || standing->removing || transition_of(handover) != TRANSITION_DONE ||
	    !party_is(&handover->to, standing->config.me.uid) || life->fenced ||
	    !lifecycle_is_durable(life) || clock_mono_ms() < standing->remove_ms)
		return;
	standing->removing = true;
	job = xcalloc(1, sizeof(*job));
	job->standing = standing;
	record_copy(&handover_table, handover, &job->handover);
	lane_submit(standing->driver->journal_lane, remove_work, remove_done, job);
}

/* ---- the part: what the life cycle in the shadow is told, and says ---- */

/* Right before each launch the application's journal is read: its owner counts on that. */
static enum gate_verdict shadow_may(struct driver *driver, enum gate_type type, struct gate *gate)
{
	struct standing *standing = driver->standing;

	if (!driver_in_shadow(driver) || !standing || type != GATE_LAUNCH)
		return GATE_PASSES;
	if (!standby_has_told(&standing->standby))
		return gate_waits(gate, "the record of this pod", 0);
	if (standing->asked != gate->number) {
		standing->asked = gate->number;
		standing_read(standing);
	}
	if (standing->confirmed != gate->number)
		return gate_waits(gate, "the journal of the application", 0);
	if (!standby_may_start(&standing->standby))
		return gate_refuses(gate, CAUSE_SHADOW,
				    "the hand-over does not let the job in the shadow start");
	return GATE_PASSES;
}

/* Of the launch that runs, by an order of this very hand-over. */
static const struct gate_report *gate_report_of(const struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	bool ours = launch && life->launch_step == LAUNCH_LIVE && life->gate.transition &&
		    !life->gate.ended && !strcmp(life->gate.launch_id, launch->job_id) &&
		    xstrsame(life->gate.transition, life->journal.handover.id);

	return ours ? &life->gate.report : &gate_report_none;
}

/* What follows for them from the journal as it was read last. Telling the same again does nothing. */
void standing_tell_gates(struct standing *standing)
{
	struct driver *driver = standing->driver;
	const struct handover *handover = &standing->standby.handover;
	const struct lifecycle *life = &driver->life;
	const struct launch *launch = journal_launch_const(&life->journal);
	struct effect effect = {.type = EFFECT_GATE,
				.order = transition_candidate_order(
					handover, &driver->setup->life.handover.blue_green.policy),
				.text = handover->id};

	if (!driver_in_shadow(driver) || !driver->alive || !launch ||
	    life->launch_step < LAUNCH_STARTING ||
	    !xstrsame(handover->id, life->journal.handover.id))
		return;
	memcpy(effect.id, launch->job_id, JOB_ID_BYTES);
	driver_execute(driver, &effect);
}

static void shadow_stepped(struct driver *driver)
{
	struct standing *standing = driver->standing;
	const struct lifecycle *life = &driver->life;
	struct standby_event event = {.type = STANDBY_JOB};
	bool ended = phase_is_end(life->phase);

	if (!standing || !driver->alive || driver->closing || !driver->shadow_store)
		return;
	if (!driver_in_shadow(driver)) {
		remove_own(standing);
		return;
	}
	event.job.runs = life->phase == PHASE_RUNNING && readiness_tasks_run(life);
	event.job.failed = ended || life->journal.outcome.kind == OUTCOME_RESTORE_MISMATCH;
	event.job.why = life->reason;
	event.job.gate = gate_report_of(life);
	standing->step(standing, &event);
}

const struct part part_shadow = {
	.name = "shadow",
	.may = shadow_may,
	.stepped = shadow_stepped,
};
