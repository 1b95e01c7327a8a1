/* drey-init is no part of the agent's library: its pure part is compiled in here. */
#include "entrypoint/stop.c" /* NOLINT(bugprone-suspicious-include) */

#include "tap.h"

#define ALL                                                                                        \
	(STOP_TELL_AGENT | STOP_TERM_CHILD | STOP_KILL_CHILD | STOP_TERM_ORPHANS |                 \
	 STOP_KILL_ORPHANS | STOP_TERM_AGENT | STOP_KILL_AGENT | STOP_FINISH)

static const struct stop quiet = {
	.grace_ms = 30000, .asked_ms = STOP_NEVER, .ending_ms = STOP_NEVER};

/* When this one action falls due; STOP_NEVER if it does not within an hour. */
static int64_t due_at(struct stop s, enum stop_action action)
{
	int64_t now_ms = 0, next_ms;

	while (!(stop_due(&s, ALL & ~action, now_ms, &next_ms) & action)) {
		if (next_ms == STOP_NEVER)
			return STOP_NEVER;
		now_ms = next_ms;
	}
	return now_ms;
}

TEST(nothing_is_due_before_a_stop)
{
	struct stop s = quiet;
	int64_t next_ms;

	s.child = s.agent = s.link = s.left = true;
	CHECK_INT(stop_due(&s, 0, 1000000, &next_ms), ==, 0);
	CHECK_INT(next_ms, ==, STOP_NEVER);
}

TEST(a_plain_command_is_signalled_at_once_and_killed_before_the_end)
{
	struct stop s = quiet;

	s.asked_ms = 1000;
	s.child = s.left = true;
	CHECK_INT(due_at(s, STOP_TERM_CHILD), ==, 1000);
	CHECK_INT(due_at(s, STOP_KILL_CHILD), ==, 1000 + 27000);
	CHECK_INT(due_at(s, STOP_FINISH), ==, 1000 + 29250);
	CHECK_INT(due_at(s, STOP_TELL_AGENT), ==, STOP_NEVER);
	s.grace_ms = 2000;
	CHECK_INT(due_at(s, STOP_KILL_CHILD), ==, 1000 + 1800);
	CHECK_INT(due_at(s, STOP_FINISH), ==, 1000 + 1950);
}

TEST(without_a_deadline_nothing_is_killed)
{
	struct stop s = quiet;

	s.grace_ms = 0;
	s.asked_ms = 1000;
	s.child = s.left = true;
	CHECK_INT(due_at(s, STOP_TERM_CHILD), ==, 1000);
	CHECK_INT(due_at(s, STOP_KILL_CHILD), ==, STOP_NEVER);
	CHECK_INT(due_at(s, STOP_FINISH), ==, STOP_NEVER);
	s.agent = s.link = s.acked = true;
	CHECK_INT(due_at(s, STOP_TERM_CHILD), ==, STOP_NEVER);
	s.acked = false;
	CHECK_INT(due_at(s, STOP_TERM_CHILD), ==, 3000);
}

TEST(an_agent_has_its_share_to_acknowledge)
{
	struct stop s = quiet;

	s.asked_ms = 0;
	s.child = s.left = s.agent = s.link = true;
	CHECK_INT(due_at(s, STOP_TELL_AGENT), ==, 0);
	CHECK_INT(due_at(s, STOP_TERM_CHILD), ==, 2000);
	s.grace_ms = 10000;
	CHECK_INT(due_at(s, STOP_TERM_CHILD), ==, 1000);
	s.link = false; /* hung or dead: no share */
	CHECK_INT(due_at(s, STOP_TERM_CHILD), ==, 0);
	CHECK_INT(due_at(s, STOP_TELL_AGENT), ==, STOP_NEVER);
}

TEST(an_agent_in_charge_leaves_the_jvm_its_share)
{
	struct stop s = quiet;

	s.asked_ms = 0;
	s.child = s.left = s.agent = s.link = s.acked = true;
	CHECK_INT(due_at(s, STOP_TERM_CHILD), ==, 20000);
	CHECK_INT(due_at(s, STOP_KILL_CHILD), ==, 27000);
	s.grace_ms = 600000;
	CHECK_INT(due_at(s, STOP_TERM_CHILD), ==, 590000);
	s.grace_ms = 9000;
	CHECK_INT(due_at(s, STOP_TERM_CHILD), ==, 6000);
	s.link = false;
	CHECK_INT(due_at(s, STOP_TERM_CHILD), ==, 0);
}

TEST(orphans_get_time_but_not_more_than_is_left)
{
	struct stop s = quiet;

	s.ending_ms = 5000;
	s.left = true;
	CHECK_INT(due_at(s, STOP_TERM_ORPHANS), ==, 5000);
	CHECK_INT(due_at(s, STOP_KILL_ORPHANS), ==, 15000);
	CHECK_INT(due_at(s, STOP_FINISH), ==, 16000);
	s.asked_ms = 0;
	s.ending_ms = 26000;
	CHECK_INT(due_at(s, STOP_KILL_ORPHANS), ==, 27000);
	CHECK_INT(due_at(s, STOP_FINISH), ==, 28000);
	s.left = false;
	CHECK_INT(due_at(s, STOP_FINISH), ==, 26000);
}

TEST(an_agent_that_says_exit_late_has_its_time_to_leave)
{
	struct stop s = quiet;

	s.asked_ms = s.ending_ms = 0; /* nothing was running when the stop came */
	s.left = s.agent = s.link = s.acked = s.exit_asked = true;
	s.exit_ms = 5000;
	CHECK_INT(due_at(s, STOP_TERM_AGENT), ==, 7000);
	CHECK_INT(due_at(s, STOP_KILL_AGENT), ==, 9000);
	CHECK_INT(due_at(s, STOP_FINISH), ==, 10000);
}

TEST(an_agent_is_ended_when_its_work_is_done)
{
	struct stop s = quiet;

	s.ending_ms = 5000;
	s.left = s.agent = s.link = s.exit_asked = true;
	CHECK_INT(due_at(s, STOP_TERM_AGENT), ==, 7000);
	CHECK_INT(due_at(s, STOP_KILL_AGENT), ==, 9000);
	CHECK_INT(due_at(s, STOP_FINISH), ==, 10000);
	s.asked_ms = 0;
	s.exit_asked = false;
	s.acked = true; /* it has last words to write, until there is no time for them */
	CHECK_INT(due_at(s, STOP_TERM_AGENT), ==, 27000);
	CHECK_INT(due_at(s, STOP_KILL_AGENT), ==, 28500);
	CHECK_INT(due_at(s, STOP_FINISH), ==, 29250);
	s.acked = false;
	CHECK_INT(due_at(s, STOP_TERM_AGENT), ==, 5000);
	s.ending_ms = 0; /* nothing was running: the agent still has its share */
	CHECK_INT(due_at(s, STOP_TERM_AGENT), ==, 2000);
	s.link = false;
	CHECK_INT(due_at(s, STOP_TERM_AGENT), ==, 0);
}

TEST(force_kills_everything_now)
{
	struct stop s = quiet;

	s.asked_ms = 1000;
	s.child = s.left = s.agent = s.link = s.acked = s.forced = true;
	CHECK_INT(due_at(s, STOP_KILL_CHILD), ==, 1000);
	s.child = false;
	s.ending_ms = 1200;
	CHECK_INT(due_at(s, STOP_KILL_ORPHANS), <=, 1200);
	CHECK_INT(due_at(s, STOP_KILL_AGENT), ==, 1200);
}

/* Whatever the state: by the end of the grace period drey-init has exited, and nothing is done twice. */
TEST(always_ends_in_time)
{
	static const int64_t graces[] = {1, 10, 1000, 30000, 3600000};

	for (unsigned bits = 0; bits < 256; bits++)
		for (size_t i = 0; i < sizeof(graces) / sizeof(graces[0]); i++) {
			struct stop s = quiet;
			int64_t next_ms = 0;
			unsigned done = 0;

			s.grace_ms = graces[i];
			s.asked_ms = 0;
			s.child = bits & 1;
			s.agent = bits & 2;
			s.link = s.agent && bits & 4;
			s.left = s.child || s.agent || bits & 8;
			s.acked = s.agent && bits & 16;
			s.exit_asked = bits & 32;
			s.forced = bits & 64;
			s.ending_ms = s.child ? STOP_NEVER : 0;
			for (int steps = 0; !(done & STOP_FINISH) && steps < 20; steps++) {
				unsigned due = stop_due(&s, done, next_ms, &next_ms);

				if (due & done)
					CHECK(!"done twice");
				done |= due;
				if (!(done & STOP_FINISH) && next_ms > s.grace_ms)
					break;
			}
			if (!(done & STOP_FINISH))
				CHECK(!"never ends");
		}
	CHECK(true);
}

TEST(tells_how_much_is_left)
{
	struct stop s = quiet;

	CHECK_INT(stop_grace_left_ms(&s, 123456), ==, 30000);
	s.asked_ms = 1000;
	CHECK_INT(stop_grace_left_ms(&s, 6000), ==, 25000);
	CHECK_INT(stop_grace_left_ms(&s, 99000), ==, 0);
	s.grace_ms = 0;
	CHECK_INT(stop_grace_left_ms(&s, 6000), ==, -1);
}
