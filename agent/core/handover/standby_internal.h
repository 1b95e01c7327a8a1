/*
 * standby_internal - what the parts of the standby machine share. Private to them.
 *
 *   standby.c          the events, who this pod is, its record, its end
 *   standby_prepare.c  what a candidate does so that it can take the job at once
 *   standby_shadow.c   the job that runs in the shadow
 *   standby_effects.c  what they say, record and order
 *   standby_rows.c     the first row of their tables that decides
 */
#ifndef DREY_CORE_HANDOVER_STANDBY_INTERNAL_H
#define DREY_CORE_HANDOVER_STANDBY_INTERNAL_H

#include "core/handover/standby.h"

#define STANDBY_BEAT_MS 5000
/* While its gates report: the owner compares watermarks, and chooses a cut by them. */
#define STANDBY_SHADOW_BEAT_MS 1000

/* Append to the effects of this step; borrowed until the next call. */
struct standby_effect *standby_emit(struct standby *standby, enum standby_effect_type type);
void standby_note(struct standby *standby, bool warning, const char *text);

/* Why this pod is what it is; logged when it changes. */
void standby_say(struct standby *standby, enum cause cause, const char *why);

/* What its record says; written when it changes. */
void standby_state(struct standby *standby, enum candidate_state state, const char *why);

/* End Flink, if one runs: nothing that it has done counts. Called again, it repeats what did not help. */
void standby_kill(struct standby *standby);

/* Is the job offered, or granted, to this pod? And does its Flink run for that? */
bool standby_is_offered(const struct standby *standby);
bool standby_is_for_offer(const struct standby *standby);

/* Its owner was asked, and has not answered for so long that it is said. */
bool standby_owner_is_silent(const struct standby *standby);

void standby_reads(struct standby *standby); /* the journal, once */

void standby_prepare(struct standby *standby);
void standby_begin_anew(struct standby *standby); /* no attempt has failed yet */
void standby_prepare_event(struct standby *standby, const struct standby_event *event);

void standby_shadow_init(struct standby *standby); /* there is no job */
/* True: that is all that it does; false: it continues as any pod that stands by. */
bool standby_shadow(struct standby *standby, bool just_read);
bool standby_shadow_event(struct standby *standby, const struct standby_event *event); /* taken */
/* An earlier agent of this pod has said, in its record, that the job has begun. */
void standby_shadow_found(struct standby *standby);
void standby_shadow_leaves(struct standby *standby); /* its pod ends */

#endif
