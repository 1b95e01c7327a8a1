/*
 * What has happened, for hooks, Events and metrics. Most is reported where it happens; what a whole
 * step has changed (phase, cause, the fence) is reported at its end, because a step may pass
 * through phases in which it does not stay.
 */
#include "core/lifecycle/lifecycle_notice.h"

#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_state.h"

struct notice *tell(struct lifecycle *life, enum notice_type type)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	struct notice *notice = &emit(life, EFFECT_TELL)->notice;

	*notice = (struct notice){.type = type,
				  .phase = life->phase,
				  .cause = life->cause,
				  .do_not_restart = life->journal.intent.do_not_restart,
				  .launch = launch ? launch->number : 0,
				  .took_ms = -1};
	return notice;
}

void tell_operation(struct lifecycle *life, const struct operation_result *result,
		    int64_t started_unix_ms)
{
	struct notice *notice = tell(life, NOTICE_OPERATION);

	notice->kind = result->kind;
	notice->reason = result->reason;
	notice->ok = result->ok;
	if (started_unix_ms)
		notice->took_ms = result->ended_unix_ms - started_unix_ms;
	notice->path = xstrdup(result->location);
	notice->text = xstrdup(result->error);
}

static bool is_ended(const struct journal *journal)
{
	return journal->outcome.kind != OUTCOME_NONE || journal->intent.state == DESIRED_CANCELLED;
}

/* Flink still ran when the journal was written: nothing was parked yet. */
static bool was_live(const struct journal *journal)
{
	static const enum phase live[] = {PHASE_LAUNCHING, PHASE_RUNNING, PHASE_STOPPING};

	for (size_t i = 0; i < ARRAY_LEN(live); i++)
		if (journal->phase && !strcmp(journal->phase, phase_name(live[i])))
			return true;
	return false;
}

enum phase end_on_record(const struct journal *journal)
{
	/* MUT: the next agent repeats the notice of an end */
	if (!is_ended(journal) || was_live(journal))
		return PHASE_COUNT;
	if (journal->outcome.kind == OUTCOME_FINISHED)
		return PHASE_FINISHED;
	if (journal->outcome.kind == OUTCOME_CANCELLED ||
	    journal->intent.state == DESIRED_CANCELLED)
		return PHASE_CANCELLED;
	return PHASE_FAILED;
}

/* Parked again after an operation was settled: the end is the same as before. */
static bool has_just_ended(struct lifecycle *life)
{
	enum phase told = life->own->ended;

	if (phase_is_end(life->phase))
		life->own->ended = life->phase;
	else if (life->phase != PHASE_RESOLVING || !is_ended(&life->journal))
		life->own->ended = PHASE_COUNT;
	return phase_is_end(life->phase) && life->phase != told;
}

struct standing standing(const struct lifecycle *life, const struct event *event)
{
	/* the previous agent in this container has reported the fence */
	bool told = event->type == EVENT_HELLO && event->hello.fenced;

	return (struct standing){
		.phase = life->phase, .cause = life->cause, .fenced = life->fenced || told};
}

void tell_changes(struct lifecycle *life, const struct event *event, const struct standing *before)
{
	bool ended = has_just_ended(life);
	struct notice *notice;

	if (life->phase != before->phase || life->cause != before->cause) {
		notice = tell(life, NOTICE_PHASE);
		notice->from = before->phase;
		notice->known = event->type == EVENT_HELLO && !ended;
		notice->text = xstrdup(life->reason);
	}
	if (ended)
		tell(life, NOTICE_ENDED)->text = xstrdup(life->reason);
	if (life->fenced && !before->fenced)
		tell(life, NOTICE_FENCED)->text = xstrdup(life->reason);
}
