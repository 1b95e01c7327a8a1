#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/sim/sim.h"

void world_enter(struct world *w, int pod)
{
	w->pod = pod;
	w->config = &w->pods[pod].config;
	w->agent = &w->pods[pod].agent;
	w->init = &w->pods[pod].init;
	w->flink = &w->pods[pod].flink;
	w->epochs = w->pods[pod].epochs;
}

const struct pod *world_other(const struct world *w)
{
	return &w->pods[w->pod ? 0 : 1]; /* of two */
}

/* ---- chance ---- */

int64_t stream_between(struct rng *rng, int64_t low, int64_t high)
{
	return low + rng_below(rng, high > low ? high - low + 1 : 1);
}

bool stream_odds(struct rng *rng, int per_mille)
{
	return rng_below(rng, 1000) < per_mille;
}

int64_t below(struct world *w, int64_t bound)
{
	return stream_between(&w->rng, 0, bound - 1);
}

int64_t between(struct world *w, int64_t low, int64_t high)
{
	return stream_between(&w->rng, low, high);
}

bool odds(struct world *w, int per_mille)
{
	return per_mille > 0 && stream_odds(&w->rng, per_mille);
}

bool chance(struct world *w, int per_mille)
{
	return !w->calm && odds(w, per_mille);
}

int64_t unix_now(const struct world *w)
{
	return w->wall_unix_ms + w->now_ms;
}

int64_t pod_unix_now(const struct world *w)
{
	return unix_now(w) + w->pods[w->pod].clock_ms;
}

/* ---- history ---- */

static void print_time(const struct world *w)
{
	int64_t ms = w->now_ms;

	printf("%3" PRId64 ":%02d:%02d.%03d  ", ms / (60 * MINUTE_MS), (int)(ms / MINUTE_MS % 60),
	       (int)(ms / SECOND_MS % 60), (int)(ms % 1000));
}

void narrate(struct world *w, const char *fmt, ...)
{
	va_list ap;

	print_time(w);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

/* The first failure is the one that counts: what follows are consequences. */
void fail(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (*w->failure)
		return;
	va_start(ap, fmt);
	vsnprintf(w->failure, sizeof(w->failure), fmt, ap);
	va_end(ap);
	w->done = true;
	say(w, "ORACLE: %s", w->failure);
}

/* ---- the queue ---- */

static bool earlier(const struct slot *a, const struct slot *b)
{
	return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->order < b->order;
}

static void sift_up(struct slot *queue, size_t i)
{
	struct slot slot = queue[i];

	for (; i && earlier(&slot, &queue[(i - 1) / 2]); i = (i - 1) / 2)
		queue[i] = queue[(i - 1) / 2];
	queue[i] = slot;
}

/* Put `slot` into the free place at the root. */
static void sift_down(struct slot *queue, size_t len, struct slot slot)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < len) {
		if (child + 1 < len && earlier(&queue[child + 1], &queue[child]))
			child++;
		if (!earlier(&queue[child], &slot))
			break;
		queue[i] = queue[child];
		i = child;
	}
	queue[i] = slot;
}

static void grow(struct world *w)
{
	struct memory *memory = w->memory;
	size_t old = memory->queue_cap;

	memory->queue_cap = old ? 2 * old : 64;
	memory->queue = xreallocarray(memory->queue, memory->queue_cap, sizeof(*memory->queue));
	memory->items = xreallocarray(memory->items, memory->queue_cap, sizeof(*memory->items));
	memory->unused_items = xreallocarray(memory->unused_items, memory->queue_cap,
					     sizeof(*memory->unused_items));
	for (size_t i = old; i < memory->queue_cap; i++)
		memory->unused_items[w->unused_count++] = (int)i;
}

void memory_init(struct memory *memory)
{
	*memory = (struct memory){0};
	for (size_t i = 0; i < ARRAY_LEN(memory->images); i++)
		memory->images[i].block = xreallocarray(NULL, IMAGE_BYTES, 1);
}

void memory_release(struct memory *memory)
{
	for (size_t i = 0; i < ARRAY_LEN(memory->images); i++)
		free(memory->images[i].block);
	free(memory->queue);
	free(memory->items);
	free(memory->unused_items);
	*memory = (struct memory){0};
}

struct item *plan(struct world *w, int64_t in_ms, enum item_kind kind, enum scope scope)
{
	struct slot *slot;
	struct item *item;

	if (!w->unused_count)
		grow(w);
	slot = &w->memory->queue[w->queue_len++];
	*slot = (struct slot){.at_ms = w->now_ms + (in_ms > 0 ? in_ms : 0),
			      .order = w->next_order++,
			      .item = w->memory->unused_items[--w->unused_count]};
	item = &w->memory->items[slot->item];
	item->at_ms = slot->at_ms;
	item->order = slot->order;
	item->kind = kind;
	item->scope = scope;
	item->pod = w->pod;
	item->epoch = w->epochs[scope];
	item->a = item->b = item->launch = 0;
	*item->id = '\0';
	sift_up(w->memory->queue, w->queue_len - 1);
	return item;
}

void plan_again(struct world *w, int64_t mean_ms, enum item_kind kind)
{
	if (mean_ms)
		plan(w, 1 + below(w, 2 * mean_ms), kind, SCOPE_WORLD);
}

static struct item pop(struct world *w)
{
	struct slot first = w->memory->queue[0];

	w->queue_len--;
	sift_down(w->memory->queue, w->queue_len, w->memory->queue[w->queue_len]);
	w->memory->unused_items[w->unused_count++] = first.item;
	return w->memory->items[first.item];
}

/* ---- one history ---- */

static void dispatch(struct world *w, const struct item *item)
{
	if (item->kind <= ITEM_EXITED)
		agent_item(w, item);
	else if (item->kind <= ITEM_LEASE_OVER)
		init_item(w, item);
	else if (item->kind <= ITEM_FLINK_EXIT)
		flink_item(w, item);
	else if (item->kind <= ITEM_HELP)
		user_item(w, item);
	else if (item->kind <= ITEM_CUT)
		feature_item(w, item);
	else if (item->kind <= ITEM_ASK_ANSWER)
		checkpoint_item(w, item);
	else if (item->kind <= ITEM_JAR)
		spare_item(w, item);
	else if (item->kind <= ITEM_RESCALED)
		rescale_item(w, item);
	else if (item->kind <= ITEM_SIGNS)
		silent_item(w, item);
	else if (item->kind <= ITEM_LEASE_AWAY)
		lease_item(w, item);
	else if (item->kind == ITEM_BUCKET)
		bucket_item(w, item);
	else if (item->kind <= ITEM_PAUSE)
		deployment_item(w, item);
	else if (item->kind <= ITEM_GO)
		handover_item(w, item);
	else if (item->kind <= ITEM_CANDIDATE)
		stand_item(w, item);
	else if (item->kind <= ITEM_COPY)
		lie_item(w, item);
	else
		ids_item(w, item);
}

/* Half of the faults are off in any one history, the others more or less frequent. */
static int rate(struct world *w, int most_per_mille)
{
	return odds(w, 500) ? 0 : (int)(1 + below(w, most_per_mille));
}

static int64_t mean(struct world *w, int off_per_mille, int64_t least_ms, int64_t most_ms)
{
	return odds(w, off_per_mille) ? 0 : between(w, least_ms, most_ms);
}

int64_t mean_of(struct world *w, int off_per_mille, int64_t least_min, int64_t most_min)
{
	return mean(w, off_per_mille, least_min * MINUTE_MS, most_min * MINUTE_MS);
}

static void draw_chaos(struct world *w)
{
	w->chaos = (struct chaos){
		.poll_lost = rate(w, 300),
		.post_lost = rate(w, 300),
		.answer_lost = rate(w, 300),
		.list_fails = rate(w, 300),
		.look_fails = rate(w, 200),
		.journal_fails = rate(w, 200),
		.journal_lost = rate(w, 200),
		.journal_slow = rate(w, 200),
		.checkpoint_fails = rate(w, 300),
		.savepoint_fails = rate(w, 400),
		.stop_half_fails = rate(w, 200),
		.launch_fails = rate(w, 150),
		.start_fails = rate(w, 200),
		.term_ignored = rate(w, 300),
		.cancel_ignored = rate(w, 300),
		.wrong_restore = odds(w, 900) ? 0 : (int)(1 + below(w, 200)),
		.agent_crash_ms = mean(w, 400, 20 * SECOND_MS, 20 * MINUTE_MS),
		.container_die_ms = mean(w, 500, MINUTE_MS, 30 * MINUTE_MS),
		.stop_request_ms = mean(w, 500, MINUTE_MS, 30 * MINUTE_MS),
		.flink_kill_ms = mean(w, 500, MINUTE_MS, 20 * MINUTE_MS),
		.job_fail_ms = mean(w, 500, MINUTE_MS, 20 * MINUTE_MS),
		.tasks_lost_ms = mean(w, 600, MINUTE_MS, 20 * MINUTE_MS),
		.job_finish_ms = mean(w, 800, 5 * MINUTE_MS, 60 * MINUTE_MS),
		.damage_ms = mean(w, 800, 5 * MINUTE_MS, 60 * MINUTE_MS),
		.vanish_ms = mean(w, 900, 5 * MINUTE_MS, 60 * MINUTE_MS),
		.ha_vanish_ms = mean(w, 800, 5 * MINUTE_MS, 60 * MINUTE_MS),
		.user_ms = mean(w, 200, 20 * SECOND_MS, 15 * MINUTE_MS),
		.clock_step_ms = mean(w, 500, 5 * MINUTE_MS, 30 * MINUTE_MS),
		.other_writer_ms = mean(w, 950, 20 * MINUTE_MS, 60 * MINUTE_MS),
		.journal_back_ms = mean(w, 930, 2 * MINUTE_MS, 60 * MINUTE_MS),
		.replace_ms = mean(w, 850, 2 * MINUTE_MS, 30 * MINUTE_MS),
		.journal_lost_ms = mean(w, 950, 5 * MINUTE_MS, 60 * MINUTE_MS),
	};
	/* With directories that are declared as shared, or dates that cannot be trusted, an old journal
	 * cannot be distinguished from a current one. */
	if (w->config->policy.foreign == FOREIGN_IGNORE || w->chaos.clock_step_ms)
		w->chaos.journal_back_ms = w->chaos.journal_lost_ms = 0;
	if (w->seed % 13 == 6) { /* few savepoints are kept, and the newest vanishes by accident */
		w->config->policy.restore = POLICY_SAVEPOINT;
		w->config->retention.keep_count = 1;
		w->config->savepoints.interval_ms = between(w, 1, 4) * MINUTE_MS;
		w->chaos.vanish_ms = between(w, 3, 10) * MINUTE_MS;
	}
	if (w->seed % 11 == 5 && !w->chaos.clock_step_ms)
		w->config->policy.max_age_ms = between(w, 2, 20) * MINUTE_MS;
	if (w->apart) {
		w->config->journal_check_ms = 30 * SECOND_MS;
		w->chaos.replace_ms = between(w, 2, 15) * MINUTE_MS;
	}
	if (w->seed % 5 == 2)
		w->chaos.outside_ms = between(w, 1, 20) * MINUTE_MS;
}

static void draw_config(struct world *w)
{
	*w->config = (struct lifecycle_config){
		.savepoints = {.interval_ms = mean(w, 300, MINUTE_MS, 30 * MINUTE_MS),
			       .jitter_ms = odds(w, 500) ? 30 * SECOND_MS : 0},
		.retention = {.keep_count = odds(w, 500) ? between(w, 1, 3) : 0,
			      .max_age_ms = odds(w, 200) ? between(w, 2, 60) * MINUTE_MS : 0,
			      .all_origins = odds(w, 300)},
		.savepoint_dir = "file:/sp",
		.listed_savepoint_dir = "file:/sp",
		.listed_checkpoint_dir = "file:/cp",
		.drain_on_stop = odds(w, 200),
		.format = (enum format_policy)(w->seed % 3),
		.savepoint_retries = (int64_t)(w->seed % 4),
		.savepoint_retry_ms = (int64_t)(1 + w->seed % 7) * SECOND_MS,
		.result_store_dir = "file:/results",
		.flink_version = "2.3.0",
		.application_ids = odds(w, 500),
		.generation = odds(w, 500) ? "g1" : NULL,
		.policy = {.restore = odds(w, 250) ? POLICY_SAVEPOINT : POLICY_LATEST,
			   /* never back, by the job's interval, or one to eight minutes */
			   .max_loss = {.max_ms = w->seed % 10 == 0 ? 0
						  : w->seed % 10 < 4
							  ? LOSS_MAX_AUTO
							  : (int64_t)(w->seed % 9) * MINUTE_MS}},
		.max_attempts = (int)between(w, 2, 10),
		.same_failures = (int64_t)(w->seed % 4),
		.attempts_window_ms = between(w, 5, 60) * MINUTE_MS,
		.backoff_first_ms = between(w, 1, 10) * SECOND_MS,
		.backoff_max_ms = between(w, 1, 5) * MINUTE_MS,
		.ready_deadline_ms = between(w, 60, 300) * SECOND_MS,
		.poll_fast_ms = between(w, 2, 10) * 250,
		.poll_slow_ms = between(w, 5, 30) * SECOND_MS,
		.poll_tasks_ms = 5 * SECOND_MS,
		.kill_after_ms = between(w, 5, 30) * SECOND_MS,
		.hold_retry_first_ms = between(w, 1, 5) * SECOND_MS,
		.hold_retry_max_ms = between(w, 1, 5) * MINUTE_MS,
		.stop_retry_ms = between(w, 10, 120) * SECOND_MS,
		.on_sigterm = odds(w, 500) ? SIGTERM_SAVEPOINT : SIGTERM_KEEP,
	};
	w->wall_unix_ms = INT64_C(1800000000000);
	w->ha = odds(w, 600);
	w->config->ha_cluster_id = w->ha ? "sim" : NULL;
	w->directory.used = odds(w, 400);
	if (w->ha && odds(w, 700))
		w->config->generation = "g1"; /* without one no launch ever continues */
	w->shared = w->seed % 4 == 0;
	w->apart = !w->ha && w->seed % 17 == 9;
	w->twice_ms = -1;
	if (w->seed % 7 == 3)
		w->config->id_space = "default/sim/"; /* how many: ids.c */
	w->config->policy.generation = w->config->generation;
	w->config->policy.flink_version = w->config->flink_version;
	w->config->policy.foreign = w->seed % 8 == 0 ? FOREIGN_IGNORE : FOREIGN_HOLD;
	if (w->seed % 3 == 1) {
		w->upgrades = true;
		w->next_generation = w->config->generation = w->config->policy.generation = "g1";
		w->config->upgrade = (enum upgrade_mode)below(w, 3);
		w->config->on_sigterm = (enum sigterm_policy)below(w, 3);
		w->config->policy.stateless_upgrade = w->config->upgrade == UPGRADE_STATELESS;
	}
	if (w->config->policy.stateless_upgrade) /* nothing distinguishes it from the other one */
		w->config->policy.foreign = FOREIGN_IGNORE;
	/* most histories are short: many beginnings find more than one long middle */
	w->calm_ms = between(w, 1, odds(w, 50) ? 360 : 40) * MINUTE_MS;
	w->end_ms = w->calm_ms + 90 * MINUTE_MS;
}

static void release(struct world *w)
{
	for (int i = 0; i < PODS; i++) {
		if (w->pods[i].agent.alive && !w->pods[i].agent.stands)
			lifecycle_release(&w->pods[i].agent.life);
		world_enter(w, i);
		if (w->agent->stands)
			stand_end(w);
		life_trace_release(&w->pods[i].agent.trace);
		desired_inputs_release(&w->pods[i].agent.inputs);
		facts_release(&w->pods[i].agent.facts);
	}
	directory_release(w);
	ids_release(w);
	free(w->storage.snaps);
	free(w->truth.launches);
}

/* A hash of everything that happens: the same seeds give the same hash. */
static void remember(struct figures *figures, const struct item *item)
{
	const uint64_t all[] = {(uint64_t)item->at_ms, item->order, (uint64_t)item->kind,
				(uint64_t)item->a, (uint64_t)item->b};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		figures->hash = (figures->hash ^ all[i]) * UINT64_C(0x100000001b3);
}

/* A process that is stopped finds what has happened when it goes on. */
static void resume_later(struct world *w, const struct item *item)
{
	struct item *later =
		plan(w, w->pods[item->pod].paused_until_ms - w->now_ms, item->kind, item->scope);
	int64_t at_ms = later->at_ms;
	uint64_t order = later->order;

	*later = *item;
	later->at_ms = at_ms;
	later->order = order;
}

bool world_run(uint64_t seed, unsigned features, bool verbose, enum text text,
	       struct memory *memory, struct figures *figures, char ret_failure[600])
{
	struct world w = {.seed = seed, .verbose = verbose, .memory = memory, .figures = figures};

	rng_seed(&w.rng, seed);
	world_enter(&w, 0);
	draw_config(&w);
	draw_chaos(&w);
	features_draw(&w, features);
	ids_draw(&w);
	for (int i = 1; i < PODS; i++)
		w.pods[i].config = w.pods[0].config;
	for (size_t i = 0; i < memory->queue_cap; i++)
		memory->unused_items[w.unused_count++] = (int)i;
	w.store = (struct jstore){.text = text,
				  .image = &memory->images[0],
				  .written = {&memory->images[2], &memory->images[3],
					      &memory->images[4], &memory->images[5]},
				  .backup = &memory->images[1]};
	w.lies.copy = &memory->images[2 + PODS];
	w.storage.initial = -1;
	for (int i = 0; i < PODS; i++)
		w.pods[i].flink.stop_op = -1;
	say(&w, "policy %s, %d attempts in %d min, savepoints every %d s, on SIGTERM %s",
	    w.config->policy.restore == POLICY_LATEST ? "latest" : "savepoint",
	    w.config->max_attempts, (int)(w.config->attempts_window_ms / MINUTE_MS),
	    (int)(w.config->savepoints.interval_ms / SECOND_MS),
	    w.config->on_sigterm == SIGTERM_KEEP ? "keep" : "savepoint");
	user_begin(&w);
	features_begin(&w);
	ids_begin(&w);
	checkpoint_begin(&w);
	spare_begin(&w);
	if (has(&w, FEATURE_HANDOVER))
		deployment_begin(&w);
	else
		plan(&w, 0, ITEM_CONTAINER_START, SCOPE_WORLD);
	while (!w.done && w.queue_len) {
		struct item item = pop(&w);

		w.now_ms = item.at_ms;
		remember(figures, &item);
		world_enter(&w, item.pod);
		if (item.epoch != w.epochs[item.scope])
			continue;
		if (w.now_ms > w.end_ms) {
			if (has(&w, FEATURE_HANDOVER))
				handover_describe(&w);
			oracle_end(&w);
			break;
		}
		if (item.scope == SCOPE_AGENT && w.now_ms < w.pods[item.pod].paused_until_ms) {
			resume_later(&w, &item);
			continue;
		}
		dispatch(&w, &item);
		if (has(&w, FEATURE_HANDOVER))
			handover_one_job(&w);
		else
			oracle_one_job(&w);
		if (has(&w, FEATURE_LEASE))
			lease_one_job(&w);
	}
	memcpy(ret_failure, w.failure, sizeof(w.failure));
	release(&w);
	return !*ret_failure;
}
