/*
 * lifecycle_loss - state that a launch gives up because it is damaged. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_LOSS_H
#define DREY_CORE_LIFECYCLE_LOSS_H

#include "core/lifecycle/lifecycle.h"

/* A launch is decided: what it gives up is recorded with it, and told; or what an earlier one gave up is
 * usable again. */
void loss_begin(struct lifecycle *life, const struct decision *decision, const struct facts *facts,
		const struct launch *launch);
/* A savepoint is complete and was checked; its operation began then. */
void loss_saved(struct lifecycle *life, const char *savepoint, int64_t begun_unix_ms);
/* CONTROL_ACKNOWLEDGE; the nonce counts once. */
void loss_acknowledge(struct lifecycle *life, const char *nonce);

#endif
