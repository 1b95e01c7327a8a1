/*
 * ha_value - what Flink's high availability stores about checkpoints.
 *
 * Three things: the value of a `checkpointID-*`, `jobGraph-*`, `executionPlan-*` or `application-*`
 * key of a ConfigMap (Base64 of a serialized handle that points to a file), the file that such a
 * handle of a checkpoint points to (`completedCheckpoint*`: a serialized CompletedCheckpoint), and that
 * of a job (`submittedJobGraph*`, `submittedExecutionPlan*`: a JobGraph, or since 2.0 a StreamGraph).
 *
 * Source: org.apache.flink.kubernetes.highavailability.KubernetesStateHandleStore,
 * org.apache.flink.runtime.checkpoint.CompletedCheckpoint, org.apache.flink.runtime.jobgraph.JobGraph and
 * org.apache.flink.streaming.api.graph.StreamGraph, Flink 1.13 to 2.3. Both layouts of the
 * value are read: the handle alone (1.14 and older) and wrapped with a delete marker.
 *
 * Errors: ERR_FORMAT with the byte offset (in the decoded bytes).
 */
#ifndef DREY_FORMAT_HA_VALUE_H
#define DREY_FORMAT_HA_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "format/source.h"

#define HA_VALUE_MAX_BYTES (64 * 1024) /* of decoded value */

struct ha_value {
	bool deleted;       /* Flink treats the key as absent: a removal that was interrupted */
	char *uri;          /* decoded, as given by Flink's Path.toString() */
	int64_t size_bytes; /* of the file that uri names */
};

/* From the Base64 text in the ConfigMap. Release with ha_value_release(). */
int ha_value_decode(const char *text, size_t len_bytes, struct ha_value *ret, struct err *err);

/* From the decoded bytes. The source must end after the value. */
int ha_value_parse(struct source *src, struct ha_value *ret, struct err *err);

void ha_value_release(struct ha_value *value); /* NULL and zeroed are allowed */

struct completed_checkpoint {
	int64_t checkpoint_id;
	int64_t timestamp_unix_ms; /* trigger and completion; both 0 for a snapshot that the job */
	int64_t completed_unix_ms; /* was restored from */
	/* directory of the `_metadata`, or the literal "<checkpoint-not-externally-addressable>" */
	char *external_pointer;
	char job_id[33]; /* "" if not at its expected position */
};

/* Reads only the beginning: the operator state after it can be megabytes and is not read. */
int completed_checkpoint_parse(struct source *src, struct completed_checkpoint *ret,
			       struct err *err);

/* A file with state to which a CompletedCheckpoint refers. */
struct checkpoint_file {
	char *uri;          /* decoded, a whole path */
	int64_t size_bytes; /* -1 = the object does not say */
};

struct checkpoint_files {
	struct checkpoint_file *list;
	size_t count;
};

/* All files of its operator state: what Flink will read when it recovers from this object, whatever is in the
 * `_metadata` beside it. Reads the whole object. ERR_FORMAT also if it is larger than java_stream.h takes, or has a
 * file without a name. Release with checkpoint_files_release(). */
int completed_checkpoint_files(struct source *src, struct checkpoint_files *ret, struct err *err);
void checkpoint_files_release(struct checkpoint_files *files); /* zeroed is allowed */

void completed_checkpoint_release(struct completed_checkpoint *checkpoint);

/* The id of the job that this file would start again, 32 digits. Reads up to there only. */
int stored_job_parse(struct source *src, char ret_job_id[33], struct err *err);

#endif
