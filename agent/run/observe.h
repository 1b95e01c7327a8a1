/*
 * observe - gathers the facts that core/resolve decides on. Synchronous: runs on a lane of `drey run`
 * and directly in `drey resolve`. Looks only, changes nothing.
 *
 *   observe_plan_init(&plan, config..., journal)   loop's thread; copies what is needed
 *   observe_gather(&plan, &facts)                   any thread
 *   do resolve(journal, &facts, ...) while VERIFY -> observe_verify(&facts.candidates[i])
 *   facts_release(&facts), observe_plan_release(&plan)
 */
#ifndef DREY_RUN_OBSERVE_H
#define DREY_RUN_OBSERVE_H

#include "base/err.h"
#include "core/facts.h"
#include "core/journal.h"
#include "store/store_config.h"

struct observe_plan {
	const struct store_config *storage;                       /* borrowed */
	char *checkpoint_dir, *savepoint_dir, *initial, *request; /* NULL = not configured */
	int max_metadata_version;
	char (*job_ids)[JOB_ID_BYTES]; /* the lineage; none = the application has never run */
	size_t job_id_count;
	struct snapshot *known; /* restore points and savepoints that the journal names */
	size_t known_count;
	enum source_state journal_state;
	char *journal_detail;
};

struct observe_places {
	const struct store_config *storage; /* borrowed; NULL: a zeroed one */
	const char *checkpoint_dir, *savepoint_dir, *initial;
	int max_metadata_version; /* 0 = not known */
};

/* journal NULL: it could not be read, and journal_error says why. */
void observe_plan_init(struct observe_plan *plan, const struct observe_places *places,
		       const struct journal *journal, const char *journal_error);
void observe_plan_release(struct observe_plan *plan);

/* Never fails: what cannot be read is a fact too. *ret_facts: facts_release(). */
void observe_gather(const struct observe_plan *plan, struct facts *ret_facts);

/* Look at one candidate closely: _metadata and every file that it names. */
void observe_verify(const struct store_config *storage, struct candidate *candidate);

/* Is a configured directory there? 0; ERR_CONFIG with the way out for a directory on this machine
 * that does not exist (the volume may not be mounted: that is not the same as empty). */
int observe_directory(const struct store_config *storage, const char *uri, struct err *err);

#endif
