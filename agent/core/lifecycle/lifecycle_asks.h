/*
 * lifecycle_asks - what drey asks of Flink and awaits: one engine, and a row for each kind. Private to this room.
 *
 * A request is in the journal before it is sent. It is sent, its result is polled, and an answer is judged by the row of
 * its kind, until ask_enter(STEP_NONE). To add one: a word in enum ask_kind (steps.h), a row in lifecycle_asks.c, a
 * function for each answer that means something to it, and a member of the type struct ask in lifecycle.h, unless it
 * takes turns with another one.
 */
#ifndef DREY_CORE_LIFECYCLE_ASKS_H
#define DREY_CORE_LIFECYCLE_ASKS_H

#include "core/lifecycle/lifecycle.h"

/* It is in the journal by then, with this trigger id: send it when that is written. */
void ask_begin(struct lifecycle *life, enum ask_kind kind, const char *trigger_id);

/* An earlier agent has begun it, and may have sent it: its result is asked for first. */
void ask_adopt(struct lifecycle *life, enum ask_kind kind, const char *trigger_id,
	       int64_t started_unix_ms);

/* It goes another way than by answers: nothing is planned or expected any more. STEP_NONE: it is over. */
void ask_enter(struct ask *ask, enum ask_step step);

/* It was never accepted: the same id makes it safe to repeat. */
void ask_repeat(struct lifecycle *life, struct ask *ask);
void ask_again(struct lifecycle *life, struct ask *ask, int64_t wait_ms); /* for its result */
void ask_sent(struct lifecycle *life, struct ask *ask); /* the first POST goes out now */

/* Continue what the previous agent had in flight: Flink still runs. */
void asks_adopt(struct lifecycle *life);

/* An answer to one of them, or to none that is in flight. */
void on_answer(struct lifecycle *life, const struct event *event);

/* Deadlines that have passed; and what is to be sent or asked for now. */
void asks_due(struct lifecycle *life);
void asks_plan(struct lifecycle *life); /* after each event: when that is next (asks_ms) */

#define ASK_AGAIN_MS 1000

#endif
