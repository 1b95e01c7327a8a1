/*
 * lifecycle_claim - whether the job claims what it is restored from (effective.h), and the format of its savepoints,
 * which follows from that. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_CLAIM_H
#define DREY_CORE_LIFECYCLE_CLAIM_H

#include "core/lifecycle/lifecycle.h"

/* Record whether the job claims its restore point, if the poll has shown what Flink restored. */
void see_claim(struct lifecycle *life, struct launch *launch, const struct view *view);

/* The tasks of the job fail for this reason. Record that Flink has refused a canonical savepoint, if it has. */
void see_refusal(struct lifecycle *life, struct launch *launch, const char *failure);

/* The format in which an operation writes its savepoint; says so if it is another one because of the claim mode. */
enum snapshot_format operation_format(struct lifecycle *life, enum operation_kind kind,
				      enum operation_reason reason);

#endif
