/* observe_internal - what the parts of observe share; used by observe*.c only. */
#ifndef DREY_RUN_OBSERVE_INTERNAL_H
#define DREY_RUN_OBSERVE_INTERNAL_H

#include "format/job_result.h"
#include "run/observe/observe.h"
#include "store/stores.h"

#define OBSERVE_NEXT 2 /* the one after the newest, and the first one of the last launch */

/* One observation. */
struct look {
	const struct observe_plan *plan;
	struct facts *facts;
	struct stores stores;
	char (*jobs)[JOB_ID_BYTES]; /* those of the plan and of its HA maps, sorted */
	size_t job_count;
	size_t *peek; /* candidates whose _metadata must be read, by index */
	size_t peek_count;
	/* checkpoints that no listing has, and that are asked for; NULL: none */
	char *next[OBSERVE_NEXT];
};

/*
 * A listing or a read has said that `uri` does not exist, which permits something: an older or an empty start. 0: a second
 * one agrees (store_is_listed()), or, where that is denied, one of `uri` itself. -1: it does not (ERR_CONTRADICTED), or
 * there is none.
 */
int observe_confirm_absent(struct store *store, const char *uri, struct err *err);

/* Before the first listing. */
void observe_sort_jobs(struct look *look);

/* List one directory; candidates and the fact about the source. NULL: not configured. */
void observe_list(struct look *look, enum source_kind source, const char *dir);

/* The same of a directory in which the lineage wrote, and that is not configured. */
void observe_list_lineage(struct look *look, const struct lineage_dir *dir);

/* Candidates and the fact from the HA maps. After the listings. */
void observe_ha(struct look *look);

/* What is in a file of the result store, at most max_bytes of it, is added to *text. */
int observe_read_result(struct store *store, const char *uri, size_t max_bytes, struct buf *text,
			struct err *err);
/* How the job of this result ended. */
enum job_end observe_end_of(const struct job_result *result);

/* How the last launch ended, if its end was not observed. */
void observe_result(struct look *look);

/* The journal's copy, if it is needed. After the result. */
void observe_copy(struct look *look);

/* What launches have left behind besides snapshots. Last of all listings. */
void observe_traces(struct look *look);

/* Is the job (or what its name begins with) one of the lineage, or one that only this application can have had?
 * Everything is, without a lineage, unless others write here, too. */
bool observe_is_ours(const struct look *look, const char *job_id);

/* A job that has left something, and what begins like its id: if it is a numbered one, its id is used. */
void observe_note_id(const struct look *look, const char *job_id);

/* Is it one of the numbered ids? */
bool observe_is_numbered(const struct look *look, const char *job_id);

/* The journal was read, and knows of no launch: it may be lost. */
bool observe_is_lost(const struct observe_plan *plan);

/* Note that the beginning of its _metadata must be read; and that the checkpoint after the newest that is known
 * (listing_next()), and the first one of a last launch of which none is known (listing_first()), must be asked for. Then read
 * all that was noted: version and checkpoint id, whether it exists at all, and its date if not known. */
void observe_note_peek(struct look *look, const struct candidate *candidate);
void observe_note_next(struct look *look);
void observe_peek(struct look *look);

/* detail is copied. */
void observe_set(struct candidate *candidate, enum integrity integrity, const char *detail);

#endif
