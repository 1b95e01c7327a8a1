#include "core/lease/lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define AGAIN_MS       INT64_C(1000)
#define MARGIN_MS      INT64_C(2000)
#define RENEWALS       3  /* in a duration */
#define LOOKS          10 /* of one that waits, in a duration */
#define MARGIN_PERCENT 10

/* One of an earlier drey is about the object that is configured: it could not be another one. */
static bool is_about(const struct lease_mark *mark, const char *uri)
{
	return !mark->uri[0] || !*uri || !strcmp(mark->uri, uri);
}

void lease_init(struct lease *lease, const struct lease_self *self)
{
	*lease = (struct lease){.duration_ms = self->duration_ms};
	snprintf(lease->holder, sizeof(lease->holder), "%s", self->holder);
	snprintf(lease->session, sizeof(lease->session), "%s", self->session);
	snprintf(lease->name, sizeof(lease->name), "%s", self->name ? self->name : "");
	snprintf(lease->uri, sizeof(lease->uri), "%s", self->uri ? self->uri : "");
	lease->longest_ms =
		self->longest_ms > self->duration_ms ? self->longest_ms : self->duration_ms;
	if (self->mark && is_about(self->mark, lease->uri))
		lease->mark = *self->mark;
	memcpy(lease->mark.uri, lease->uri, LEASE_URI_BYTES);
	lease->sent.duration_ms = self->duration_ms;
	memcpy(lease->sent.holder, lease->holder, LEASE_ID_BYTES);
	memcpy(lease->sent.session, lease->session, LEASE_ID_BYTES);
	memcpy(lease->sent.uri, lease->uri, LEASE_URI_BYTES);
}

void lease_set_parked(struct lease *lease, bool parked)
{
	if (lease->parked == parked)
		return;
	lease->parked = parked;
	if (lease->held_ms) /* others must know before this installation is lost */
		lease->next_ms = 0;
}

bool lease_is_copied(const struct lease *lease)
{
	/* MUT: a lease object that was copied with its bucket counts as the one that is shared */
	return lease->seen == LEASE_ANSWER_OK && lease->claim.uri[0] && lease->uri[0] &&
	       strcmp(lease->claim.uri, lease->uri) != 0;
}

/* It says that it is ours. A copy of our journal says so, too. */
static bool is_called_ours(const struct lease *lease)
{
	bool is_named = !lease->name[0] || !strcmp(lease->claim.name, lease->name);

	return lease->seen == LEASE_ANSWER_OK && !lease_is_copied(lease) && is_named &&
	       !strcmp(lease->claim.holder, lease->holder);
}

/* This agent, or the one before it here, has made this very write. */
static bool is_our_write(const struct lease *lease)
{
	return is_called_ours(lease) && lease_mark_has(&lease->mark, lease->claim.write);
}

bool lease_is_put_back(const struct lease *lease)
{
	/* MUT: an older lease object is believed */
	return lease->seen == LEASE_ANSWER_OK && !lease_is_copied(lease) && lease->claim.write[0] &&
	       lease->claim.sequence < lease->mark.sequence;
}

bool lease_is_held(const struct lease *lease, int64_t now_ms)
{
	return lease->held_ms && !lease->leaving && now_ms < lease->held_ms + lease->duration_ms;
}

bool lease_lets_launch(const struct lease *lease, int64_t now_ms)
{
	return lease_is_held(lease, now_ms + LEASE_LAUNCH_MS);
}

/* Of those that may be in force. */
static int64_t longest_ms(const struct lease *lease)
{
	/* MUT: a deleted lease object forgets how long a claim lasts */
	if (lease->seen == LEASE_ANSWER_ABSENT)
		return lease->longest_ms;
	/* MUT: a lease is taken after one's own duration, not after its holder's */
	if (lease->seen == LEASE_ANSWER_OK && lease->claim.duration_ms > lease->duration_ms)
		return lease->claim.duration_ms;
	return lease->duration_ms;
}

static int64_t with_margin(int64_t duration_ms)
{
	return duration_ms + duration_ms * MARGIN_PERCENT / 100 + MARGIN_MS;
}

int64_t lease_wait_ms(const struct lease *lease)
{
	return with_margin(longest_ms(lease));
}

/* When it may be taken, if it does not change and can be read until then. */
static int64_t free_ms(const struct lease *lease)
{
	int64_t wait_ms = lease->seen_ms + lease_wait_ms(lease);
	int64_t holder_ms = lease->good_ms + longest_ms(lease) / RENEWALS + MARGIN_MS;

	if (wait_ms < lease->others_ms)
		wait_ms = lease->others_ms;
	/* who has written the newest comes first: its journal knows the last launch */
	if (lease_is_put_back(lease) && !lease->mark.writes[0][0])
		wait_ms += longest_ms(lease) / RENEWALS + MARGIN_MS;
	return wait_ms > holder_ms ? wait_ms : holder_ms;
}

bool lease_is_parked_elsewhere(const struct lease *lease)
{
	return lease->seen == LEASE_ANSWER_OK && lease->claim.parked && !lease_is_copied(lease) &&
	       !is_called_ours(lease);
}

/* ---- what to do ---- */

/* By a person or a tool, with an object that nobody wrote to it just then. */
static bool is_replaced(const struct lease *lease)
{
	return lease_is_put_back(lease) || lease_is_copied(lease);
}

/* Who holds it writes it, whatever was done to the object; and an agent continues for the one before it, if it
 * can prove that it is that one's successor, and not that of a copy. */
static bool may_take_now(const struct lease *lease, int64_t now_ms)
{
	if (lease->seen == LEASE_ANSWER_ABSENT || is_replaced(lease))
		return lease_is_held(lease, now_ms);
	/* MUT: a lease is taken without waiting */
	return is_our_write(lease) || (is_called_ours(lease) && lease->claim.ended);
}

static enum lease_act what_to_do(const struct lease *lease, int64_t now_ms)
{
	enum lease_act take = lease->seen == LEASE_ANSWER_ABSENT ? LEASE_CREATE : LEASE_REPLACE;

	if (lease->seen == LEASE_ANSWER_ERROR || lease->seen == LEASE_ANSWER_DAMAGED ||
	    lease->sent_ms)
		return LEASE_READ;
	if (may_take_now(lease, now_ms))
		return take;
	/* MUT: a copied lease object is taken when nobody writes it */
	if (lease_is_copied(lease))
		return LEASE_READ;
	/* MUT: the lease of a suspended application is taken over */
	if (lease_is_parked_elsewhere(lease))
		return LEASE_READ;
	return lease->good_ms && now_ms >= free_ms(lease) ? take : LEASE_READ;
}

static void prepare_write(struct lease *lease, const char *write, int64_t now_ms)
{
	lease->sent.sequence =
		(lease->sent.sequence > lease->mark.sequence ? lease->sent.sequence
							     : lease->mark.sequence) +
		1;
	/* one that somebody has made that high: what is written must be read */
	/* MUT: a lease object with the highest number is written over with one that nobody reads */
	if (lease->sent.sequence > LEASE_SEQUENCE_MAX)
		lease->sent.sequence = LEASE_SEQUENCE_MAX;
	lease->sent.parked = lease->parked;
	lease->sent.ended = lease->leaving;
	snprintf(lease->sent.name, sizeof(lease->sent.name), "%s", lease->name);
	snprintf(lease->sent.write, sizeof(lease->sent.write), "%s", write);
	lease_mark_add(&lease->mark, write);
	lease->sent_ms = now_ms;
}

/* Once, and only what is known to be ours. */
static enum lease_act last_write(struct lease *lease, const char *write, int64_t now_ms)
{
	if (lease->busy || lease_has_left(lease))
		return LEASE_REST;
	lease->busy = true;
	prepare_write(lease, write, now_ms);
	return LEASE_REPLACE;
}

enum lease_act lease_next(struct lease *lease, const char *write, int64_t now_ms)
{
	enum lease_act act;

	if (lease->leaving)
		return last_write(lease, write, now_ms);
	if (lease->busy || now_ms < lease->next_ms)
		return LEASE_REST;
	act = what_to_do(lease, now_ms);
	lease->busy = true;
	if (act != LEASE_READ)
		prepare_write(lease, write, now_ms);
	return act;
}

void lease_leave(struct lease *lease)
{
	lease->leaving = true;
}

bool lease_has_left(const struct lease *lease)
{
	return lease->leaving && !lease->busy &&
	       (lease->sent.ended || lease->sent_ms || !lease->held_ms);
}

int64_t lease_wake_ms(const struct lease *lease)
{
	return lease->next_ms;
}

/* ---- answers ---- */

static void confirm(struct lease *lease, int64_t sent_ms)
{
	lease->held_ms = sent_ms;
	lease->longest_ms = lease->duration_ms;
	lease->next_ms = sent_ms + lease->duration_ms / RENEWALS;
	/* what was sent says something else by now */
	if (lease->claim.parked != lease->parked)
		lease->next_ms = 0;
}

/* It is not ours, or no longer. */
static void leave_to_others(struct lease *lease, int64_t now_ms)
{
	lease->held_ms = 0;
	lease->next_ms = may_take_now(lease, now_ms) ? now_ms : now_ms + lease->duration_ms / LOOKS;
}

/* It was read: is what was sent in it, and is it still ours? */
static void look_at_it(struct lease *lease, int64_t now_ms)
{
	int64_t sent_ms = lease->sent_ms;

	lease->sent_ms = 0;
	if (is_replaced(lease)) {
		if (may_take_now(lease, now_ms)) {
			lease->next_ms = now_ms;
			return;
		}
		/* MUT: what was written before a copy lay over it proves a claim */
		if (lease_is_copied(lease))
			lease_mark_forget(&lease->mark);
		leave_to_others(lease, now_ms);
		return;
	}
	lease_mark_saw(&lease->mark, lease->claim.sequence);
	if (!is_our_write(lease)) {
		/* MUT: what was written before another one held the lease proves a claim */
		lease_mark_forget(&lease->mark);
		leave_to_others(lease, now_ms);
	} else if (sent_ms && !strcmp(lease->claim.write, lease->sent.write)) {
		confirm(lease, sent_ms);
	} else {
		/* an earlier write of ours arrived late, or the last one not at all: once more */
		lease->next_ms = now_ms;
	}
}

/* What was there before may be believed by its holder for as long as it lasts. */
static void remember_length(struct lease *lease, int64_t now_ms)
{
	int64_t until_ms = now_ms + with_margin(lease->claim.duration_ms);

	if (until_ms > lease->others_ms)
		lease->others_ms = until_ms;
	if (lease->claim.duration_ms > lease->longest_ms)
		lease->longest_ms = lease->claim.duration_ms;
}

void lease_was_read(struct lease *lease, enum lease_answer answer, const char *etag,
		    const struct lease_claim *claim, const char *why, int64_t now_ms)
{
	bool changed;

	lease->busy = false;
	snprintf(lease->why, sizeof(lease->why), "%s",
		 answer == LEASE_ANSWER_OK || answer == LEASE_ANSWER_ABSENT ? "" : why);
	if (answer == LEASE_ANSWER_ERROR || answer == LEASE_ANSWER_CONFLICT) {
		lease->good_ms = 0;
		lease->next_ms = now_ms + AGAIN_MS;
		return;
	}
	if (!lease->good_ms)
		lease->good_ms = now_ms;
	changed = answer != lease->seen || strcmp(lease->etag, etag ? etag : "") != 0;
	lease->seen = answer;
	snprintf(lease->etag, sizeof(lease->etag), "%s", etag ? etag : "");
	if (changed)
		lease->seen_ms = now_ms;
	if (answer == LEASE_ANSWER_OK) {
		lease->claim = *claim;
		if (changed)
			remember_length(lease, now_ms);
		look_at_it(lease, now_ms);
	} else if (answer == LEASE_ANSWER_ABSENT) {
		lease->sent_ms = 0;
		lease->next_ms =
			may_take_now(lease, now_ms) ? now_ms : now_ms + lease->duration_ms / LOOKS;
	} else {
		lease->next_ms = now_ms + AGAIN_MS;
	}
}

void lease_was_written(struct lease *lease, enum lease_answer answer, const char *etag,
		       const char *why, int64_t now_ms)
{
	lease->busy = false;
	if (answer == LEASE_ANSWER_ERROR)
		lease->good_ms = 0;
	if (answer != LEASE_ANSWER_OK) {
		/* a server that has answered twice may refuse what it has done the first time */
		snprintf(lease->why, sizeof(lease->why), "%s", why);
		lease->next_ms = answer == LEASE_ANSWER_CONFLICT ? now_ms : now_ms + AGAIN_MS;
		return;
	}
	lease->why[0] = '\0';
	lease->seen = LEASE_ANSWER_OK;
	snprintf(lease->etag, sizeof(lease->etag), "%s", etag);
	lease->claim = lease->sent;
	lease->seen_ms = now_ms;
	if (lease->sent.ended) {
		lease->held_ms = lease->sent_ms = 0;
		return;
	}
	/* MUT: a lease that was taken is not read again */
	if (!lease_is_held(lease, now_ms)) {
		lease->next_ms = now_ms + LEASE_SETTLE_MS;
		return;
	}
	lease_mark_saw(&lease->mark, lease->sent.sequence);
	confirm(lease, lease->sent_ms);
	lease->sent_ms = 0;
}

/* ---- for people ---- */

/* Who seems to hold it, and what a person should know about that. */
static void print_holder(const struct lease *lease, struct buf *text)
{
	const struct lease_claim *claim = &lease->claim;
	const char *name = claim->name[0] ? claim->name : claim->holder;
	bool same_id = !strcmp(claim->holder, lease->holder);
	bool same_name = lease->name[0] && !strcmp(claim->name, lease->name);

	if (lease_is_put_back(lease))
		buf_addf(text,
			 "the lease object was put back to an older version (%" PRId64
			 " after %" PRId64 "), which names %s; do not restore this object",
			 claim->sequence, lease->mark.sequence, name);
	else if (same_id && !same_name && lease->name[0])
		buf_addf(
			text,
			"%s holds the lease, with the id of this journal: this journal is a copy of its",
			name);
	else if (same_id)
		buf_addf(
			text,
			"%s holds the lease, with the id of this journal: an earlier Pod of this installation, or the one that this journal was copied from; give a copy a lease.name of its own",
			name);
	else if (same_name)
		buf_addf(
			text,
			"another installation with the same lease.name, %s, holds the lease; give each one a name of its own",
			name);
	else
		buf_addf(text, "%s holds the lease", name);
}

static void print_copied(const struct lease *lease, struct buf *text)
{
	buf_addf(
		text,
		"the lease object was written for %s, and this is %s: the bucket was copied or moved; make sure that the job has ended where %s is used, then delete %s",
		lease->claim.uri, lease->uri, lease->claim.uri, lease->uri);
}

static void print_claim(const struct lease *lease, int64_t left_s, struct buf *text)
{
	if (lease_is_copied(lease)) {
		print_copied(lease, text);
	} else if (lease_is_parked_elsewhere(lease)) {
		buf_addf(text, "%s holds the lease, and the application is not meant to run there",
			 lease->claim.name[0] ? lease->claim.name : lease->claim.holder);
	} else if (lease_is_put_back(lease) || !is_our_write(lease)) {
		print_holder(lease, text);
		buf_addf(text,
			 "; if it does not write it any more, it is taken over in %" PRId64 " s",
			 left_s);
	} else if (lease->why[0]) {
		buf_addf(text, "the lease could not be written: %s", lease->why);
	} else {
		buf_addstr(text, "the lease was taken a moment ago, and is read once more");
	}
}

void lease_print(const struct lease *lease, int64_t now_ms, struct buf *text)
{
	int64_t left_ms = free_ms(lease) - now_ms, left_s = left_ms > 0 ? left_ms / 1000 : 0;

	if (lease->leaving)
		buf_addstr(text, "the lease was given back, because this container ends");
	else if (lease_is_held(lease, now_ms))
		buf_addf(text,
			 "the lease was not renewed for %" PRId64
			 " s, and nothing is started in its last seconds%s%s",
			 (now_ms - lease->held_ms) / 1000, lease->why[0] ? ": " : "", lease->why);
	else if (lease->seen == LEASE_ANSWER_ERROR || lease->seen == LEASE_ANSWER_DAMAGED)
		buf_addf(text, "the lease cannot be read: %s",
			 lease->why[0] ? lease->why : "not yet");
	else if (lease->seen == LEASE_ANSWER_ABSENT && lease->why[0])
		buf_addf(text, "the lease could not be created: %s", lease->why);
	else if (lease->seen == LEASE_ANSWER_ABSENT)
		buf_addf(text, "there is no lease object yet; it is created in %" PRId64 " s",
			 left_s);
	else
		print_claim(lease, left_s, text);
}
