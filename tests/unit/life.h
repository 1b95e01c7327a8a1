/*
 * life - a life cycle whose driver is the test itself, for scripted tests of the state machine.
 *
 *   LIFE_TEST(name) { hello(l, NULL); observed_empty(l); CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1); }
 *
 * Journal writes are acknowledged immediately unless the test sets hold_writes. Every step is checked:
 * no effect that acts on the world may come before the journal that announces it is durable, and a
 * tick at the deadline always moves the deadline.
 */
#ifndef DREY_TESTS_LIFE_H
#define DREY_TESTS_LIFE_H

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle.h"
#include "tap.h"

#define UNIX_START  1000000000000
#define EXITED(n)   ((n) << 8) /* wait status */
#define KILLED(n)   (n)
#define CHK(id)     "file:/cp/x/chk-" #id
#define SAVEPOINT_1 "file:/sp/savepoint-1"
#define EFFECT_ANY  32

/* The parts of the journal that a write has made durable. */
struct durable {
	char job_id[JOB_ID_BYTES], trigger_id[JOB_ID_BYTES];
	enum outcome_kind outcome;
	bool launch_ended, operation_done;
};

struct life {
	struct lifecycle life;
	struct lifecycle_config config;
	int64_t now_ms;
	int64_t wall_ms; /* added to the wall clock */

	bool hold_writes;
	bool hold_checks;    /* do not answer checks of the journal */
	bool hold_last_poll; /* do not answer the last poll of the job when the container ends */
	bool hold_keeper_checks; /* do not answer the check of the newest savepoint before a deletion */
	bool hold_signs;         /* do not answer what the launch that lives shows; else nothing */
	bool any_event; /* the test makes events that cannot happen: it may contradict itself */
	struct durable writing, durable;
	struct buf written_text, durable_text; /* the whole document, as the store has it */

	/* effects since forget() */
	int count[EFFECT_ANY];
	struct effect last[EFFECT_ANY]; /* without text */
	char inspected[256];
	char body[512]; /* of the last RESCALE; "" = it only looks */
	char notes[8192];
	char order[256];       /* one letter for each effect */
	char last_notice[256]; /* the text of the last one */
	char told[1024];       /* the notices: "operation restore-verified phase:Running" */
};

static inline void life_begin(struct life *l)
{
	struct journal journal;
	struct rng rng;

	memset(l, 0, sizeof(*l));
	l->now_ms = 1000;
	l->config = (struct lifecycle_config){
		.savepoint_dir = "file:/sp",
		.result_store_dir = "file:/results",
		.generation = "g1",
		.policy.generation = "g1",
		.policy.max_loss.max_ms = LOSS_MAX_AUTO,
		.max_attempts = 3,
		.attempts_window_ms = 600000,
		.backoff_first_ms = 5000,
		.backoff_max_ms = 60000,
		.ready_deadline_ms = 120000,
		.poll_fast_ms = 500,
		.poll_slow_ms = 5000,
		.kill_after_ms = 20000,
		.hold_retry_first_ms = 2000,
		.hold_retry_max_ms = 60000,
		.stop_retry_ms = 30000,
	};
	journal_init(&journal, "app");
	rng_seed(&rng, 7);
	lifecycle_init(&l->life, &l->config, &journal, &rng);
}

static inline void forget(struct life *l)
{
	memset(l->count, 0, sizeof(l->count));
	memset(l->last, 0, sizeof(l->last));
	l->body[0] = l->inspected[0] = l->notes[0] = l->order[0] = l->told[0] = 0;
}

static inline int took(const struct life *l, enum effect_type type)
{
	return l->count[type];
}

static inline const char *job_of(const struct life *l)
{
	const struct launch *launch = journal_launch_const(&l->life.journal);

	return launch ? launch->job_id : "";
}

static inline const char *trigger_of(const struct life *l)
{
	return l->life.journal.operation.trigger_id;
}

/* The effects that may come only after the journal was written. */
static inline void watch_order(struct life *l, const struct effect *e)
{
	const struct journal *journal = &l->life.journal;

	if (e->type == EFFECT_LAUNCH) {
		CHECK_STR(l->durable.job_id, job_of(l));
		CHECK(!l->durable.launch_ended);
		CHECK(!journal->intent.do_not_restart);
		CHECK(journal->intent.state == DESIRED_RUNNING);
		CHECK(!l->life.terminating);
	}
	if (e->type == EFFECT_TRIGGER) {
		CHECK_STR(l->durable.trigger_id, e->id);
		CHECK_STR(trigger_of(l), e->id);
	}
	/* a Flink that runs the job again is no witness of its end */
	if (e->type == EFFECT_SIGNAL && !l->life.terminating && !l->life.fenced &&
	    job_state_is_final(l->life.seen.state) &&
	    (journal->outcome.kind == OUTCOME_FINISHED ||
	     journal->outcome.kind == OUTCOME_CANCELLED))
		CHECK_INT(l->durable.outcome, ==, journal->outcome.kind);
	if (l->life.fenced)
		CHECK(e->type == EFFECT_NOTE || e->type == EFFECT_STOP_ACK ||
		      e->type == EFFECT_EXIT || e->type == EFFECT_SIGNAL ||
		      e->type == EFFECT_TELL || e->type == EFFECT_STAND_DOWN);
}

static inline void remember_write(struct life *l)
{
	const struct journal *journal = &l->life.journal;
	const struct launch *launch = journal_launch_const(journal);

	l->writing = (struct durable){.outcome = journal->outcome.kind};
	snprintf(l->writing.job_id, JOB_ID_BYTES, "%s", job_of(l));
	snprintf(l->writing.trigger_id, JOB_ID_BYTES, "%s", trigger_of(l));
	l->writing.launch_ended = launch && launch->ended_unix_ms;
	buf_clear(&l->written_text);
	CHECK(!journal_encode(&l->life.journal, &l->written_text, &(struct err){0}));
}

/* The write is complete: the next agent reads this. */
static inline void keep_write(struct life *l)
{
	l->durable = l->writing;
	buf_clear(&l->durable_text);
	buf_add(&l->durable_text, l->written_text.data, l->written_text.len_bytes);
}

static inline void remember_notice(struct life *l, const struct notice *n)
{
	bool phase = n->type == NOTICE_PHASE || n->type == NOTICE_ENDED;
	bool handover = n->type == NOTICE_HANDOVER, transition = n->type == NOTICE_TRANSITION;
	size_t used = strlen(l->told);

	snprintf(l->last_notice, sizeof(l->last_notice), "%s", n->text ? n->text : "");
	snprintf(l->told + used, sizeof(l->told) - used, "%s%s%s%s%s", used ? " " : "",
		 n->known ? "known-" : "", notice_type_name(n->type),
		 phase || handover || transition ? ":" : "",
		 phase        ? phase_name(n->phase)
		 : handover   ? handover_state_name(n->handover)
		 : transition ? transition_state_name(n->transition)
			      : "");
}

static inline void take_effect(struct life *l, struct effect *e)
{
	static const char letters[] = "OWLPTQIDSAXn....CR.GF"; /* by effect type; . = not shown */
	size_t used = strlen(l->order);

	watch_order(l, e);
	l->count[e->type]++;
	l->last[e->type] = *e;
	l->last[e->type].text = NULL;
	l->last[e->type].notice.text = l->last[e->type].notice.path = NULL;
	if (used + 1 < sizeof(l->order) && (e->type < EFFECT_NOTE || e->type > EFFECT_TELL)) {
		l->order[used] = letters[e->type];
		l->order[used + 1] = 0;
	}
	if (e->type == EFFECT_RESCALE)
		snprintf(l->body, sizeof(l->body), "%s", e->text ? e->text : "");
	if (e->type == EFFECT_INSPECT)
		snprintf(l->inspected, sizeof(l->inspected), "%s", e->text);
	if (e->type == EFFECT_NOTE) {
		used = strlen(l->notes);
		snprintf(l->notes + used, sizeof(l->notes) - used, "%s\n", e->text);
	}
	if (e->type == EFFECT_TELL)
		remember_notice(l, &e->notice);
	if (e->type == EFFECT_WRITE_JOURNAL)
		remember_write(l);
}

static inline void step(struct life *l, const struct event *event);

/* The newest savepoint is checked before an older one is deleted. */
static inline void keeper_checked(struct life *l, bool readable, bool complete)
{
	char *path = xstrdup(l->life.keeper.path);
	struct event e = {.type = EVENT_INSPECTED,
			  .inspected = {.path = path,
					.readable = readable,
					.complete = complete,
					.error = "a file is missing"}};

	step(l, &e);
	free(path);
}

/* The journal was checked, and no other drey owns it. */
static inline void journal_checked(struct life *l, bool lost)
{
	struct event e = {.type = EVENT_JOURNAL_SEEN, .journal.lost = lost};

	step(l, &e);
}

/* What storage and HA show of the launch that lives. */
static inline void signs_show(struct life *l, enum signs_verdict verdict, const char *text)
{
	const struct launch *launch = journal_launch_const(&l->life.journal);
	struct event e = {
		.type = EVENT_SIGNS,
		.signs = {.launch = launch ? launch->number : 0, .signs.verdict = verdict}};

	snprintf(e.signs.signs.text, sizeof(e.signs.signs.text), "%s", text);
	step(l, &e);
}

static inline void step(struct life *l, const struct event *event)
{
	struct effects out = {0};
	bool written = false, look = false, check = false, seek = false;
	int64_t sequence = 0;

	lifecycle_step(&l->life, event, l->now_ms, UNIX_START + l->wall_ms + l->now_ms, &out);
	if (!l->any_event && !CHECK_STR(l->life.contradiction, NULL))
		tap_note("%s: %s", phase_name(l->life.phase), l->life.reason);
	for (size_t i = 0; i < out.count; i++) {
		take_effect(l, &out.list[i]);
		if (out.list[i].type == EFFECT_INSPECT && l->life.keeper.path)
			look = !strcmp(out.list[i].text, l->life.keeper.path);
		check |= out.list[i].type == EFFECT_CHECK_JOURNAL;
		seek |= out.list[i].type == EFFECT_SIGNS;
		if (out.list[i].type != EFFECT_WRITE_JOURNAL)
			continue;
		CHECK(!written); /* one write at a time */
		written = true;
		sequence = out.list[i].sequence;
	}
	effects_clear(&out);
	if (written && !l->hold_writes) {
		struct event ack = {.type = EVENT_JOURNAL_WRITTEN, .journal.sequence = sequence};

		keep_write(l);
		step(l, &ack);
	}
	if (look && !l->hold_keeper_checks)
		keeper_checked(l, true, true);
	if (check && !l->hold_checks)
		journal_checked(l, false);
	if (seek && !l->hold_signs)
		signs_show(l, SIGNS_NONE, "");
}

/* ---- events ---- */

static inline void written(struct life *l)
{
	struct event e = {.type = EVENT_JOURNAL_WRITTEN, .journal.sequence = l->life.requested};

	keep_write(l);
	step(l, &e);
}

/* The write in flight lands, and the agent that wrote it dies before it is acknowledged. */
static inline void write_lands(struct life *l)
{
	if (l->hold_writes && l->life.requested != l->life.acknowledged)
		keep_write(l);
}

/* The next agent reads what the test has changed by hand. */
static inline void put_on_record(struct life *l)
{
	remember_write(l);
	keep_write(l);
}

static inline void write_failed(struct life *l, bool conflict)
{
	struct event e = {.type = EVENT_JOURNAL_FAILED,
			  .journal = {l->life.requested, conflict, "No space left on device"}};

	step(l, &e);
}

static inline void hello(struct life *l, const char *running)
{
	struct event e = {.type = EVENT_HELLO, .hello.running = running};

	step(l, &e);
}

/* The Flink of this launch has ended while no agent was running. */
static inline void hello_ended(struct life *l, const char *last, int wait_status)
{
	struct event e = {.type = EVENT_HELLO, .hello.last = last};

	e.hello.last_wait_status = wait_status;
	step(l, &e);
}

/* Let `ms` pass, with a tick at every deadline in that time. */
static inline void pass(struct life *l, int64_t ms)
{
	struct event e = {.type = EVENT_TICK};
	int64_t until_ms = l->now_ms + ms;

	for (int i = 0; i < 10000; i++) {
		int64_t next = lifecycle_deadline_ms(&l->life);

		CHECK(next == -1 || next > 0);
		if (next < 0 || next > until_ms)
			break;
		if (next > l->now_ms)
			l->now_ms = next;
		step(l, &e);
		if (!CHECK(lifecycle_deadline_ms(&l->life) < 0 ||
			   lifecycle_deadline_ms(&l->life) > l->now_ms)) {
			tap_note("busy loop in %s, %s", phase_name(l->life.phase), l->life.reason);
			break;
		}
	}
	l->now_ms = until_ms;
}

static inline void life_release(struct life *l)
{
	lifecycle_release(&l->life);
	buf_release(&l->written_text);
	buf_release(&l->durable_text);
}

/* No more responses: time alone never keeps the state machine busy. */
static inline void life_end(struct life *l)
{
	pass(l, 3600000);
	life_release(l);
}

/* Facts are gathered only on request: a state machine that waits for its next attempt is made to request it first. */
static inline void await_observe(struct life *l)
{
	if (!l->any_event && !l->life.observing && l->life.retry_ms > l->now_ms)
		pass(l, l->life.retry_ms - l->now_ms);
}

static inline enum cause cause_of(enum decision_kind kind)
{
	return kind == DECISION_HOLD   ? CAUSE_STORAGE_UNREADABLE
	       : kind == DECISION_PARK ? CAUSE_DO_NOT_RESTART
				       : CAUSE_NONE;
}

static inline void observed(struct life *l, enum decision_kind kind, const char *path, int64_t id,
			    const char *token)
{
	struct facts facts = {0};
	struct snapshot snapshot = {
		.path = (char *)path, .kind = SNAPSHOT_SAVEPOINT, .checkpoint_id = id};
	struct decision decision = {.kind = kind,
				    .rule = 6,
				    .cause = cause_of(kind),
				    .token = token,
				    .reason = "because"};
	struct event e = {.type = EVENT_OBSERVED, .observed = {&facts, &decision}};

	await_observe(l);
	if (path)
		facts_add(&facts, SOURCE_SAVEPOINTS, &snapshot);
	step(l, &e);
	facts_release(&facts);
}

/* The reading of storage after Flink ended with an operation in flight; path: the savepoint that the
 * operation has left, NULL = none. The next launch starts from that savepoint. */
static inline void observed_settled(struct life *l, enum decision_kind kind,
				    enum settlement settlement, const char *path)
{
	struct facts facts = {0};
	struct snapshot snapshot = {.path = (char *)path,
				    .kind = SNAPSHOT_SAVEPOINT,
				    .checkpoint_id = 50,
				    .completed_unix_ms = UNIX_START + l->now_ms,
				    .verified = true};
	struct decision decision = {.kind = kind,
				    .rule = 3,
				    .cause = cause_of(kind),
				    .settlement = settlement,
				    .settled = path ? 0 : NO_CANDIDATE,
				    .reason = "because"};
	struct event e = {.type = EVENT_OBSERVED, .observed = {&facts, &decision}};

	await_observe(l);
	if (path)
		xstrset(&facts_add(&facts, SOURCE_SAVEPOINTS, &snapshot)->detail, "a file is gone");
	step(l, &e);
	facts_release(&facts);
}

static inline void started(struct life *l)
{
	struct event e = {.type = EVENT_STARTED, .process.launch_id = job_of(l)};

	step(l, &e);
}

static inline void launch_failed(struct life *l)
{
	struct event e = {.type = EVENT_LAUNCH_FAILED,
			  .process = {.launch_id = job_of(l), .error = "no such file: java"}};

	step(l, &e);
}

static inline void launch_refused(struct life *l)
{
	struct event e = {.type = EVENT_REFUSED,
			  .refused = {.effect = EFFECT_LAUNCH,
				      .cause = CAUSE_HA_NOT_PREPARED,
				      .why = "another Flink may live",
				      .launch_id = job_of(l)}};

	step(l, &e);
}

static inline void start_refused(struct life *l)
{
	struct event e = {.type = EVENT_REFUSED,
			  .refused = {.effect = EFFECT_OBSERVE,
				      .cause = CAUSE_FLINK_STILL_RUNS,
				      .why = "a Flink still runs"}};

	step(l, &e);
}

static inline void exited(struct life *l, int wait_status)
{
	struct event e = {.type = EVENT_EXITED,
			  .process = {.launch_id = job_of(l), .meaning = "it ended"}};

	e.process.wait_status = wait_status;
	step(l, &e);
}

/* A job as REST shows it: known, with statistics, nothing restored, nothing completed. */
static inline struct view job_in(enum job_state state)
{
	return (struct view){
		.reachable = true, .job_present = true, .state = state, .statistics_known = true};
}

/* It runs, or is in another state, restored from this snapshot. */
static inline struct view job_restored(enum job_state state, int64_t id, const char *path)
{
	struct view view = job_in(state);

	view.restored = true;
	view.restored_id = id;
	view.restored_path = path;
	return view;
}

/* Flink has started or recovered it then. */
static inline struct view job_since(enum job_state state, int64_t unix_ms)
{
	struct view view = job_in(state);

	view.job_unix_ms = unix_ms;
	return view;
}

static inline void viewed(struct life *l, struct view view)
{
	struct event e = {.type = EVENT_VIEW, .view = view};

	step(l, &e);
}

/* What a poll shows that is sent after this time. */
static inline void shown_after(struct life *l, int64_t ms, struct view view)
{
	l->now_ms += ms;
	l->life.polled_ms = l->now_ms;
	viewed(l, view);
}

static inline void operation(struct life *l, enum operation_status status, const char *location,
			     const char *error)
{
	char id[JOB_ID_BYTES];
	struct event e = {.type = EVENT_OPERATION,
			  .operation = {.trigger_id = id, .status = status}};

	memcpy(id, trigger_of(l), JOB_ID_BYTES);
	e.operation.location = location;
	e.operation.error = error;
	step(l, &e);
}

static inline void inspected(struct life *l, bool readable, bool complete)
{
	struct event e = {.type = EVENT_INSPECTED,
			  .inspected = {.path = SAVEPOINT_1,
					.readable = readable,
					.complete = complete,
					.checkpoint_id = 50,
					.size_bytes = 1000,
					.file_count = 3,
					.error = complete ? NULL : "shared/1 is missing"}};

	step(l, &e);
}

static inline void control(struct life *l, unsigned fields, struct intent intent)
{
	struct event e = {.type = EVENT_CONTROL, .control = {fields, intent}};

	step(l, &e);
}

static inline void desire(struct life *l, enum desired_state state)
{
	control(l, CONTROL_STATE, (struct intent){.state = state});
}

static inline void do_not_restart(struct life *l, bool on)
{
	control(l, CONTROL_DO_NOT_RESTART, (struct intent){.do_not_restart = on});
}

static inline void ask_savepoint(struct life *l, const char *nonce)
{
	control(l, CONTROL_SAVEPOINT, (struct intent){.savepoint_nonce = (char *)nonce});
}

static inline void ask_restart(struct life *l, const char *nonce)
{
	control(l, CONTROL_RESTART, (struct intent){.restart_nonce = (char *)nonce});
}

/*
 * The last poll of the job before the container ends: it fails at once, or Flink never answers it and
 * its time runs out. A test that does not answer it by itself (hold_last_poll) runs twice, because
 * what happens afterwards must be the same.
 */
struct last_poll {
	bool is_lost; /* this time */
	bool was;     /* there was one since it was set to false */
};

static inline struct last_poll *last_poll(void)
{
	static struct last_poll last;

	return &last;
}

static inline void life_run(void (*test)(void))
{
	*last_poll() = (struct last_poll){0};
	test();
	if (!last_poll()->was)
		return;
	tap_note("once more: Flink never answers the last poll");
	last_poll()->is_lost = true;
	test();
}

/* In place of that of tap.h. */
#undef TEST
#define TEST(name)                                                                                 \
	static void name(void);                                                                    \
	static void twice_##name(void)                                                             \
	{                                                                                          \
		life_run(name);                                                                    \
	}                                                                                          \
	__attribute__((constructor)) static void tap_add_##name(void)                              \
	{                                                                                          \
		tap_add(#name, twice_##name, __LINE__);                                            \
	}                                                                                          \
	static void name(void)

#define LAST_POLL_MS       1000 /* as in lifecycle_stopping.c */
#define LAST_POLL_GRACE_MS 5000

/* `grace_left_ms` are left when the last poll of the job has failed, unless the test wants to answer
 * it. */
static inline void stopping_for(struct life *l, int64_t grace_left_ms, enum upgrade upgrade)
{
	bool late = last_poll()->is_lost && !l->hold_last_poll &&
		    grace_left_ms >= LAST_POLL_GRACE_MS && l->life.seen.reachable &&
		    l->life.seen.job_present;
	struct event e = {.type = EVENT_STOPPING,
			  .stopping = {grace_left_ms + (late ? LAST_POLL_MS : 0), upgrade}};
	char *poll;

	step(l, &e);
	if (!l->life.look_ms || l->hold_last_poll) {
		if (late && !l->life.look_ms)
			l->now_ms += LAST_POLL_MS;
		return;
	}
	last_poll()->was = true;
	if (last_poll()->is_lost)
		pass(l, LAST_POLL_MS);
	else
		viewed(l, (struct view){.reachable = false});
	l->count[EFFECT_POLL] = 0;
	/* meanwhile an operation was polled, too */
	while ((poll = strpbrk(l->order, last_poll()->is_lost ? "PQ" : "P")))
		memmove(poll, poll + 1, strlen(poll));
}

static inline void stopping(struct life *l, int64_t grace_left_ms)
{
	stopping_for(l, grace_left_ms, UPGRADE_UNKNOWN);
}

/* ---- ways to a situation ---- */

static inline void launch_empty(struct life *l)
{
	if (l->life.phase == PHASE_RESOLVING && !l->life.observing)
		hello(l, NULL);
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	started(l);
}

static inline void run_empty(struct life *l)
{
	launch_empty(l);
	viewed(l, job_in(JOB_RUNNING));
}

/* A job that runs and has completed this checkpoint. */
static inline void prove(struct life *l, int64_t id)
{
	struct view view = job_in(JOB_RUNNING);

	view.completed_id = id;
	view.completed_path = CHK(1);
	viewed(l, view);
}

static inline void run_proven(struct life *l)
{
	run_empty(l);
	prove(l, 1);
	forget(l);
}

/* The same application with a new agent: only the journal is left, as it was last written. */
static inline void restart_agent(struct life *l)
{
	struct journal journal;
	struct rng rng = l->life.rng;
	struct err err = {0};

	if (!l->durable_text.len_bytes)
		journal_init(&journal, "app");
	else if (!CHECK(!journal_decode(l->durable_text.data, l->durable_text.len_bytes, &journal,
					&err)))
		tap_note("%s", err.msg);
	lifecycle_release(&l->life);
	lifecycle_init(&l->life, &l->config, &journal, &rng);
	l->hold_writes = false;
	forget(l);
}

/* The same, in a container of this generation. */
static inline void restart_as(struct life *l, const char *generation)
{
	l->config.generation = l->config.policy.generation = generation;
	restart_agent(l);
}

#define CHECK_PHASE(l, phase_) CHECK_STR(phase_name((l)->life.phase), phase_name(phase_))
#define CHECK_NOTHING(l, type) CHECK_INT(took(l, type), ==, 0)

/* A test that has begun in this way, and in the usual one. */
#define LIFE_TEST_FROM(begin, name) TEST_WITH(name, struct life, l, begin, life_end)
#define LIFE_TEST(name)             LIFE_TEST_FROM(life_begin, name)

#endif
