#include "format/ha_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/mem.h"
#include "base/percent.h"
#include "format/java_stream.h"

#define ROOT_WRAPPED                                                                               \
	"org.apache.flink.kubernetes.highavailability."                                            \
	"KubernetesStateHandleStore$StateHandleWithDeleteMarker"
#define ROOT_PLAIN        "org.apache.flink.runtime.state.RetrievableStreamStateHandle"
#define ROOT_CHECKPOINT   "org.apache.flink.runtime.checkpoint.CompletedCheckpoint"
#define ROOT_JOB_GRAPH    "org.apache.flink.runtime.jobgraph.JobGraph"
#define ROOT_STREAM_GRAPH "org.apache.flink.streaming.api.graph.StreamGraph"
#define JOB_ID_CLASS      "org.apache.flink.api.common.JobID"

/* ---- the handle ---- */

struct handle_reader {
	struct ha_value value;
	bool has_size;
};

static int is_field(const struct java_value *value, const char *field)
{
	return value->field && !strcmp(value->field, field);
}

/* For a message: hostile bytes must not reach a terminal. */
static const char *class_for_people(const struct java_value *value)
{
	const char *name = value->class_name;

	if (!name)
		return "no object";
	for (const char *p = name; *p; p++)
		if (*p <= ' ' || *p > '~')
			return "another class";
	return name;
}

static int visit_handle(void *ctx, const struct java_value *value, struct err *err)
{
	struct handle_reader *rd = ctx;

	if (!value->depth) {
		if (value->class_name && (!strcmp(value->class_name, ROOT_WRAPPED) ||
					  !strcmp(value->class_name, ROOT_PLAIN)))
			return 0;
		return err_set(err, ERR_FORMAT, 0, "expected a state handle, found %s",
			       class_for_people(value));
	}
	if (value->depth == 1 && is_field(value, "markedForDeletion"))
		rd->value.deleted = value->number != 0;
	if (is_field(value, "stateSize") && !rd->has_size) {
		rd->value.size_bytes = value->number;
		rd->has_size = true;
	}
	if (is_field(value, "string") && value->owner && !strcmp(value->owner, "java.net.URI") &&
	    value->text && !rd->value.uri)
		rd->value.uri = xstrdup(value->text);
	return 0;
}

static int parse_handle(struct source *src, struct handle_reader *rd, struct err *err)
{
	int end;

	if (java_stream_parse(src, visit_handle, rd, err) < 0)
		return -1;
	end = source_at_end(src, err);
	if (end < 0)
		return -1;
	if (!end)
		return source_fail(source_offset(src), err, "expected the end, more follows");
	if (!rd->value.uri || !rd->value.uri[0])
		return err_set(err, ERR_FORMAT, 0, "the state handle has no file name");
	if (percent_decode(rd->value.uri))
		return err_set(err, ERR_FORMAT, 0, "the file name is not percent-encoded text");
	return 0;
}

int ha_value_parse(struct source *src, struct ha_value *ret, struct err *err)
{
	struct handle_reader rd = {.value.size_bytes = -1};

	if (parse_handle(src, &rd, err)) {
		ha_value_release(&rd.value);
		return -1;
	}
	*ret = rd.value;
	return 0;
}

int ha_value_decode(const char *text, size_t len_bytes, struct ha_value *ret, struct err *err)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	struct source *src;
	int rc;

	if (base64_decode(text, len_bytes, HA_VALUE_MAX_BYTES, &bytes, err))
		return -1;
	src = source_new_bytes(bytes.data, bytes.len_bytes);
	rc = ha_value_parse(src, ret, err);
	source_free(src);
	return rc;
}

void ha_value_release(struct ha_value *value)
{
	if (!value)
		return;
	free(value->uri);
	*value = (struct ha_value){0};
}

/* ---- the id of a job ---- */

/* A JobID (AbstractID: two longs) whose fields are one level below the field that has it. */
struct job_id_reader {
	bool inside, has_lower;
	uint64_t lower;
	char id[33]; /* "": not seen yet */
};

static void visit_job_id(struct job_id_reader *rd, const struct java_value *value)
{
	if (!rd->inside)
		return;
	if (is_field(value, "lowerPart")) {
		rd->lower = (uint64_t)value->number;
		rd->has_lower = true;
	}
	if (rd->has_lower && is_field(value, "upperPart"))
		snprintf(rd->id, sizeof(rd->id), "%016" PRIx64 "%016" PRIx64, rd->lower,
			 (uint64_t)value->number);
}

/* ---- CompletedCheckpoint ---- */

enum {
	HAS_ID = 1,
	HAS_TIMESTAMP = 2,
	HAS_COMPLETION = 4,
	HAS_POINTER = 8,
	HAS_ALL = 15,
};

struct checkpoint_reader {
	struct completed_checkpoint checkpoint;
	unsigned has;
	struct job_id_reader job;
};

/* A field of the checkpoint itself. 1 when nothing of interest can follow. */
static int visit_own_field(struct checkpoint_reader *rd, const struct java_value *value)
{
	struct completed_checkpoint *cp = &rd->checkpoint;

	rd->job.inside = false;
	if (is_field(value, "checkpointID")) {
		cp->checkpoint_id = value->number;
		rd->has |= HAS_ID;
	} else if (is_field(value, "timestamp")) {
		cp->timestamp_unix_ms = value->number;
		rd->has |= HAS_TIMESTAMP;
	} else if (is_field(value, "completionTimestamp")) {
		cp->completed_unix_ms = value->number;
		rd->has |= HAS_COMPLETION;
	} else if (is_field(value, "externalPointer")) {
		if (value->text) {
			xstrset(&cp->external_pointer, value->text);
			rd->has |= HAS_POINTER;
		}
	} else if (is_field(value, "job")) {
		rd->job.inside = true;
	} else {
		return rd->has == HAS_ALL;
	}
	return 0;
}

static int visit_checkpoint(void *ctx, const struct java_value *value, struct err *err)
{
	struct checkpoint_reader *rd = ctx;

	if (!value->depth) {
		if (value->class_name && !strcmp(value->class_name, ROOT_CHECKPOINT))
			return 0;
		return err_set(err, ERR_FORMAT, 0, "expected a CompletedCheckpoint, found %s",
			       class_for_people(value));
	}
	if (value->depth == 1)
		return visit_own_field(rd, value);
	if (value->depth == 2)
		visit_job_id(&rd->job, value);
	return rd->has == HAS_ALL && rd->job.id[0];
}

int completed_checkpoint_parse(struct source *src, struct completed_checkpoint *ret,
			       struct err *err)
{
	struct checkpoint_reader rd = {0};
	int rc = java_stream_parse(src, visit_checkpoint, &rd, err);

	if (rc >= 0 && rd.has != HAS_ALL)
		rc = err_set(err, ERR_FORMAT, 0,
			     "the CompletedCheckpoint has no id, times or pointer");
	if (rc < 0) {
		completed_checkpoint_release(&rd.checkpoint);
		return -1;
	}
	*ret = rd.checkpoint;
	memcpy(ret->job_id, rd.job.id, sizeof(ret->job_id));
	return 0;
}

void completed_checkpoint_release(struct completed_checkpoint *checkpoint)
{
	if (!checkpoint)
		return;
	free(checkpoint->external_pointer);
	*checkpoint = (struct completed_checkpoint){0};
}

/* ---- the files of a CompletedCheckpoint ---- */

#define FILE_HANDLE_CLASS "org.apache.flink.runtime.state.filesystem.FileStateHandle"
#define PATH_CLASS        "org.apache.flink.core.fs.Path"

struct files_reader {
	struct checkpoint_files files;
	bool inside;        /* the field operatorStates */
	int path_depth;     /* of a filePath whose name is awaited; 0 = none is */
	int64_t size_bytes; /* of the handle that has it */
};

static int add_checkpoint_file(struct files_reader *rd, const char *text, struct err *err)
{
	struct checkpoint_files *files = &rd->files;
	char *uri = xstrdup(text);

	if (!*uri || percent_decode(uri)) {
		free(uri);
		return err_set(err, ERR_FORMAT, 0, "the file name is not percent-encoded text");
	}
	files->list = xreallocarray(files->list, files->count + 1, sizeof(*files->list));
	files->list[files->count++] = (struct checkpoint_file){uri, rd->size_bytes};
	rd->path_depth = 0;
	rd->size_bytes = -1;
	return 0;
}

/* A handle has its size before its path, and a path has one URI. */
static int visit_files(void *ctx, const struct java_value *value, struct err *err)
{
	struct files_reader *rd = ctx;

	if (!value->depth) {
		if (value->class_name && !strcmp(value->class_name, ROOT_CHECKPOINT))
			return 0;
		return err_set(err, ERR_FORMAT, 0, "expected a CompletedCheckpoint, found %s",
			       class_for_people(value));
	}
	/* a path without a name is one that was there before, under the same name */
	if (rd->path_depth && value->depth <= rd->path_depth)
		return err_set(err, ERR_FORMAT, 0, "a state handle has no file name of its own");
	if (value->depth == 1) {
		rd->inside = is_field(value, "operatorStates");
		return 0;
	}
	if (!rd->inside)
		return 0;
	if (is_field(value, "stateSize") && value->owner)
		rd->size_bytes = strcmp(value->owner, FILE_HANDLE_CLASS) ? -1 : value->number;
	else if (is_field(value, "filePath") && value->class_name &&
		 !strcmp(value->class_name, PATH_CLASS))
		rd->path_depth = value->depth;
	else if (rd->path_depth && is_field(value, "string") && value->owner &&
		 !strcmp(value->owner, "java.net.URI") && value->text)
		return add_checkpoint_file(rd, value->text, err);
	return 0;
}

int completed_checkpoint_files(struct source *src, struct checkpoint_files *ret, struct err *err)
{
	struct files_reader rd = {.size_bytes = -1};

	if (java_stream_parse(src, visit_files, &rd, err) < 0) {
		checkpoint_files_release(&rd.files);
		return -1;
	}
	*ret = rd.files;
	return 0;
}

void checkpoint_files_release(struct checkpoint_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->list[i].uri);
	free(files->list);
	*files = (struct checkpoint_files){0};
}

/* ---- JobGraph, StreamGraph ---- */

/* JobGraph.jobID, StreamGraph.jobId. */
static int visit_stored_job(void *ctx, const struct java_value *value, struct err *err)
{
	struct job_id_reader *rd = ctx;

	if (!value->depth) {
		if (value->class_name && (!strcmp(value->class_name, ROOT_JOB_GRAPH) ||
					  !strcmp(value->class_name, ROOT_STREAM_GRAPH)))
			return 0;
		return err_set(err, ERR_FORMAT, 0, "expected a job, found %s",
			       class_for_people(value));
	}
	if (value->depth == 1)
		rd->inside = (is_field(value, "jobID") || is_field(value, "jobId")) &&
			     value->class_name && !strcmp(value->class_name, JOB_ID_CLASS);
	else if (value->depth == 2)
		visit_job_id(rd, value);
	return rd->id[0] != '\0';
}

int stored_job_parse(struct source *src, char ret_job_id[33], struct err *err)
{
	struct job_id_reader rd = {0};

	if (java_stream_parse(src, visit_stored_job, &rd, err) < 0)
		return -1;
	if (!rd.id[0])
		return err_set(err, ERR_FORMAT, 0, "the job has no id");
	memcpy(ret_job_id, rd.id, sizeof(rd.id));
	return 0;
}
