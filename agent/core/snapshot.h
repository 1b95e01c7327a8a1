/*
 * snapshot - a checkpoint or savepoint of this job, as drey knows it.
 *
 * Ownership: a struct snapshot owns its strings; copies are made with snapshot_copy().
 */
#ifndef DREY_CORE_SNAPSHOT_H
#define DREY_CORE_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#define JOB_ID_BYTES 33 /* 32 hex digits and NUL; "" = not known */

enum snapshot_kind {
	SNAPSHOT_CHECKPOINT,
	SNAPSHOT_SAVEPOINT,
};

/* Why it exists. */
enum snapshot_origin {
	ORIGIN_FOUND,    /* listed in storage, not made on our request */
	ORIGIN_PERIODIC, /* periodic savepoint */
	ORIGIN_MANUAL,   /* savepoint that a person or a CronJob asked for */
	ORIGIN_STOP,     /* stop with savepoint: suspend, restart, upgrade, termination */
	ORIGIN_INITIAL,  /* the initial savepoint of the configuration */
	ORIGIN_REQUEST,  /* named by a one-shot restore request */
};

struct snapshot {
	char *path; /* directory that holds _metadata, as Flink names it */
	enum snapshot_kind kind;
	enum snapshot_origin origin;
	int64_t checkpoint_id; /* 0 = not known; Flink counts from 1 */
	/* whole id, or the first 6 digits for a savepoint found by name */
	char job_id[JOB_ID_BYTES];
	int64_t completed_unix_ms; /* 0 = not known */
	int64_t size_bytes;        /* _metadata and everything it refers to; -1 = not known */
	int64_t file_count;        /* -1 = not known */
	bool verified;             /* every referenced file was there with the right size */
	/* When that was, and what the storage told of _metadata then (a listing, not the file
	 * itself): trusted for some minutes as long as it tells the same. 0 = not known. */
	int64_t verified_unix_ms;
	int64_t metadata_unix_ms;
	int64_t metadata_bytes;
	int metadata_version;
};

/* *to is overwritten (not released); it owns copies afterwards. */
void snapshot_copy(struct snapshot *to, const struct snapshot *from);
void snapshot_release(struct snapshot *snapshot);

/* True when both name the same snapshot directory: file:/a, file:///a, /a, /a/ and /a/_metadata are
 * one. */
bool snapshot_same_path(const char *a, const char *b);

/* The same for all ways to write one path, and seldom the same for two: for who compares one path with
 * many, and asks snapshot_same_path() only when this is equal. */
uint64_t snapshot_path_key(const char *path);

/* True when the snapshot lies in this directory, written in any of these ways, or below it. */
bool snapshot_is_under(const char *path, const char *dir);

/* True when both are on the same storage: scheme, and bucket or host. */
bool snapshot_same_storage(const char *a, const char *b);

const char *snapshot_kind_name(enum snapshot_kind kind);       /* "checkpoint", "savepoint" */
const char *snapshot_origin_name(enum snapshot_origin origin); /* "found", "periodic", ... */

#endif
