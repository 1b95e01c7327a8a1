/*
 * scale_record - what is recorded of the TaskManagers that were scaled to 0, beside the journal: how many there were,
 * and of which Deployment. Pure.
 */
#ifndef DREY_RUN_SCALE_RECORD_H
#define DREY_RUN_SCALE_RECORD_H

#include <stdint.h>

#include "base/err.h"

#define SCALE_RECORD_KEY "task-managers.json" /* in the ConfigMap of the journal */

/* The caller frees. */
char *scale_record_text(const char *deployment, const char *uid, int64_t replicas);

/* text NULL: there is none. *ret_replicas is 0 then, and for a record of another Deployment, also if it had the same
 * name. ERR_FORMAT: it cannot be read, so the number is not known. */
int scale_record_read(const char *text, const char *uid, int64_t *ret_replicas, struct err *err);

#endif
