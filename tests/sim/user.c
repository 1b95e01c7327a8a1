/*
 * People who request something now and then, accidents, and the calm at the end: nothing fails any
 * more, and a person states the desired state again until it is reached.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/sim.h"

/* not a multiple of the minute in which drey writes: each check would find that write in flight */
#define HELP_EVERY_MS (3 * MINUTE_MS + SECOND_MS)

void user_begin(struct world *w)
{
	const struct chaos *chaos = &w->chaos;

	if (odds(w, 200)) {
		w->storage.initial = storage_add(w, SNAPSHOT_SAVEPOINT, -1, between(w, 1, 500));
		storage_complete(w, w->storage.initial);
	}
	plan_again(w, chaos->user_ms, ITEM_USER);
	plan_again(w, chaos->damage_ms, ITEM_DAMAGE);
	plan_again(w, chaos->vanish_ms, ITEM_VANISH);
	plan_again(w, chaos->ha_vanish_ms, ITEM_HA_VANISH);
	plan_again(w, chaos->replace_ms, ITEM_REPLACE);
	plan_again(w, chaos->clock_step_ms, ITEM_CLOCK_STEP);
	plan_again(w, chaos->other_writer_ms, ITEM_OTHER_WRITER);
	plan_again(w, chaos->journal_back_ms, ITEM_BACKUP);
	plan_again(w, chaos->journal_back_ms, ITEM_JOURNAL_BACK);
	plan_again(w, chaos->journal_lost_ms, ITEM_JOURNAL_LOST);
	plan_again(w, chaos->flink_kill_ms, ITEM_FLINK_KILL);
	plan_again(w, chaos->outside_ms, ITEM_OUTSIDE);
	plan(w, w->calm_ms, ITEM_CALM, SCOPE_WORLD);
}

static bool owns(const struct agent *agent)
{
	return agent->alive && !agent->stands;
}

/* ---- what a person requests ---- */

struct wish {
	struct event event;
	char nonce[32];
	char path[PATH_BYTES];
};

static void wish_restore(struct world *w, struct wish *wish, int snap)
{
	struct restore_request *restore = &wish->event.control.intent.restore;

	w->figures->requests++;
	if (w->flink->alive && w->agent->life.journal.intent.state == DESIRED_RUNNING &&
	    w->agent->life.phase == PHASE_RUNNING)
		snprintf(w->user.untimely, sizeof(w->user.untimely), "%s", wish->nonce);
	wish->event.control.fields |= CONTROL_RESTORE;
	restore->kind = snap >= 0 ? RESTORE_PATH : RESTORE_EMPTY;
	restore->token = wish->nonce;
	snprintf(wish->path, sizeof(wish->path), "%s",
		 snap >= 0 ? w->storage.snaps[snap].path : "");
	restore->path = snap >= 0 ? wish->path : NULL;
}

static void wish_state(struct world *w, struct wish *wish, enum desired_state state)
{
	w->user.wanted = state;
	wish->event.control.fields |= CONTROL_STATE;
	wish->event.control.intent.state = state;
	if (state == DESIRED_RUNNING)
		wish->event.control.fields |= CONTROL_NEW_START;
}

static void wish_begin(struct world *w, struct wish *wish)
{
	*wish = (struct wish){.event = {.type = EVENT_CONTROL}};
	snprintf(wish->nonce, sizeof(wish->nonce), "n%d", ++w->user.serial);
}

static void wish_send(struct world *w, const struct wish *wish)
{
	say(w, "user: fields %x, state %s, do-not-restart %d%s%s", wish->event.control.fields,
	    desired_state_name(wish->event.control.intent.state),
	    wish->event.control.intent.do_not_restart,
	    wish->event.control.fields & CONTROL_RESTORE ? ", restore " : "", wish->path);
	agent_step(w, &wish->event);
}

static void act(struct world *w)
{
	struct intent *intent;
	struct wish wish;
	bool directory = w->directory.used && odds(w, 500);
	char untimely[sizeof(w->user.untimely)];

	memcpy(untimely, w->user.untimely, sizeof(untimely));
	if (!directory && (!owns(w->agent) || w->agent->life.fenced || w->agent->life.terminating))
		return; /* the command reports this, and the person comes back later */
	wish_begin(w, &wish);
	if (!directory && rescale_wish(w, &wish.event, wish.nonce)) {
		wish_send(w, &wish);
		return;
	}
	intent = &wish.event.control.intent;
	switch (below(w, 9)) {
	case 0:
		wish_state(w, &wish, DESIRED_SUSPENDED);
		break;
	case 1:
		wish_state(w, &wish, DESIRED_CANCELLED);
		break;
	case 2:
	case 3:
		wish_state(w, &wish, DESIRED_RUNNING);
		break;
	case 4:
		wish_state(w, &wish, DESIRED_RUNNING);
		wish_restore(w, &wish, (int)below(w, w->storage.count + 1) - 1);
		break;
	case 5:
		w->user.do_not_restart = !w->user.do_not_restart;
		wish.event.control.fields = CONTROL_DO_NOT_RESTART;
		intent->do_not_restart = w->user.do_not_restart;
		break;
	case 6:
		wish.event.control.fields = CONTROL_RESTART;
		intent->restart_nonce = wish.nonce;
		break;
	default:
		wish.event.control.fields = CONTROL_SAVEPOINT;
		intent->savepoint_nonce = wish.nonce;
		break;
	}
	if (directory) { /* only when drey reads it, it shows whether it is too late for a restore */
		memcpy(w->user.untimely, untimely, sizeof(untimely));
		directory_write(w, &wish.event);
		return;
	}
	wish_send(w, &wish);
}

/* ---- accidents ---- */

bool drey_decides(const struct world *w)
{
	for (int i = 0; i < PODS; i++) {
		const struct agent *agent = &w->pods[i].agent;
		const struct lifecycle *life = &agent->life;

		if (owns(agent) && (agent->observing || life->launch_step == LAUNCH_WRITING ||
				    life->keeper.path || life->disposal.path))
			return true;
	}
	return w->storage.disposals > 0; /* of an agent that has died since, too */
}

static void accident(struct world *w, bool vanish)
{
	struct snap *snap;

	if (!w->storage.count || drey_decides(w))
		return;
	/* mostly the newest ones, because the others hardly matter */
	snap = &w->storage.snaps[odds(w, 700) ? w->storage.count - 1 : below(w, w->storage.count)];
	if (!snap->complete || snap->deleted)
		return;
	w->truth.loss = true;
	w->figures->damaged++;
	snap->struck_unix_ms = unix_now(w);
	if (vanish)
		snap->deleted = true;
	else if (odds(w, 500))
		snap->metadata_damaged = true;
	else
		snap->file_missing = true;
	say(w, "accident: %s %s", snap->path, vanish ? "vanishes" : "is damaged");
}

/* People and accidents affect the pod where something happens. */
static void enter_active(struct world *w)
{
	for (int i = 0; i < PODS; i++)
		if (has(w, FEATURE_HANDOVER) && owns(&w->pods[i].agent) &&
		    !w->pods[i].agent.life.fenced) {
			world_enter(w, i);
			return;
		}
	for (int i = 0; i < PODS; i++)
		if (w->pods[i].agent.alive) {
			world_enter(w, i);
			return;
		}
	for (int i = 0; i < PODS; i++)
		if (w->pods[i].init.alive && !w->pods[i].init.replaced)
			world_enter(w, i);
}

/* ---- the calm ---- */

/* Is there a reason why only a person can decide what to start from? */
static bool needs_decision(const struct world *w)
{
	for (int i = 0; i < w->truth.count; i++)
		if (w->truth.launches[i].requested || (i > 0 && w->truth.launches[i].base < 0))
			return true; /* the earlier state is given up: by a request, or by a stateless upgrade */
	for (size_t i = 0; i < w->agent->life.journal.launch_count; i++)
		if (w->agent->life.journal.launches[i].request_token)
			return true; /* the same, but the launch never happened */
	for (int i = 0; i < w->storage.count; i++)
		if (w->storage.snaps[i].hidden)
			return true; /* a launch may have started without it, and drey does not know that it is newer */
	/* with clocks that were set what a job of old has left may look newer than the last launch, which may have its number */
	if (w->truth.clock_set && w->ids.count)
		return true;
	return has(w, FEATURE_LINES) || w->truth.loss || w->truth.two || w->truth.mismatch ||
	       w->truth.journal_changed || w->config->policy.restore == POLICY_SAVEPOINT ||
	       w->config->policy.max_age_ms ||
	       w->agent->life.journal.intent.restore.kind != RESTORE_NONE;
}

static bool under_way(const struct world *w)
{
	enum phase phase = w->agent->life.phase;

	return phase == PHASE_RESOLVING || phase == PHASE_LAUNCHING || phase == PHASE_RUNNING ||
	       phase == PHASE_STOPPING;
}

static void help(struct world *w)
{
	struct wish wish;
	int way_out;

	if (oracle_reached(w) && (!has(w, FEATURE_HANDOVER) || deployment_reached(w))) {
		w->done = true;
		return;
	}
	plan(w, HELP_EVERY_MS, ITEM_HELP, SCOPE_WORLD);
	if (ids_help(w) || (w->agent->alive && w->agent->stands))
		return;
	if (w->agent->alive && w->agent->life.fenced && !has(w, FEATURE_HANDOVER)) {
		container_die(w, "a person restarts it: the other drey is gone");
		return;
	}
	if (!w->agent->alive || w->agent->life.terminating)
		return;
	if (w->flink->alive && w->agent->life.foreign && w->truth.journal_changed) {
		say(w, "user: ends a Flink that the journal does not know");
		flink_end(w, SIGKILL, true);
		return;
	}
	if (w->flink->alive &&
	    (w->flink->state == JOB_RESTARTING || w->flink->state == JOB_CANCELLING) &&
	    ++w->user.restarting > 2) {
		say(w, "user: kills a Flink whose job restarts, or is cancelled, for ever");
		flink_end(w, SIGKILL, true);
		return;
	}
	w->user.helps++;
	if (w->user.helps > 1 && under_way(w) &&
	    w->agent->life.journal.intent.state == w->user.wanted)
		return;
	wish_begin(w, &wish);
	wish_state(w, &wish, w->user.wanted);
	wish.event.control.fields |= CONTROL_DO_NOT_RESTART;
	wish.event.control.intent.do_not_restart = false;
	if (w->user.helps > 2 && has(w, FEATURE_LIES) && lie_way_out(w, &way_out))
		wish_restore(w, &wish, way_out);
	else if (w->user.helps > 2 && needs_decision(w))
		wish_restore(w, &wish, oracle_newest(w, truth_head(w)));
	wish_send(w, &wish);
}

static void calm(struct world *w)
{
	int64_t which = below(w, 100);

	say(w, "---- calm ----");
	w->calm = true;
	if (has(w, FEATURE_HANDOVER))
		deployment_calm(w);
	if (has(w, FEATURE_LIES))
		lies_end(w);
	for (int i = 0; i < PODS; i++) {
		w->pods[i].flink.cancel_ignored = false;
		world_enter(w, i);
		if (w->init->replaced && !has(w, FEATURE_HANDOVER))
			container_die(w, "it was replaced");
	}
	enter_active(w);
	w->user.wanted = which < 70   ? DESIRED_RUNNING
			 : which < 85 ? DESIRED_SUSPENDED
				      : DESIRED_CANCELLED;
	plan(w, MINUTE_MS, ITEM_HELP, SCOPE_WORLD);
}

void user_item(struct world *w, const struct item *item)
{
	static const int deaths[] = {SIGKILL, 1 << 8, 0, 239 << 8, 2 << 8};
	const struct chaos *chaos = &w->chaos;

	if (item->kind != ITEM_DIRECTORY || item->scope == SCOPE_WORLD)
		enter_active(w);
	if (item->kind == ITEM_DIRECTORY)
		directory_look(w);
	if (item->kind == ITEM_CALM)
		calm(w);
	else if (item->kind == ITEM_HELP)
		help(w);
	if (w->calm)
		return;
	switch (item->kind) {
	case ITEM_USER:
		act(w);
		plan_again(w, chaos->user_ms, ITEM_USER);
		break;
	case ITEM_DAMAGE:
		accident(w, false);
		plan_again(w, chaos->damage_ms, ITEM_DAMAGE);
		break;
	case ITEM_VANISH:
		accident(w, true);
		plan_again(w, chaos->vanish_ms, ITEM_VANISH);
		break;
	case ITEM_HA_VANISH:
		if (!drey_decides(w))
			ha_vanish(w);
		plan_again(w, chaos->ha_vanish_ms, ITEM_HA_VANISH);
		break;
	case ITEM_CLOCK_STEP:
		w->wall_unix_ms += between(w, -6 * 60, 6 * 60) * MINUTE_MS;
		w->truth.clock_set = true;
		say(w, "the wall clock is set");
		plan_again(w, chaos->clock_step_ms, ITEM_CLOCK_STEP);
		break;
	case ITEM_OTHER_WRITER:
		store_other_writer(w);
		plan_again(w, chaos->other_writer_ms, ITEM_OTHER_WRITER);
		break;
	case ITEM_BACKUP:
		store_back_up(w);
		plan_again(w, chaos->journal_back_ms, ITEM_BACKUP);
		break;
	case ITEM_JOURNAL_BACK:
		if (!drey_decides(w))
			store_put_back(w);
		plan_again(w, chaos->journal_back_ms, ITEM_JOURNAL_BACK);
		break;
	case ITEM_JOURNAL_LOST:
		if (!drey_decides(w))
			store_lose(w);
		plan_again(w, chaos->journal_lost_ms, ITEM_JOURNAL_LOST);
		break;
	case ITEM_REPLACE:
		container_replace(w);
		plan_again(w, chaos->replace_ms, ITEM_REPLACE);
		break;
	case ITEM_OUTSIDE:
		operation_outside(w);
		plan_again(w, chaos->outside_ms, ITEM_OUTSIDE);
		break;
	case ITEM_FLINK_KILL:
		if (odds(w, 300))
			world_enter(w, has(w, FEATURE_HANDOVER) ? (int)below(w, PODS) : !w->pod);
		if (w->flink->alive)
			flink_end(w, odds(w, 800) ? SIGKILL : deaths[below(w, 5)], true);
		plan_again(w, chaos->flink_kill_ms, ITEM_FLINK_KILL);
		break;
	default:
		break;
	}
}
