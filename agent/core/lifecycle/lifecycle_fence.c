/*
 * Two dreys. They share the journal: the last one to write it owns the application.
 *
 * The one that has lost it ends its Flink; but it may notice late, or be cut off. The new owner
 * waits for that, from its own first write and by its own clock, because after that write the other
 * one can no longer read that it is the owner. With a lease (strict fencing) a Flink lives no
 * longer than one lease after such a read was requested, whatever happens to network, agent and
 * wall clock; so after that time it has ended.
 */
#include "core/lifecycle/lifecycle_fence.h"

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_handover_facts.h"
#include "core/lifecycle/lifecycle_lease.h"
#include "core/lifecycle/lifecycle_take_checkpoint.h"

void fence(struct lifecycle *life, const char *why)
{
	if (life->fenced || life->handover.given)
		return;
	life->fenced = true;
	effects_clear(&life->deferred);
	life->retry_ms = life->poll_ms = life->savepoint_ms = life->stop_retry_ms = 0;
	life->operation.poll_ms = life->operation.deadline_ms = life->ready_ms = 0;
	life->note_ms = life->tasks_ms = 0;
	checkpoint_forget(life);
	enter_because(
		life, PHASE_HOLDING, CAUSE_JOURNAL_TAKEN,
		"fenced: another drey writes this application's journal (%s); this one acts no more and kills its Flink",
		why);
	/* MUT: a fenced drey does not kill its Flink */
	if (flink_is_live(life))
		kill_flink(life);
}

/* A deleted Pod writes until its end, and its successor has started by then: the last write of the
 * old one may come between the read and the first write of the new one, and then the old one exits.
 * Fencing the new one would leave the application without an owner. */
bool lifecycle_is_newcomer(const struct lifecycle *life)
{
	return !life->has_written && !life->fenced && !life->terminating && !life->foreign &&
	       life->launch_step <= LAUNCH_WRITING;
}

/* ---- taking over ---- */

void takeover_begin(struct lifecycle *life)
{
	const struct launch *launch = journal_launch(&life->journal);
	bool open = launch && !launch->never_started &&
		    (!launch->ended_unix_ms || launch->wait_status < 0);

	if (!handover_takeover_ms(life) || !open || !is_elsewhere(life, launch))
		return;
	life->takeover_pending = true;
	life->want_write = true;
}

/* ---- checking the journal, and the lease ---- */

void journal_is_ours(struct lifecycle *life, int64_t asked_ms)
{
	if (asked_ms <= life->owned_ms || life->fenced)
		return;
	life->owned_ms = asked_ms;
	if (life->config->lease_ms)
		lease_extend(life);
	/* MUT: a journal that was read again starts nothing before the next retry */
	if (life->config->lease_ms && lease_is_awaited(life)) {
		life->retry_ms = life->now_ms; /* with the same pauses: it may be too late again */
		life->hurried = true;
	}
}

void check_journal(struct lifecycle *life)
{
	if (life->checking)
		return;
	life->checking = true;
	life->check_sent_ms = life->now_ms;
	/* MUT: the journal is never checked for another drey */
	emit(life, EFFECT_CHECK_JOURNAL);
}

void watch_journal(struct lifecycle *life)
{
	const struct lifecycle_config *config = life->config;
	bool runs = life->launch_step >= LAUNCH_STARTING || life->foreign;
	bool live = runs && !life->fenced && !life->handover.given;
	/* a launch that is decided on these facts needs a proof that is no older than they are */
	bool decides = config->lease_ms && life->observing && !life->fenced;
	bool idle = handover_must_check(life) || decides;

	if ((!live || life->launch_step == LAUNCH_STARTING) && !idle)
		life->check_ms = 0;
	else if (!config->journal_check_ms)
		life->check_ms = 0;
	else if (!life->check_ms)
		life->check_ms = life->now_ms + config->journal_check_ms;
	lease_watch(life, live);
}
