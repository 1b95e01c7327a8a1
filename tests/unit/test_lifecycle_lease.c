/*
 * The life cycle with a lease object: Flink runs only as long as the lease is known to be this
 * installation's, and no agent and no network changes that.
 */
#include "life.h"

#define LEASE_MS 30000

static void lease_held(struct life *l, int64_t sent_ms)
{
	struct event e = {.type = EVENT_LEASE, .lease = {.sent_ms = sent_ms}};

	step(l, &e);
}

static void lease_lost(struct life *l)
{
	struct event e = {.type = EVENT_LEASE, .lease = {.why = "east holds the lease"}};

	step(l, &e);
}

static void refuses(struct life *l, enum cause cause)
{
	struct event e = {.type = EVENT_REFUSED,
			  .refused = {.effect = EFFECT_OBSERVE,
				      .cause = cause,
				      .why = "east holds the lease"}};

	step(l, &e);
}

static void begin_leased(struct life *l)
{
	life_begin(l);
	l->config.object_lease_ms = LEASE_MS;
}

/* The lease is renewed every 10 s; drey-init knows until when. */
static void run_leased(struct life *l)
{
	begin_leased(l);
	hello(l, NULL);
	lease_held(l, l->now_ms);
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	started(l);
	viewed(l, job_in(JOB_RUNNING));
	prove(l, 1);
	forget(l);
}

TEST(an_installation_gets_an_id_once)
{
	char id[JOB_ID_BYTES];
	struct life l;

	begin_leased(&l);
	hello(&l, NULL);
	CHECK(l.life.journal.lease_id != NULL);
	CHECK_INT(strlen(l.life.journal.lease_id), ==, JOB_ID_BYTES - 1);
	CHECK_INT(took(&l, EFFECT_WRITE_JOURNAL), >=, 1);
	memcpy(id, l.life.journal.lease_id, sizeof(id));
	hello(&l, NULL);
	CHECK_STR(l.life.journal.lease_id, id);
	xstrset(&l.life.journal.lease_id, "edited");
	hello(&l, NULL);
	CHECK_INT(strspn(l.life.journal.lease_id, "0123456789abcdef"), ==, JOB_ID_BYTES - 1);
	life_end(&l);
	life_begin(&l);
	hello(&l, NULL);
	CHECK(l.life.journal.lease_id == NULL);
	life_end(&l);
}

TEST(drey_init_is_told_before_the_launch_until_when)
{
	struct life l;
	int64_t sent_ms;

	begin_leased(&l);
	hello(&l, NULL);
	CHECK_NOTHING(&l, EFFECT_LEASE); /* it is only assumed */
	sent_ms = l.now_ms - 150;
	lease_held(&l, sent_ms);
	CHECK_INT(took(&l, EFFECT_LEASE), ==, 1);
	CHECK_INT(l.last[EFFECT_LEASE].until_ms, ==, sent_ms + LEASE_MS);
	life_end(&l);
}

TEST(a_lease_that_is_not_renewed_ends_flink_before_it_ends)
{
	struct life l;
	int64_t sent_ms;

	run_leased(&l);
	sent_ms = l.life.leased_ms;
	pass(&l, sent_ms + LEASE_MS - 3100 - l.now_ms);
	CHECK_NOTHING(&l, EFFECT_SIGNAL);
	pass(&l, 200);
	CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l.last[EFFECT_SIGNAL].signo, ==, SIGKILL);
	CHECK_INT(l.life.cause, ==, CAUSE_LEASE_UNREADABLE);
	exited(&l, KILLED(SIGKILL));
	CHECK_INT(l.life.journal.failure_count, ==, 0);
	/* it is looked for again, and the launch waits for the lease at its gate */
	CHECK_PHASE(&l, PHASE_RESOLVING);
	life_end(&l);
}

TEST(as_long_as_it_is_renewed_the_job_runs)
{
	struct life l;

	run_leased(&l);
	for (int i = 0; i < 100; i++) {
		pass(&l, 10000);
		lease_held(&l, l.now_ms - 100);
	}
	CHECK_NOTHING(&l, EFFECT_SIGNAL);
	CHECK_INT(took(&l, EFFECT_LEASE), ==, 100);
	CHECK_PHASE(&l, PHASE_RUNNING);
	/* an answer that comes late shortens nothing */
	forget(&l);
	lease_held(&l, l.now_ms - 20000);
	CHECK_NOTHING(&l, EFFECT_LEASE);
	life_end(&l);
}

TEST(a_lost_lease_kills_flink_at_once_and_waits)
{
	struct life l;

	run_leased(&l);
	lease_lost(&l);
	CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l.last[EFFECT_SIGNAL].signo, ==, SIGKILL);
	CHECK(l.last[EFFECT_SIGNAL].group);
	CHECK_PHASE(&l, PHASE_STOPPING);
	CHECK_INT(l.life.cause, ==, CAUSE_LEASE_ELSEWHERE);
	CHECK_HAS(l.life.reason, "east holds the lease");
	exited(&l, KILLED(SIGKILL));
	CHECK_INT(l.life.journal.failure_count, ==, 0);
	refuses(&l, CAUSE_LEASE_ELSEWHERE);
	CHECK_PHASE(&l, PHASE_HOLDING);
	CHECK_INT(l.life.cause, ==, CAUSE_LEASE_ELSEWHERE);
	/* it is free: nobody waits for the next retry */
	forget(&l);
	lease_held(&l, l.now_ms);
	pass(&l, 1);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	life_end(&l);
}

/* Who has waited long for the lease, and finds storage busy with the end of the other job, does not wait long again. */
TEST(what_was_waited_for_does_not_make_later_pauses_longer)
{
	struct life l;

	begin_leased(&l);
	hello(&l, NULL);
	for (int i = 0; i < 10; i++) {
		await_observe(&l);
		refuses(&l, CAUSE_LEASE_ELSEWHERE);
	}
	CHECK_INT(l.life.retry_ms - l.now_ms, ==, l.config.hold_retry_max_ms);
	lease_held(&l, l.now_ms);
	observed(&l, DECISION_HOLD, NULL, 0, NULL);
	CHECK_INT(l.life.retry_ms - l.now_ms, ==, l.config.hold_retry_first_ms);
	life_end(&l);
}

TEST(of_two_leases_the_one_that_ends_first_counts)
{
	struct life l;

	begin_leased(&l);
	l.config.place = "pod-a";
	l.config.journal_check_ms = 6000;
	l.config.lease_ms = 60000;
	hello(&l, NULL);
	lease_held(&l, l.now_ms);
	CHECK_INT(l.last[EFFECT_LEASE].until_ms, ==, l.now_ms + LEASE_MS);
	l.config.lease_ms = 20000;
	lease_held(&l, l.now_ms + 1);
	CHECK_INT(l.last[EFFECT_LEASE].until_ms, ==, l.life.owned_ms + 20000);
	life_end(&l);
}

/* drey-init still has the time of the agent before: the next one does not extend what it does not know. */
TEST(a_new_agent_extends_nothing_that_it_does_not_know)
{
	struct life l;

	run_leased(&l);
	/* and the journal is read as ours, which is the other lease */
	l.config.place = "pod-a";
	l.config.journal_check_ms = 6000;
	l.config.lease_ms = 60000;
	restart_agent(&l);
	hello(&l, job_of(&l));
	CHECK_NOTHING(&l, EFFECT_LEASE);
	CHECK_NOTHING(&l, EFFECT_SIGNAL);
	pass(&l, 20000);
	CHECK_NOTHING(&l, EFFECT_LEASE);
	pass(&l, 7100);
	CHECK_INT(took(&l, EFFECT_SIGNAL), >=, 1);
	life_end(&l);
}

/* The store is away, and Flink was killed in time: in the seconds that are left another one would be killed at once,
 * and the next one, too. */
TEST(in_the_last_seconds_of_a_lease_nothing_is_started)
{
	struct life l;

	run_leased(&l);
	pass(&l, l.life.leased_ms + LEASE_MS - 3000 - l.now_ms);
	exited(&l, KILLED(SIGKILL));
	forget(&l);
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	CHECK_PHASE(&l, PHASE_HOLDING);
	CHECK_INT(l.life.cause, ==, CAUSE_LEASE_UNREADABLE);
	CHECK_HAS(l.life.reason, "for long enough to start Flink");
	/* it is renewed: nobody waits for the next retry */
	lease_held(&l, l.now_ms);
	pass(&l, 1);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_INT(took(&l, EFFECT_LAUNCH), ==, 1);
	life_end(&l);
}

/* Fencing is strict, and storage was away for so long that drey looks at it every few minutes. Nothing reads the
 * journal meanwhile: a launch that waits for that must ask for it. */
TEST(after_a_long_hold_the_journal_is_read_and_flink_is_started)
{
	const struct event unreadable = {.type = EVENT_JOURNAL_SEEN, .journal.unknown = true};
	struct life l;

	life_begin(&l);
	l.config.lease_ms = LEASE_MS;
	hello(&l, NULL);
	for (int i = 0; i < 10; i++) {
		observed(&l, DECISION_HOLD, NULL, 0, NULL);
		pass(&l, l.config.hold_retry_max_ms);
	}
	l.hold_writes = l.hold_checks = true;
	forget(&l);
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	CHECK_HAS(l.life.reason, "was not checked for too long");
	CHECK_INT(took(&l, EFFECT_CHECK_JOURNAL), ==, 1);
	forget(&l);
	step(&l, &unreadable); /* now it cannot be read either */
	CHECK_NOTHING(&l, EFFECT_OBSERVE);
	pass(&l, l.config.hold_retry_max_ms);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	forget(&l);
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_INT(took(&l, EFFECT_CHECK_JOURNAL), ==, 1);
	pass(&l, 100);
	forget(&l);
	journal_checked(&l, false);
	pass(&l, 1);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_PHASE(&l, PHASE_LAUNCHING);
	life_end(&l);
}

/* Fencing is strict, and the storage is so slow that the facts are gathered for longer than a lease lasts. */
static void begin_slow(struct life *l)
{
	life_begin(l);
	l->config.lease_ms = LEASE_MS;
	l->config.journal_check_ms = 6000;
	l->config.hold_retry_max_ms = 30000;
	hello(l, NULL);
	forget(l);
}

static void decide_slowly(struct life *l)
{
	await_observe(l);
	pass(l, 40000);
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
}

LIFE_TEST_FROM(begin_slow, a_decision_that_takes_longer_than_a_lease_starts_flink)
{
	decide_slowly(l);
	CHECK_INT(took(l, EFFECT_CHECK_JOURNAL), ==, 6);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_PHASE(l, PHASE_LAUNCHING);
}

LIFE_TEST_FROM(begin_slow, another_drey_is_noticed_while_the_facts_are_gathered)
{
	const struct event taken = {.type = EVENT_JOURNAL_FAILED, .journal = {.conflict = true}};
	struct event conflict = taken;

	l->hold_checks = true;
	pass(l, 7000);
	CHECK_INT(took(l, EFFECT_CHECK_JOURNAL), ==, 1);
	conflict.journal.sequence = l->life.requested;
	step(l, &conflict);
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	CHECK(l->life.fenced);
}

/* The API server does not answer as long as drey reads the storage, and always answers after that. */
LIFE_TEST_FROM(begin_slow, a_start_that_comes_too_late_each_time_is_decided_again_with_a_pause)
{
	const struct event unreadable = {.type = EVENT_JOURNAL_SEEN, .journal.unknown = true};
	int64_t pauses_ms = 0;

	l->hold_checks = true;
	for (int i = 0; i < 6; i++) {
		int64_t held_ms;

		pass(l, 40000);
		step(l, &unreadable);
		observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
		CHECK_NOTHING(l, EFFECT_LAUNCH);
		CHECK_HAS(l->life.reason, "was not checked for too long");
		held_ms = l->now_ms;
		journal_checked(l, false);
		await_observe(l);
		pauses_ms += l->now_ms - held_ms;
	}
	CHECK_INT(pauses_ms, >=, 30000);
}

TEST(a_launch_that_the_journal_has_too_late_is_withdrawn)
{
	struct life l;

	begin_leased(&l);
	hello(&l, NULL);
	lease_held(&l, l.now_ms);
	l.hold_writes = true;
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	pass(&l, LEASE_MS - 4000);
	written(&l);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	CHECK_INT(l.life.cause, ==, CAUSE_LEASE_UNREADABLE);
	CHECK(journal_launch(&l.life.journal)->never_started);
	life_end(&l);
}

TEST(without_the_lease_nothing_is_started_whatever_was_decided)
{
	struct life l;

	begin_leased(&l);
	hello(&l, NULL);
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	CHECK_PHASE(&l, PHASE_HOLDING);
	life_end(&l);
}

TEST(the_journal_remembers_a_claim_that_lasts_longer_than_ours)
{
	struct event e = {.type = EVENT_LEASE, .lease = {.longest_ms = 2 * LEASE_MS}};
	struct life l;

	run_leased(&l);
	step(&l, &e);
	CHECK_INT(l.life.journal.lease_longest_ms, ==, 2 * LEASE_MS);
	CHECK_INT(took(&l, EFFECT_WRITE_JOURNAL), ==, 1);
	CHECK_NOTHING(&l, EFFECT_SIGNAL); /* it says nothing about who holds it */
	written(&l);
	forget(&l);
	step(&l, &e);
	CHECK_NOTHING(&l, EFFECT_WRITE_JOURNAL);
	/* one's own is in the configuration */
	e.lease.longest_ms = LEASE_MS;
	step(&l, &e);
	CHECK_INT(l.life.journal.lease_longest_ms, ==, 0);
	CHECK_INT(took(&l, EFFECT_WRITE_JOURNAL), ==, 1);
	life_end(&l);
}

TEST(without_a_lease_object_its_events_mean_nothing)
{
	struct life l;

	life_begin(&l);
	run_empty(&l);
	forget(&l);
	lease_lost(&l);
	lease_held(&l, l.now_ms);
	CHECK_NOTHING(&l, EFFECT_SIGNAL);
	CHECK_NOTHING(&l, EFFECT_LEASE);
	life_end(&l);
}
