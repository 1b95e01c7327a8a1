/*
 * What is always true of the machine between two steps. Each claim is a promise that other code
 * relies on without checking it; a machine that breaks one has a bug, and its next decision
 * could be any. A claim must hold for every history that the world can produce: one that is
 * only usual does not belong here.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_internal.h"

struct claim {
	bool broken;
	const char *what;
};

static const char *first_broken(const struct claim *claims, size_t count)
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

/* NULL = none of this type waits for the journal. */
static const struct effect *find_deferred(const struct lifecycle *life, enum effect_type type)
{
	for (size_t i = 0; i < life->deferred.count; i++)
		if (life->deferred.list[i].type == type)
			return &life->deferred.list[i];
	return NULL;
}

/* An effect that waits for a write that is neither under way nor to come would wait for ever, and
 * one that waits for a write that is done could come out at any time. */
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
	const struct claim claims[] = {
		{life->acknowledged > life->requested,
		 "a journal write is acknowledged that was never requested"},
		{life->requested != life->journal.sequence,
		 "the journal does not have the number of the write that was requested last"},
		{life->requested - life->acknowledged > 1, "two journal writes are under way"},
		{waits_for_no_write(life), "an effect waits for a journal write that never comes"},
		{life->journal_retry_ms && !life->journal_broken && !life->fenced,
		 "a journal write is to be repeated that has not failed"},
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
	bool end_comes = life->kill_ms || find_deferred(life, EFFECT_SIGNAL);
	const struct claim claims[] = {
		{some && !launch, "a launch is under way that is not in the journal"},
		{decided && launch && launch->ended_unix_ms,
		 "a launch is under way that has ended in the journal"},
		{live && launch && !launch->started_unix_ms,
		 "Flink runs, and in the journal it was never started"},
		{some && !life->fenced && !phase_has_flink(life),
		 "a launch is under way in a phase that has none"},
		{decided && life->journal.outcome.kind != OUTCOME_NONE,
		 "a launch is under way although the journal has an outcome"},
		{waits != (life->launch_step == LAUNCH_WRITING && !life->fenced),
		 "the launch that is being written down is not the one that waits for that"},
		{life->foreign && (some || !*life->foreign_id),
		 "a Flink runs that is both ours and unknown, or has no id"},
		{life->end_wanted && life->launch_step < LAUNCH_STARTING && !life->foreign,
		 "Flink is to end, and none runs"},
		{life->end_wanted && live && !end_comes, "Flink is to end, and nothing ends it"},
	};

	return first_broken(claims, ARRAY_LEN(claims));
}

static bool is_step_of(enum operation_step step, enum operation_kind kind)
{
	switch (step) {
	case STEP_POLLING:
	case STEP_INSPECTING:
	case STEP_SETTLING:
		return kind == OPERATION_SAVEPOINT || kind == OPERATION_STOP;
	case STEP_ENDING:
		return kind == OPERATION_STOP || kind == OPERATION_CANCEL;
	default:
		return true;
	}
}

static const char *check_operation(const struct lifecycle *life)
{
	const struct operation *operation = &life->journal.operation;
	const struct launch *launch = journal_launch_const(&life->journal);
	enum operation_step step = life->step;
	bool asks = step != STEP_NONE && step != STEP_SETTLING;
	const struct effect *trigger = find_deferred(life, EFFECT_TRIGGER);
	const struct claim claims[] = {
		{step != STEP_NONE && operation->kind == OPERATION_NONE,
		 "an operation is under way that is not in the journal"},
		{asks && !*operation->trigger_id, "an operation is under way without a trigger id"},
		{!is_step_of(step, operation->kind), "an operation is in a step of another kind"},
		{asks && life->launch_step != LAUNCH_LIVE,
		 "an operation is under way, and no Flink runs"},
		{asks && launch && strcmp(operation->job_id, launch->job_id) != 0,
		 "the operation under way is of another job than the one that runs"},
		{step == STEP_SETTLING && life->launch_step >= LAUNCH_STARTING,
		 "a Flink was started before the operation of the last one was settled"},
		{step == STEP_INSPECTING && !life->stop_location,
		 "a savepoint is inspected that has no location"},
		{trigger && (!asks || strcmp(trigger->id, operation->trigger_id) != 0),
		 "a request to Flink waits that no operation makes"},
		{life->asking && !asks, "an answer is awaited, and there is no operation"},
		{life->operation_poll_ms && step != STEP_TRIGGERING && step != STEP_POLLING,
		 "Flink is to be asked about an operation that is not under way"},
		{life->operation_deadline_ms && step == STEP_NONE && !life->fenced,
		 "an operation has a deadline, and there is none"},
	};

	return first_broken(claims, ARRAY_LEN(claims));
}

static const char *check_phase(const struct lifecycle *life)
{
	bool live = life->launch_step == LAUNCH_LIVE;
	bool stands = life->fenced || life->foreign || life->terminating;
	const struct claim claims[] = {
		{life->phase == PHASE_RUNNING && !live, "the job is running, and no Flink runs"},
		{is_parked(life->phase) && life->launch_step != LAUNCH_NONE,
		 "nothing is to run, and a launch is under way"},
		{(life->phase == PHASE_HOLDING || life->phase == PHASE_FAILED) &&
			 life->cause == CAUSE_NONE,
		 "no start, and no cause is given"},
		{life->phase == PHASE_RESOLVING && !stands && !life->observing && !life->retry_ms,
		 "a start is looked for, and nothing goes on with that"},
		{life->observe_again && !life->observing,
		 "an observation is to be repeated that is not under way"},
		{life->phase == PHASE_TERMINATING && !life->terminating,
		 "the container is ending, and was never asked to"},
		{life->left && !life->terminating && !life->config->exit_when_finished,
		 "drey has left, and was never asked to"},
		{life->exit_ms && live, "the container is to exit while Flink runs"},
	};

	return first_broken(claims, ARRAY_LEN(claims));
}

static const char *check_fence(const struct lifecycle *life)
{
	/* the exit waits for a while, and then does without the write */
	size_t waiting = life->deferred.count - (find_deferred(life, EFFECT_EXIT) != NULL);
	const struct claim claims[] = {
		{life->fenced && waiting,
		 "the journal is another drey's, and an effect waits for a write to it"},
		{life->fenced && life->requested != life->acknowledged,
		 "the journal is another drey's, and it is being written"},
		{life->fenced && life->launch_step == LAUNCH_LIVE && !life->kill_ms,
		 "the journal is another drey's, and Flink runs on"},
		{life->fenced && !life->terminating && life->cause != CAUSE_JOURNAL_TAKEN,
		 "the journal is another drey's, and the phase does not say so"},
		{life->fenced && (life->poll_ms || life->retry_ms || life->savepoint_ms),
		 "the journal is another drey's, and work is planned"},
	};

	return first_broken(claims, ARRAY_LEN(claims));
}

static const char *check_deadlines(const struct lifecycle *life)
{
	bool live = life->launch_step == LAUNCH_LIVE;
	const struct claim claims[] = {
		{!live && (life->poll_ms || life->polling), "the job is polled, and no Flink runs"},
		{!live && (life->ready_ms || life->tasks_ms),
		 "the tasks are to run by a time, and no Flink runs"},
		{!live && (life->savepoint_ms || life->check_ms),
		 "a savepoint or a check of the journal is planned, and no Flink runs"},
		{life->kill_ms && !live && !life->foreign, "Flink is to be killed, and none runs"},
		{life->lease_end_ms && life->launch_step < LAUNCH_STARTING,
		 "a lease runs, and no Flink"},
		{(life->disposing || life->keeper) && !live,
		 "a savepoint is disposed of, and no Flink runs"},
		{find_deferred(life, EFFECT_DISPOSE) && !life->disposing,
		 "a disposal waits that is not under way"},
		{(life->look_ms || life->stop_by_ms) && !life->terminating,
		 "the end of the container is prepared, and it is not ending"},
	};

	return first_broken(claims, ARRAY_LEN(claims));
}

const char *lifecycle_check(const struct lifecycle *life)
{
	static const char *(*const checks[])(const struct lifecycle *) = {
		check_journal_write, check_process, check_operation,
		check_phase,         check_fence,   check_deadlines};
	const char *broken = NULL;

	for (size_t i = 0; i < ARRAY_LEN(checks) && !broken; i++)
		broken = checks[i](life);
	return broken;
}
