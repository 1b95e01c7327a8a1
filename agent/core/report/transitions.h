/*
 * transitions - what the `transitions` of a status document say of time: since when. Pure.
 *
 * They are the journal's log: "PHASE: REASON" for each new phase or reason, and between these entries that begin no
 * phase. The document may come from anywhere: what is missing or of another type counts as not there.
 */
#ifndef DREY_CORE_TRANSITIONS_H
#define DREY_CORE_TRANSITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/lifecycle/phase.h"

struct json;

/* The phase of a transition; false: it begins none. */
bool transition_phase(const struct json *transition, enum phase *ret);

/* Since when this phase lasts, without a break; 0 = not known. */
int64_t transitions_since(const struct json *transitions, const char *phase);

/* The condition Ready of a document in phase Running, if it is not True; NULL: it is, or the phase is another one, or an older drey has
 * no such condition. */
const struct json *transitions_unready(const struct json *doc);

/* Add `nowUnixMs` and `sinceUnixMs`: since when it is as the phase says, or, in phase Running, not ready. */
void status_add_since(struct json *doc, int64_t now_unix_ms);

#endif
