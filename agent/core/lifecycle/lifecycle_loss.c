/*
 * State that a launch gives up, because it is damaged: recorded with the launch, said until it is settled.
 */
#include "core/lifecycle/lifecycle_loss.h"

#include <inttypes.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_notice.h"
#include "core/report/condition_loss.h"

static void say(struct lifecycle *life, bool ok, const char *lost_path, const char *text)
{
	struct notice *notice = tell(life, NOTICE_STATE_LOST);

	note(life, ok ? NOTE_INFO : NOTE_WARNING, "%s", text);
	journal_add_log(&life->journal, life->now_unix_ms, text);
	notice->ok = ok;
	notice->path = xstrdup(lost_path);
	notice->text = xstrdup(text);
}

static void settle(struct lifecycle *life, const char *how, const char *what)
{
	struct state_loss *loss = &life->journal.loss;
	char *text = xasprintf("the loss of state by launch %" PRId64 " is settled: %s%s",
			       loss->launch, how, what);

	say(life, true, loss->lost_path, text);
	state_loss_release(loss);
	life->want_write = true;
	free(text);
}

/* The same snapshot is lost again, because a start from before it has failed: no further loss. */
static bool is_same(const struct state_loss *loss, const struct snapshot *lost)
{
	return loss->unix_ms && snapshot_same_path(loss->lost_path, lost->path);
}

static void record(struct lifecycle *life, const struct decision *decision,
		   const struct facts *facts, const struct launch *launch)
{
	const struct candidate *lost = &facts->candidates[decision->loss.candidate];
	struct state_loss *loss = &life->journal.loss;
	bool same = is_same(loss, &lost->snapshot);
	int64_t before_ms = loss->total_ms - (same ? loss->ms : 0);
	int64_t before = loss->count - (same ? 1 : 0);
	char text[512];

	xstrset(&loss->lost_path, lost->snapshot.path);
	loss->lost_kind = lost->snapshot.kind;
	loss->lost_checkpoint_id = lost->snapshot.checkpoint_id;
	loss->lost_unix_ms = decision->loss.unix_ms;
	xstrset(&loss->path, launch->restore_path);
	loss->kind = launch->restore_kind;
	loss->checkpoint_id = launch->restore_checkpoint_id;
	loss->completed_unix_ms = launch->restore_completed_unix_ms;
	xstrset(&loss->reason, lost->detail);
	loss->ms = decision->loss.ms;
	loss->total_ms = before_ms + loss->ms;
	loss->count = before + 1;
	loss->launch = launch->number;
	if (same)
		return;
	loss->unix_ms = life->now_unix_ms;
	loss_sentence(loss, text, sizeof(text));
	say(life, false, loss->lost_path, text);
}

void loss_begin(struct lifecycle *life, const struct decision *decision, const struct facts *facts,
		const struct launch *launch)
{
	const struct state_loss *loss = &life->journal.loss;

	/* MUT: state is lost and nobody is told */
	if (decision->loss.is_one)
		record(life, decision, facts, launch);
	else if (loss->unix_ms && snapshot_same_path(launch->restore_path, loss->lost_path))
		settle(life, "the lost snapshot can be used again: ", launch->restore_path);
}

void loss_saved(struct lifecycle *life, const char *savepoint, int64_t begun_unix_ms)
{
	const struct state_loss *loss = &life->journal.loss;

	if (loss->unix_ms && begun_unix_ms >= loss->unix_ms)
		settle(life, "a newer savepoint is complete: ", savepoint);
}

void loss_acknowledge(struct lifecycle *life, const char *nonce)
{
	if (!nonce || journal_is_consumed(&life->journal, nonce))
		return;
	journal_consume(&life->journal, nonce);
	life->want_write = true;
	if (life->journal.loss.unix_ms)
		settle(life, "acknowledged", "");
}

const char *lifecycle_refuses_acknowledge(const struct lifecycle *life)
{
	return life->journal.loss.unix_ms ? NULL
					  : "there is nothing to acknowledge: no state was lost";
}
