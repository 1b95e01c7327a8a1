#include "core/report/condition_rescale.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/journal/journal_fields.h"

/* How far it is, in one word. */
enum progress {
	PROGRESS_NONE,     /* no other parallelism is wanted */
	PROGRESS_WAITING,  /* for the job, or for Flink's answer */
	PROGRESS_REFUSED,  /* this launch cannot have it */
	PROGRESS_SETTLING, /* Flink has accepted it, the job does not run with it yet */
	PROGRESS_SHORT,    /* the same, and drey looks no more */
	PROGRESS_ACCEPTED, /* by Flink; an earlier agent asked for it, and this one has not looked */
	PROGRESS_REACHED,
};
static const char *const words[] = {"none",  "waiting",  "refused", "settling",
				    "short", "accepted", "reached"};
static const char *const reasons[] = {"NoRequest",     "Waiting",  "Refused", "Settling",
				      "FewerSubtasks", "Accepted", "Reached"};

static enum progress progress(const struct lifecycle *life)
{
	const struct journal *journal = &life->journal;
	const struct launch *launch = journal_launch_const(journal);
	const struct rescaled *last = &journal->rescaled;

	if (journal->intent.parallelism.nonce)
		return PROGRESS_WAITING;
	if (life->rescale.settling)
		return PROGRESS_SETTLING;
	if (parallelism_is_empty(&journal->parallelism))
		return PROGRESS_NONE;
	if (!launch || journal->parallelism_launch != launch->number)
		return PROGRESS_WAITING;
	if (!last->ok && last->launch == launch->number &&
	    xstrsame(last->nonce, journal->parallelism.nonce))
		return PROGRESS_REFUSED;
	if (life->rescale.reached)
		return PROGRESS_REACHED;
	return life->rescale.since_ms ? PROGRESS_SHORT : PROGRESS_ACCEPTED;
}

static const char *or_nothing(const char *text)
{
	return text ? text : "";
}

void condition_rescale(const struct lifecycle *life, struct condition *ret_condition)
{
	const struct rescaled *last = &life->journal.rescaled;
	enum progress now = progress(life);
	const char *missing = or_nothing(life->rescale.missing);
	const char *left_out = or_nothing(last->left_out);
	cleanup_free char *few = lifecycle_slots_short(life);

	switch (now) {
	case PROGRESS_NONE:
		condition_say(ret_condition, TRUTH_UNKNOWN, reasons[now],
			      "the job runs with its own parallelism");
		break;
	case PROGRESS_WAITING:
		condition_say(ret_condition, TRUTH_FALSE, reasons[now],
			      "the parallelism is set as soon as the job runs");
		break;
	case PROGRESS_REFUSED:
		condition_say(ret_condition, TRUTH_FALSE, reasons[now], "%s",
			      or_nothing(last->error));
		break;
	case PROGRESS_SETTLING:
	case PROGRESS_SHORT:
		condition_say(ret_condition, TRUTH_FALSE, reasons[now],
			      "Flink has accepted the parallelism%s%s%s%s%s%s",
			      *missing ? ", the job does not run with it yet: " : "", missing,
			      few ? "; " : "", or_nothing(few), *left_out ? "; except: " : "",
			      left_out);
		break;
	case PROGRESS_ACCEPTED:
	case PROGRESS_REACHED:
		condition_say(ret_condition, *left_out ? TRUTH_FALSE : TRUTH_TRUE,
			      *left_out ? "LeftOut" : reasons[now], "%s%s%s",
			      now == PROGRESS_REACHED
				      ? "the job runs with the requested parallelism"
				      : "Flink has accepted the requested parallelism",
			      *left_out ? ", except: " : "", left_out);
		break;
	}
}

static void add_wanted(struct json *to, const struct parallelism *wanted)
{
	struct json *vertices;

	json_add_known(to, "all", wanted->all, 1);
	vertices = json_add_object(to, "vertices");
	for (size_t i = 0; i < wanted->vertex_count; i++)
		json_add_i64(vertices, wanted->vertices[i].vertex, wanted->vertices[i].parallelism);
}

/* null: nothing was ever requested. */
void status_add_rescale(struct json *doc, const struct lifecycle *life)
{
	const struct journal *journal = &life->journal;
	const char *waiting = journal->intent.parallelism.nonce;
	struct json *to;

	if (!waiting && !journal->rescaled.nonce && !journal->parallelism.nonce) {
		json_add_null(doc, "parallelism");
		return;
	}
	to = json_add_object(doc, "parallelism");
	add_wanted(to, &journal->parallelism);
	json_add_str(to, "state", words[progress(life)]);
	json_add_str(to, "missing", life->rescale.missing);
	if (life->rescale.slots_known) {
		json_add_i64(to, "slotsNeeded", life->rescale.slots_needed);
		json_add_i64(to, "slotsTotal", life->rescale.slots_total);
		json_add_i64(to, "taskManagers", life->rescale.task_managers);
	}
	json_add_str(to, "waitingNonce", waiting);
	record_add(to, "last", &rescaled_table, &journal->rescaled, NULL);
}
