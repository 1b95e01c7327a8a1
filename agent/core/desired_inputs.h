/*
 * desired_inputs - the control inputs together: which of them counts, and what follows from a new reading. Pure.
 *
 * Precedence. The custom resource takes precedence over the other two, key by key; the ConfigMap over the control
 * directory, because the two are views of one ConfigMap, and the mounted one is older. So the directory is followed
 * only where there is no such ConfigMap. A do-not-restart counts wherever it is set. The result is compared with
 * what was seen before (desired.h): of a command and a change of an input the later one counts.
 *
 * An error is never absence. When a ConfigMap or custom resource cannot be read any more, its last reading counts.
 * When this process has not read it yet, nothing is started and nothing else is followed, except for a
 * do-not-restart. The exception is a custom resource to which access is denied: drey continues without it, unless
 * there was one when the application could read it last. That is remembered with what was seen.
 *
 * An order that stood in an input at the first look of this process is of unknown age. An order that appears later
 * is new.
 *
 * Life cycle: a zeroed one, .configured set -> desired_inputs_read() for each reading, desired_inputs_load() once
 * -> desired_inputs_judge() -> desired_inputs_release().
 */
#ifndef DREY_CORE_DESIRED_INPUTS_H
#define DREY_CORE_DESIRED_INPUTS_H

#include <stdbool.h>

#include "core/desired.h"

enum desired_from {
	DESIRED_FROM_DIRECTORY,
	DESIRED_FROM_MAP,
	DESIRED_FROM_RESOURCE,
	DESIRED_FROM_COUNT,
};

struct desired_input {
	bool configured;
	struct desired desired; /* the newest reading; of the resource the newest that made sense */
	bool known;             /* this process has read it: it, or that there is none */
	bool absent;            /* there is none */
	bool seen;              /* a reading that made sense: what comes now is new */
	char *standing;         /* the token of the order in the first of them; NULL = none */
	char *error;            /* why the newest reading is not followed; NULL = it is */
};

struct desired_inputs {
	struct desired_input from[DESIRED_FROM_COUNT];
	struct desired_seen seen;
	bool loaded;      /* `seen` is known */
	bool denied;      /* access to the custom resource is, and this process has never read it */
	bool told_denied; /* in desired_news */
	bool taken;       /* a reading was taken: what comes now is no first look */
	bool too_late;    /* the restore request is refused, because the job runs */
	bool reused;      /* with all the rest, because another order had its token */
	bool used;        /* it was carried out, says its object; the journal does not know it */
	char *for_other;  /* token of the order that is left to another generation */
};

/* What follows from the newest readings. */
struct desired_news {
	struct desired desired; /* of all inputs; owned */
	bool changed;           /* the event is to be taken */
	struct event event;     /* EVENT_CONTROL; its strings are borrowed from `desired` */
	bool save; /* inputs->seen has changed: save it once the journal has the event */
	/* Why the inputs are not followed, or not all that they ask for; NULL = they are; borrowed until they
	 * change, or from `desired` */
	const char *error;
	/* Why access to the custom resource is denied; NULL = it is not, or was before; borrowed likewise */
	const char *denied;
	/* The generation that the order inputs->for_other is left to; NULL = none is, or it was before; owned */
	char *left_to;
};

/*
 * A reading (copied). absent: there is no such object; if it comes back later, that is a first look. NULL: it could
 * not be read, `why` says how. True: a reading whose texts are not those of the last one.
 */
bool desired_inputs_read(struct desired_inputs *inputs, enum desired_from from,
			 const struct desired *desired, bool absent, const struct err *why);

/* After desired_inputs_read() with such an error: access to the custom resource is denied. That is no obstacle,
 * unless there was one before. */
void desired_inputs_deny(struct desired_inputs *inputs);

/* What was seen by the process before (taken over). */
void desired_inputs_load(struct desired_inputs *inputs, struct desired_seen *seen);

/* True: what there is can be judged. False: the first reading of the custom resource is still under way, or
 * what was seen is not loaded. */
bool desired_inputs_are_ready(const struct desired_inputs *inputs);

/* Has the directory been read? Before that no start is decided, because a do-not-restart could be in there. */
bool desired_inputs_may_decide(const struct desired_inputs *inputs);

/* Why it is not known at all what the desired state is; NULL = it is known. The caller frees. */
char *desired_inputs_unknown(const struct desired_inputs *inputs);

/* Compare all inputs with what was seen; then they are seen. Release *ret_news. */
void desired_inputs_judge(struct desired_inputs *inputs, const struct lifecycle *life,
			  struct desired_news *ret_news);
void desired_news_release(struct desired_news *news);

/* Why a restore request of the custom resource is not carried out; NULL = there is no such request; static. */
const char *desired_inputs_refused(const struct desired_inputs *inputs);

/* The newest reading of an object that has orders; NULL = it was not read, or is not there; borrowed. */
const struct desired *desired_inputs_given(const struct desired_inputs *inputs,
					   enum desired_from from);

void desired_inputs_release(struct desired_inputs *inputs); /* a zeroed one is fine */

#endif
