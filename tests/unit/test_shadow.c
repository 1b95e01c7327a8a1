/*
 * The job in the shadow: the adoption, the removal of its journal, the gate before each launch, and what is said
 * to the machine and to the job's gates. The journals and the rest of the driver are played by this file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/handover/transition.h"
#include "core/journal/journal_adopt.h"
#include "core/journal/journal_fields.h"
#include "gate_fake.h"
#include "run/handover/standing_internal.h"
#include "tap.h"

#define ID       "h2-3f2ac1d0"
#define OWN_JOB  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define MAIN_JOB "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb01"
#define LIMIT_MS 20000

/* A journal where it is stored: a store is a pointer to one. */
struct stored {
	struct journal journal;
	struct err unreadable, unwritable; /* ERR_NONE: it is not */
	int reads, puts, removes;
	char text[JOURNAL_MAX_BYTES];
	int64_t sequence;
};

struct rig {
	struct driver driver; /* first: what is played gets this one */
	struct setup setup;
	struct standing standing;
	struct stored application, own;
	bool may_start, untold;
	int events, reads, effects;
	struct standby_event last;
	struct gate_report gate; /* of the last event */
	struct effect effect;
	char effect_text[64];
	int stopped; /* the status; -1 = it was not */
};

/* ---- what is played ---- */

int journal_store_read(struct journal_store *store, struct journal *ret_journal, struct err *err)
{
	struct stored *stored = (struct stored *)store;

	stored->reads++;
	if (stored->unreadable.kind) {
		*err = stored->unreadable;
		return -1;
	}
	record_copy(&journal_table, &stored->journal, ret_journal);
	return 0;
}

int journal_store_put(struct journal_store *store, const struct buf *text, int64_t sequence,
		      const char *writer, struct err *err)
{
	struct stored *stored = (struct stored *)store;

	CHECK_STR(writer, "new/u-new/7");
	stored->puts++;
	if (stored->unwritable.kind) {
		*err = stored->unwritable;
		return -1;
	}
	snprintf(stored->text, sizeof(stored->text), "%s", text->data);
	stored->sequence = sequence;
	return 0;
}

int journal_store_remove(struct journal_store *store, struct err *err)
{
	struct stored *stored = (struct stored *)store;

	stored->removes++;
	if (stored->unwritable.kind) {
		*err = stored->unwritable;
		return -1;
	}
	return 0;
}

void driver_execute(struct driver *driver, const struct effect *effect)
{
	struct rig *rig = (struct rig *)driver;

	rig->effects++;
	rig->effect = *effect;
	snprintf(rig->effect_text, sizeof(rig->effect_text), "%s", effect->text);
}

void driver_stop(struct driver *driver, int status)
{
	((struct rig *)driver)->stopped = status;
}

void standing_read(struct standing *standing)
{
	((struct rig *)standing->driver)->reads++;
}

bool standby_may_start(const struct standby *standby)
{
	const struct standing *standing =
		(const void *)((const char *)standby - offsetof(struct standing, standby));

	return ((struct rig *)standing->driver)->may_start;
}

bool standby_has_told(const struct standby *standby)
{
	const struct standing *standing =
		(const void *)((const char *)standby - offsetof(struct standing, standby));

	return !((struct rig *)standing->driver)->untold;
}

static void heard(struct standing *standing, const struct standby_event *event)
{
	struct rig *rig = (struct rig *)standing->driver;

	rig->events++;
	rig->last = *event;
	if (event->type == STANDBY_JOB)
		rig->gate = *event->job.gate;
}

/* ---- the world ---- */

static void is_party(struct party *to, const char *pod, enum side side)
{
	cleanup_free char *uid = xasprintf("u-%s", pod);
	struct party party = {(char *)(uintptr_t)pod, uid, (char *)(uintptr_t) "g2/c1/h2", side};

	party_set(to, &party);
}

static void in_state(struct handover *handover, enum transition_state state)
{
	handover->transition.state = state;
	handover->state = transition_outside(state);
}

/* The owner, "old", has granted the job to "new", whose job was started from the seed. */
static void transition_begin_here(struct journal *journal)
{
	struct handover *handover = &journal->handover;

	journal_init(journal, "orders");
	journal->sequence = 40;
	xstrset(&journal->writer, "old/u-old/1");
	xstrset(&handover->id, ID);
	xstrset(&handover->transition.id, ID);
	xstrset(&handover->transition.seed.path, "file:/sp/seed");
	handover->transition.candidate_number = 3;
	is_party(&handover->from, "old", SIDE_BLUE);
	is_party(&handover->to, "new", SIDE_GREEN);
	is_party(&journal->owner, "new", SIDE_GREEN);
	in_state(handover, TRANSITION_GRANTED);
	strcpy(journal_add_launch(journal)->job_id, MAIN_JOB);
}

static void launched_own(struct journal *journal)
{
	struct launch *launch = journal_add_launch(journal);

	strcpy(launch->job_id, OWN_JOB);
	launch->restore_path = xstrdup("file:/sp/seed");
	launch->started_unix_ms = clock_unix_ms();
}

static void rig_begin(struct rig *rig)
{
	struct journal journal;
	struct rng rng;

	memset(rig, 0, sizeof(*rig));
	rig->stopped = -1;
	transition_begin_here(&rig->application.journal);
	journal_seed(&rig->application.journal, false, clock_unix_ms(), &rig->own.journal);
	launched_own(&rig->own.journal);
	rig->driver.setup = &rig->setup;
	rig->driver.writer = (char *)"new/u-new/7";
	rig->driver.store = (struct journal_store *)&rig->application;
	rig->driver.shadow_store = (struct journal_store *)&rig->own;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	rig->driver.journal_lane = lane_new(rig->driver.workers, "journal");
	rig->driver.standing = &rig->standing;
	rig->standing.driver = &rig->driver;
	rig->standing.step = heard;
	is_party(&rig->standing.config.me, "new", SIDE_GREEN);
	record_copy(&journal_table, &rig->own.journal, &journal);
	rng_seed(&rng, 1);
	lifecycle_init(&rig->driver.life, &rig->setup.life, &journal, &rng);
}

/* The life cycle has the journal of the job here. */
static void is_alive(struct rig *rig)
{
	rig->driver.alive = true;
	rig->driver.life_config.handover.shadow = true;
}

static void rig_end(struct rig *rig)
{
	lane_free(rig->driver.journal_lane, 1000);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	lifecycle_release(&rig->driver.life);
	journal_release(&rig->application.journal);
	journal_release(&rig->own.journal);
	party_release(&rig->standing.config.me);
	handover_release(&rig->standing.standby.handover);
	log_seldom_release(&rig->standing.adopt_trouble);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

/* ---- the adoption ---- */

static void adopts(struct rig *rig)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	standing_adopt(&rig->standing);
	while (rig->stopped < 0 && !rig->events && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 50, NULL);
}

static void check_adopted(struct rig *rig)
{
	struct journal journal = {0};
	struct err err = {0};

	CHECK_INT(rig->stopped, ==, DRIVER_AGAIN);
	CHECK_INT(rig->events, ==, 0);
	CHECK_INT(rig->application.puts, ==, 1);
	CHECK_INT(rig->application.sequence, ==, 41);
	if (!CHECK_INT(journal_decode(rig->application.text, strlen(rig->application.text),
				      &journal, &err),
		       ==, 0)) {
		tap_note("%s", err.msg);
		return;
	}
	CHECK_INT(journal.sequence, ==, 41);
	CHECK_STR(journal.writer, "new/u-new/7");
	CHECK_STR(journal_launch(&journal)->job_id, OWN_JOB);
	CHECK_INT(transition_of(&journal.handover), ==, TRANSITION_TAKEN);
	CHECK_STR(journal.handover.to.uid, "u-new");
	CHECK_INT(journal.handover.to.side, ==, SIDE_GREEN);
	journal_release(&journal);
}

RIG_TEST(a_granted_job_is_adopted_by_one_write_behind_the_one_that_was_read)
{
	is_alive(rig);
	adopts(rig);
	CHECK_INT(rig->own.reads, ==, 0); /* the life cycle has it */
	check_adopted(rig);
}

RIG_TEST(an_agent_whose_job_began_before_it_reads_that_journal_first)
{
	adopts(rig);
	CHECK_INT(rig->own.reads, ==, 1);
	check_adopted(rig);
}

RIG_TEST(a_pod_that_follows_the_granted_one_is_the_party_from_then_on)
{
	is_party(&rig->application.journal.handover.to, "gone", SIDE_GREEN);
	is_party(&rig->standing.config.me, "new", SIDE_BLUE); /* not chosen yet */
	adopts(rig);
	check_adopted(rig);
}

RIG_TEST(nothing_is_adopted_in_any_other_state)
{
	static const enum transition_state states[] = {
		TRANSITION_NONE,     TRANSITION_OFFERED, TRANSITION_SEEDED, TRANSITION_SHADOW,
		TRANSITION_CROSSING, TRANSITION_ENDING,  TRANSITION_TAKEN,  TRANSITION_DONE,
		TRANSITION_ABORTING, TRANSITION_REFUSED,
	};

	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		rig->events = 0;
		in_state(&rig->application.journal.handover, states[i]);
		adopts(rig);
		CHECK_INT(rig->events, ==, 1);
		CHECK_INT(rig->last.type, ==, STANDBY_ADOPTED);
	}
	CHECK_INT(rig->application.puts, ==, 0);
	CHECK_INT(rig->stopped, ==, -1);
}

/* Each is told to the machine, which tries again. */
RIG_TEST(an_adoption_that_fails_is_told_and_ends_nothing)
{
	static const struct {
		enum err_kind own, application, write;
		const char *
			id; /* of the hand-over that the own journal was seeded for; NULL: this one */
		int puts;
	} cases[] = {
		{ERR_RETRY, ERR_NONE, ERR_NONE, NULL, 0},
		{ERR_ABSENT, ERR_NONE, ERR_NONE, NULL, 0},
		{ERR_NONE, ERR_RETRY, ERR_NONE, NULL, 0},
		{ERR_NONE, ERR_ABSENT, ERR_NONE, NULL, 0},
		{ERR_NONE, ERR_NONE, ERR_BUSY, NULL, 1},
		{ERR_NONE, ERR_NONE, ERR_NONE, "h9-00000001", 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->events = rig->application.puts = 0;
		rig->own.unreadable.kind = cases[i].own;
		rig->application.unreadable.kind = cases[i].application;
		rig->application.unwritable.kind = cases[i].write;
		xstrset(&rig->own.journal.intent.restore.token, cases[i].id ? cases[i].id : ID);
		adopts(rig);
		CHECK_INT(rig->events, ==, 1);
		CHECK_INT(rig->last.type, ==, STANDBY_ADOPTED);
		CHECK_INT(rig->application.puts, ==, cases[i].puts);
		CHECK_INT(rig->stopped, ==, -1);
	}
}

/* ---- its journal, when that is not needed any more ---- */

static void owns_the_job(struct rig *rig)
{
	is_alive(rig);
	rig->driver.life_config.handover.shadow = false;
	in_state(&rig->driver.life.journal.handover, TRANSITION_DONE);
}

static void stepped(struct rig *rig)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	part_shadow.stepped(&rig->driver);
	while (rig->standing.removing && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 50, NULL);
	CHECK(!rig->standing.removing);
}

RIG_TEST(the_journal_of_a_candidate_is_removed_once_when_the_transition_is_done)
{
	owns_the_job(rig);
	stepped(rig);
	CHECK_INT(rig->own.removes, ==, 1);
	CHECK(rig->standing.removed);
	stepped(rig);
	CHECK_INT(rig->own.removes, ==, 1);
	CHECK_INT(rig->events, ==, 0);
}

static void granted_only(struct rig *rig)
{
	in_state(&rig->driver.life.journal.handover, TRANSITION_GRANTED);
}

static void taken_only(struct rig *rig)
{
	in_state(&rig->driver.life.journal.handover, TRANSITION_TAKEN);
}

static void to_another(struct rig *rig)
{
	is_party(&rig->driver.life.journal.handover.to, "third", SIDE_GREEN);
}

static void is_fenced(struct rig *rig)
{
	rig->driver.life.fenced = true;
}

static void not_on_record(struct rig *rig)
{
	rig->driver.life.want_write = true;
}

static void not_yet_again(struct rig *rig)
{
	rig->standing.remove_ms = clock_mono_ms() + 60000;
}

static void is_closing(struct rig *rig)
{
	rig->driver.closing = true;
}

RIG_TEST(it_is_removed_for_no_other_reason)
{
	static void (*const ways[])(struct rig *) = {granted_only, taken_only,    to_another,
						     is_fenced,    not_on_record, not_yet_again,
						     is_closing};

	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		struct rig other;

		rig_begin(&other);
		owns_the_job(&other);
		ways[i](&other);
		stepped(&other);
		CHECK_INT(other.own.reads, ==, 0);
		CHECK_INT(other.own.removes, ==, 0);
		rig_end(&other);
	}
	CHECK_INT(rig->own.removes, ==, 0);
}

RIG_TEST(the_journal_of_a_later_hand_over_is_kept)
{
	owns_the_job(rig);
	xstrset(&rig->own.journal.intent.restore.token, "h9-00000001");
	stepped(rig);
	CHECK_INT(rig->own.reads, ==, 1);
	CHECK_INT(rig->own.removes, ==, 0);
}

RIG_TEST(a_removal_that_fails_is_tried_again_a_minute_later)
{
	static const struct {
		enum err_kind read, write;
		bool removed;
	} cases[] = {
		{ERR_RETRY, ERR_NONE, false},
		{ERR_NONE, ERR_BUSY, false},
		{ERR_ABSENT, ERR_NONE, true}, /* proven */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig other;

		rig_begin(&other);
		owns_the_job(&other);
		other.own.unreadable.kind = cases[i].read;
		other.own.unwritable.kind = cases[i].write;
		stepped(&other);
		CHECK_INT(other.standing.removed, ==, cases[i].removed);
		CHECK_INT(other.standing.remove_ms - clock_mono_ms(), >, 50000);
		CHECK_INT(other.own.reads, ==, 1);
		stepped(&other);
		CHECK_INT(other.own.reads, ==, 1);
		rig_end(&other);
	}
	CHECK_INT(rig->own.removes, ==, 0);
}

/* ---- before each launch ---- */

static enum gate_verdict may(struct rig *rig, enum gate_type type, int64_t number)
{
	struct gate gate = {.number = number};
	enum gate_verdict verdict = part_shadow.may(&rig->driver, type, &gate);

	if (verdict == GATE_REFUSED)
		CHECK_INT(gate.cause, ==, CAUSE_SHADOW);
	return verdict;
}

RIG_TEST(a_launch_waits_for_a_journal_that_was_read_after_it_was_decided)
{
	is_alive(rig);
	rig->may_start = true;
	CHECK_INT(may(rig, GATE_LAUNCH, 5), ==, GATE_NOT_YET);
	CHECK_INT(rig->reads, ==, 1);
	CHECK_INT(may(rig, GATE_LAUNCH, 5), ==, GATE_NOT_YET);
	CHECK_INT(rig->reads, ==, 1); /* which is under way */
	rig->standing.confirmed = 5;
	CHECK_INT(may(rig, GATE_LAUNCH, 5), ==, GATE_PASSES);
	/* the next launch is another question */
	CHECK_INT(may(rig, GATE_LAUNCH, 6), ==, GATE_NOT_YET);
	CHECK_INT(rig->reads, ==, 2);
}

/* The journal is read after that: right before the launch. */
RIG_TEST(a_launch_waits_until_the_record_says_that_the_job_begins)
{
	is_alive(rig);
	rig->may_start = rig->untold = true;
	CHECK_INT(may(rig, GATE_LAUNCH, 5), ==, GATE_NOT_YET);
	CHECK_INT(rig->reads, ==, 0);
	rig->untold = false;
	CHECK_INT(may(rig, GATE_LAUNCH, 5), ==, GATE_NOT_YET);
	CHECK_INT(rig->reads, ==, 1);
	rig->standing.confirmed = 5;
	CHECK_INT(may(rig, GATE_LAUNCH, 5), ==, GATE_PASSES);
}

RIG_TEST(a_launch_that_the_hand_over_does_not_let_start_is_refused)
{
	is_alive(rig);
	rig->standing.asked = rig->standing.confirmed = 5;
	CHECK_INT(may(rig, GATE_LAUNCH, 5), ==, GATE_REFUSED);
	rig->may_start = true;
	CHECK_INT(may(rig, GATE_LAUNCH, 5), ==, GATE_PASSES);
}

RIG_TEST(an_owner_and_other_gates_do_not_wait_for_it)
{
	is_alive(rig);
	for (int type = 0; type < GATES; type++)
		if (type != GATE_LAUNCH)
			CHECK_INT(may(rig, (enum gate_type)type, 5), ==, GATE_PASSES);
	rig->driver.life_config.handover.shadow = false;
	CHECK_INT(may(rig, GATE_LAUNCH, 5), ==, GATE_PASSES);
	rig->driver.life_config.handover.shadow = true;
	rig->driver.standing = NULL;
	CHECK_INT(may(rig, GATE_LAUNCH, 5), ==, GATE_PASSES);
	CHECK_INT(rig->reads, ==, 0);
}

/* ---- what the job's gates are told ---- */

/* What was read last; the job of the life cycle is of the same hand-over. */
static void is_told(struct rig *rig)
{
	struct handover *read = &rig->standing.standby.handover;

	is_alive(rig);
	record_copy(&handover_table, &rig->application.journal.handover, read);
	in_state(read, TRANSITION_SHADOW);
	rig->driver.life.launch_step = LAUNCH_LIVE;
}

RIG_TEST(the_gates_are_told_what_the_journal_that_was_read_says)
{
	is_told(rig);
	standing_tell_gates(&rig->standing);
	CHECK_INT(rig->effects, ==, 1);
	CHECK_INT(rig->effect.type, ==, EFFECT_GATE);
	CHECK_STR(rig->effect.id, OWN_JOB);
	CHECK_STR(rig->effect_text, ID);
	CHECK_INT(rig->effect.order.word, ==, GATE_CLOSED);
	CHECK_INT(rig->effect.order.number, ==, 3);
	/* the cut came */
	in_state(&rig->standing.standby.handover, TRANSITION_ARMING);
	rig->standing.standby.handover.transition.toggle_unix_ms = 1700000000000;
	rig->standing.standby.handover.transition.candidate_number = 4;
	standing_tell_gates(&rig->standing);
	CHECK_INT(rig->effect.order.word, ==, GATE_ARM_GREEN);
	CHECK_INT(rig->effect.order.number, ==, 4);
	CHECK_INT(rig->effect.order.toggle_unix_ms, ==, 1700000000000);
}

RIG_TEST(gates_are_told_nothing_of_another_hand_over_or_of_no_launch)
{
	is_told(rig);
	rig->driver.life.launch_step = LAUNCH_NONE;
	standing_tell_gates(&rig->standing);
	rig->driver.life.launch_step = LAUNCH_LIVE;
	rig->driver.life_config.handover.shadow = false;
	standing_tell_gates(&rig->standing);
	rig->driver.life_config.handover.shadow = true;
	rig->driver.alive = false;
	standing_tell_gates(&rig->standing);
	rig->driver.alive = true;
	xstrset(&rig->standing.standby.handover.id, "h9-00000001");
	standing_tell_gates(&rig->standing);
	CHECK_INT(rig->effects, ==, 0);
}

/* ---- what the machine is told ---- */

RIG_TEST(each_step_tells_the_machine_how_the_job_is)
{
	struct lifecycle *life = &rig->driver.life;

	is_told(rig);
	life->phase = PHASE_LAUNCHING;
	part_shadow.stepped(&rig->driver);
	CHECK_INT(rig->last.type, ==, STANDBY_JOB);
	CHECK(!rig->last.job.runs && !rig->last.job.failed);
	life->phase = PHASE_RUNNING;
	part_shadow.stepped(&rig->driver);
	CHECK(rig->last.job.runs && !rig->last.job.failed);
	life->seen.tasks_missing = 1; /* it restarts */
	part_shadow.stepped(&rig->driver);
	CHECK(!rig->last.job.runs);
	life->journal.outcome.kind = OUTCOME_RESTORE_MISMATCH;
	part_shadow.stepped(&rig->driver);
	CHECK(rig->last.job.failed);
	life->journal.outcome.kind = OUTCOME_NONE;
	life->phase = PHASE_FAILED;
	part_shadow.stepped(&rig->driver);
	CHECK(rig->last.job.failed && !rig->last.job.runs);
	CHECK_INT(rig->events, ==, 5);
	CHECK_INT(rig->own.reads, ==, 0);
}

RIG_TEST(only_a_report_of_this_launch_and_this_hand_over_counts)
{
	struct lifecycle *life = &rig->driver.life;
	static const struct {
		const char *launch, *transition;
		bool ended;
		enum launch_step step;
		bool counts;
	} cases[] = {
		{OWN_JOB, ID, false, LAUNCH_LIVE, true},
		{MAIN_JOB, ID, false, LAUNCH_LIVE, false},
		{OWN_JOB, "h9-00000001", false, LAUNCH_LIVE, false},
		{OWN_JOB, NULL, false, LAUNCH_LIVE, false},
		{OWN_JOB, ID, true, LAUNCH_LIVE, false},
		{OWN_JOB, ID, false, LAUNCH_STARTING, false},
	};

	is_told(rig);
	life->gate.report.known = true;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(life->gate.launch_id, sizeof(life->gate.launch_id), "%s", cases[i].launch);
		xstrset(&life->gate.transition, cases[i].transition);
		life->gate.ended = cases[i].ended;
		life->launch_step = cases[i].step;
		part_shadow.stepped(&rig->driver);
		CHECK_INT(rig->gate.known, ==, cases[i].counts);
	}
}
