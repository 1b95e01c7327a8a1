/*
 * The job has ended, the journal has it, and Flink still has work to do for it: it archives the job,
 * records its result, removes its HA data, its blobs and the checkpoints that it does not retain,
 * and then marks the result as clean. A SIGTERM cuts that short, and a Flink that gets one in the
 * middle of it may hang until it halts itself. So it comes after the mark, which storage shows.
 *
 * After the mark the process has nothing left to do but to close its servers, for up to 2 s. Where
 * the next start waits for that, it is killed: when the container ends, or the job is restarted. Its
 * leader lock is released as that of any dead Flink. Otherwise it gets the SIGTERM, because nothing
 * is won, and the program of the user may have something to do at the end of the JVM.
 */
#include "core/lifecycle/lifecycle_cleanup.h"

#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_look.h"

/* Flink takes less than a second for it; many files of shared state may take longer than any wait. */
#define CLEANUP_PATIENCE_MS 3000

/* It is part of the time that Flink has for its end. */
static int64_t patience_ms(const struct lifecycle *life)
{
	int64_t share_ms = life->config->kill_after_ms / 4;

	return share_ms < CLEANUP_PATIENCE_MS ? share_ms : CLEANUP_PATIENCE_MS;
}

static bool next_start_waits(const struct lifecycle *life)
{
	const struct operation *operation = &life->journal.operation;

	/* MUT: a Flink is killed although nothing waits for its end */
	return life->terminating ||
	       (operation->kind == OPERATION_STOP && operation->reason == REASON_RESTART);
}

bool cleanup_begin(struct lifecycle *life)
{
	const struct launch *launch = journal_launch(&life->journal);

	if (!launch || !launch->ha_cluster_id || !launch->job_result_path ||
	    !job_state_is_final(life->seen.state) || life->launch_step != LAUNCH_LIVE ||
	    life->fenced)
		return false;
	life->clean_ms = life->now_ms + patience_ms(life);
	poll_now(life);
	return true;
}

void cleanup_seen(struct lifecycle *life, enum cleanup cleanup)
{
	if (!life->clean_ms)
		return;
	/* MUT: Flink is killed while it cleans up */
	if (cleanup == CLEANUP_DONE && next_start_waits(life)) {
		note(life, NOTE_INFO, "Flink has cleaned up after its job: ending it at once");
		kill_flink(life);
	} else if (cleanup != CLEANUP_PENDING) {
		terminate_flink(life);
	}
}

void cleanup_gives_up(struct lifecycle *life)
{
	note(life, NOTE_INFO,
	     "Flink has not recorded in time that it has cleaned up after its job");
	terminate_flink(life);
	life->kill_ms -= patience_ms(life);
}
