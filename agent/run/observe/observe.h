/*
 * observe - gathers the facts that core/resolve decides on. Synchronous: runs on a lane of `drey
 * run` and directly in the commands. Read-only.
 *
 *   observe_plan_init(&plan, config..., journal)   loop's thread; copies what is needed
 *   observe_gather(&plan, &facts)                   any thread
 *   do resolve(journal, &facts, ...) while VERIFY -> observe_check(&plan, &facts, i)
 *   facts_release(&facts), observe_plan_release(&plan)
 *
 * A history may be long. Of each listing the newest OBSERVE_KEEP snapshots of this application
 * become candidates, and the newest OBSERVE_KEEP_FOREIGN of others: they are never started from,
 * but one that is newer than all of ours must be noticed. The rest is counted in
 * facts.sources[].left_out. Memory does not grow with the listing.
 */
#ifndef DREY_RUN_OBSERVE_H
#define DREY_RUN_OBSERVE_H

#include "base/err.h"
#include "core/journal/journal.h"
#include "core/resolve/facts.h"
#include "core/resolve/lineage_dirs.h"
#include "format/ha_map.h"
#include "store/store_config.h"

#define OBSERVE_KEEP         1000
#define OBSERVE_KEEP_FOREIGN 100

/* Called from time to time with the number of snapshots listed so far in a source. */
typedef void observe_progress_fn(void *ctx, enum source_kind source, size_t found);

struct observe_plan {
	const struct store_config *storage; /* borrowed */
	struct sightings *seen; /* in storage, for this decision (store/sightings.h); owned */
	char *checkpoint_dir, *savepoint_dir, *initial, *request; /* NULL = not configured */
	/* listed in addition to those two */
	struct lineage_dirs lineage;
	int max_metadata_version;
	char (*job_ids)[JOB_ID_BYTES]; /* the lineage; none = the application has never run */
	size_t job_id_count;
	/* numbered ids (core/job_id.h), sorted: traces of them are facts */
	char (*names)[JOB_ID_BYTES];
	size_t name_count;
	bool only_job_ids; /* snapshots of other jobs are counted, not made candidates */
	char result_job[JOB_ID_BYTES]; /* whose end was not observed */
	char result_application[JOB_ID_BYTES];
	char *result_dir;  /* where Flink may have left a record of it; NULL = no such launch */
	char *results_dir; /* of the result stores of all launches; NULL = none */
	char *first; /* the first checkpoint of the last launch (listing_first()); NULL = not known */
	/* of the operation in flight that may have left a savepoint; "" = there is none */
	char operation_job[JOB_ID_BYTES];
	int64_t operation_unix_ms; /* its begin */
	/* restore points, savepoints and the newest checkpoint of the journal */
	struct snapshot *known;
	size_t known_count;
	enum source_state journal_state;
	char *journal_detail;
	struct ha_maps ha; /* HA ConfigMaps as they were read; owned */
	enum source_state ha_state;
	char *ha_detail; /* why they are unreadable */
	bool ha_unread;  /* those of Flink's cluster id were not all read */
	/* for the fact's detail: whose maps, that Flink would not use now, are included */
	char *ha_former;
	char *lock_held; /* why a live Flink may own the leader lock; NULL = none does */
	/* Savepoints that are only listed stay `unread` (core/resolve/facts.h): observe_check()
	 * reads those that matter for the decision. */
	bool heads_later;
	/* the journal's copy; NULL = there is none. It is read when the journal has no launch that ran,
	 * or (`copy_later`) when Flink has recorded an end that the journal does not have */
	char *copy_uri, *application, *name_space;
	bool copy_later;
	char last_launch_id[JOB_ID_BYTES]; /* of the journal; "" = it has none */
	observe_progress_fn *progress;
	void *progress_ctx;
};

struct observe_places {
	const struct store_config *storage; /* borrowed; NULL: a zeroed one */
	const char *checkpoint_dir, *savepoint_dir, *initial;
	const char *results_dir;  /* of the result stores of all launches; NULL = none */
	int max_metadata_version; /* 0 = not known */
	const char *id_space;     /* of numbered job ids; NULL = they are random */
	int64_t id_count;
	bool ignore_foreign;    /* the directories are shared: other jobs are not inspected */
	const char *copy_uri;   /* of the journal's copy; NULL = it has none */
	const char *name_space; /* of Kubernetes; NULL = none */
};

/* journal NULL: it could not be read, and journal_error says why. */
void observe_plan_init(struct observe_plan *plan, const struct observe_places *places,
		       const struct journal *journal, const char *journal_error);

/* Add HA maps, and how they were read. Takes ownership of *maps. SOURCE_UNREADABLE: detail (copied)
 * says why. Further calls add more. */
void observe_plan_add_ha(struct observe_plan *plan, struct ha_maps *maps, enum source_state state,
			 const char *detail);

void observe_plan_release(struct observe_plan *plan);
#define cleanup_observe_plan __attribute__((cleanup(observe_plan_release)))

/* Never fails: what cannot be read is a fact too. *ret_facts: facts_release(). */
void observe_gather(const struct observe_plan *plan, struct facts *ret_facts);

/*
 * Check one candidate in full: _metadata and every file that it names. Fills in integrity, size,
 * files, date and operators, and `recovery` where an HA map names it. A completedCheckpoint file
 * was already read when the facts were gathered; where the _metadata is not complete, the state files that
 * the completedCheckpoint file itself names decide whether Flink can recover.
 */
void observe_verify(const struct store_config *storage, struct candidate *candidate);

/* What DECISION_VERIFY of candidate `index` requests: the beginnings of all that are `wanted`, if it
 * is one of them; else that one, as above. What the listings of the plan have seen counts: a file that they
 * named is not absent for this decision. */
void observe_check(const struct observe_plan *plan, struct facts *facts, size_t index);

/* Can a configured directory be listed? ERR_RETRY with the remedy for a directory on this
 * machine that does not exist: its volume may not be mounted yet, which is never the same as
 * empty, not even if only the last name of the path is missing (an unmounted volume leaves its
 * mount point). */
int observe_directory(const struct store_config *storage, const char *uri, struct err *err);

#endif
