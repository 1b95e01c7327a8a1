/* The end: deadlines, orphans, and drey-init's own violent death. */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include "rig.h"

static int64_t ignored_sigterm(void)
{
	struct rig rig = {0};
	int64_t from_ms, ms;

	CHECK(RIG_START(&rig, "--grace", "2.5", "--", rig_puppet(), "deaf"));
	CHECK(rig_says(&rig, "ready "));
	from_ms = rig_now_ms();
	kill(rig.pid, SIGTERM);
	usleep(200000);
	kill(rig.pid, SIGTERM); /* moves nothing */
	CHECK_INT(rig_wait(&rig), ==, 137);
	ms = rig_now_ms() - from_ms;
	CHECK_INT(ms, >=, 2240); /* 2.5 s less a tenth */
	CHECK_HAS(rig.text, "did not exit in time: SIGKILL");
	return ms;
}

TEST(a_command_that_ignores_sigterm_is_killed_in_time)
{
	CHECK_INT(rig_best_ms(ignored_sigterm, 2500), <, 2500);
}

TEST(the_grace_period_is_taken_from_the_environment)
{
	struct rig rig = {0};
	int64_t from_ms;

	setenv("DREY_GRACE_SECONDS", "1", 1);
	CHECK(RIG_START(&rig, "--", rig_puppet(), "deaf"));
	unsetenv("DREY_GRACE_SECONDS");
	CHECK(rig_says(&rig, "ready "));
	from_ms = rig_now_ms();
	kill(rig.pid, SIGINT);
	CHECK_INT(rig_wait(&rig), ==, 137);
	CHECK_INT(rig_now_ms() - from_ms, <, 20000); /* the default is 30 s */
}

TEST(without_a_deadline_nothing_is_killed)
{
	struct rig rig = {0};

	CHECK(RIG_START(&rig, "--grace", "0", "--", rig_puppet(), "linger", "1000", "3"));
	CHECK(rig_says(&rig, "ready "));
	kill(rig.pid, SIGTERM);
	CHECK_INT(rig_wait(&rig), ==, 3);
}

TEST(the_whole_group_is_killed)
{
	struct rig rig = {0};

	CHECK(RIG_START(&rig, "--grace", "1", "--", rig_puppet(), "deaf-group"));
	CHECK(rig_says(&rig, "ready "));
	CHECK(rig_says(&rig, "second "));
	kill(rig.pid, SIGTERM);
	CHECK_INT(rig_wait(&rig), ==, 137);
	CHECK(rig_gone((pid_t)rig_number(&rig, "second ")));
}

TEST(what_a_killed_agent_leaves_is_killed_too)
{
	struct rig rig = {0};

	CHECK(RIG_START(&rig, "--agent", "--grace", "3", "--", rig_puppet(), "deaf-group"));
	CHECK(rig_says(&rig, "ready "));
	CHECK(rig_says(&rig, "second "));
	kill(rig.pid, SIGTERM);
	rig_wait(&rig);
	CHECK(rig_gone((pid_t)rig_number(&rig, "second ")));
}

TEST(a_command_that_takes_its_time_keeps_its_status)
{
	struct rig rig = {0};

	CHECK(RIG_START(&rig, "--grace", "20", "--", rig_puppet(), "linger", "300", "77"));
	CHECK(rig_says(&rig, "ready "));
	kill(rig.pid, SIGTERM);
	CHECK_INT(rig_wait(&rig), ==, 77);
}

/* ---- orphans ---- */

static const char *hide_proc(void *arg)
{
	(void)arg;
	return mount("none", "/proc", "tmpfs", 0, NULL) < 0 ? "cannot hide /proc" : NULL;
}

static const char *own_mounts_without_proc(void *arg)
{
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return "needs root";
	return hide_proc(arg);
}

TEST(an_orphan_gets_time_to_clean_up)
{
	static const char *const session[] = {"--", NULL, "orphan", "clean", NULL};
	static const char *const group[] = {"--", NULL, "orphan-in-group", "clean", NULL};

	for (int i = 0; i < 6; i++) {
		const char *argv[5];
		struct rig rig = {0};
		bool ok;

		for (int j = 0; j < 5; j++)
			argv[j] = (i % 2 ? group : session)[j];
		argv[1] = rig_puppet();
		if (i < 2)
			ok = rig_start(&rig, NULL, NULL, argv);
		else
			ok = rig_start_pid1(&rig, i < 4 ? NULL : hide_proc, argv);
		if (!ok)
			return;
		CHECK_INT(rig_wait(&rig), ==, 5);
		CHECK_INT(rig_count(&rig, "orphan cleaned up"), ==, 1);
	}
}

TEST(the_child_of_an_orphan_gets_time_too)
{
	struct rig rig = {0};

	CHECK(RIG_START(&rig, "--", rig_puppet(), "orphan-chain", "clean"));
	CHECK_INT(rig_wait(&rig), ==, 5);
	CHECK_INT(rig_count(&rig, "orphan cleaned up"), ==, 1);
	CHECK_INT(rig_now_ms() - rig.started_ms, <, 9000); /* it was asked, not waited for */
}

TEST(without_proc_orphans_of_the_group_still_get_time)
{
	struct rig rig = {0};

	if (!RIG_START_IN(&rig, own_mounts_without_proc, NULL, "--", rig_puppet(),
			  "orphan-in-group", "clean"))
		return;
	CHECK_INT(rig_wait(&rig), ==, 5);
	CHECK_INT(rig_count(&rig, "orphan cleaned up"), ==, 1);
}

TEST(an_orphan_that_will_not_go_is_killed)
{
	for (int pid1 = 0; pid1 < 2; pid1++) {
		const char *const argv[] = {"--grace", "9",    "--", rig_puppet(),
					    "orphan",  "deaf", NULL};
		struct rig rig = {0};

		if (!(pid1 ? rig_start_pid1(&rig, NULL, argv) : rig_start(&rig, NULL, NULL, argv)))
			return;
		CHECK_INT(rig_wait(&rig), ==, 5);
		CHECK_INT(rig_now_ms() - rig.started_ms, >=,
			  2990); /* a third of the grace period */
		CHECK_INT(rig_now_ms() - rig.started_ms, <, 8000);
		if (!pid1)
			CHECK(rig_gone((pid_t)rig_number(&rig, "orphan ")));
	}
}

/* ---- its own death ---- */

TEST(when_drey_init_is_killed_so_is_the_command)
{
	struct rig rig = {0};
	pid_t pid;

	CHECK(RIG_START(&rig, "--", rig_puppet(), "deaf"));
	CHECK(rig_says(&rig, "ready "));
	pid = (pid_t)rig_number(&rig, "ready ");
	kill(rig.pid, SIGKILL);
	CHECK_INT(rig_wait(&rig), ==, 1000 + SIGKILL);
	CHECK(rig_gone(pid));
}

TEST(when_drey_init_is_killed_so_are_agent_and_child)
{
	struct rig rig = {0};
	struct link_msg msg;

	CHECK(RIG_AGENT(&rig, NULL));
	CHECK(rig_expect(&rig, LINK_HELLO, NULL));
	RIG_LAUNCH(&rig, "first", "deaf");
	CHECK(rig_expect(&rig, LINK_STARTED, &msg));
	kill(rig.pid, SIGKILL);
	CHECK_INT(rig_wait(&rig), ==, 1000 + SIGKILL);
	CHECK(rig_gone(msg.pid));
	CHECK(rig_gone(rig.agent));
}
