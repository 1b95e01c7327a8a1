/* The gates of FLIP-504 as a kind of gates (gate_kind.h): what their ConfigMap says, and when that counts. */
#include "base/mem.h"
#include "core/handover/flip.h"
#include "core/handover/transition_step.h"

/* Several subtasks may choose a cut at the same time; until then each of them has written its own. Only a look shows
 * that none has. */
#define CHOSEN_MS 2000
/* A gate that reads the keys late may still choose a cut, and one of the first version writes it at any stage. */
#define LATE_MS 5000

#define LEAST_LEAD_MS 30000

/* They acknowledge nothing: what makes the cut known in time has to be left room. */
static const char *flip_refuses(const struct gate_settings *settings, const char **ret_key)
{
	*ret_key = "blueGreen.gate";
	if (!settings->gate_name)
		return "'blueGreen.gate' is flip, but 'blueGreen.gateName' is not set, and drey could not tell how far the gate is; set it to the name of the gate's operator in the job";
	*ret_key = "blueGreen.lead";
	if (settings->lead_ms < LEAST_LEAD_MS)
		return "'blueGreen.lead' is shorter than 30 s: gates of FLIP-504 do not acknowledge the cut, and those that learn of it too late lose records; set it to 30s or more";
	*ret_key = "blueGreen.caughtUp";
	if (settings->caught_up_ms * 3 > settings->lead_ms)
		return "'blueGreen.caughtUp' is more than a third of 'blueGreen.lead': the next version would come to the cut long before it knows it; make it shorter, or the lead longer";
	*ret_key = "blueGreen.align";
	if (settings->align_ms)
		return "'blueGreen.align' cannot be used with 'blueGreen.gate: flip', whose gates choose the cut themselves; remove it";
	return NULL;
}

/* ---- what the map has said ---- */

/* A job that has started lately shows no watermark yet, and its records may be at or above the cut all the same. So may
 * those of a candidate whose agent is away: what it has said before counts only against the cut. */
static void judge_cut(struct gate_keys *keys, const struct gate_keys *read,
		      const struct gate_keys_around *around)
{
	bool spoken = around->speaks && around->beat != keys->beat;

	keys->past = read->toggle_unix_ms && around->seen;
	/* MUT: a cut is judged by what the candidate said before it */
	if (!keys->past && !spoken)
		return;
	/* MUT: a cut is judged while a job shows no watermark */
	if (keys->past || around->watermarks)
		keys->judged = true;
}

static void flip_hear(struct gate_keys *keys, const struct gate_keys *read,
		      const struct gate_keys_around *around)
{
	bool anew = keys->toggle_unix_ms != read->toggle_unix_ms ||
		    !xstrsame(keys->transition, read->transition);

	if (anew) {
		keys->since_ms = around->now_ms;
		keys->beat = around->beat;
		keys->judged = keys->past = false;
	}
	if (anew || keys->state != read->state)
		keys->written_ms = around->now_ms;
	keys->same_ms = around->now_ms;
	if (!keys->judged && read->shown.subtasks)
		judge_cut(keys, read, around);
	xstrset(&keys->transition, read->transition);
	keys->state = read->state;
	keys->toggle_unix_ms = read->toggle_unix_ms;
	keys->shown = read->shown;
}

/* ---- what of it counts ---- */

static int64_t chosen_cut(const struct gate_keys *keys, enum transition_state state)
{
	if (!keys->toggle_unix_ms || state == TRANSITION_ABORTING)
		return keys->toggle_unix_ms;
	if (!keys->judged)
		return 0;
	/* MUT: the cut of the first subtask that writes one is taken at once */
	if (keys->same_ms - keys->since_ms < CHOSEN_MS)
		return 0;
	return keys->toggle_unix_ms;
}

static bool may_come_late(const struct gate_keys *keys, enum transition_state state)
{
	/* MUT: a transition is over before the last gate knows that it is given up */
	if (state != TRANSITION_ABORTING)
		return false;
	return keys->same_ms - keys->written_ms < LATE_MS;
}

static void flip_know(const struct gate_keys *keys, const struct handover *handover,
		      struct transition_facts *facts)
{
	enum transition_state state = transition_of(handover);
	int64_t toggle_unix_ms = handover->transition.toggle_unix_ms;

	/* MUT: what the ConfigMap has said in another transition counts */
	if (!xstris(keys->transition, handover->id))
		return;
	facts->chosen_unix_ms = chosen_cut(keys, state);
	facts->chosen_past = keys->past;
	facts->keys_written = gate_keys_are_written(keys, handover) && !may_come_late(keys, state);
	facts->keys_crossed = toggle_unix_ms && keys->toggle_unix_ms == toggle_unix_ms &&
			      flip_has_crossed(&keys->shown);
}

static const char *flip_waits(enum transition_state state, bool unwritten)
{
	if (state == TRANSITION_ARMED)
		return "the gates choose the cut, and both jobs show a watermark below it";
	return unwritten ? "the ConfigMap of the gates says what it says at rest" : NULL;
}

const struct gate_keys_kind flip_kind = {
	.map_property = "bluegreen.configmap.name",
	.side_property = "bluegreen.active-deployment-type",
	.held_side = "flipSide",
	.side_words = flip_side_words,
	.refuses = flip_refuses,
	.hear = flip_hear,
	.know = flip_know,
	.waits = flip_waits,
};
