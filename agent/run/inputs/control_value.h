/*
 * control_value - the texts of a control input: which are accepted, and what they mean. Pure.
 *
 * Life cycle: a zeroed struct desired -> control_value_set(), control_value_ignore() ... ->
 * control_value_judge() -> desired_release().
 */
#ifndef DREY_RUN_CONTROL_VALUE_H
#define DREY_RUN_CONTROL_VALUE_H

#include <stddef.h>

#include "core/desired.h"

#define CONTROL_VALUE_MAX 16384 /* bytes of one value */

/* Copied, without surrounding white space. A value with a zero byte, or one too long, makes the
 * whole reading bad. */
void control_value_set(struct desired *desired, enum desired_key key, const char *text,
		       size_t len_bytes);
void control_value_ignore(struct desired *desired, const char *name); /* not a key */

/* Interpret the texts. The first invalid one is reported in `bad`; a value refused by
 * control_value_set() already has been. */
void control_value_judge(struct desired *desired);

#endif
