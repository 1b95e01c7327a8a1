/*
 * journal - the write-ahead record: what was intended, what came of it, what state is known.
 *
 * One document. It is written before every launch, stop, savepoint and disposal, and again with the
 * outcome; whoever reads it after a crash knows what may have happened. This module is the document
 * in memory and its JSON form; where it is kept is the business of run/.
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

/* What a person wants. */
enum desired_state {
	DESIRED_RUNNING,
	DESIRED_SUSPENDED, /* stopped with a savepoint, ready to be resumed */
	DESIRED_CANCELLED, /* stopped without a savepoint */
};

/* A one-shot instruction where to start from; applied once, then its token is in `consumed`. */
enum restore_request_kind {
	RESTORE_NONE,
	RESTORE_EMPTY, /* start without state, knowingly */
	RESTORE_PATH,  /* start from exactly this snapshot */
	/* from what the rules find, as without an order; but state may be left out, once */
	RESTORE_NEWEST,
};

struct restore_request {
	enum restore_request_kind kind;
	char *token; /* names the request; the same token is never applied twice */
	char *path;  /* RESTORE_PATH */
	bool allow_non_restored;
	bool foreign;          /* the path may be a snapshot of another job, knowingly */
	int64_t asked_unix_ms; /* what came later, nobody knew of. 0 = not known: as old as can be */
	char *generation;      /* only a launch of this one carries it out; NULL = any */
	/* It was in the journal when that was read: a journal from a backup has orders that were carried out
	 * long ago. Not written. */
	bool read_back;
};

struct intent {
	enum desired_state state;
	bool do_not_restart;   /* the brake: forbids every launch, never stops a running job */
	char *savepoint_nonce; /* a change asks for one savepoint */
	char *restart_nonce;   /* a change asks for stop with savepoint and start */
	struct restore_request restore;
};

/* One start of Flink. The last one of journal.launches is the current one. */
struct launch {
	int64_t number; /* 1, 2, 3 ... over the life of the application */
	char job_id[JOB_ID_BYTES];
	char *job_result_path;             /* URI; Flink leaves there how the job ended */
	char application_id[JOB_ID_BYTES]; /* Flink >= 2.3 */
	char *application_result_path;
	char *generation;    /* hash of image, arguments and configuration; NULL without one */
	char *flink_version; /* "2.3.0"; NULL when not known */
	/* Where its checkpoints and savepoints were to go, as they are found there; NULL when not known. The job's
	 * own code may have another idea of its checkpoints: last_checkpoint_path tells. */
	char *checkpoint_dir, *savepoint_dir;
	char *ha_cluster_id; /* of Flink's HA maps; NULL = it had no HA, or not known (0.1.0) */
	bool allow_non_restored;
	char *request_token; /* the one-shot request that it carries out; NULL = none */
	char *writer;        /* of the journal, who has decided it; NULL = not known */

	/* the restore point: NULL path = started empty, by rule or by request */
	char *restore_path;
	enum snapshot_kind restore_kind;
	int64_t restore_checkpoint_id;

	/* what came of it */
	int64_t intended_unix_ms;
	int64_t started_unix_ms;  /* 0 = drey-init never reported exec */
	int64_t verified_unix_ms; /* Flink reported exactly the restore point; 0 = not (yet) */
	int64_t proven_unix_ms;   /* first checkpoint completed; 0 = not (yet) */
	int64_t ended_unix_ms;    /* reaped; 0 = not (yet) */
	int wait_status;          /* valid when ended_unix_ms != 0; -1 = nobody saw it */
	bool job_ended; /* Flink has shown the job's final state: nothing can continue it */
	/* what became of the job is on record (an outcome, an operation, a later launch): Flink's own
	 * record of its end tells nothing new. Journals before this: job_ended */
	bool end_known;
	bool mismatched;    /* Flink restored something else: nothing of this launch may be used */
	bool left_state;    /* a snapshot of it was seen in storage, or Flink has reported one */
	bool never_started; /* proven: no process was ever started for it */
	/* do-not-restart was on when its job was last known to run: a stop or a cancel from outside drey is a
	 * suspension then */
	bool braked;
	int64_t last_checkpoint_id; /* newest completed one that REST has shown; 0 = none */
	char *last_checkpoint_path;
	int64_t last_checkpoint_unix_ms;
};

enum operation_kind {
	OPERATION_NONE,
	OPERATION_SAVEPOINT,
	OPERATION_STOP, /* stop with savepoint */
	OPERATION_CANCEL,
	OPERATION_DISPOSE,
};

/* Why an operation was started; decides what follows it. */
enum operation_reason {
	REASON_NONE,
	REASON_PERIODIC,
	REASON_MANUAL,
	REASON_SUSPEND,
	REASON_RESTART,
	REASON_TERMINATE, /* the container ends and the configuration asks for a savepoint then */
	REASON_CANCEL,
	REASON_RETENTION,
	REASON_UPGRADE, /* the container ends, and another generation follows */
	REASON_COUNT,
};

/* The one operation in flight; kind OPERATION_NONE = none. */
struct operation {
	enum operation_kind kind;
	enum operation_reason reason;
	char trigger_id[JOB_ID_BYTES]; /* fresh for every operation; makes the POST idempotent */
	char job_id[JOB_ID_BYTES];     /* the launch that it belongs to */
	char *nonce;                   /* the request that asked for it */
	char *path;                    /* target directory; OPERATION_DISPOSE: the snapshot */
	char *directory;               /* where its savepoint is found, if not in `path` */
	bool drain;
	int64_t started_unix_ms;
};

/* The last operation that ended, for whoever waits for it. */
struct operation_result {
	enum operation_kind kind;
	enum operation_reason reason;
	char trigger_id[JOB_ID_BYTES];
	char *nonce;
	bool ok;
	char *location; /* the savepoint; also of a stop that failed after it was complete */
	char *error;    /* NULL when ok */
	int64_t ended_unix_ms;
};

/* Somebody waits for a savepoint. */
struct savepoint_request {
	char *nonce;
	char trigger_id[JOB_ID_BYTES]; /* of the savepoint that answers it; "" = the next one */
	bool answered;
	bool ok;
	char *location, *error; /* as in the result of the operation */
};

/* Why the application will not run again by itself. */
enum outcome_kind {
	OUTCOME_NONE,
	OUTCOME_FINISHED,
	OUTCOME_CANCELLED,
	OUTCOME_FAILED,           /* attempts used up */
	OUTCOME_UNKNOWN,          /* Flink ended with 0 and nobody saw the final state */
	OUTCOME_RESTORE_MISMATCH, /* Flink restored something else than decided */
};

struct outcome {
	enum outcome_kind kind;
	char job_id[JOB_ID_BYTES];
	char *reason;
	int64_t unix_ms;
	char *savepoint; /* CANCELLED: with which the job was stopped from outside drey; NULL = without one */
	/* CANCELLED, while do-not-restart was on: it binds only as long as that is on */
	bool suspended;
};

struct log_entry {
	int64_t unix_ms;
	char *text;
};

struct journal {
	char *application;
	int64_t sequence; /* +1 with every write: the version that compare-and-swap compares */
	char *writer;     /* who wrote last: boot id or pod UID, for fencing */
	char **writers;   /* who has written it before, oldest first */
	size_t writer_count;
	char *phase; /* for readers; decisions never depend on it */
	/* some launch completed a checkpoint: no empty start by itself any more */
	bool ever_proven;
	struct intent intent;
	char *savepoint_nonce_done;
	char *restart_nonce_done;

	struct launch *launches;
	size_t launch_count;
	char *id_space;     /* whose numbered job ids were given out last (job_id.h); NULL = none */
	int64_t id_next;    /* the first number of it that was not */
	char **former_jobs; /* job ids of launches that were trimmed away: still ours */
	size_t former_job_count;
	struct snapshot *snapshots; /* savepoints made or recorded, oldest first */
	size_t snapshot_count;
	char *disposing; /* savepoint that Flink is asked to delete; NULL = none */
	struct operation operation;
	struct operation_result last_operation;
	/* oldest first; the answered ones stay a while */
	struct savepoint_request *savepoint_requests;
	size_t savepoint_request_count;
	struct outcome outcome;
	int64_t failures_unix_ms[JOURNAL_MAX_FAILURES]; /* failed attempts, oldest first */
	size_t failure_count;
	char *last_error;
	int64_t last_error_unix_ms,
		last_error_launch; /* when, and of which launch; 0 = not known */
	char **consumed;           /* tokens of one-shot requests that were applied */
	size_t consumed_count;
	char **failed_generations;
	size_t failed_generation_count;
	struct log_entry *log; /* transitions, oldest first */
	size_t log_count;

	struct json *origin; /* the document as read: unknown members survive a rewrite */
};

void journal_init(struct journal *journal, const char *application);
void journal_release(struct journal *journal);

/* From now on this one writes it; who did before is remembered. */
void journal_take_over(struct journal *journal, const char *writer);

void journal_add_writer(struct journal *journal, const char *writer); /* one who did before */

/*
 * What is found where the journal is kept is an earlier state of `ours`, put back: a backup, and not the work of
 * another drey. Its sequence is lower, one of those who are known to have written ours has written it, and it has no
 * launch that ours does not have. Everything else may be another drey's.
 */
bool journal_is_backup(const struct journal *found, const struct journal *ours);

/* The current launch, or NULL when there never was one; borrowed. */
struct launch *journal_launch(struct journal *journal);
const struct launch *journal_launch_const(const struct journal *journal);

/* The launch whose end nobody saw, and that may have left a record of it: the last one that may have
 * been started, when its end is not known. NULL: there is none. Borrowed. */
const struct launch *journal_open_launch(const struct journal *journal);

/* Append a zeroed launch with the next number; borrowed until the next change of the list. */
struct launch *journal_add_launch(struct journal *journal);

/* The current launch was never carried out: a zeroed one with the next number takes its place. There
 * has to be one. Borrowed like the above. */
struct launch *journal_renew_launch(struct journal *journal);

/* Record a snapshot (copied); one with the same path is replaced. */
void journal_add_snapshot(struct journal *journal, const struct snapshot *snapshot);
/* The recorded snapshot of this path; borrowed; NULL = there is none. */
const struct snapshot *journal_snapshot(const struct journal *journal, const char *path);
void journal_remove_snapshot(struct journal *journal, const char *path);

void journal_add_failure(struct journal *journal, int64_t unix_ms);

/* The last thing that went wrong, of the launch that is current; text NULL: nothing any more. */
void journal_set_error(struct journal *journal, const char *text, int64_t unix_ms);
void journal_add_log(struct journal *journal, int64_t unix_ms, const char *text);
void journal_consume(struct journal *journal, const char *token);
bool journal_is_consumed(const struct journal *journal, const char *token);
/* Takes back the restore request that nothing has carried out, because a person has decided otherwise: its token is
 * consumed, unless it is for another generation than this one (NULL: unknown). One that is consumed stays on record. */
void journal_give_up_restore(struct journal *journal, const char *generation);
/* Takes it back, if it is for another generation than this one, which has not come to its start: if that one comes once
 * more, it is another day. */
void journal_withdraw_restore_of_others(struct journal *journal, const char *generation);
void journal_add_former_job(struct journal *journal, const char *job_id);

/* Did a launch that is not in the journal any more have this job id, or one that begins so? So are jobs that no
 * launch is known to have had, but whose HA data were there when a start was decided. */
bool journal_is_former_job(const struct journal *journal, const char *job_id);

/* Is there a launch of this job id, now or formerly? */
bool journal_knows_job(const struct journal *journal, const char *job_id);

/* Where the savepoint of an operation is found; NULL = not known, Flink's own default. */
const char *operation_directory(const struct operation *operation);

/* Is a nonce wanted that was not carried out yet? A restart waits for the brake, which never stops a job. */
bool journal_restart_wanted(const struct journal *journal);
bool journal_savepoint_wanted(const struct journal *journal);
bool journal_savepoint_nonce_is_new(const struct journal *journal); /* of the newest request */

/* Somebody asks: the newest nonce is this one, and it waits until it is answered. Nothing happens when it waits
 * already, or was answered last. */
void journal_ask_savepoint(struct journal *journal, const char *nonce);
struct savepoint_request *journal_add_savepoint_request(struct journal *journal, const char *nonce);

/* Somebody waits for the next savepoint. */
bool journal_savepoint_waits(const struct journal *journal);

/* The savepoint of this trigger id is for all who wait for the next one. */
void journal_join_savepoint(struct journal *journal, const char *trigger_id);

/* It has ended. An empty trigger id: there will be none, for all who wait for the next one. */
void journal_answer_savepoint(struct journal *journal, const struct operation_result *result);

/* NULL: nobody has asked under this nonce, or that is long ago; borrowed. */
const struct savepoint_request *journal_savepoint_request(const struct journal *journal,
							  const char *nonce);

/* Generations that have used up their attempts unproven; NULL is none. */
void journal_add_failed_generation(struct journal *journal, const char *generation);
bool journal_is_failed_generation(const struct journal *journal, const char *generation);
void journal_forgive_generation(struct journal *journal, const char *generation);

void operation_release(struct operation *operation);
void operation_result_release(struct operation_result *result);
void savepoint_request_release(struct savepoint_request *request);
void outcome_release(struct outcome *outcome);

/* Cut every list to its limit, oldest first; never the current launch. */
void journal_trim(struct journal *journal);

/* Halve one list from its old end: the log, then snapshots, then launches. False when nothing may
 * be given up any more. */
bool journal_shrink(struct journal *journal);

/*
 * Append the document as JSON text to *ret_text. Calls journal_trim() first, and journal_shrink()
 * as long as it is larger than JOURNAL_MAX_BYTES; ERR_FORMAT when it is larger all the same.
 *
 * Unknown members of `origin` are kept: at the top, in `intent`, in each launch (same number) and
 * snapshot (same path), and in operation, lastOperation and outcome while they are the same ones.
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
const char *operation_reason_name(enum operation_reason reason); /* "periodic", ... */
const char *outcome_kind_name(enum outcome_kind kind);           /* "finished", ... */

#endif
