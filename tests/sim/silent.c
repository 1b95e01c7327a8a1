/*
 * A Flink that lives, completes checkpoints, and whose REST API nobody reaches: a firewall, a certificate, another port. What
 * drey sees of it then, in storage and in HA data. Of its deadlines none may end such a launch.
 */
#include <signal.h>
#include <string.h>

#include "core/resolve/signs.h"
#include "tests/sim/sim.h"

#define SEEK_TAKES_MS 40

void silent_flink_starts(struct world *w)
{
	w->flink->silent_until_ms = 0;
	if (has(w, FEATURE_SILENT) && !w->calm && luck(w, 250))
		w->flink->silent_until_ms = w->now_ms + luck_between(w, 1, 40) * MINUTE_MS;
	if (w->flink->silent_until_ms)
		say(w, "nobody reaches its REST API");
	if (has(w, FEATURE_SILENT) && !w->calm && luck(w, 100))
		plan(w, luck_between(w, 1, 30) * MINUTE_MS, ITEM_HANG, SCOPE_FLINK);
}

/* Whatever was to come of it does not. */
static void hang(struct world *w)
{
	struct flink *flink = w->flink;

	if (!flink->alive || flink->terminating)
		return;
	say(w, "Flink hangs");
	flink->hangs = flink->ignores_term = true;
	w->epochs[SCOPE_FLINK]++;
	w->epochs[SCOPE_JOB]++;
}

static bool is_silent(const struct world *w)
{
	return w->flink->hangs || (w->flink->silent_until_ms > w->now_ms && !w->calm);
}

bool flink_answers(const struct world *w)
{
	return w->flink->alive && w->flink->rest_up && !is_silent(w);
}

void silent_seek(struct world *w)
{
	plan(w, SEEK_TAKES_MS, ITEM_SIGNS, SCOPE_AGENT)->b =
		journal_launch_const(&w->agent->life.journal)->number;
}

void silent_item(struct world *w, const struct item *item)
{
	const struct launch *launch = journal_launch_const(&w->agent->life.journal);
	struct event event = {.type = EVENT_SIGNS, .signs.launch = item->b};
	struct rng before = w->rng;
	struct facts facts;

	if (item->kind == ITEM_HANG) {
		hang(w);
		return;
	}
	if (!w->agent->alive || w->agent->stands || !launch || launch->number != item->b)
		return;
	storage_gather(w, &facts);
	/* the histories of other worlds stay as they were */
	if (!has(w, FEATURE_SILENT))
		w->rng = before;
	signs_read(launch, &facts, &event.signs.signs);
	facts_release(&facts);
	say(w, "signs: %s %s", signs_words[event.signs.signs.verdict], event.signs.signs.text);
	agent_step(w, &event);
}

/* It has completed something that storage shows to everybody. */
static bool shows_life(const struct world *w)
{
	const struct flink *flink = w->flink;
	const struct snap *snap =
		flink->completed >= 0 ? &w->storage.snaps[flink->completed] : NULL;

	return snap && snap->complete && !snap->deleted && !snap->hidden && !snap->of_wrong &&
	       !snap->struck_unix_ms;
}

static bool is_said_to_hang(const struct world *w)
{
	const char *why = w->agent->life.end_reason;

	return why && strstr(why, "the JobManager hangs");
}

bool silent_excuses_signal(const struct world *w, const struct effect *effect)
{
	return effect->signo == SIGQUIT || is_said_to_hang(w);
}

/* Storage has shown a checkpoint of it in that time, or Flink has answered. */
static void judge_hang(struct world *w)
{
	int64_t limit_ms = w->config->health.unreachable_after_ms;

	if (!w->flink->alive || !is_said_to_hang(w) || w->flink->hangs || w->flink->terminating)
		return;
	if (shows_life(w) && w->flink->progress_ms + limit_ms > w->now_ms + MINUTE_MS)
		fail(w, "a job that completes checkpoints is taken for one that hangs: %s",
		     w->agent->life.end_reason);
	if (!is_silent(w))
		fail(w, "a Flink that answers is taken for one that hangs: %s",
		     w->agent->life.end_reason);
}

void silent_judge_signal(struct world *w, const struct effect *effect)
{
	const struct lifecycle *life = &w->agent->life;
	const char *why = life->end_reason;

	if (effect->signo == SIGTERM)
		judge_hang(w);
	if (!w->flink->alive || !is_silent(w) || life->fenced || life->terminating ||
	    w->truth.mismatch || !why || effect->signo != SIGTERM || w->flink->terminating ||
	    flink_is_held(w->flink))
		return;
	if (shows_life(w) && (strstr(why, "not running") || strstr(why, "runDeadline")))
		fail(w, "a launch that lives is ended because nobody reaches it: %s", why);
}
