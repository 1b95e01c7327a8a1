/*
 * The agent: does what agent/run/driver does, with the models. A crash discards the life cycle at any
 * moment; the next one is built from the journal store and drey-init's report.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/sim/sim.h"

#define MAX_TICKS_AT_ONCE 200
#define CHECK_TAKES_MS    20

static void plan_tick(struct world *w)
{
	struct agent *agent = w->agent;
	int64_t at_ms = lifecycle_deadline_ms(&agent->life);

	if (at_ms == agent->tick_at_ms)
		return;
	agent->tick_at_ms = at_ms;
	agent->tick_token++;
	if (at_ms >= 0)
		plan(w, at_ms - MONOTONIC_BASE_MS - w->now_ms, ITEM_TICK, SCOPE_AGENT)->a =
			(int64_t)agent->tick_token;
}

/* ---- effects ---- */

static int64_t store_delay(struct world *w)
{
	return chance(w, w->chaos.list_fails) ? between(w, 1, 30) * SECOND_MS : between(w, 2, 200);
}

static int64_t rest_delay(struct world *w)
{
	return chance(w, w->chaos.poll_lost) ? between(w, 100, 8000) : between(w, 2, 50);
}

void agent_gather(struct world *w)
{
	struct agent *agent = w->agent;
	const struct journal *journal = &agent->life.journal;
	const struct restore_request *request = &journal->intent.restore;
	bool open = request->kind == RESTORE_PATH &&
		    !(request->token && journal_is_consumed(journal, request->token));

	snprintf(agent->request, sizeof(agent->request), "%s", open ? request->path : "");
	plan(w, store_delay(w), ITEM_GATHER, SCOPE_AGENT);
}

static void observe(struct world *w)
{
	struct agent *agent = w->agent;

	if (agent->observing)
		fail(w, "a second observation while one is under way");
	agent->observing = true;
	if (desired_inputs_may_decide(&agent->inputs))
		agent_gather(w);
	else
		agent->observe_waits = true;
}

static void launch(struct world *w)
{
	const struct launch *launch = journal_launch(&w->agent->life.journal);
	struct item *item;

	if (launch->held) {
		handover_goes(w);
		return;
	}
	oracle_launch(w);
	if (has(w, FEATURE_LIES))
		lie_judged(w);
	w->figures->launches++;
	item = plan(w, between(w, 0, 20), ITEM_LAUNCH, SCOPE_CONTAINER);
	item->a = launch->number;
	memcpy(item->id, launch->job_id, JOB_ID_BYTES);
	if (has(w, FEATURE_SPARE))
		spare_offer(w, item);
}

static void trigger(struct world *w, const struct effect *effect)
{
	struct item *item;
	bool lost = chance(w, w->chaos.post_lost);

	oracle_trigger(w, effect);
	if (!lost) {
		item = plan(w, rest_delay(w), ITEM_POST, SCOPE_CONTAINER);
		item->a = w->agent->life.journal.operation.kind;
		item->b = (int64_t)w->epochs[SCOPE_AGENT];
		item->launch = truth_find(w, w->agent->life.journal.operation.job_id);
		memcpy(item->id, effect->id, JOB_ID_BYTES);
		return;
	}
	item = plan(w, between(w, 1, 5) * SECOND_MS, ITEM_OPERATION_ANSWER, SCOPE_AGENT);
	item->a = STATUS_UNREACHABLE;
	item->b = -1;
	memcpy(item->id, effect->id, JOB_ID_BYTES);
}

static void execute(struct world *w, const struct effect *effect)
{
	struct item *item;

	say(w, "effect %s%s%s%s%s", effect_type_name(effect->type), *effect->id ? " " : "",
	    effect->id, effect->text ? ": " : "", effect->text ? effect->text : "");
	if (has(w, FEATURE_LEASE) && !lease_lets(w, effect))
		return;
	switch (effect->type) {
	case EFFECT_LEASE:
		w->init->lease_end_ms = effect->until_ms - MONOTONIC_BASE_MS;
		plan(w, w->init->lease_end_ms - w->now_ms, ITEM_LEASE_OVER, SCOPE_CONTAINER);
		return;
	case EFFECT_OBSERVE:
		observe(w);
		break;
	case EFFECT_WRITE_JOURNAL:
		store_begin_write(w, effect->sequence);
		break;
	case EFFECT_LAUNCH:
		if (w->config->lease_ms || w->config->object_lease_ms)
			lease_no_vain_launch(w);
		launch(w);
		break;
	case EFFECT_POLL:
		item = plan(w, rest_delay(w), ITEM_POLL_LOOK, SCOPE_AGENT);
		item->a = effect->depth;
		item->b = journal_launch(&w->agent->life.journal)->number;
		memcpy(item->id, effect->id, JOB_ID_BYTES);
		break;
	case EFFECT_TRIGGER:
		trigger(w, effect);
		break;
	case EFFECT_POLL_OPERATION:
		memcpy(plan(w, rest_delay(w), ITEM_OPERATION_LOOK, SCOPE_AGENT)->id, effect->id,
		       JOB_ID_BYTES);
		break;
	case EFFECT_TRIGGER_CHECKPOINT:
		checkpoint_trigger(w, effect);
		break;
	case EFFECT_POLL_CHECKPOINT:
		checkpoint_poll(w, effect);
		return;
	case EFFECT_INSPECT:
		plan(w, store_delay(w), ITEM_INSPECT, SCOPE_AGENT)->a =
			storage_find(w, effect->text);
		break;
	case EFFECT_DISPOSE:
		item = plan(w, rest_delay(w), ITEM_DISPOSE, SCOPE_WORLD);
		item->a = storage_find(w, effect->text);
		memcpy(item->id, effect->id, JOB_ID_BYTES);
		w->storage.disposals++;
		break;
	case EFFECT_SIGNAL:
		oracle_signal(w, effect);
		silent_judge_signal(w, effect);
		if (has(w, FEATURE_LIES))
			lie_judge_signal(w, effect);
		item = plan(w, between(w, 0, 5), ITEM_SIGNAL, SCOPE_CONTAINER);
		item->a = effect->signo;
		break;
	case EFFECT_STOP_ACK:
		w->init->acknowledged = true;
		break;
	case EFFECT_EXIT:
		if (has(w, FEATURE_LEASE))
			lease_agent_exits(w);
		init_exit(w, effect->status);
		break;
	case EFFECT_CHECK_JOURNAL: /* draws no number: if it finds nothing, the history stays the same */
		plan(w, CHECK_TAKES_MS, ITEM_JOURNAL_CHECK, SCOPE_AGENT);
		return;
	case EFFECT_STAND_DOWN:
		plan(w, 0, ITEM_STAND_DOWN, SCOPE_AGENT);
		return;
	case EFFECT_RESCALE:
		rescale_ask(w, effect);
		return;
	case EFFECT_SIGNS:
		silent_seek(w);
		return;
	case EFFECT_NOTE:
	case EFFECT_COUNT:
	case EFFECT_GATE: /* no world has gates: tests/sim/bluegreen.c plays them without a life cycle */
	case EFFECT_TELL:
		return;
	}
	/* the worst moment is right after an action was started */
	if (w->chaos.agent_crash_ms && chance(w, 8))
		plan(w, between(w, 0, 40), ITEM_AGENT_CRASH, SCOPE_AGENT);
}

static void machine_check(struct world *w)
{
	const char *contradiction = w->agent->life.contradiction;

	if (contradiction)
		fail(w, "the machine contradicts itself: %s", contradiction);
}

void agent_step(struct world *w, const struct event *event)
{
	struct agent *agent = w->agent;
	struct effects effects; /* large: clear only its count */
	uint64_t epoch = w->epochs[SCOPE_AGENT];
	enum phase before = agent->life.phase;
	struct json *seen;

	if (!agent->alive || agent->stands || w->done)
		return;
	if (event->type != EVENT_TICK)
		say(w, "event %s", event_type_name(event->type));
	if (event->type == EVENT_CONTROL &&
	    (event->control.fields & (CONTROL_NEW_START | CONTROL_RESTORE))) {
		w->truth.finished = false; /* a person requests a start */
		if (w->flink->uncleaned)   /* of a job that has finished, and cannot clean up yet */
			w->flink->by_itself = false;
	}
	w->figures->steps++;
	effects.count = 0;
	seen = trace_event(w, event);
	lifecycle_step(&agent->life, event, w->now_ms + MONOTONIC_BASE_MS, pod_unix_now(w),
		       &effects);
	if (agent->life.phase != before)
		say(w, "phase %s: %s", phase_name(agent->life.phase), agent->life.reason);
	oracle_step(w);
	checkpoint_judge(w);
	trace_step(w, seen, before, &effects);
	notice_check(w, &effects);
	if (agent->life.postponed.count)
		fail(w, "%s repeats without a pause",
		     effect_type_name(agent->life.postponed.list[0].type));
	machine_check(w);
	/* an effect may end the container, and the agent with it */
	for (size_t i = 0; i < effects.count; i++)
		if (agent->alive && epoch == w->epochs[SCOPE_AGENT])
			execute(w, &effects.list[i]);
	effects_clear(&effects);
	if (agent->alive && epoch == w->epochs[SCOPE_AGENT])
		plan_tick(w);
	if (has(w, FEATURE_SPARE) && agent->alive && epoch == w->epochs[SCOPE_AGENT])
		spare_look(w);
	if (has(w, FEATURE_LEASE) && agent->alive && epoch == w->epochs[SCOPE_AGENT])
		lease_agent_stepped(w);
}

/* ---- life and death of the process ---- */

void agent_start(struct world *w)
{
	struct agent *agent = w->agent;
	struct init *init = w->init;
	struct journal journal;

	if (!init->alive || init->leaving || agent->alive)
		return;
	if (has(w, FEATURE_HANDOVER)) {
		w->epochs[SCOPE_AGENT]++;
		stand_begin(w);
		return;
	}
	/* the lock in the state directory: one agent at a time */
	if ((world_other(w)->agent.alive && !w->apart) || !store_read(w, &journal)) {
		plan(w, between(w, 1, 10) * SECOND_MS, ITEM_AGENT_START, SCOPE_CONTAINER);
		return;
	}
	w->epochs[SCOPE_AGENT]++;
	agent_own(w, &journal, CLAIM_NONE, SIDE_BLUE, WANTED_UNKNOWN);
}

/* What drey-init reports: the launch id, also of one that is held. */
static const char *running_id(const struct world *w)
{
	const struct flink *flink = w->flink;

	if (!flink->alive)
		return NULL;
	return flink_is_held(flink) ? flink->held_id : w->truth.launches[flink->launch].job_id;
}

void agent_own(struct world *w, struct journal *journal, enum claim claim, enum side side,
	       enum wanted wanted)
{
	struct agent *agent = w->agent;
	struct init *init = w->init;
	struct rng rng;
	struct event event = {.type = EVENT_HELLO};
	const char *running = running_id(w);
	bool held = handover_waits_in_main(journal, claim, running);

	facts_release(&agent->facts);
	*agent = (struct agent){.alive = true, .tick_at_ms = -1, .fenced_ms = -1};
	directory_begin(w);
	agent->file_sequence = journal->sequence;
	if (claim)
		snprintf(agent->writer, sizeof(agent->writer), "%s/a%" PRIu64, w->config->place,
			 w->epochs[SCOPE_AGENT]);
	else
		snprintf(agent->writer, sizeof(agent->writer), "pod-%d/agent-%" PRIu64, w->pod,
			 w->epochs[SCOPE_AGENT]);
	w->config->handover.me.side = side;
	if (claim)
		w->config->ha_cluster_id = side == SIDE_GREEN ? "sim-green" : "sim";
	journal_take_over(journal, agent->writer);
	rng_seed(&rng, rng_next(&w->rng));
	lifecycle_init(&agent->life, w->config, journal, &rng);
	notice_begin(agent);
	trace_start(w);
	event.hello.claim = claim;
	event.hello.wanted = wanted;
	event.hello.held = held ? running : NULL;
	running = held ? NULL : running;
	event.hello.running = running;
	event.hello.last = *init->last ? init->last : NULL;
	event.hello.last_wait_status = init->last_wait_status;
	if (w->config->place) {
		event.hello.running_number = running ? init->running_number : 0;
		event.hello.last_number = init->last_number;
		event.hello.fenced = init->fenced;
	}
	event.hello.stopping = init->stopping;
	event.hello.grace_left_ms = init->grace_end_ms - w->now_ms;
	if (claim && init->stopping)
		event.hello.upgrade = strcmp(pod_wanted_generation(w), w->config->generation)
					      ? UPGRADE_YES
					      : UPGRADE_NO;
	say(w, "agent %" PRIu64 " starts, journal %" PRId64 ", running %s", w->epochs[SCOPE_AGENT],
	    agent->file_sequence, running ? running : "nothing");
	agent_step(w, &event);
	if (has(w, FEATURE_LEASE) && agent->alive)
		lease_agent_begins(w);
	if (w->directory.used)
		plan(w, below(w, 50), ITEM_DIRECTORY, SCOPE_AGENT);
	if (w->chaos.agent_crash_ms && agent->alive)
		plan(w, 1 + below(w, 2 * w->chaos.agent_crash_ms), ITEM_AGENT_CRASH, SCOPE_AGENT);
}

void agent_crash(struct world *w, const char *why)
{
	struct agent *agent = w->agent;

	if (!agent->alive)
		return;
	say(w, "agent dies: %s", why);
	w->figures->agent_crashes++;
	if (agent->stands) {
		stand_end(w);
	} else {
		w->init->fenced |= agent->life.fenced;
		store_land(w);
		trace_end(w);
		lifecycle_release(&agent->life);
		desired_inputs_release(&agent->inputs);
	}
	agent->alive = false;
	flink_forgotten(w);
	spare_over(w, "its agent is dead");
	w->epochs[SCOPE_AGENT]++;
	/* drey-init waits at most 30 s, and a successor 35 s: so the agent is back in time to notice the takeover */
	if (w->init->alive)
		plan(w, odds(w, 800) ? between(w, 50, 2000) : between(w, 1, 30) * SECOND_MS,
		     ITEM_AGENT_START, SCOPE_CONTAINER);
}

/* ---- events ---- */

static void decide(struct world *w)
{
	struct agent *agent = w->agent;
	struct event event = {.type = EVENT_OBSERVED,
			      .observed = {.facts = &agent->facts, .decision = &agent->decision}};
	char reserved[JOB_ID_BYTES];
	bool adopts;

	resolve(&agent->life.journal, &agent->facts, &w->config->policy, &agent->decision);
	say(w, "resolve: %s, rule %d: %s", decision_kind_name(agent->decision.kind),
	    agent->decision.rule, agent->decision.reason);
	if (agent->decision.kind == DECISION_VERIFY) {
		plan(w, store_delay(w), ITEM_VERIFY, SCOPE_AGENT);
		return;
	}
	adopts = agent->decision.kind == DECISION_ADOPT;
	if (adopts) {
		notice_adopt(agent, &agent->facts.copy->journal);
		w->figures->adopted++;
	}
	agent->observing = false;
	memcpy(reserved, agent->life.journal.handover.job_id, sizeof(reserved));
	agent_step(w, &event);
	/* what is desired has changed meanwhile: another decision is made, and the copy was not taken */
	if (adopts && w->agent->alive && !w->agent->life.journal.launch_count)
		notice_begin(w->agent);
	ids_judge_used_up(w, reserved);
}

/* drey takes it before it reads any source: otherwise another Flink could make newer state in the meantime. */
static void flink_lock_is_held(struct world *w)
{
	struct agent *agent = w->agent;
	struct event event = {.type = EVENT_REFUSED,
			      .refused = {.effect = EFFECT_OBSERVE,
					  .cause = CAUSE_FLINK_STILL_RUNS,
					  .why = "a Flink still runs"}};

	agent->observing = false;
	agent_step(w, &event);
}

static void tick(struct world *w, const struct item *item)
{
	struct agent *agent = w->agent;
	struct event event = {.type = EVENT_TICK};

	if ((uint64_t)item->a != agent->tick_token)
		return;
	agent->ticks_now = agent->last_tick_ms == w->now_ms ? agent->ticks_now + 1 : 0;
	agent->last_tick_ms = w->now_ms;
	if (agent->ticks_now > MAX_TICKS_AT_ONCE)
		fail(w, "the life cycle wakes up again and again without time going on");
	agent->tick_at_ms = -1;
	agent_step(w, &event);
}

static void inspected(struct world *w, const struct item *item)
{
	struct snap *snap = &w->storage.snaps[item->a];
	char path[PATH_BYTES + 16];
	struct candidate c = {
		.snapshot = {.path = path, .kind = snap->kind, .size_bytes = -1, .file_count = -1}};
	struct event event = {.type = EVENT_INSPECTED};

	rest_path(w, (int)item->a, path, sizeof(path));
	storage_inspect(w, &c);
	inspection_says(&c, false, &event);
	if (event.inspected.complete) {
		oracle_tell_number(w, (int)item->a);
	} else if (event.inspected.readable) { /* drey reports the loss */
		snap->numbered = snap->named = (struct knowledge){0};
	}
	agent_step(w, &event);
	free(c.operators);
	free(c.detail);
}

static void disposed(struct world *w, const struct item *item)
{
	char path[PATH_BYTES + 16];
	struct event event = {.type = EVENT_DISPOSED};

	event.disposed.path = rest_path(w, (int)item->a, path, sizeof(path));
	event.disposed.error = item->b ? "it is not to be deleted" : NULL;
	agent_step(w, &event);
}

static void poll_look(struct world *w, const struct item *item)
{
	int index = w->agent->view_next++ % VIEW_SLOTS;
	struct item *answer;

	if (item->a == POLL_CLEANUP)
		flink_view_cleanup(w, &w->agent->views[index]);
	else
		flink_view(w, item->id, &w->agent->views[index]);
	answer = plan(w, rest_delay(w), ITEM_POLL_ANSWER, SCOPE_AGENT);
	answer->a = index;
	answer->b = item->b;
	memcpy(answer->id, item->id, JOB_ID_BYTES);
}

static void poll_answer(struct world *w, const struct item *item)
{
	const struct launch *launch = journal_launch(&w->agent->life.journal);
	const struct view_slot *slot = &w->agent->views[item->a];
	struct event event = {.type = EVENT_VIEW, .view = slot->view};

	if (!launch || launch->number != item->b)
		return;
	if (slot->view.job_present && job_state_is_final(slot->view.state))
		flink_end_is_shown(w, -1);
	for (int i = 0; i < slot->told_count; i++) {
		const struct snap *snap = &w->storage.snaps[slot->told[i]];

		/* drey learns the id of a savepoint only by reading it */
		if (snap->kind == SNAPSHOT_CHECKPOINT)
			oracle_tell_number(w, slot->told[i]);
		else
			oracle_tell(w, slot->told[i]);
	}
	agent_step(w, &event);
}

static void operation_look(struct world *w, const struct item *item)
{
	const struct op *op = operation_find(w, item->id);
	enum operation_status status;
	struct item *answer;

	status = !flink_answers(w) || chance(w, w->chaos.poll_lost) ? STATUS_UNREACHABLE
								    : operation_shown(op);
	answer = plan(w, rest_delay(w), ITEM_OPERATION_ANSWER, SCOPE_AGENT);
	answer->a = status;
	answer->b = op && op->state != OP_RUNNING ? op->snap : -1;
	memcpy(answer->id, item->id, JOB_ID_BYTES);
}

static void operation_answer(struct world *w, const struct item *item)
{
	const struct op *op = operation_find(w, item->id);
	char path[PATH_BYTES + 16];
	struct event event = {.type = EVENT_OPERATION};

	if (op && op->kind == OPERATION_STOP && item->a == STATUS_COMPLETED)
		flink_end_is_shown(w, op->snap);
	event.operation.trigger_id = item->id;
	event.operation.status = (enum operation_status)item->a;
	if (item->b >= 0)
		oracle_tell_name(w, (int)item->b);
	event.operation.location =
		item->b >= 0 ? rest_path(w, (int)item->b, path, sizeof(path)) : NULL;
	event.operation.error =
		event.operation.status == STATUS_FAILED ? "Flink has declined" : NULL;
	say(w, "operation %.6s: status %d%s%s", item->id, (int)item->a,
	    event.operation.location ? ", " : "",
	    event.operation.location ? event.operation.location : "");
	agent_step(w, &event);
}

static void process_event(struct world *w, const struct item *item, enum event_type type)
{
	struct event event = {.type = type};
	struct event refused = {.type = EVENT_REFUSED,
				.refused = {.effect = EFFECT_LAUNCH,
					    .cause = CAUSE_HA_NOT_PREPARED,
					    .why = "it could not be prepared",
					    .launch_id = item->id}};

	event.process.launch_id = item->id;
	event.process.wait_status = (int)item->a;
	event.process.error = "it could not be executed";
	event.process.meaning = "the process has ended";
	if (has(w, FEATURE_SPARE) && type != EVENT_EXITED)
		spare_answered(w, type == EVENT_STARTED && item->launch);
	agent_step(w, type == EVENT_LAUNCH_FAILED && item->b ? &refused : &event);
}

void agent_item(struct world *w, const struct item *item)
{
	switch (item->kind) {
	case ITEM_AGENT_START:
		agent_start(w);
		break;
	case ITEM_AGENT_CRASH:
		if (!w->calm)
			agent_crash(w, "it crashed");
		break;
	case ITEM_TICK:
		tick(w, item);
		break;
	case ITEM_GATHER:
		facts_release(&w->agent->facts);
		if (world_other(w)->flink.alive && !w->apart) {
			flink_lock_is_held(w);
			break;
		}
		storage_gather(w, &w->agent->facts);
		decide(w);
		break;
	case ITEM_VERIFY:
		if (w->agent->decision.of_job) {
			facts_set_job(&w->agent->facts, SOURCE_PRESENT, "its main() was run");
			facts_add_operator(&w->agent->facts, "own");
		} else {
			storage_check(w, &w->agent->facts, w->agent->decision.candidate);
		}
		decide(w);
		break;
	case ITEM_INSPECT:
		inspected(w, item);
		break;
	case ITEM_DISPOSED:
		disposed(w, item);
		break;
	case ITEM_JOURNAL:
		store_finish(w);
		break;
	case ITEM_JOURNAL_CHECK:
		store_check(w);
		break;
	case ITEM_POLL_LOOK:
		poll_look(w, item);
		break;
	case ITEM_POLL_ANSWER:
		poll_answer(w, item);
		break;
	case ITEM_OPERATION_LOOK:
		operation_look(w, item);
		break;
	case ITEM_OPERATION_ANSWER:
		operation_answer(w, item);
		break;
	case ITEM_STARTED:
		if (w->agent->stands)
			stand_item(w, item);
		else
			process_event(w, item, EVENT_STARTED);
		break;
	case ITEM_LAUNCH_FAILED:
		if (w->agent->stands)
			stand_item(w, item);
		else
			process_event(w, item, EVENT_LAUNCH_FAILED);
		break;
	case ITEM_EXITED:
		if (w->agent->stands)
			stand_item(w, item);
		else
			process_event(w, item, EVENT_EXITED);
		break;
	default:
		break;
	}
}
