/*
 * The pods of a Deployment, and its controller as it was seen to behave (RollingUpdate, maxSurge 1,
 * maxUnavailable 0, one replica): a pod of the wanted template beside the old one; the old one ends
 * when the new one is ready; with a third template an unready pod goes, the oldest first; a pod that
 * ends by itself is replaced by its ReplicaSet with the same template.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/report/readiness.h"
#include "tests/sim/sim.h"

#define LOOK_MS 1000 /* of the controller, and of the probes */

static const char *const generations[] = {"g1", "g2", "g3", "bad"};

/* ---- templates ---- */

static int add_template(struct world *w, const char *generation, bool other_checksum)
{
	struct template *template;

	if (w->template_count == TEMPLATES)
		return w->wanted;
	template = &w->templates[w->template_count];
	*template = (struct template){0};
	snprintf(template->generation, sizeof(template->generation), "%s", generation);
	snprintf(template->text, sizeof(template->text), "%s/c%d/t%d", generation,
		 other_checksum ? w->template_count : 0, w->template_count);
	return w->template_count++;
}

const char *pod_wanted_generation(const struct world *w)
{
	return w->templates[w->wanted].generation;
}

/* ---- configuration ---- */

void deployment_draw(struct world *w)
{
	struct lifecycle_config *config = w->config;

	w->ha = w->apart = true;
	w->upgrades = true;
	w->directory.used = false;
	w->truth.rival = true;
	w->cut_ms = 0;
	config->ha_cluster_id = "sim";
	config->upgrade = odds(w, 800) ? UPGRADE_BY_SAVEPOINT : UPGRADE_BY_LAST_STATE;
	config->policy.stateless_upgrade = false;
	config->policy.foreign = FOREIGN_HOLD;
	config->generation = config->policy.generation = "g1";
	config->journal_check_ms = 10 * SECOND_MS;
	config->lease_ms = 45 * SECOND_MS;
	config->takeover_ms = 0;
	config->handover = (struct handover_config){
		.mode = HANDOVER_SURGE,
		.prepare_ms = between(w, 60, 300) * SECOND_MS,
		.stop_ms = 5 * MINUTE_MS,
		.take_ms = 15 * SECOND_MS,
		.run_ms = between(w, 90, 180) * SECOND_MS,
		.probation_ms = odds(w, 500) ? between(w, 10, 120) * SECOND_MS : 0,
		.takeover_ms = 50 * SECOND_MS,
		.tries = between(w, 1, 3),
		.return_on_failure = odds(w, 900),
	};
	w->min_ready_ms = config->handover.probation_ms;
	w->chaos.container_die_ms = mean_of(w, 500, 2, 30);
	w->chaos.stop_request_ms = w->chaos.replace_ms = w->chaos.other_writer_ms = 0;
	w->chaos.journal_back_ms = w->chaos.journal_lost_ms = 0;
	w->upgrade_ms = between(w, 1, 12) * MINUTE_MS;
	w->evict_ms = mean_of(w, 500, 3, 30);
	w->partition_ms = mean_of(w, 500, 2, 20);
	w->pause_ms = mean_of(w, 600, 2, 20);
	w->clocks_ms = odds(w, 500) ? between(w, 1, 90) * MINUTE_MS : 0;
	/* by a clock that is behind, what another application writes is newer than each request of a person */
	w->shared &= !w->clocks_ms;
}

/* ---- a pod ---- */

static void configure(struct world *w)
{
	struct pod *pod = &w->pods[w->pod];
	struct template *template = &w->templates[pod->template];
	struct lifecycle_config *config = &pod->config;

	config->generation = config->policy.generation = template->generation;
	config->place = pod->place;
	config->handover.me =
		(struct party){.pod = pod->name, .uid = pod->uid, .template = template->text};
	pod->stand_config = (struct standby_config){.application = "sim",
						    .me = config->handover.me,
						    .generation = template->generation,
						    .flink_version = config->flink_version,
						    .limits = {.silent_ms = 15 * SECOND_MS,
							       .take_ms = config->handover.take_ms,
							       .run_ms = config->handover.run_ms},
						    .hold_main = !w->holds_none,
						    .max_attempts = 3,
						    .retry_first_ms = config->backoff_first_ms,
						    .retry_max_ms = config->backoff_max_ms,
						    .kill_after_ms = config->kill_after_ms,
						    .ready_deadline_ms = config->ready_deadline_ms};
}

static void create(struct world *w, int template)
{
	int slot = 0;

	while (slot < PODS && (w->pods[slot].exists || w->pods[slot].init.alive))
		slot++;
	if (slot == PODS)
		return; /* no room until one has ended */
	world_enter(w, slot);
	w->pods[slot].exists = true;
	w->pods[slot].ending = w->pods[slot].ready = false;
	w->pods[slot].template = template;
	w->pods[slot].paused_until_ms = w->pods[slot].cut_until_ms = 0;
	w->pods[slot].clock_ms = w->clocks_ms ? between(w, -w->clocks_ms, w->clocks_ms) : 0;
	*w->init = (struct init){0};
	snprintf(w->pods[slot].name, sizeof(w->pods[slot].name), "p%d", ++w->pod_serial);
	snprintf(w->pods[slot].uid, sizeof(w->pods[slot].uid), "u%d", w->pod_serial);
	snprintf(w->pods[slot].place, sizeof(w->pods[slot].place), "p%d/u%d", w->pod_serial,
		 w->pod_serial);
	configure(w);
	say(w, "pod %s of template %s is created in place %d", w->pods[slot].name,
	    w->templates[template].text, slot);
	plan(w, between(w, 200, 5000), ITEM_CONTAINER_START, SCOPE_WORLD);
}

static void terminate(struct world *w, int slot, const char *why)
{
	const char *generation = w->templates[w->pods[slot].template].generation;
	bool upgrade = strcmp(pod_wanted_generation(w), generation) != 0;

	if (!w->pods[slot].exists || w->pods[slot].ending)
		return;
	world_enter(w, slot);
	say(w, "pod %s is to end: %s", w->pods[slot].name, why);
	w->pods[slot].ending = w->init->replaced = true;
	w->pods[slot].ready = false;
	if (w->init->alive)
		init_stop(w, between(w, 20, 120) * SECOND_MS,
			  chance(w, 50) ? UPGRADE_UNKNOWN
			  : upgrade     ? UPGRADE_YES
					: UPGRADE_NO);
	else
		pod_gone(w);
}

void pod_gone(struct world *w)
{
	say(w, "pod %s is gone", w->pods[w->pod].name);
	w->pods[w->pod].exists = w->pods[w->pod].ending = false;
}

/* ---- probes ---- */

static bool is_ready(const struct world *w, const struct pod *pod)
{
	const struct lifecycle *life = &pod->agent.life;

	(void)w;
	if (!pod->exists || pod->ending || !pod->init.alive || !pod->agent.alive)
		return false;
	if (pod->agent.stands)
		return standby_is_ready(&pod->agent.standby);
	if (lifecycle_keeps_ready(life))
		return true;
	return life->phase == PHASE_RUNNING && readiness_tasks_run(life) &&
	       !lifecycle_is_unready(life);
}

static void probe(struct world *w)
{
	for (int i = 0; i < PODS; i++) {
		struct pod *pod = &w->pods[i];
		bool ready = w->now_ms < pod->paused_until_ms ? false : is_ready(w, pod);

		if (ready && !pod->ready)
			pod->ready_since_ms = w->now_ms;
		if (ready != pod->ready && pod->exists)
			say(w, "pod %s is %sready", pod->name, ready ? "" : "not ");
		pod->ready = ready;
	}
}

/* ---- the controller ---- */

static int count(const struct world *w, int template)
{
	int live = 0;

	for (int i = 0; i < PODS; i++)
		live += w->pods[i].exists && !w->pods[i].ending && w->pods[i].template == template;
	return live;
}

static bool is_available(const struct world *w, const struct pod *pod)
{
	return pod->ready && w->now_ms >= pod->ready_since_ms + w->min_ready_ms;
}

static int available(const struct world *w, int template)
{
	int ready = 0;

	for (int i = 0; i < PODS; i++)
		ready += w->pods[i].exists && !w->pods[i].ending &&
			 w->pods[i].template == template && is_available(w, &w->pods[i]);
	return ready;
}

static void scale_down(struct world *w, int template, const char *why)
{
	w->templates[template].desired = 0;
	for (int i = 0; i < PODS; i++)
		if (w->pods[i].template == template)
			terminate(w, i, why);
}

static void roll(struct world *w)
{
	struct template *wanted = &w->templates[w->wanted];
	int total = 0, all_available = 0, unavailable, room;

	for (int i = 0; i < w->template_count; i++) {
		total += w->templates[i].desired;
		all_available += w->templates[i].desired ? available(w, i) : 0;
	}
	if (!wanted->desired && total < 2) {
		wanted->desired = 1;
		total++;
	}
	unavailable = wanted->desired - (available(w, w->wanted) > 0);
	room = total - 1 - unavailable;
	/* unhealthy ones first, then the oldest */
	for (int i = 0; i < w->template_count && room > 0; i++)
		if (i != w->wanted && w->templates[i].desired && !available(w, i)) {
			scale_down(w, i, "it is not ready, and another version is wanted");
			room--;
		}
	for (int i = 0; i < w->template_count && room > 0 && all_available > 1; i++)
		if (i != w->wanted && w->templates[i].desired) {
			scale_down(w, i, "the wanted version is there");
			room--;
			all_available--;
		}
}

static void reconcile(struct world *w)
{
	probe(w);
	roll(w);
	for (int i = 0; i < w->template_count; i++)
		if (w->templates[i].desired > count(w, i))
			create(w, i);
}

/* ---- people and accidents ---- */

static void upgrade(struct world *w)
{
	int64_t what = below(w, 10);
	int before = w->wanted;

	w->figures->upgrades++;
	if (what < 2 && w->template_count > 1) /* back to an earlier one */
		w->wanted = (int)below(w, w->template_count);
	else if (what < 4) /* kubectl rollout restart, another setting of drey */
		w->wanted = add_template(w, pod_wanted_generation(w), what == 3);
	else
		w->wanted = add_template(w, generations[below(w, 4)], false);
	if (w->wanted != before)
		say(w, "user: the Deployment wants template %s", w->templates[w->wanted].text);
}

static void evict(struct world *w)
{
	int slot = (int)below(w, PODS);

	/* its ReplicaSet makes another one at once */
	if (odds(w, 300) && w->pods[slot].exists && !w->pods[slot].ending) {
		world_enter(w, slot);
		say(w, "the node of pod %s is lost", w->pods[slot].name);
		w->pods[slot].ending = w->init->replaced = true;
		if (w->init->alive)
			container_die(w, "its node is lost");
		else
			pod_gone(w);
		return;
	}
	terminate(w, slot, "evicted");
}

static void cut_off(struct world *w, struct pod *pod, int64_t takes_ms)
{
	pod->cut_until_ms = w->now_ms + takes_ms;
	if (pod->exists)
		say(w, "pod %s does not reach the API server for %d s", pod->name,
		    (int)(takes_ms / SECOND_MS));
}

static void partition(struct world *w)
{
	struct pod *pod = &w->pods[below(w, PODS)];

	cut_off(w, pod, between(w, 1, odds(w, 600) ? 25 : 240) * SECOND_MS);
}

void deployment_job_ends(struct world *w)
{
	if (!w->calm && luck(w, 200))
		cut_off(w, &w->pods[w->pod], luck_between(w, 1, 90) * SECOND_MS);
}

static void pause_agent(struct world *w)
{
	struct pod *pod = &w->pods[below(w, PODS)];
	int64_t takes_ms = between(w, 1, odds(w, 600) ? 25 : 90) * SECOND_MS;

	pod->paused_until_ms = w->now_ms + takes_ms;
	if (pod->exists)
		say(w, "the agent of pod %s is stopped for %d s", pod->name,
		    (int)(takes_ms / SECOND_MS));
}

void deployment_begin(struct world *w)
{
	for (int i = 0; i < SIDES; i++)
		w->leaders[i].pod = -1;
	w->wanted = add_template(w, "g1", false);
	w->holds_none = odds(w, 200);
	plan(w, 0, ITEM_DEPLOY, SCOPE_WORLD);
	plan_again(w, w->upgrade_ms, ITEM_UPGRADE);
	plan_again(w, w->evict_ms, ITEM_EVICT);
	plan_again(w, w->partition_ms, ITEM_PARTITION);
	plan_again(w, w->pause_ms, ITEM_PAUSE);
}

void deployment_calm(struct world *w)
{
	for (int i = 0; i < PODS; i++)
		w->pods[i].cut_until_ms = w->pods[i].paused_until_ms = w->now_ms;
	if (!strcmp(pod_wanted_generation(w), "bad"))
		w->wanted = add_template(w, "g2", false);
	say(w, "the Deployment wants template %s", w->templates[w->wanted].text);
}

bool deployment_reached(const struct world *w)
{
	const struct journal *journal = &w->agent->life.journal;
	bool there = w->pods[w->pod].template == w->wanted ||
		     journal->handover.state == HANDOVER_REFUSED ||
		     w->user.wanted != DESIRED_RUNNING;

	/* one that has taken it parks, until it is wanted */
	bool parked =
		journal->handover.state == HANDOVER_TAKEN && w->user.wanted != DESIRED_RUNNING;

	return there && (parked || !handover_is_under_way(&journal->handover));
}

void deployment_item(struct world *w, const struct item *item)
{
	if (item->kind == ITEM_DEPLOY) {
		reconcile(w);
		plan(w, between(w, LOOK_MS / 2, LOOK_MS * 2), ITEM_DEPLOY, SCOPE_WORLD);
		return;
	}
	if (w->calm)
		return;
	switch (item->kind) {
	case ITEM_UPGRADE:
		upgrade(w);
		plan_again(w, w->upgrade_ms, ITEM_UPGRADE);
		break;
	case ITEM_EVICT:
		evict(w);
		plan_again(w, w->evict_ms, ITEM_EVICT);
		break;
	case ITEM_PARTITION:
		partition(w);
		plan_again(w, w->partition_ms, ITEM_PARTITION);
		break;
	case ITEM_PAUSE:
		pause_agent(w);
		plan_again(w, w->pause_ms, ITEM_PAUSE);
		break;
	default:
		break;
	}
}
