/* The spare: a second child that waits, and becomes the main child, or leaves the launch as it was without it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spare_rig.h"

#define GOES "args", "go", "main"

static void started(struct spare_rig *s, bool from_spare, struct link_msg *ret)
{
	struct link_msg msg = {0};

	CHECK(rig_expect(&s->rig, LINK_STARTED, &msg));
	CHECK_STR(msg.launch_id, "job-1");
	CHECK_INT(msg.flags, ==, from_spare ? LINK_FROM_SPARE : 0);
	CHECK_INT(msg.since_unix_ms, >, 0);
	if (ret)
		*ret = msg;
}

static int oom_score_of(pid_t pid)
{
	char path[64], text[32] = "none";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	file = fopen(path, "r");
	if (file && !fgets(text, sizeof(text), file))
		*text = '\0';
	if (file)
		fclose(file);
	return atoi(text);
}

/* ---- it works ---- */

TEST(a_spare_that_waits_becomes_the_main_child)
{
	struct spare_rig s;
	struct link_msg msg;
	int before;
	pid_t pid;

	spare_rig_begin(&s);
	before = rig_open_files(s.rig.pid);
	for (int i = 0; i < 3; i++) {
		pid = READY(&s, GOES);
		CHECK(rig_state(pid, 'T'));
		CHECK_INT(oom_score_of(pid), ==, 1000);
		spare_rig_launch_job(&s, "spare-1");
		started(&s, true, &msg);
		CHECK_INT(msg.pid, ==, pid);
		spare_rig_job_done(&s);
	}
	CHECK_INT(rig_open_files(s.rig.pid), ==, before);
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

TEST(as_process_1_it_works_too)
{
	struct spare_rig s;

	spare_rig_begin_pid1(&s);
	if (!s.rig.pid)
		return;
	READY(&s, GOES);
	spare_rig_launch_job(&s, "spare-1");
	started(&s, true, NULL);
	spare_rig_job_done(&s);
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

TEST(what_was_a_spare_is_an_ordinary_child_afterwards)
{
	struct spare_rig s;
	struct link_msg msg;
	pid_t pid;

	spare_rig_begin(&s);
	pid = READY(&s, GOES);
	spare_rig_launch(&s, "spare-1", (const char *const[]){"log", NULL});
	started(&s, true, NULL);
	CHECK(rig_says(&s.rig, "ready "));
	CHECK_INT(oom_score_of(pid), ==, oom_score_of(getpid()));
	rig_send(&s.rig, LINK_SIGNAL, SIGTERM, 0, 0);
	CHECK(rig_says(&s.rig, "got 15\n"));
	/* the agent's death ends a spare, and not this one */
	rig_tell_agent(&s.rig, "exit 1");
	CHECK(rig_next_agent(&s.rig));
	CHECK(rig_expect(&s.rig, LINK_HELLO, &msg));
	CHECK(msg.flags & LINK_RUNNING);
	CHECK_INT(msg.pid, ==, pid);
	kill(pid, SIGKILL);
	CHECK(rig_expect(&s.rig, LINK_EXITED, &msg));
	CHECK_INT(msg.wait_status, ==, SIGKILL);
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

TEST(a_spare_waits_beside_a_main_child_and_outlives_it)
{
	struct spare_rig s;
	struct link_msg msg;
	pid_t pid;

	spare_rig_begin(&s);
	spare_rig_launch(&s, NULL, (const char *const[]){"wait", NULL});
	started(&s, false, NULL);
	pid = READY(&s, GOES);
	rig_send(&s.rig, LINK_SIGNAL, SIGKILL, 0, LINK_GROUP);
	CHECK(rig_expect(&s.rig, LINK_EXITED, NULL));
	spare_rig_launch_job(&s, "spare-1");
	started(&s, true, &msg);
	CHECK_INT(msg.pid, ==, pid);
	spare_rig_job_done(&s);
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

TEST(a_spare_that_strangers_stop_and_continue_works)
{
	struct spare_rig s;
	pid_t pid;

	spare_rig_begin(&s);
	pid = READY(&s, GOES);
	CHECK(rig_state(pid, 'T'));
	kill(pid, SIGCONT);
	CHECK(rig_state(pid, 'S')); /* reads, and gets nothing */
	spare_rig_launch_job(&s, "spare-1");
	started(&s, true, NULL);
	spare_rig_job_done(&s);
	pid = READY(&s, GOES);
	kill(pid, SIGCONT);
	kill(pid, SIGSTOP);
	spare_rig_launch_job(&s, "spare-1");
	started(&s, true, NULL);
	spare_rig_job_done(&s);
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

TEST(arguments_arrive_as_they_are)
{
	struct spare_rig s;

	spare_rig_begin(&s);
	READY(&s, "args", "show", "go", "main");
	spare_rig_launch(&s, "spare-1",
			 (const char *const[]){"exit", "7", "", "a b\n", "", "ü", "", NULL});
	started(&s, true, NULL);
	CHECK(rig_expect(&s.rig, LINK_EXITED, NULL));
	CHECK(rig_says(&s.rig, "arguments 7\n<exit><7><><a b\n><><ü><>\n"));
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

TEST(arguments_of_the_full_size_fit)
{
	static char big[LINK_PACKET_MAX_BYTES - 1200];
	struct spare_rig s;

	spare_rig_begin(&s);
	memset(big, 'x', sizeof(big) - 1);
	READY(&s, GOES);
	spare_rig_launch(&s, "spare-1", (const char *const[]){"exit", "0", big, NULL});
	started(&s, true, NULL);
	CHECK(rig_expect(&s.rig, LINK_EXITED, NULL));
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

TEST(a_spare_warms_for_a_quarter_of_the_time)
{
	struct spare_rig s;
	struct link_msg msg;
	int stopped = 0, seen = 0;
	char path[64], line[300];
	int64_t until_ms;

	spare_rig_begin(&s);
	SPARE(&s, "say r", "loop");
	for (until_ms = rig_now_ms() + 60000; !s.rig.text[0] && rig_now_ms() < until_ms;) {
		FILE *file;

		/* the only child of drey-init that is not the agent */
		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)s.rig.pid,
			 (int)s.rig.pid);
		file = fopen(path, "r");
		line[0] = '\0';
		if (file && !fgets(line, sizeof(line), file))
			line[0] = '\0';
		if (file)
			fclose(file);
		msg.pid = 0;
		for (char *at = line; *at; at += strcspn(at, " "), at += *at == ' ')
			if (atoi(at) != s.rig.agent)
				msg.pid = atoi(at);
		if (msg.pid)
			break;
	}
	CHECK_INT(msg.pid, >, 0);
	for (until_ms = rig_now_ms() + 2000; rig_now_ms() < until_ms; usleep(3000)) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/stat", (int)msg.pid);
		file = fopen(path, "r");
		if (!file || !fgets(line, sizeof(line), file))
			break;
		fclose(file);
		seen++;
		stopped += strrchr(line, ')')[2] == 'T';
	}
	tap_note("stopped in %d of %d looks", stopped, seen);
	CHECK_INT(stopped * 100, >, seen * 50);
	CHECK_INT(stopped * 100, <, seen * 95);
	rig_send(&s.rig, LINK_SPARE_END, 0, 0, 0);
	CHECK_INT(spare_rig_gone(&s, ECANCELED), ==, SIGKILL);
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

/* ---- it does not become anything ---- */

TEST(a_spare_that_does_not_start_is_told_with_the_reason)
{
	static const char *const nothing[] = {"/no/such/program", NULL};
	struct link_msg head = {.type = LINK_SPARE, .launch_id = "spare-1"};
	struct spare_rig s;
	int fd;

	spare_rig_begin(&s);
	fd = spare_rig_open(s.lock);
	rig_send_packed(&s.rig, &head, fd, nothing);
	CHECK_INT(spare_rig_gone(&s, ENOENT), ==, 0);
	rig_send_packed(&s.rig, &head, -1, nothing); /* without the lock file */
	CHECK_INT(spare_rig_gone(&s, EINVAL), ==, 0);
	rig_send_packed(&s.rig, &head, fd, nothing + 1); /* without a command */
	CHECK_INT(spare_rig_gone(&s, EINVAL), ==, 0);
	close(fd);
	READY(&s, GOES);
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

TEST(a_spare_that_does_not_become_ready_is_ended)
{
	struct spare_rig s;

	spare_rig_begin(&s);
	spare_rig_start(&s, "spare-1", rig_now_ms() + 150, (const char *const[]){"loop", NULL});
	CHECK_INT(spare_rig_gone(&s, ETIMEDOUT), ==, SIGKILL);
	SPARE(&s, "say red");
	CHECK_INT(spare_rig_gone(&s, EPROTO), ==, SIGKILL);
	SPARE(&s, "say ready\nand more");
	CHECK_INT(spare_rig_gone(&s, EPROTO), ==, SIGKILL);
	SPARE(&s, "close");
	CHECK_INT(spare_rig_gone(&s, 0), ==, SIGKILL);
	SPARE(&s, "exit 9");
	CHECK_INT(spare_rig_gone(&s, 0), ==, 9 << 8);
	spare_rig_launch_job(&s, "spare-1");
	started(&s, false, NULL);
	spare_rig_job_done(&s);
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

TEST(a_spare_that_is_gone_or_speaks_while_it_waits_is_reported)
{
	struct spare_rig s;
	pid_t pid;

	spare_rig_begin(&s);
	pid = READY(&s, GOES);
	kill(pid, SIGKILL);
	CHECK_INT(spare_rig_gone(&s, 0), ==, SIGKILL);
	pid = READY(&s, "nap 300", "say x");
	kill(pid, SIGCONT);
	CHECK_INT(spare_rig_gone(&s, EPROTO), ==, SIGKILL);
	spare_rig_launch_job(&s, "spare-1");
	started(&s, false, NULL);
	spare_rig_job_done(&s);
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

TEST(there_is_one_spare_at_a_time)
{
	struct spare_rig s;

	spare_rig_begin(&s);
	READY(&s, GOES);
	spare_rig_start(&s, "spare-2", 0, (const char *const[]){"ready", GOES, NULL});
	spare_rig_gone(&s, EBUSY);
	CHECK_INT(spare_rig_gone(&s, ECANCELED), ==, SIGKILL);
	READY(&s, GOES);
	rig_send(&s.rig, LINK_SPARE_END, 0, 0, 0);
	CHECK_INT(spare_rig_gone(&s, ECANCELED), ==, SIGKILL);
	rig_send(&s.rig, LINK_SPARE_END, 0, 0, 0); /* nothing happens */
	spare_rig_launch_job(&s, NULL);
	started(&s, false, NULL);
	spare_rig_job_done(&s);
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

/* STARTED and SPARE_GONE, in whichever order. */
static void started_without(struct spare_rig *s, int why)
{
	struct link_msg msg[2] = {0};
	int gone;

	CHECK(rig_recv(&s->rig, &msg[0]));
	CHECK(rig_recv(&s->rig, &msg[1]));
	gone = msg[0].type == LINK_SPARE_GONE ? 0 : 1;
	CHECK_INT(msg[gone].type, ==, LINK_SPARE_GONE);
	CHECK_INT(msg[gone].sys_errno, ==, why);
	CHECK_INT(msg[!gone].type, ==, LINK_STARTED);
	CHECK_INT(msg[!gone].flags, ==, 0);
}

TEST(a_launch_that_does_not_mean_this_spare_ends_it)
{
	struct spare_rig s, other;

	spare_rig_begin(&s);
	READY(&s, GOES);
	spare_rig_launch_job(&s, NULL);
	started_without(&s, ECANCELED);
	spare_rig_job_done(&s);
	READY(&s, GOES);
	spare_rig_launch_job(&s, "spare-2");
	started_without(&s, ESTALE);
	spare_rig_job_done(&s);
	SPARE(&s, "nap 60000"); /* not ready */
	spare_rig_launch_job(&s, "spare-1");
	started_without(&s, ESTALE);
	spare_rig_job_done(&s);
	READY(&s, GOES);
	other = s;
	strcpy(other.lock, "/tmp/drey-lock-XXXXXX");
	close(mkstemp(other.lock));
	other.lock_fd = -1;
	spare_rig_launch_job(&other, "spare-1"); /* another lock file */
	started_without(&other, ESTALE);
	spare_rig_job_done(&other);
	unlink(other.lock);
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

/* ---- the activation fails ---- */

TEST(a_spare_that_fails_with_its_arguments_leaves_an_ordinary_start)
{
	static const struct {
		const char *steps[8];
		int why, wait_status;
	} bad[] = {
		{{"ready", "args", "exit 3"}, 0, 3 << 8},
		{{"ready", "exit 3"}, 0, 3 << 8},
		{{"ready", "args", "nap 60000", "go", "main"}, ETIMEDOUT, SIGKILL},
		{{"ready", "loop"}, ETIMEDOUT, SIGKILL},
		{{"ready", "args", "stop", "go", "main"}, ETIMEDOUT, SIGKILL},
		{{"ready", "args", "say nonsense", "nap 60000"}, EPROTO, SIGKILL},
		{{"ready", "args", "say go\ngo\n", "nap 60000"}, EPROTO, SIGKILL},
		{{"ready", "args", "close", "nap 60000"}, 0, SIGKILL},
		{{"ready", "close", "nap 60000"}, 0, SIGKILL},
		/* what it leaves behind still has its description of the lock file */
		{{"ready", "args", "keep", "exit 0"}, 0, 0},
		{{"ready", "args", "keep", "nap 60000"}, ETIMEDOUT, SIGKILL},
	};
	struct spare_rig s;
	int before;

	spare_rig_begin(&s);
	before = rig_open_files(s.rig.pid);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		pid_t pid = spare_rig_ready(&s, bad[i].steps);

		spare_rig_launch_job(&s, "spare-1");
		CHECK_INT(spare_rig_gone(&s, bad[i].why), ==, bad[i].wait_status);
		CHECK(rig_gone(-pid)); /* the whole group */
		started(&s, false, NULL);
		spare_rig_job_done(&s);
	}
	CHECK_INT(rig_open_files(s.rig.pid), ==, before);
	/* a line for each; two may be gone before they are asked */
	CHECK_INT(rig_count(&s.rig, "the spare spare-1") + 2, >=,
		  (int)(sizeof(bad) / sizeof(bad[0])));
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

TEST(a_spare_that_is_killed_as_it_is_asked_leaves_an_ordinary_start)
{
	struct spare_rig s;

	spare_rig_begin(&s);
	for (int i = 0; i < 50; i++) {
		pid_t pid = READY(&s, "args", "nap 3", "go", "main");

		if (i & 1)
			kill(pid, SIGKILL);
		spare_rig_launch_job(&s, "spare-1");
		if (!(i & 1))
			kill(pid, SIGKILL);
		CHECK_INT(spare_rig_gone(&s, 0), ==, SIGKILL);
		started(&s, false, NULL);
		spare_rig_job_done(&s);
	}
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

TEST(a_lock_that_another_process_has_fails_the_launch)
{
	struct spare_rig s;
	struct link_msg msg = {.type = LINK_LAUNCH, .launch_id = "job-1", .spare_id = "spare-1"};
	int rival, mine;

	spare_rig_begin(&s);
	READY(&s, GOES);
	rival = spare_rig_open(s.lock);
	mine = spare_rig_open(s.lock);
	CHECK_INT(flock(rival, LOCK_EX | LOCK_NB), ==, 0);
	msg.flags = LINK_INTO_SPARE;
	msg.spare_argc = 1;
	rig_send_packed(&s.rig, &msg, mine, (const char *const[]){rig_puppet(), "wait", NULL});
	CHECK_INT(spare_rig_gone(&s, EWOULDBLOCK), ==, SIGKILL);
	CHECK(rig_expect(&s.rig, LINK_LAUNCH_FAILED, &msg));
	CHECK_INT(msg.sys_errno, ==, EWOULDBLOCK);
	CHECK_INT(rig_count(&s.rig, "arguments"), ==, 0);
	close(rival);
	close(mine);
	spare_rig_launch_job(&s, NULL);
	started(&s, false, NULL);
	spare_rig_job_done(&s);
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

TEST(while_a_spare_is_asked_another_launch_and_another_spare_are_refused)
{
	struct spare_rig s;
	struct link_msg msg;

	spare_rig_begin(&s);
	READY(&s, "args", "nap 5", "go", "main");
	spare_rig_launch_job(&s, "spare-1");
	RIG_LAUNCH(&s.rig, "job-2", "wait");
	spare_rig_start(&s, "spare-2", 0, (const char *const[]){"ready", NULL});
	rig_send(&s.rig, LINK_SPARE_END, 0, 0, 0); /* too late */
	CHECK(rig_expect(&s.rig, LINK_LAUNCH_FAILED, &msg));
	CHECK_INT(msg.sys_errno, ==, EBUSY);
	CHECK_STR(msg.launch_id, "job-2");
	spare_rig_gone(&s, EBUSY);
	started(&s, true, NULL);
	spare_rig_job_done(&s);
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

/* From LAUNCH to STARTED, with a spare that never answers, and without one. */
static int64_t start_takes_ms(bool with_spare)
{
	struct spare_rig s;
	int64_t from_ms;

	spare_rig_begin(&s);
	if (with_spare)
		READY(&s, "args", "nap 60000");
	from_ms = rig_now_ms();
	spare_rig_launch_job(&s, with_spare ? "spare-1" : NULL);
	if (with_spare)
		spare_rig_gone(&s, ETIMEDOUT);
	started(&s, false, NULL);
	from_ms = rig_now_ms() - from_ms;
	spare_rig_job_done(&s);
	CHECK_INT(spare_rig_end(&s), ==, 0);
	return from_ms;
}

static int64_t failed_start_ms(void)
{
	return start_takes_ms(true);
}

TEST(a_failed_activation_costs_at_most_50_ms)
{
	CHECK_INT(rig_best_ms(failed_start_ms, 50), <=, 50 + start_takes_ms(false));
}

/* ---- what ends it ---- */

TEST(the_death_of_the_agent_ends_the_spare)
{
	struct spare_rig s;
	pid_t pid;

	spare_rig_begin(&s);
	pid = READY(&s, GOES);
	rig_tell_agent(&s.rig, "exit 1");
	CHECK(rig_gone(pid));
	CHECK(rig_next_agent(&s.rig));
	CHECK(rig_expect(&s.rig, LINK_HELLO, NULL));
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

TEST(an_activation_outlives_the_agent)
{
	struct spare_rig s;
	struct link_msg msg;

	spare_rig_begin(&s);
	READY(&s, "args", "nap 10", "go", "main");
	spare_rig_launch(&s, "spare-1", (const char *const[]){"wait", NULL});
	CHECK(rig_says(&s.rig, "arguments 1\n"));
	rig_tell_agent(&s.rig, "exit 1");
	CHECK(rig_next_agent(&s.rig));
	CHECK(rig_expect(&s.rig, LINK_HELLO, &msg));
	CHECK(msg.flags & LINK_RUNNING);
	rig_send(&s.rig, LINK_SIGNAL, SIGKILL, 0, 0);
	CHECK(rig_expect(&s.rig, LINK_EXITED, &msg));
	CHECK_STR(msg.launch_id, "job-1");
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

TEST(exit_ends_the_spare)
{
	struct spare_rig s;
	pid_t pid;

	spare_rig_begin(&s);
	pid = READY(&s, GOES);
	CHECK_INT(spare_rig_end(&s), ==, 0);
	CHECK(rig_gone(pid));
}

/* SIGTERM to drey-init at this moment: nothing of the spare is left, and no job runs. */
static void stop_with(const char *const *steps, bool ready, bool asked)
{
	struct spare_rig s;
	struct link_msg msg = {0};

	spare_rig_begin(&s);
	if (ready)
		spare_rig_ready(&s, steps);
	else
		spare_rig_start(&s, "spare-1", 0, steps);
	if (!ready)
		CHECK(rig_says(&s.rig, ""));
	if (asked) {
		spare_rig_launch(&s, "spare-1", (const char *const[]){"wait", NULL});
		CHECK(rig_says(&s.rig, "arguments 1\n"));
	}
	kill(s.rig.pid, SIGTERM);
	for (int i = 0; i < (asked ? 3 : 2); i++) {
		CHECK(rig_recv(&s.rig, &msg));
		CHECK(msg.type == LINK_STOPPING || msg.type == LINK_SPARE_GONE ||
		      msg.type == LINK_LAUNCH_FAILED);
		if (msg.type != LINK_STOPPING)
			CHECK_INT(msg.sys_errno, ==, ECANCELED);
	}
	rig_send(&s.rig, LINK_STOP_ACK, 0, 0, 0);
	/* with its process group gone there is nothing that could keep drey-init */
	CHECK_INT(spare_rig_end(&s), ==, 0);
}

TEST(a_stop_of_the_container_ends_the_spare_in_every_state)
{
	stop_with((const char *const[]){"nap 60000", NULL}, false, false);
	stop_with((const char *const[]){"ready", GOES, NULL}, true, false);
	stop_with((const char *const[]){"ready", "args", "nap 60000", NULL}, true, true);
}
