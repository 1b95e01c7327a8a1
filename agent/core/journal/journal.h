/*
 * journal - the write-ahead record: what was intended, what the result was, which state is known.
 *
 * One document. It is written before every launch, stop, savepoint and disposal, and again with the
 * outcome; after a crash it shows what may have happened. This module is the document in memory and
 * its JSON form; run/ decides where it is stored.
 *
 * Life cycle: journal_init() or journal_decode() -> change -> journal_encode() ->
 * journal_release(). The struct owns all its strings. Limits: JOURNAL_MAX_BYTES encoded; the lists
 * are trimmed from their old end by journal_encode()'s caller through journal_trim().
 */
#ifndef DREY_CORE_JOURNAL_H
#define DREY_CORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/effective.h"
#include "core/handover/handover.h"
#include "core/rescale.h"
#include "core/snapshot.h"

#define JOURNAL_SCHEMA         1 /* a newer one is refused, never rewritten */
#define JOURNAL_MAX_BYTES      (256 * 1024)
#define JOURNAL_MAX_LAUNCHES   64
#define JOURNAL_MAX_FORMER     500
#define JOURNAL_MAX_SNAPSHOTS  200
#define JOURNAL_MAX_TOKENS     32
#define JOURNAL_MAX_REQUESTS   32
#define JOURNAL_MAX_LOG        50
#define JOURNAL_MAX_WRITERS    32
#define JOURNAL_MAX_FAILURES   32
#define JOURNAL_MAX_TEXT_BYTES 2048 /* of one error or log line; a longer one is cut */
#define JOURNAL_MIN_KEPT       8    /* of each list, however long the entries are */

/* The desired state. */
enum desired_state {
	DESIRED_RUNNING,
	DESIRED_SUSPENDED, /* stopped with a savepoint, ready to be resumed */
	DESIRED_CANCELLED, /* stopped without a savepoint */
};

/* A one-shot instruction what to start from; applied once, then its token is in `consumed`. */
enum restore_request_kind {
	RESTORE_NONE,
	RESTORE_EMPTY, /* start without state, deliberately */
	RESTORE_PATH,  /* start from exactly this snapshot */
	/* from what the rules find, as without an order; but non-restored state is allowed, once */
	RESTORE_NEWEST,
};

struct restore_request {
	enum restore_request_kind kind;
	char *token; /* names the request; the same token is never applied twice */
	char *path;  /* RESTORE_PATH */
	bool allow_non_restored;
	bool foreign; /* the path may be a snapshot of another job, deliberately */
	/* the person did not know of anything later. 0 = not known: assume the oldest */
	int64_t asked_unix_ms;
	char *generation; /* only a launch of this one carries it out; NULL = any */
	/* It was in the journal when that was read: a journal from a backup contains orders that
	 * were carried out long ago. Not written. */
	bool read_back;
};

struct intent {
	enum desired_state state;
	bool do_not_restart;   /* forbids every launch, never stops a running job */
	char *savepoint_nonce; /* a change requests one savepoint */
	char *restart_nonce;   /* a change requests stop with savepoint and start */
	struct restore_request restore;
	struct parallelism parallelism; /* requested, and not answered yet */
};

/* One start of Flink. The last one of journal.launches is the current one. */
struct launch {
	int64_t number; /* 1, 2, 3 ... over the life of the application */
	char job_id[JOB_ID_BYTES];
	/* random, as its result store is called; a launch that continues another one has the same. "" =
	 * of a drey that called it by the job id */
	char launch_id[JOB_ID_BYTES];
	char *job_result_path;             /* URI; where Flink records how the job ended */
	char application_id[JOB_ID_BYTES]; /* Flink >= 2.3 */
	char *application_result_path;
	char *generation;    /* hash of image, arguments and configuration; NULL without one */
	char *flink_version; /* "2.3.0"; NULL when not known */
	/* Where its checkpoints and savepoints were to go, as listed there; NULL when not known.
	 * The job's own code may write checkpoints elsewhere: last_checkpoint_path shows that. */
	char *checkpoint_dir, *savepoint_dir;
	char *ha_cluster_id; /* of Flink's HA maps; NULL = it had no HA, or not known (0.1.0) */
	bool held;           /* Flink was started before, and waited in main() */
	/* The side that the job is told (drey.side), for what its sinks are named after: it goes with the
	 * state, whatever the side of the HA maps is, and only a transition changes it */
	enum side output_side;
	bool allow_non_restored;
	char *request_token; /* the one-shot request that it carries out; NULL = none */
	char *writer;        /* the journal's writer that decided it; NULL = not known */

	/* the restore point: NULL path = started empty, by rule or by request */
	char *restore_path;
	enum snapshot_kind restore_kind;
	int64_t restore_checkpoint_id;
	int64_t restore_completed_unix_ms; /* 0 = not known */
	/* it continues a job: the highest checkpoint id that an earlier process may have used (signs.h); 0 = none */
	int64_t checkpoints_before;

	/* the result */
	int64_t intended_unix_ms;
	int64_t started_unix_ms;  /* 0 = drey-init never reported exec */
	int64_t verified_unix_ms; /* Flink reported exactly the restore point; 0 = not (yet) */
	int64_t proven_unix_ms;   /* first checkpoint completed; 0 = not (yet) */
	int64_t ended_unix_ms;    /* reaped; 0 = not yet */
	int wait_status;          /* valid when ended_unix_ms != 0; -1 = not observed */
	bool job_ended; /* Flink has shown the job's final state: nothing can continue it */
	/* the end of the job is recorded (an outcome, an operation, a later launch): Flink's own
	 * record of it adds nothing. Older journals: job_ended */
	bool end_known;
	bool mismatched;    /* Flink restored something else: nothing of this launch may be used */
	bool left_state;    /* a snapshot of it was seen in storage, or Flink has reported one */
	bool never_started; /* proven: no process was ever started for it */
	bool adopted;       /* restore.adopt has chosen what it was started from */
	/* do-not-restart was on when its job was last known to run: a stop or cancel from outside
	 * drey then counts as a suspension */
	bool do_not_restart;
	int64_t last_checkpoint_id; /* newest completed one seen over REST; 0 = none */
	char *last_checkpoint_path;
	int64_t last_checkpoint_unix_ms;
	struct effective effective; /* what the running job has said of its settings */
	/* the last checkpoint that was read completely while the job ran; 0 = none, and why it could not be
	 * restored; NULL = it could */
	int64_t reviewed_id, reviewed_unix_ms;
	char *unusable;
	/* of its Flink, when all its tasks were last seen running; slots 0 = not known */
	int64_t slots, task_managers;
};

enum operation_kind {
	OPERATION_NONE,
	OPERATION_SAVEPOINT,
	OPERATION_STOP, /* stop with savepoint */
	OPERATION_CANCEL,
	OPERATION_DISPOSE,
	/* as a name only: it is never journal.operation, see struct checkpoint_operation */
	OPERATION_CHECKPOINT,
};

/* Why an operation was started; decides what follows it. */
enum operation_reason {
	REASON_NONE,
	REASON_PERIODIC,
	REASON_MANUAL,
	REASON_SUSPEND,
	REASON_RESTART,
	/* the container is being stopped, and the configuration asks for a savepoint then */
	REASON_TERMINATE,
	REASON_CANCEL,
	REASON_RETENTION,
	REASON_UPGRADE, /* the container is being stopped, and another generation follows */
	REASON_COUNT,
};

/* The one operation in flight; kind OPERATION_NONE = none. */
struct operation {
	enum operation_kind kind;
	enum operation_reason reason;
	char trigger_id[JOB_ID_BYTES]; /* new for every operation; makes the POST idempotent */
	char job_id[JOB_ID_BYTES];     /* the launch that it belongs to */
	char *nonce;                   /* the request that asked for it */
	char *path;                    /* target directory; OPERATION_DISPOSE: the snapshot */
	char *directory;               /* where its savepoint is found, if not in `path` */
	bool drain;
	enum snapshot_format
		format; /* UNKNOWN: it writes no savepoint, or an older drey began it */
	int64_t started_unix_ms;
	int64_t job_unix_ms; /* Flink's date of the job that has it; another is that of a recovery; 0 = not known */
};

/* The last operation that ended, for clients that wait for it. */
struct operation_result {
	enum operation_kind kind;
	enum operation_reason reason;
	char trigger_id[JOB_ID_BYTES];
	char *nonce;
	bool ok;
	enum snapshot_format format;
	char *location; /* the savepoint; also of a stop that failed after it was complete */
	char *error;    /* NULL when ok */
	int64_t ended_unix_ms;
};

/* A client waits for a savepoint. */
struct savepoint_request {
	char *nonce;
	char trigger_id[JOB_ID_BYTES]; /* of the savepoint that answers it; "" = the next one */
	bool answered;
	bool ok;
	int64_t failures;       /* attempts for it that have failed */
	char *location, *error; /* as in the result of the operation */
};

/*
 * A checkpoint that drey has asked Flink for, in flight; trigger_id "" = none. It is a member of its
 * own in the journal, and not `operation`, for two reasons. It may be lost without harm: it is an
 * ordinary checkpoint, and is found in storage like any other; so it keeps no stop waiting, and a
 * decision does not depend on it. And an older drey would reject a journal with an operation of a kind
 * that it does not know.
 */
struct checkpoint_operation {
	enum operation_reason reason;  /* PERIODIC or MANUAL */
	char trigger_id[JOB_ID_BYTES]; /* new for each */
	char job_id[JOB_ID_BYTES];     /* the launch that it belongs to */
	bool full;                     /* not incremental, however the job is configured */
	int64_t started_unix_ms;
};

/* A client waits for a checkpoint. */
struct checkpoint_request {
	char *nonce;
	bool full;
	char trigger_id[JOB_ID_BYTES]; /* of the checkpoint that answers it; "" = the next one */
	bool answered;
	bool ok;
	int64_t checkpoint_id;  /* 0 = there is none */
	char *location, *error; /* location NULL with ok: Flink does not show where it is */
};

/* How a checkpoint has ended. Strings are borrowed. */
struct checkpoint_result {
	bool ok;
	int64_t checkpoint_id;
	const char *location, *error;
};

/* The last answer to a request for another parallelism, or to the repetition of one after a launch. */
struct rescaled {
	char *nonce; /* of the request; NULL = there was none */
	bool ok;     /* Flink has taken it */
	char *error; /* why not */
	char *left_out; /* what is not as requested, because the job has changed since; NULL = nothing */
	int64_t launch; /* its number */
	int64_t unix_ms;
};

/* Why the application will not run again automatically. */
enum outcome_kind {
	OUTCOME_NONE,
	OUTCOME_FINISHED,
	OUTCOME_CANCELLED,
	OUTCOME_FAILED,           /* attempts used up */
	OUTCOME_UNKNOWN,          /* Flink ended with 0 and the final state was not observed */
	OUTCOME_RESTORE_MISMATCH, /* Flink restored something else than decided */
};

struct outcome {
	enum outcome_kind kind;
	char job_id[JOB_ID_BYTES];
	char *reason;
	int64_t unix_ms;
	/* CANCELLED: the savepoint with which the job was stopped from outside drey; NULL = none */
	char *savepoint;
	/* CANCELLED, while do-not-restart was on: applies only as long as that is on */
	bool suspended;
};

/* State that a start has given up, because it was damaged, and that is not settled; unix_ms 0 = none.
 * Of several the newest, with the sum of all. */
struct state_loss {
	char *lost_path; /* the newest that was completed */
	enum snapshot_kind lost_kind;
	int64_t lost_checkpoint_id; /* 0 = not known */
	int64_t lost_unix_ms;       /* when it was completed */
	char *path;                 /* what was started instead */
	enum snapshot_kind kind;
	int64_t checkpoint_id;
	int64_t completed_unix_ms;
	char *reason;            /* what is wrong with the lost one */
	int64_t ms;              /* from what was started to it */
	int64_t total_ms, count; /* of all that are not settled, this one included */
	int64_t unix_ms, launch; /* when it was decided, and for which launch */
};

struct log_entry {
	int64_t unix_ms;
	char *text;
};

struct journal {
	char *application;
	int64_t sequence; /* +1 with every write: the version that compare-and-swap compares */
	char *writer;     /* the last writer: boot id or pod UID, for fencing */
	char **writers;   /* the earlier writers, oldest first */
	size_t writer_count;
	/* with hand-overs: the pod that may write it, uid NULL = none; its side is that of the job */
	struct party owner;
	struct handover handover;
	char *lease_id; /* of this installation, in the lease object (core/lease); NULL = none yet */
	int64_t lease_longest_ms; /* of a claim that was seen, if longer than its own; 0 = none */
	char *phase;              /* for readers; decisions never depend on it */
	/* some launch completed a checkpoint: no automatic empty start any more */
	bool ever_proven;
	struct intent intent;
	char *savepoint_nonce_done;
	char *restart_nonce_done;

	struct launch *launches;
	size_t launch_count;
	/* space of the numbered job ids given out last (job_id.h); NULL = none */
	char *id_space;
	int64_t id_next;    /* where the next launch begins to look for a number that is free */
	char **former_jobs; /* job ids of launches that were trimmed away: still ours */
	size_t former_job_count;
	char **unknown_jobs; /* those of them that no launch here ever had: this journal is an older one */
	size_t unknown_job_count;
	struct snapshot *snapshots; /* savepoints made or recorded, oldest first */
	size_t snapshot_count;
	char *disposing; /* savepoint that Flink is asked to delete; NULL = none */
	struct operation operation;
	struct operation_result last_operation;
	/* oldest first; answered ones are kept for a while */
	struct savepoint_request *savepoint_requests;
	size_t savepoint_request_count;
	struct checkpoint_operation checkpoint;
	struct checkpoint_request *checkpoint_requests; /* likewise */
	size_t checkpoint_request_count;
	int64_t full_checkpoint_unix_ms; /* when the last full one was completed; 0 = never */
	/* in force: every launch gets it. Empty = the job's own */
	struct parallelism parallelism;
	int64_t parallelism_launch; /* number of the launch that has it, or cannot have it; 0 = none */
	struct rescaled rescaled;
	struct outcome outcome;
	struct state_loss loss;
	int64_t failures_unix_ms[JOURNAL_MAX_FAILURES]; /* failed attempts, oldest first */
	size_t failure_count;
	char *last_error;
	int64_t last_error_unix_ms,
		last_error_launch; /* when, and of which launch; 0 = not known */
	/* failed attempts in a row with this error, before a restore was seen; 0 = it is another one */
	int64_t failures_alike;
	char **consumed; /* tokens of one-shot requests that were applied */
	size_t consumed_count;
	char **failed_generations;
	size_t failed_generation_count;
	struct log_entry *log; /* transitions, oldest first */
	size_t log_count;

	struct json *origin; /* the document as read: unknown members survive a rewrite */
};

void journal_init(struct journal *journal, const char *application);
void journal_release(struct journal *journal);
#define cleanup_journal __attribute__((cleanup(journal_release)))

/* This is the writer from now on; the previous one is remembered. */
void journal_take_over(struct journal *journal, const char *writer);

void journal_add_writer(struct journal *journal, const char *writer); /* an earlier writer */

/*
 * True if the stored journal is an earlier state of `ours` that was put back: a backup, not written
 * by another drey. Its sequence is lower than `newest`, the highest that we have read or written:
 * what came between that and a write of ours is from an earlier writer that is still alive. Its
 * writer is one of the known writers of ours, and it has no launch that ours does not have. Anything
 * else may be another drey's.
 */
bool journal_is_backup(const struct journal *found, const struct journal *ours, int64_t newest);

/* Where Flink keeps the result of a new launch: under `dir` (NULL: nowhere), in a directory that no other
 * launch has had: by its launch id, without one by its job id. */
void launch_name_results(struct launch *launch, const char *dir);

/* The launch before this one (of the journal), if it had the same version; NULL = it had not, or that is not known. */
const struct launch *journal_version_before(const struct journal *journal,
					    const struct launch *launch);

/* The current launch, or NULL if there has never been one; borrowed. */
struct launch *journal_launch(struct journal *journal);
const struct launch *journal_launch_const(const struct journal *journal);
/* The settings of the job of the last launch, which there must be: as it has said, or, before it has, as the launch of
 * the same version before it had. Borrowed. */
const struct effective *journal_settings(const struct journal *journal);

/* The launch whose end was not observed, and of which Flink may have left a record: the last one
 * that may have been started, if its end is unknown. NULL: there is none. Borrowed. */
const struct launch *journal_open_launch(const struct journal *journal);

/* Append a zeroed launch with the next number; borrowed until the next change of the list. */
struct launch *journal_add_launch(struct journal *journal);

/* The current launch was never carried out: a zeroed one with the next number takes its place.
 * There must be one. Borrowed like the above. */
struct launch *journal_renew_launch(struct journal *journal);

/* Record a snapshot (copied); one with the same path is replaced. */
void journal_add_snapshot(struct journal *journal, const struct snapshot *snapshot);
/* The recorded snapshot of this path; borrowed; NULL = there is none. */
const struct snapshot *journal_snapshot(const struct journal *journal, const char *path);
/* When the snapshot was completed: its own date, or the one on record for its path; 0 = not known. */
int64_t journal_completed_unix_ms(const struct journal *journal, const struct snapshot *snapshot);
void journal_remove_snapshot(struct journal *journal, const char *path);

/* The last savepoint on record, and the newest launch that completed a checkpoint; borrowed; NULL =
 * there is none. */
const struct snapshot *journal_last_savepoint(const struct journal *journal);
const struct launch *journal_last_checkpointed(const struct journal *journal);

/* What a launch that restores `from` (NULL: nothing) is to have as output_side: that of the launch that has
 * made it, or, when that is not known, of the last one. Blue without any. */
enum side journal_output_side(const struct journal *journal, const struct snapshot *from);

void journal_add_failure(struct journal *journal, int64_t unix_ms);
int journal_failures_since(const struct journal *journal, int64_t unix_ms); /* later than this */

/* The last error, of the current launch; text NULL: clear it. */
void journal_set_error(struct journal *journal, const char *text, int64_t unix_ms);
void journal_add_log(struct journal *journal, int64_t unix_ms, const char *text);
void journal_consume(struct journal *journal, const char *token);
bool journal_is_consumed(const struct journal *journal, const char *token);
/* Withdraw the restore request that has not been carried out, because a person has decided
 * otherwise: its token is consumed, unless it is for a generation other than this one (NULL:
 * unknown). A consumed one stays recorded. */
void journal_give_up_restore(struct journal *journal, const char *generation);
/* Withdraw it if it is for a generation other than this one that has not started; should that
 * generation come again, the request no longer counts. */
void journal_withdraw_restore_of_others(struct journal *journal, const char *generation);
void journal_add_former_job(struct journal *journal, const char *job_id);
/* The same of a job that Flink's HA data or the journal's copy has, and no launch here: what it has left is not known. */
void journal_add_unknown_job(struct journal *journal, const char *job_id);
/* Nothing is left of it: its id can be given to another launch. */
void journal_remove_former_job(struct journal *journal, const char *job_id);

/* Did a launch that is no longer in the journal have this job id, or one that begins so? This
 * includes jobs that no known launch had, but whose HA data existed when a start was decided. */
bool journal_is_former_job(const struct journal *journal, const char *job_id);
bool journal_is_unknown_job(const struct journal *journal, const char *job_id); /* likewise */

/* Does or did a launch have this job id? */
bool journal_knows_job(const struct journal *journal, const char *job_id);

/* Its job was seen to run, or has left a snapshot. */
bool launch_has_run(const struct launch *launch);

/* Where the savepoint of an operation is found; NULL = not known, Flink's own default. */
const char *operation_directory(const struct operation *operation);

/* Is there a nonce that was not carried out yet? A restart waits while do-not-restart is on, which
 * never stops a job. */
bool journal_restart_wanted(const struct journal *journal);
bool journal_savepoint_wanted(const struct journal *journal);
bool journal_savepoint_nonce_is_new(const struct journal *journal); /* of the newest request */

/* A client requests a savepoint: this is the newest nonce, and it waits until it is answered.
 * Nothing happens if it is already waiting, or was the last one answered. */
void journal_ask_savepoint(struct journal *journal, const char *nonce);
struct savepoint_request *journal_add_savepoint_request(struct journal *journal, const char *nonce);
/* The oldest answered one goes; the oldest of all only if none is answered. */
void journal_drop_savepoint_request(struct journal *journal);

/* A client waits for the next savepoint. */
bool journal_savepoint_waits(const struct journal *journal);

/* The savepoint of this trigger id answers all requests that wait for the next one. */
void journal_join_savepoint(struct journal *journal, const char *trigger_id);

/* It has failed. The requests that it was for, and that have failed no more than `retries` times, wait
 * for the next one again. *ret_given_up: there are others, or none at all: this is their answer. True:
 * a request waits again. */
bool journal_retry_savepoint(struct journal *journal, const char *trigger_id, int64_t retries,
			     bool *ret_given_up);

/* It has ended. An empty trigger id: there will be no savepoint for the requests that wait for the
 * next one. */
void journal_answer_savepoint(struct journal *journal, const struct operation_result *result);

/* NULL: no request with this nonce, or too long ago; borrowed. */
const struct savepoint_request *journal_savepoint_request(const struct journal *journal,
							  const char *nonce);

/* A client requests a checkpoint. Nothing happens if a request with this nonce is known. */
void journal_ask_checkpoint(struct journal *journal, const char *nonce, bool full);
/* The request with this nonce; NULL: none is known; borrowed. */
const struct checkpoint_request *journal_checkpoint_request(const struct journal *journal,
							    const char *nonce);
/* The oldest answered one goes; the oldest of all only if none is answered. */
void journal_drop_checkpoint_request(struct journal *journal);

/* The oldest request that waits for the next checkpoint, which is full if this one is; NULL = none;
 * borrowed. */
const struct checkpoint_request *journal_checkpoint_wanted(const struct journal *journal);

/* The checkpoint of this trigger id answers all requests that wait for the next one: those for a full one
 * if it is full, else the others. */
void journal_join_checkpoint(struct journal *journal,
			     const struct checkpoint_operation *checkpoint);

/* It has ended. An empty trigger id: there will be no checkpoint for the requests that wait. */
void journal_answer_checkpoint(struct journal *journal, const char *trigger_id,
			       const struct checkpoint_result *result);

/* Generations that have used up their attempts unproven; NULL is none. */
void journal_add_failed_generation(struct journal *journal, const char *generation);
bool journal_is_failed_generation(const struct journal *journal, const char *generation);
void journal_forgive_generation(struct journal *journal, const char *generation);

void operation_release(struct operation *operation);
void operation_result_release(struct operation_result *result);
void rescaled_release(struct rescaled *rescaled);
void outcome_release(struct outcome *outcome);
void state_loss_release(struct state_loss *loss); /* there is none then */

/* Cut every list to its limit, oldest first; never the current launch. */
void journal_trim(struct journal *journal);

/* Halve one list from its old end: the log, then snapshots, then launches. False if nothing more
 * may be dropped. */
bool journal_shrink(struct journal *journal);

/*
 * Append the document as JSON text to *ret_text. Calls journal_trim() first, and journal_shrink()
 * as long as it is larger than JOURNAL_MAX_BYTES; ERR_FORMAT if it is still larger.
 *
 * Unknown members of `origin` are kept: at the top, in `intent`, in each launch (same number) and
 * snapshot (same path), and in operation, checkpoint, lastOperation, outcome, owner, the hand-over and
 * its transition while these are unchanged.
 */
int journal_encode(struct journal *journal, struct buf *ret_text, struct err *err);

/*
 * Read it back. *ret_journal is initialised by this call on success only; the caller releases it.
 * ERR_FORMAT: damaged (the message has the path of the member); ERR_CONFIG: written by a newer
 * drey.
 */
int journal_decode(const char *text, size_t len_bytes, struct journal *ret_journal,
		   struct err *err);

const char *desired_state_name(enum desired_state state); /* "running", ... */
const char *
restore_request_kind_name(enum restore_request_kind kind); /* "none", "empty", "path", "newest" */
const char *operation_kind_name(enum operation_kind kind); /* "savepoint", "stop", ... */
bool operation_ends_job(enum operation_kind kind);         /* a stop or a cancel */
const char *operation_reason_name(enum operation_reason reason); /* "periodic", ... */
const char *outcome_kind_name(enum outcome_kind kind);           /* "finished", ... */

#endif
