/* Orphans by the thousand. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"

static long private_dirty_kb(pid_t pid)
{
	char path[64], line[200];
	long kb = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Private_Dirty:", 14))
			kb = strtol(line + 14, NULL, 10);
	if (f)
		fclose(f);
	return kb;
}

TEST(ten_thousand_orphans_that_die_at_once_are_all_reaped)
{
	struct rig rig = {0};

	CHECK(RIG_START(&rig, "--", rig_puppet(), "storm", "10000"));
	CHECK(rig_says(&rig, "left "));
	CHECK_INT(rig_number(&rig, "left "), ==, 0);
	CHECK_INT(rig_wait(&rig), ==, 0);
	tap_note("%ld ms", rig_number(&rig, " ms "));
}

TEST(ten_thousand_orphans_are_reaped_by_pid_1)
{
	struct rig rig = {0};

	if (!RIG_START_PID1(&rig, "--", rig_puppet(), "storm", "10000"))
		return;
	CHECK(rig_says(&rig, "left "));
	CHECK_INT(rig_number(&rig, "left "), ==, 0);
	CHECK_INT(rig_wait(&rig), ==, 0);
}

TEST(a_stream_of_orphans_leaves_none_and_costs_no_memory)
{
	struct rig rig = {0};

	CHECK(RIG_START(&rig, "--", "/bin/sh", "-c",
			"\"$0\" stream 3000; \"$0\" stream 3000; exec \"$0\" wait", rig_puppet()));
	CHECK(rig_says(&rig, "ready "));
	CHECK_INT(rig_count(&rig, "left 0\n"), ==, 2);
	CHECK_INT(private_dirty_kb(rig.pid), >, 0);
	if (!rig_sanitized())
		CHECK_INT(private_dirty_kb(rig.pid), <=, 64);
	kill(rig.pid, SIGTERM);
	CHECK_INT(rig_wait(&rig), ==, 143);
}

TEST(orphans_of_the_agent_are_reaped_and_told_to_nobody)
{
	struct rig rig = {0};
	struct link_msg msg;

	CHECK(RIG_AGENT(&rig, NULL));
	CHECK(rig_expect(&rig, LINK_HELLO, NULL));
	RIG_LAUNCH(&rig, "first", "stream", "500");
	CHECK(rig_expect(&rig, LINK_STARTED, NULL));
	CHECK(rig_expect(&rig, LINK_EXITED, &msg)); /* the next message, after 500 deaths */
	CHECK_STR(msg.launch_id, "first");
	CHECK_INT(msg.wait_status, ==, 0);
	CHECK(rig_says(&rig, "left 0\n"));
	rig_send(&rig, LINK_EXIT, 0, 0, 0);
	rig_tell_agent(&rig, "exit 0");
	CHECK_INT(rig_wait(&rig), ==, 0);
}

/* How often it has gone to sleep; -1 when that cannot be read. */
static long switches(pid_t pid)
{
	static const char key[] = "voluntary_ctxt_switches:";
	char path[64], line[200];
	long count = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, sizeof(key) - 1))
			count = strtol(line + sizeof(key) - 1, NULL, 10);
	if (f)
		fclose(f);
	return count;
}

TEST(sleeps_when_there_is_nothing_to_do)
{
	struct rig rig = {0};
	long before = -1, after = -2;

	CHECK(RIG_START(&rig, "--", rig_puppet(), "wait"));
	CHECK(rig_says(&rig, "ready "));
	CHECK(rig_state(rig.pid, 'S'));
	/* the first look can be too early: it may still be on its way to sleep */
	for (int i = 0; i < 4 && after != before; i++) {
		before = switches(rig.pid);
		usleep(2500000);
		after = switches(rig.pid);
	}
	CHECK_INT(before, >=, 0);
	CHECK_INT(after, ==, before);
	kill(rig.pid, SIGTERM);
	CHECK_INT(rig_wait(&rig), ==, 143);
}
