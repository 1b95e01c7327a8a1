#include "core/scale.h"

#include "core/pace.h"

const char *const scale_words[] = {"parked", "finished", NULL};

const char *scale_goal_name(enum scale_goal goal)
{
	switch (goal) {
	case SCALE_KEEP:
		return "keep";
	case SCALE_DOWN:
		return "down";
	case SCALE_UP:
		return "up";
	}
	return "?";
}

static bool is_parked(enum phase phase)
{
	return phase == PHASE_SUSPENDED || phase == PHASE_CANCELLED || phase == PHASE_FAILED ||
	       phase == PHASE_FINISHED;
}

/* A job that runs, or is about to. In every other phase nobody knows yet what comes next. */
static bool is_needed(enum phase phase)
{
	return phase == PHASE_LAUNCHING || phase == PHASE_RUNNING;
}

/* 0: in this phase never. */
static int64_t down_due_ms(const struct scale *scale, const struct scale_config *config,
			   int64_t finished_unix_ms, int64_t now_ms, int64_t now_unix_ms)
{
	int64_t since_ms = scale->since_ms, gone_ms = now_unix_ms - finished_unix_ms;

	if (!is_parked(scale->phase))
		return 0;
	if (scale->phase != PHASE_FINISHED)
		return config->when == SCALE_WHEN_FINISHED ? 0 : since_ms + config->parked_after_ms;
	/* also before this process was started; but a clock that was set must not shorten it below 0 */
	if (finished_unix_ms && gone_ms > now_ms - since_ms)
		since_ms = now_ms - gone_ms;
	return since_ms + config->finished_after_ms;
}

void scale_stepped(struct scale *scale, const struct scale_config *config, enum phase phase,
		   int64_t finished_unix_ms, int64_t now_ms, int64_t now_unix_ms)
{
	enum scale_goal before = scale->goal;

	if (scale->phase != phase || !scale->since_ms) {
		scale->phase = phase;
		scale->since_ms = now_ms;
		scale->due_ms = down_due_ms(scale, config, finished_unix_ms, now_ms, now_unix_ms);
	}
	if (is_needed(phase))
		scale->goal = SCALE_UP;
	else if (is_parked(phase) && (scale->due_ms || scale->phase == PHASE_FINISHED) &&
		 now_ms >= scale->due_ms && !scale->contested)
		scale->goal = SCALE_DOWN;
	else
		scale->goal = SCALE_KEEP;
	if (scale->goal == SCALE_UP) {
		scale->contested = false;
		scale->downs = 0;
	}
	if (scale->goal == before)
		return;
	/* others may have changed it meanwhile */
	scale->known = false;
	scale->failures = 0;
	scale->not_before_ms = 0;
}

static struct scale_step nothing(int64_t wait_ms)
{
	return (struct scale_step){.act = SCALE_NOTHING, .wait_ms = wait_ms};
}

static struct scale_step step_of(enum scale_act act, int64_t replicas)
{
	return (struct scale_step){.act = act, .replicas = replicas};
}

static struct scale_step next_down(const struct scale *scale, int64_t now_ms)
{
	int64_t again_ms = scale->looked_ms + SCALE_LOOK_MS - now_ms;

	if (scale->replicas > 0 && scale->recorded != scale->replicas)
		return step_of(SCALE_RECORD, scale->replicas);
	if (scale->replicas > 0)
		return step_of(SCALE_SET, 0);
	return again_ms > 0 ? nothing(again_ms) : step_of(SCALE_LOOK, 0);
}

static struct scale_step next_up(const struct scale *scale)
{
	if (scale->replicas == 0 && scale->recorded)
		return step_of(SCALE_SET, scale->recorded);
	return scale->recorded ? step_of(SCALE_FORGET, 0) : nothing(-1);
}

struct scale_step scale_next(const struct scale *scale, int64_t now_ms)
{
	if (scale->busy)
		return nothing(-1);
	if (scale->goal == SCALE_KEEP)
		return nothing(scale->due_ms > now_ms && !scale->contested ? scale->due_ms - now_ms
									   : -1);
	if (now_ms < scale->not_before_ms)
		return nothing(scale->not_before_ms - now_ms);
	if (!scale->known)
		return step_of(SCALE_LOOK, 0);
	return scale->goal == SCALE_DOWN ? next_down(scale, now_ms) : next_up(scale);
}

/* The sooner of both; -1: never. */
static int64_t sooner_ms(int64_t a_ms, int64_t b_ms)
{
	return a_ms < 0 || (b_ms >= 0 && b_ms < a_ms) ? b_ms : a_ms;
}

struct scale_step scale_next_of(const struct scale *scales, size_t count, int64_t now_ms,
				struct scale_step *ret_steps)
{
	struct scale_step all = nothing(-1);
	bool busy = false;

	for (size_t i = 0; i < count; i++) {
		busy = busy || scales[i].busy;
		ret_steps[i] = scale_next(&scales[i], now_ms);
		if (ret_steps[i].act == SCALE_NOTHING)
			all.wait_ms = sooner_ms(all.wait_ms, ret_steps[i].wait_ms);
		/* the earliest act: who is behind catches up, and then they are done together */
		else if (all.act == SCALE_NOTHING || ret_steps[i].act < all.act)
			all.act = ret_steps[i].act;
	}
	if (busy)
		all = nothing(-1);
	for (size_t i = 0; i < count; i++)
		if (ret_steps[i].act != all.act)
			ret_steps[i] = nothing(-1);
	return all;
}

bool scale_is_down(const struct scale *scale)
{
	return scale->goal != SCALE_DOWN || (scale->known && scale->replicas == 0);
}

void scale_begins(struct scale *scale)
{
	scale->busy = true;
}

static void succeeded(struct scale *scale)
{
	scale->busy = false;
	scale->failures = 0;
	scale->not_before_ms = 0;
	scale->refused_ms = 0;
}

/* Somebody scales it up again and again. */
static void count_down(struct scale *scale, int64_t now_ms)
{
	if (!scale->downs || now_ms - scale->first_down_ms > SCALE_CONTEST_MS) {
		scale->downs = 0;
		scale->first_down_ms = now_ms;
	}
	scale->downs++;
}

void scale_looked(struct scale *scale, int64_t replicas, int64_t recorded, int64_t now_ms)
{
	succeeded(scale);
	scale->known = true;
	scale->looked_ms = now_ms;
	scale->replicas = replicas;
	scale->recorded = recorded;
	if (scale->goal == SCALE_DOWN && replicas > 0 && scale->downs >= SCALE_MOST_DOWN &&
	    now_ms - scale->first_down_ms <= SCALE_CONTEST_MS) {
		scale->contested = true;
		scale->goal = SCALE_KEEP;
	}
}

void scale_recorded(struct scale *scale, int64_t replicas)
{
	succeeded(scale);
	scale->recorded = replicas;
}

void scale_was_set(struct scale *scale, int64_t replicas, int64_t now_ms)
{
	succeeded(scale);
	if (replicas == 0)
		count_down(scale, now_ms);
	scale->replicas = replicas;
	scale->looked_ms = now_ms;
}

void scale_forgotten(struct scale *scale)
{
	succeeded(scale);
	scale->recorded = 0;
}

bool scale_is_refused(const struct scale *scale, int64_t now_ms)
{
	return scale->refused_ms && now_ms - scale->refused_ms >= PACE_DENIED_MS;
}

void scale_failed(struct scale *scale, enum scale_failure failure, int64_t retry_after_ms,
		  int64_t now_ms)
{
	int64_t pause_ms = SCALE_FIRST_MS;

	scale->busy = false;
	scale->known = false;
	if (failure == SCALE_REFUSED && !scale->refused_ms)
		scale->refused_ms = now_ms;
	if (failure != SCALE_REFUSED)
		scale->refused_ms = 0;
	for (int i = 0; i < scale->failures && pause_ms < SCALE_LONGEST_MS; i++)
		pause_ms *= 2;
	if (pause_ms > SCALE_LONGEST_MS)
		pause_ms = SCALE_LONGEST_MS;
	if (pause_ms < retry_after_ms)
		pause_ms = retry_after_ms;
	if (scale_is_refused(scale, now_ms))
		pause_ms = SCALE_DENIED_MS;
	scale->failures++;
	scale->not_before_ms = now_ms + pause_ms;
}
