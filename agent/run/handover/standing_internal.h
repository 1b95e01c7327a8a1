/*
 * standing_internal - what the parts of standing share. Private to them.
 *
 *   standing.c        the steps, the clock, the end
 *   standing_kube.c   the journal, the leader locks, the Deployment, the record
 *   standing_flink.c  a Flink that is held, and the check before it
 *   shadow.c          the job that runs in the shadow, and its journal
 */
#ifndef DREY_RUN_STANDING_INTERNAL_H
#define DREY_RUN_STANDING_INTERNAL_H

#include <stdatomic.h>

#include "base/log_seldom.h"
#include "core/handover/standby.h"
#include "kube/kube_lane.h"
#include "kube/kube_watch.h"
#include "run/config/setup_side.h"
#include "run/handover/candidate_map.h"
#include "run/handover/lock_read.h"
#include "run/handover/standing.h"
#include "run/handover/wanted.h"

struct standing {
	struct driver *driver;
	/* what has happened: the standby machine decides on it, and its effects are executed */
	void (*step)(struct standing *standing, const struct standby_event *event);
	struct standby_config config;
	struct standby standby;
	struct link_msg hello; /* as of now */
	struct loop_timer *timer;
	struct kube_lane kube;
	struct kube_watch *watch;         /* of the journal's map; NULL = none */
	struct candidate_reading reading; /* the lane's */
	struct ha_unchanged locks[SIDES]; /* the lane's */
	char beat_uid[128];               /* of the candidate that has our place */
	int64_t beat, beat_ms;            /* of it, and when it was seen to change; the lane's */
	struct journal journal;           /* of the event that is decided on */
	struct journal own;               /* that of the job in the shadow, as read with it */
	int64_t asked, confirmed;         /* gates for which the journal is, was read again */
	/* of the journal of the job in the shadow: what cannot be read, or adopted */
	struct log_seldom own_trouble, adopt_trouble;
	enum cause told;        /* by the last Event of this pod */
	bool removing, removed; /* the journal of a candidate, when it is not needed any more */
	int64_t remove_ms;      /* not before */
	atomic_bool
		in_shadow; /* the journal of the job there is the life cycle's: not read here any more */
	bool over;         /* the journal is ours: it stands no more */
};

/* The effects that are carried out elsewhere than in standing.c. */
void standing_read(struct standing *standing);
void standing_take_news(struct standing *standing); /* of the journal, by its watch */
void standing_lock(struct standing *standing, enum side side);
void standing_wanted(struct standing *standing);
void standing_record(struct standing *standing);
void standing_check(struct standing *standing);
void standing_launch(struct standing *standing);
void standing_warm(struct standing *standing);
void standing_adopt(struct standing *standing);
void standing_tell_gates(struct standing *standing); /* what the journal has for them */

#endif
