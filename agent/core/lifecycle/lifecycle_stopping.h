/*
 * lifecycle_stopping - the container is being stopped: upgrade, or not. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_STOPPING_H
#define DREY_CORE_LIFECYCLE_STOPPING_H

#include "core/lifecycle/lifecycle.h"
#include "core/lifecycle/lifecycle_rows.h"

/* The container is being stopped, and will be killed after that time. */
void on_stopping(struct lifecycle *life, int64_t grace_left_ms, enum upgrade upgrade);

/* After every event of a container that ends: what follows for the job, by the table. Nothing happens twice. */
extern const struct life_table stopping_table;
void stopping_pursue(struct lifecycle *life);

/* The container is being stopped, and this operation has failed; `error` is copied. A stop is not
 * repeated then; the failure of another operation does not prevent the stop. */
void stopping_failed(struct lifecycle *life, enum operation_kind kind, const char *error);

/* The container is being stopped: exit as soon as the journal is written. */
void leave(struct lifecycle *life);

#endif
