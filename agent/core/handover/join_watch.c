#include "core/handover/join_watch.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define STATUS_SIGNAL 128

/* ---- what one round has found ---- */

void join_round_answer(struct join_round *round, const struct join_reply *reply)
{
	round->asked++;
	switch (reply->kind) {
	case JOIN_OTHER:
		if (!round->other++)
			memcpy(round->generation, reply->generation, sizeof(round->generation));
		break;
	case JOIN_WAIT:
		if (!round->waiting++)
			memcpy(round->why_waiting, reply->why, sizeof(round->why_waiting));
		break;
	case JOIN_GO:
		if (!strcmp(reply->cluster_id, round->current))
			round->is_current = true;
		if (round->go++) {
			round->is_conflict |= strcmp(reply->cluster_id, round->cluster_id) != 0;
			break;
		}
		memcpy(round->cluster_id, reply->cluster_id, sizeof(round->cluster_id));
		memcpy(round->side, reply->side, sizeof(round->side));
		round->rehearse = reply->rehearse;
		break;
	}
}

void join_round_failed(struct join_round *round, const char *why)
{
	round->asked++;
	if (!round->failed++)
		snprintf(round->why_failed, sizeof(round->why_failed), "%s", why);
}

static enum join_seen judge_round(const struct join_round *round)
{
	if (round->go)
		return round->is_conflict && !round->is_current ? JOIN_SEEN_CONFLICT : JOIN_SEEN_GO;
	if (round->waiting)
		return JOIN_SEEN_NO_SIDE;
	if (!round->other)
		return JOIN_SEEN_NOBODY;
	return round->failed ? JOIN_SEEN_DOUBT : JOIN_SEEN_OTHERS;
}

static void describe_round(const struct join_round *round, enum join_seen seen, char *text,
			   size_t size_bytes)
{
	switch (seen) {
	case JOIN_SEEN_NOTHING:
		break;
	case JOIN_SEEN_NOBODY:
		snprintf(text, size_bytes, "%s", round->why_failed);
		break;
	case JOIN_SEEN_DOUBT:
		snprintf(text, size_bytes, "generation '%s' answers; %d without an answer: %s",
			 round->generation, round->failed, round->why_failed);
		break;
	case JOIN_SEEN_OTHERS:
		snprintf(text, size_bytes, "generation '%s' answers", round->generation);
		break;
	case JOIN_SEEN_NO_SIDE:
		snprintf(text, size_bytes, "%s", round->why_waiting);
		break;
	case JOIN_SEEN_CONFLICT:
		snprintf(text, size_bytes, "%s is one of several cluster ids", round->cluster_id);
		break;
	case JOIN_SEEN_GO:
		snprintf(text, size_bytes, "side %s, cluster id %s", round->side,
			 round->cluster_id);
		break;
	}
}

/* ---- what is said ---- */

static const char *sentence(enum join_state state, enum join_seen seen)
{
	bool runs = state == JOIN_RUNNING;

	switch (seen) {
	case JOIN_SEEN_NOTHING:
		break;
	case JOIN_SEEN_NOBODY:
	case JOIN_SEEN_DOUBT:
		return runs ? "no drey of this generation answers; the TaskManager keeps running"
			    : "waiting: no drey of this generation answers";
	case JOIN_SEEN_OTHERS:
		return runs ? "only dreys of another generation answer"
			    : "waiting: only dreys of another generation answer";
	case JOIN_SEEN_NO_SIDE:
		return runs ? "the drey of this generation has no side; the TaskManager keeps running"
			    : "waiting: the drey of this generation has no side";
	case JOIN_SEEN_CONFLICT:
		return runs ? "dreys of this generation name different sides; the TaskManager keeps running"
			    : "waiting: dreys of this generation name different sides";
	case JOIN_SEEN_GO:
		return runs ? "the drey of this generation answers again" : "TaskManager starts";
	}
	return NULL;
}

/* A line when it is another situation than at the last line. */
static void say_seen(struct join_watch *watch, const struct join_round *round, int64_t now_ms,
		     struct join_effects *effects)
{
	enum join_seen seen = watch->seen;
	bool silent = seen == JOIN_SEEN_NOBODY || seen == JOIN_SEEN_DOUBT;

	/* an answer that is late now and then is no news */
	if (watch->state == JOIN_RUNNING && silent && now_ms - watch->heard_ms < JOIN_ABSENT_MS)
		return;
	if (watch->said == seen)
		return;
	watch->said = seen;
	effects->say = sentence(watch->state, seen);
	effects->warn = seen == JOIN_SEEN_CONFLICT || (watch->state == JOIN_RUNNING && silent);
	describe_round(round, seen, effects->detail, sizeof(effects->detail));
}

/* ---- the machine ---- */

void join_watch_init(struct join_watch *watch, int64_t now_ms)
{
	*watch = (struct join_watch){
		.ask_ms = now_ms,
		.kill_ms = JOIN_WATCH_NEVER,
		.heard_ms = now_ms,
		.absent_ms = JOIN_WATCH_NEVER,
		.moved_ms = JOIN_WATCH_NEVER,
		.since_ms = now_ms,
	};
}

static void join_finish(struct join_watch *watch, int exit_status, struct join_effects *effects)
{
	watch->state = JOIN_DONE;
	watch->kill_ms = JOIN_WATCH_NEVER;
	effects->exit = true;
	effects->exit_status = exit_status;
}

static void leave(struct join_watch *watch, const char *say, const struct join_round *round,
		  int64_t now_ms, struct join_effects *effects)
{
	watch->state = JOIN_LEAVING;
	watch->kill_ms = now_ms + JOIN_KILL_MS;
	effects->say = say;
	effects->signo = SIGTERM;
	describe_round(round, watch->seen, effects->detail, sizeof(effects->detail));
}

static void round_waiting(struct join_watch *watch, const struct join_round *round, int64_t now_ms,
			  struct join_effects *effects)
{
	say_seen(watch, round, now_ms, effects);
	if (watch->seen != JOIN_SEEN_GO) {
		watch->ask_ms = now_ms + (now_ms - watch->since_ms < JOIN_CALM_MS ? JOIN_EARLY_MS
										  : JOIN_ASK_MS);
		return;
	}
	memcpy(watch->cluster_id, round->cluster_id, sizeof(watch->cluster_id));
	watch->state = JOIN_RUNNING;
	watch->since_ms = watch->heard_ms = now_ms;
	watch->heard_last = true;
	watch->absent_ms = watch->moved_ms = JOIN_WATCH_NEVER;
	watch->ask_ms = now_ms + JOIN_ASK_MS;
	effects->start = true;
	effects->rehearse = round->rehearse;
}

/* Bring absent_ms and moved_ms up to date: since when is it proven? */
static void judge_place(struct join_watch *watch, const struct join_round *round, int64_t now_ms)
{
	bool heard = round->go || round->waiting;
	bool moved = watch->seen == JOIN_SEEN_GO && !round->is_current;

	if (!moved)
		watch->moved_ms = JOIN_WATCH_NEVER;
	else if (watch->moved_ms == JOIN_WATCH_NEVER)
		watch->moved_ms = now_ms;
	if (heard)
		watch->absent_ms = JOIN_WATCH_NEVER;
	else if (watch->seen == JOIN_SEEN_OTHERS && watch->absent_ms == JOIN_WATCH_NEVER)
		watch->absent_ms = watch->heard_last ? watch->heard_ms : now_ms;
	if (heard)
		watch->heard_ms = now_ms;
	watch->heard_last = heard;
}

static bool lasts(int64_t since_ms, int64_t now_ms)
{
	return since_ms != JOIN_WATCH_NEVER && now_ms - since_ms >= JOIN_ABSENT_MS;
}

static void round_running(struct join_watch *watch, const struct join_round *round, int64_t now_ms,
			  struct join_effects *effects)
{
	judge_place(watch, round, now_ms);
	if (watch->moved_ms != JOIN_WATCH_NEVER &&
	    (!round->failed || lasts(watch->moved_ms, now_ms))) {
		leave(watch, "TaskManager ends: its generation is on another side", round, now_ms,
		      effects);
		return;
	}
	if (watch->seen == JOIN_SEEN_OTHERS && lasts(watch->absent_ms, now_ms)) {
		leave(watch, "TaskManager ends: only dreys of another generation answer", round,
		      now_ms, effects);
		return;
	}
	if (watch->moved_ms == JOIN_WATCH_NEVER)
		say_seen(watch, round, now_ms, effects);
	if (!round->is_current)
		watch->since_ms = now_ms;
	watch->ask_ms =
		now_ms + (now_ms - watch->since_ms < JOIN_CALM_MS ? JOIN_ASK_MS : JOIN_STEADY_MS);
}

static void on_round(struct join_watch *watch, const struct join_round *round, int64_t now_ms,
		     struct join_effects *effects)
{
	watch->asking = false;
	watch->seen = judge_round(round);
	if (watch->state == JOIN_WAITING)
		round_waiting(watch, round, now_ms, effects);
	else if (watch->state == JOIN_RUNNING)
		round_running(watch, round, now_ms, effects);
}

static void on_ended(struct join_watch *watch, int exit_status, int64_t now_ms,
		     struct join_effects *effects)
{
	snprintf(effects->detail, sizeof(effects->detail), "exit status %d", exit_status);
	effects->say = "TaskManager has ended";
	if (watch->state != JOIN_LEAVING) {
		join_finish(watch, exit_status, effects);
		return;
	}
	watch->state = JOIN_WAITING;
	watch->said = JOIN_SEEN_NOTHING;
	watch->cluster_id[0] = '\0';
	watch->kill_ms = JOIN_WATCH_NEVER;
	watch->since_ms = watch->ask_ms = now_ms;
	effects->sweep = true;
}

static void on_signal(struct join_watch *watch, int signo, struct join_effects *effects)
{
	bool stops = signo == SIGTERM || signo == SIGINT;

	if (watch->state != JOIN_WAITING) {
		effects->signo = signo;
		if (stops)
			watch->state = JOIN_STOPPING;
	} else if (stops || signo == SIGQUIT || signo == SIGHUP) {
		join_finish(watch, STATUS_SIGNAL + signo, effects);
	}
}

void join_watch_step(struct join_watch *watch, const struct join_event *event, int64_t now_ms,
		     struct join_effects *ret_effects)
{
	struct join_effects effects = {0};

	switch (watch->state == JOIN_DONE ? JOIN_EVENT_TICK : event->type) {
	case JOIN_EVENT_TICK:
		break;
	case JOIN_EVENT_ROUND:
		on_round(watch, event->round, now_ms, &effects);
		break;
	case JOIN_EVENT_ENDED:
		on_ended(watch, event->exit_status, now_ms, &effects);
		break;
	case JOIN_EVENT_SIGNAL:
		on_signal(watch, event->signo, &effects);
		break;
	}
	if (now_ms >= join_watch_wake_ms(watch)) {
		if (now_ms >= watch->kill_ms) {
			watch->kill_ms = JOIN_WATCH_NEVER;
			effects.signo = SIGKILL;
			effects.say = "TaskManager did not end in time: SIGKILL";
			effects.warn = true;
		} else {
			watch->asking = effects.ask = true;
		}
	}
	*ret_effects = effects;
}

int64_t join_watch_wake_ms(const struct join_watch *watch)
{
	bool asks = watch->state == JOIN_WAITING || watch->state == JOIN_RUNNING;

	/* SIGKILL is due only while it leaves or stops, a round only otherwise */
	return asks && !watch->asking ? watch->ask_ms : watch->kill_ms;
}

const char *join_state_name(enum join_state state)
{
	static const char *const names[] = {
		[JOIN_WAITING] = "Waiting", [JOIN_RUNNING] = "Running",
		[JOIN_LEAVING] = "Leaving", [JOIN_STOPPING] = "Stopping",
		[JOIN_DONE] = "Done",
	};

	return names[state];
}
