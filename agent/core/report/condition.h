/*
 * condition - one of the conditions (conditions.h): whether it is true, and why. Pure; it owns nothing.
 */
#ifndef DREY_CORE_CONDITION_H
#define DREY_CORE_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

enum truth {
	TRUTH_UNKNOWN,
	TRUTH_FALSE,
	TRUTH_TRUE,
};

struct condition {
	enum truth status;
	char reason[48];       /* one word */
	char message[600];     /* a sentence */
	int64_t since_unix_ms; /* when the status became what it is; 0 = never judged */
	bool brief; /* only the status is asked for, and neither reason nor message is composed */
};

/* Everything of one but its time; if that is `brief`, its status. */
__attribute__((format(printf, 4, 5))) void condition_say(struct condition *condition,
							 enum truth status, const char *reason,
							 const char *fmt, ...);

const char *truth_name(enum truth truth); /* "Unknown", "False", "True" */

#endif
