/*
 * verify - is a snapshot complete: does `_metadata` parse, and does every file that it names exist?
 *
 * Exactly what Flink will read is checked. Sizes must be equal, except where Flink itself records
 * less than the file contains (segments of merged files, changelog): there the file must not be
 * shorter. A size that Flink did not record is not checked. Content is not read: only `_metadata`.
 */
#ifndef DREY_STORE_VERIFY_H
#define DREY_STORE_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "format/metadata.h"
#include "store/store_config.h"

struct stores;

enum verify_verdict {
	VERIFY_COMPLETE,   /* everything exists */
	VERIFY_DAMAGED,    /* proven: something is missing, wrong or undecodable */
	VERIFY_UNREADABLE, /* not known: something could not be read */
};

enum verify_fault {
	VERIFY_MISSING,
	VERIFY_WRONG_SIZE,
	VERIFY_UNDECODABLE, /* `_metadata` only */
	VERIFY_NOT_READ,
};

struct verify_problem {
	enum verify_fault fault;
	char *path;         /* full URI */
	char *detail;       /* "is missing", "has 12 bytes, expected 20", the error */
	enum err_kind kind; /* VERIFY_NOT_READ: of the error */
};

struct verify_report {
	enum verify_verdict verdict;
	char *path;   /* directory of the snapshot, canonical spelling */
	bool decoded; /* the members below are set */
	struct metadata_header header;
	struct metadata_tail tail;
	int64_t metadata_unix_ms; /* date of the _metadata; -1 not known */
	char (*operators)[33];    /* ids, sorted */
	size_t operator_count;
	int64_t size_bytes; /* as metadata.size_bytes */
	size_t file_count;  /* referenced, distinct */
	size_t files_ok;
	/* at most VERIFY_MAX_PROBLEMS; VERIFY_NOT_READ comes last, equal faults are sorted by
	 * path */
	struct verify_problem *problems;
	size_t problem_count;
	size_t problems_left_out; /* including files of a store that stopped answering */
};

#define VERIFY_MAX_PROBLEMS 1000

/*
 * `path`: directory of a snapshot or its `_metadata`, a URI or an absolute path. Returns 0 with a
 * report whenever there is a verdict, VERIFY_UNREADABLE included; -1 (ERR_CONFIG) if path cannot be
 * a snapshot at all. config as for store_open(). Release with verify_release().
 */
int verify_snapshot(const struct store_config *config, const char *path, struct verify_report *ret,
		    struct err *err);

/* The same with open stores, and what was seen in them: a file that a listing of the same decision has named
 * is never "missing" then, but not read. */
int verify_snapshot_in(struct stores *stores, const char *path, struct verify_report *ret,
		       struct err *err);

/* The same for the files that a completedCheckpoint file of Flink's HA names, from which Flink recovers; the report has
 * no header and no operators. -1: the file cannot be read to its end as one, and *err says why. */
int verify_object_in(struct stores *stores, const char *uri, struct verify_report *ret,
		     struct err *err);

/*
 * Read the `_metadata` of that snapshot, and nothing else of it. ERR_CONFIG as above; ERR_FORMAT: it is
 * damaged; else it could not be read. Release with metadata_release().
 */
int verify_read_metadata(const struct store_config *config, const char *path, struct metadata *ret,
			 struct err *err);

void verify_release(struct verify_report *report); /* NULL and zeroed are allowed */

/* "complete", "damaged", "unreadable"; "missing", "wrong-size", "undecodable", "not-read". */
const char *verify_verdict_name(enum verify_verdict verdict);
const char *verify_fault_name(enum verify_fault fault);

#endif
