/*
 * job_id - job ids that are known in advance. Pure.
 *
 * The ConfigMaps of Flink's high availability carry the job id in their name. With random ids the
 * Role of a pod would have to allow every ConfigMap of the namespace; numbered ids can be named in
 * it. Such an id is the first half of a SHA-256, so it looks like any other and is unique:
 *
 *   id(n) = the first 32 hex digits of sha256("<space>/<n>"), n = 0, 1, 2 ... in decimal
 *   space = "<namespace>/<application>/<salt>"
 *
 * The author of the Role derives the same names; so none of this may ever change.
 */
#ifndef DREY_CORE_JOB_ID_H
#define DREY_CORE_JOB_ID_H

#include <stdint.h>

#include "core/snapshot.h"

/* Caller frees. `salt` may be "". */
char *job_id_space(const char *namespace, const char *application, const char *salt);

void job_id_name(const char *space, int64_t number, char ret_id[JOB_ID_BYTES]);

#endif
