/*
 * standby_world - a pod that does not own the application, whose driver is the test itself.
 *
 *   STANDBY_TEST(name) { begin(p); offered(p); CHECK_INT(took(p, STANDBY_DO_LAUNCH), ==, 1); }
 *
 * Reads of the journal, the lock and the Deployment, looks at Flink, and writes of the record, are
 * answered at once from the world below, unless the test holds them. After each step the deadline is checked: it is
 * ahead, or one tick moves it.
 */
#ifndef DREY_TESTS_STANDBY_WORLD_H
#define DREY_TESTS_STANDBY_WORLD_H

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/handover/standby.h"
#include "core/journal/journal.h"
#include "tap.h"

#define JOB_A      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define JOB_B      "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define UNIX_START 1000000000000

struct pod {
	struct standby standby;
	struct standby_config config;
	int64_t now_ms;

	/* the world */
	struct journal journal;
	bool unreadable, absent;
	int64_t put_back; /* the sequence number of an older journal in the place of this one; 0 = none is */
	bool seeded, own_unread, own_elsewhere; /* the journal of the job in the shadow */
	enum side_lock locks[SIDES];
	enum wanted wanted;
	bool hold_reads, hold_records, no_checks;
	bool place_taken, record_fails;
	const char *
		said_begun; /* the record says that the job of this hand-over has begun; borrowed */
	struct standby_event warm; /* what every look shows; TICK: looks are not answered */

	/* effects since forget() */
	int count[STANDBY_DO_AGAIN + 1];
	struct standby_effect last[STANDBY_DO_AGAIN + 1];
	char notes[4096];
	enum standby_event_type owned_by; /* the event that has brought STANDBY_DO_OWN */
};

static inline void forget(struct pod *p)
{
	memset(p->count, 0, sizeof(p->count));
	p->notes[0] = 0;
}

static inline int took(const struct pod *p, enum standby_effect_type type)
{
	return p->count[type];
}

static inline void step(struct pod *p, const struct standby_event *event);

static inline void event_of(struct pod *p, enum standby_event_type type)
{
	step(p, &(struct standby_event){.type = type});
}

static inline void journal_read(struct pod *p)
{
	static const struct journal none = {.application = (char *)"orders"};
	struct standby_event e = {.type = STANDBY_JOURNAL};

	e.read.absent = p->absent;
	e.read.seeded = p->seeded;
	e.read.own_unread = p->own_unread;
	e.read.own_elsewhere = p->own_elsewhere;
	e.read.put_back = p->put_back;
	if (p->absent)
		e.read.journal = &none; /* as the driver does at first */
	else if (!p->unreadable && !p->put_back)
		e.read.journal = &p->journal;
	step(p, &e);
}

static inline void record_written(struct pod *p)
{
	struct standby_event e = {.type = STANDBY_RECORD};

	const char *id = p->journal.handover.id;

	/* it is not overwritten by a record that does not say so, too */
	e.record.begun = xstris(p->said_begun, id ? id : "") && !p->standby.tells_job;
	e.record.ok = !p->place_taken && !p->record_fails && !e.record.begun;
	e.record.taken = p->place_taken;
	if (e.record.ok)
		p->said_begun = p->standby.tells_job ? "h1-00000001" : NULL;
	step(p, &e);
}

static inline void answer(struct pod *p, const struct standby_effect *effect)
{
	struct standby_event e = {.type = STANDBY_TICK};

	switch (effect->type) {
	case STANDBY_DO_READ:
		if (!p->hold_reads)
			journal_read(p);
		return;
	case STANDBY_DO_RECORD:
		if (!p->hold_records)
			record_written(p);
		return;
	case STANDBY_DO_LOCK:
		e.type = STANDBY_LOCK;
		e.lock.side = effect->side;
		e.lock.lock = p->locks[effect->side];
		break;
	case STANDBY_DO_WANTED:
		e.type = STANDBY_WANTED;
		e.wanted = p->wanted;
		break;
	case STANDBY_DO_CHECK:
		if (p->no_checks)
			return;
		e.type = STANDBY_CHECKED;
		e.checked.ok = true;
		e.checked.decision = "startFrom";
		break;
	case STANDBY_DO_LAUNCH:
		p->warm.type = STANDBY_TICK;
		return;
	case STANDBY_DO_WARM:
		if (p->warm.type != STANDBY_WARM)
			return;
		e = p->warm;
		break;
	default:
		return;
	}
	step(p, &e);
}

static inline void remember(struct pod *p, const struct standby_effect *effect)
{
	size_t used = strlen(p->notes);

	p->count[effect->type]++;
	p->last[effect->type] = *effect;
	if (effect->type == STANDBY_DO_NOTE)
		snprintf(p->notes + used, sizeof(p->notes) - used, "%s\n", effect->text);
}

/* Nothing of ours may run when the journal becomes ours, but what is held for this. */
static inline void check_own(struct pod *p, const struct standby_event *event)
{
	CHECK_INT(event->type, ==, STANDBY_JOURNAL);
	CHECK(!event->read.by_watch);
	CHECK_INT(p->standby.verdict.role, ==, ROLE_OWNER);
	CHECK(p->standby.flink != STANDBY_FLINK_ENDING && p->standby.flink != STANDBY_FLINK_ASKED);
	p->owned_by = event->type;
}

static inline void step_once(struct pod *p, const struct standby_event *event)
{
	struct standby_effects out = {0};

	standby_step(&p->standby, event, p->now_ms, UNIX_START + p->now_ms, &out);
	for (size_t i = 0; i < out.count; i++)
		remember(p, &out.list[i]);
	for (size_t i = 0; i < out.count; i++)
		if (out.list[i].type == STANDBY_DO_OWN)
			check_own(p, event);
	for (size_t i = 0; i < out.count; i++)
		answer(p, &out.list[i]);
}

static inline bool is_due(const struct pod *p)
{
	int64_t deadline_ms = standby_deadline_ms(&p->standby);

	return deadline_ms >= 0 && deadline_ms <= p->now_ms;
}

static inline void step(struct pod *p, const struct standby_event *event)
{
	step_once(p, event);
	if (is_due(p))
		step_once(p, &(struct standby_event){.type = STANDBY_TICK});
	if (!CHECK(!is_due(p)))
		tap_note("busy loop after %s: %s, Flink %d", standby_event_name(event->type),
			 role_name(p->standby.verdict.role), p->standby.flink);
}

/* Let `ms` pass, with a tick at every deadline in that time. */
static inline void pass(struct pod *p, int64_t ms)
{
	int64_t until_ms = p->now_ms + ms;

	for (int i = 0; i < 10000; i++) {
		int64_t next = standby_deadline_ms(&p->standby);

		if (next < 0 || next > until_ms || !CHECK(next > p->now_ms))
			break;
		p->now_ms = next;
		event_of(p, STANDBY_TICK);
	}
	p->now_ms = until_ms;
}

/* ---- the journal ---- */

static inline void party_is_now(struct party *to, const char *name, const char *template,
				enum side side)
{
	char *uid = xasprintf("u%s", name);
	struct party party = {(char *)(uintptr_t)name, uid, (char *)(uintptr_t) template, side};

	party_set(to, &party);
	free(uid);
}

/* As if this pod had written it. */
static inline void written_by(struct pod *p, const char *name)
{
	p->journal.sequence++;
	free(p->journal.writer);
	p->journal.writer = xasprintf("%s/u%s/1", name, name);
}

static inline void state_is(struct pod *p, enum handover_state state, const char *writer)
{
	p->journal.handover.state = state;
	written_by(p, writer);
}

/* The owner, "old", offers the job to this pod. */
static inline void offer_is(struct pod *p, const char *id, const char *job_id)
{
	struct handover *handover = &p->journal.handover;

	xstrset(&handover->id, id);
	party_set(&handover->from, &p->journal.owner);
	party_set(&handover->to, &p->config.me);
	handover->to.side = SIDE_GREEN;
	snprintf(handover->job_id, JOB_ID_BYTES, "%s", job_id);
	handover->asked = 0;
	handover->slots = 4;
	state_is(p, HANDOVER_OFFERED, "old");
}

static inline void offered(struct pod *p)
{
	offer_is(p, "h1-00000001", JOB_A);
	journal_read(p);
}

static inline void granted(struct pod *p)
{
	party_set(&p->journal.owner, &p->journal.handover.to);
	state_is(p, HANDOVER_GRANTED, "old");
	journal_read(p);
}

/* ---- Flink ---- */

static inline void started(struct pod *p)
{
	struct standby_event e = {.type = STANDBY_STARTED};

	e.process.launch_id = p->standby.job_id;
	step(p, &e);
}

static inline void exited_as(struct pod *p, enum standby_event_type type, const char *why)
{
	char id[JOB_ID_BYTES];
	struct standby_event e = {.type = type};

	memcpy(id, p->standby.job_id, JOB_ID_BYTES);
	e.process.launch_id = id;
	e.process.why = why;
	step(p, &e);
}

static inline void exited(struct pod *p)
{
	exited_as(p, STANDBY_EXITED, "Flink was killed by signal 9");
}

static inline void looked(struct pod *p, bool held, int task_managers, int slots, int strangers)
{
	p->warm = (struct standby_event){.type = STANDBY_WARM};
	p->warm.warm.held = held;
	p->warm.warm.known = true;
	p->warm.warm.task_managers = task_managers;
	p->warm.warm.slots_free = slots;
	p->warm.warm.strangers = strangers;
	step(p, &(struct standby_event){.type = STANDBY_WARM, .warm = p->warm.warm});
}

static inline void held(struct pod *p)
{
	started(p);
	looked(p, true, 2, 4, 0);
}

/* ---- begin and end ---- */

static inline void pod_begin_as(struct pod *p, const char *name, const char *template)
{
	static char uid[64];

	memset(p, 0, sizeof(*p));
	snprintf(uid, sizeof(uid), "u%s", name);
	p->now_ms = 1000;
	p->config = (struct standby_config){
		.application = "orders",
		.me = {(char *)(uintptr_t)name, uid, (char *)(uintptr_t) template, SIDE_BLUE},
		.generation = "g2",
		.flink_version = "2.3.0",
		.limits = {.silent_ms = 15000, .take_ms = 15000, .run_ms = 180000},
		.hold_main = true,
		.max_attempts = 3,
		.retry_first_ms = 1000,
		.retry_max_ms = 8000,
		.kill_after_ms = 10000,
		.ready_deadline_ms = 60000,
	};
	p->locks[SIDE_BLUE] = LOCK_HELD;
	p->locks[SIDE_GREEN] = LOCK_FREE;
	p->wanted = WANTED_YES;
	p->warm.type = STANDBY_TICK;
	journal_init(&p->journal, "orders");
	party_is_now(&p->journal.owner, "old", "g1/c1/h1", SIDE_BLUE);
	written_by(p, "old");
	standby_init(&p->standby, &p->config);
}

static inline void hello(struct pod *p, const char *running)
{
	struct standby_event e = {.type = STANDBY_HELLO};

	e.hello.running = running;
	step(p, &e);
}

/* No more news: time alone never keeps it busy. */
static inline void pod_end(struct pod *p)
{
	pass(p, 600000);
	standby_release(&p->standby);
	journal_release(&p->journal);
}

/* Another generation than the owner's, which the Deployment wants. */
static inline void pod_begin(struct pod *p)
{
	pod_begin_as(p, "new", "g2/c1/h2");
}

static inline void candidate_begin(struct pod *p)
{
	pod_begin(p);
	hello(p, NULL);
	forget(p);
}

static inline void prepared_begin(struct pod *p)
{
	candidate_begin(p);
	offered(p);
	held(p);
	pass(p, 500);
	looked(p, true, 2, 4, 0);
	pass(p, 1500);
	CHECK_INT(p->standby.record.state, ==, CANDIDATE_PREPARED);
	forget(p);
}

/* It has granted the job to "next". */
static inline void reserve_begin(struct pod *p)
{
	pod_begin_as(p, "old", "g1/c1/h1");
	p->wanted = WANTED_NO;
	p->locks[SIDE_BLUE] = LOCK_FREE;
	p->locks[SIDE_GREEN] = LOCK_HELD;
	offer_is(p, "h1-00000001", JOB_A);
	party_is_now(&p->journal.handover.to, "next", "g2/c1/h2", SIDE_GREEN);
	party_set(&p->journal.owner, &p->journal.handover.to);
	state_is(p, HANDOVER_GRANTED, "old");
	hello(p, NULL);
}

#define CHECK_ROLE(p, role_)   CHECK_STR(role_name((p)->standby.verdict.role), role_name(role_))
#define CHECK_STATE(p, state_) CHECK_INT((p)->standby.record.state, ==, state_)
#define CHECK_NOTHING(p, type) CHECK_INT(took(p, type), ==, 0)
#define CHECK_OWNS(p, claim_)                                                                      \
	do {                                                                                       \
		CHECK_INT(took(p, STANDBY_DO_OWN), ==, 1);                                         \
		CHECK_STR(claim_name((p)->standby.verdict.claim), claim_name(claim_));             \
		CHECK_INT(standby_deadline_ms(&(p)->standby), ==, -1);                             \
	} while (0)

#define POD_TEST_FROM(begin, name) TEST_WITH(name, struct pod, p, begin, pod_end)

#endif
