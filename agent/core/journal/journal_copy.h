/*
 * journal_copy - a copy of the journal beside the snapshots: `<checkpoint directory>/.drey/<application>/
 * journal.json`. When the journal is lost with its cluster or its volume, the copy says what only it knew:
 * ends, the desired state, job ids, savepoints elsewhere.
 *
 * It is evidence and never authority. A healthy journal is decided on without it; it fences no drey; what is
 * wrong with it delays nothing. It may be as old as any backup, so a journal that is made from it is under
 * the rules for those (docs/architecture.md, rule 6).
 *
 * The document has a head (who wrote it, when, for which application) and the journal; `sha256` covers all
 * the rest of it. Life cycle: journal_copy_encode(); or journal_copy_decode() -> use -> journal_copy_free().
 */
#ifndef DREY_CORE_JOURNAL_COPY_H
#define DREY_CORE_JOURNAL_COPY_H

#include "core/journal/journal.h"

#define JOURNAL_COPY_FORMAT    1 /* a later one is not read */
#define JOURNAL_COPY_MAX_BYTES (512 * 1024)
#define JOURNAL_COPY_BEGIN     "{\"journalCopy\":" /* the first bytes of every one */
#define JOURNAL_COPY_DIRECTORY ".drey"
#define JOURNAL_COPY_PACE_MS   60000
#define JOURNAL_COPY_SOON_MS   5000 /* a launch, an end, what a person has asked for */

/* The head. In a copy that was read the strings are its own; in one that is written, borrowed. */
struct journal_copy_head {
	char *application;
	char *name_space;   /* of Kubernetes; NULL = none */
	char *place;        /* of the journal, for people: "ConfigMap shop/orders-drey-journal" */
	char *drey_version; /* of the writer */
	int64_t written_unix_ms;
};

struct journal_copy {
	struct journal_copy_head head;
	struct journal journal;
	char *uri; /* where it was read; NULL = not known */
};

/* The URI of the copy below this directory. A `candidate` in a transition has a journal of its own, and a
 * copy of its own. The caller frees it. */
char *journal_copy_uri(const char *dir, const char *application, bool candidate);

/* Append the document. As journal_encode(). */
int journal_copy_encode(struct journal *journal, const struct journal_copy_head *head,
			struct buf *ret_text, struct err *err);

/* ERR_FORMAT: damaged; ERR_CONFIG: written by a later drey. The caller frees it. */
int journal_copy_decode(const char *text, size_t len_bytes, struct journal_copy **ret_copy,
			struct err *err);
void journal_copy_free(struct journal_copy *copy); /* NULL is allowed */

/* Is it of another application, or of another namespace? `why` says so. */
bool journal_copy_is_foreign(const struct journal_copy *copy, const char *application,
			     const char *name_space, struct buf *why);

/* The last launch of the copy that may have been started and that the journal does not know; NULL = none:
 * the journal knows at least as much. Borrowed. */
const struct launch *journal_copy_unknown_launch(const struct journal_copy *copy,
						 const struct journal *journal);

/* Append what it says in one clause, for people: "the copy of 2026-03-01 12:31 UTC (launch 7) says: suspended
 * at savepoint s3://..." */
void journal_copy_describe(const struct journal_copy *copy, struct buf *to);

/* The newest snapshot that it knows to be complete; NULL = none; borrowed. */
const char *journal_copy_newest(const struct journal_copy *copy);

/* Its journal says that nothing is to be launched: do-not-restart, another desired state than running, or an
 * outcome. */
bool journal_copy_parks(const struct journal_copy *copy);

/* What the copy says about a stop or cancel of this job: drey began or made it, or has launched another one
 * since. `path`: the savepoint with which the job was stopped; NULL = not known. */
bool journal_copy_made_end(const struct journal_copy *copy, enum operation_kind kind,
			   const char *job_id, const char *path);

/* The savepoint of the last operation, if that was a stop; NULL = none; borrowed. */
const char *journal_copy_stop(const struct journal_copy *copy);

/*
 * The journal is lost: the copy's takes its place. Its record stays: launches, snapshots, outcome, the
 * operation in flight, ids, and the desired state, since a person may have asked for it after what the
 * control inputs have. What belongs to this installation stays as it is: writer, sequence (or the higher
 * one), owner, hand-over, lease; and a restore request that the copy does not know to be carried out. The
 * copy is empty afterwards.
 */
void journal_copy_take(struct journal *journal, struct journal_copy *copy);

/* ---- when it is written ---- */

/* What a copy is written for. Each number is equal as long as nothing of it has changed; checkpoints of a
 * running job are not among it. */
struct copy_mark {
	uint64_t key; /* launches, ends, savepoints, the desired state */
	/* the launch, outcome and desired state alone: without them a later start would be another one */
	uint64_t soon;
};
struct copy_mark journal_copy_mark(const struct journal *journal);

/* Zeroed at first: nothing is known about what is there. */
struct copy_pace {
	bool known; /* what is there has `mark` */
	struct copy_mark mark;
	int64_t not_before_ms; /* monotonic */
	int64_t soon_ms;       /* the same, when what is to come soon has changed */
	int failures;          /* in a row */
};

enum copy_next {
	COPY_REST,  /* what is there is up to date */
	COPY_LATER, /* not yet: *ret_wait_ms */
	COPY_NOW,
};

/* `leaving`: drey ends, so there is no later. */
enum copy_next copy_pace_next(const struct copy_pace *pace, const struct copy_mark *mark,
			      bool leaving, int64_t now_ms, int64_t *ret_wait_ms);
void copy_pace_begin(struct copy_pace *pace, int64_t now_ms); /* a write begins */
void copy_pace_wrote(struct copy_pace *pace, const struct copy_mark *mark);
void copy_pace_failed(struct copy_pace *pace, int64_t now_ms);

/* May this journal replace what is there? */
enum copy_verdict {
	COPY_REPLACE,
	COPY_IS_FOREIGN, /* of another namespace or application: only when a launch of ours runs */
	COPY_IS_NEWER,   /* it has launches or writes that the journal does not know: likewise */
};
enum copy_verdict journal_copy_judge(const struct journal *journal,
				     const struct journal_copy *there, const char *name_space);

/* A launch of this journal runs that the copy does not know: this is the journal that lives. */
bool journal_copy_is_overtaken(const struct journal *journal, const struct journal_copy *there);

#endif
