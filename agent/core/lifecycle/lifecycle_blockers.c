/* What stands in the way of all that begins on the running job. */
#include "core/lifecycle/lifecycle_blockers.h"

#include "base/mem.h"

#define MOST_FACTS 12

/* In the way of each of them. */
static const enum fact always[] = {FACT_NOT_LIVE, FACT_ENDS, FACT_BUSY, FACT_FENCED,
				   FACT_TERMINATES};

static const struct {
	const char *name;
	enum fact waits_for[MOST_FACTS]; /* FACT_NONE: no more */
} activities[ACTIVITIES] = {
	[BEGIN_ANYTHING] = {"anything", {FACT_NONE}},
	/* a requested checkpoint is given up for it, and the job need not be well */
	[BEGIN_STOP] = {"stop",
			{FACT_NOT_RUNNING, FACT_RESCALES, FACT_LAST_RESORT, FACT_STOP_PAUSES,
			 FACT_TRANSITION}},
	/* a person has asked for it: Flink says it if it is not possible */
	[BEGIN_SAVEPOINT] = {"savepoint",
			     {FACT_NOT_RUNNING, FACT_CHECKPOINT, FACT_RESCALES,
			      FACT_SAVEPOINT_PAUSES, FACT_TRANSITION}},
	/* nobody waits for it: it comes after all that was asked for, and only of a job that is well */
	[BEGIN_PERIODIC] = {"periodic savepoint",
			    {FACT_NOT_RUNNING, FACT_JOB_NOT_RUNNING, FACT_TASKS_MISSING,
			     FACT_CHECKPOINT, FACT_RESCALES, FACT_PARKS, FACT_RESTART_WANTED,
			     FACT_TRANSITION, FACT_CUT}},
	[BEGIN_FULL] = {"full checkpoint",
			{FACT_NOT_RUNNING, FACT_JOB_NOT_RUNNING, FACT_TASKS_MISSING,
			 FACT_CHECKPOINT, FACT_RESCALES, FACT_READS_STALLED, FACT_PARKS,
			 FACT_RESTART_WANTED, FACT_TRANSITION}},
	[BEGIN_RESCALE] = {"another parallelism",
			   {FACT_NOT_RUNNING, FACT_NOT_REACHABLE, FACT_JOB_UNSEEN,
			    FACT_JOB_NOT_RUNNING, FACT_HANDOVER}},
	/* a job that does not run is handed over, too: the other version may be the cure */
	[BEGIN_HANDOVER] = {"hand-over", {FACT_LAST_RESORT, FACT_STOP_PAUSES, FACT_PARKS}},
	[BEGIN_HANDOVER_SAVED] = {"hand-over with a savepoint",
				  {FACT_NOT_RUNNING, FACT_JOB_NOT_RUNNING, FACT_TASKS_MISSING,
				   FACT_LAST_RESORT, FACT_STOP_PAUSES, FACT_PARKS}},
	[BEGIN_TRANSITION] = {"step of a blue/green upgrade",
			      {FACT_NOT_RUNNING, FACT_JOB_NOT_RUNNING, FACT_TASKS_MISSING,
			       FACT_LAST_RESORT}},
	[BEGIN_LAST_RESORT] = {"end without a savepoint", {FACT_NOT_RUNNING}},
	[BEGIN_STALL] = {"restart without checkpoints",
			 {FACT_NOT_RUNNING, FACT_NOT_REACHABLE, FACT_PARKS, FACT_DO_NOT_RESTART,
			  FACT_HANDOVER, FACT_JOURNAL_BROKEN}},
	[BEGIN_RETENTION] = {"retention",
			     {FACT_NOT_RUNNING, FACT_NOT_REACHABLE, FACT_JOB_NOT_RUNNING,
			      FACT_DISPOSES, FACT_READS_KEEPER, FACT_DISPOSAL_PAUSES}},
	[BEGIN_DISPOSAL] = {"disposal", {FACT_NOT_RUNNING}},
	/* it is only a check: everything else comes first */
	[BEGIN_REVIEW] = {"review",
			  {FACT_NOT_RUNNING, FACT_LAST_RESORT, FACT_READS_KEEPER,
			   FACT_READS_STALLED, FACT_OBSERVES, FACT_PARKS, FACT_RESTART_WANTED,
			   FACT_JOURNAL_BROKEN}},
};

uint64_t activity_waits_for(enum activity activity)
{
	uint64_t facts = 0;

	if (activity == BEGIN_ANYTHING)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		facts |= fact_bit(always[i]);
	for (size_t i = 0; i < MOST_FACTS && activities[activity].waits_for[i]; i++)
		facts |= fact_bit(activities[activity].waits_for[i]);
	return facts;
}

uint64_t blockers(const struct lifecycle *life, enum activity activity)
{
	return facts_of(life) & activity_waits_for(activity);
}

const char *activity_name(enum activity activity)
{
	return activities[activity].name;
}
