/*
 * lifecycle_state - what the small machines of the life cycle remember for themselves: life->own. No header includes this
 * one, and nothing outside the room does, so a change of it compiles the files that use it and no others. What people see,
 * what other rooms and tests read, and what half of the room asks for is in lifecycle.h.
 */
#ifndef DREY_CORE_LIFECYCLE_STATE_H
#define DREY_CORE_LIFECYCLE_STATE_H

#include "core/lifecycle/lifecycle.h"
#include "core/lifecycle/review.h"

struct pace_window { /* how often one kind of effect came since then */
	int64_t since_ms;
	int count;
};

struct life_state {
	enum phase ended;       /* the end reported last; PHASE_COUNT = none */
	int64_t lifted_ms;      /* when do-not-restart was last lifted, in this process */
	int64_t stall_pause_ms; /* a stalled job is left alone until then */
	bool ids_looked; /* the HA maps of all numbered ids were asked for once (lifecycle_ids.c) */
	bool looks_early; /* facts are gathered while the Flink of another place may still add state */
	struct review review;

	/* the last poll of that depth, or deeper; 0 = none */
	int64_t polled_job_ms, polled_all_ms;

	/* the journal write: failures in a row, for the backoff; when the last one was requested, or wrote anything */
	int journal_failures;
	int64_t write_sent_ms, noted_ms;

	/* failed stops of this request, since this agent began; and as the last resort, which checkpoint the job would
	 * continue from (lifecycle_stop_failed.c); strings owned */
	int64_t stop_failures;
	struct {
		enum { LAST_RESORT_NONE, LAST_RESORT_LOOKS, LAST_RESORT_READS } step;
		enum operation_reason reason;
		int64_t since_ms; /* LOOKS: a poll that began then or later counts */
		char *nonce, *why;
		char *checkpoint; /* read, or being read */
		char *unread;     /* what was wrong with it */
	} last_resort;

	/* the container ends (lifecycle_stopping.c) */
	int64_t grace_end_ms;  /* when it will be killed; 0 = not known */
	int64_t look_since_ms; /* only answers to requests after this count */
	int64_t budget_end_ms; /* a stop must be complete by then */
	bool stop_follows;     /* a stop waits for the savepoint in flight */
	char *stop_error;      /* it has failed: why; NULL = no; owned */

	/* how often Flink was started, newest first, 0 = none; how often each effect came (lifecycle_pace.c) */
	int64_t launches_ms[LAUNCHES_A_MINUTE];
	struct pace_window paces[EFFECT_COUNT][2];
};

#endif
