/*
 * lifecycle_effects - effects, and those that wait for a journal write. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_EFFECTS_H
#define DREY_CORE_LIFECYCLE_EFFECTS_H

#include "core/lifecycle/lifecycle.h"

/* Append to the effects of this step; borrowed until the next call. */
struct effect *emit(struct lifecycle *life, enum effect_type type);

/* Like emit(), but the effect comes out once the journal, as it is at the end of this step, has
 * been written. */
struct effect *emit_after_write(struct lifecycle *life, enum effect_type type);
/* The one of this type that waits for the journal; NULL = none; borrowed. */
const struct effect *find_deferred(const struct lifecycle *life, enum effect_type type);

/* Release the effect and close the gap. */
void effects_remove(struct effects *effects, size_t index);
void effects_move(struct effects *from, size_t index, struct effects *to); /* to its end */

/* Withdraw deferred effects of this type; true if there were any. */
bool withdraw(struct lifecycle *life, enum effect_type type);

void note(struct lifecycle *life, enum note_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Change the phase; the transition is written to the journal and to the log. */
void enter(struct lifecycle *life, enum phase phase, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, when the desired state is not reached. */
void enter_because(struct lifecycle *life, enum phase phase, enum cause cause, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
