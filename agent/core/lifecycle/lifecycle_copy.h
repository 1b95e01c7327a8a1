/*
 * lifecycle_copy - the journal is lost, and made from its copy in storage. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_COPY_H
#define DREY_CORE_LIFECYCLE_COPY_H

#include "core/lifecycle/lifecycle.h"

/* DECISION_ADOPT: facts->copy becomes the journal, and is empty afterwards. */
void copy_adopt(struct lifecycle *life, const struct decision *decision, struct facts *facts);

#endif
