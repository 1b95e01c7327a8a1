/*
 * exposition - the text format of Prometheus (0.0.4), line by line. Pure.
 *
 * A family begins with exposition_family(), and its samples follow before the next one.
 */
#ifndef DREY_RUN_EXPOSITION_H
#define DREY_RUN_EXPOSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

void exposition_family(struct buf *text, const char *name, const char *type, const char *help);
/* label="value", escaped; NULL is "". */
void exposition_label(struct buf *text, const char *label, const char *value);
/* One sample of the family. */
void exposition_labelled(struct buf *text, const char *name, const char *label, const char *value,
			 int64_t sample);

/* A family with one sample that has no labels. */
void exposition_number(struct buf *text, const char *name, const char *type, const char *help,
		       int64_t value);
/* What is not known has no sample: a zero would be a lie that alerts. A negative time is not known. */
void exposition_known(struct buf *text, const char *name, const char *help, bool is_known,
		      int64_t value);
void exposition_seconds(struct buf *text, const char *name, const char *help, bool is_known,
			int64_t value_ms);

#endif
