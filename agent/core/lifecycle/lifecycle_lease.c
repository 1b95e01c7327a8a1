/*
 * Until when Flink may run without news. Two leases limit that, each if it is configured: the journal, read
 * as ours (strict fencing, hand-overs), and the lease object that several installations share (core/lease).
 * The one that ends first counts. drey-init knows the time and kills Flink then, whatever has become of the
 * agent; the agent does so a little earlier, to say why.
 *
 * No SIGTERM: it takes time, and the state of this Flink may already belong to another drey.
 */
#include "core/lifecycle/lifecycle_lease.h"

#include <string.h>

#include "base/mem.h"
#include "core/lease/lease.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_look.h"

/* ---- the time ---- */

static int64_t journal_end_ms(const struct lifecycle *life)
{
	return life->config->lease_ms ? life->owned_ms + life->config->lease_ms : INT64_MAX;
}

static int64_t object_end_ms(const struct lifecycle *life)
{
	return life->config->object_lease_ms ? life->leased_ms + life->config->object_lease_ms
					     : INT64_MAX;
}

static int64_t lease_end_ms(const struct lifecycle *life)
{
	int64_t journal_ms = journal_end_ms(life), object_ms = object_end_ms(life);

	return journal_ms < object_ms ? journal_ms : object_ms;
}

/* drey-init still has the previous agent's time. */
void lease_begin(struct lifecycle *life)
{
	char id[JOB_ID_BYTES];

	life->owned_ms = life->now_ms;
	if (!life->config->object_lease_ms)
		return;
	life->leased_ms = life->now_ms;
	life->lease_assumed = true;
	if (life->journal.lease_id && strlen(life->journal.lease_id) == JOB_ID_BYTES - 1 &&
	    strspn(life->journal.lease_id, "0123456789abcdef") == JOB_ID_BYTES - 1)
		return;
	rng_hex_id(&life->rng, id);
	xstrset(&life->journal.lease_id, id);
	life->want_write = true;
}

void lease_extend(struct lifecycle *life)
{
	/* MUT: an assumed lease is extended */
	if (life->config->object_lease_ms && (life->lease_assumed || !life->leased_ms))
		return;
	emit(life, EFFECT_LEASE)->until_ms = lease_end_ms(life);
}

bool lease_leaves_time(const struct lifecycle *life)
{
	if (life->config->object_lease_ms && (life->lease_assumed || !life->leased_ms))
		return false;
	return !life->config->lease_ms && !life->config->object_lease_ms
		       ? true
		       : lease_end_ms(life) - life->now_ms >= LEASE_LAUNCH_MS;
}

enum cause lease_that_ends(const struct lifecycle *life, const char **ret_why)
{
	if (object_end_ms(life) < journal_end_ms(life)) {
		*ret_why = "the lease is not held for long enough to start Flink";
		return CAUSE_LEASE_UNREADABLE;
	}
	*ret_why = "the journal's owner was not checked for too long to start Flink";
	return CAUSE_JOURNAL_UNREADABLE;
}

void lease_watch(struct lifecycle *life, bool live)
{
	bool limited = life->config->lease_ms || life->config->object_lease_ms;

	life->lease_end_ms = 0;
	if (live && limited && !life->end_wanted)
		life->lease_end_ms = lease_end_ms(life) - LEASE_HASTE_MS;
}

/* A launch waits for nothing else. One that has come too late again although it was decided at once waits for the next
 * retry, so that nothing repeats without a pause. */
bool lease_is_awaited(const struct lifecycle *life)
{
	/* MUT: a start that comes too late is decided again at once, each time */
	if (life->late_again)
		return false;
	return life->phase == PHASE_HOLDING && life->retry_ms &&
	       life->cause == CAUSE_JOURNAL_UNREADABLE && lease_leaves_time(life);
}

/* ---- its end ---- */

static void kill_for_lease(struct lifecycle *life)
{
	xstrset(&life->end_reason, life->reason);
	life->end_counts = false;
	life->end_wanted = true;
	if (flink_is_live(life))
		kill_flink(life);
}

void lease_ran_out(struct lifecycle *life)
{
	if (object_end_ms(life) < journal_end_ms(life))
		enter_because(
			life, ending_phase(life), CAUSE_LEASE_UNREADABLE,
			"the lease could not be renewed for %lld s: killing Flink before another installation may start the job",
			(long long)((life->now_ms - life->leased_ms) / 1000));
	else
		enter_because(
			life, ending_phase(life), CAUSE_JOURNAL_UNREADABLE,
			"fencing is strict, and the journal's owner could not be checked for %lld s: killing Flink before another drey may start the job",
			(long long)((life->now_ms - life->owned_ms) / 1000));
	kill_for_lease(life);
}

/* ---- the object ---- */

static bool waits_for_lease(const struct lifecycle *life)
{
	return life->phase == PHASE_HOLDING && life->retry_ms &&
	       (life->cause == CAUSE_LEASE_ELSEWHERE || life->cause == CAUSE_LEASE_UNREADABLE ||
		life->cause == CAUSE_LEASE_COPIED);
}

static void lease_is_lost(struct lifecycle *life, const char *why)
{
	bool lives = flink_is_live(life) || life->launch_step == LAUNCH_STARTING;

	life->leased_ms = 0;
	life->lease_assumed = false;
	/* MUT: a Flink without the lease goes on */
	if (!lives || life->fenced)
		return;
	enter_because(life, ending_phase(life), CAUSE_LEASE_ELSEWHERE,
		      "%s: killing Flink, because the job may run there now", why);
	kill_for_lease(life);
}

/* One's own duration is in the configuration. */
static void remember_longest(struct lifecycle *life, int64_t longest_ms)
{
	if (longest_ms <= life->config->object_lease_ms)
		longest_ms = 0;
	if (life->fenced || life->journal.lease_longest_ms == longest_ms)
		return;
	life->journal.lease_longest_ms = longest_ms;
	/* MUT: the journal forgets how long a claim lasts */
	life->want_write = true;
}

void on_lease(struct lifecycle *life, const struct event *event)
{
	if (!life->config->object_lease_ms)
		return;
	if (event->lease.longest_ms) {
		remember_longest(life, event->lease.longest_ms);
		return;
	}
	if (!event->lease.sent_ms) {
		lease_is_lost(life, event->lease.why);
		return;
	}
	if (life->leased_ms >= event->lease.sent_ms && !life->lease_assumed)
		return;
	life->leased_ms = event->lease.sent_ms;
	life->lease_assumed = false;
	if (!life->fenced)
		lease_extend(life);
	if (waits_for_lease(life))
		look_now(life);
}
