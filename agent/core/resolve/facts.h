/*
 * facts - everything observed before a decision, each with how it was read.
 *
 * Gathered by run/observe, judged by core/resolve. Nothing here is a conclusion: an error stays an
 * error, and absent means proven absent.
 */
#ifndef DREY_CORE_FACTS_H
#define DREY_CORE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/snapshot.h"

struct journal_copy;

enum source_kind {
	SOURCE_JOURNAL,
	SOURCE_HA, /* HA ConfigMaps: what Flink itself recovers from under the same job id */
	SOURCE_CHECKPOINTS, /* retained checkpoints under the checkpoint directory */
	SOURCE_SAVEPOINTS,  /* savepoints under the savepoint directory */
	/* other directories to which launches of the lineage wrote (lineage_dirs.h) */
	SOURCE_LINEAGE,
	SOURCE_INITIAL, /* the initial savepoint of the configuration */
	SOURCE_REQUEST, /* a one-shot restore request */
	SOURCE_RESULTS, /* how the job of journal_open_launch() ended, as recorded by Flink */
	/* the journal's copy in storage (core/journal/journal_copy.h); read only when the journal has no
	 * launch that ran, or when the last job has an end that the journal does not have */
	SOURCE_COPY,
	SOURCE_COUNT,
};

enum source_state {
	SOURCE_NOT_CONFIGURED,
	SOURCE_PRESENT,    /* read completely, holds something */
	SOURCE_ABSENT,     /* read completely, holds nothing */
	SOURCE_UNREADABLE, /* denied, timed out, partial, undecodable: could hold anything */
};

struct source_fact {
	enum source_state state;
	char *detail;    /* what was read, or why it could not be; owned */
	size_t left_out; /* found, but not a candidate: older than all candidates */
};

/* One directory that was listed, or should have been. */
struct place_fact {
	enum source_kind source;
	enum snapshot_kind kind; /* of its snapshots */
	char *dir;               /* owned, as `detail` */
	enum source_state state;
	char *detail;
};

enum integrity {
	INTEGRITY_UNCHECKED,  /* not checked yet; resolve() asks for it when it matters */
	INTEGRITY_COMPLETE,   /* _metadata parses and every file is there with the right size */
	INTEGRITY_DAMAGED,    /* proven incomplete or undecodable: never usable */
	INTEGRITY_INCOMPLETE, /* no _metadata: never completed */
	INTEGRITY_UNREADABLE, /* could not be checked: may be good */
};

/* resolve() writes its verdict here; --explain prints it. */
enum verdict {
	VERDICT_NONE,
	VERDICT_CHOSEN,
	VERDICT_OLDER,
	VERDICT_REJECTED,
};

struct candidate {
	struct snapshot snapshot;
	uint64_t path_key; /* of snapshot.path */
	enum source_kind source;
	enum integrity integrity;
	bool in_ha; /* an entry of a live HA ConfigMap names it, whichever source found it */
	/* in_ha: the job whose map it is; of several maps, that of the journal's last launch. Not
	 * always the job that made it: the map also names what the job was started from. */
	char ha_job_id[JOB_ID_BYTES];
	char (*ha_others)[JOB_ID_BYTES]; /* the others, if there are several; owned */
	size_t ha_other_count;
	/* in_ha: only by maps of a cluster id that earlier launches used: Flink would not recover
	 * from them now */
	bool ha_former;
	/* in_ha: `counter` of that map, the id of the next checkpoint of the job: Flink raises it
	 * before it begins one. 0 = not known. */
	int64_t ha_counter;
	/* in_ha: can Flink recover it under that job id? It reads the completedCheckpoint file and
	 * the state files then, not _metadata. COMPLETE although `integrity` is not: _metadata is
	 * missing or damaged, or names files that are not there, and those that the file names are. An entry whose
	 * completedCheckpoint file cannot be read has that file as its path, and the id of its key.
	 */
	enum integrity recovery;
	char *ha_file; /* in_ha: the completedCheckpoint file of that entry; NULL = not read; owned */
	char *recovery_detail; /* why not, if `detail` does not say it; owned */
	/* only listed: the beginning of its _metadata was not read, so its checkpoint id is not
	 * known. `wanted`: resolve() needs it (DECISION_VERIFY). */
	bool unread, wanted;
	/* the checkpoint id under which the journal knows it; 0 = it does not. A _metadata with another
	 * one is that of another snapshot. */
	int64_t recorded_id;
	/* when the listing was complete, and when it was read; 0 = neither, or not known */
	int64_t listed_unix_ms, read_unix_ms;
	bool contradicted;    /* UNREADABLE because the readings do not agree (evidence.h) */
	int metadata_version; /* 0 = not known */
	/* it was read: a blue/green upgrade was under way, and its gates held records back, or may have */
	bool gates_hold;
	char (*operators)[JOB_ID_BYTES]; /* ids of its operators, sorted; owned */
	size_t operator_count;           /* 0 = not known */
	char *detail;                    /* why damaged or unreadable; owned */
	enum verdict verdict;
	char *reason;     /* owned */
	bool passed_over; /* it would have been chosen, but is damaged: reported to people */
};

/* Flink's record of how a job ended. */
enum job_end {
	JOB_END_NONE,     /* nothing: it has not reached a final state */
	JOB_END_FINISHED, /* it ended on its own, as far as is known */
	JOB_END_STOPPED,  /* with a savepoint */
	JOB_END_CANCELED,
	JOB_END_FAILED,
	JOB_END_UNKNOWN, /* there is a record, but it cannot be understood */
};

/* What a launch leaves behind that is no snapshot. */
enum trace_kind {
	TRACE_HA,     /* a map of a job in Flink's HA data of this application */
	TRACE_ID,     /* a directory or a savepoint with one of the numbered job ids (job_id.h) */
	TRACE_RESULT, /* Flink's record of how a job ended */
	TRACE_COUNT,
};

/*
 * A trace that this application has run, for a decision whose journal knows of no launch: with one,
 * such a journal is lost, and the application does not start empty.
 */
struct trace {
	enum trace_kind kind;
	char *name;       /* job id, or "" where it is not known; owned, as all texts */
	char *path;       /* where it was found */
	int64_t unix_ms;  /* its date; 0 = not known */
	char *says;       /* what it says, for people: "it has FINISHED"; NULL = nothing */
	enum job_end end; /* TRACE_RESULT, once its content was read; else NONE */
	bool surely_ours; /* no other application can have left it */
};

/* What the job that would be launched consists of, as its main() builds it. */
struct job_fact {
	enum source_state state; /* NOT_CONFIGURED: not asked yet; resolve() asks when it matters */
	char *detail;            /* UNREADABLE: why; owned */
	char (*operators)[JOB_ID_BYTES]; /* ids of its operators; owned */
	size_t operator_count;
};

struct facts {
	struct source_fact sources[SOURCE_COUNT];
	struct job_fact job;
	struct place_fact *places; /* of the sources that are directories; owned */
	size_t place_count;
	struct candidate *candidates;
	size_t candidate_count;
	/* ids that only this application can have given to a job, and that have left traces:
	 * numbered ones (job_id.h), and those of the maps in its own HA data; owned */
	char (*jobs)[JOB_ID_BYTES];
	size_t job_count;
	struct trace *traces; /* in the order in which they were found; owned */
	size_t trace_count;
	/* the result store, as far as it was listed for traces: NOT_CONFIGURED = it was not */
	struct source_fact results_listed;
	/* everything that could show a trace of a numbered job id was read to its end (facts_are_read()) */
	bool names_read;
	bool ha_unread; /* of the HA maps of these ids, those of Flink's cluster id, one could not be read */
	int max_metadata_version; /* what this Flink can read; 0 = not known */
	int64_t now_unix_ms;
	/* what Flink would start again automatically, keys of core/resolve/ha_keys.h; owned */
	char **stored;
	size_t stored_count;
	/* SOURCE_RESULTS */
	char ended_job[JOB_ID_BYTES]; /* the job that was looked up; "" = none */
	enum job_end ended;
	int64_t ended_unix_ms; /* date of that record; 0 = there is none, or not known */
	char *ended_detail;    /* STOPPED: path of the savepoint; UNKNOWN: why; owned */
	char *lock_held; /* why a live Flink may own the leader lock; NULL = none does; owned */
	/* SOURCE_COPY is PRESENT: NULL = there is a copy, but it must not be used (the detail says why);
	 * owned */
	struct journal_copy *copy;
};

void facts_release(struct facts *facts);
#define cleanup_facts __attribute__((cleanup(facts_release)))

/* detail is copied. */
void facts_set_source(struct facts *facts, enum source_kind kind, enum source_state state,
		      const char *detail);

/* A directory was listed (copied). A source of several: unreadable if one of them is. */
void facts_add_place(struct facts *facts, enum source_kind source, enum snapshot_kind kind,
		     const char *dir, enum source_state state, const char *detail);

/* The place of this kind; NULL = it was not listed. */
const struct place_fact *facts_place(const struct facts *facts, enum snapshot_kind kind,
				     const char *dir);

/* How the job was read (detail is copied), and one of its operators. */
void facts_set_job(struct facts *facts, enum source_state state, const char *detail);
void facts_add_operator(struct facts *facts, const char *id);

/* Does a listing name it? Then it exists. */
bool facts_is_listed(enum source_kind source);

/* A job with this id has left a trace, even if only an empty directory or map: no launch may use
 * the id. */
void facts_add_job(struct facts *facts, const char *job_id);

/* The copy of the journal was read: the ids of its launches are used, but for that of the journal's own last launch
 * (its launch id; "" = none), which says so itself: a start that drey withdraws gives its id to the next try. `copy`
 * is taken. */
void facts_take_copy(struct facts *facts, struct journal_copy *copy, const char *last_launch_id);

/* Is it such a job, or does the id of one begin so? Only this application can have used it. */
bool facts_is_own_job(const struct facts *facts, const char *job_id);

/* Append (copied). Of each kind only the newest are kept. */
#define TRACES_OF_A_KIND 16
void facts_add_trace(struct facts *facts, const struct trace *trace);

/* Were all places read completely in which a job that has run leaves traces? */
bool facts_are_read(const struct facts *facts);

/* The newest of this kind; borrowed; NULL = there is none. */
const struct trace *facts_newest_trace(const struct facts *facts, enum trace_kind kind);

/* How the job ended; detail is copied. */
void facts_set_end(struct facts *facts, const char *job_id, enum job_end end, const char *detail);

/* The savepoint with which the job was stopped, by Flink's record of its end: it may lie anywhere, so it is asked for by its
 * name. Its path is borrowed. False: that names none. */
bool facts_stop(const struct facts *facts, struct snapshot *ret_savepoint);

/* Append a key (copied). */
void facts_add_stored(struct facts *facts, const char *key);

/* Mark as named by an HA map of this job. `current`: the job of the journal's last launch, or NULL;
 * its map counts when several name the same snapshot. */
void facts_mark_ha(struct candidate *candidate, const char *job_id, const char *current);

/* The i-th of the jobs whose HA maps name it, borrowed; NULL: no more. */
const char *facts_ha_job(const struct candidate *candidate, size_t i);
bool facts_ha_has_job(const struct candidate *candidate, const char *job_id);

/* It was completed once: it exists, damaged or not, or Flink's HA data name it, which they do once
 * it is completed. */
bool facts_was_completed(const struct candidate *candidate);

/* Its _metadata was seen, with a date or a size, whatever came of reading it. */
bool facts_was_seen(const struct candidate *candidate);

/* Append (snapshot is copied); borrowed until the next add. Listings come first: a candidate of
 * another source with a path that is already present is not added, the present one is returned;
 * that it is the initial savepoint is recorded there. */
struct candidate *facts_add(struct facts *facts, enum source_kind source,
			    const struct snapshot *snapshot);

/* Its _metadata is of this checkpoint. Is that another one than its path or the journal says? Then the text
 * says so; NULL: no. The caller frees. */
char *facts_is_of_another(const struct candidate *candidate, int64_t checkpoint_id);

/* The candidate of this path; borrowed; NULL = there is none. */
struct candidate *facts_find(const struct facts *facts, const char *path);

const char *source_kind_name(enum source_kind kind);    /* "journal", "checkpoints", ... */
const char *source_state_name(enum source_state state); /* "present", "absent", ... */
const char *integrity_name(enum integrity integrity);   /* "complete", "damaged", ... */
const char *verdict_name(enum verdict verdict);         /* "chosen", "older", "rejected" */
const char *trace_kind_name(enum trace_kind kind);      /* "ha", "id", "result" */

#endif
