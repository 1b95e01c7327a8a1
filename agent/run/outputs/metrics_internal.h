/*
 * metrics_internal - what the parts of the exposition share. Private to them.
 *
 *   metrics.c           the counters, and all but the next ones
 *   metrics_handover.c  the hand-over, and who this pod is
 */
#ifndef DREY_RUN_METRICS_INTERNAL_H
#define DREY_RUN_METRICS_INTERNAL_H

#include "run/outputs/metrics.h"

void metrics_family(struct buf *text, const char *name, const char *type, const char *help);
/* One sample of a family that has begun; one that has no labels, with its family. */
void metrics_labelled(struct buf *text, const char *name, const char *label, const char *value,
		      int64_t sample);
void metrics_number(struct buf *text, const char *name, const char *type, const char *help,
		    int64_t value);
/* A gauge that has no sample if the value is not known; a negative time is not. */
void metrics_known(struct buf *text, const char *name, const char *help, bool is_known,
		   int64_t value);
void metrics_seconds(struct buf *text, const char *name, const char *help, bool is_known,
		     int64_t value_ms);

/* metrics_handover.c: without hand-overs the families have no samples. */
void metrics_role(const struct lifecycle *life, const struct standby *standby, struct buf *text);
void metrics_handover(const struct lifecycle *life, struct buf *text);

#endif
