/*
 * A candidate prepares: it checks that its version could start, starts Flink under the reserved job
 * id with main() held, and waits until the TaskManagers of its generation are there.
 */
#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "core/handover/standby_internal.h"
#include "core/handover/transition.h"

#define CHECK_AGAIN_MS  15000
#define LAUNCH_AGAIN_MS 1000 /* while the lock of another Flink is not free */
#define LOOK_SOON_MS    500  /* at a Flink that is not held yet, or not warm */
#define LOOK_LATER_MS   2000 /* at one that is */
#define WARM_MS         2000 /* warm for this long, without a change: prepared */
/* with fewer slots than the running job has: another version may need fewer */
#define FEWER_SLOTS_MS 30000

bool standby_is_offered(const struct standby *standby)
{
	const struct handover *handover = &standby->handover;

	return (handover->state == HANDOVER_OFFERED || handover->state == HANDOVER_STOPPING ||
		handover->state == HANDOVER_GRANTED) &&
	       party_is(&handover->to, standby->config->me.uid);
}

bool standby_is_for_offer(const struct standby *standby)
{
	return standby_is_offered(standby) && standby->flink != STANDBY_FLINK_ENDING &&
	       standby->flink != STANDBY_FLINK_NONE &&
	       !strcmp(standby->job_id, standby->handover.job_id);
}

/* ---- Flink, held ---- */

void standby_begin_anew(struct standby *standby)
{
	standby->attempts = 0;
	standby->gave_up = false;
	standby->launch_ms = 0;
}

static void cool(struct standby *standby)
{
	standby->warm_since_ms = standby->ripe_ms = 0;
	standby->record.warm.since_unix_ms = 0;
}

static void flink_failed(struct standby *standby, const char *why)
{
	const struct standby_config *config = standby->config;

	cool(standby);
	snprintf(standby->failure, sizeof(standby->failure), "%s", why);
	standby->gave_up = ++standby->attempts >= config->max_attempts;
	standby->launch_ms = standby->now_ms + backoff_ms(config->retry_first_ms,
							  config->retry_max_ms, standby->attempts);
	standby_note(standby, true, why);
}

/* The Flink of another Pod may live, or has just died: its leader lock is not free yet. */
static void launch_later(struct standby *standby, const char *why)
{
	snprintf(standby->failure, sizeof(standby->failure), "%s", why);
	standby->launch_ms = standby->now_ms + LAUNCH_AGAIN_MS;
}

static void on_exited(struct standby *standby, const struct standby_event *event)
{
	bool wanted = standby->flink != STANDBY_FLINK_ENDING;

	if (!event->process.launch_id || strcmp(event->process.launch_id, standby->job_id) != 0)
		return;
	standby->flink = STANDBY_FLINK_NONE;
	standby->start_end_ms = standby->warm_ms = standby->kill_again_ms = 0;
	standby->record.warm.main_held = false;
	cool(standby);
	if (wanted)
		flink_failed(standby, event->process.why);
}

static void on_warm(struct standby *standby, const struct standby_event *event)
{
	struct candidate_record *record = &standby->record;
	bool same = event->warm.known && record->warm.task_managers == event->warm.task_managers &&
		    record->warm.slots_free == event->warm.slots_free;
	bool warm = event->warm.known && !event->warm.strangers && event->warm.slots_free > 0;

	if (standby->flink != STANDBY_FLINK_STARTED && standby->flink != STANDBY_FLINK_HELD)
		return;
	standby->went = event->warm.went;
	if (event->warm.held && standby->flink == STANDBY_FLINK_STARTED) {
		standby->flink = STANDBY_FLINK_HELD;
		standby->start_end_ms = 0;
		record->warm.main_held = true;
	}
	if (event->warm.known) {
		record->warm.task_managers = event->warm.task_managers;
		record->warm.slots_free = event->warm.slots_free;
	}
	standby->strangers = event->warm.known ? event->warm.strangers : 0;
	if (!warm || standby->flink != STANDBY_FLINK_HELD) {
		cool(standby);
	} else if (!standby->warm_since_ms || !same) {
		standby->warm_since_ms = standby->now_ms;
		record->warm.since_unix_ms = standby->now_unix_ms;
	}
	standby->warm_ms = standby->now_ms +
			   (record->state == CANDIDATE_PREPARED ? LOOK_LATER_MS : LOOK_SOON_MS);
}

void standby_prepare_event(struct standby *standby, const struct standby_event *event)
{
	switch (event->type) {
	case STANDBY_CHECKED:
		standby->checking = false;
		standby->checked = event->checked.ok;
		standby->check_ms = event->checked.ok ? 0 : standby->now_ms + CHECK_AGAIN_MS;
		xstrset(&standby->record.checked.decision, event->checked.decision);
		xstrset(&standby->record.checked.why, event->checked.why);
		break;
	case STANDBY_STARTED:
		if (standby->flink != STANDBY_FLINK_ASKED)
			break;
		standby->flink = STANDBY_FLINK_STARTED;
		standby->warm_ms = standby->now_ms + LOOK_SOON_MS;
		break;
	case STANDBY_FAILED:
		if (standby->flink != STANDBY_FLINK_ASKED && standby->flink != STANDBY_FLINK_ENDING)
			break;
		if (standby->flink == STANDBY_FLINK_ASKED && event->process.waits)
			launch_later(standby, event->process.why);
		else if (standby->flink == STANDBY_FLINK_ASKED)
			flink_failed(standby, event->process.why);
		standby->flink = STANDBY_FLINK_NONE;
		standby->start_end_ms = standby->kill_again_ms = 0;
		break;
	case STANDBY_WARM:
		on_warm(standby, event);
		break;
	case STANDBY_EXITED:
		on_exited(standby, event);
		break;
	default:
		break;
	}
}

static void launch(struct standby *standby)
{
	if (standby->flink != STANDBY_FLINK_NONE || standby->gave_up || standby->launch_ms)
		return;
	standby->flink = STANDBY_FLINK_ASKED;
	memcpy(standby->job_id, standby->handover.job_id, JOB_ID_BYTES);
	standby->start_end_ms = standby->now_ms + standby->config->ready_deadline_ms;
	standby_emit(standby, STANDBY_DO_LAUNCH)->side = standby->verdict.side;
}

/* ---- is it prepared? ---- */

static bool is_of_another_mode(const struct standby *standby)
{
	return standby_is_offered(standby) && !standby->config->blue_green &&
	       transition_of(&standby->handover) != TRANSITION_NONE;
}

/* NULL: it is. Else what it waits for; *ret_ripe_ms: until when at least, 0 = for news. */
static const char *waits_for(const struct standby *standby, int64_t *ret_ripe_ms)
{
	int64_t needed = standby->handover.slots;
	int64_t ripe_ms = standby->warm_since_ms + WARM_MS;

	*ret_ripe_ms = 0;
	if (is_of_another_mode(standby))
		return "the owner begins a transition, but handover.mode is not blueGreen in this version";
	if (!standby->checked)
		return standby->record.checked.why ? standby->record.checked.why
						   : "it checks what this version would start from";
	if (!standby_is_offered(standby))
		return "it waits for the offer of the owner";
	if (!standby->config->hold_main || standby->verdict.kind == HANDOVER_SAME)
		return NULL;
	if (standby->flink != STANDBY_FLINK_HELD)
		return standby->attempts || standby->launch_ms ? standby->failure
							       : "its JobManager starts";
	if (standby->strangers)
		return "TaskManagers of another version are registered at its JobManager";
	if (!standby->warm_since_ms)
		return "it waits for its TaskManagers";
	if (standby->record.warm.slots_free < needed)
		ripe_ms = standby->warm_since_ms + FEWER_SLOTS_MS;
	if (standby->now_ms >= ripe_ms)
		return NULL;
	*ret_ripe_ms = ripe_ms;
	return "its TaskManagers register";
}

static void check(struct standby *standby)
{
	if (standby->checked || standby->checking ||
	    (standby->check_ms && standby->now_ms < standby->check_ms))
		return;
	standby->check_ms = 0;
	if (standby->verdict.kind == HANDOVER_SAME) { /* what it would start runs already */
		standby->checked = true;
		return;
	}
	standby->checking = true;
	standby_emit(standby, STANDBY_DO_CHECK);
}

static void answer(struct standby *standby)
{
	const struct handover *handover = &standby->handover;

	if (!standby_is_offered(standby) || handover->asked == standby->record.answer)
		return;
	standby->record.answer = handover->asked;
	standby->record_dirty = true;
}

static bool refuses(const struct standby *standby)
{
	return standby->handover.state == HANDOVER_REFUSED &&
	       template_same_content(standby->handover.to.template, standby->config->me.template);
}

/* What a person has to look at is said until one has, or this version runs the job: also while it prepares
 * for the next try. */
static void say_progress(struct standby *standby, enum cause cause, const char *why)
{
	const struct handover *handover = &standby->handover;
	bool returned = handover->returned &&
			template_same_content(handover->to.template, standby->config->me.template);
	char text[sizeof(standby->reason)];

	if (!returned || cause != CAUSE_PREPARING) {
		standby_say(standby, cause, why);
		return;
	}
	snprintf(text, sizeof(text), "%s; this version has returned the job: %s", why,
		 handover->returned);
	standby_say(standby, CAUSE_HANDOVER_RETURNED, text);
}

void standby_prepare(struct standby *standby)
{
	bool holds = standby->config->hold_main && standby->verdict.kind == HANDOVER_OTHER;
	const char *why;

	/* the owner would wait for a job in the shadow, until its deadline */
	if (is_of_another_mode(standby))
		standby->gave_up = true;
	if (standby->start_end_ms && standby->now_ms >= standby->start_end_ms) {
		standby->start_end_ms = 0;
		standby_kill(standby);
		flink_failed(standby, "main() was not reached within attempts.readyDeadline");
	}
	if (standby->warm_ms && standby->now_ms >= standby->warm_ms) {
		standby->warm_ms = 0;
		standby_emit(standby, STANDBY_DO_WARM);
	}
	if (standby->now_ms >= standby->launch_ms)
		standby->launch_ms = 0;
	if (!standby_is_offered(standby))
		standby_begin_anew(standby);
	check(standby);
	if (standby->flink == STANDBY_FLINK_ENDING ||
	    (standby->flink > STANDBY_FLINK_ASKED && !standby_is_for_offer(standby)))
		standby_kill(standby);
	else if (holds && standby_is_offered(standby) && standby->checked)
		launch(standby);
	why = waits_for(standby, &standby->ripe_ms);
	if (!why) {
		standby_state(standby, CANDIDATE_PREPARED, NULL);
		answer(standby);
		say_progress(standby, CAUSE_PREPARING, "it is prepared, and waits for the job");
		return;
	}
	standby_state(standby, standby->gave_up ? CANDIDATE_FAILED : CANDIDATE_PREPARING, why);
	if (refuses(standby))
		standby_say(standby, CAUSE_HANDOVER_REFUSED,
			    standby->handover.why ? standby->handover.why
						  : "the owner has refused");
	else
		say_progress(standby, standby->gave_up ? CAUSE_PREPARE_FAILED : CAUSE_PREPARING,
			     why);
}
