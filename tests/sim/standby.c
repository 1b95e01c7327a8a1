/*
 * An agent that is not the owner: executes the effects of its machine (core/handover/standby.h) with
 * the models, as agent/run/handover does.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tests/sim/sim.h"

static int64_t api_delay(struct world *w)
{
	return chance(w, w->chaos.journal_slow) ? between(w, 50, 8000) : between(w, 2, 100);
}

static void plan_tick(struct world *w)
{
	struct agent *agent = w->agent;
	int64_t at_ms = standby_deadline_ms(&agent->standby);

	if (at_ms == agent->stand_tick_ms)
		return;
	agent->stand_tick_ms = at_ms;
	agent->stand_token++;
	if (at_ms >= 0)
		plan(w, at_ms - MONOTONIC_BASE_MS - w->now_ms, ITEM_STAND_TICK, SCOPE_AGENT)->a =
			(int64_t)agent->stand_token;
}

/* ---- effects ---- */

static void launch(struct world *w)
{
	const struct standby *standby = &w->agent->standby;
	struct item *answer;
	bool fails = chance(w, w->chaos.launch_fails);

	if (w->flink->alive) {
		fail(w, "a held launch while a Flink lives");
		return;
	}
	if (!fails) {
		w->init->running_number = 0; /* of the launch to come; nobody knows it yet */
		w->init->lease_end_ms = 0;   /* that of a job before is forgotten */
		flink_start_held(w, standby->job_id, standby->verdict.side);
	}
	answer = plan(w, between(w, 0, 20), fails ? ITEM_LAUNCH_FAILED : ITEM_STARTED, SCOPE_AGENT);
	memcpy(answer->id, standby->job_id, JOB_ID_BYTES);
}

static void own(struct world *w)
{
	struct agent *agent = w->agent;
	struct journal journal;
	enum claim claim = agent->standby.verdict.claim;
	enum side side = agent->standby.verdict.side;
	enum wanted wanted = agent->standby.wanted;

	journal_copy(&journal, agent->last_read);
	say(w, "pod %s owns the journal: %s, on %s", w->pods[w->pod].name, claim_name(claim),
	    side_name(side));
	stand_end(w);
	agent_own(w, &journal, claim, side, wanted);
	handover_tell(w);
}

static void execute(struct world *w, const struct standby_effect *effect)
{
	struct item *item;

	if (effect->type != STANDBY_DO_NOTE)
		say(w, "standby effect %s", standby_effect_name(effect->type));
	switch (effect->type) {
	case STANDBY_DO_READ:
		plan(w, api_delay(w), ITEM_STAND_READ, SCOPE_AGENT);
		break;
	case STANDBY_DO_LOCK:
		plan(w, api_delay(w), ITEM_STAND_LOCK, SCOPE_AGENT)->a = effect->side;
		break;
	case STANDBY_DO_WANTED:
		plan(w, api_delay(w), ITEM_STAND_WANTED, SCOPE_AGENT);
		break;
	case STANDBY_DO_CHECK:
		plan(w, between(w, 20, 3000), ITEM_STAND_CHECKED, SCOPE_AGENT);
		break;
	case STANDBY_DO_RECORD:
		plan(w, api_delay(w), ITEM_STAND_RECORD, SCOPE_AGENT);
		break;
	case STANDBY_DO_LAUNCH:
		launch(w);
		break;
	case STANDBY_DO_WARM:
		plan(w, between(w, 2, 200), ITEM_STAND_WARM, SCOPE_AGENT);
		break;
	case STANDBY_DO_KILL:
		item = plan(w, between(w, 0, 5), ITEM_SIGNAL, SCOPE_CONTAINER);
		item->a = SIGKILL;
		break;
	case STANDBY_DO_OWN:
		own(w);
		break;
	case STANDBY_DO_EXIT:
		init_exit(w, 0);
		break;
	case STANDBY_DO_STOP_ACK:
		w->init->acknowledged = true;
		break;
	case STANDBY_DO_NOTE:
		say(w, "standby: %s", effect->text);
		break;
	case STANDBY_DO_SHADOW: /* the world bluegreen has the jobs in the shadow */
	case STANDBY_DO_ADOPT:
	case STANDBY_DO_AGAIN:
		break;
	}
	/* the worst moment is right after an action was started */
	if (w->agent->alive && w->chaos.agent_crash_ms && chance(w, 8))
		plan(w, between(w, 0, 40), ITEM_AGENT_CRASH, SCOPE_AGENT);
}

void stand_step(struct world *w, const struct standby_event *event)
{
	struct agent *agent = w->agent;
	struct standby_effects effects;
	uint64_t epoch = w->epochs[SCOPE_AGENT];
	enum role before = agent->standby.verdict.role;

	if (!agent->alive || !agent->stands || w->done)
		return;
	w->figures->steps++;
	effects.count = 0;
	standby_step(&agent->standby, event, w->now_ms + MONOTONIC_BASE_MS, pod_unix_now(w),
		     &effects);
	if (agent->standby.verdict.role != before)
		say(w, "pod %s is %s: %s", w->pods[w->pod].name,
		    role_name(agent->standby.verdict.role), agent->standby.verdict.why);
	for (size_t i = 0; i < effects.count; i++)
		if (agent->alive && epoch == w->epochs[SCOPE_AGENT] &&
		    (agent->stands || effects.list[i].type == STANDBY_DO_NOTE))
			execute(w, &effects.list[i]);
	if (agent->alive && agent->stands && epoch == w->epochs[SCOPE_AGENT])
		plan_tick(w);
}

/* ---- life and death ---- */

void stand_begin(struct world *w)
{
	struct agent *agent = w->agent;
	struct flink *flink = w->flink;
	struct standby_event event = {.type = STANDBY_HELLO};

	facts_release(&agent->facts);
	*agent = (struct agent){.alive = true,
				.stands = true,
				.tick_at_ms = -1,
				.stand_tick_ms = -1,
				.fenced_ms = -1,
				.stand_token = agent->stand_token + 1000};
	standby_init(&agent->standby, &w->pods[w->pod].stand_config);
	say(w, "agent of pod %s stands by, Flink %s", w->pods[w->pod].name,
	    flink->alive ? "lives" : "is gone");
	if (flink->alive)
		event.hello.running = flink_is_held(flink)
					      ? flink->held_id
					      : w->truth.launches[flink->launch].job_id;
	event.hello.stopping = w->init->stopping;
	stand_step(w, &event);
	if (w->chaos.agent_crash_ms && agent->alive && agent->stands)
		plan(w, 1 + below(w, 2 * w->chaos.agent_crash_ms), ITEM_AGENT_CRASH, SCOPE_AGENT);
}

void stand_end(struct world *w)
{
	standby_release(&w->agent->standby);
	w->agent->stands = false;
}

static void stand_down(struct world *w)
{
	struct agent *agent = w->agent;

	say(w, "agent of pod %s stands down", w->pods[w->pod].name);
	trace_end(w);
	lifecycle_release(&agent->life);
	desired_inputs_release(&agent->inputs);
	w->epochs[SCOPE_AGENT]++;
	stand_begin(w);
}

/* ---- answers ---- */

static void read_answer(struct world *w, bool by_watch)
{
	struct agent *agent = w->agent;
	struct standby_event event = {.type = STANDBY_JOURNAL};

	agent->last_read = store_glance(w);
	if (agent->last_read) {
		event.read.journal = agent->last_read;
		event.read.absent = !w->store.exists;
		event.read.by_watch = by_watch && w->store.exists &&
				      agent->last_read->sequence > agent->standby.sequence;
	}
	stand_step(w, &event);
	agent->last_read = NULL;
}

static void lock_answer(struct world *w, const struct item *item)
{
	const struct leader *leader = &w->leaders[item->a];
	struct standby_event event = {.type = STANDBY_LOCK, .lock = {.side = (enum side)item->a}};
	bool held = leader->pod >= 0 && w->now_ms < leader->until_ms + 2000;

	if (is_cut_off(w) || chance(w, 30))
		event.lock.lock = LOCK_UNKNOWN;
	else
		event.lock.lock = held ? LOCK_HELD : LOCK_FREE;
	stand_step(w, &event);
}

static void wanted_answer(struct world *w)
{
	const char *mine = w->templates[w->pods[w->pod].template].text;
	struct standby_event event = {.type = STANDBY_WANTED};

	if (is_cut_off(w) || chance(w, 30))
		event.wanted = WANTED_UNKNOWN;
	else
		event.wanted = template_same_content(mine, w->templates[w->wanted].text)
				       ? WANTED_YES
				       : WANTED_NO;
	stand_step(w, &event);
}

/* Who has the place keeps it while it beats. */
static bool is_taken(const struct world *w, const struct map_record *record)
{
	return record->present && strcmp(record->uid, w->pods[w->pod].uid) != 0 &&
	       record->state != CANDIDATE_WITHDRAWN &&
	       w->now_ms < record->written_ms + 30 * SECOND_MS;
}

static void record_answer(struct world *w)
{
	const struct candidate_record *mine = &w->agent->standby.record;
	enum candidate_place which = candidate_place_of(mine->state);
	struct map_record *record = &w->records[which];
	const struct pod *pod = &w->pods[w->pod];
	struct standby_event event = {.type = STANDBY_RECORD};

	if (is_cut_off(w) || chance(w, w->chaos.journal_fails)) {
		event.record.ok = false;
	} else if (is_taken(w, record)) {
		event.record.taken = true;
	} else {
		event.record.ok = !chance(w, w->chaos.journal_lost);
		*record = (struct map_record){.present = true,
					      .side = mine->side,
					      .state = mine->state,
					      .beat = mine->beat,
					      .ask = mine->ask,
					      .answer = mine->answer,
					      .written_ms = w->now_ms};
		memcpy(record->uid, pod->uid, sizeof(record->uid));
		memcpy(record->name, pod->name, sizeof(record->name));
		memcpy(record->template, w->templates[pod->template].text,
		       sizeof(record->template));
		handover_tell(w);
	}
	stand_step(w, &event);
}

static void checked(struct world *w)
{
	bool ok = w->calm || !chance(w, w->chaos.look_fails);
	struct standby_event event = {.type = STANDBY_CHECKED,
				      .checked = {.ok = ok,
						  .decision = ok ? "startFrom" : "hold",
						  .why = ok ? NULL : "storage cannot be read"}};

	stand_step(w, &event);
}

static void warm(struct world *w)
{
	const struct flink *flink = w->flink;
	struct standby_event event = {.type = STANDBY_WARM};
	bool joined = w->now_ms >= flink->joined_ms;

	event.warm.held = flink->alive && flink->main_held;
	event.warm.known = flink_answers(w) && !chance(w, w->chaos.poll_lost);
	event.warm.task_managers = joined;
	event.warm.slots_free = joined ? 4 : 0;
	stand_step(w, &event);
}

static void process(struct world *w, const struct item *item, enum standby_event_type type)
{
	struct standby_event event = {
		.type = type, .process = {.launch_id = item->id, .why = "the process has ended"}};

	stand_step(w, &event);
}

/* A new owner, or a news of a record: only what is there now counts. */
static void candidate(struct world *w, const struct item *item)
{
	const struct map_record *record = &w->records[item->a];
	struct event event = {
		.type = EVENT_CANDIDATE,
		.candidate = {.place = (enum candidate_place)item->a, .present = record->present}};

	if (is_cut_off(w) || w->agent->stands)
		return;
	if (record->present) {
		event.candidate.party =
			(struct party){.pod = (char *)(uintptr_t)record->name,
				       .uid = (char *)(uintptr_t)record->uid,
				       .template = (char *)(uintptr_t)record->template,
				       .side = record->side};
		event.candidate.state = record->state;
		event.candidate.beat = record->beat;
		event.candidate.ask = record->ask;
		event.candidate.answer = record->answer;
		event.candidate.wanted =
			chance(w, 20) ? WANTED_UNKNOWN
			: template_same_content(record->template, w->templates[w->wanted].text)
				? WANTED_YES
				: WANTED_NO;
	}
	agent_step(w, &event);
}

static void tick(struct world *w, const struct item *item)
{
	struct agent *agent = w->agent;
	struct standby_event event = {.type = STANDBY_TICK};

	if ((uint64_t)item->a != agent->stand_token || !agent->stands)
		return;
	agent->ticks_now = agent->last_tick_ms == w->now_ms ? agent->ticks_now + 1 : 0;
	agent->last_tick_ms = w->now_ms;
	if (agent->ticks_now > 100)
		fail(w, "the standby wakes up again and again without time going on");
	agent->stand_tick_ms = -1;
	stand_step(w, &event);
}

void stand_item(struct world *w, const struct item *item)
{
	if (item->kind == ITEM_STAND_DOWN) {
		stand_down(w);
		return;
	}
	if (item->kind == ITEM_CANDIDATE) {
		candidate(w, item);
		return;
	}
	if (!w->agent->stands)
		return;
	switch (item->kind) {
	case ITEM_STAND_TICK:
		tick(w, item);
		break;
	case ITEM_STAND_READ:
		read_answer(w, false);
		break;
	case ITEM_STAND_NEWS: /* the watch hands the document over */
		read_answer(w, true);
		break;
	case ITEM_STAND_LOCK:
		lock_answer(w, item);
		break;
	case ITEM_STAND_WANTED:
		wanted_answer(w);
		break;
	case ITEM_STAND_CHECKED:
		checked(w);
		break;
	case ITEM_STAND_RECORD:
		record_answer(w);
		break;
	case ITEM_STAND_WARM:
		warm(w);
		break;
	case ITEM_STARTED:
		process(w, item, STANDBY_STARTED);
		break;
	case ITEM_LAUNCH_FAILED:
		process(w, item, STANDBY_FAILED);
		break;
	case ITEM_EXITED:
		process(w, item, STANDBY_EXITED);
		break;
	default:
		break;
	}
}
