/*
 * sightings - what was seen in the stores while one decision was made: which files a listing has named,
 * which have answered, with what size and when. A file that was seen and is then absent, or shorter, was
 * not read: one of the two answers is wrong, and nothing can tell which.
 *
 * Life cycle: sightings_new() -> struct stores.seen, or store_open() makes its own -> sightings_free(),
 * after the stores. Whoever makes a decision (observe, verify, one run of gc) has one for all of it, and a
 * new one for the next. store.c records and asks: no scheme and no caller takes part, or can forget it.
 *
 * A name takes 24 bytes, whatever its length: only its hash is kept, with a secret of this memory in it.
 * Names that are taken for another one are one in 10^13 among 100,000, and then a file counts as not read.
 * After SIGHTINGS_MAX names no further one is remembered; then every absence counts as contradicted that no
 * listing since has shown.
 *
 * One thread at a time, as the stores.
 */
#ifndef DREY_STORE_SIGHTINGS_H
#define DREY_STORE_SIGHTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define SIGHTINGS_MAX ((size_t)917504) /* 7/8 of 2^20 slots: 24 MiB */

struct sightings;

struct sightings *sightings_new(void);
void sightings_free(struct sightings *seen); /* NULL is allowed */

/* ---- what the core can ask ---- */

/* All that was seen of one file. */
struct store_sighting {
	int64_t listed_unix_ms; /* the newest listing that has named it began then; 0: none has */
	int64_t found_unix_ms;  /* it last answered itself (its size, its content); 0: never */
	int64_t size_bytes;     /* the greatest that was seen; -1: not known */
	int64_t dir_unix_ms;    /* the newest complete listing that would have named it; 0: none */
	bool left_out;          /* that listing has not named it */
};

/* False: nothing is known about it. `left_out` of a file that was found later: the listing is old, or the
 * file is new. */
bool sightings_of(const struct sightings *seen, const char *uri, struct store_sighting *ret);

/* Has the newest complete listing that would have named it not done so? */
bool sightings_left_out(const struct sightings *seen, const char *uri);

/* Have listings named it, and nothing else shown that it is there? */
bool sightings_only_listed(const struct sightings *seen, const char *uri);

/* ---- for store.c ---- */

/* Times are ticks of this memory: they never go back, and a listing begins after all that was seen before. */
typedef uint32_t sightings_tick;

sightings_tick sightings_begin(struct sightings *seen);

/* Was anything seen? */
bool sightings_any(const struct sightings *seen);

/* A listing that began at `tick` has named it. A directory ends in a slash: it has no size (-1). */
void sightings_listed(struct sightings *seen, const char *uri, int64_t size_bytes,
		      sightings_tick tick);
/* It has answered itself; of a directory: names in it were seen. */
void sightings_found(struct sightings *seen, const char *uri, int64_t size_bytes);
void sightings_forget(struct sightings *seen, const char *uri); /* it was deleted */

/* What a complete listing covers. */
enum sightings_scope {
	SIGHTINGS_LEVEL, /* what lies directly in the directory */
	SIGHTINGS_TREE,  /* all below it */
	SIGHTINGS_LEAF,  /* one name in each directory of it: "dir/" followed by the name */
};

/* `uri`: of the directory, with its last slash; SIGHTINGS_LEAF: and the name of the leaf. */
void sightings_complete(struct sightings *seen, enum sightings_scope scope, const char *uri,
			sightings_tick tick);

/* The listing was made to know what is gone (store_look_again()): what it did not name is forgotten. */
void sightings_gone(struct sightings *seen, enum sightings_scope scope, const char *uri,
		    sightings_tick tick);

/* It is said to be absent, or (size_bytes >= 0) of this size. 0: nothing speaks against that. -1: something
 * that was seen does, ERR_CONTRADICTED with both; `answer` is the other: "answered 404". */
int sightings_check(struct sightings *seen, const char *uri, int64_t size_bytes, const char *answer,
		    struct err *err);

#endif
