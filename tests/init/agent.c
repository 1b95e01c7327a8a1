/* The agent and its link: drey-init with an agent that crashes, hangs, floods, lies, or behaves. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

/* drey-init with a fake agent, and these options; its HELLO has come. */
#define GREET(rig, ...)                                                                            \
	(CHECK(RIG_AGENT(rig, __VA_ARGS__)) && CHECK(rig_expect(rig, LINK_HELLO, NULL)))

static pid_t launch_and_wait(struct rig *rig, const char *id, const char *what)
{
	struct link_msg msg;

	RIG_LAUNCH(rig, id, what);
	CHECK(rig_expect(rig, LINK_STARTED, &msg));
	CHECK_STR(msg.launch_id, id);
	CHECK(rig_says(rig, "ready "));
	return msg.pid;
}

/* The agent says EXIT and goes. */
static int end(struct rig *rig, int status)
{
	rig_send(rig, LINK_EXIT, 0, status, 0);
	rig_tell_agent(rig, "exit 0");
	return rig_wait(rig);
}

TEST(launches_tells_the_end_and_exits_as_asked)
{
	struct rig rig = {0};
	struct link_msg msg, exited;

	CHECK(RIG_AGENT(&rig, NULL));
	CHECK(rig_expect(&rig, LINK_HELLO, &msg));
	CHECK_INT(msg.flags, ==, LINK_TAKES_LEASE | LINK_TAKES_SPARE);
	CHECK_INT(msg.restarts, ==, 0);
	CHECK_INT(msg.grace_left_ms, ==, 30000);
	RIG_LAUNCH(&rig, "first", "exit", "163");
	CHECK(rig_expect(&rig, LINK_STARTED, &msg));
	CHECK(rig_expect(&rig, LINK_EXITED, &exited));
	CHECK_STR(exited.launch_id, "first");
	CHECK_INT(exited.pid, ==, msg.pid);
	CHECK_INT(exited.since_unix_ms, ==, msg.since_unix_ms);
	CHECK_INT(exited.ended_unix_ms, >=, msg.since_unix_ms);
	CHECK(WIFEXITED(exited.wait_status));
	CHECK_INT(WEXITSTATUS(exited.wait_status), ==, 163);
	CHECK_INT(end(&rig, 42), ==, 42);
}

TEST(the_launched_inherits_just_what_it_was_given)
{
	struct rig rig = {0};
	char path[] = "/tmp/drey-lock-XXXXXX";
	int fd = mkstemp(path);
	const char *argv[] = {rig_puppet(), "report", NULL};
	int before;

	GREET(&rig, NULL);
	before = rig_open_files(rig.pid);
	for (int with_fd = 0; with_fd < 2; with_fd++) {
		rig_launch(&rig, "first", with_fd ? fd : -1, argv);
		CHECK(rig_expect(&rig, LINK_STARTED, NULL));
		CHECK(rig_expect(&rig, LINK_EXITED, NULL));
		CHECK(rig_says(&rig, "reported"));
		CHECK_INT(rig_count(&rig, "open "), ==, with_fd);
		CHECK_INT(rig_count(&rig, "open 3\n"), ==, with_fd);
		CHECK_HAS(rig.text, "mark only this\nlink none\n");
		CHECK_HAS(rig.text, "deathsig 9\n");
		CHECK_INT(rig_number(&rig, "group "), ==, rig_number(&rig, "pid "));
	}
	CHECK_INT(rig_open_files(rig.pid), ==, before);
	CHECK_INT(end(&rig, 0), ==, 0);
	unlink(path);
	close(fd);
}

TEST(a_launch_that_cannot_be_executed_is_told_with_its_errno)
{
	struct rig rig = {0};
	struct link_msg msg;

	GREET(&rig, NULL);
	rig_launch(&rig, "gone", -1, (const char *const[]){"/no/such/program", NULL});
	CHECK(rig_expect(&rig, LINK_LAUNCH_FAILED, &msg));
	CHECK_INT(msg.sys_errno, ==, ENOENT);
	CHECK_STR(msg.launch_id, "gone");
	rig_launch(&rig, "dir", -1, (const char *const[]){"/etc", NULL});
	CHECK(rig_expect(&rig, LINK_LAUNCH_FAILED, &msg));
	CHECK_INT(msg.sys_errno, ==, EACCES);
	RIG_LAUNCH(&rig, "good", "exit", "0");
	CHECK(rig_expect(&rig, LINK_STARTED, &msg));
	CHECK(rig_expect(&rig, LINK_EXITED, &msg));
	CHECK_INT(end(&rig, 0), ==, 0);
}

TEST(a_second_launch_is_refused_while_one_runs)
{
	struct rig rig = {0};
	struct link_msg msg;

	GREET(&rig, NULL);
	launch_and_wait(&rig, "first", "wait");
	RIG_LAUNCH(&rig, "second", "wait");
	CHECK(rig_expect(&rig, LINK_LAUNCH_FAILED, &msg));
	CHECK_INT(msg.sys_errno, ==, EBUSY);
	CHECK_STR(msg.launch_id, "second");
	rig_send(&rig, LINK_SIGNAL, SIGKILL, 0, LINK_GROUP);
	CHECK(rig_expect(&rig, LINK_EXITED, &msg));
	CHECK_STR(msg.launch_id, "first");
	CHECK_INT(end(&rig, 0), ==, 0);
}

/* Sends a LAUNCH whose head and text do not fit together. */
static void send_launch(struct rig *rig, uint32_t argc, uint32_t envc, const char *text,
			size_t bytes)
{
	static char packet[200000];
	struct link_msg msg = {.version = LINK_VERSION,
			       .type = LINK_LAUNCH,
			       .argc = argc,
			       .envc = envc,
			       .launch_id = "bad"};

	memcpy(packet, &msg, sizeof(msg));
	memcpy(packet + sizeof(msg), text, bytes);
	CHECK_INT(send(rig->link, packet, sizeof(msg) + bytes, 0), ==, sizeof(msg) + bytes);
}

TEST(a_malformed_launch_is_refused_and_harms_nothing)
{
	static const struct {
		uint32_t argc, envc;
		const char *text;
		size_t bytes;
		int error;
	} bad[] = {
		{0, 0, "", 0, EINVAL},
		{0, 1, "A=b", 4, EINVAL},
		{1, 0, "", 0, EINVAL},
		{1, 0, "/bin/true", 9, EINVAL},        /* no end */
		{2, 0, "/bin/true", 10, EINVAL},       /* one missing */
		{1, 0, "/bin/true\0more", 15, EINVAL}, /* one too many */
		{4097, 0, "/bin/true", 10, E2BIG},
		{1, 0xffffffff, "/bin/true", 10, E2BIG},
		{0x80000000, 0x80000000, "/bin/true", 10, E2BIG},
	};
	static char huge[180000];
	struct rig rig = {0};
	struct link_msg msg;

	GREET(&rig, NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		send_launch(&rig, bad[i].argc, bad[i].envc, bad[i].text, bad[i].bytes);
		CHECK(rig_expect(&rig, LINK_LAUNCH_FAILED, &msg));
		CHECK_INT(msg.sys_errno, ==, bad[i].error);
	}
	memset(huge, 'x', sizeof(huge) - 1);
	send_launch(&rig, 1, 0, huge, sizeof(huge));
	CHECK(rig_expect(&rig, LINK_LAUNCH_FAILED, &msg));
	CHECK_INT(msg.sys_errno, ==, E2BIG);
	CHECK_INT(end(&rig, 0), ==, 0);
}

TEST(a_launch_of_the_full_size_works)
{
	static char big[LINK_PACKET_MAX_BYTES];
	struct rig rig = {0};
	struct link_msg msg;
	size_t bytes = LINK_PACKET_MAX_BYTES - sizeof(msg);

	/* One argument of up to 128 KiB less a page is what exec(2) takes; the rest goes elsewhere. */
	memset(big, 'x', sizeof(big));
	memcpy(big, "/bin/true", 10);
	big[bytes / 2] = big[bytes - 1] = '\0';
	GREET(&rig, NULL);
	send_launch(&rig, 2, 1, big, bytes);
	CHECK(rig_expect(&rig, LINK_STARTED, NULL));
	CHECK(rig_expect(&rig, LINK_EXITED, &msg));
	CHECK_INT(msg.wait_status, ==, 0);
	CHECK_INT(end(&rig, 0), ==, 0);
}

TEST(signals_reach_the_launched_and_not_the_agent)
{
	static const int signos[] = {SIGHUP, SIGQUIT, SIGUSR1, SIGWINCH, 40};
	struct rig rig = {0};
	char line[20];

	GREET(&rig, NULL);
	for (size_t i = 0; i < sizeof(signos) / sizeof(signos[0]); i++)
		kill(rig.pid, signos[i]); /* nobody to get them, and no harm done */
	launch_and_wait(&rig, "first", "log");
	for (size_t i = 0; i < sizeof(signos) / sizeof(signos[0]); i++) {
		kill(rig.pid, signos[i]);
		snprintf(line, sizeof(line), "got %d\n", signos[i]);
		CHECK(rig_says(&rig, line));
	}
	rig_send(&rig, LINK_SIGNAL, 9999, 0, 0);
	rig_send(&rig, LINK_SIGNAL, -1, 0, LINK_GROUP);
	rig_send(&rig, LINK_SIGNAL, SIGUSR2, 0, 0);
	CHECK(rig_expect(&rig, LINK_EXITED, NULL));
	CHECK_INT(end(&rig, 0), ==, 0);
}

/* ---- agents that die ---- */

TEST(a_killed_agent_comes_back_and_is_told_what_runs)
{
	struct rig rig = {0};
	struct link_msg msg, started;
	pid_t pid;

	GREET(&rig, NULL);
	RIG_LAUNCH(&rig, "first", "wait");
	CHECK(rig_expect(&rig, LINK_STARTED, &started));
	CHECK(rig_says(&rig, "ready "));
	pid = (pid_t)rig_number(&rig, "ready ");
	for (uint32_t i = 1; i <= 3; i++) {
		kill(rig.agent, SIGKILL);
		CHECK(rig_next_agent(&rig));
		CHECK(rig_expect(&rig, LINK_HELLO, &msg));
		CHECK_INT(msg.flags, ==, LINK_RUNNING | LINK_TAKES_LEASE | LINK_TAKES_SPARE);
		CHECK_INT(msg.restarts, ==, i);
		CHECK_INT(msg.pid, ==, started.pid);
		CHECK_INT(msg.since_unix_ms, ==, started.since_unix_ms);
		CHECK_STR(msg.launch_id, "first");
		CHECK(!kill(pid, 0));
	}
	CHECK(rig_says(&rig, "was killed by signal 9; restarting it in 100 ms"));
	CHECK(rig_says(&rig, "restarting it in 200 ms"));
	CHECK(rig_says(&rig, "restarting it in 400 ms"));
	CHECK_INT(rig_now_ms() - rig.started_ms, >=, 700);
	rig_send(&rig, LINK_SIGNAL, SIGTERM, 0, 0);
	CHECK(rig_expect(&rig, LINK_EXITED, &msg));
	CHECK_INT(WTERMSIG(msg.wait_status), ==, SIGTERM);
	CHECK_INT(end(&rig, 0), ==, 0);
}

TEST(what_ended_without_an_agent_is_told_to_the_next)
{
	struct rig rig = {0};
	struct link_msg msg;
	pid_t pid;

	GREET(&rig, NULL);
	pid = launch_and_wait(&rig, "first", "wait");
	kill(rig.agent, SIGSTOP); /* it reads nothing any more */
	kill(pid, SIGKILL);
	CHECK(rig_gone(pid));
	kill(rig.agent, SIGKILL);
	CHECK(rig_next_agent(&rig));
	CHECK(rig_expect(&rig, LINK_HELLO, &msg));
	CHECK_INT(msg.flags, ==, LINK_LAST_EXIT | LINK_TAKES_LEASE | LINK_TAKES_SPARE);
	CHECK_STR(msg.last_launch_id, "first");
	CHECK_INT(msg.last_pid, ==, pid);
	CHECK_INT(WTERMSIG(msg.last_wait_status), ==, SIGKILL);
	CHECK_INT(msg.last_ended_unix_ms, >, 0);
	CHECK_INT(end(&rig, 0), ==, 0);
}

TEST(an_agent_that_refuses_its_configuration_ends_drey_init_with_2)
{
	struct rig rig = {0};

	CHECK(RIG_AGENT(&rig, NULL));
	rig_tell_agent(&rig, "exit 2");
	CHECK_INT(rig_wait(&rig), ==, 2);
}

TEST(status_2_after_a_launch_is_a_crash_like_any_other)
{
	struct rig rig = {0};
	struct link_msg msg;
	pid_t pid;

	GREET(&rig, NULL);
	pid = launch_and_wait(&rig, "first", "wait");
	rig_tell_agent(&rig, "exit 2");
	CHECK(rig_next_agent(&rig));
	CHECK(rig_expect(&rig, LINK_HELLO, &msg));
	CHECK_INT(msg.pid, ==, pid);
	kill(rig.pid, SIGKILL);
	rig_wait(&rig);
}

TEST(an_agent_that_is_done_ends_drey_init_with_0)
{
	struct rig rig = {0};

	CHECK(RIG_AGENT(&rig, NULL));
	rig_tell_agent(&rig, "exit 0");
	CHECK_INT(rig_wait(&rig), ==, 0);
}

TEST(an_agent_that_leaves_a_running_child_is_started_again)
{
	struct rig rig = {0};
	struct link_msg msg;

	GREET(&rig, NULL);
	launch_and_wait(&rig, "first", "wait");
	rig_tell_agent(&rig, "exit 0");
	CHECK(rig_next_agent(&rig));
	CHECK(rig_expect(&rig, LINK_HELLO, &msg));
	CHECK_INT(msg.flags, ==, LINK_RUNNING | LINK_TAKES_LEASE | LINK_TAKES_SPARE);
	kill(rig.pid, SIGKILL);
	rig_wait(&rig);
}

TEST(an_agent_that_does_not_exist_is_114)
{
	struct rig rig = {0};

	CHECK(RIG_START(&rig, "--agent", "--", "/no/such/agent"));
	CHECK_INT(rig_wait(&rig), ==, 114);
	CHECK_HAS(rig.text, "cannot use the agent /no/such/agent: No such file or directory");
}

TEST(a_failing_agent_is_started_ever_more_slowly)
{
	struct rig rig = {0};

	CHECK(RIG_START(&rig, "--agent", "--", "/bin/sh", "-c", "exit 1"));
	CHECK(rig_says(&rig, "exited with status 1; restarting it in 1600 ms"));
	CHECK_INT(rig_now_ms() - rig.started_ms, >=, 100 + 200 + 400 + 800);
	CHECK_INT(rig_count(&rig, "restarting it"), ==, 5);
	kill(rig.pid, SIGTERM); /* with neither agent nor child there is nothing to wait for */
	CHECK_INT(rig_wait(&rig), ==, 143);
	CHECK_INT(rig_now_ms() - rig.started_ms, <, 25000);
}

/* ---- agents that misbehave ---- */

TEST(an_agent_of_another_version_is_114_before_the_first_launch)
{
	struct link_msg msg = {.version = LINK_VERSION + 1, .type = LINK_LAUNCH};
	struct rig rig = {0};

	CHECK(RIG_AGENT(&rig, NULL));
	CHECK_INT(send(rig.link, &msg, sizeof(msg), 0), ==, sizeof(msg));
	CHECK_INT(rig_wait(&rig), ==, 114);
	CHECK_HAS(rig.text, "another version of the link");
}

TEST(an_agent_that_talks_nonsense_is_replaced_and_the_child_kept)
{
	static const struct link_msg nonsense[] = {
		{.version = LINK_VERSION, .type = 999},
		{.version = LINK_VERSION, .type = LINK_HELLO},
		{.version = LINK_VERSION + 1, .type = LINK_SIGNAL},
	};
	struct rig rig = {0};
	struct link_msg msg;
	pid_t pid;

	GREET(&rig, NULL);
	pid = launch_and_wait(&rig, "first", "wait");
	for (size_t i = 0; i < 4; i++) {
		size_t bytes = i < 3 ? sizeof(msg) : 3; /* the last one is cut short */

		CHECK_INT(send(rig.link, &nonsense[i % 3], bytes, 0), ==, bytes);
		CHECK(rig_next_agent(&rig));
		CHECK(rig_expect(&rig, LINK_HELLO, &msg));
		CHECK_INT(msg.flags, ==, LINK_RUNNING | LINK_TAKES_LEASE | LINK_TAKES_SPARE);
		CHECK_INT(msg.pid, ==, pid);
	}
	kill(rig.pid, SIGKILL);
	rig_wait(&rig);
}

TEST(an_agent_that_closes_its_link_is_replaced)
{
	struct rig rig = {0};
	struct link_msg msg;

	GREET(&rig, NULL);
	launch_and_wait(&rig, "first", "wait");
	rig_tell_agent(&rig, "close");
	close(rig.link);
	rig.link = -1;
	CHECK(rig_next_agent(&rig));
	CHECK(rig_expect(&rig, LINK_HELLO, &msg));
	CHECK_INT(msg.flags, ==, LINK_RUNNING | LINK_TAKES_LEASE | LINK_TAKES_SPARE);
	kill(rig.pid, SIGKILL);
	rig_wait(&rig);
}

TEST(an_agent_that_reads_nothing_is_replaced_when_its_socket_is_full)
{
	struct rig rig = {0};
	struct link_msg msg;

	CHECK(RIG_AGENT(&rig, NULL));
	for (int i = 0; i < 3000 && !rig_count(&rig, "does not accept messages"); i++) {
		struct link_msg bad = {.version = LINK_VERSION, .type = LINK_LAUNCH};

		if (send(rig.link, &bad, sizeof(bad), MSG_NOSIGNAL) < 0)
			break;
	}
	CHECK(rig_says(&rig, "does not accept messages"));
	CHECK(rig_next_agent(&rig));
	CHECK(rig_expect(&rig, LINK_HELLO, &msg));
	CHECK_INT(msg.restarts, ==, 1);
	CHECK_INT(end(&rig, 0), ==, 0);
}

TEST(a_flood_of_messages_does_not_delay_sigterm)
{
	struct rig rig = {0};
	/* signal 0 does nothing at all */
	struct link_msg nothing = {.version = LINK_VERSION, .type = LINK_SIGNAL};
	int64_t from_ms;
	pid_t flood;

	GREET(&rig, "--grace", "60");
	launch_and_wait(&rig, "first", "wait");
	flood = fork();
	if (!flood)
		for (;;)
			if (send(rig.link, &nothing, sizeof(nothing), MSG_NOSIGNAL) < 0)
				_exit(0);
	from_ms = rig_now_ms();
	kill(rig.pid, SIGTERM);
	/* Nobody acknowledges: SIGTERM after two seconds, and the agent is killed two seconds later. */
	CHECK_INT(rig_wait(&rig), ==, 143);
	CHECK_INT(rig_now_ms() - from_ms, <, 30000);
	kill(flood, SIGKILL);
	waitpid(flood, NULL, 0);
}

/* ---- stopping ---- */

TEST(a_stop_is_the_agents_once_it_has_acknowledged)
{
	struct rig rig = {0};
	struct link_msg msg;

	GREET(&rig, "--grace", "9");
	launch_and_wait(&rig, "first", "wait");
	kill(rig.pid, SIGTERM);
	kill(rig.pid, SIGTERM);
	CHECK(rig_expect(&rig, LINK_STOPPING, &msg));
	CHECK_INT(msg.signo, ==, SIGTERM);
	CHECK_INT(msg.grace_left_ms, >, 4000);
	CHECK_INT(msg.grace_left_ms, <=, 9000);
	rig_send(&rig, LINK_STOP_ACK, 0, 0, 0);
	RIG_LAUNCH(&rig, "late", "exit", "0");
	CHECK(rig_expect(&rig, LINK_LAUNCH_FAILED, &msg));
	CHECK_INT(msg.sys_errno, ==, EBUSY);
	usleep(1500000); /* well past the time an agent has to acknowledge: the child must live on */
	CHECK(!kill((pid_t)rig_number(&rig, "ready "), 0));
	rig_send(&rig, LINK_SIGNAL, SIGTERM, 0, 0);
	CHECK(rig_expect(&rig, LINK_EXITED, &msg));
	RIG_LAUNCH(&rig, "later", "exit", "0");
	CHECK(rig_expect(&rig, LINK_LAUNCH_FAILED, &msg));
	CHECK_INT(msg.sys_errno, ==, ECANCELED);
	CHECK_INT(end(&rig, 7), ==, 7);
}

static int64_t drag_on(void)
{
	struct rig rig = {0};
	struct link_msg msg;
	int64_t from_ms;

	GREET(&rig, "--grace", "3");
	launch_and_wait(&rig, "first", "wait");
	from_ms = rig_now_ms();
	kill(rig.pid, SIGTERM);
	CHECK(rig_expect(&rig, LINK_STOPPING, NULL));
	rig_send(&rig, LINK_STOP_ACK, 0, 0, 0);
	CHECK(rig_expect(&rig, LINK_EXITED, &msg));
	CHECK_INT(WTERMSIG(msg.wait_status), ==, SIGTERM);
	CHECK_INT(rig_now_ms() - from_ms, >=, 1990); /* 3 s less a third */
	CHECK_INT(rig_wait(&rig), ==, 143);          /* the agent never says EXIT */
	return rig_now_ms() - from_ms;
}

TEST(an_acknowledged_stop_that_drags_on_gets_sigterm_for_the_jvms_share)
{
	CHECK_INT(rig_best_ms(drag_on, 3500), <, 3500); /* 3000 with nothing else to do */
}

static int64_t stop_without_ack(void)
{
	struct rig rig = {0};
	struct link_msg msg;
	int64_t from_ms;

	GREET(&rig, "--grace", "3");
	launch_and_wait(&rig, "first", "deaf");
	rig_tell_agent(&rig, "ignore");
	from_ms = rig_now_ms();
	kill(rig.pid, SIGTERM);
	CHECK(rig_expect(&rig, LINK_STOPPING, NULL));
	CHECK(rig_expect(&rig, LINK_EXITED, &msg));
	CHECK_INT(WTERMSIG(msg.wait_status), ==, SIGKILL);
	CHECK_INT(rig_now_ms() - from_ms, >=, 2690); /* 3 s less the margin */
	CHECK_INT(rig_wait(&rig), ==, 137);
	CHECK_HAS(rig.text, "the agent");
	return rig_now_ms() - from_ms;
}

TEST(a_stop_nobody_acknowledges_is_carried_out_and_the_child_killed_in_time)
{
	CHECK_INT(rig_best_ms(stop_without_ack, 3500), <, 3500);
}

TEST(a_hung_agent_costs_only_its_share)
{
	struct rig rig = {0};
	int64_t from_ms;

	GREET(&rig, "--grace", "60");
	launch_and_wait(&rig, "first", "wait");
	kill(rig.agent, SIGSTOP);
	from_ms = rig_now_ms();
	kill(rig.pid, SIGTERM);
	CHECK_INT(rig_wait(&rig), ==, 143);
	CHECK_INT(rig_now_ms() - from_ms, >=, 1990);
	CHECK_INT(rig_now_ms() - from_ms, <, 30000); /* 2 s and the SIGTERM; the agent has 40 s */
}

static int64_t stop_without_agent(void)
{
	struct rig rig = {0};
	int64_t from_ms;

	GREET(&rig, NULL);
	launch_and_wait(&rig, "first", "wait");
	kill(rig.agent, SIGKILL);
	CHECK(rig_says(&rig, "restarting it"));
	from_ms = rig_now_ms();
	kill(rig.pid, SIGTERM);
	CHECK_INT(rig_wait(&rig), ==, 143);
	return rig_now_ms() - from_ms;
}

TEST(a_stop_without_an_agent_is_a_sigterm_at_once)
{
	CHECK_INT(rig_best_ms(stop_without_agent, 1500), <, 1500);
}

static int64_t stop_handed_back(void)
{
	struct rig rig = {0};
	int64_t from_ms;

	GREET(&rig, NULL);
	launch_and_wait(&rig, "first", "wait");
	kill(rig.pid, SIGTERM);
	CHECK(rig_expect(&rig, LINK_STOPPING, NULL));
	rig_send(&rig, LINK_STOP_ACK, 0, 0, 0);
	from_ms = rig_now_ms();
	kill(rig.agent, SIGKILL);
	CHECK_INT(rig_wait(&rig), ==, 143);
	return rig_now_ms() - from_ms;
}

TEST(an_agent_that_dies_after_acknowledging_hands_the_stop_back)
{
	CHECK_INT(rig_best_ms(stop_handed_back, 1500), <, 1500);
}

TEST(a_stop_with_nothing_running_ends_with_the_agents_word)
{
	struct rig rig = {0};

	GREET(&rig, NULL);
	kill(rig.pid, SIGINT);
	CHECK(rig_expect(&rig, LINK_STOPPING, NULL));
	rig_send(&rig, LINK_STOP_ACK, 0, 0, 0);
	CHECK_INT(end(&rig, 0), ==, 0);
}

TEST(an_agent_that_stays_after_exit_is_ended)
{
	struct rig rig = {0};
	char done[8];
	int64_t from_ms;

	GREET(&rig, NULL);
	rig_tell_agent(&rig, "ignore");
	CHECK_INT(recv(rig.control, done, sizeof(done), 0), ==, 5);
	from_ms = rig_now_ms();
	rig_send(&rig, LINK_EXIT, 0, 9, 0);
	CHECK_INT(rig_wait(&rig), ==, 9);
	CHECK_INT(rig_now_ms() - from_ms, >=, 3990);
	CHECK_HAS(rig.text, "did not exit in time");
}

TEST(the_last_words_of_a_dead_agent_count)
{
	struct rig rig = {0};

	GREET(&rig, NULL);
	kill(rig.pid, SIGSTOP); /* so that death and message are found together */
	CHECK(rig_state(rig.pid, 'T'));
	rig_send(&rig, LINK_EXIT, 0, 11, 0);
	rig_tell_agent(&rig, "exit 1");
	CHECK(rig_state(rig.agent, 'Z'));
	kill(rig.pid, SIGCONT);
	CHECK_INT(rig_wait(&rig), ==, 11);
}

TEST(exit_waits_for_the_running_child)
{
	struct rig rig = {0};

	GREET(&rig, NULL);
	launch_and_wait(&rig, "first", "wait");
	rig_send(&rig, LINK_EXIT, 0, 5, 0);
	rig_send(&rig, LINK_SIGNAL, SIGTERM, 0, 0);
	CHECK(rig_expect(&rig, LINK_EXITED, NULL));
	rig_tell_agent(&rig, "exit 0");
	CHECK_INT(rig_wait(&rig), ==, 5);
}

TEST(what_a_launch_leaves_in_its_group_is_ended_before_the_next)
{
	struct rig rig = {0};
	pid_t second;

	GREET(&rig, NULL);
	RIG_LAUNCH(&rig, "first", "orphan-in-group", "deaf");
	CHECK(rig_expect(&rig, LINK_STARTED, NULL));
	CHECK(rig_expect(&rig, LINK_EXITED, NULL));
	CHECK(rig_says(&rig, "orphan "));
	second = (pid_t)rig_number(&rig, "orphan ");
	CHECK(!kill(second, 0));
	RIG_LAUNCH(&rig, "next", "wait");
	CHECK(rig_expect(&rig, LINK_STARTED, NULL));
	CHECK(rig_gone(second));
	kill(rig.pid, SIGKILL);
	rig_wait(&rig);
}

/* ---- out of memory ---- */

static const char *with_memory_events(void *arg)
{
	const char *command = arg;

	if (unshare(CLONE_NEWNS) < 0)
		return "needs root";
	return system(command) ? "cannot put a file in place of memory.events" : NULL;
}

TEST(an_oom_kill_in_the_cgroup_is_told)
{
	char path[64], command[400];
	struct rig rig = {0};
	struct link_msg msg;
	FILE *events;

	snprintf(path, sizeof(path), "/tmp/drey-events-%d", (int)getpid());
	events = fopen(path, "w");
	fprintf(events, "low 0\nhigh 0\nmax 3\noom 2\noom_kill 4\noom_group_kill 0\n");
	fclose(events);
	snprintf(command, sizeof(command),
		 "mount --make-rprivate / && mount -t tmpfs none /sys/fs/cgroup && "
		 "touch /sys/fs/cgroup/memory.events && mount --bind %s "
		 "/sys/fs/cgroup/memory.events",
		 path);
	if (!rig_agent(&rig, with_memory_events, command, false, NULL))
		return;
	CHECK(rig_expect(&rig, LINK_HELLO, NULL));
	launch_and_wait(&rig, "first", "wait");
	events = fopen(path, "r+"); /* the same file: it is bound */
	fprintf(events, "low 0\nhigh 0\nmax 3\noom 2\noom_kill 5\n");
	fclose(events);
	rig_send(&rig, LINK_SIGNAL, SIGKILL, 0, 0);
	CHECK(rig_expect(&rig, LINK_EXITED, &msg));
	CHECK_INT(msg.flags, ==, LINK_OOM_KILLED);
	CHECK(rig_says(&rig, "its cgroup ran out of memory"));
	RIG_LAUNCH(&rig, "second", "exit", "0");
	CHECK(rig_expect(&rig, LINK_STARTED, &msg));
	CHECK(rig_expect(&rig, LINK_EXITED, &msg));
	CHECK_INT(msg.flags, ==, 0);
	CHECK_INT(end(&rig, 0), ==, 0);
	unlink(path);
}
