/*
 * gate_kind - the kinds of gates that a job can have (blueGreen.gate), and what differs between them. Pure.
 *
 * Drey's own take orders, and acknowledge them (gate.h): drey chooses the cut. Others go by the keys of a ConfigMap that
 * they write as well: they choose the cut themselves, and only watermarks show how far they are. Who has to know the
 * difference asks the kind; gate_kind.c is the only file that names the kinds.
 */
#ifndef DREY_CORE_GATE_KIND_H
#define DREY_CORE_GATE_KIND_H

#include "core/handover/handover.h"
#include "core/handover/transition_record.h"

enum transition_gate {
	TRANSITION_GATE_DREY, /* drey's own: the cut in two steps */
	TRANSITION_GATE_FLIP, /* those of FLIP-504; see flip.h */
	TRANSITION_GATE_NONE, /* both write, as long as both run */
	TRANSITION_GATES,
};
extern const char *const transition_gate_words[]; /* as in drey.yaml, by value; NULL at the end */

struct transition_facts;

/* What of blueGreen a kind may refuse. */
struct gate_settings {
	const char *gate_name; /* NULL = not set */
	int64_t lead_ms, caught_up_ms, align_ms;
};

/* What a look at the ConfigMap, and before that at Flink, has shown. */
struct gate_keys_shown {
	int stage;            /* of the transition, as it is in the map: the kind's */
	int subtasks, behind; /* by the watermarks that Flink reports for the gate's vertex */
	int gauges,
		gauges_over; /* that say of a subtask that it is over, where it is reported; and do */
};

/* What the ConfigMap has said last. An event has what was read: the first three, and `shown`. */
struct gate_keys {
	char *transition; /* that its keys were of; owned; NULL = none, or nothing is known */
	enum transition_state state; /* ... and of this state of it */
	int64_t toggle_unix_ms;      /* the cut that is there; 0 = none */
	int64_t since_ms;            /* it is the same since then ... */
	int64_t same_ms;             /* ... and was when the map was read last */
	int64_t written_ms;          /* since then the keys say what they are to say, or do not */
	int64_t beat;                /* the candidate's when it was seen first */
	bool judged, past; /* both jobs have shown where they are since; records had come to it */
	struct gate_keys_shown shown; /* `behind`: that one */
};

/* What else is known when the map was read. */
struct gate_keys_around {
	int64_t now_ms, beat; /* the newest beat of the candidate */
	bool speaks;          /* it was heard */
	bool seen;            /* a gate has had a record at this cut, or later */
	bool watermarks;      /* both jobs show one */
};

/* Gates that go by keys. */
struct gate_keys_kind {
	/* properties of the job: the ConfigMap, and its side with the word for that; and that word in the go file */
	const char *map_property, *side_property, *held_side;
	const char *const *side_words;
	/* NULL: these will do. Else why not, and the key of blueGreen that is to be changed. */
	const char *(*refuses)(const struct gate_settings *settings, const char **ret_key);
	/* The map was read. */
	void (*hear)(struct gate_keys *keys, const struct gate_keys *read,
		     const struct gate_keys_around *around);
	/* What of it counts in this transition: chosen_..., keys_... */
	void (*know)(const struct gate_keys *keys, const struct handover *handover,
		     struct transition_facts *facts);
	/* What the owner waits for; NULL: as with any other gates. `unwritten`: the candidate for the keys. */
	const char *(*waits)(enum transition_state state, bool unwritten);
};

struct gate_kind {
	bool gated;                        /* there are gates, and their reports count */
	bool ordered;                      /* they take orders */
	const struct gate_keys_kind *keys; /* they go by keys; NULL = they do not */
};
const struct gate_kind *gate_kind_of(enum transition_gate gate);

/* The keys of this state of the transition are in the map, as far as was read. */
bool gate_keys_are_written(const struct gate_keys *keys, const struct handover *handover);

#endif
