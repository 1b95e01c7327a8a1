/*
 * lease - which of several installations of one application may run it, when they share nothing but a
 * bucket: an object there says who, and is replaced by compare-and-swap only. Pure: time is an argument,
 * what to do comes back as data.
 *
 * An installation is a journal: two clusters have two. Its id (lease_self.holder) is in the journal, so a copy
 * of the journal has it, too: the id says whose a claim is called, and proves nothing. The rules:
 *   - The holder writes the object again three times in its duration. What it holds ends a duration after
 *     its last write that succeeded was sent; its Flink is dead by then (EFFECT_LEASE: drey-init kills it).
 *   - Another one takes the object only when it has not changed for longer than that (lease_wait_ms()), by
 *     its own monotonic clock. No wall clock is compared, so none can be wrong; the margin is for clocks
 *     that run at different speeds.
 *   - An agent continues for the one before it, without waiting, only with a proof that no copy carries: its
 *     mark (lease_mark.h) has the write that is in the object, so there was no write since, and was made at this
 *     place. Or the writer has said that its Flink has ended (lease_leave()). Without either it waits like
 *     everybody. A claim with another name than the configured one is another installation's, whatever its id.
 *   - A claim that was written to another object than the configured one came here with its bucket, which was
 *     copied or moved: whoever wrote it does not write this one, and may live there. So it never ends by
 *     waiting. Nobody takes it, not even by the mark of its writer; a person ends the other one and deletes it.
 *   - After an outage of the store it waits for a renewal, too (a third of the duration, and 2 s): the holder
 *     is to have it again, because its journal knows the last launch.
 *   - No object is not a free one: a person may have deleted it beside a holder that lives. So that is
 *     waited for, too, except by the holder itself; and as long as the longest claim lasts that was seen
 *     since this installation held it (the journal remembers that: lease_self.longest_ms).
 *   - The sequence grows with each write of any installation. A claim with a smaller one than was seen before has
 *     been put back: its holder, as long as it holds, writes it anew; everybody else waits.
 *   - Who holds it for an application that is not meant to run keeps it. Nobody takes that over: a job that
 *     was suspended or has finished must not run again because its cluster is gone.
 *   - What was taken is read once more after LEASE_SETTLE_MS, and counts only then. There are servers that
 *     look at the condition first and write a moment later, so that two that take it at the same time both
 *     hear that they have written; the later one is in the object.
 *   - What cannot be read is not taken, and what has been sent without an answer counts as not written
 *     until it has been read. A write is recognised by its name, which is drawn for it.
 *
 * Life cycle: lease_init() -> lease_next() whenever something has happened or lease_wake_ms() has come ->
 * do it -> lease_was_read() or lease_was_written(). No memory of its own.
 */
#ifndef DREY_CORE_LEASE_H
#define DREY_CORE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/lease/lease_mark.h"

#define LEASE_ETAG_BYTES 128
#define LEASE_SETTLE_MS  2000
/* Before a lease ends, drey kills Flink: so long. And a launch that has less than the other one left is not begun:
 * it would be killed before it is of any use, and the next one as well. */
#define LEASE_HASTE_MS  3000
#define LEASE_LAUNCH_MS 5000

enum lease_act {
	LEASE_REST,
	LEASE_READ,
	LEASE_CREATE,  /* lease_write() says what; only if there is no object */
	LEASE_REPLACE, /* only if it still has lease.etag */
};

enum lease_answer {
	LEASE_ANSWER_ERROR, /* it is not known */
	LEASE_ANSWER_OK,
	LEASE_ANSWER_ABSENT,   /* read: proven */
	LEASE_ANSWER_CONFLICT, /* written: it was not as required, and nothing was written */
	LEASE_ANSWER_DAMAGED,  /* read: it cannot be understood */
};

/* Who asks. The strings are copied. */
struct lease_self {
	const char *holder, *session; /* 32 hex digits */
	const char *name;             /* that is configured; NULL = none */
	const char *uri; /* of the object, in one spelling for all that mean it; NULL = not known */
	int64_t duration_ms;           /* LEASE_MIN_MS to LEASE_MAX_MS */
	int64_t longest_ms;            /* lease.longest_ms of the agent before; 0 = not known */
	const struct lease_mark *mark; /* of the agent before, at this place; NULL = none */
};

struct lease {
	char holder[LEASE_ID_BYTES], session[LEASE_ID_BYTES];
	char name[LEASE_NAME_BYTES];
	char uri[LEASE_URI_BYTES];
	int64_t duration_ms;
	bool parked;  /* to be written */
	bool leaving; /* lease_leave() */
	bool busy;    /* a request is under way */

	/* the object as it was last read or written */
	enum lease_answer seen; /* OK, ABSENT or DAMAGED; ERROR: not read yet */
	char etag[LEASE_ETAG_BYTES];
	struct lease_claim claim;
	int64_t seen_ms; /* when it was first seen like this */
	int64_t good_ms; /* since when it could be read, without an error in between; 0 = it cannot */
	int64_t longest_ms; /* of all claims since this installation held it */
	int64_t others_ms; /* until when a claim that was replaced may still be believed by its holder */

	int64_t held_ms; /* when the last write that succeeded was sent; 0 = it is not ours */
	struct lease_mark mark;  /* to be in the state directory before a write is sent */
	struct lease_claim sent; /* the last write */
	int64_t sent_ms;         /* when it was sent; 0 = its result is known */
	int64_t next_ms;         /* not before */
	char why[512];           /* the last error; "" = none since */
};

void lease_init(struct lease *lease, const struct lease_self *self);

/* The application is not meant to run (any more). */
void lease_set_parked(struct lease *lease, bool parked);

/* Flink has ended and this container ends: nothing is held any more from now on, and the object shall say so,
 * with one write. */
void lease_leave(struct lease *lease);
/* There is nothing more to write for it, or no time to wait for. */
bool lease_has_left(const struct lease *lease);

/* What to do now. Anything but REST: then lease->busy is set until its answer. CREATE, REPLACE: write
 * lease->sent, with `write`, 32 hex digits that were drawn for this call, from the kernel: two copies of one
 * machine must not draw the same. */
enum lease_act lease_next(struct lease *lease, const char *write, int64_t now_ms);
/* When to ask lease_next() again, unless it is busy. */
int64_t lease_wake_ms(const struct lease *lease);

/* The answer to READ. OK: etag and claim; DAMAGED: etag; else why. */
void lease_was_read(struct lease *lease, enum lease_answer answer, const char *etag,
		    const struct lease_claim *claim, const char *why, int64_t now_ms);
/* The answer to CREATE and REPLACE. OK: the new etag; else why. */
void lease_was_written(struct lease *lease, enum lease_answer answer, const char *etag,
		       const char *why, int64_t now_ms);

bool lease_is_held(const struct lease *lease, int64_t now_ms);
/* It is held, and long enough for a launch. */
bool lease_lets_launch(const struct lease *lease, int64_t now_ms);

/* How long the object must not have changed before it may be taken. */
int64_t lease_wait_ms(const struct lease *lease);

/* It was written to another object, and came here with a copy of the bucket. */
bool lease_is_copied(const struct lease *lease);

/* It is an older version of what was seen before. */
bool lease_is_put_back(const struct lease *lease);

/* Another one holds it for an application that is not meant to run. */
bool lease_is_parked_elsewhere(const struct lease *lease);

/* Why it is not held, one sentence for people. */
void lease_print(const struct lease *lease, int64_t now_ms, struct buf *text);

#endif
