/*
 * flip - the keys of FLIP-504 in the ConfigMap of an application whose job has gates of that kind, and
 * when what they say is believed. Pure.
 *
 * drey is the only writer of the first four keys, and of `stage` except for CLEAR_TO_TEARDOWN, which a
 * gate of the old side writes. The other two are the gates'; drey removes them when a transition is over, because
 * a gate would drop everything below a cut that stays, for ever.
 */
#ifndef DREY_CORE_FLIP_H
#define DREY_CORE_FLIP_H

#include "core/handover/transition.h"

enum flip_stage {
	FLIP_INITIALIZING,
	FLIP_TRANSITIONING,
	FLIP_CLEAR_TO_TEARDOWN,
	FLIP_RUNNING,
	FLIP_FAILING,
	FLIP_STAGES,
};
extern const char *const flip_stage_words[]; /* NULL at the end */

/* What becomes of watermark-toggle-value and watermark-stage. */
enum flip_toggle {
	FLIP_REMOVED,
	FLIP_LEFT, /* as the gates have written them */
};

struct flip_keys {
	enum side active;      /* active-deployment-type */
	bool is_first;         /* is-first-deployment: no other side runs */
	enum flip_stage stage; /* that drey writes; a gate may have gone on from it */
	bool stage_is_theirs;  /* one that a gate has written stays */
	enum flip_toggle toggle;
	int64_t delay_ms; /* deployment-deletion-delay-ms: at most 2147483647 */
};

/* The keys in this state; `owner_side`: of the journal. */
struct flip_keys flip_keys(const struct handover *handover, enum side owner_side, int64_t lead_ms);

/* What is known of the gates of the old side. */
struct flip_gate {
	enum flip_stage stage;   /* as it is in the map */
	int subtasks, behind;    /* by the watermarks that Flink reports for its vertex */
	int gauges, gauges_over; /* bluegreenGateHandOverDone, where it is reported; and 1 */
};

/* The old side owes nothing. CLEAR_TO_TEARDOWN alone is not believed: the first subtask that is behind the
 * cut writes it. */
bool flip_has_crossed(const struct flip_gate *gate);

#endif
