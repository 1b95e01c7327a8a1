/*
 * flip - the keys of FLIP-504 in the ConfigMap of an application whose job has gates of that kind, and
 * when what they say is believed. Pure.
 *
 * drey is the only writer of the first four keys, and of `stage` except for CLEAR_TO_TEARDOWN, which a
 * gate of the old side writes. The other two are the gates'; drey removes them when a transition is over, because
 * a gate would drop everything below a cut that stays, for ever. While the cut is in force it stays what is on
 * record: two gates that propose one are both believed by some.
 *
 * While a transition is given up, the candidate stays the active side until its job has ended: a gate that is not
 * active, and knows of no cut, passes everything.
 */
#ifndef DREY_CORE_FLIP_H
#define DREY_CORE_FLIP_H

#include "core/handover/gate.h"
#include "core/handover/gate_kind.h"
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
	/* LEFT: what watermark-toggle-value is then, whatever else is written; 0 = what the gates write */
	int64_t toggle_unix_ms;
	/* REMOVED: a cut that is there stays until it is on record: something may have been held back by it */
	bool record_first;
};

#define FLIP_MOST_DELAY_MS INT64_C(2147483647) /* gates read it with parseInt() */

/* The keys in this state. Sides are those of outputs (launch.output_side), as the gates are told them, wherever the
 * HA maps are: `owner_side` is that of the owner's job, the candidate's is in the transition. `ended`: the candidate's
 * job has, by what is known. */
struct flip_keys flip_keys(const struct handover *handover, enum side owner_side, bool ended,
			   int64_t lead_ms);

/* ---- the map ---- */

enum flip_key {
	FLIP_ACTIVE,
	FLIP_FIRST,
	FLIP_DELAY,
	FLIP_STAGE,
	FLIP_WATERMARK_STAGE,
	FLIP_WATERMARK_TOGGLE,
	FLIP_KEYS,
};
extern const char *const flip_key_words[]; /* as in the map */

/* The values of a map; NULL = it has no such key. Borrowed. */
struct flip_values {
	const char *of[FLIP_KEYS];
};

extern const char *const flip_side_words[]; /* BLUE, GREEN */

/* What has to change, so that it says these keys. */
struct flip_change {
	enum flip_key key;
	char value[24]; /* "" = the key is removed */
};
size_t flip_changes(const struct flip_keys *keys, const struct flip_values *values,
		    struct flip_change ret_changes[FLIP_KEYS]);

/* Nothing has to change, and no cut waits to be recorded. */
bool flip_is_written(const struct flip_keys *keys, const struct flip_values *values);
bool flip_same_keys(const struct flip_keys *a, const struct flip_keys *b);

enum flip_stage
flip_stage(const struct flip_values *values); /* FLIP_STAGES: another word, or none */
int64_t
flip_toggle(const struct flip_values *values); /* 0 = no cut, or none that a gate could read */

/* May the candidate's job start, with an output of this side? Otherwise its gates would pass everything. */
bool flip_shuts(const struct flip_values *values, enum side side);

/* ---- its gates ---- */

/* The old side owes nothing. CLEAR_TO_TEARDOWN alone is not believed: the first subtask that is behind the
 * cut writes it. */
bool flip_has_crossed(const struct gate_keys_shown *shown);

extern const struct gate_keys_kind flip_kind;

#endif
