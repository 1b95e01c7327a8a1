/*
 * transition - a hand-over in which both versions run for a while (blue/green). Pure.
 *
 * It is a hand-over like any other (handover.h), with more between the offer and the stop: the owner
 * takes a savepoint of the running job (the seed), and the candidate starts its own job from it, with
 * its output shut. When that has caught up, the two divide the records by their time: the candidate
 * writes those at or above the cut (`toggle`), the owner those below, and then the owner stops.
 *
 *   offered -> seeding -> seeded -> shadow -> arming -> armed -> crossing -> crossed -> ending
 *                                                          -> granted -> taken -> done
 *   until granted: -> aborting -> none, or refused
 *
 * handover.state has what a drey knows that only knows surge, and follows from this state: offered up
 * to crossed. So who a pod is, and who may write the journal, does not change. A drey that does not
 * know the member `transition` keeps it, and it counts only under the id of the hand-over that it was
 * written for.
 */
#ifndef DREY_CORE_TRANSITION_H
#define DREY_CORE_TRANSITION_H

#include "core/handover/handover.h"
#include "core/handover/transition_record.h"
#include "core/record.h"

extern const char *const transition_state_words[];
const char *transition_state_name(enum transition_state state); /* "offered", ... */
/* The same for Events: "TransitionShadow", ...; what can be seen from outside has the word of the hand-over. They never
 * change. */
const char *transition_word(enum transition_state state);
#define TRANSITION_WORD_CAUGHT_UP "TransitionCaughtUp" /* shadow, and the candidate has caught up */

extern const struct record transition_table; /* as a member of the hand-over */

void transition_release(struct transition *transition);

/* What handover.state is in this state. */
enum handover_state transition_outside(enum transition_state state);

/*
 * The state of the hand-over that is under way or was the last one. NONE: it is none of this kind;
 * the member is of another hand-over; or a drey that does not know it has continued without it.
 */
enum transition_state transition_of(const struct handover *handover);

/* Begun, and neither done nor given up. */
bool transition_is_under_way(enum transition_state state);

/* Why one in this state cannot be promoted, or aborted: a sentence without a full stop; NULL = it can. */
const char *transition_refuses_promote(enum transition_state state);
const char *transition_refuses_abort(enum transition_state state);

/* The cut is in force, or was: some record may be held back at the owner. Then only what is written
 * again makes up for the candidate's end. */
bool transition_is_cut(enum transition_state state);

/* ABORTING: the owner's job has to start again from before the cut, and does not run from there yet. */
bool transition_owes_replay(const struct transition *transition);

/* Both jobs may run now. */
bool transition_permits_two(const struct handover *handover);

/* While it is under way and has not ended, nothing deletes this snapshot: `path` may be NULL. */
bool transition_keeps(const struct handover *handover, const char *path);

#endif
