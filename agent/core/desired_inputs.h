/*
 * desired_inputs - the control inputs combined: which one counts, and what follows
 * from a new reading. Pure.
 *
 * Precedence. The custom resource takes precedence over the other two, key by key; the ConfigMap
 * over the control directory, because both are views of one ConfigMap, and the mounted view is
 * older. So the directory is followed only where there is no such ConfigMap. A do-not-restart
 * counts wherever it is set. The result is compared with what was seen before (desired.h): of a
 * command and a change to an input, the later one counts.
 *
 * An error is never absence. If a ConfigMap or custom resource can no longer be read, its last
 * reading counts. When this process has not read it yet, nothing is started and nothing else is
 * followed, except for a do-not-restart. The exception is a custom resource to which access is
 * denied: drey continues without it, unless there was one when the application could last read it.
 * That is saved with what was seen.
 *
 * An order that was already in an input when this process first read it is of unknown age. An order
 * that appears later is new.
 *
 * Life cycle: a zeroed one, .configured set -> desired_inputs_read() for each reading,
 * desired_inputs_load() once -> desired_inputs_judge() -> desired_inputs_release().
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
	struct desired desired; /* the newest reading; of the resource, the newest valid one */
	bool known;             /* this process has read it, or has read that there is none */
	bool absent;            /* there is none */
	bool seen;              /* there was a valid reading: what comes now is new */
	char *standing;         /* the token of the order in the first of them; NULL = none */
	char *error;            /* why the newest reading is not followed; NULL = it is */
};

struct desired_inputs {
	struct desired_input from[DESIRED_FROM_COUNT];
	struct desired_seen seen;
	bool loaded; /* `seen` is known */
	/* access to the custom resource is denied, and this process has never read it */
	bool denied;
	bool told_denied;               /* reported in desired_news */
	bool taken;                     /* a reading was judged: what comes now is not the first */
	struct desired_refusal refused; /* what desired_compare() has refused last */
	bool reused;     /* refused with everything else, because another order had its token */
	bool used;       /* carried out according to its object; the journal does not know it */
	char *for_other; /* token of the order left to another generation */
};

/* What follows from the newest readings. */
struct desired_news {
	struct desired desired; /* of all inputs; owned */
	bool changed;           /* process the event */
	struct event event;     /* EVENT_CONTROL; its strings are borrowed from `desired` */
	bool save; /* inputs->seen has changed: save it once the journal has the event */
	/* Why the inputs are rejected, fully or in part; NULL = they are not; borrowed until they
	 * change, or from `desired` */
	const char *error;
	/* Why access to the custom resource is denied; NULL = it is not, or was already reported;
	 * borrowed likewise */
	const char *denied;
	/* The generation to which the order inputs->for_other is left; NULL = none, or already
	 * reported; owned */
	char *left_to;
};

/*
 * A reading (copied). absent: there is no such object; if it appears again later, that is a first
 * read. NULL: it could not be read, see `why`. True: the texts differ from those of the last
 * reading.
 */
bool desired_inputs_read(struct desired_inputs *inputs, enum desired_from from,
			 const struct desired *desired, bool absent, const struct err *why);

/* After desired_inputs_read() with such an error: access to the custom resource is denied. That is
 * ignored, unless there was one before. */
void desired_inputs_deny(struct desired_inputs *inputs);

/* What the previous process had seen (ownership passes). */
void desired_inputs_load(struct desired_inputs *inputs, struct desired_seen *seen);

/* True: the inputs can be judged. False: the first reading of the custom resource is still under
 * way, or what was seen is not loaded. */
bool desired_inputs_are_ready(const struct desired_inputs *inputs);

/* Has the directory been read? No start is decided before that, because a do-not-restart could be
 * in there. */
bool desired_inputs_may_decide(const struct desired_inputs *inputs);

/* Why the desired state is unknown; NULL = it is known. The caller frees. */
char *desired_inputs_unknown(const struct desired_inputs *inputs);

/* Compare all inputs with what was seen, and remember them as seen. Release *ret_news. */
void desired_inputs_judge(struct desired_inputs *inputs, const struct lifecycle *life,
			  struct desired_news *ret_news);
void desired_news_release(struct desired_news *news);

/* Why a request of the custom resource, to restore or to promote, is not carried out; NULL = there is
 * no such request; static. */
const char *desired_inputs_refused(const struct desired_inputs *inputs);

/* The newest reading of an object with orders; NULL = not read, or there is none; borrowed. */
const struct desired *desired_inputs_given(const struct desired_inputs *inputs,
					   enum desired_from from);

void desired_inputs_release(struct desired_inputs *inputs); /* a zeroed one is fine */

#endif
