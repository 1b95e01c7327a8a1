/* What is true now, and how it is said. Nothing here changes anything. */
#include "core/lifecycle/lifecycle_bits.h"

#include "base/mem.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_state.h"
#include "core/lifecycle/lifecycle_transition_now.h"

/* ---- the container ends ---- */

/* Without an upgrade, last-state applies too. */
static enum upgrade_mode sigterm_mode(const struct lifecycle *life)
{
	const struct lifecycle_config *config = life->config;

	if (life->upgrade == UPGRADE_NO)
		return UPGRADE_BY_LAST_STATE;
	if (life->upgrade == UPGRADE_YES || config->on_sigterm == SIGTERM_UPGRADE)
		return config->upgrade;
	return config->on_sigterm == SIGTERM_SAVEPOINT ? UPGRADE_BY_SAVEPOINT
						       : UPGRADE_BY_LAST_STATE;
}

/* A job that was just taken over was not polled yet. Flink reports soon if it is not ready. */
static bool has_job(const struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	bool unseen = life->phase == PHASE_LAUNCHING && !life->seen.job_present;

	return life->phase == PHASE_RUNNING || life->own->stop_follows ||
	       (unseen && launch && launch->verified_unix_ms);
}

/* It may have ended since the last poll. */
static bool is_looked_at(const struct lifecycle *life)
{
	return life->look_ms > life->now_ms &&
	       (life->polling || life->polled_ms < life->own->look_since_ms);
}

/* ---- no Flink runs ---- */

/* No launch is desired: what is on record parks the application. */
static bool parks_on_record(const struct lifecycle *life)
{
	struct decision decision;

	return life->launch_step == LAUNCH_NONE &&
	       resolve_parked(&life->journal, &life->config->policy, &decision);
}

/* ---- all facts ---- */

struct known {
	unsigned char fact; /* small: all of them are gathered several times in each step */
	bool is;
};

static uint64_t bits_of(const struct known *facts, size_t count)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all |= (uint64_t)facts[i].is << facts[i].fact;
	return all;
}

uint64_t facts_of(const struct lifecycle *life)
{
	enum operation_kind kind =
		life->operation.step != STEP_NONE ? life->journal.operation.kind : OPERATION_NONE;
	enum upgrade_mode mode = sigterm_mode(life);
	bool parked = parks_on_record(life), settles = life->operation.step == STEP_SETTLING;
	const struct known facts[] = {
		{FACT_NOT_LIVE, life->launch_step != LAUNCH_LIVE},
		{FACT_ENDS, life->end_wanted},
		{FACT_NOT_RUNNING, life->phase != PHASE_RUNNING},
		{FACT_NOT_REACHABLE, !life->seen.reachable},
		{FACT_JOB_UNSEEN, !life->seen.job_present},
		{FACT_JOB_NOT_RUNNING, life->seen.state != JOB_RUNNING},
		{FACT_TASKS_MISSING, life->seen.tasks_missing},
		{FACT_BUSY, life->operation.step != STEP_NONE},
		{FACT_STOPS_IN_TIME, kind == OPERATION_STOP && life->own->budget_end_ms},
		{FACT_STOP_REPORTED, stop_is_reported(life)},
		{FACT_CANCELS, kind == OPERATION_CANCEL},
		{FACT_SAVES, kind == OPERATION_SAVEPOINT},
		{FACT_CHECKPOINT, checkpoint_in_flight(life)},
		{FACT_RESCALES, life->rescaling.step != STEP_NONE},
		{FACT_LAST_RESORT, life->own->last_resort.step},
		{FACT_DISPOSES, life->disposal.step != STEP_NONE},
		{FACT_READS_KEEPER, life->keeper.step != STEP_NONE},
		{FACT_READS_STALLED, life->stalled.step != STEP_NONE},
		{FACT_OBSERVES, life->observing},
		{FACT_PARKED, parked && !settles},
		{FACT_UNSETTLED, parked && settles},
		{FACT_RESOLVING, life->phase == PHASE_RESOLVING},
		{FACT_HOLDING, life->phase == PHASE_HOLDING},
		{FACT_START_PAUSES, life->retry_ms},
		{FACT_STOP_PAUSES, life->stop_retry_ms},
		{FACT_SAVEPOINT_PAUSES, life->savepoint_retry_ms},
		{FACT_DISPOSAL_PAUSES, life->disposal_ms},
		{FACT_PARKS, life->journal.intent.state != DESIRED_RUNNING},
		{FACT_CANCEL_WANTED, life->journal.intent.state == DESIRED_CANCELLED},
		{FACT_SUSPEND_WANTED, life->journal.intent.state == DESIRED_SUSPENDED},
		{FACT_SAVEPOINT_WANTED, journal_savepoint_wanted(&life->journal)},
		{FACT_PARALLELISM_OWED, parallelism_is_owed(life)},
		{FACT_SAVEPOINT_DUE, life->savepoint_ms && life->now_ms >= life->savepoint_ms},
		{FACT_DO_NOT_RESTART, life->journal.intent.do_not_restart},
		{FACT_RESTART_WANTED, journal_restart_wanted(&life->journal)},
		{FACT_HANDOVER, handover_is_under_way(&life->journal.handover)},
		{FACT_TRANSITION, transition_defers(life)},
		{FACT_CUT, transition_saves_not(life)},
		{FACT_JOURNAL_BROKEN, life->journal_broken},
		{FACT_FENCED, life->fenced},
		{FACT_TERMINATES, life->terminating},
		{FACT_LOOKS, is_looked_at(life)},
		{FACT_STOP_FAILED, life->own->stop_error},
		{FACT_SHORT, !life->own->budget_end_ms},
		{FACT_LATE, life->now_ms >= life->own->budget_end_ms},
		{FACT_NO_JOB, !has_job(life)},
		{FACT_BY_SAVEPOINT, mode == UPGRADE_BY_SAVEPOINT},
		{FACT_STATELESS, mode == UPGRADE_STATELESS},
	};

	_Static_assert(ARRAY_LEN(facts) == FACT_COUNT - 1, "each fact has one condition");
	return bits_of(facts, ARRAY_LEN(facts));
}

const char *fact_says(enum fact fact)
{
	static const char *const says[FACT_COUNT] = {
		[FACT_NOT_LIVE] = "Flink does not run yet, or no more",
		[FACT_ENDS] = "Flink is being ended",
		[FACT_NOT_RUNNING] = "the phase is not `Running`",
		[FACT_NOT_REACHABLE] = "Flink does not answer",
		[FACT_JOB_UNSEEN] = "Flink does not show the job",
		[FACT_JOB_NOT_RUNNING] = "the job is not RUNNING",
		[FACT_TASKS_MISSING] = "not all tasks run",
		[FACT_BUSY] = "an operation is in flight",
		[FACT_STOPS_IN_TIME] = "a stop with savepoint is in flight, and has time",
		[FACT_STOP_REPORTED] = "Flink has said that the stop is done",
		[FACT_CANCELS] = "a cancel is in flight",
		[FACT_SAVES] = "a savepoint is in flight",
		[FACT_CHECKPOINT] = "a requested checkpoint is in flight",
		[FACT_RESCALES] = "Flink is asked about another parallelism",
		[FACT_LAST_RESORT] =
			"the newest checkpoint is read, to end the job without a savepoint",
		[FACT_DISPOSES] = "an old savepoint is being deleted",
		[FACT_READS_KEEPER] = "the newest savepoint is read, to delete older ones",
		[FACT_READS_STALLED] = "the newest checkpoint is read, to restart the job from it",
		[FACT_OBSERVES] = "the sources of a start are read",
		[FACT_PARKED] = "no launch is desired, and nothing is to be settled",
		[FACT_UNSETTLED] = "no launch is desired, but an operation is to be settled",
		[FACT_RESOLVING] = "the phase is `Resolving`",
		[FACT_HOLDING] = "the phase is `Holding`",
		[FACT_START_PAUSES] = "the sources of a start are read again after a pause",
		[FACT_STOP_PAUSES] = "a stop has failed, and is repeated after a pause",
		[FACT_SAVEPOINT_PAUSES] = "a savepoint has failed, and is repeated after a pause",
		[FACT_DISPOSAL_PAUSES] = "no old savepoint could be deleted, and there is a pause",
		[FACT_PARKS] = "the desired state is suspended or cancelled",
		[FACT_CANCEL_WANTED] = "the desired state is cancelled",
		[FACT_SUSPEND_WANTED] = "the desired state is suspended",
		[FACT_SAVEPOINT_WANTED] = "a savepoint is requested",
		[FACT_PARALLELISM_OWED] =
			"another parallelism is requested, or in force and not in this launch",
		[FACT_SAVEPOINT_DUE] = "a periodic savepoint is due",
		[FACT_DO_NOT_RESTART] = "do-not-restart is on",
		[FACT_RESTART_WANTED] = "a restart is requested",
		[FACT_HANDOVER] = "a hand-over is under way",
		[FACT_TRANSITION] = "a blue/green upgrade comes first",
		[FACT_CUT] = "the cut of a blue/green upgrade is in force, or being chosen",
		[FACT_JOURNAL_BROKEN] = "the journal cannot be written",
		[FACT_FENCED] = "another drey owns the journal",
		[FACT_TERMINATES] = "the container ends",
		[FACT_LOOKS] = "Flink is asked once more whether the job has ended",
		[FACT_STOP_FAILED] = "the stop of the ending container has failed",
		[FACT_SHORT] = "there never was time for a stop",
		[FACT_LATE] = "there is no time left",
		[FACT_NO_JOB] = "no job runs of which a savepoint can be taken",
		[FACT_BY_SAVEPOINT] = "a savepoint is to be taken at the end of the container",
		[FACT_STATELESS] = "the next generation starts without state",
	};

	return (size_t)fact < FACT_COUNT ? says[fact] : NULL;
}
