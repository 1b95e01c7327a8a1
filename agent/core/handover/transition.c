#include "core/handover/transition.h"

#include <string.h>

#include "base/mem.h"
#include "core/snapshot.h"

const char *const transition_state_words[] = {
	"none",    "offered", "seeding", "seeded", "shadow", "arming",   "armed",   "crossing",
	"crossed", "ending",  "granted", "taken",  "done",   "aborting", "refused", NULL};
_Static_assert(sizeof(transition_state_words) / sizeof(transition_state_words[0]) ==
		       TRANSITION_STATES + 1,
	       "a word for each state");

/* ---- in the journal ---- */

#define POINT(name, kind, ...)      FIELD(name, kind, struct transition_point, __VA_ARGS__)
#define TRANSITION(name, kind, ...) FIELD(name, kind, struct transition, __VA_ARGS__)

static const struct field point_fields[] = {
	POINT("path", TEXT, path, .key = true),
	POINT("checkpointId", KNOWN, checkpoint_id),
};
static const struct record point_table = RECORD(struct transition_point, point_fields);

static const struct field transition_fields[] = {
	TRANSITION("id", TEXT, id, .key = true),
	TRANSITION("state", WORD, state, .words = transition_state_words),
	TRANSITION("seed", RECORD, seed, .record = &point_table),
	TRANSITION("stop", RECORD, stop, .record = &point_table),
	TRANSITION("replay", RECORD, replay, .record = &point_table),
	TRANSITION("seenUnixMs", KNOWN, seen_unix_ms),
	TRANSITION("toggleUnixMs", KNOWN, toggle_unix_ms),
	TRANSITION("beforeUnixMs", KNOWN, before_unix_ms),
	TRANSITION("ownerNumber", KNOWN, owner_number, .key = true),
	TRANSITION("candidateNumber", KNOWN, candidate_number, .key = true),
	TRANSITION("armings", KNOWN, armings),
	TRANSITION("promoted", BOOL, promoted),
	TRANSITION("atUnixMs", KNOWN, at_unix_ms),
	TRANSITION("aborted", BOOL, aborted),
	TRANSITION("workId", ID, work_id),
	TRANSITION("opened", BOOL, opened),
	TRANSITION("replayed", BOOL, replayed),
	TRANSITION("above", KNOWN, above),
	TRANSITION("below", KNOWN, below),
	TRANSITION("outputSide", WORD, output_side, .words = side_words, .sparse = true),
	TRANSITION("inexact", BOOL, inexact),
	TRANSITION("firstNumber", KNOWN, first_number),
	TRANSITION("numbers", KNOWN, numbers),
};
const struct record transition_table = RECORD(struct transition, transition_fields);

void transition_release(struct transition *transition)
{
	record_release(&transition_table, transition);
}

/* ---- what follows from the state ---- */

const char *transition_state_name(enum transition_state state)
{
	return state < TRANSITION_STATES ? transition_state_words[state] : "unknown";
}

const char *transition_word(enum transition_state state)
{
	static const char *const words[TRANSITION_STATES] = {
		[TRANSITION_SEEDING] = "TransitionSeeding",
		[TRANSITION_SEEDED] = "TransitionSeeded",
		[TRANSITION_SHADOW] = "TransitionShadow",
		[TRANSITION_ARMING] = "TransitionArming",
		[TRANSITION_ARMED] = "TransitionArmed",
		[TRANSITION_CROSSING] = "TransitionCrossing",
		[TRANSITION_CROSSED] = "TransitionCrossed",
		[TRANSITION_ABORTING] = "TransitionAborting",
	};

	return state < TRANSITION_STATES && words[state] ? words[state]
							 : handover_word(transition_outside(state));
}

enum handover_state transition_outside(enum transition_state state)
{
	switch (state) {
	case TRANSITION_NONE:
		return HANDOVER_NONE;
	case TRANSITION_ENDING:
		return HANDOVER_STOPPING;
	case TRANSITION_GRANTED:
		return HANDOVER_GRANTED;
	case TRANSITION_TAKEN:
		return HANDOVER_TAKEN;
	case TRANSITION_DONE:
		return HANDOVER_DONE;
	case TRANSITION_REFUSED:
		return HANDOVER_REFUSED;
	default: /* the job runs at the owner, and the candidate is named */
		return HANDOVER_OFFERED;
	}
}

enum transition_state transition_of(const struct handover *handover)
{
	const struct transition *transition = &handover->transition;

	/* MUT: a transition counts under the id of another hand-over */
	if (!transition->id || !xstrsame(transition->id, handover->id))
		return TRANSITION_NONE;
	return transition_outside(transition->state) == handover->state ? transition->state
									: TRANSITION_NONE;
}

bool transition_is_under_way(enum transition_state state)
{
	return state != TRANSITION_NONE && state != TRANSITION_DONE && state != TRANSITION_REFUSED;
}

#define NONE_UNDER_WAY "no blue/green transition is under way"

const char *transition_refuses_promote(enum transition_state state)
{
	if (!transition_is_under_way(state))
		return NONE_UNDER_WAY;
	return state > TRANSITION_SHADOW
		       ? "the cut was chosen already, or the transition was given up"
		       : NULL;
}

const char *transition_refuses_abort(enum transition_state state)
{
	if (!transition_is_under_way(state))
		return NONE_UNDER_WAY;
	if (state == TRANSITION_ABORTING)
		return "the transition is being given up already";
	return state >= TRANSITION_GRANTED
		       ? "the job is the next version's already, and only goes forward"
		       : NULL;
}

bool transition_is_cut(enum transition_state state)
{
	return state >= TRANSITION_ARMED && state <= TRANSITION_ENDING;
}

bool transition_owes_replay(const struct transition *transition)
{
	return transition->replay.path && !transition->replayed;
}

bool transition_permits_two(const struct handover *handover)
{
	enum transition_state state = transition_of(handover);

	return (state >= TRANSITION_SEEDED && state <= TRANSITION_ENDING) ||
	       state == TRANSITION_ABORTING;
}

bool transition_keeps(const struct handover *handover, const char *path)
{
	const struct transition *transition = &handover->transition;
	enum transition_state state = transition_of(handover);
	const struct transition_point *const points[] = {&transition->seed, &transition->stop,
							 &transition->replay};

	if (state == TRANSITION_NONE || state == TRANSITION_DONE || state == TRANSITION_REFUSED)
		return false;
	for (size_t i = 0; path && i < ARRAY_LEN(points); i++)
		if (points[i]->path && snapshot_same_path(points[i]->path, path))
			return true;
	return false;
}
