/*
 * lifecycle_asks - what drey asks of Flink or of storage and awaits: one engine, and a row for each kind. Private to this room.
 *
 * What changes something is in the journal before it is sent. With one answer it is over; or its result is polled, and each
 * answer is judged by the row of its kind, until ask_enter(STEP_NONE). To add one: a word in enum ask_kind (steps.h), a row
 * in lifecycle_asks.c with the function that takes its answer, and a member of the type struct ask in lifecycle.h, unless
 * it takes turns with another one. tests/unit/test_lifecycle_rows.c prints the rows into docs/reference/lifecycle.md.
 */
#ifndef DREY_CORE_LIFECYCLE_ASKS_H
#define DREY_CORE_LIFECYCLE_ASKS_H

#include "core/lifecycle/lifecycle.h"

struct ask_row {
	const char *what; /* for people */
	/* the member of the journal that has it before it is sent; NULL = it changes nothing */
	const char *written;
	size_t at; /* the struct ask; kinds that take turns have the same one */
	enum event_type answer;
	enum effect_type send;
	/* one answer ends it; it is over when this is called. NULL: its result is polled, and the rest is set */
	void (*answered)(struct lifecycle *life, const struct event *event);
	enum effect_type poll; /* as `send`: it has no result of its own */
	int64_t within_ms;     /* until its deadline; 0 = it gets one later */
	/* the deadline is for Flink to accept it, which each answer but "not known" may mean; else for its end */
	bool to_accept;
	void (*accepted)(struct lifecycle *life); /* NULL: its result is polled */
	void (*completed)(struct lifecycle *life, const struct answer *answer);
	void (*failed)(struct lifecycle *life, const char *location, const char *error);
	void (*unknown)(struct lifecycle *life); /* Flink does not know the trigger id */
	bool (*lost)(struct lifecycle *life);    /* "in progress" is not true any more: failed */
	void (*late)(struct lifecycle *life);    /* the deadline has passed */
	void (*adopt)(struct lifecycle *life, enum ask_kind kind); /* if it is in the journal */
};

extern const struct ask_row ask_rows[ASKS];

/* Send it: now, or when the journal, which has it by then, is written. id: trigger id or that of the job; path: of the
 * snapshot; NULL = none. Returns the effect, borrowed until the next one. */
struct effect *ask_begin(struct lifecycle *life, enum ask_kind kind, const char *id,
			 const char *path);

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

void asks_forget(struct lifecycle *life); /* what has one answer, which cannot come any more */

/* What they contradict themselves in, as a clause; NULL = in nothing (lifecycle_check.c). */
const char *asks_check(const struct lifecycle *life);

/* An answer to one of them, or to none that is in flight. */
void on_answer(struct lifecycle *life, const struct event *event);

/* Handle the deadlines that have passed, and send or poll what is due. */
void asks_due(struct lifecycle *life);
void asks_plan(struct lifecycle *life); /* after each event: when that is next (asks_ms) */

#define ASK_AGAIN_MS 1000

#endif
