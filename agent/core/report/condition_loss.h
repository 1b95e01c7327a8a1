/*
 * condition_loss - the condition StateLost: a launch has given up state that is damaged, and nobody has
 * settled that. Pure.
 *
 * It is in the journal, not in the life: it survives agents and Pods, until a person acknowledges it or a
 * newer savepoint is complete.
 */
#ifndef DREY_CORE_CONDITION_LOSS_H
#define DREY_CORE_CONDITION_LOSS_H

#include <stddef.h>

#include "core/journal/journal.h"
#include "core/report/condition.h"

/* "launch 7 began from CHECKPOINT (id 40, completed TIME), 3 min before LOST (...), which is damaged: WHY". */
void loss_sentence(const struct state_loss *loss, char *ret_text, size_t size);

/* Everything of it but its time. */
void condition_loss(const struct journal *journal, struct condition *ret_condition);

#endif
