/*
 * The warm spare: the agent asks for one and offers it to launches, as agent/run/effects/spare.c does;
 * drey-init starts it, hands a launch over to it, or proves that it is dead and starts Flink as always.
 * It warms, ends at any moment, and does not answer. A jar is replaced under it.
 *
 * All of it is drawn from the luck of the features, and only in histories that have a spare. A launch
 * that enters a spare is judged like any other.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

static int64_t spare_now(const struct world *w)
{
	return w->now_ms + MONOTONIC_BASE_MS;
}

static int number_of(const char *id)
{
	return atoi(id + strlen("spare"));
}

static void name_made_of(int made_of, char text[SPARE_MADE_OF_BYTES])
{
	snprintf(text, SPARE_MADE_OF_BYTES, "jars %d", made_of);
}

void spare_begin(struct world *w)
{
	if (has(w, FEATURE_SPARE))
		plan(w, luck_between(w, 1, 30) * MINUTE_MS, ITEM_JAR, SCOPE_WORLD);
}

/* ---- drey-init ---- */

static void tell_agent(struct world *w, enum item_kind kind, int number)
{
	if (w->agent->alive)
		plan(w, luck_between(w, 0, 5), kind, SCOPE_AGENT)->a = number;
}

void spare_over(struct world *w, const char *why)
{
	struct init *init = w->init;

	if (!init->spare_number)
		return;
	say(w, "spare %d ends: %s", init->spare_number, why);
	tell_agent(w, ITEM_SPARE_GONE, init->spare_number);
	init->spare_number = 0;
	init->spare_ready = false;
}

static void spare_asked(struct world *w, const struct item *item)
{
	struct init *init = w->init;
	int number = (int)item->a;

	spare_over(w, "another one is asked for");
	if (init->stopping || luck(w, 30)) {
		tell_agent(w, ITEM_SPARE_GONE, number);
		return;
	}
	say(w, "spare %d is started", number);
	init->spare_number = number;
	init->spare_ready = false;
	init->spare_made_of = w->jars;
	plan(w, luck_between(w, 2, 60) * SECOND_MS, ITEM_SPARE_WARM, SCOPE_CONTAINER)->a = number;
	if (!w->calm && luck(w, 300))
		plan(w, luck_between(w, 1, luck(w, 500) ? 60 : 3600) * SECOND_MS, ITEM_SPARE_DIES,
		     SCOPE_CONTAINER)
			->a = number;
}

static void spare_warm(struct world *w, const struct item *item)
{
	if (w->init->spare_number != item->a)
		return;
	w->init->spare_ready = true;
	say(w, "spare %d is ready", (int)item->a);
	tell_agent(w, ITEM_SPARE_READY, (int)item->a);
}

/* Hand the launch over. False: the spare is proven dead, and Flink starts as always a little later. */
bool spare_takes(struct world *w, const struct item *item)
{
	struct init *init = w->init;
	struct item *again;

	if (!item->b) {
		spare_over(w, "a launch does not use it");
		return true;
	}
	if (init->spare_number == item->launch && init->spare_ready && !luck(w, 200) &&
	    !(world_other(w)->flink.alive && !w->apart)) {
		say(w, "spare %d takes over", init->spare_number);
		init->spare_number = 0;
		init->spare_ready = false;
		return true;
	}
	spare_over(w, "it does not take over");
	again = plan(w, luck_between(w, 1, 45), ITEM_LAUNCH, SCOPE_CONTAINER);
	again->a = item->a;
	memcpy(again->id, item->id, JOB_ID_BYTES);
	return false;
}

/* ---- the agent ---- */

/* What the running Flink is made of, if nothing of it has changed since it was started. */
static const char *jvm_made_of(const struct world *w, char text[SPARE_MADE_OF_BYTES])
{
	name_made_of(w->jars, text);
	return w->flink->alive && w->flink->made_of == w->jars ? text : NULL;
}

static void spare_ask(struct world *w)
{
	struct agent *agent = w->agent;
	char made_of[SPARE_MADE_OF_BYTES];
	struct spare_outside outside = {
		.configured = true,
		.init_takes_it = true,
		.has_program = true,
		.made_of = jvm_made_of(w, made_of),
		.headroom_bytes = luck(w, 100) ? SPARE_LEAST_BYTES : INT64_MAX,
	};
	enum spare_why why = spare_start_why(&outside);

	if (why != SPARE_WELL) {
		spare_is_refused(&agent->spare, why, spare_now(w));
		return;
	}
	if (agent->life.terminating || agent->life.fenced ||
	    agent->life.journal.intent.do_not_restart)
		fail(w, "a spare is started although nothing may be launched");
	spare_starts(&agent->spare, made_of);
	w->figures->spares++;
	/* at once: nothing that is sent later comes before it */
	plan(w, 0, ITEM_SPARE, SCOPE_CONTAINER)->a = number_of(agent->spare.id);
}

/* drey-init answers within milliseconds: nothing is waited for longer. */
static void nothing_is_missing(struct world *w)
{
	struct agent *agent = w->agent;
	enum spare_state state = agent->spare.state;
	bool gone = w->init->spare_number != number_of(agent->spare.id);

	if (state != SPARE_ENTERING && state != SPARE_ENDING && (state != SPARE_READY || !gone))
		agent->spare_odd_ms = 0;
	else if (!agent->spare_odd_ms)
		agent->spare_odd_ms = w->now_ms;
	else if (w->now_ms - agent->spare_odd_ms > 2 * SECOND_MS)
		fail(w, "the agent's spare is %s, and drey-init %s", spare_state_name(state),
		     gone ? "has none" : "has one");
}

void spare_look(struct world *w)
{
	struct agent *agent = w->agent;
	int64_t headroom_bytes = luck_below(w, 2000) ? INT64_MAX : 0;
	enum spare_why why;

	nothing_is_missing(w);
	why = spare_end_why(&agent->spare, &agent->life, headroom_bytes);
	if (why != SPARE_WELL) {
		say(w, "the agent ends the spare: %s", spare_why_name(why));
		spare_ends(&agent->spare, why);
		plan(w, luck_between(w, 1, 5), ITEM_SPARE_END, SCOPE_CONTAINER)->a =
			number_of(agent->spare.id);
	} else if (spare_is_wanted(&agent->spare, &agent->life, spare_now(w))) {
		spare_ask(w);
	}
}

void spare_offer(struct world *w, struct item *launch)
{
	struct agent *agent = w->agent;
	char made_of[SPARE_MADE_OF_BYTES];
	struct spare_launch made = {.configured = true, .same_command = true, .made_of = made_of};
	enum spare_why why;

	name_made_of(w->jars, made_of);
	why = spare_use_why(&agent->spare, &made);
	say(w, "the launch %s the spare%s%s", why == SPARE_WELL ? "enters" : "does not use",
	    why == SPARE_WELL ? "" : ": ", spare_why_name(why));
	if (why != SPARE_WELL) {
		spare_is_passed_by(&agent->spare, why);
		return;
	}
	launch->b = true;
	launch->launch = number_of(agent->spare.id);
	if (w->init->spare_number == launch->launch && w->init->spare_made_of != w->jars)
		fail(w, "a launch enters a spare that was made of other jars");
	spare_enters(&agent->spare);
}

void spare_answered(struct world *w, bool in_spare)
{
	if (spare_entered(&w->agent->spare, in_spare, spare_now(w)) && in_spare)
		w->figures->spare_launches++;
}

void spare_item(struct world *w, const struct item *item)
{
	char id[SPARE_ID_BYTES];

	snprintf(id, sizeof(id), "spare%" PRId64, item->a);
	switch (item->kind) {
	case ITEM_SPARE:
		spare_asked(w, item);
		break;
	case ITEM_SPARE_WARM:
		spare_warm(w, item);
		break;
	case ITEM_SPARE_END:
		if (w->init->spare_number == item->a)
			spare_over(w, "the agent said so");
		break;
	case ITEM_SPARE_DIES:
		if (w->init->spare_number == item->a)
			spare_over(w, "it was killed");
		break;
	case ITEM_SPARE_READY:
		spare_is_ready(&w->agent->spare, id, spare_now(w));
		spare_look(w);
		break;
	case ITEM_SPARE_GONE:
		spare_is_gone(&w->agent->spare, id, spare_now(w));
		spare_look(w);
		break;
	case ITEM_JAR:
		if (w->calm)
			break;
		w->jars++;
		say(w, "accident: a jar is replaced");
		plan(w, luck_between(w, 1, 60) * MINUTE_MS, ITEM_JAR, SCOPE_WORLD);
		break;
	default:
		break;
	}
}
