/*
 * The journal: it is written, one write at a time, and what waited for a write comes out when that was acknowledged.
 * A write that fails lets nothing out.
 */
#include "core/lifecycle/lifecycle_recorded.h"

#include "base/backoff.h"
#include "base/mem.h"
#include "core/lifecycle/lifecycle_asks.h"
#include "core/lifecycle/lifecycle_cleanup.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_fence.h"
#include "core/lifecycle/lifecycle_handover_facts.h"
#include "core/lifecycle/lifecycle_handover_give.h"
#include "core/lifecycle/lifecycle_started.h"
#include "core/lifecycle/lifecycle_state.h"

#define JOURNAL_RETRY_FIRST_MS 1000
#define JOURNAL_RETRY_MAX_MS   30000

/* ---- the write ---- */

static void checkpoint_noted(struct lifecycle *life)
{
	const struct launch *launch = journal_launch(&life->journal);

	life->noted_checkpoint_id = launch ? launch->last_checkpoint_id : 0;
	life->own->noted_ms = life->now_ms;
	life->note_ms = 0;
}

/* One write at a time; changes made meanwhile go into the next one. */
void flush_journal(struct lifecycle *life)
{
	if (!life->want_write || life->fenced || life->requested != life->acknowledged ||
	    life->journal_retry_ms || !handover_may_write(life))
		return;
	life->want_write = false;
	life->requested = ++life->journal.sequence;
	life->own->write_sent_ms = life->now_ms;
	checkpoint_noted(life);
	for (size_t i = 0; i < life->deferred.count; i++)
		if (!life->deferred.list[i].sequence)
			life->deferred.list[i].sequence = life->requested;
	emit(life, EFFECT_WRITE_JOURNAL)->sequence = life->requested;
}

/* ---- its answer ---- */

/* Release, in order, the effects that waited for the journal write that was just acknowledged. */
static void release_deferred(struct lifecycle *life)
{
	for (size_t i = 0; i < life->deferred.count;) {
		struct effect *effect = &life->deferred.list[i];

		if (!effect->sequence || effect->sequence > life->acknowledged) {
			i++;
			continue;
		}
		if (effect->type == EFFECT_LAUNCH) {
			effects_remove(&life->deferred, i);
			launch_written(life);
			continue;
		}
		/* MUT: the end of Flink does not wait for its cleanup */
		if (effect->type == EFFECT_SIGNAL && cleanup_begin(life)) {
			effects_remove(&life->deferred, i);
			continue;
		}
		if (effect->type == EFFECT_TRIGGER)
			ask_sent(life, &life->operation);
		if (effect->type == EFFECT_SIGNAL)
			end_signal_goes_out(life, effect);
		if (effect->type == EFFECT_EXIT) {
			life->left = true;
			life->exit_ms = 0;
		}
		effects_move(&life->deferred, i, life->out);
	}
}

void on_journal_written(struct lifecycle *life, const struct event *event)
{
	if (event->journal.sequence != life->requested)
		return; /* a late answer to an abandoned write */
	life->acknowledged = life->requested;
	life->has_written = true;
	if (life->journal_broken)
		note(life, NOTE_INFO, "the journal is writable again");
	life->journal_broken = false;
	xstrset(&life->journal_error, NULL);
	life->own->journal_failures = 0;
	journal_is_ours(life,
			life->own->write_sent_ms); /* it proves that no other drey has written */
	if (life->takeover_pending)
		life->takeover_ms = life->now_ms + handover_takeover_ms(life);
	life->takeover_pending = false;
	life->check_ms = 0;
	handover_written(life);
	release_deferred(life);
}

void on_journal_failed(struct lifecycle *life, const struct event *event)
{
	if (event->journal.sequence != life->requested)
		return;
	life->acknowledged = life->requested;
	/* MUT: a conflict of the journal counts as a failed write */
	if (event->journal.conflict) {
		fence(life, event->journal.error);
		return;
	}
	/* Effects that wait for this write must not be released: attach them to the next one. */
	for (size_t i = 0; i < life->deferred.count; i++)
		life->deferred.list[i].sequence = 0;
	life->want_write = true;
	life->own->journal_failures++;
	life->journal_retry_ms =
		life->now_ms + backoff_ms(JOURNAL_RETRY_FIRST_MS, JOURNAL_RETRY_MAX_MS,
					  life->own->journal_failures);
	if (!life->journal_broken)
		note(life, NOTE_ERROR,
		     "the journal cannot be written; no new launch until it can: %s",
		     event->journal.error);
	life->journal_broken = true;
	xstrset(&life->journal_error, event->journal.error);
	end_flink_unrecorded(life);
}

void on_journal_seen(struct lifecycle *life, const struct event *event)
{
	bool lost = event->journal.lost;

	life->checking = false;
	if (event->journal.unknown || life->fenced)
		return;
	/* a missing or restored journal may be taken over by another drey at any time */
	if (!lost)
		journal_is_ours(life, life->check_sent_ms);
	/* a write in progress, or a retried one, repairs it */
	if (!lost || life->requested != life->acknowledged || life->journal_broken)
		return;
	note(life, NOTE_WARNING,
	     "the journal was deleted or replaced by an older one: writing it again");
	life->want_write = true;
}
