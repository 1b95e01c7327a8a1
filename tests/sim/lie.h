/*
 * lie - stores, Flink's HA data, REST, the journal and the code of the job say what is not true; only in histories with
 * FEATURE_LIES (`--world lies`).
 *
 * A lie has a name (`lie_table` in lie.c), a target and an end: one or two are told at a time. They change only what
 * drey is shown, never what is: the models go on from the truth, and the oracle judges by it. What is shown takes the
 * way of any other fact, through evidence_apply(), listing_doubt(), facts_is_of_another() and the codec of the
 * journal's copy. All lies end with the calm.
 *
 * What drey is shown decides what it can know. Two marks of a snapshot say so for the decision that is under way:
 *
 *   veiled     a lie has left it out, and nothing that was read for this decision or is on record names it
 *   slandered  a lie has called it damaged: a start from before it is a loss, and must be on record as one
 *
 * Life cycle: lies_draw() -> lies_begin() -> lie_item(), and the others whenever something is read.
 */
#ifndef DREY_TESTS_SIM_LIE_H
#define DREY_TESTS_SIM_LIE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/effective.h"
#include "core/journal/journal_copy.h"
#include "core/resolve/facts.h"
#include "core/rng.h"

struct world;
struct item;
struct snap;
struct ha_map;
struct image;
struct event;
struct effect;

enum lie_kind {
	LIE_GONE,          /* its _metadata is listed, and answers "not found" */
	LIE_STALE_LISTING, /* listings are those of the time when the lie began */
	LIE_CUT_LISTING, /* they leave the newest out, and some others, and call themselves complete */
	LIE_OTHER_LISTING,  /* they are those of another prefix */
	LIE_OLDER_ANSWER,   /* listings are true, but files answer as at the beginning of the lie */
	LIE_STALE_STORE,    /* both: as at the beginning of the lie */
	LIE_DAMAGED,        /* its _metadata cannot be decoded */
	LIE_WRONG_METADATA, /* its _metadata is that of another snapshot */
	LIE_STALE_HA,       /* Flink's HA data are shown as at the beginning of the lie */
	LIE_HIDDEN_HA,      /* no map is shown */
	LIE_OLDER_REST,     /* now and then an older answer comes after a newer one */
	LIE_HIDDEN_END,     /* Flink's record of an end is listed, and answers "not found" */
	LIE_LOST_JOURNAL,   /* it is gone, its copy remains */
	LIE_LOST_BOTH,      /* so is its copy */
	LIE_BAD_COPY,       /* the copy reads as damaged, or is of another application */
	LIE_CODE, /* the job's code chooses another directory, or that Flink deletes checkpoints */
	LIE_COUNT,
};

#define LIES_AT_ONCE 2

struct lie {
	bool told;
	enum lie_kind kind;
	int target; /* snapshot; -1 = none */
	int which;  /* of several ways */
	uint64_t salt;
	int64_t until_ms;
};

struct lies {
	struct rng rng;
	unsigned kinds; /* which this history has, as bits */
	int64_t gap_ms; /* mean time from one to the next */
	int asked_per_mille;
	struct lie now[LIES_AT_ONCE];
	int shown; /* LIE_OLDER_REST: the checkpoint that was the newest then; -1 = none */
	int shown_launch;
	bool old_maps; /* the last observation was shown HA data that are not those of now */
	uint64_t told; /* how many */
	/* the copy of the journal */
	bool copied, copy_due;
	struct image *copy;
	struct copy_pace pace;
};

const char *lie_name(enum lie_kind kind);

/* Which lies this history has, and what else is different in it. */
void lies_draw(struct world *w);
void lies_begin(struct world *w);
void lie_item(struct world *w, const struct item *item);
void lies_end(struct world *w); /* the calm begins */

/* ---- what drey is shown (lie_shown.c) ---- */

enum lie_answer {
	LIE_TRUTH,
	LIE_SAYS_GONE,
	LIE_SAYS_DAMAGED,
	LIE_SAYS_OTHER, /* the _metadata of another snapshot: *ret_id */
};

/* An observation begins: a lie may begin with it. The marks of the one before are void. */
void lie_observed(struct world *w);
/* Does a listing name the snapshot, and with its _metadata? */
bool lie_lists(struct world *w, int snap);
bool lie_lists_metadata(struct world *w, int snap);
/* Its _metadata is read. */
enum lie_answer lie_reads(struct world *w, int snap, int64_t *ret_id);
/* The size that a listing shows of it: another one than before if its content is. */
int64_t lie_metadata_bytes(struct world *w, int snap, int64_t bytes);
/* The reading of a candidate goes by a lie: judged as agent/run does it. False: by the truth. */
bool lie_judges(struct world *w, struct candidate *c, int snap);
/* All is read: what is veiled? */
void lie_gathered(struct world *w, const struct facts *facts);
/* The launch that was decided on is judged: the marks are void. */
void lie_judged(struct world *w);

/* The map of this launch as it is shown; borrowed. */
const struct ha_map *lie_ha(struct world *w, int launch);
/* The newest checkpoint that the statistics show. */
int lie_completed(struct world *w, int completed);
bool lie_hides_end(struct world *w); /* of the last launch */
bool lie_hides_end_of(const struct world *w, int launch);
/* What a Flink that starts now has from the code of its job, and what REST says of that. */
bool lie_sets_deletion(const struct world *w);
struct effective lie_effective(const struct world *w);
/* Flink ends the job other than by finishing: it deletes its checkpoints if the code says so. */
void lie_job_ends(struct world *w);

/* ---- the journal and its copy (lie_journal.c) ---- */

/* A write of the journal has landed. */
void lie_journal_landed(struct world *w);
void lie_journal_item(struct world *w, const struct item *item);
void lie_lose_journal(struct world *w, bool copy);
/* Traces of launches, and the copy: read only where agent/run/observe does. */
void lie_observe_journal(struct world *w, struct facts *facts);

/* ---- the oracle ---- */

/* The journal may be lost, but Flink's record of the end of a job that has finished is there. */
bool lie_leaves_end(const struct world *w);

/* A lie has called `base` damaged, which drey did not have to believe: it is newer than the newest by the lies. Or the
 * _metadata of another snapshot was taken for its own, and nothing says what that should be. */
bool lie_spares_newest(const struct world *w, int base, int newest);
/* Flink restores it, and needs no _metadata for that; where files are gone it fails, and says so. */
bool lie_leaves_whole(const struct snap *snap);
/* A lie has made this launch go back, and no agent has seen its job run. */
bool lie_is_unverified(const struct world *w, int launch);
/* Nothing is left that tells which branch lives, and only savepoints may be started from: the newest of them by its date
 * may be one from before a person went back. */
bool lie_adopts_savepoint(const struct world *w, int base);
/* A signal must not let Flink delete what the next launch needs. */
void lie_judge_signal(struct world *w, const struct effect *effect);

/* The way out that drey's reason names: a snapshot, or -1 to start without state. False: none. */
bool lie_way_out(const struct world *w, int *ret_snap);

#endif
