#include "stop.h"

#include <stddef.h>

static int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* A moment `after_ms` later; never stays never. */
static int64_t later(int64_t ms, int64_t after_ms)
{
	return ms == STOP_NEVER ? STOP_NEVER : ms + after_ms;
}

/* The moment `before_end_ms` before the grace period runs out. */
static int64_t before_end(const struct stop *s, int64_t before_end_ms)
{
	return s->grace_ms ? later(s->asked_ms, s->grace_ms - before_end_ms) : STOP_NEVER;
}

static int64_t margin_ms(const struct stop *s)
{
	return min64(STOP_MARGIN_MAX_MS, s->grace_ms / 10);
}

static int64_t ack_by(const struct stop *s)
{
	return later(s->asked_ms,
		     s->grace_ms ? min64(STOP_ACK_MAX_MS, s->grace_ms / 10) : STOP_ACK_MAX_MS);
}

static int64_t kill_by(const struct stop *s)
{
	return s->forced ? s->asked_ms : before_end(s, margin_ms(s));
}

static int64_t tell_agent(const struct stop *s)
{
	return s->link ? s->asked_ms : STOP_NEVER;
}

static int64_t term_child(const struct stop *s)
{
	if (!s->child)
		return STOP_NEVER;
	if (!s->link)
		return s->asked_ms;
	if (!s->acked)
		return ack_by(s);
	return before_end(s, min64(STOP_JVM_MAX_MS, s->grace_ms / 3));
}

static int64_t kill_child(const struct stop *s)
{
	return s->child ? kill_by(s) : STOP_NEVER;
}

static int64_t term_orphans(const struct stop *s)
{
	return s->ending_ms;
}

static int64_t kill_orphans(const struct stop *s)
{
	int64_t share =
		s->grace_ms ? min64(STOP_ORPHANS_MAX_MS, s->grace_ms / 3) : STOP_ORPHANS_MAX_MS;

	if (s->ending_ms == STOP_NEVER)
		return STOP_NEVER;
	return min64(later(s->ending_ms, share), kill_by(s));
}

static int64_t term_agent(const struct stop *s)
{
	int64_t due = s->ending_ms;

	if (!s->agent || s->ending_ms == STOP_NEVER)
		return STOP_NEVER;
	if (s->exit_asked)
		due = later(max64(s->ending_ms, s->exit_ms), STOP_AGENT_LEAVE_MS);
	else if (s->acked && s->link)
		due = STOP_NEVER;
	else if (s->link)
		due = max64(s->ending_ms, ack_by(s));
	return min64(due, kill_by(s));
}

static int64_t kill_agent(const struct stop *s)
{
	int64_t due = later(term_agent(s), STOP_AGENT_LEAVE_MS);

	if (due == STOP_NEVER)
		return STOP_NEVER;
	return s->forced ? s->ending_ms : min64(due, before_end(s, margin_ms(s) / 2));
}

static int64_t finish(const struct stop *s)
{
	int64_t due = before_end(s, margin_ms(s) / 4);

	if (s->ending_ms != STOP_NEVER && !s->left)
		return s->ending_ms;
	/* A process that not even SIGKILL ends (in an uninterruptible
	 * sleep) must not stop our exit. */
	if (s->ending_ms != STOP_NEVER && !s->agent)
		due = min64(due, later(kill_orphans(s), 1000));
	else if (s->ending_ms != STOP_NEVER)
		due = min64(due, later(kill_agent(s), 1000));
	return due;
}

static const struct {
	enum stop_action action;
	int64_t (*due)(const struct stop *s);
} rows[] = {
	{STOP_TELL_AGENT, tell_agent},     {STOP_TERM_CHILD, term_child},
	{STOP_KILL_CHILD, kill_child},     {STOP_TERM_ORPHANS, term_orphans},
	{STOP_KILL_ORPHANS, kill_orphans}, {STOP_TERM_AGENT, term_agent},
	{STOP_KILL_AGENT, kill_agent},     {STOP_FINISH, finish},
};

unsigned stop_due(const struct stop *stop, unsigned done, int64_t now_ms, int64_t *ret_next_ms)
{
	int64_t next_ms = STOP_NEVER;
	unsigned due = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t at_ms = rows[i].due(stop);

		if (done & rows[i].action || at_ms == STOP_NEVER)
			continue;
		if (at_ms <= now_ms)
			due |= rows[i].action;
		else
			next_ms = min64(next_ms, at_ms);
	}
	*ret_next_ms = next_ms;
	return due;
}

int64_t stop_grace_left_ms(const struct stop *stop, int64_t now_ms)
{
	if (!stop->grace_ms)
		return -1;
	if (stop->asked_ms == STOP_NEVER)
		return stop->grace_ms;
	return max64(0, stop->asked_ms + stop->grace_ms - now_ms);
}
