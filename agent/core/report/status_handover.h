/*
 * status_handover - what the status document says of a hand-over: of the owner from its journal, of
 * another pod from what it has read and what it reports. Pure.
 */
#ifndef DREY_CORE_STATUS_HANDOVER_H
#define DREY_CORE_STATUS_HANDOVER_H

#include "base/json.h"
#include "core/handover/standby.h"
#include "core/lifecycle/lifecycle.h"

/* Add `role`, `owner`, `handover` and `candidate`. life: of the owner, with the record of the candidate as
 * it was read last (NULL = there is none); standby: of another pod. One of the two is NULL, or both while
 * nothing is known yet. */
void status_add_handover(struct json *doc, const struct lifecycle *life,
			 const struct candidate_record *candidate, const struct standby *standby);

#endif
