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
	ORIGIN_FOUND,    /* found in storage, not requested by drey */
	ORIGIN_PERIODIC, /* periodic savepoint */
	ORIGIN_MANUAL,   /* savepoint requested by a person or a CronJob */
	ORIGIN_STOP,     /* stop with savepoint: suspend, restart, upgrade, termination */
	ORIGIN_INITIAL,  /* the initial savepoint of the configuration */
	ORIGIN_REQUEST,  /* named by a one-shot restore request */
};

/* How its files are written. Only a canonical one may be read with another state backend. */
enum snapshot_format {
	FORMAT_UNKNOWN,
	FORMAT_CANONICAL,
	FORMAT_NATIVE, /* the state backend's own: faster, above all with RocksDB */
};

struct snapshot {
	char *path; /* directory that holds _metadata, as Flink names it */
	enum snapshot_kind kind;
	enum snapshot_origin origin;
	enum snapshot_format format; /* known of the savepoints that drey has requested */
	int64_t checkpoint_id;       /* 0 = not known; Flink counts from 1 */
	/* whole id, or the first 6 digits for a savepoint found by name */
	char job_id[JOB_ID_BYTES];
	int64_t completed_unix_ms; /* 0 = not known */
	int64_t size_bytes;        /* _metadata and everything it refers to; -1 = not known */
	int64_t file_count;        /* -1 = not known */
	bool verified;             /* every referenced file was there with the right size */
	/* When that was, and what the storage listed for _metadata then (not the file itself):
	 * trusted for some minutes while the listing is the same. 0 = not known. */
	int64_t verified_unix_ms;
	int64_t metadata_unix_ms;
	int64_t metadata_bytes;
	int metadata_version;
	/* When another snapshot was seen to refer to its files, so that it must stay; asked again
	 * later. 0 = not. Not in the journal. */
	int64_t needed_unix_ms;
};

/* *to is overwritten (not released); it owns copies afterwards. */
void snapshot_copy(struct snapshot *to, const struct snapshot *from);
void snapshot_release(struct snapshot *snapshot);

/* True when both name the same snapshot directory: file:/a, file:///a, /a, /a/ and /a/_metadata are
 * one. */
bool snapshot_same_path(const char *a, const char *b);

/* A hash: equal for all spellings of one path, and rarely equal for two paths. To compare one path
 * with many, call snapshot_same_path() only when this is equal. */
uint64_t snapshot_path_key(const char *path);

/* A snapshot is known by the id `expected` (0 = by none), and its _metadata says `checkpoint_id`. NULL: they agree; else a
 * clause about the _metadata. The caller frees. */
char *snapshot_is_of_another(int64_t expected, int64_t checkpoint_id);

/* True when the snapshot is in or below this directory, in any of these spellings. */
bool snapshot_is_under(const char *path, const char *dir);

/* True when both are on the same storage: scheme, and bucket or host. */
bool snapshot_same_storage(const char *a, const char *b);

/* The words of the enums, by value; NULL at the end. */
extern const char *const snapshot_kind_words[], *const snapshot_origin_words[],
							*const snapshot_format_words[];
const char *snapshot_kind_name(enum snapshot_kind kind);       /* "checkpoint", "savepoint" */
const char *snapshot_origin_name(enum snapshot_origin origin); /* "found", "periodic", ... */

#endif
