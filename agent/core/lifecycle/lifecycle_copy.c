/*
 * The journal is lost, and its copy in storage takes its place (core/resolve/resolve_copy.c). From then on it
 * is a journal from a backup: all that is observed next is judged by the rules for those.
 */
#include "core/lifecycle/lifecycle_copy.h"

#include "base/mem.h"
#include "core/journal/journal_copy.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_fence.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_notice.h"
#include "core/lifecycle/lifecycle_resolve.h"
#include "core/lifecycle/lifecycle_settle.h"

/* No Flink of this container is running, or nothing would have been observed. */
static void end_last_launch(struct lifecycle *life)
{
	struct launch *launch = journal_launch(&life->journal);

	if (!launch || launch->ended_unix_ms)
		return;
	launch->ended_unix_ms = life->now_unix_ms;
	launch->wait_status = -1;
}

void copy_adopt(struct lifecycle *life, const struct decision *decision, struct facts *facts)
{
	const struct launch *launch;

	/* the number of the write that is under way must not change */
	if (life->requested != life->acknowledged) {
		look_again(life);
		return;
	}
	journal_copy_take(&life->journal, facts->copy);
	life->requested = life->acknowledged = life->journal.sequence;
	takeover_begin(life);
	end_last_launch(life);
	launch = journal_launch(&life->journal);
	life->ended = end_on_record(&life->journal);
	life->noted_checkpoint_id = launch ? launch->last_checkpoint_id : 0;
	life->launch_void = false;
	life->want_write = true;
	note(life, NOTE_WARNING, "%s", decision->reason);
	journal_add_log(&life->journal, life->now_unix_ms, decision->reason);
	operation_flink_gone(life);
	resolve_start(life, "the journal was taken from its copy in storage");
}
