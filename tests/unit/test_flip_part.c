/*
 * The keys of FLIP-504's gates: when they are written, when a launch waits for them, and what a look is told to mean.
 * The life cycle, Flink and the driver are played by this file; the ConfigMap is on an API server that is.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/handover/flip_track.h"
#include "core/lifecycle/lifecycle_gate_keys.h"
#include "flink/checkpoints.h"
#include "flink/gate_watermarks.h"
#include "gate_fake.h"
#include "kube/configmap_watch.h"
#include "kube/kube_lane.h"
#include "kube_stub.h"
#include "run/driver_internal.h"
#include "run/part.h"
#include "tap.h"

#define NAME     "orders-bluegreen"
#define JOB      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define LIMIT_MS 20000
#define KEYS(active, first, delay, stage)                                                          \
	"\"active-deployment-type\":\"" active "\",\"is-first-deployment\":\"" first               \
	"\",\"deployment-deletion-delay-ms\":\"" delay "\",\"stage\":\"" stage "\""
#define REST  KEYS("BLUE", "true", "30000", "RUNNING")
#define TAKEN KEYS("BLUE", "false", "30000", "RUNNING")
#define HOLDS(version, data)                                                                       \
	{                                                                                          \
		.body = KUBE_MAP(NAME, version, data)                                              \
	}
#define DENIED                                                                                     \
	{                                                                                          \
		.status = 403, .body = KUBE_STATUS(403, "Forbidden", "you may not", "")            \
	}

struct rig {
	struct driver driver; /* first: what is played gets this one */
	struct setup setup;
	struct kube_stub stub;
	/* the life cycle */
	enum keys_turn turn;
	struct keys_wanted wanted;
	struct handover handover;
	const char *looks_at;
	/* Flink */
	bool no_flink;
	/* what came of it */
	int agains, flips, reports;
	bool cut_seen; /* of the last report */
	struct event flip;
};

static struct rig *the_rig; /* for what is played without a driver */

/* ---- what is played ---- */

enum keys_turn lifecycle_wants_keys(const struct lifecycle *life, struct keys_wanted *ret_wanted)
{
	(void)life;
	*ret_wanted = the_rig->wanted;
	return the_rig->turn;
}

const char *lifecycle_looks_at_gates(const struct lifecycle *life)
{
	(void)life;
	return the_rig->looks_at;
}

enum flink_answer flink_rest_gate(const struct flink_rest *rest, const char *job_id,
				  const char *name, int64_t timeout_ms, struct flink_gate *ret_gate,
				  struct err *err)
{
	(void)rest, (void)timeout_ms;
	CHECK_STR(job_id, JOB);
	CHECK_STR(name, "gate");
	if (the_rig->no_flink) {
		err_set(err, ERR_RETRY, 0, "Flink does not answer");
		return FLINK_ERROR;
	}
	*ret_gate = (struct flink_gate){.subtasks = 2, .running = 2, .gauges = 2, .gauges_over = 1};
	ret_gate->watermarks = xcalloc(2, sizeof(*ret_gate->watermarks));
	ret_gate->watermarks[0] = 1700000000500;
	ret_gate->watermarks[1] = FLINK_NO_WATERMARK;
	return FLINK_OK;
}

void flink_gate_release(struct flink_gate *gate)
{
	free(gate->watermarks);
	memset(gate, 0, sizeof(*gate));
}

enum flink_answer flink_rest_checkpoints(const struct flink_rest *rest, const char *job_id,
					 int64_t timeout_ms, struct flink_checkpoints *ret,
					 bool *ret_cut, struct err *err)
{
	static struct flink_checkpoint history[] = {
		{.id = 3, .status = FLINK_CHECKPOINT_COMPLETED},
		{.id = 2, .status = FLINK_CHECKPOINT_FAILED},
		{.id = 1, .status = FLINK_CHECKPOINT_COMPLETED},
	};

	(void)rest, (void)job_id, (void)timeout_ms, (void)ret_cut, (void)err;
	memset(ret, 0, sizeof(*ret));
	ret->history = history;
	ret->history_count = ARRAY_LEN(history);
	return FLINK_OK;
}

void flink_checkpoints_release(struct flink_checkpoints *checkpoints)
{
	(void)checkpoints;
}

void flip_track_add(struct flip_track *track, const char *launch_id, const struct flip_look *look,
		    struct gate_report *ret_report)
{
	(void)track;
	CHECK_STR(launch_id, JOB);
	CHECK_INT(look->checkpoint_count, ==, 2); /* without the one that has failed */
	the_rig->cut_seen = look->cut_seen;
	ret_report->known = true;
}

int flip_behind(const int64_t *watermarks, size_t count, int64_t toggle_unix_ms)
{
	int behind = 0;

	for (size_t i = 0; i < count; i++)
		behind += watermarks[i] >= toggle_unix_ms;
	return behind;
}

void driver_step(struct driver *driver, const struct event *event)
{
	struct rig *rig = (struct rig *)driver;

	if (event->type == EVENT_GATE_KEYS) {
		rig->flips++;
		rig->flip = *event;
		return;
	}
	CHECK_INT(event->type, ==, EVENT_GATE);
	CHECK_STR(event->gate.launch_id, JOB);
	rig->reports++;
}

void driver_again(struct driver *driver)
{
	((struct rig *)driver)->agains++;
}

struct kube_lane kube_lane_open(struct workers *workers, struct kube_client *client,
				const char *name)
{
	(void)client;
	return (struct kube_lane){.lane = lane_new(workers, name), .kube = the_rig->stub.kube};
}

bool kube_lane_close(struct kube_lane *lane, int64_t wait_ms)
{
	(void)wait_ms; /* a request that is tried again uses the stub */
	return lane_free(lane->lane, LIMIT_MS);
}

struct kube_watch *configmap_watch_new(struct kube_watches *watches, const char *namespace,
				       const char *name, void (*changed)(void *ctx), void *ctx,
				       struct err *err)
{
	(void)watches, (void)namespace, (void)changed, (void)ctx;
	CHECK_STR(name, NAME);
	err_set(err, ERR_DENIED, 0, "no watch");
	return NULL;
}

void kube_watch_free(struct kube_watch *watch)
{
	CHECK(!watch);
}

/* ---- the world ---- */

static void rig_begin(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	the_rig = rig;
	kube_stub_start(&rig->stub);
	rig->setup.kube.create_maps = true;
	rig->setup.handover.gate_map = (char *)NAME;
	rig->setup.config.application = (char *)"orders";
	rig->setup.config.blue_green.gate_name = (char *)"gate";
	rig->driver.setup = &rig->setup;
	rig->driver.alive = true;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	rig->driver.flink_lane = lane_new(rig->driver.workers, "flink");
	CHECK_INT(part_gate_keys.open(&rig->driver, NULL), ==, 0);
}

static void rig_end(struct rig *rig)
{
	rig->driver.closing = true;
	part_gate_keys.close(&rig->driver);
	lane_free(rig->driver.flink_lane, 1000);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	kube_stub_stop(&rig->stub);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

/* What the journal says is REST. */
static void is_mine(struct rig *rig)
{
	rig->turn = KEYS_MINE;
	rig->wanted = (struct keys_wanted){.handover = &rig->handover, .lead_ms = 30000};
}

static void stepped(struct rig *rig)
{
	part_gate_keys.stepped(&rig->driver);
}

static enum gate_verdict may_with(struct rig *rig, int64_t number, struct gate *gate)
{
	*gate = (struct gate){.number = number};
	rig->driver.gates[GATE_LAUNCH].number = number;
	return part_gate_keys.may(&rig->driver, GATE_LAUNCH, gate);
}

static enum gate_verdict may(struct rig *rig, int64_t number)
{
	struct gate gate;

	return may_with(rig, number, &gate);
}

/* Until one more look is over. */
static void run_look(struct rig *rig)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;
	int agains = rig->agains;

	while (rig->agains == agains && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 20, NULL);
	CHECK_INT(rig->agains, >, agains);
}

/* ---- the owner ---- */

RIG_TEST(a_launch_waits_until_the_keys_are_in_the_map)
{
	is_mine(rig);
	KUBE_SAY(&rig->stub, {.status = 404, .body = KUBE_NOT_FOUND("configmaps", NAME)},
		 HOLDS("8", REST), HOLDS("8", REST));
	stepped(rig);
	CHECK_INT(may(rig, 5), ==, GATE_NOT_YET);
	run_look(rig); /* that was asked for before */
	CHECK_HAS(rig->stub.bodies[1], REST);
	CHECK_INT(may(rig, 5), ==, GATE_NOT_YET);
	run_look(rig);
	CHECK_INT(may(rig, 5), ==, GATE_PASSES);
	/* the next launch asks again */
	CHECK_INT(may(rig, 6), ==, GATE_NOT_YET);
	run_look(rig);
	CHECK_INT(may(rig, 6), ==, GATE_PASSES);
}

RIG_TEST(keys_that_were_only_read_are_not_written)
{
	rig->turn = KEYS_OTHERS;
	/* by chance they are what an agent without any would write */
	KUBE_SAY(&rig->stub, HOLDS("8", KEYS("BLUE", "false", "0", "INITIALIZING")));
	stepped(rig);
	CHECK_INT(may(rig, 5), ==, GATE_NOT_YET);
	run_look(rig);
	CHECK_INT(may(rig, 5), ==, GATE_NOT_YET);
	CHECK_INT(rig->flips, ==, 0);
	CHECK_INT(rig->stub.asked_count, ==, 1);
	CHECK_HAS(rig->stub.asked[0], "GET ");
}

RIG_TEST(what_is_wanted_since_a_look_began_is_not_confirmed_by_it)
{
	is_mine(rig);
	KUBE_SAY(&rig->stub, HOLDS("8", REST), HOLDS("8", REST),
		 HOLDS("9", KEYS("GREEN", "true", "30000", "RUNNING")));
	CHECK_INT(may(rig, 5), ==, GATE_NOT_YET);
	stepped(rig);
	rig->wanted.owner_side = SIDE_GREEN;
	stepped(rig); /* while the look is under way */
	run_look(rig);
	CHECK_INT(may(rig, 5), ==, GATE_NOT_YET);
	run_look(rig);
	CHECK_INT(may(rig, 5), ==, GATE_PASSES);
	CHECK_HAS(rig->stub.bodies[2], "\"active-deployment-type\":\"GREEN\"");
}

RIG_TEST(while_the_journal_is_being_written_the_last_keys_count)
{
	is_mine(rig);
	KUBE_SAY(&rig->stub, HOLDS("8", REST));
	stepped(rig);
	run_look(rig);
	rig->turn = KEYS_LATER;
	rig->wanted.owner_side = SIDE_GREEN;
	CHECK_INT(may(rig, 5), ==, GATE_NOT_YET);
	stepped(rig);
	run_look(rig);
	CHECK_INT(may(rig, 5), ==, GATE_PASSES);
	for (int i = 0; i < rig->stub.asked_count; i++)
		CHECK_HAS(rig->stub.asked[i], "GET ");
}

RIG_TEST(a_map_that_cannot_be_written_holds_the_launch_and_says_why)
{
	struct gate gate;

	is_mine(rig);
	KUBE_SAY(&rig->stub, DENIED);
	CHECK_INT(may(rig, 5), ==, GATE_NOT_YET);
	stepped(rig);
	run_look(rig);
	CHECK_INT(may_with(rig, 5, &gate), ==, GATE_REFUSED);
	CHECK_INT(gate.cause, ==, CAUSE_GATE_KEYS_UNWRITTEN);
	CHECK_HAS(gate.why, NAME);
	CHECK_HAS(gate.why, "you may not");
	CHECK_INT(rig->flips, ==, 0);
	KUBE_SAY(&rig->stub, HOLDS("8", REST));
	run_look(rig); /* it is tried again automatically */
	CHECK_INT(may(rig, 5), ==, GATE_PASSES);
}

RIG_TEST(other_gates_and_an_application_without_such_gates_do_not_wait)
{
	struct gate gate = {.number = 5};

	is_mine(rig);
	CHECK_INT(part_gate_keys.may(&rig->driver, GATE_OBSERVE, &gate), ==, GATE_PASSES);
	CHECK_INT(part_gate_keys.may(&rig->driver, GATE_EXIT, &gate), ==, GATE_PASSES);
	part_gate_keys.close(&rig->driver);
	rig->setup.handover.gate_map = NULL;
	CHECK_INT(part_gate_keys.open(&rig->driver, NULL), ==, 0);
	CHECK_INT(part_gate_keys.may(&rig->driver, GATE_LAUNCH, &gate), ==, GATE_PASSES);
	stepped(rig);
	CHECK_INT(rig->stub.asked_count, ==, 0);
}

/* ---- what a look means ---- */

static void in_transition(struct rig *rig)
{
	is_mine(rig);
	rig->wanted.transition = "h1-00000001";
	rig->wanted.state = TRANSITION_CROSSING;
	rig->handover = (struct handover){
		.id = (char *)"h1-00000001",
		.state = HANDOVER_TAKEN,
		.transition = {.id = (char *)"h1-00000001", .state = TRANSITION_TAKEN}};
	rig->looks_at = JOB;
}

#define CUT ",\"watermark-toggle-value\":\"1700000000000\""

RIG_TEST(the_cut_and_the_subtasks_behind_it_are_told)
{
	in_transition(rig);
	KUBE_SAY(&rig->stub, HOLDS("8", TAKEN CUT));
	stepped(rig);
	run_look(rig);
	CHECK_INT(rig->flips, ==, 1);
	CHECK_INT(rig->flip.gate_keys.state, ==, TRANSITION_CROSSING);
	CHECK_INT(rig->flip.gate_keys.toggle_unix_ms, ==, 1700000000000);
	CHECK_INT(rig->flip.gate_keys.shown.subtasks, ==, 2);
	CHECK_INT(rig->flip.gate_keys.shown.behind, ==, 1);
	CHECK_INT(rig->flip.gate_keys.shown.gauges, ==, 2);
	CHECK_INT(rig->flip.gate_keys.shown.gauges_over, ==, 1);
	CHECK_INT(rig->reports, ==, 1);
	CHECK(rig->cut_seen);
}

RIG_TEST(without_a_word_of_flink_no_subtask_is_behind_the_cut)
{
	in_transition(rig);
	rig->no_flink = true;
	KUBE_SAY(&rig->stub, HOLDS("8", TAKEN CUT));
	stepped(rig);
	run_look(rig);
	CHECK_INT(rig->flips, ==, 1);
	CHECK_INT(rig->flip.gate_keys.shown.subtasks, ==, 0);
	CHECK_INT(rig->flip.gate_keys.shown.behind, ==, 0);
	CHECK_INT(rig->reports, ==, 0);
}

/* A snapshot is clean only if no gate could know a cut: in every doubt one could. */
RIG_TEST(whether_a_gate_may_have_known_a_cut)
{
	static const struct {
		struct kube_stub_says says;
		bool recorded, seen;
	} cases[] = {
		{HOLDS("8", TAKEN), false, false},
		{HOLDS("8", TAKEN), true, true},
		{HOLDS("8", TAKEN CUT), false, true},
		{DENIED, false, true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig one;

		rig_begin(&one);
		in_transition(&one);
		one.wanted.cut_recorded = cases[i].recorded;
		kube_stub_say(&one.stub, &cases[i].says, 1);
		stepped(&one);
		run_look(&one);
		CHECK_INT(one.reports, ==, 1);
		CHECK_INT(one.cut_seen, ==, cases[i].seen);
		rig_end(&one);
	}
	the_rig = rig;
	CHECK_INT(rig->reports, ==, 0);
}

RIG_TEST(keys_that_do_not_come_about_are_not_told_as_written)
{
	in_transition(rig);
	/* the cut is removed when it is on record */
	rig->handover.state = HANDOVER_OFFERED;
	rig->handover.transition.state = TRANSITION_ABORTING;
	KUBE_SAY(&rig->stub, HOLDS("8", KEYS("BLUE", "false", "30000", "FAILING") CUT));
	stepped(rig);
	run_look(rig);
	CHECK_INT(rig->flips, ==, 1);
	CHECK_INT(rig->flip.gate_keys.state, ==, TRANSITION_NONE);
	CHECK_INT(rig->flip.gate_keys.toggle_unix_ms, ==, 1700000000000);
	CHECK_INT(rig->stub.asked_count, ==, 1);
}

/* ---- the candidate ---- */

RIG_TEST(a_candidate_starts_when_the_map_shuts_its_side_and_writes_nothing)
{
	static const struct {
		struct kube_stub_says says;
		enum gate_verdict verdict;
	} cases[] = {
		{HOLDS("8", KEYS("GREEN", "false", "30000", "TRANSITIONING")), GATE_PASSES},
		{HOLDS("8", KEYS("BLUE", "false", "30000", "TRANSITIONING")), GATE_NOT_YET},
		{HOLDS("8", REST), GATE_NOT_YET}, /* of a first one, which opens everything */
		{HOLDS("8", ""), GATE_NOT_YET},
		{DENIED, GATE_NOT_YET},
		{{.status = 404, .body = KUBE_NOT_FOUND("configmaps", NAME)}, GATE_NOT_YET},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig one;
		bool shuts;

		rig_begin(&one);
		one.driver.life_config.handover.shadow = true;
		one.driver.life.journal.handover.transition.output_side = SIDE_BLUE;
		one.turn = KEYS_OTHERS;
		kube_stub_say(&one.stub, &cases[i].says, 1);
		CHECK_INT(may(&one, 5), ==, GATE_NOT_YET);
		run_look(&one);
		shuts = may(&one, 5) == GATE_PASSES;
		one.driver.life.journal.handover.transition.output_side = SIDE_GREEN;
		if (!CHECK_INT(may(&one, 5), ==, cases[i].verdict))
			tap_note("case %zu", i);
		/* never both sides */
		CHECK(!shuts || cases[i].verdict != GATE_PASSES);
		CHECK_INT(one.flips, ==, 0);
		for (int j = 0; j < one.stub.asked_count; j++)
			CHECK_HAS(one.stub.asked[j], "GET ");
		rig_end(&one);
	}
	the_rig = rig;
}
