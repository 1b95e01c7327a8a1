/*
 * control_value - the texts of a control input: what is accepted, and what they mean. Pure.
 *
 * Life cycle: a zeroed struct desired -> control_value_set(), control_value_ignore() ... ->
 * control_value_judge() -> desired_release().
 */
#ifndef DREY_RUN_CONTROL_VALUE_H
#define DREY_RUN_CONTROL_VALUE_H

#include <stddef.h>

#include "core/desired.h"

#define CONTROL_VALUE_MAX 16384 /* bytes of one value */

/* Copied, without the white space around it. One with a zero byte or too long makes all of it bad. */
void control_value_set(struct desired *desired, enum desired_key key, const char *text,
		       size_t len_bytes);
void control_value_ignore(struct desired *desired, const char *name); /* not a key */

/* What do the texts mean? The first that makes no sense is told in `bad`; a value that was refused by
 * control_value_set() has said so already. */
void control_value_judge(struct desired *desired);

#endif
