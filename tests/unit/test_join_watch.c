#include "core/handover/join_watch.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

/* ---- a `drey join` that is played: rounds are words, time passes between them ---- */

struct play {
	struct join_watch watch;
	int64_t now_ms;
	struct join_effects effects; /* of the last step */
	int said;                    /* lines so far */
	char last[800];              /* the last one, with its detail */
};

static void step(struct play *p, const struct join_event *event)
{
	join_watch_step(&p->watch, event, p->now_ms, &p->effects);
	if (!p->effects.say)
		return;
	p->said++;
	snprintf(p->last, sizeof(p->last), "%s: %s", p->effects.say, p->effects.detail);
}

static void begin(struct play *p)
{
	*p = (struct play){.now_ms = 1000000};
	join_watch_init(&p->watch, p->now_ms);
	step(p, &(struct join_event){.type = JOIN_EVENT_TICK});
	CHECK(p->effects.ask);
}

static void end(struct play *p)
{
	(void)p;
}

#define PLAY(name) TEST_WITH(name, struct play, p, begin, end)

/* An answer as a word: "go=ID", "wait", "other", "fail". */
static void add_word(struct join_round *round, const char *word)
{
	struct join_reply reply = {.kind = JOIN_OTHER, .generation = "H"};

	if (!strcmp(word, "fail")) {
		join_round_failed(round, "connection refused");
		return;
	}
	if (!strcmp(word, "wait")) {
		reply.kind = JOIN_WAIT;
		snprintf(reply.why, sizeof(reply.why), "not yet");
	}
	if (!strncmp(word, "go=", 3)) {
		reply.kind = JOIN_GO;
		snprintf(reply.cluster_id, sizeof(reply.cluster_id), "%s", word + 3);
		snprintf(reply.side, sizeof(reply.side), "blue");
	}
	join_round_answer(round, &reply);
}

/* The time of the next tick comes. */
static void wait_on(struct play *p)
{
	int64_t wake_ms = join_watch_wake_ms(&p->watch);

	if (CHECK(wake_ms != JOIN_WATCH_NEVER) && wake_ms > p->now_ms)
		p->now_ms = wake_ms;
	step(p, &(struct join_event){.type = JOIN_EVENT_TICK});
}

/* The round that is under way ends with these answers, "go=a fail other". */
static void hear(struct play *p, const char *words)
{
	struct join_round round = {0};
	char text[100], *save = NULL;

	CHECK(p->watch.asking);
	snprintf(round.current, sizeof(round.current), "%s", p->watch.cluster_id);
	snprintf(text, sizeof(text), "%s", words);
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
		add_word(&round, word);
	step(p, &(struct join_event){.type = JOIN_EVENT_ROUND, .round = &round});
}

/* Round after round has these answers, until `for_ms` have passed or it does not ask any more. */
static void goes_on(struct play *p, const char *words, int64_t for_ms)
{
	int64_t end_ms = p->now_ms + for_ms;

	while (p->now_ms < end_ms) {
		if (!p->watch.asking)
			wait_on(p);
		if (!p->watch.asking)
			return;
		hear(p, words);
	}
}

static void get_signal(struct play *p, int signo)
{
	step(p, &(struct join_event){.type = JOIN_EVENT_SIGNAL, .signo = signo});
}

static void child_ends(struct play *p, int exit_status)
{
	step(p, &(struct join_event){.type = JOIN_EVENT_ENDED, .exit_status = exit_status});
}

static void is_state(const struct play *p, enum join_state state)
{
	CHECK_STR(join_state_name(p->watch.state), join_state_name(state));
}

static void starts_in(struct play *p, const char *cluster_id)
{
	char words[100];

	if (!p->watch.asking)
		wait_on(p);
	snprintf(words, sizeof(words), "go=%s", cluster_id);
	hear(p, words);
	CHECK(p->effects.start);
	is_state(p, JOIN_RUNNING);
	CHECK_STR(p->watch.cluster_id, cluster_id);
}

/* ---- before the start ---- */

PLAY(starts_when_a_drey_of_its_generation_names_the_cluster)
{
	starts_in(p, "a");
	CHECK_HAS(p->last, "TaskManager starts: side blue, cluster id a");
	CHECK_INT(join_watch_wake_ms(&p->watch) - p->now_ms, ==, JOIN_ASK_MS);
}

TEST(one_answer_is_enough_whatever_the_others_say)
{
	static const char *const rounds[] = {"other go=a", "go=a other", "fail go=a fail",
					     "go=a wait",  "wait go=a",  "go=a go=a"};

	for (size_t i = 0; i < ARRAY_LEN(rounds); i++) {
		struct play p;

		begin(&p);
		hear(&p, rounds[i]);
		CHECK(p.effects.start);
		CHECK_STR(p.watch.cluster_id, "a");
	}
}

TEST(without_such_an_answer_it_waits)
{
	static const struct {
		const char *round, *says;
	} cases[] = {
		{"", "waiting: no drey of this generation answers: "},
		{"fail", "waiting: no drey of this generation answers: connection refused"},
		{"other", "waiting: only dreys of another generation answer: generation 'H'"},
		{"other fail", "waiting: no drey of this generation answers: generation 'H' "
			       "answers; 1 without an answer: connection refused"},
		{"other wait", "waiting: the drey of this generation has no side: not yet"},
		{"wait fail", "waiting: the drey of this generation has no side: not yet"},
		{"go=a go=b", "waiting: dreys of this generation name different sides: a is one"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct play p;

		begin(&p);
		goes_on(&p, cases[i].round, 3600000);
		is_state(&p, JOIN_WAITING);
		CHECK_INT(p.said, ==, 1); /* once, however long it waits */
		CHECK_HAS(p.last, cases[i].says);
		starts_in(&p, "a");
		CHECK_INT(p.said, ==, 2);
	}
}

PLAY(asks_often_at_first_and_then_less)
{
	hear(p, "fail");
	CHECK_INT(join_watch_wake_ms(&p->watch) - p->now_ms, ==, JOIN_EARLY_MS);
	goes_on(p, "fail", JOIN_CALM_MS);
	CHECK_INT(join_watch_wake_ms(&p->watch) - p->now_ms, ==, JOIN_ASK_MS);
}

PLAY(never_asks_while_a_round_is_under_way)
{
	CHECK_INT(join_watch_wake_ms(&p->watch), ==, JOIN_WATCH_NEVER);
	p->now_ms += 3600000;
	step(p, &(struct join_event){.type = JOIN_EVENT_TICK});
	CHECK(!p->effects.ask);
}

TEST(without_a_taskmanager_a_signal_that_would_end_it_ends_the_command)
{
	static const int ends[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP};
	static const int others[] = {SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT};
	struct play p;

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		begin(&p);
		get_signal(&p, ends[i]);
		CHECK(p.effects.exit);
		CHECK_INT(p.effects.exit_status, ==, 128 + ends[i]);
		CHECK_INT(p.effects.signo, ==, 0);
		hear(&p, "go=a"); /* too late */
		CHECK(!p.effects.start);
	}
	begin(&p);
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		get_signal(&p, others[i]);
		CHECK(!p.effects.exit && !p.effects.signo);
	}
	starts_in(&p, "a");
}

/* ---- while it runs ---- */

PLAY(asks_less_when_nothing_has_changed_for_a_minute)
{
	starts_in(p, "a");
	goes_on(p, "go=a other", JOIN_CALM_MS - JOIN_ASK_MS);
	CHECK_INT(join_watch_wake_ms(&p->watch) - p->now_ms, ==, JOIN_ASK_MS);
	goes_on(p, "go=a other", JOIN_ASK_MS);
	CHECK_INT(join_watch_wake_ms(&p->watch) - p->now_ms, ==, JOIN_STEADY_MS);
	wait_on(p);
	hear(p, "other");
	CHECK_INT(join_watch_wake_ms(&p->watch) - p->now_ms, ==, JOIN_ASK_MS);
}

PLAY(ends_when_only_another_generation_has_answered_for_10_s)
{
	int64_t heard_ms;

	starts_in(p, "a");
	goes_on(p, "go=a other", 20000);
	heard_ms = p->now_ms;
	while (p->watch.state == JOIN_RUNNING) {
		wait_on(p);
		hear(p, "other");
	}
	is_state(p, JOIN_LEAVING);
	CHECK_INT(p->effects.signo, ==, SIGTERM);
	CHECK_INT(p->now_ms - heard_ms, >=, JOIN_ABSENT_MS);
	CHECK_INT(p->now_ms - heard_ms, <=, JOIN_ABSENT_MS + JOIN_ASK_MS);
	CHECK_HAS(p->last, "TaskManager ends: only dreys of another generation answer: "
			   "generation 'H' answers");
}

PLAY(the_longer_pause_between_rounds_keeps_the_10_s)
{
	int64_t heard_ms;

	starts_in(p, "a");
	goes_on(p, "go=a", 200000);
	heard_ms = p->now_ms;
	while (p->watch.state == JOIN_RUNNING) {
		wait_on(p);
		hear(p, "other");
	}
	CHECK_INT(p->now_ms - heard_ms, >=, JOIN_ABSENT_MS);
	CHECK_INT(p->now_ms - heard_ms, <=, JOIN_ABSENT_MS + JOIN_ASK_MS);
}

PLAY(one_answer_of_its_own_within_10_s_is_enough)
{
	static const char *const own[] = {"go=a", "other wait", "wait fail", "go=a go=b"};

	starts_in(p, "a");
	for (int i = 0; i < 100; i++) {
		goes_on(p, "other", JOIN_ABSENT_MS - 2 * JOIN_ASK_MS);
		wait_on(p);
		hear(p, own[i % ARRAY_LEN(own)]);
		is_state(p, JOIN_RUNNING);
	}
}

TEST(keeps_running_while_an_address_does_not_answer)
{
	static const char *const rounds[] = {"", "fail", "fail fail", "other fail", "fail other"};

	for (size_t i = 0; i < ARRAY_LEN(rounds); i++) {
		struct play p;

		begin(&p);
		starts_in(&p, "a");
		goes_on(&p, rounds[i], 3600000);
		is_state(&p, JOIN_RUNNING);
		CHECK_INT(p.said, ==, 2);
		CHECK_HAS(p.last, "no drey of this generation answers; the TaskManager keeps");
		CHECK(!p.effects.signo);
		wait_on(&p);
		hear(&p, "go=a");
		CHECK_HAS(p.last, "the drey of this generation answers again");
	}
}

PLAY(after_doubt_the_absence_must_be_proven_for_10_s)
{
	starts_in(p, "a");
	goes_on(p, "fail", 60000);
	goes_on(p, "other", JOIN_ABSENT_MS - JOIN_ASK_MS);
	is_state(p, JOIN_RUNNING);
	goes_on(p, "other", 2 * JOIN_ASK_MS);
	is_state(p, JOIN_LEAVING);
}

PLAY(ends_only_in_a_round_without_doubt)
{
	starts_in(p, "a");
	wait_on(p);
	hear(p, "other");
	goes_on(p, "other fail", 60000);
	is_state(p, JOIN_RUNNING);
	wait_on(p);
	hear(p, "other");
	is_state(p, JOIN_LEAVING);
}

PLAY(a_drey_without_a_side_is_still_its_own)
{
	starts_in(p, "a");
	goes_on(p, "wait other", 3600000);
	is_state(p, JOIN_RUNNING);
	CHECK_INT(p->said, ==, 2);
	CHECK_HAS(p->last, "the drey of this generation has no side; the TaskManager keeps");
}

PLAY(a_short_silence_is_not_reported)
{
	starts_in(p, "a");
	for (int i = 0; i < 20; i++) {
		goes_on(p, "fail", JOIN_ABSENT_MS - 2 * JOIN_ASK_MS);
		goes_on(p, "go=a", JOIN_ASK_MS);
	}
	CHECK_INT(p->said, ==, 1);
}

PLAY(ends_at_once_when_its_generation_is_on_another_side)
{
	starts_in(p, "a");
	wait_on(p);
	hear(p, "wait go=b other");
	is_state(p, JOIN_LEAVING);
	CHECK_INT(p->effects.signo, ==, SIGTERM);
	CHECK_HAS(p->last, "TaskManager ends: its generation is on another side: side blue, "
			   "cluster id b");
}

PLAY(while_an_address_does_not_answer_the_other_side_must_last_10_s)
{
	starts_in(p, "a");
	goes_on(p, "go=b fail", JOIN_ABSENT_MS);
	is_state(p, JOIN_RUNNING);
	wait_on(p);
	hear(p, "go=a fail");
	goes_on(p, "go=b fail", JOIN_ABSENT_MS);
	is_state(p, JOIN_RUNNING);
	goes_on(p, "go=b fail", 2 * JOIN_ASK_MS);
	is_state(p, JOIN_LEAVING);
}

PLAY(two_other_sides_at_the_same_time_are_no_reason_to_end)
{
	starts_in(p, "a");
	goes_on(p, "go=b go=c", 3600000);
	is_state(p, JOIN_RUNNING);
	CHECK_HAS(p->last, "dreys of this generation name different sides; the TaskManager keeps");
	goes_on(p, "go=b go=a", 3600000);
	is_state(p, JOIN_RUNNING);
	CHECK_HAS(p->last, "the drey of this generation answers again"); /* one names its own */
}

PLAY(the_end_of_the_taskmanager_is_its_own)
{
	starts_in(p, "a");
	child_ends(p, 239);
	CHECK(p->effects.exit && !p->effects.sweep);
	CHECK_INT(p->effects.exit_status, ==, 239);
	is_state(p, JOIN_DONE);
	CHECK_INT(join_watch_wake_ms(&p->watch), ==, JOIN_WATCH_NEVER);
}

PLAY(signals_go_to_the_taskmanager)
{
	static const int signals[] = {SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP};

	starts_in(p, "a");
	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		get_signal(p, signals[i]);
		CHECK_INT(p->effects.signo, ==, signals[i]);
		is_state(p, JOIN_RUNNING);
	}
}

TEST(after_sigterm_it_asks_no_more_and_ends_with_the_taskmanager)
{
	static const int stops[] = {SIGTERM, SIGINT};

	for (size_t i = 0; i < ARRAY_LEN(stops); i++) {
		struct play p;

		begin(&p);
		starts_in(&p, "a");
		wait_on(&p);
		get_signal(&p, stops[i]);
		CHECK_INT(p.effects.signo, ==, stops[i]);
		is_state(&p, JOIN_STOPPING);
		hear(&p, "go=b"); /* of the round that was under way */
		CHECK(!p.effects.signo);
		/* drey-init has the deadline */
		CHECK_INT(join_watch_wake_ms(&p.watch), ==, JOIN_WATCH_NEVER);
		get_signal(&p, SIGTERM);
		CHECK_INT(p.effects.signo, ==, SIGTERM);
		child_ends(&p, 143);
		CHECK(p.effects.exit);
		CHECK_INT(p.effects.exit_status, ==, 143);
	}
}

/* ---- while it leaves ---- */

static void leaves(struct play *p)
{
	starts_in(p, "a");
	wait_on(p);
	hear(p, "go=b");
	is_state(p, JOIN_LEAVING);
}

PLAY(waits_anew_after_it_has_left_and_joins_the_other_side)
{
	leaves(p);
	p->now_ms += 700;
	child_ends(p, 143);
	CHECK(!p->effects.exit && p->effects.sweep);
	CHECK(p->effects.ask); /* immediately */
	is_state(p, JOIN_WAITING);
	hear(p, "other");
	CHECK_HAS(p->last, "waiting: only dreys of another generation answer");
	wait_on(p);
	starts_in(p, "b");
}

PLAY(one_that_does_not_end_gets_sigkill_after_10_s_and_once)
{
	int64_t left_ms;

	leaves(p);
	left_ms = p->now_ms;
	p->now_ms += JOIN_KILL_MS - 1;
	step(p, &(struct join_event){.type = JOIN_EVENT_TICK});
	CHECK_INT(p->effects.signo, ==, 0);
	wait_on(p);
	CHECK_INT(p->now_ms - left_ms, ==, JOIN_KILL_MS);
	CHECK_INT(p->effects.signo, ==, SIGKILL);
	CHECK_HAS(p->last, "SIGKILL");
	CHECK_INT(join_watch_wake_ms(&p->watch), ==, JOIN_WATCH_NEVER);
	child_ends(p, 137);
	is_state(p, JOIN_WAITING);
}

PLAY(sigterm_while_it_leaves_ends_the_command_and_sigkill_stays_due)
{
	leaves(p);
	get_signal(p, SIGTERM);
	is_state(p, JOIN_STOPPING);
	wait_on(p);
	CHECK_INT(p->effects.signo, ==, SIGKILL);
	child_ends(p, 137);
	CHECK(p->effects.exit);
	CHECK_INT(p->effects.exit_status, ==, 137);
}

PLAY(other_signals_while_it_leaves_change_nothing)
{
	leaves(p);
	get_signal(p, SIGQUIT);
	CHECK_INT(p->effects.signo, ==, SIGQUIT);
	is_state(p, JOIN_LEAVING);
	child_ends(p, 0);
	is_state(p, JOIN_WAITING);
}
