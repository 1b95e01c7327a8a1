/*
 * migrate - a FlinkDeployment of the Apache Flink Kubernetes Operator as values of the chart.
 *
 * Life cycle: migrate() -> read the struct -> migration_release(). Pure: documents in, values out.
 *
 * Every field of the input that has a value is below the path of an entry, which says where the value
 * went, what has to be decided, or why it went nowhere: nothing is dropped silently. An entry
 * contains no value of a field that could be a secret.
 *
 * Rejected: no FlinkDeployment or FlinkBlueGreenDeployment with a job, several of them without a
 * name, another apiVersion than flink.apache.org/v1beta1, and a field of a wrong type. What the
 * fields mean: the Java package org.apache.flink.kubernetes.operator.api.spec, and
 * FlinkConfigBuilder for how the operator combines them.
 */
#ifndef DREY_MIGRATE_MIGRATE_H
#define DREY_MIGRATE_MIGRATE_H

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

/* Placeholders that no storage and no registry can have; a MIGRATE_DECIDE names them. */
#define MIGRATE_NO_STATE "s3://BUCKET/"
#define MIGRATE_NO_IMAGE "registry.invalid/"

enum migrate_outcome {
	MIGRATE_DECIDE,         /* the user has to decide or to do something */
	MIGRATE_MAPPED,         /* it is in the values */
	MIGRATE_NO_COUNTERPART, /* drey and the chart have nothing like it */
	MIGRATE_NOT_NEEDED,     /* drey or the chart does it anyway, or it has no effect */
	MIGRATE_OUTCOME_COUNT,
};

struct migrate_entry {
	enum migrate_outcome outcome;
	char *path; /* of the field, "spec.job.args"; of another object, "KIND/NAME" */
	char *to;   /* the key of the values; NULL: none */
	char *text; /* one sentence; "" only for MIGRATE_MAPPED */
};

struct migration {
	char *kind, *name, *namespace; /* of the object; namespace may be NULL */
	struct json *values;
	struct migrate_entry *entries; /* in the order of the input */
	size_t entry_count;
};

struct migrate_wish {
	const char *name;      /* which object, [NAMESPACE/]NAME; NULL: the only one */
	const char *state_uri; /* of the values; NULL: beside the old checkpoints */
};

/* `documents` is a list of them; one of kind List counts as its items. The caller releases
 * *ret_migration with migration_release(). ERR_CONFIG. */
int migrate(const struct json *documents, const struct migrate_wish *wish,
	    struct migration *ret_migration, struct err *err);

void migration_release(struct migration *migration);

/* "decide", "mapped", "no-counterpart", "not-needed" */
const char *migrate_outcome_name(enum migrate_outcome outcome);

#endif
