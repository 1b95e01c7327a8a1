#include "core/report/event_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/visible.h"
#include "core/handover/transition.h"

/* What a person has to look at. A hold under do-not-restart is what a person has asked for. */
static bool is_warning(const struct notice *notice)
{
	return notice->phase == PHASE_FAILED || notice->cause == CAUSE_STOP_FAILED ||
	       notice->cause == CAUSE_JOB_NOT_RUNNING || notice->cause == CAUSE_ATTEMPTS_REPEATED ||
	       (notice->phase == PHASE_HOLDING && !notice->do_not_restart);
}

static bool phase_text(const struct notice *notice, struct event_text *text)
{
	const char *cause = cause_name(notice->cause);

	/* that the job goes to another pod, or back to it, the hand-over tells */
	if (notice->known || notice->cause == CAUSE_STANDING_BY ||
	    notice->cause == CAUSE_HANDOVER_RETURNED)
		return false;
	text->warning = is_warning(notice);
	text->action = "Supervise";
	text->note = xstrdup(notice->text);
	snprintf(text->reason, sizeof(text->reason), "%s",
		 cause ? cause : phase_name(notice->phase));
	return true;
}

static bool operation_text(const struct notice *notice, struct event_text *text)
{
	const char *kind = operation_kind_name(notice->kind);
	const char *detail = notice->ok ? notice->path : notice->text;

	text->warning = !notice->ok;
	text->action = "Operate";
	text->note = xasprintf("%s (%s)%s%s", kind, operation_reason_name(notice->reason),
			       detail ? ": " : "", detail ? detail : "");
	if (notice->kind == OPERATION_CHECKPOINT && notice->ok) {
		free(text->note);
		text->note = xasprintf("%s %" PRId64 " (%s)%s%s", kind, notice->checkpoint_id,
				       operation_reason_name(notice->reason), detail ? ": " : "",
				       detail ? detail : "");
	}
	snprintf(text->reason, sizeof(text->reason), "%c%s%s", kind[0] - 'a' + 'A', kind + 1,
		 notice->ok ? "Completed" : "Failed");
	return true;
}

/* "HandoverOffered": as the condition HandingOver has it. */
static bool handover_text(const struct notice *notice, struct event_text *text)
{
	text->warning =
		notice->handover == HANDOVER_RETURNED || notice->handover == HANDOVER_REFUSED;
	text->action = "HandOver";
	text->note = xstrdup(notice->text);
	snprintf(text->reason, sizeof(text->reason), "%s", handover_word(notice->handover));
	return true;
}

static bool plain_text(struct event_text *text, const char *reason, const char *action,
		       const char *note)
{
	snprintf(text->reason, sizeof(text->reason), "%s", reason);
	text->action = action;
	text->note = xstrdup(note);
	return true;
}

/* A condition has become true, or false again. */
static bool condition_text(struct event_text *text, const struct notice *notice, enum cause cause,
			   const char *again, const char *action)
{
	text->warning = !notice->ok;
	return plain_text(text, notice->ok ? again : cause_name(cause), action, notice->text);
}

static bool event_of_notice(const struct notice *notice, struct event_text *ret)
{
	switch (notice->type) {
	case NOTICE_PHASE:
		return phase_text(notice, ret);
	case NOTICE_OPERATION:
		return operation_text(notice, ret);
	case NOTICE_RESTORE_VERIFIED:
		return plain_text(ret, "RestoreVerified", "Launch",
				  notice->path ? notice->path
					       : "started without state, as decided");
	case NOTICE_PROVEN:
		return plain_text(ret, "Proven", "Launch",
				  "the first checkpoint of this launch is complete");
	case NOTICE_FENCED:
		ret->warning = true;
		return plain_text(ret, "TakenOver", "Supervise", notice->text);
	case NOTICE_HANDOVER:
		return handover_text(notice, ret);
	case NOTICE_PREPARED:
		return plain_text(ret, HANDOVER_WORD_PREPARED, "HandOver", notice->text);
	case NOTICE_TRANSITION:
		ret->warning = notice->transition == TRANSITION_ABORTING;
		return plain_text(ret, transition_word(notice->transition), "HandOver",
				  notice->text);
	case NOTICE_CAUGHT_UP:
		return plain_text(ret, TRANSITION_WORD_CAUGHT_UP, "HandOver", notice->text);
	case NOTICE_CHECKPOINTS:
		return condition_text(ret, notice, CAUSE_CHECKPOINTS_FAILING,
				      "CheckpointsCompleting", "Supervise");
	case NOTICE_REVIEW:
		return condition_text(ret, notice, CAUSE_CHECKPOINTS_UNUSABLE, "CheckpointsUsable",
				      "Supervise");
	case NOTICE_SETTINGS:
		return condition_text(ret, notice, CAUSE_SETTINGS_OVERRIDDEN,
				      "SettingsAsConfigured", "Supervise");
	case NOTICE_STATE_LOST:
		return condition_text(ret, notice, CAUSE_STATE_LOST, "StateLossSettled", "Launch");
	case NOTICE_ENDED:          /* its phase tells */
	case NOTICE_ATTEMPT_FAILED: /* as does that of the next attempt, or of the end */
	case NOTICE_COUNT:
		break;
	}
	return false;
}

bool event_text(const struct notice *notice, struct event_text *ret)
{
	struct buf note = BUF_INIT;

	*ret = (struct event_text){0};
	if (!event_of_notice(notice, ret))
		return false;
	visible_add(ret->note, &note);
	free(ret->note);
	ret->note = buf_steal(&note);
	return true;
}

void event_text_release(struct event_text *text)
{
	free(text->note);
	text->note = NULL;
}
