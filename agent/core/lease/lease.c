#include "core/lease/lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define AGAIN_MS       INT64_C(1000)
#define MARGIN_MS      INT64_C(2000)
#define RENEWALS       3  /* in a duration */
#define LOOKS          10 /* of one that waits, in a duration */
#define MARGIN_PERCENT 10

void lease_init(struct lease *lease, const char *holder, const char *session, int64_t duration_ms)
{
	*lease = (struct lease){.duration_ms = duration_ms};
	snprintf(lease->holder, sizeof(lease->holder), "%s", holder);
	snprintf(lease->session, sizeof(lease->session), "%s", session);
	lease->sent.duration_ms = duration_ms;
	memcpy(lease->sent.holder, lease->holder, LEASE_ID_BYTES);
	memcpy(lease->sent.session, lease->session, LEASE_ID_BYTES);
}

void lease_set_parked(struct lease *lease, bool parked)
{
	if (lease->parked == parked)
		return;
	lease->parked = parked;
	if (lease->held_ms) /* others must know before this installation is lost */
		lease->next_ms = 0;
}

static bool is_our_claim(const struct lease *lease)
{
	return lease->seen == LEASE_ANSWER_OK && !strcmp(lease->claim.holder, lease->holder);
}

static bool is_of_this_session(const struct lease *lease)
{
	return is_our_claim(lease) && !strcmp(lease->claim.session, lease->session);
}

bool lease_is_held(const struct lease *lease, int64_t now_ms)
{
	return lease->held_ms && now_ms < lease->held_ms + lease->duration_ms;
}

static int64_t longest_ms(const struct lease *lease)
{
	int64_t longest_ms = lease->duration_ms;

	/* MUT: a lease is taken after one's own duration, not after its holder's */
	if (lease->seen == LEASE_ANSWER_OK && lease->claim.duration_ms > longest_ms)
		longest_ms = lease->claim.duration_ms;
	return longest_ms;
}

int64_t lease_wait_ms(const struct lease *lease)
{
	int64_t whole_ms = longest_ms(lease);

	return whole_ms + whole_ms * MARGIN_PERCENT / 100 + MARGIN_MS;
}

/* When it may be taken, if it does not change and can be read until then. */
static int64_t free_ms(const struct lease *lease)
{
	int64_t wait_ms = lease->seen_ms + lease_wait_ms(lease);
	int64_t holder_ms = lease->good_ms + longest_ms(lease) / RENEWALS + MARGIN_MS;

	return wait_ms > holder_ms ? wait_ms : holder_ms;
}

bool lease_is_parked_elsewhere(const struct lease *lease)
{
	return lease->seen == LEASE_ANSWER_OK && lease->claim.parked && !is_our_claim(lease);
}

/* ---- what to do ---- */

/* An agent that has just begun continues for the one before it. One that has held the lease and lost it to
 * another agent of its own installation does not take it back: that one lives. */
static bool may_take_now(const struct lease *lease, int64_t now_ms)
{
	if (is_of_this_session(lease) ||
	    (lease->seen == LEASE_ANSWER_ABSENT && lease_is_held(lease, now_ms)))
		return true;
	/* MUT: a lease is taken without waiting */
	return is_our_claim(lease) && !lease->ever_held;
}

static enum lease_act what_to_do(const struct lease *lease, int64_t now_ms)
{
	enum lease_act take = lease->seen == LEASE_ANSWER_ABSENT ? LEASE_CREATE : LEASE_REPLACE;

	if (lease->seen == LEASE_ANSWER_ERROR || lease->seen == LEASE_ANSWER_DAMAGED ||
	    lease->sent_ms)
		return LEASE_READ;
	if (may_take_now(lease, now_ms))
		return take;
	/* MUT: the lease of a suspended application is taken over */
	if (lease_is_parked_elsewhere(lease))
		return LEASE_READ;
	return lease->good_ms && now_ms >= free_ms(lease) ? take : LEASE_READ;
}

enum lease_act lease_next(struct lease *lease, int64_t now_ms)
{
	enum lease_act act;

	if (lease->busy || now_ms < lease->next_ms)
		return LEASE_REST;
	act = what_to_do(lease, now_ms);
	lease->busy = true;
	if (act != LEASE_READ) {
		lease->sent.sequence++;
		lease->sent.parked = lease->parked;
		lease->sent_ms = now_ms;
	}
	return act;
}

int64_t lease_wake_ms(const struct lease *lease)
{
	return lease->next_ms;
}

/* ---- answers ---- */

static void confirm(struct lease *lease, int64_t sent_ms)
{
	lease->held_ms = sent_ms;
	lease->ever_held = true;
	lease->next_ms = sent_ms + lease->duration_ms / RENEWALS;
	/* what was sent says something else by now */
	if (lease->claim.parked != lease->parked)
		lease->next_ms = 0;
}

/* It was read: is what was sent in it, and is it still ours? */
static void look_at_it(struct lease *lease, int64_t now_ms)
{
	int64_t sent_ms = lease->sent_ms;

	lease->sent_ms = 0;
	if (!is_of_this_session(lease)) {
		lease->held_ms = 0;
		lease->next_ms =
			may_take_now(lease, now_ms) ? now_ms : now_ms + lease->duration_ms / LOOKS;
	} else if (sent_ms && lease->claim.sequence == lease->sent.sequence) {
		confirm(lease, sent_ms);
	} else {
		/* an earlier write of ours arrived late, or the last one not at all: once more */
		lease->next_ms = now_ms;
	}
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
	/* MUT: a lease that was taken is not read again */
	if (!lease_is_held(lease, now_ms)) {
		lease->next_ms = now_ms + LEASE_SETTLE_MS;
		return;
	}
	confirm(lease, lease->sent_ms);
	lease->sent_ms = 0;
}

/* ---- for people ---- */

void lease_print(const struct lease *lease, int64_t now_ms, struct buf *text)
{
	int64_t left_ms = free_ms(lease) - now_ms;
	const char *name = lease->claim.name[0] ? lease->claim.name : lease->claim.holder;

	if (lease->seen == LEASE_ANSWER_ERROR || lease->seen == LEASE_ANSWER_DAMAGED)
		buf_addf(text, "the lease cannot be read: %s",
			 lease->why[0] ? lease->why : "not yet");
	else if (lease->seen == LEASE_ANSWER_ABSENT && lease->why[0])
		buf_addf(text, "the lease could not be created: %s", lease->why);
	else if (lease->seen == LEASE_ANSWER_ABSENT)
		buf_addf(text, "there is no lease object yet; it is created in %" PRId64 " s",
			 left_ms > 0 ? left_ms / 1000 : 0);
	else if (lease_is_parked_elsewhere(lease))
		buf_addf(text, "%s holds the lease, and the application is not meant to run there",
			 name);
	else if (!is_our_claim(lease))
		buf_addf(
			text,
			"%s holds the lease; if it does not write it any more, it is taken over in %" PRId64
			" s",
			name, left_ms > 0 ? left_ms / 1000 : 0);
	else if (lease->why[0])
		buf_addf(text, "the lease could not be written: %s", lease->why);
	else
		buf_addf(text, "the lease was taken a moment ago, and is read once more");
}
