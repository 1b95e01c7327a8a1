/*
 * All deadlines: when the next one comes, and what is done then.
 */
#include "core/lifecycle/lifecycle_timers.h"

#include <signal.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_blockers.h"
#include "core/lifecycle/lifecycle_cleanup.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_fence.h"
#include "core/lifecycle/lifecycle_handover.h"
#include "core/lifecycle/lifecycle_lease.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_operation_answer.h"
#include "core/lifecycle/lifecycle_take_checkpoint.h"
#include "core/lifecycle/lifecycle_tasks.h"

static bool due(struct lifecycle *life, int64_t *deadline_ms)
{
	if (!*deadline_ms || life->now_ms < *deadline_ms)
		return false;
	*deadline_ms = 0;
	return true;
}

void on_tick(struct lifecycle *life)
{
	if (due(life, &life->journal_retry_ms))
		life->want_write = true;
	if (due(life, &life->note_ms))
		life->want_write = true;
	if (due(life, &life->retry_ms) && !life->observing)
		observe(life);
	if (due(life, &life->poll_ms))
		poll_now(life);
	due(life, &life->stop_retry_ms);
	due(life, &life->savepoint_retry_ms);
	due(life, &life->disposal_ms);
	due(life, &life->rescale.again_ms);
	/* slightly early if a poll wakes up then anyway */
	if (life->polling && life->polled_ms == life->now_ms && life->check_ms &&
	    life->check_ms - life->now_ms < life->config->journal_check_ms / 6)
		life->check_ms = life->now_ms;
	if (due(life, &life->check_ms))
		check_journal(life);
	if (due(life, &life->lease_end_ms))
		lease_ran_out(life);
	operation_tick(life);
	checkpoint_tick(life);
	if (due(life, &life->tasks_ms))
		watch_tasks(life);
	if (due(life, &life->ready_ms))
		not_ready(life);
	/* MUT: the cleanup is awaited forever */
	if (due(life, &life->clean_ms))
		cleanup_gives_up(life);
	if (due(life, &life->handover.deadline_ms))
		handover_deadline(life);
	due(life, &life->handover.ask_again_ms);
	due(life, &life->handover.held_kill_ms);
	due(life, &life->transition.again_ms);
	/* MUT: SIGKILL never comes */
	if (due(life, &life->kill_ms) && flink_is_live(life)) {
		kill_flink(life);
		note(life, NOTE_WARNING, "Flink did not exit in time; sending SIGKILL");
	}
	if (due(life, &life->exit_ms)) {
		withdraw(life, EFFECT_EXIT);
		emit(life, EFFECT_EXIT)->status = end_status(life);
		life->left = true;
	}
}

int64_t lifecycle_deadline_ms(const struct lifecycle *life)
{
	enum { SAVEPOINT, FULL_CHECKPOINT };
	const int64_t all[] = {life->savepoint_ms,
			       life->checkpoint.due_ms,
			       life->checkpoint.poll_ms,
			       life->checkpoint.accept_by_ms,
			       life->poll_ms,
			       life->retry_ms,
			       life->ready_ms,
			       life->kill_ms,
			       life->journal_retry_ms,
			       life->stop_retry_ms,
			       life->savepoint_retry_ms,
			       life->operation_poll_ms,
			       life->operation_deadline_ms,
			       life->exit_ms,
			       life->check_ms,
			       life->lease_end_ms,
			       life->disposal_ms,
			       life->rescale.again_ms,
			       life->note_ms,
			       life->tasks_ms,
			       life->look_ms,
			       life->clean_ms,
			       life->handover.deadline_ms,
			       life->handover.ask_again_ms,
			       life->handover.held_kill_ms,
			       life->transition.again_ms,
			       life->postponed_ms};
	int64_t next = -1;

	if (life->contradiction)
		return life->check_ms ? life->check_ms : -1;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		/* what may not begin now (a requested stop goes first) is no reason to wake up */
		if (i == SAVEPOINT && blockers(life, BEGIN_PERIODIC))
			continue;
		if (i == FULL_CHECKPOINT && blockers(life, BEGIN_FULL))
			continue;
		if (all[i] && (next < 0 || all[i] < next))
			next = all[i];
	}
	return next;
}
