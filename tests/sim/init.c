/*
 * drey-init and its container: only drey-init starts Flink and sees it end, and it owns the deadline
 * of a stop. When it dies, everything dies.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/sim.h"

static const char *const generations[] = {"g1", "g2", "g3", "bad"};

/* Which generation the next container has, and whether it is known when this one ends. */
static enum upgrade draw_upgrade(struct world *w)
{
	const char *next = generations[below(w, 4)];

	if (!w->upgrades || odds(w, 500))
		return w->upgrades && odds(w, 500) ? UPGRADE_NO : UPGRADE_UNKNOWN;
	w->next_generation = next;
	return odds(w, 700) ? UPGRADE_YES : UPGRADE_UNKNOWN;
}

static void container_start(struct world *w)
{
	struct init *init = w->init;

	if (init->alive || (has(w, FEATURE_HANDOVER) && !w->pods[w->pod].exists))
		return;
	*init = (struct init){.alive = true};
	w->epochs[SCOPE_CONTAINER]++;
	if (w->upgrades && !has(w, FEATURE_HANDOVER))
		w->config->generation = w->config->policy.generation = w->next_generation;
	say(w, "container starts%s%s", w->upgrades ? ", generation " : "",
	    w->upgrades ? w->next_generation : "");
	features_container(w);
	plan(w, between(w, 10, 500), ITEM_AGENT_START, SCOPE_CONTAINER);
	if (w->chaos.container_die_ms && !w->calm)
		plan(w, 1 + below(w, 2 * w->chaos.container_die_ms), ITEM_CONTAINER_DIE,
		     SCOPE_CONTAINER);
	if (w->chaos.stop_request_ms && !w->calm)
		plan(w, 1 + below(w, 2 * w->chaos.stop_request_ms), ITEM_STOP_REQUEST,
		     SCOPE_CONTAINER);
}

void container_die(struct world *w, const char *why)
{
	if (!w->init->alive)
		return;
	say(w, "container ends: %s", why);
	w->figures->container_deaths++;
	w->init->alive = false;
	w->epochs[SCOPE_CONTAINER]++;
	if (w->flink->alive)
		flink_end(w, SIGKILL, false);
	agent_crash(w, "its container has ended");
	if (has(w, FEATURE_HANDOVER) && w->pods[w->pod].ending)
		pod_gone(w);
	else if (!w->init->replaced)
		plan(w, between(w, 200, 30 * SECOND_MS), ITEM_CONTAINER_START, SCOPE_WORLD);
}

void init_exit(struct world *w, int status)
{
	if (!w->init->stopping)
		fail(w, "the agent ends the container (status %d) although nobody asked", status);
	if (w->flink->alive && w->agent->life.foreign) { /* drey-init makes sure that it ends */
		w->init->leaving = true;
		spare_over(w, "the agent has left");
		agent_crash(w, "it has left");
		flink_signal(w, SIGTERM);
		return;
	}
	if (w->flink->alive)
		fail(w, "the agent ends the container although Flink lives");
	container_die(w, "the agent said so");
}

/* Flink was reaped. */
void init_flink_ended(struct world *w, int wait_status)
{
	struct init *init = w->init;
	const char *job_id = flink_is_held(w->flink) ? w->flink->held_id
						     : w->truth.launches[w->flink->launch].job_id;
	struct item *item;

	memcpy(init->last, job_id, JOB_ID_BYTES);
	init->last_wait_status = wait_status;
	init->last_number = init->running_number;
	if (w->agent->alive) {
		item = plan(w, between(w, 0, 5), ITEM_EXITED, SCOPE_AGENT);
		item->a = wait_status;
		memcpy(item->id, job_id, JOB_ID_BYTES);
	} else if (init->stopping) {
		container_die(w, "Flink has ended and no agent is there");
	}
}

static void launch(struct world *w, const struct item *item)
{
	int index = truth_find(w, item->id);
	/* flink.lock is owned as long as a process of any launch is alive, in any pod */
	bool held =
		(world_other(w)->flink.alive && !w->apart) || chance(w, w->chaos.launch_fails / 3);
	bool fails = held || chance(w, w->chaos.launch_fails);
	bool in_spare = item->b;
	struct item *answer;

	if (w->flink->alive) {
		fail(w, "a launch while a Flink lives");
		return;
	}
	if (has(w, FEATURE_SPARE) && !spare_takes(w, item))
		return;
	fails = fails && !in_spare;
	if (!fails) {
		w->init->running_number = item->a;
		flink_start(w, index);
		if (has(w, FEATURE_LEASE) && w->init->lease_end_ms &&
		    w->now_ms >= w->init->lease_end_ms)
			flink_signal(w, SIGKILL);
	}
	if (!w->agent->alive)
		return; /* the next agent learns it from HELLO */
	answer = plan(w, between(w, 0, 5), fails ? ITEM_LAUNCH_FAILED : ITEM_STARTED, SCOPE_AGENT);
	answer->b = held;
	answer->launch = in_spare;
	memcpy(answer->id, item->id, JOB_ID_BYTES);
}

void init_stop(struct world *w, int64_t grace_ms, enum upgrade upgrade)
{
	struct init *init = w->init;
	struct event event = {.type = EVENT_STOPPING,
			      .stopping = {.grace_left_ms = grace_ms, .upgrade = upgrade}};

	say(w, "SIGTERM, %d s of grace, upgrade %d", (int)(grace_ms / SECOND_MS),
	    (int)event.stopping.upgrade);
	init->stopping = true;
	spare_over(w, "the container stops");
	init->grace_end_ms = w->now_ms + grace_ms;
	plan(w, grace_ms / 4, ITEM_ACK_DEADLINE, SCOPE_CONTAINER);
	plan(w, grace_ms, ITEM_GRACE_OVER, SCOPE_CONTAINER);
	if (w->agent->alive && w->agent->stands)
		stand_step(w, &(struct standby_event){.type = STANDBY_STOPPING});
	else
		agent_step(w, &event);
}

static void stop_request(struct world *w)
{
	int64_t grace_ms = between(w, 5, 90) * SECOND_MS;

	if (!w->calm && !w->init->stopping)
		init_stop(w, grace_ms, draw_upgrade(w));
}

/* A rolling update, or a node that counts as lost although it still works: for some time there are two pods. */
void container_replace(struct world *w)
{
	struct item *item;

	if (!w->init->alive || w->init->replaced || world_other(w)->init.alive)
		return;
	say(w, "pod %d is to be replaced", w->pod);
	w->figures->replaced++;
	w->init->replaced = true;
	w->truth.rival = true;
	/* apart: a node that was cut off, and whose pod stays alive for a long time */
	plan(w, between(w, 1, 120) * (w->apart ? 15 : 1) * SECOND_MS,
	     odds(w, 500) ? ITEM_STOP_REQUEST : ITEM_CONTAINER_DIE, SCOPE_CONTAINER);
	item = plan(w, between(w, 1, 60) * SECOND_MS, ITEM_CONTAINER_START, SCOPE_WORLD);
	item->pod = !w->pod;
	w->pods[!w->pod].lease_mark = (struct lease_mark){0}; /* its state directory is empty */
}

void init_item(struct world *w, const struct item *item)
{
	switch (item->kind) {
	case ITEM_LAUNCH:
		launch(w, item);
		break;
	case ITEM_SIGNAL:
		flink_signal(w, (int)item->a);
		break;
	case ITEM_CONTAINER_START:
		container_start(w);
		break;
	case ITEM_CONTAINER_DIE:
		if (!w->calm)
			container_die(w, "it was killed");
		break;
	case ITEM_STOP_REQUEST:
		stop_request(w);
		break;
	case ITEM_ACK_DEADLINE:
		if (w->init->acknowledged)
			break;
		say(w, "drey-init ends Flink by itself");
		if (w->flink->alive)
			flink_signal(w, SIGTERM);
		else
			container_die(w, "nobody answered the stop");
		break;
	case ITEM_LEASE_OVER:
		if (w->flink->alive && w->init->lease_end_ms &&
		    w->now_ms >= w->init->lease_end_ms) {
			say(w, "drey-init ends Flink: nobody said that it may go on");
			flink_signal(w, SIGKILL);
		}
		break;
	case ITEM_GRACE_OVER:
		container_die(w, "the grace period is over");
		break;
	default:
		break;
	}
}
