/*
 * What is always true of the machine between two steps. Each claim is a promise that other code
 * relies on without checking it; a machine that breaks one has a bug, and its next decision could
 * be any. A claim must hold for every history that the world can produce: one that usually holds
 * does not belong here.
 */
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_asks.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_pace.h"
#include "core/lifecycle/lifecycle_state.h"

struct promise {
	bool broken;
	const char *what;
};

static const char *first_broken(const struct promise *claims, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (claims[i].broken)
			return claims[i].what;
	return NULL;
}

static bool is_parked(enum phase phase)
{
	return phase == PHASE_SUSPENDED || phase_is_end(phase);
}

/* An effect would wait forever for a write that is neither in flight nor planned, and an effect
 * that waits for a finished write could come out at any time. */
static bool waits_for_no_write(const struct lifecycle *life)
{
	bool writing = life->requested != life->acknowledged;

	for (size_t i = 0; i < life->deferred.count; i++) {
		int64_t sequence = life->deferred.list[i].sequence;

		if (sequence ? !writing || sequence != life->requested
			     : !life->want_write && !life->journal_retry_ms)
			return true;
	}
	return false;
}

static const char *check_journal_write(const struct lifecycle *life)
{
	const struct promise claims[] = {
		{life->acknowledged > life->requested,
		 "a journal write is acknowledged that was never requested"},
		{life->requested != life->journal.sequence,
		 "the journal does not have the number of the last requested write"},
		{life->requested - life->acknowledged > 1, "two journal writes are in flight"},
		{waits_for_no_write(life), "an effect waits for a journal write that never comes"},
		{life->journal_retry_ms && !life->journal_broken && !life->fenced,
		 "a journal write is retried that has not failed"},
	};

	return first_broken(claims, ARRAY_LEN(claims));
}

static bool phase_has_flink(const struct lifecycle *life)
{
	return life->phase == PHASE_LAUNCHING || life->phase == PHASE_RUNNING ||
	       life->phase == PHASE_STOPPING || life->phase == PHASE_TERMINATING;
}

static const char *check_process(const struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	bool some = life->launch_step != LAUNCH_NONE, live = life->launch_step == LAUNCH_LIVE;
	bool decided = some && !live; /* not started yet, as far as is known */
	bool waits = find_deferred(life, EFFECT_LAUNCH) != NULL;
	bool end_comes = life->kill_ms || life->clean_ms || find_deferred(life, EFFECT_SIGNAL);
	const struct promise claims[] = {
		{some && !launch, "the launch in progress is not in the journal"},
		{decided && launch && launch->ended_unix_ms,
		 "the launch in progress has ended according to the journal"},
		{live && launch && !launch->started_unix_ms,
		 "Flink is running, but the journal has no start of it"},
		{some && !life->fenced && !phase_has_flink(life),
		 "a launch is in progress in a phase that has none"},
		{decided && life->journal.outcome.kind != OUTCOME_NONE,
		 "a launch is in progress although the journal has an outcome"},
		{waits != (life->launch_step == LAUNCH_WRITING && !life->fenced),
		 "the launch that waits for its journal write is not the one being written"},
		{life->foreign && (some || !*life->foreign_id),
		 "the running Flink is both ours and unknown, or has no id"},
		{life->end_wanted && life->launch_step < LAUNCH_STARTING && !life->foreign,
		 "Flink must end, but none is running"},
		{life->end_wanted && live && !end_comes, "Flink must end, but nothing ends it"},
		{life->clean_ms && (!live || !life->end_wanted),
		 "the cleanup of a Flink is awaited that need not end"},
		{!pace_is_kept(life), "something is done again and again without a pause"},
	};

	return first_broken(claims, ARRAY_LEN(claims));
}

static bool is_step_of(enum ask_step step, enum operation_kind kind)
{
	switch (step) {
	case STEP_POLLING:
	case STEP_INSPECTING:
	case STEP_SETTLING:
		return kind == OPERATION_SAVEPOINT || kind == OPERATION_STOP;
	case STEP_ENDING:
		return operation_ends_job(kind);
	default:
		return true;
	}
}

static const char *check_operation(const struct lifecycle *life)
{
	const struct operation *operation = &life->journal.operation;
	const struct launch *launch = journal_launch_const(&life->journal);
	enum ask_step step = life->operation.step;
	bool asks = step != STEP_NONE && step != STEP_SETTLING;
	const struct promise claims[] = {
		{step != STEP_NONE && operation->kind == OPERATION_NONE,
		 "the operation in flight is not in the journal"},
		{asks && !*operation->trigger_id, "the operation in flight has no trigger id"},
		{!is_step_of(step, operation->kind),
		 "the operation in flight is in a step of another kind"},
		{asks && launch && strcmp(operation->job_id, launch->job_id) != 0,
		 "the operation in flight belongs to another job than the running one"},
		{step == STEP_SETTLING && life->launch_step >= LAUNCH_STARTING,
		 "a Flink was started before the last one's operation was settled"},
		{step == STEP_INSPECTING && !life->stop_location,
		 "the savepoint being inspected has no path"},
	};

	return first_broken(claims, ARRAY_LEN(claims));
}

static const char *check_checkpoint(const struct lifecycle *life)
{
	const struct checkpoint_operation *checkpoint = &life->journal.checkpoint;
	const struct launch *launch = journal_launch_const(&life->journal);
	bool live = life->launch_step == LAUNCH_LIVE, flies = checkpoint_in_flight(life);
	const struct promise claims[] = {
		{flies && strcmp(checkpoint->trigger_id, life->checkpoint.id) != 0,
		 "the checkpoint in flight is not in the journal"},
		{flies && launch && strcmp(checkpoint->job_id, launch->job_id) != 0,
		 "the checkpoint in flight belongs to another job than the running one"},
		{flies && life->operation.step != STEP_NONE,
		 "a checkpoint is in flight beside an operation"},
		{life->full_checkpoint_ms && !live,
		 "a full checkpoint is planned, but no Flink is running"},
	};

	return first_broken(claims, ARRAY_LEN(claims));
}

static const char *check_phase(const struct lifecycle *life)
{
	bool live = life->launch_step == LAUNCH_LIVE;
	bool stands = life->fenced || life->foreign || life->terminating;
	const struct promise claims[] = {
		{life->phase == PHASE_RUNNING && !live, "the job is running, but no Flink is"},
		{is_parked(life->phase) && life->launch_step != LAUNCH_NONE,
		 "the phase is parked, but a launch is in progress"},
		{(life->phase == PHASE_HOLDING || life->phase == PHASE_FAILED) &&
			 life->cause == CAUSE_NONE,
		 "there is no launch and no cause"},
		{life->phase == PHASE_RESOLVING && !stands && !life->observing && !life->retry_ms,
		 "resolving, but no observation or retry is planned"},
		{life->observe_again && !life->observing,
		 "an observation is repeated that is not in flight"},
		{life->phase == PHASE_TERMINATING && !life->terminating,
		 "the container is ending without a request"},
		{life->left && !life->terminating && !life->config->exit_when_finished,
		 "drey has left without a request"},
		{life->exit_ms && live, "the container must exit while Flink is running"},
	};

	return first_broken(claims, ARRAY_LEN(claims));
}

static const char *check_fence(const struct lifecycle *life)
{
	/* the exit waits for a while, then continues without the write */
	size_t waiting = life->deferred.count - (find_deferred(life, EFFECT_EXIT) != NULL);
	const struct promise claims[] = {
		{life->fenced && waiting,
		 "another drey owns the journal, but an effect waits for a write to it"},
		{life->fenced && life->requested != life->acknowledged,
		 "another drey owns the journal, but it is being written"},
		{life->fenced && life->launch_step == LAUNCH_LIVE && !life->kill_ms,
		 "another drey owns the journal, but Flink keeps running"},
		{life->fenced && !life->terminating && life->cause != CAUSE_JOURNAL_TAKEN,
		 "another drey owns the journal, but the phase does not show it"},
		{life->fenced && (life->poll_ms || life->retry_ms || life->savepoint_ms),
		 "another drey owns the journal, but work is planned"},
	};

	return first_broken(claims, ARRAY_LEN(claims));
}

static const char *check_deadlines(const struct lifecycle *life)
{
	bool live = life->launch_step == LAUNCH_LIVE;
	const struct promise claims[] = {
		{!live && (life->poll_ms || life->polling),
		 "the job is polled, but no Flink is running"},
		{!live && (life->ready_ms || life->tasks_ms),
		 "the tasks have a deadline, but no Flink is running"},
		{!live && (life->savepoint_ms || (life->check_ms && !life->foreign &&
						  life->config->handover.mode == HANDOVER_OFF &&
						  !(life->config->lease_ms && life->observing))),
		 "a savepoint or a check of the journal is planned, but no Flink is running"},
		{life->kill_ms && !live && !life->foreign,
		 "Flink must be killed, but none is running"},
		{life->lease_end_ms && life->launch_step < LAUNCH_STARTING && !life->foreign,
		 "a lease is running, but no Flink is"},
		{life->own->last_resort.step && !live,
		 "the newest checkpoint is read before a stop, but no Flink is running"},
		{life->rescale.again_ms && !live,
		 "another parallelism is asked for again, but no Flink is running"},
		{(life->look_ms || life->own->stop_follows) && !life->terminating,
		 "the end of the container is prepared, but it is not ending"},
	};

	return first_broken(claims, ARRAY_LEN(claims));
}

const char *lifecycle_check(const struct lifecycle *life)
{
	static const char *(*const checks[])(const struct lifecycle *) = {
		check_journal_write, check_process, check_operation, check_checkpoint,
		asks_check,          check_phase,   check_fence,     check_deadlines};
	const char *broken = NULL;

	for (size_t i = 0; i < ARRAY_LEN(checks) && !broken; i++)
		broken = checks[i](life);
	return broken;
}
