#include "run/outputs/metrics_handover.h"

#include <inttypes.h>

#include "base/mem.h"
#include "run/outputs/exposition.h"

static bool is_on(const struct lifecycle *life)
{
	return life->config->handover.mode != HANDOVER_OFF;
}

void metrics_role(const struct lifecycle *life, const struct standby *standby, struct buf *text)
{
	enum role role = standby ? standby->verdict.role : lifecycle_role(life);

	exposition_family(text, "drey_role", "gauge",
			  "1 for what this pod is to the others, 0 for the others.");
	for (int i = 0; i < ROLES && is_on(life); i++)
		exposition_labelled(text, "drey_role", "role", role_name((enum role)i),
				    (int)role == i);
}

/* A part that has not ended, or has not begun, has no sample; nor has one that two wall clocks disagree
 * about. */
static void add_part(struct buf *text, const char *part, int64_t from_unix_ms, int64_t to_unix_ms)
{
	int64_t took_ms = to_unix_ms - from_unix_ms;

	if (from_unix_ms && to_unix_ms && took_ms >= 0)
		buf_addf(text, "drey_handover_seconds{part=\"%s\"} %" PRId64 ".%03d\n", part,
			 took_ms / 1000, (int)(took_ms % 1000));
}

static void add_parts(struct buf *text, const struct handover *handover)
{
	exposition_family(text, "drey_handover_seconds", "gauge",
			  "Duration of the parts of the last hand-over.");
	add_part(text, "prepare", handover->started_unix_ms, handover->prepared_unix_ms);
	add_part(text, "stop", handover->stopping_unix_ms, handover->granted_unix_ms);
	add_part(text, "take", handover->granted_unix_ms, handover->taken_unix_ms);
	add_part(text, "run", handover->taken_unix_ms, handover->done_unix_ms);
}

static void add_ends(struct buf *text, const struct handover *handover)
{
	const struct {
		enum handover_state state;
		int64_t count;
	} ends[] = {
		{HANDOVER_DONE, handover->ends.done},
		{HANDOVER_RETURNED, handover->ends.returned},
		{HANDOVER_REFUSED, handover->ends.refused},
		{HANDOVER_NONE, handover->ends.none},
	};

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		exposition_labelled(text, "drey_handovers_total", "result",
				    handover_state_name(ends[i].state), ends[i].count);
}

/* Both versions run for a while. */
static void add_transition(const struct lifecycle *life, struct buf *text)
{
	const struct handover *handover = &life->journal.handover;
	const struct transition *transition = &handover->transition;
	enum transition_state state = transition_of(handover);
	bool blue_green = life->config->handover.mode == HANDOVER_BLUE_GREEN;
	bool some = blue_green && state != TRANSITION_NONE;

	exposition_family(text, "drey_transition_state", "gauge",
			  "1 for the state of the last blue/green transition, 0 for the others.");
	for (int i = 0; i < TRANSITION_STATES && blue_green; i++)
		exposition_labelled(text, "drey_transition_state", "state",
				    transition_state_name((enum transition_state)i),
				    (int)state == i);
	exposition_known(
		text, "drey_transition_doubled_records",
		"Records that both versions have written, as their gates have counted them.", some,
		transition->above + transition->below);
}

void metrics_handover(const struct lifecycle *life, struct buf *text)
{
	/* without hand-overs the journal has none, and the families have no samples */
	const struct handover *handover = &life->journal.handover;
	bool on = is_on(life);
	bool limited = on && handover_is_under_way(handover) && handover->deadline_unix_ms;

	exposition_family(text, "drey_handover_state", "gauge",
			  "1 for the state of the last hand-over, 0 for the others.");
	for (int i = 0; i <= HANDOVER_REFUSED && on; i++)
		exposition_labelled(text, "drey_handover_state", "state",
				    handover_state_name((enum handover_state)i),
				    (int)handover->state == i);
	exposition_seconds(text, "drey_handover_deadline_timestamp_seconds",
			   "Time at which the state of the hand-over under way ends at the latest.",
			   limited, handover->deadline_unix_ms);
	add_parts(text, handover);
	exposition_known(text, "drey_handover_tries",
			 "Failed hand-overs to the version of the last one.", on, handover->tries);
	exposition_known(text, "drey_handover_returned",
			 "1 when the version of the last hand-over has returned the job.", on,
			 handover->returned != NULL);
	exposition_family(
		text, "drey_handovers_total", "counter",
		"Hand-overs since the application was created, by the state in which they ended.");
	if (on)
		add_ends(text, handover);
	add_transition(life, text);
}
