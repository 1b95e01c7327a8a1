/*
 * gc - what dead launches have left in storage, and which of it may be deleted. Pure.
 *
 * Each launch has a job id of its own, and Flink keeps what a job writes in <checkpoint
 * directory>/<job id>: chk-<n> for each checkpoint, shared and taskowned for files that several
 * checkpoints may refer to, dstl for the changelog (AbstractFsCheckpointStorageAccess, Flink 1.15 to
 * 2.3). A launch that crashes leaves all of it.
 *
 * Only directories of job ids that the journal knows are judged, never those of the last launch, and
 * never a savepoint. Files that a remaining snapshot refers to stay, also if the snapshot is foreign. A
 * reference is compared by the name of the file alone: Flink draws these names at random, and a path
 * can be spelled in more than one way (symbolic links, s3 and s3a). What cannot be judged is kept, as
 * `in doubt`.
 *
 * Why a snapshot that Flink completes later cannot refer to what is deleted: a job takes over files
 * of others only from the snapshot that it restored, and from then on each of its checkpoints refers
 * to a subset of these. So it is enough to have read one of them, or what the job was restored from.
 *
 * The same is true of what Flink's high availability keeps for a dead job, except what its ConfigMaps refer
 * to: nothing but these leads Flink to it.
 *
 * Life cycle: a zeroed struct gc -> gc_add...() -> do gc_next_check() while >= 0 -> gc_retain() ->
 * read what is retained, gc_refer() -> look for gc_unfinished(), gc_near() -> gc_judge() -> gc_release(). One thread.
 */
#ifndef DREY_CORE_GC_H
#define DREY_CORE_GC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/packed.h"
#include "core/journal/journal.h"
#include "core/resolve/facts.h"

#define GC_RETRY_MS     INT64_C(600000) /* after a collection that did not judge or delete everything */
#define GC_NEAR_PER_JOB 6               /* checkpoints that no listing has, which are asked for */
#define GC_SLACK_MS     1000            /* after the grace time: the clocks are not read together */

struct gc_policy {
	/* the first checkpoint of the last launch must be as old as that; what is deleted is older */
	int64_t grace_ms;
	/* The completed checkpoints of so many launches before the last one are kept, not counting
	 * those without a usable snapshot, and what each was started from; and of the older ones what
	 * is younger than keep_ms. */
	int64_t keep_launches;
	int64_t keep_ms;
};

enum gc_verdict {
	GC_KEEP,   /* needed */
	GC_DOUBT,  /* kept, because it cannot be judged */
	GC_DELETE, /* nothing needs it */
};

/* Why. The order is that of the tables for people. */
enum gc_reason {
	/* delete */
	GC_REPLACED,     /* of a completed checkpoint of an old launch */
	GC_UNFINISHED,   /* of a checkpoint that was never completed */
	GC_UNREFERENCED, /* no snapshot that stays refers to it */
	GC_RESULT,       /* Flink's record of how a dead launch ended */
	GC_BLOB,         /* what Flink's HA has kept for the TaskManagers of a dead job */
	GC_HA,           /* a checkpoint or a job of a dead launch that Flink's HA has kept */
	/* keep */
	GC_RETAINED, /* of a completed checkpoint that stays */
	GC_REFERRED, /* a snapshot that stays refers to it */
	GC_NEEDED,   /* of the last launch */
	GC_HA_NAMED, /* Flink's HA data refer to it */
	/* doubt */
	GC_ACTIVE,     /* something has written for this job since the last launch is proven */
	GC_STRANGE,    /* not a file that Flink writes there */
	GC_TASK_OWNED, /* operators may refer to it in their own state */
	GC_NEW,        /* only the second of two readings would delete it */
	GC_UNPROVEN,   /* in Flink's HA, and not proven to be of a dead launch */
	GC_STOPPED,    /* gc.stop */
	GC_REASON_COUNT,
};

struct gc_sum {
	int64_t files, bytes;
};

/* One file below the directory of a tree. */
struct gc_file {
	int64_t size_bytes;
	uint32_t name; /* of gc.names: relative to the tree */
	bool odd;      /* a symbolic link, or anything else that is not a file */
	bool undated;  /* so it could be new */
	uint8_t verdict, reason;
};

enum gc_tree_kind {
	GC_TREE_JOB,     /* <checkpoint directory>/<job id> */
	GC_TREE_RESULTS, /* job_result_path or application_result_path of a launch */
	/* <high-availability.storageDir>/<cluster id>/blob/job_<job id> (FileSystemBlobStore) */
	GC_TREE_BLOBS,
	/* Files of one job directly in <high-availability.storageDir>/<cluster id>, which is not read deeper:
	 * completedCheckpoint*, submittedJobGraph*, submittedExecutionPlan*. The job is in the content. job_id
	 * "": it is not known, or not whether the job's ConfigMap refers to them. What the ConfigMaps
	 * refer to was passed to gc_refer(). */
	GC_TREE_HA,
};

/* A directory that belongs to one dead launch; its files follow one another in gc.files. */
struct gc_tree {
	enum gc_tree_kind kind;
	char *dir;
	char job_id[JOB_ID_BYTES];
	size_t first, count;
	int64_t newest_unix_ms;              /* of its files */
	struct gc_sum sums[GC_REASON_COUNT]; /* gc_judge() */
};

enum gc_check {
	GC_CHECK_NONE,     /* it exists; nothing else is known */
	GC_CHECK_COMPLETE, /* every file of it exists */
	GC_CHECK_DAMAGED,
};

/* A snapshot that exists (it has a _metadata), also a foreign one. */
struct gc_snapshot {
	char *path;
	enum snapshot_kind kind;
	char job_id[JOB_ID_BYTES]; /* as in its path: 32 digits, 6 of a savepoint, "" none */
	int64_t checkpoint_id;     /* from its path; 0 = none */
	int64_t unix_ms;           /* of _metadata */
	bool named;                /* something besides the journal names it: it stays */
	enum gc_check check;
	/* The journal knows it as completed, and its directory is there without a _metadata: deleted by halves,
	 * or the store does not show it. To what it refers is not known. unix_ms: 0 */
	bool lost;
	bool retained; /* gc_retain() */
	bool read;     /* its references were passed to gc_refer() */
	/* It has disappeared since: neither reading it nor a new listing of its directory finds anything.
	 * Nothing is known of its references. */
	bool gone;
};

/* A reference to a file in a job's tree that has no file of this name. */
struct gc_stray {
	/* hashes of the halves of the name; 0: it is not as long as Flink's names */
	uint64_t halves[2];
	size_t snapshot; /* index */
	size_t tree;
};

struct gc {
	struct gc_policy policy;
	int64_t now_unix_ms;
	/* Why nothing in storage may be deleted: not everything could be read. NULL = it could. Owned.
	 * Concerns gc_needs_snapshots() only: to other trees no snapshot refers. */
	char *unreadable;

	struct gc_tree *trees;
	size_t tree_count;
	struct gc_file *files;
	size_t file_count, file_cap;
	struct packed names;
	struct gc_snapshot *snapshots;
	size_t snapshot_count, snapshot_cap;
	uint32_t *by_path; /* index + 1 of each snapshot, open addressing */
	size_t by_path_cap;
	uint64_t *refs; /* hashes of names, open addressing */
	size_t ref_count, ref_cap;
	/* hashes of the names of all files in trees of jobs, never 0, open addressing; and of so many files */
	uint32_t *there;
	size_t there_cap, there_of;
	struct gc_stray *strays;
	size_t stray_count;

	/* gc_retain(): index of the oldest launch whose completed checkpoints all stay */
	size_t floor;
	/* gc_judge() */
	char *stop;     /* why nothing may be deleted; NULL = nothing stops it; owned */
	bool only_jobs; /* `stop` concerns gc_needs_snapshots() only */
	struct gc_sum sums[GC_REASON_COUNT];
};

void gc_release(struct gc *gc); /* zeroed is allowed */

/* ---- what there is ---- */

bool gc_is_job_id(const char *text); /* 32 hexadecimal digits */

/* The job whose end the file of this name records. False: no file of a result store has this name. */
bool gc_job_of_result(const char *name, char ret_job_id[JOB_ID_BYTES]);

/* Is this a directory of a dead launch, which is to be read and added as a tree? For a job: its id in
 * 32 digits. */
bool gc_wants_job(const struct journal *journal, const char *job_id);
/* The directories of results that dead launches have for themselves: calls fn for each. */
void gc_results(const struct journal *journal,
		void (*fn)(void *ctx, const char *dir, const char *job_id), void *ctx);

/* Could Flink recover this snapshot from its HA data, for a job that may live: of the last launch, or of
 * none that the journal knows? Then it stays. */
bool gc_ha_needs(const struct journal *journal, const struct candidate *candidate);

/* Has the journal recorded this snapshot as completed? However its path is spelled. */
bool gc_was_completed(const struct journal *journal, const struct gc_snapshot *snapshot);

/* Begin a tree: the files that are added next are in it (copied). */
void gc_add_tree(struct gc *gc, enum gc_tree_kind kind, const char *dir, const char *job_id);
/* False: there is no room for more (4 GiB of names). No date: mtime_unix_ms <= 0. */
bool gc_add_file(struct gc *gc, const char *name, int64_t size_bytes, int64_t mtime_unix_ms,
		 bool odd);
/* Copied. One with this path is not added again: NULL. Borrowed until the next one is added. */
struct gc_snapshot *gc_add_snapshot(struct gc *gc, const struct gc_snapshot *snapshot);
struct gc_snapshot *gc_find_snapshot(const struct gc *gc, const char *path); /* NULL = none */
void gc_set_unreadable(struct gc *gc, const char *why); /* the first reason stays */

/* A retained snapshot refers to this file. */
void gc_refer(struct gc *gc, const char *path);
bool gc_is_referred(const struct gc *gc, const char *path);

/* What one _metadata refers to, while it is read, all trees having been added. */
#define GC_BODY_DIR_BYTES 256
struct gc_body {
	size_t snapshot;
	size_t beside, there; /* references to files in its directory, and those that are there */
	char owner[JOB_ID_BYTES];    /* of the last reference */
	char dir[GC_BODY_DIR_BYTES]; /* where that is, with its last slash; "": it is longer */
	int64_t owner_tree;          /* -1: it has none */
	char later[JOB_ID_BYTES];    /* a job that began when the one of the snapshot was over */
};

/* Begin one: of the snapshot with this index. */
void gc_body_begin(struct gc_body *body, struct gc *gc, size_t snapshot);
/* It refers to this file: gc_refer() of one that is not relative to its directory. */
void gc_body_refer(struct gc_body *body, struct gc *gc, const struct journal *journal,
		   const char *path, bool relative);
/* Why it cannot be the _metadata of this snapshot; NULL: it can. The caller frees. */
char *gc_body_is_of_another(const struct gc_body *body, const struct gc *gc);

/* ---- what follows from it ---- */

/* A snapshot whose files are to be looked up (then its `check` is set), -1: no more. At most some of
 * each of the newest launches. */
int gc_next_check(const struct gc *gc, const struct journal *journal);

typedef void gc_checkpoint_fn(void *ctx, const char *dir); /* borrowed for the call */

/* The checkpoints in trees of jobs that have no _metadata, neither as a file of the tree nor as a snapshot:
 * calls fn with the directory of each. A listing that has left out the _metadata would have its files
 * deleted: so look whether it is really absent. */
void gc_unfinished(const struct gc *gc, gc_checkpoint_fn *fn, void *ctx);

/* The numbers next to those of the checkpoints that are known, or that the journal names, of each job, also of a
 * foreign one: calls fn for at most GC_NEAR_PER_JOB of a job. A listing that has left out a whole checkpoint
 * would have the files deleted that it shares: so look whether it is there. */
void gc_near(const struct gc *gc, const struct journal *journal, gc_checkpoint_fn *fn, void *ctx);
/* Is this checkpoint, by its job and number, among the snapshots, and not gone? */
bool gc_has_checkpoint(const struct gc *gc, const char *path);

/* Decide which snapshots stay. Read their references next. */
void gc_retain(struct gc *gc, const struct journal *journal);

/* All stay but this one, which another deletes next. */
void gc_retain_but(struct gc *gc, const char *path);
/* Was a snapshot of the last launch read, apart from this one? Else it is not known to what its job may
 * refer. */
bool gc_has_read_last(const struct gc *gc, const struct journal *journal, const char *but);

/* A verdict and a reason for each file, the sums, and `stop`. */
void gc_judge(struct gc *gc, const struct journal *journal);

/* Judge this file otherwise. */
void gc_set_reason(struct gc *gc, struct gc_tree *tree, struct gc_file *file,
		   enum gc_reason reason);

/* Nothing may be deleted, whatever was judged: what would be is GC_STOPPED. */
void gc_stop_all(struct gc *gc, const char *why);

/* Is this tree judged only when all snapshots, and what names them, could be read? */
bool gc_needs_snapshots(enum gc_tree_kind kind);

/* The order of deletion: first a checkpoint loses its _metadata, so that what is left of it can never
 * be taken for complete. True: this file goes before all others, and if it cannot be deleted, nothing
 * else may be. */
bool gc_goes_first(const struct gc *gc, const struct gc_file *file);

/*
 * May a deletion that was decided on one journal go on with another, read later? False: another launch,
 * a request or a hand-over came in between. *ret_why (static) says what.
 */
bool gc_still_holds(const struct journal *then, const struct journal *now, const char **ret_why);

/*
 * When to collect next without a request, for a last launch that was proven then; the time is to be
 * reached, not exact. ended_unix_ms: of the last collection, 0 = there was none; `stopped`: it did not
 * judge or delete everything.
 */
int64_t gc_due_unix_ms(int64_t proven_unix_ms, int64_t grace_ms, int64_t ended_unix_ms,
		       bool stopped, int64_t interval_ms);

struct gc_sum gc_total(const struct gc *gc, enum gc_verdict verdict);

struct gc_sum gc_tree_total(const struct gc_tree *tree, enum gc_verdict verdict);

/* Does a launch of the journal have a snapshot all files of which exist? */
bool gc_has_complete(const struct gc *gc, const struct journal *journal, size_t index);

enum gc_verdict gc_reason_verdict(enum gc_reason reason);
const char *gc_verdict_name(enum gc_verdict verdict); /* "keep", "doubt", "delete" */
const char *gc_reason_name(enum gc_reason reason);    /* "replaced", ...; never changes */
const char *gc_reason_text(enum gc_reason reason);    /* for people: "of checkpoints that ..." */

/* The name of a file, relative to its tree: replaces what is in *ret, and is borrowed from it. */
static inline const char *gc_name(const struct gc *gc, const struct gc_file *file, struct buf *ret)
{
	return packed_get(&gc->names, file->name, ret);
}

#endif
