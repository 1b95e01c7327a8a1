/*
 * The code of a job may set that Flink deletes its checkpoints when the job is cancelled, or its Flink shut
 * down: then they are gone before the next launch could start from them. Such a Flink is ended by a stop with
 * savepoint, or by SIGKILL, which leaves it no time to delete anything.
 */
#include "core/lifecycle/lifecycle_kept.h"

#include "base/mem.h"
#include "core/lifecycle/lifecycle_operation.h"

bool cancel_by_kill(struct lifecycle *life)
{
	/* MUT: a cancel deletes the checkpoints of the job */
	if (journal_launch_const(&life->journal)->job_ended ||
	    !effective_cancel_deletes(journal_settings(&life->journal)))
		return false;
	life->asking = false;
	operation_stopped(life,
			  "ended without a cancel, with which Flink would delete the checkpoints");
	return true;
}
