/*
 * scale_record - what is recorded of an object whose TaskManagers were scaled to 0, beside the journal: how many there
 * were, and its UID. Each has a key of its own, so a record that cannot be read hides none of the others. Pure.
 */
#ifndef DREY_RUN_SCALE_RECORD_H
#define DREY_RUN_SCALE_RECORD_H

#include <stdint.h>

#include "base/err.h"
#include "kube/kube_scale.h"

#define SCALE_RECORD_PREFIX "task-managers." /* of the keys, in the ConfigMap of the journal */

/* "task-managers.deployment.NAME.json"; the caller frees. */
char *scale_record_key(const struct kube_scale_target *target);

/* The caller frees. */
char *scale_record_text(const char *uid, int64_t replicas);

/* text NULL: there is none. *ret_replicas is 0 then, and for a record of another object, also if it had the same name.
 * ERR_FORMAT: it cannot be read, so the number is not known; says the key. */
int scale_record_read(const char *key, const char *text, const char *uid, int64_t *ret_replicas,
		      struct err *err);

#endif
