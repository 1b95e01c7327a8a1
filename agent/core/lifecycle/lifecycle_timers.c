/*
 * All deadlines: when the next one comes, and what is done then. To add one: a member of the type due_time, and a row in
 * timers[]. Its order is the order in which they are looked at when several have come.
 */
#include "core/lifecycle/lifecycle_timers.h"

#include <stddef.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_asks.h"
#include "core/lifecycle/lifecycle_blockers.h"
#include "core/lifecycle/lifecycle_cleanup.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_fence.h"
#include "core/lifecycle/lifecycle_handover.h"
#include "core/lifecycle/lifecycle_hang.h"
#include "core/lifecycle/lifecycle_lease.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_tasks.h"

/* ---- what is done then ---- */

static void write_journal(struct lifecycle *life)
{
	life->want_write = true;
}

static void observe_again(struct lifecycle *life)
{
	if (!life->observing)
		observe(life);
}

static void not_killed_yet(struct lifecycle *life)
{
	if (!flink_is_live(life))
		return;
	/* MUT: SIGKILL never comes */
	kill_flink(life);
	note(life, NOTE_WARNING, "Flink did not exit in time; sending SIGKILL");
}

static void exit_unwritten(struct lifecycle *life)
{
	withdraw(life, EFFECT_EXIT);
	emit(life, EFFECT_EXIT)->status = end_status(life);
	life->left = true;
}

/* ---- when ---- */

/* A poll wakes up now anyway. */
static bool check_is_near(const struct lifecycle *life)
{
	return life->polling && life->polled_ms == life->now_ms &&
	       life->check_ms - life->now_ms < life->config->journal_check_ms / 6;
}

/* What may not begin now (a requested stop goes first) is no reason to wake up. */
static bool savepoint_must_wait(const struct lifecycle *life)
{
	return blockers(life, BEGIN_PERIODIC);
}

static bool full_checkpoint_must_wait(const struct lifecycle *life)
{
	return blockers(life, BEGIN_FULL);
}

/* ---- the list ---- */

#define AT(member) .name = #member, .at = offsetof(struct lifecycle, member)

static const struct timer {
	const char *name; /* of the member */
	size_t at;        /* where it is */
	/* what is done; the deadline is 0 by then. NULL: nothing but that it is 0, and all is decided anew */
	void (*then)(struct lifecycle *life);
	bool (*early)(const struct lifecycle *life); /* it comes now, although it is not time yet */
	bool (*waits)(const struct lifecycle *life); /* it is no reason to wake up */
	bool stays;                                  /* who acts on it sets it to 0 */
} timers[] = {
	{AT(journal_retry_ms), .then = write_journal},
	{AT(note_ms), .then = write_journal},
	{AT(retry_ms), .then = observe_again},
	{AT(poll_ms), .then = poll_now},
	{AT(stop_retry_ms)},
	{AT(savepoint_retry_ms)},
	{AT(disposal_ms)},
	{AT(rescale.again_ms)},
	{AT(check_ms), .then = check_journal, .early = check_is_near},
	{AT(lease_end_ms), .then = lease_ran_out},
	{AT(asks_ms), .then = asks_due},
	{AT(tasks_ms), .then = watch_tasks},
	{AT(ready_ms), .then = not_ready},
	{AT(seen.hang.due_ms), .then = hang_due},
	{AT(clean_ms), .then = cleanup_gives_up},
	{AT(handover.deadline_ms), .then = handover_deadline},
	{AT(handover.ask_again_ms)},
	{AT(handover.held_kill_ms)},
	{AT(transition.again_ms)},
	{AT(kill_ms), .then = not_killed_yet},
	{AT(exit_ms), .then = exit_unwritten},
	{AT(savepoint_ms), .waits = savepoint_must_wait, .stays = true},
	{AT(full_checkpoint_ms), .waits = full_checkpoint_must_wait, .stays = true},
	{AT(look_ms), .stays = true},
	{AT(postponed_ms), .stays = true},
};

static int64_t deadline_of(const struct lifecycle *life, const struct timer *timer)
{
	return *(const due_time *)((const char *)life + timer->at);
}

static bool has_come(const struct lifecycle *life, const struct timer *timer)
{
	int64_t deadline_ms = deadline_of(life, timer);

	if (!deadline_ms || timer->stays)
		return false;
	return life->now_ms >= deadline_ms || (timer->early && timer->early(life));
}

void on_tick(struct lifecycle *life)
{
	for (size_t i = 0; i < ARRAY_LEN(timers); i++) {
		if (!has_come(life, &timers[i]))
			continue;
		*(due_time *)((char *)life + timers[i].at) = 0;
		if (timers[i].then)
			timers[i].then(life);
	}
}

int64_t lifecycle_deadline_ms(const struct lifecycle *life)
{
	int64_t next = -1;

	if (life->contradiction)
		return life->check_ms ? life->check_ms : -1;
	for (size_t i = 0; i < ARRAY_LEN(timers); i++) {
		int64_t deadline_ms = deadline_of(life, &timers[i]);

		if (deadline_ms && (next < 0 || deadline_ms < next) &&
		    !(timers[i].waits && timers[i].waits(life)))
			next = deadline_ms;
	}
	return next;
}

bool timers_row(size_t index, struct lifecycle *life, const char **ret_name,
		due_time **ret_deadline_ms)
{
	if (index >= ARRAY_LEN(timers))
		return false;
	*ret_name = timers[index].name;
	*ret_deadline_ms = (due_time *)((char *)life + timers[index].at);
	return true;
}
