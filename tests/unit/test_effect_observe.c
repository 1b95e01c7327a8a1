/*
 * The effects OBSERVE and INSPECT: what is read is decided on with the journal as it is then, and what was decided has
 * to pass its gate. What is read, the decision and the driver are played by this file.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/lifecycle/review.h"
#include "core/report/status_history.h"
#include "run/driver_internal.h"
#include "run/ha/ha_observe.h"
#include "run/observe/observe.h"
#include "run/observe/observe_job.h"
#include "run/part.h"
#include "tap.h"

#define PATH     "s3://b/ck/chk-7"
#define LIMIT_MS 20000

struct rig {
	struct driver driver; /* first: what is played gets this one */
	struct setup setup;
	/* the decisions, one after another */
	struct decision decides[3];
	int decided, checked, looked_at_job;
	atomic_int gathered;
	int64_t sequence; /* of the journal that was decided on last */
	bool has_ha;
	lane_done_fn *ha_then;
	void *ha_arg;
	/* the gate */
	int asked, asked_again;
	struct gate gate;
	char path[64];
	/* what came of it */
	int events, documents;
	struct event last;
	char why[64], inspected[64];
};

static struct rig *the_rig; /* for what is played without a driver */

/* ---- what is played ---- */

void observe_plan_init(struct observe_plan *plan, const struct observe_places *places,
		       const struct journal *journal, const char *journal_error)
{
	(void)places, (void)journal;
	CHECK(!journal_error);
	memset(plan, 0, sizeof(*plan));
}

void observe_plan_release(struct observe_plan *plan)
{
	(void)plan;
}

void observe_gather(const struct observe_plan *plan, struct facts *ret_facts)
{
	CHECK(plan->heads_later);
	the_rig->gathered++;
	memset(ret_facts, 0, sizeof(*ret_facts));
	ret_facts->candidates = xcalloc(1, sizeof(*ret_facts->candidates));
	ret_facts->candidate_count = 1;
	ret_facts->candidates[0].snapshot.path = xstrdup(PATH);
}

void observe_check(const struct observe_plan *plan, struct facts *facts, size_t index)
{
	(void)plan, (void)facts;
	CHECK_INT(index, ==, 0);
	the_rig->checked++;
}

void observe_job(const struct setup *setup, struct facts *facts)
{
	(void)setup, (void)facts;
	the_rig->looked_at_job++;
}

void observe_verify(const struct store_config *storage, struct candidate *candidate)
{
	(void)storage;
	CHECK_STR(candidate->snapshot.path, PATH);
	candidate->integrity = INTEGRITY_COMPLETE;
}

void ha_former_init(struct ha_former *former, const struct setup *setup, const char *cluster_id,
		    const struct journal *journal)
{
	(void)former, (void)setup, (void)journal;
	CHECK_STR(cluster_id, "blue-id");
}

void ha_former_observe(const struct ha_former *former, const struct setup *setup,
		       struct observe_plan *plan)
{
	(void)former, (void)setup, (void)plan;
}

void ha_former_release(struct ha_former *former)
{
	(void)former;
}

const char *driver_cluster_id(const struct driver *driver)
{
	(void)driver;
	return "blue-id";
}

bool driver_ha_observe(struct driver *driver, struct observe_plan *plan, lane_done_fn *then,
		       void *arg)
{
	struct rig *rig = (struct rig *)driver;

	(void)plan;
	rig->ha_then = then;
	rig->ha_arg = arg;
	return rig->has_ha;
}

void resolve(const struct journal *journal, struct facts *facts, const struct policy *policy,
	     struct decision *ret_decision)
{
	(void)facts, (void)policy;
	the_rig->sequence = journal->sequence;
	*ret_decision = the_rig->decides[the_rig->decided++];
}

bool decision_starts(const struct decision *decision)
{
	return decision->kind == DECISION_CONTINUE || decision->kind == DECISION_START_FROM ||
	       decision->kind == DECISION_START_EMPTY;
}

struct json *decision_document(const struct facts *facts, const struct decision *decision,
			       int64_t now_unix_ms)
{
	(void)facts, (void)decision, (void)now_unix_ms;
	the_rig->documents++;
	return json_object();
}

void inspection_says(const struct candidate *candidate, bool background, struct event *ret_event)
{
	memset(ret_event, 0, sizeof(*ret_event));
	ret_event->type = EVENT_INSPECTED;
	snprintf(the_rig->inspected, sizeof(the_rig->inspected), "%s %s%s",
		 candidate->snapshot.path,
		 candidate->integrity == INTEGRITY_COMPLETE ? "ok" : "not",
		 background ? " behind" : "");
}

void gate_ask(struct driver *driver, enum gate_type type, const struct gate *gate)
{
	struct rig *rig = (struct rig *)driver;

	CHECK_INT(type, ==, GATE_OBSERVED);
	rig->asked++;
	rig->gate = *gate;
	snprintf(rig->path, sizeof(rig->path), "%s", gate->path ? gate->path : "");
}

bool gate_ask_effect(struct driver *driver, const struct effect *effect)
{
	CHECK_INT(effect->type, ==, EFFECT_OBSERVE);
	((struct rig *)driver)->asked_again++;
	return true;
}

void driver_step(struct driver *driver, const struct event *event)
{
	struct rig *rig = (struct rig *)driver;

	rig->events++;
	rig->last = *event;
	if (event->type == EVENT_REFUSED)
		snprintf(rig->why, sizeof(rig->why), "%s", event->refused.why);
}

/* ---- the world ---- */

static void rig_begin(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	the_rig = rig;
	for (size_t i = 0; i < ARRAY_LEN(rig->decides); i++)
		rig->decides[i].kind = DECISION_START_FROM;
	rig->driver.setup = &rig->setup;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	journal_init(&rig->driver.life.journal, "orders");
	rig->driver.life.journal.sequence = 40;
	CHECK_INT(part_observe.open(&rig->driver, NULL), ==, 0);
}

static void rig_end(struct rig *rig)
{
	part_observe.close(&rig->driver);
	CHECK(!rig->driver.decision);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	journal_release(&rig->driver.life.journal);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static void run_until(struct rig *rig, const int *counter)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (!*counter && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 20, NULL);
	CHECK_INT(*counter, ==, 1);
}

static void begins(struct rig *rig)
{
	part_observe.execute(&rig->driver, &(struct effect){.type = EFFECT_OBSERVE});
}

static void observes(struct rig *rig)
{
	rig->asked = rig->decided = 0;
	begins(rig);
	run_until(rig, &rig->asked);
}

/* ---- ---- */

RIG_TEST(what_was_decided_has_to_pass_its_gate)
{
	static const struct {
		enum gate_verdict verdict;
		enum event_type event;
		int events, again, documents;
	} cases[] = {
		{GATE_PASSES, EVENT_OBSERVED, 1, 0, 1},
		{GATE_REFUSED, EVENT_REFUSED, 1, 0, 1},
		{GATE_STALE, EVENT_OBSERVED, 0, 1, 0},   /* it is read once more */
		{GATE_NOT_YET, EVENT_OBSERVED, 0, 0, 0}, /* drey ends */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->events = rig->asked_again = rig->documents = 0;
		observes(rig);
		CHECK_INT(rig->events, ==, 0);
		CHECK_STR(rig->path, PATH);
		rig->gate.cause = CAUSE_LEASE_ELSEWHERE;
		snprintf(rig->gate.why, sizeof(rig->gate.why), "west has it");
		rig->gate.then(&rig->driver, &rig->gate, cases[i].verdict);
		CHECK_INT(rig->events, ==, cases[i].events);
		CHECK_INT(rig->asked_again, ==, cases[i].again);
		CHECK_INT(rig->documents, ==, cases[i].documents);
		if (!cases[i].events)
			continue;
		CHECK_INT(rig->last.type, ==, cases[i].event);
		if (cases[i].event != EVENT_REFUSED)
			continue;
		CHECK_INT(rig->last.refused.effect, ==, EFFECT_OBSERVE);
		CHECK_INT(rig->last.refused.cause, ==, CAUSE_LEASE_ELSEWHERE);
		CHECK_STR(rig->why, "west has it");
	}
}

RIG_TEST(the_gate_is_told_the_path_of_what_would_be_started)
{
	static const struct {
		enum decision_kind kind;
		const char *path;
	} cases[] = {
		{DECISION_START_FROM, PATH}, {DECISION_CONTINUE, PATH}, {DECISION_START_EMPTY, ""},
		{DECISION_HOLD, ""},         {DECISION_PARK, ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->decides[0].kind = cases[i].kind;
		observes(rig);
		CHECK_STR(rig->path, cases[i].path);
		CHECK_INT(rig->gate.decision->kind, ==, cases[i].kind);
		rig->gate.then(&rig->driver, &rig->gate, GATE_PASSES);
	}
}

RIG_TEST(the_journal_of_the_moment_counts_and_not_that_of_the_look)
{
	begins(rig);
	rig->driver.life.journal.sequence = 41;
	run_until(rig, &rig->asked);
	CHECK_INT(rig->sequence, ==, 41);
	rig->gate.then(&rig->driver, &rig->gate, GATE_PASSES);
}

RIG_TEST(what_has_to_be_checked_is_checked_before_anything_is_asked)
{
	rig->decides[0] = (struct decision){.kind = DECISION_VERIFY};
	rig->decides[1] = (struct decision){.kind = DECISION_VERIFY, .of_job = true};
	observes(rig);
	CHECK_INT(rig->decided, ==, 3);
	CHECK_INT(rig->gathered, ==, 1);
	CHECK_INT(rig->checked, ==, 1);
	CHECK_INT(rig->looked_at_job, ==, 1);
	rig->gate.then(&rig->driver, &rig->gate, GATE_PASSES);
}

RIG_TEST(the_maps_of_flinks_high_availability_come_first)
{
	rig->has_ha = true;
	begins(rig);
	for (int i = 0; i < 5; i++)
		loop_step(rig->driver.loop, 10, NULL);
	CHECK_INT(rig->gathered, ==, 0);
	rig->ha_then(rig->ha_arg, true);
	run_until(rig, &rig->asked);
	CHECK_INT(rig->gathered, ==, 1);
	rig->gate.then(&rig->driver, &rig->gate, GATE_PASSES);
	/* and when drey ends, nothing follows */
	begins(rig);
	rig->ha_then(rig->ha_arg, false);
	CHECK_INT(rig->gathered, ==, 1);
}

RIG_TEST(nothing_is_decided_while_drey_ends)
{
	begins(rig);
	rig->driver.closing = true;
	for (int i = 0; i < 2000 && !rig->gathered; i++)
		usleep(10000);
	CHECK(lane_free(rig->driver.store_lane, 5000));
	rig->driver.store_lane = NULL;
	CHECK_INT(rig->decided + rig->asked + rig->events, ==, 0);
}

RIG_TEST(what_an_inspection_has_found_is_told)
{
	for (int background = 0; background < 2; background++) {
		rig->events = 0;
		part_observe.execute(&rig->driver, &(struct effect){.type = EFFECT_INSPECT,
								    .background = background,
								    .text = (char *)PATH});
		run_until(rig, &rig->events);
		CHECK_INT(rig->last.type, ==, EVENT_INSPECTED);
		CHECK_STR(rig->inspected, background ? PATH " ok behind" : PATH " ok");
	}
}
