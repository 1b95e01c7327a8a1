/*
 * The lease object: one installation at a time, whatever the network, the store, the clocks and the
 * agents do; and another one soon when the holder is lost.
 */
#include "core/lease/lease.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define A_ID "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B_ID "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define S1   "11111111111111111111111111111111"
#define S2   "22222222222222222222222222222222"
#define HALF 30000 /* a duration */
#define APP  "orders"

/* ---- tables ---- */

static struct lease_claim claim_of(const char *holder, const char *session, int64_t sequence)
{
	struct lease_claim claim = {.sequence = sequence, .duration_ms = HALF};

	snprintf(claim.holder, sizeof(claim.holder), "%s", holder);
	snprintf(claim.session, sizeof(claim.session), "%s", session);
	return claim;
}

/* A name for each write. */
static enum lease_act next(struct lease *lease, int64_t now_ms)
{
	static int64_t number;
	char write[LEASE_ID_BYTES];

	snprintf(write, sizeof(write), "%032llx", (long long)++number);
	return lease_next(lease, write, now_ms);
}

static void begin_as(struct lease *lease, const char *holder, const char *name,
		     const struct lease_mark *mark)
{
	lease_init(lease, &(struct lease_self){.holder = holder,
					       .session = S1,
					       .name = name,
					       .duration_ms = HALF,
					       .mark = mark});
}

static void begin(struct lease *lease)
{
	begin_as(lease, A_ID, NULL, NULL);
}

static void reads(struct lease *lease, const char *etag, const struct lease_claim *claim,
		  int64_t now_ms)
{
	CHECK_INT(next(lease, now_ms), ==, LEASE_READ);
	lease_was_read(lease, claim ? LEASE_ANSWER_OK : LEASE_ANSWER_ABSENT, etag, claim, "",
		       now_ms);
}

static void takes(struct lease *lease, enum lease_act act, const char *etag, int64_t now_ms)
{
	CHECK_INT(next(lease, now_ms), ==, act);
	lease_was_written(lease, LEASE_ANSWER_OK, etag, "", now_ms + 50);
	if (lease_is_held(lease, now_ms + 50))
		return;
	/* two may have taken it: it is read once more */
	CHECK_INT(next(lease, now_ms + 2049), ==, LEASE_REST);
	CHECK_INT(next(lease, now_ms + 2050), ==, LEASE_READ);
	lease_was_read(lease, LEASE_ANSWER_OK, etag, &lease->sent, "", now_ms + 2060);
	CHECK(lease_is_held(lease, now_ms + 2060));
}

TEST(of_two_that_were_told_that_they_took_it_one_has)
{
	struct lease lease;
	struct lease_claim theirs = claim_of(B_ID, S2, 1);

	begin(&lease);
	reads(&lease, "e", &theirs, 1000);
	CHECK_INT(next(&lease, 40000), ==, LEASE_REPLACE);
	lease_was_written(&lease, LEASE_ANSWER_OK, "f", "", 40100);
	theirs.sequence++;
	reads(&lease, "g", &theirs, 42100);
	CHECK(!lease_is_held(&lease, 42100));
}

TEST(no_object_is_not_a_free_one)
{
	struct lease lease;

	begin(&lease);
	reads(&lease, NULL, NULL, 1000);
	CHECK_INT(lease_wait_ms(&lease), ==, 35000);
	CHECK_INT(lease_wake_ms(&lease), ==, 4000);
	CHECK_INT(next(&lease, 3999), ==, LEASE_REST);
	for (int64_t now_ms = 4000; now_ms < 36000; now_ms += 3000)
		reads(&lease, NULL, NULL, now_ms);
	CHECK(!lease_is_held(&lease, 36000));
	takes(&lease, LEASE_CREATE, "e1", 37000);
	CHECK_STR(lease.sent.holder, A_ID);
	CHECK_INT(lease.sent.sequence, ==, 1);
	CHECK_INT(lease.sent.duration_ms, ==, HALF);
	/* it ends a duration after it was sent, not after it was answered */
	CHECK(lease_is_held(&lease, 66999));
	CHECK(!lease_is_held(&lease, 67000));
	CHECK_INT(lease_wake_ms(&lease), ==, 47000);
}

#define W0 "00000000000000000000000000000aaa"

/* What the agent before has written, and its mark. */
static struct lease_claim claim_before(struct lease_mark *mark)
{
	struct lease_claim claim = claim_of(A_ID, S2, 7);

	snprintf(claim.write, sizeof(claim.write), "%s", W0);
	*mark = (struct lease_mark){.sequence = 7};
	lease_mark_add(mark, W0);
	return claim;
}

static void held(struct lease *lease, int64_t now_ms)
{
	struct lease_mark mark;
	struct lease_claim before = claim_before(&mark);

	begin_as(lease, A_ID, NULL, &mark);
	lease->next_ms = now_ms;
	CHECK_INT(next(lease, now_ms), ==, LEASE_READ);
	lease_was_read(lease, LEASE_ANSWER_OK, "e0", &before, "", now_ms);
	takes(lease, LEASE_REPLACE, "e1", now_ms); /* at once: the agent before has ended */
	CHECK_INT(lease->held_ms, ==, now_ms);
}

/* ---- whose claim it is ---- */

static void waits_like_everybody(struct lease *lease, const struct lease_claim *claim)
{
	for (int64_t now_ms = 1000; now_ms < 36000; now_ms += 3000)
		reads(lease, "e", claim, now_ms);
	CHECK(!lease_is_held(lease, 36000));
	takes(lease, LEASE_REPLACE, "f", 37000);
}

TEST(a_copy_of_the_journal_does_not_take_the_claim_of_the_original)
{
	struct lease lease;
	struct lease_mark mark;
	struct lease_claim claim = claim_before(&mark);
	struct buf text = BUF_INIT;

	begin(&lease); /* the same id, and nothing in its state directory */
	waits_like_everybody(&lease, &claim);
	begin(&lease);
	reads(&lease, "e", &claim, 1000);
	lease_print(&lease, 1000, &text);
	CHECK_HAS(buf_str(&text), "with the id of this journal");
	buf_release(&text);
}

TEST(the_mark_of_an_older_write_proves_nothing)
{
	struct lease lease;
	struct lease_mark mark;
	struct lease_claim claim = claim_before(&mark);

	claim.sequence++;
	snprintf(claim.write, sizeof(claim.write), "%s", "00000000000000000000000000000bbb");
	begin_as(&lease, A_ID, NULL, &mark);
	waits_like_everybody(&lease, &claim);
}

TEST(a_claim_of_an_earlier_drey_is_waited_for)
{
	struct lease lease;
	struct lease_mark mark;
	struct lease_claim claim = claim_before(&mark);

	claim.write[0] = '\0';
	begin_as(&lease, A_ID, NULL, &mark);
	waits_like_everybody(&lease, &claim);
}

TEST(a_claim_with_another_name_is_never_ours)
{
	struct lease lease;
	struct lease_mark mark;
	struct lease_claim claim = claim_before(&mark);
	struct buf text = BUF_INIT;

	snprintf(claim.name, sizeof(claim.name), "east");
	begin_as(&lease, A_ID, "east", &mark);
	reads(&lease, "e", &claim, 1000);
	takes(&lease, LEASE_REPLACE, "f", 1000);
	CHECK_STR(lease.sent.name, "east");
	/* not even with a proof, nor after its end */
	claim.ended = true;
	begin_as(&lease, A_ID, "west", &mark);
	waits_like_everybody(&lease, &claim);
	begin_as(&lease, A_ID, "west", &mark);
	reads(&lease, "e", &claim, 1000);
	lease_print(&lease, 1000, &text);
	CHECK_HAS(buf_str(&text),
		  "east holds the lease, with the id of this journal: this journal is a copy");
	buf_release(&text);
	/* and one without a name is not that of one that has a name */
	claim.name[0] = '\0';
	begin_as(&lease, A_ID, "west", &mark);
	waits_like_everybody(&lease, &claim);
}

TEST(two_installations_with_one_name_are_told)
{
	struct lease lease;
	struct lease_claim claim = claim_of(B_ID, S2, 7);
	struct buf text = BUF_INIT;

	snprintf(claim.name, sizeof(claim.name), "east");
	begin_as(&lease, A_ID, "east", NULL);
	reads(&lease, "e", &claim, 1000);
	lease_print(&lease, 1000, &text);
	CHECK_HAS(buf_str(&text), "another installation with the same lease.name, east, holds");
	buf_release(&text);
	begin_as(&lease, A_ID, "east", NULL);
	waits_like_everybody(&lease, &claim);
}

/* ---- a copy of the bucket ---- */

#define HERE  "s3://east/orders/lease.json"
#define THERE "s3://west/orders/lease.json"

static void begin_at(struct lease *lease, const char *uri, const struct lease_mark *mark)
{
	lease_init(lease, &(struct lease_self){.holder = A_ID,
					       .session = S1,
					       .name = "east",
					       .uri = uri,
					       .duration_ms = HALF,
					       .mark = mark});
}

static struct lease_claim claim_at(const char *uri, struct lease_mark *mark)
{
	struct lease_claim claim = claim_before(mark);

	snprintf(claim.name, sizeof(claim.name), "east");
	snprintf(claim.uri, sizeof(claim.uri), "%s", uri);
	return claim;
}

TEST(whose_object_a_claim_was_written_to)
{
	static const struct {
		const char *of_claim, *configured;
		bool copied;
	} rows[] = {
		{HERE, HERE, false},
		{"", HERE, false}, /* of an earlier drey: it is believed */
		{HERE, NULL, false},
		{THERE, HERE, true}, /* another bucket */
		{"s3://east/copy/orders/lease.json", HERE, true},
		{"s3://east/orders/lease.json.old", HERE, true},
		{"s3://east/orders/Lease.json", HERE, true},
		{"gs://east/orders/lease.json", HERE, true},
		{"no URI at all", HERE, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lease lease;
		struct lease_mark mark;
		struct lease_claim claim = claim_at(rows[i].of_claim, &mark);

		begin_at(&lease, rows[i].configured, &mark);
		CHECK(!lease_is_copied(&lease)); /* nothing was read yet */
		reads(&lease, "e", &claim, 1000);
		CHECK_INT(lease_is_copied(&lease), ==, rows[i].copied);
		/* ours by its mark, id and name: at once, unless it was copied */
		CHECK_INT(next(&lease, 1000), ==, rows[i].copied ? LEASE_REST : LEASE_REPLACE);
	}
}

static void is_never_taken(const struct lease_claim *claim, const struct lease_mark *mark)
{
	struct lease lease;
	struct buf text = BUF_INIT;

	begin_at(&lease, HERE, mark);
	for (int i = 0; i < 100; i++)
		reads(&lease, "e", claim, 1000 + 60000 * i);
	CHECK(!lease.held_ms);
	lease_print(&lease, 1000, &text);
	CHECK_STR(buf_str(&text),
		  "the lease object was written for " THERE ", and this is " HERE
		  ": the bucket was copied or moved; make sure that the job has ended where " THERE
		  " is used, then delete " HERE);
	buf_release(&text);
}

TEST(a_copied_object_is_not_taken_by_waiting_whatever_it_says)
{
	struct lease_mark mark;
	struct lease_claim claim = claim_at(THERE, &mark);

	is_never_taken(&claim, &mark);
	is_never_taken(&claim, NULL);
	claim.ended = true; /* and the writer has our id and our name */
	is_never_taken(&claim, &mark);
	claim.parked = true;
	is_never_taken(&claim, &mark);
	mark.sequence = 100; /* nor is it an older version of ours */
	is_never_taken(&claim, &mark);
	snprintf(claim.holder, sizeof(claim.holder), B_ID);
	is_never_taken(&claim, NULL);
}

TEST(a_copied_object_is_taken_after_a_person_has_deleted_it)
{
	struct lease lease;
	struct lease_mark mark;
	struct lease_claim claim = claim_at(THERE, &mark);

	claim.sequence = 1000;
	begin_at(&lease, HERE, NULL);
	reads(&lease, "e", &claim, 1000);
	reads(&lease, NULL, NULL, 4000);
	reads(&lease, NULL, NULL, 38999);
	takes(&lease, LEASE_CREATE, "n", 41999);
	CHECK_STR(lease.sent.uri, HERE);
	CHECK_INT(lease.sent.sequence, ==, 1); /* the numbers of the other object are not ours */
}

/* An installation that is configured with another bucket has numbers and writes of the one before. */
TEST(the_mark_of_another_object_says_nothing_about_this_one)
{
	struct lease lease;
	struct lease_mark mark;
	struct lease_claim claim = claim_at(HERE, &mark);

	snprintf(mark.uri, sizeof(mark.uri), THERE);
	mark.sequence = 1000;
	begin_at(&lease, HERE, &mark);
	CHECK_STR(lease.mark.uri, HERE);
	reads(&lease, "e", &claim, 1000);
	CHECK(!lease_is_put_back(&lease));
	CHECK_INT(next(&lease, 1000), ==, LEASE_REST); /* not even if it has the same write */
	snprintf(mark.uri, sizeof(mark.uri), HERE);
	mark.sequence = 7;
	begin_at(&lease, HERE, &mark);
	reads(&lease, "e", &claim, 1000);
	CHECK_INT(next(&lease, 1000), ==, LEASE_REPLACE);
	mark.uri[0] = '\0'; /* of an earlier drey */
	begin_at(&lease, HERE, &mark);
	reads(&lease, "e", &claim, 1000);
	CHECK_INT(next(&lease, 1000), ==, LEASE_REPLACE);
}

/* Of two that look at it, the one that has seen the copy does not call the new object an older version. */
TEST(the_number_of_a_copied_object_counts_nowhere)
{
	struct lease lease;
	struct lease_mark mark;
	struct lease_claim claim = claim_at(THERE, &mark), fresh = claim_of(B_ID, S2, 1);

	claim.sequence = 1000;
	snprintf(fresh.write, sizeof(fresh.write), "00000000000000000000000000000bbb");
	snprintf(fresh.uri, sizeof(fresh.uri), HERE);
	begin_at(&lease, HERE, NULL);
	reads(&lease, "e", &claim, 1000);
	reads(&lease, "f", &fresh, 4000);
	CHECK(!lease_is_put_back(&lease));
	CHECK_INT(lease.mark.sequence, ==, 1);
}

/* A tool that copies the bucket again and again, over the one that is in use. */
TEST(who_holds_it_writes_over_a_copy)
{
	struct lease lease;
	struct lease_mark mark;
	struct lease_claim ours = claim_at(HERE, &mark), copy = claim_at(THERE, &mark);

	begin_at(&lease, HERE, &mark);
	reads(&lease, "e0", &ours, 1000);
	takes(&lease, LEASE_REPLACE, "e1", 1000);
	CHECK_INT(next(&lease, 11000), ==, LEASE_REPLACE);
	lease_was_written(&lease, LEASE_ANSWER_CONFLICT, NULL, "412", 11100);
	reads(&lease, "copy", &copy, 11100);
	CHECK(lease_is_held(&lease, 11100));
	takes(&lease, LEASE_REPLACE, "e2", 11100);
	CHECK_STR(lease.claim.uri, HERE);
	/* but not when what it held has ended: nothing proves then that it was not taken in between */
	CHECK_INT(next(&lease, 60000), ==, LEASE_REPLACE);
	lease_was_written(&lease, LEASE_ANSWER_CONFLICT, NULL, "412", 60100);
	reads(&lease, "copy", &copy, 60100);
	CHECK(!lease.held_ms);
	ours = lease.sent;
	reads(&lease, "e2", &ours, 63100);
	CHECK_INT(next(&lease, 66100), ==, LEASE_READ);
}

/* Two copies of one machine write with the same session and the same sequence. */
TEST(a_write_of_a_copied_machine_is_not_mistaken_for_our_own)
{
	struct lease lease;
	struct lease_claim theirs;

	held(&lease, 1000);
	CHECK_INT(next(&lease, 11000), ==, LEASE_REPLACE);
	theirs = lease.sent;
	snprintf(theirs.write, sizeof(theirs.write), "%s", "00000000000000000000000000000ccc");
	lease_was_written(&lease, LEASE_ANSWER_CONFLICT, NULL, "412", 11100);
	reads(&lease, "x", &theirs, 11100);
	CHECK(!lease_is_held(&lease, 11100));
	CHECK_INT(next(&lease, 14100), ==, LEASE_READ);
}

TEST(what_was_written_before_another_one_held_it_proves_nothing)
{
	struct lease lease;
	struct lease_claim ours, theirs = claim_of(B_ID, S2, 100);

	held(&lease, 1000);
	ours = lease.claim;
	snprintf(theirs.write, sizeof(theirs.write), "%s", "00000000000000000000000000000ddd");
	CHECK_INT(next(&lease, 11000), ==, LEASE_REPLACE);
	lease_was_written(&lease, LEASE_ANSWER_CONFLICT, NULL, "412", 11100);
	reads(&lease, "x", &theirs, 11100);
	CHECK(!lease_mark_has(&lease.mark, ours.write));
	CHECK_INT(lease.mark.sequence, ==, 100);
	/* so neither this agent nor the next one here takes it when it is put back */
	reads(&lease, "e1", &ours, 14100);
	CHECK(lease_is_put_back(&lease));
	reads(&lease, "e1", &ours, 17100);
	CHECK(!lease_is_held(&lease, 17100));
}

/* ---- its end ---- */

TEST(who_leaves_says_that_its_flink_has_ended)
{
	struct lease lease, after;
	struct lease_claim claim;
	struct buf text = BUF_INIT;

	held(&lease, 1000);
	CHECK_INT(next(&lease, 2000), ==, LEASE_REST);
	lease_leave(&lease);
	CHECK(!lease_is_held(&lease, 2000));
	CHECK(!lease_has_left(&lease));
	CHECK_INT(next(&lease, 2000), ==, LEASE_REPLACE);
	CHECK(lease.sent.ended);
	CHECK(!lease_has_left(&lease));
	lease_was_written(&lease, LEASE_ANSWER_OK, "e2", "", 2100);
	CHECK(lease_has_left(&lease));
	CHECK_INT(next(&lease, 100000), ==, LEASE_REST);
	lease_print(&lease, 2100, &text);
	CHECK_HAS(buf_str(&text), "was given back");
	buf_release(&text);
	claim = lease.sent;
	/* the next one of this installation need not wait, wherever it is; another one does */
	begin(&after);
	reads(&after, "e2", &claim, 1000);
	takes(&after, LEASE_REPLACE, "f", 1000);
	CHECK(!after.sent.ended);
	begin_as(&after, B_ID, NULL, NULL);
	waits_like_everybody(&after, &claim);
}

TEST(who_does_not_hold_it_leaves_without_a_word)
{
	struct lease lease;
	struct lease_claim theirs = claim_of(B_ID, S2, 7);

	begin(&lease);
	reads(&lease, "e", &theirs, 1000);
	lease_leave(&lease);
	CHECK(lease_has_left(&lease));
	CHECK_INT(next(&lease, 90000), ==, LEASE_REST);
	/* nor does one whose last write has no answer: it may be another one's by now */
	held(&lease, 1000);
	CHECK_INT(next(&lease, 11000), ==, LEASE_REPLACE);
	lease_leave(&lease);
	CHECK(!lease_has_left(&lease));
	lease_was_written(&lease, LEASE_ANSWER_ERROR, NULL, "timed out", 16000);
	CHECK(lease_has_left(&lease));
	CHECK_INT(next(&lease, 17000), ==, LEASE_REST);
}

/* ---- an object that was deleted, or put back ---- */

TEST(a_deleted_object_does_not_shorten_the_claim_that_was_seen)
{
	struct lease lease;
	struct lease_claim theirs = claim_of(B_ID, S2, 1);

	theirs.duration_ms = 2 * HALF;
	begin(&lease);
	reads(&lease, "e", &theirs, 1000);
	for (int64_t now_ms = 4000; now_ms < 72000; now_ms += 3000)
		reads(&lease, NULL, NULL, now_ms);
	CHECK_INT(lease_wait_ms(&lease), ==, 68000); /* seen absent at 4000 */
	takes(&lease, LEASE_CREATE, "f", 73000);
	CHECK_INT(lease.longest_ms, ==, HALF); /* now everybody else has let it go */
}

TEST(the_next_agent_knows_the_longest_claim_that_was_seen)
{
	struct lease lease;

	lease_init(&lease, &(struct lease_self){.holder = A_ID,
						.session = S1,
						.duration_ms = HALF,
						.longest_ms = 2 * HALF});
	reads(&lease, NULL, NULL, 1000);
	CHECK_INT(lease_wait_ms(&lease), ==, 68000);
	lease_init(&lease,
		   &(struct lease_self){
			   .holder = A_ID, .session = S1, .duration_ms = HALF, .longest_ms = 1});
	reads(&lease, NULL, NULL, 1000);
	CHECK_INT(lease_wait_ms(&lease), ==, 35000);
}

/* Somebody without that knowledge has created it anew: the one before may still believe in its claim. */
TEST(a_shorter_claim_after_a_longer_one_does_not_shorten_it)
{
	struct lease lease;
	struct lease_claim longer = claim_of(B_ID, S2, 9), shorter = claim_of(A_ID, S1, 1);

	longer.duration_ms = 10 * HALF;
	begin_as(&lease, "cccccccccccccccccccccccccccccccc", NULL, NULL);
	reads(&lease, "e", &longer, 1000);
	for (int64_t now_ms = 4000; now_ms < 333000; now_ms += 3000)
		reads(&lease, "f", &shorter, now_ms);
	takes(&lease, LEASE_REPLACE, "g", 334000);
}

TEST(an_object_that_was_put_back_is_written_anew_by_its_holder)
{
	struct lease lease;
	struct lease_claim older = claim_of(B_ID, S2, 3);

	snprintf(older.write, sizeof(older.write), "%s", "00000000000000000000000000000eee");
	held(&lease, 1000);
	CHECK_INT(lease.sent.sequence, ==, 8);
	CHECK_INT(next(&lease, 11000), ==, LEASE_REPLACE);
	lease_was_written(&lease, LEASE_ANSWER_CONFLICT, NULL, "412", 11100);
	reads(&lease, "old", &older, 11100);
	CHECK(lease_is_held(&lease, 11100));
	CHECK_STR(lease.etag, "old");
	takes(&lease, LEASE_REPLACE, "new", 11100);
	CHECK_INT(lease.sent.sequence, ==, 10);
	/* but not when what it held has ended */
	CHECK_INT(next(&lease, 60000), ==, LEASE_REPLACE);
	lease_was_written(&lease, LEASE_ANSWER_CONFLICT, NULL, "412", 60100);
	reads(&lease, "old", &older, 60100);
	CHECK_INT(next(&lease, 60100), ==, LEASE_REST);
	CHECK(!lease.held_ms);
}

TEST(an_object_that_was_put_back_says_so_and_is_waited_for)
{
	struct lease lease;
	struct lease_claim newer = claim_of(B_ID, S2, 30), older;
	struct lease_mark mark;
	struct buf text = BUF_INIT;

	older = claim_before(&mark);
	snprintf(older.name, sizeof(older.name), "east");
	snprintf(newer.write, sizeof(newer.write), "%s", "00000000000000000000000000000fff");
	begin_as(&lease, A_ID, NULL, &mark);
	lease.next_ms = 1000;
	reads(&lease, "new", &newer, 1000);
	reads(&lease, "old", &older, 4000);
	lease_print(&lease, 4000, &text);
	CHECK_HAS(buf_str(&text),
		  "was put back to an older version (7 after 30), which names east");
	buf_release(&text);
	/* its last holder comes first, and did not see another one's: 35 s, and the others 12 s more */
	for (int64_t now_ms = 7000; now_ms < 51000; now_ms += 3000)
		reads(&lease, "old", &older, now_ms);
	takes(&lease, LEASE_REPLACE, "x", 52000);
	CHECK_INT(lease.sent.sequence, ==, 31);
	held(&lease, 1000);
	CHECK_INT(next(&lease, 40000), ==, LEASE_REPLACE); /* it has run out */
	lease_was_written(&lease, LEASE_ANSWER_CONFLICT, NULL, "412", 40000);
	older.sequence = 5;
	for (int64_t now_ms = 40000; now_ms < 75000; now_ms += 3000)
		reads(&lease, "old", &older, now_ms);
	takes(&lease, LEASE_REPLACE, "x", 76000);
}

/* ---- the mark ---- */

TEST(a_mark_is_read_where_it_was_made_and_nowhere_else)
{
	struct lease_mark mark = {.sequence = 12, .uri = HERE}, back = {0};
	struct buf text = BUF_INIT;
	struct err err = {0};

	for (int i = 0; i < 20; i++) {
		char write[LEASE_ID_BYTES];

		snprintf(write, sizeof(write), "%032x", i);
		lease_mark_add(&mark, write);
	}
	CHECK(lease_mark_has(&mark, "0000000000000000000000000000000c"));
	CHECK(!lease_mark_has(&mark, "0000000000000000000000000000000b"));
	CHECK(!lease_mark_has(&mark, ""));
	lease_mark_print(&mark, "boot/pod/1:2", &text);
	CHECK_INT(lease_mark_parse(buf_str(&text), text.len_bytes, "boot/pod/1:2", &back, &err), ==,
		  0);
	CHECK(!memcmp(&mark, &back, sizeof(mark)));
	CHECK_INT(lease_mark_parse(buf_str(&text), text.len_bytes, "boot/pod/1:3", &back, &err), ==,
		  -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	buf_clear(&text);
	lease_mark_print(&mark, "", &text);
	CHECK_INT(lease_mark_parse(buf_str(&text), text.len_bytes, "", &back, &err), ==, -1);
	buf_release(&text);
}

TEST(a_damaged_mark_proves_nothing)
{
	static const char *const texts[] = {
		"",
		"{}",
		"[]",
		"{\"format\":2,\"place\":\"p\",\"sequence\":1,\"writes\":[]}",
		"{\"format\":1,\"place\":\"p\",\"sequence\":-1,\"writes\":[]}",
		"{\"format\":1,\"place\":\"p\",\"sequence\":1,\"writes\":[1]}",
		"{\"format\":1,\"place\":\"p\",\"sequence\":1,\"uri\":1,\"writes\":[]}",
		"{\"format\":1,\"place\":\"p\",\"sequence\":1,\"writes\":[\"\"]}",
		"{\"format\":1,\"place\":\"p\",\"sequence\":1,\"writes\":["
		"\"" W0 "\",\"" W0 "\",\"" W0 "\",\"" W0 "\",\"" W0 "\",\"" W0 "\",\"" W0 "\",\"" W0
		"\",\"" W0 "\"]}",
	};
	struct lease_mark mark = {.sequence = 77};
	struct err err = {0};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK_INT(lease_mark_parse(texts[i], strlen(texts[i]), "p", &mark, &err), ==, -1);
	CHECK_INT(mark.sequence, ==, 77);
}

/* ---- waiting ---- */

TEST(in_its_last_seconds_it_is_held_and_lets_nothing_begin)
{
	struct lease lease;
	struct buf text = BUF_INIT;

	held(&lease, 1000);
	CHECK(lease_lets_launch(&lease, 25999));
	CHECK(!lease_lets_launch(&lease, 26000));
	CHECK(lease_is_held(&lease, 26000));
	lease_print(&lease, 26000, &text);
	CHECK_STR(buf_str(&text),
		  "the lease was not renewed for 25 s, and nothing is started in its last seconds");
	buf_release(&text);
}

TEST(another_one_is_waited_for_as_long_as_it_writes)
{
	struct lease lease;
	struct lease_claim theirs = claim_of(B_ID, S2, 1);
	char etag[16];

	begin(&lease);
	for (int i = 0; i < 100; i++) {
		snprintf(etag, sizeof(etag), "e%d", i / 9); /* written every 27 s */
		theirs.sequence = i / 9 + 1;
		reads(&lease, etag, &theirs, 1000 + 3000 * i);
	}
	CHECK(!lease_is_held(&lease, 298000));
	for (int i = 100; i < 111; i++)
		reads(&lease, etag, &theirs, 1000 + 3000 * i);
	/* e11 was first seen at 298000 */
	takes(&lease, LEASE_REPLACE, "f", 334000);
}

TEST(the_longer_of_two_durations_counts)
{
	struct lease lease;
	struct lease_claim theirs = claim_of(B_ID, S2, 1);

	theirs.duration_ms = 300000;
	begin(&lease);
	reads(&lease, "e", &theirs, 1000);
	CHECK_INT(lease_wait_ms(&lease), ==, 332000);
	reads(&lease, "e", &theirs, 332999);
	takes(&lease, LEASE_REPLACE, "f", 335999);
}

TEST(a_parked_application_is_not_taken_over)
{
	struct lease lease;
	struct lease_claim theirs = claim_of(B_ID, S2, 1);
	struct buf text = BUF_INIT;

	theirs.parked = true;
	snprintf(theirs.name, sizeof(theirs.name), "east");
	begin(&lease);
	for (int i = 0; i < 100; i++)
		reads(&lease, "e", &theirs, 1000 + 60000 * i);
	CHECK(lease_is_parked_elsewhere(&lease));
	lease_print(&lease, 1000, &text);
	CHECK_STR(buf_str(&text),
		  "east holds the lease, and the application is not meant to run there");
	buf_release(&text);
}

TEST(that_it_is_parked_is_written_at_once)
{
	struct lease lease;

	held(&lease, 1000);
	CHECK_INT(next(&lease, 2000), ==, LEASE_REST);
	lease_set_parked(&lease, true);
	CHECK_INT(next(&lease, 2000), ==, LEASE_REPLACE);
	CHECK(lease.sent.parked);
	/* and again, if it has changed while that was under way */
	lease_set_parked(&lease, false);
	lease_was_written(&lease, LEASE_ANSWER_OK, "e2", "", 2100);
	CHECK_INT(next(&lease, 2100), ==, LEASE_REPLACE);
	CHECK(!lease.sent.parked);
}

TEST(it_is_lost_when_another_one_has_written)
{
	struct lease lease;
	struct lease_claim theirs = claim_of(B_ID, S2, 1);

	held(&lease, 1000);
	CHECK_INT(next(&lease, 11000), ==, LEASE_REPLACE);
	lease_was_written(&lease, LEASE_ANSWER_CONFLICT, NULL, "412", 11100);
	CHECK(lease_is_held(&lease, 11100)); /* not known yet */
	reads(&lease, "x", &theirs, 11100);
	CHECK(!lease_is_held(&lease, 11100));
	/* the same of another agent of this installation, which lives: it is not taken back */
	held(&lease, 1000);
	theirs = claim_of(A_ID, S2, 9);
	CHECK_INT(next(&lease, 11000), ==, LEASE_REPLACE);
	lease_was_written(&lease, LEASE_ANSWER_CONFLICT, NULL, "412", 11100);
	reads(&lease, "x", &theirs, 11100);
	CHECK(!lease_is_held(&lease, 11100));
	reads(&lease, "x", &theirs, 14200);
}

TEST(a_lost_answer_is_read)
{
	struct lease lease;
	struct lease_claim ours;

	held(&lease, 1000);
	CHECK_INT(next(&lease, 11000), ==, LEASE_REPLACE);
	ours = lease.sent;
	lease_was_written(&lease, LEASE_ANSWER_ERROR, NULL, "timed out", 16000);
	CHECK_INT(next(&lease, 16500), ==, LEASE_REST);
	reads(&lease, "e2", &ours, 17000);
	CHECK(lease_is_held(&lease, 40999)); /* from when it was sent */
	CHECK(!lease_is_held(&lease, 41000));
	/* it has not arrived: once more */
	CHECK_INT(next(&lease, 21000), ==, LEASE_REPLACE);
	lease_was_written(&lease, LEASE_ANSWER_ERROR, NULL, "timed out", 22000);
	reads(&lease, "e2", &ours, 23000);
	CHECK(!lease_is_held(&lease, 41000));
	CHECK_INT(next(&lease, 23000), ==, LEASE_REPLACE);
	CHECK_STR(lease.etag, "e2");
}

TEST(an_object_that_was_deleted_is_created_again_by_its_holder)
{
	struct lease lease;

	held(&lease, 1000);
	CHECK_INT(next(&lease, 11000), ==, LEASE_REPLACE);
	lease_was_written(&lease, LEASE_ANSWER_CONFLICT, NULL, "404", 11100);
	reads(&lease, NULL, NULL, 11100);
	CHECK(lease_is_held(&lease, 11100));
	takes(&lease, LEASE_CREATE, "n1", 11100);
	CHECK_INT(lease.held_ms, ==, 11100); /* from the request on, not from the answer on */
	/* but not when it may have ended meanwhile */
	CHECK_INT(next(&lease, 60000), ==, LEASE_REPLACE);
	lease_was_written(&lease, LEASE_ANSWER_CONFLICT, NULL, "404", 60100);
	reads(&lease, NULL, NULL, 60100);
	CHECK_INT(next(&lease, 60100), ==, LEASE_REST);
	reads(&lease, NULL, NULL, 63100);
}

TEST(what_cannot_be_read_is_not_taken)
{
	struct lease lease;
	struct buf text = BUF_INIT;

	begin(&lease);
	for (int i = 0; i < 100; i++) {
		CHECK_INT(next(&lease, 1000 + 60000 * i), ==, LEASE_READ);
		lease_was_read(&lease, i % 2 ? LEASE_ANSWER_DAMAGED : LEASE_ANSWER_ERROR,
			       i % 2 ? "e" : NULL, NULL, "not JSON", 1000 + 60000 * i);
	}
	CHECK(!lease.held_ms);
	lease_print(&lease, 1000, &text);
	CHECK_STR(buf_str(&text), "the lease cannot be read: not JSON");
	buf_release(&text);
}

static void fails(struct lease *lease, int64_t now_ms)
{
	CHECK_INT(next(lease, now_ms), ==, LEASE_READ);
	lease_was_read(lease, LEASE_ANSWER_ERROR, NULL, NULL, "no route to the store", now_ms);
}

/* The store was away for both: who had the lease has its journal up to date, and is to have it again. */
TEST(after_an_outage_its_holder_comes_first)
{
	struct lease lease;
	struct lease_claim theirs = claim_of(B_ID, S2, 7);

	begin(&lease);
	reads(&lease, "e", &theirs, 1000);
	for (int64_t now_ms = 4000; now_ms < 64000; now_ms += 3000)
		fails(&lease, now_ms);
	for (int64_t now_ms = 64000; now_ms < 76000; now_ms += 3000)
		reads(&lease, "e", &theirs, now_ms);
	/* it is not there any more */
	takes(&lease, LEASE_REPLACE, "f", 76000);
}

TEST(that_wait_begins_again_with_each_error)
{
	struct lease lease;
	struct lease_claim theirs = claim_of(B_ID, S2, 7);
	struct buf text = BUF_INIT;

	begin(&lease);
	reads(&lease, "e", &theirs, 1000);
	for (int64_t now_ms = 4000; now_ms < 58000; now_ms += 10000) {
		fails(&lease, now_ms);
		for (int64_t more_ms = 1000; more_ms < 10000; more_ms += 3000)
			reads(&lease, "e", &theirs, now_ms + more_ms);
	}
	lease_print(&lease, 62000, &text);
	CHECK_HAS(buf_str(&text), "it is taken over in 5 s");
	buf_release(&text);
	reads(&lease, "e", &theirs, 64000);
	takes(&lease, LEASE_REPLACE, "f", 67000);
}

/* ---- the content ---- */

static int parse(const char *text, struct err *err)
{
	struct lease_claim claim = {0};

	return lease_claim_parse(text, strlen(text), APP, &claim, err);
}

TEST(what_is_printed_is_read)
{
	struct lease_claim claim = claim_of(A_ID, S1, 17), back = {0};
	struct buf text = BUF_INIT, again = BUF_INIT;
	struct err err = {0};

	claim.parked = claim.ended = true;
	snprintf(claim.write, sizeof(claim.write), "%s", W0);
	claim.written_unix_ms = 1700000000000;
	snprintf(claim.name, sizeof(claim.name), "east/orders");
	snprintf(claim.uri, sizeof(claim.uri), HERE);
	lease_claim_print(&claim, APP, &text);
	CHECK_INT(lease_claim_parse(buf_str(&text), text.len_bytes, APP, &back, &err), ==, 0);
	lease_claim_print(&back, APP, &again);
	CHECK_STR(buf_str(&again), buf_str(&text));
	CHECK_INT(lease_claim_parse(buf_str(&text), text.len_bytes, "other", &back, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "belongs to the application 'orders'");
	buf_release(&text);
	buf_release(&again);
}

/* Whoever has written that: an object that is written over it can be read, and is not an older one. */
TEST(the_highest_number_is_written_over_with_itself)
{
	struct lease lease;
	struct lease_claim theirs = claim_of(B_ID, S2, LEASE_SEQUENCE_MAX);

	begin(&lease);
	waits_like_everybody(&lease, &theirs);
	CHECK_INT(lease.sent.sequence, ==, LEASE_SEQUENCE_MAX);
	CHECK(!lease_is_put_back(&lease));
}

TEST(what_is_damaged_or_from_the_future_is_refused)
{
#define TEN  "0123456789"
#define LONG "\"" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "01234567\""
#define BODY(format, holder, sequence, duration)                                                   \
	"{\"format\":" format ",\"application\":\"orders\",\"holder\":\"" holder                   \
	"\",\"session\":\"" S1 "\",\"sequence\":" sequence ",\"durationMs\":" duration             \
	",\"parked\":false}"
	static const struct {
		const char *text, *why;
	} rows[] = {
		{"", "byte"},
		{"{}", "'format'"},
		{"[]", "format"},
		{BODY("2", A_ID, "1", "30000"), "it has the format 2, and this drey reads 1"},
		{BODY("0", A_ID, "1", "30000"), "'format' is 0"},
		{BODY("1", "xyz", "1", "30000"), "'holder' is not an id"},
		{BODY("1", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "1", "30000"),
		 "'holder' is not an id"},
		{BODY("1", A_ID, "0", "30000"), "'sequence' is 0"},
		{BODY("1", A_ID, "4503599627370497", "30000"), "'sequence' is"},
		{BODY("1", A_ID, "1", "30000,\"write\":\"x\""), "'write' is not an id"},
		{BODY("1", A_ID, "1", "30000,\"write\":null"), "'write'"},
		{BODY("1", A_ID, "1", "30000,\"ended\":1"), "ended"},
		{BODY("1", A_ID, "1", "9999"), "'durationMs' is 9999"},
		{BODY("1", A_ID, "1", "3600001"), "'durationMs' is 3600001"},
		{BODY("1", A_ID, "1", "1e6"), "durationMs"},
		{"{\"format\":1", "byte"},
		{BODY("1", A_ID, "1", "30000,\"name\":" LONG), "'name' is longer than 127 bytes"},
		{BODY("1", A_ID, "1", "30000,\"name\":7"), "name"},
		{BODY("1", A_ID, "1", "30000,\"uri\":null"), "uri"},
		{BODY("1", A_ID, "1", "30000,\"uri\":\"\""), "'uri' has 0 bytes"},
		{BODY("1", A_ID, "99999999999999999999", "30000"), "sequence"},
		{BODY("1", A_ID, "-1", "30000"), "'sequence' is -1"},
		{BODY("99999999999", A_ID, "1", "30000"), "it has the format 99999999999"},
	};
	cleanup_buf struct buf large = BUF_INIT;
	struct err err = {0};

	CHECK_INT(parse(BODY("1", A_ID, "1", "30000"), &err), ==, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_INT(parse(rows[i].text, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		CHECK_HAS(err.msg, rows[i].why);
	}
	buf_addstr(&large, BODY("1", A_ID, "1", "30000"));
	for (size_t i = 0; large.len_bytes <= LEASE_CLAIM_MAX_BYTES; i++)
		buf_addch(&large, ' ');
	CHECK_INT(parse(buf_str(&large), &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_HAS(err.msg, "4096");
}
