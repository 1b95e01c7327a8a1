/*
 * relaunch - may the next launch execute the command line of the last JVM, instead of the scripts
 * that have computed it? Pure.
 *
 * Flink's scripts take 2 s, and start two JVMs of their own to read the configuration. As long as
 * nothing that they read has changed, they would compute the same again. What is decided here may
 * cost time, and never more than that: whether there is to be a launch, of what, and from which
 * state, is decided elsewhere.
 *
 * Life cycle: a zeroed struct relaunch -> relaunch_learns() when the line of a running JVM is known
 * -> relaunch_why() for each launch, then relaunch_begins(), relaunch_answers() when the REST API
 * has answered, relaunch_ends(). No release.
 */
#ifndef DREY_CORE_RELAUNCH_H
#define DREY_CORE_RELAUNCH_H

#include <stdbool.h>

#include "base/sha256.h"

enum relaunch_why {
	RELAUNCH_WELL,       /* there is no reason against it */
	RELAUNCH_NO_SCRIPTS, /* the same, but the command is java itself: there is nothing to leave out */
	RELAUNCH_OWN_SCRIPT, /* a script of the user may do something else each time */
	RELAUNCH_OFF,
	RELAUNCH_UNKNOWN,    /* no JVM was read: the first launch, or why was reported then */
	RELAUNCH_DISTRUSTED, /* the last launch without scripts ended before its REST API was up */
	RELAUNCH_UNREAD,     /* what the line was derived from could not be read in time */
	RELAUNCH_CHANGED,    /* some of it is not as it was */
	RELAUNCH_WHYS,
};

struct relaunch {
	char made_of[SHA256_HEX_BYTES]; /* the fingerprint of the line; "" = none is known */
	bool direct;                    /* the current launch was started without scripts */
	bool answered;                  /* and its REST API has answered */
	bool distrusted;
};

/* What the world says. */
struct relaunch_outside {
	bool configured;
	bool has_script; /* one of Flink's starts Java */
	bool has_java;   /* the command is java itself */
	const char *now; /* the fingerprint as it is now; NULL = not read */
};

enum relaunch_why relaunch_why(const struct relaunch *relaunch,
			       const struct relaunch_outside *outside);

/* The line of a running JVM is known; NULL = it is not, so that of an earlier one does not count. */
void relaunch_learns(struct relaunch *relaunch, const char *made_of);

void relaunch_begins(struct relaunch *relaunch, bool direct);
void relaunch_answers(struct relaunch *relaunch);
/* The process has ended, or was never started. True: it was started without scripts and its REST API
 * never answered, which is no failed attempt: the next one is made by the scripts. */
bool relaunch_ends(struct relaunch *relaunch);

/* A sentence without a period, for people; NULL = there is nothing to report. */
const char *relaunch_why_sentence(enum relaunch_why why);

#endif
