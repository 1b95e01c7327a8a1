/* The lease: a Flink that nobody vouches for any more is killed, whatever has become of the agent, and of Flink. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rig.h"

static void lease(struct rig *rig, int64_t until_ms)
{
	struct link_msg msg = {.version = LINK_VERSION, .type = LINK_LEASE, .until_ms = until_ms};

	CHECK_INT(send(rig->link, &msg, sizeof(msg), MSG_NOSIGNAL), ==, sizeof(msg));
}

/* With a lease of this length, from now. */
static pid_t launch(struct rig *rig, int64_t lease_ms, const char *what, int64_t *ret_until_ms)
{
	struct link_msg msg;

	CHECK(RIG_AGENT(rig, NULL));
	CHECK(rig_expect(rig, LINK_HELLO, &msg));
	CHECK(msg.flags & LINK_TAKES_LEASE);
	*ret_until_ms = rig_now_ms() + lease_ms;
	lease(rig, *ret_until_ms);
	RIG_LAUNCH(rig, "first-1", what);
	CHECK(rig_expect(rig, LINK_STARTED, &msg));
	CHECK(rig_says(rig, "ready "));
	return msg.pid;
}

static int end(struct rig *rig)
{
	rig_send(rig, LINK_EXIT, 0, 0, 0);
	rig_tell_agent(rig, "exit 0");
	return rig_wait(rig);
}

static int64_t killed_after(struct rig *rig, int64_t until_ms)
{
	struct link_msg msg;

	CHECK(rig_expect(rig, LINK_EXITED, &msg));
	CHECK_INT(msg.wait_status, ==, SIGKILL);
	CHECK(rig_says(rig, "the lease has expired"));
	CHECK_INT(rig_now_ms(), >=, until_ms);
	return rig_now_ms() - until_ms;
}

TEST(a_lease_that_is_not_renewed_ends_flink)
{
	struct rig rig = {0};
	struct link_msg msg;
	int64_t until_ms;

	launch(&rig, 700, "deaf-group", &until_ms);
	CHECK(rig_says(&rig, "second "));
	/* renewed once, and not again */
	until_ms += 500;
	lease(&rig, until_ms);
	CHECK_INT(killed_after(&rig, until_ms), <, 5000);
	CHECK(rig_gone((pid_t)rig_number(&rig, "second "))); /* the whole group */
	/* nothing is launched without one */
	RIG_LAUNCH(&rig, "second-2", "wait");
	CHECK(rig_expect(&rig, LINK_LAUNCH_FAILED, &msg));
	CHECK_INT(msg.sys_errno, ==, ETIME);
	lease(&rig, rig_now_ms() + 60000);
	RIG_LAUNCH(&rig, "third-3", "exit", "3");
	CHECK(rig_expect(&rig, LINK_STARTED, &msg));
	CHECK(rig_expect(&rig, LINK_EXITED, &msg));
	CHECK_INT(end(&rig), ==, 0);
}

TEST(a_stopped_agent_and_a_stopped_flink_keep_nothing_alive)
{
	struct rig rig = {0};
	int64_t until_ms;
	pid_t flink;

	/* the agent says nothing, and Flink takes no signal but this one */
	flink = launch(&rig, 500, "wait", &until_ms);
	CHECK_INT(kill(flink, SIGSTOP), ==, 0);
	CHECK(rig_state(flink, 'T'));
	CHECK_INT(killed_after(&rig, until_ms), <, 5000);
	CHECK_INT(end(&rig), ==, 0);
}

TEST(the_lease_outlives_the_agent)
{
	struct rig rig = {0};
	struct link_msg msg;
	int64_t until_ms;

	launch(&rig, 1500, "wait", &until_ms);
	rig_tell_agent(&rig, "exit 1");
	CHECK(rig_next_agent(&rig));
	CHECK(rig_expect(&rig, LINK_HELLO, &msg));
	CHECK(msg.flags & LINK_RUNNING);
	CHECK_STR(msg.launch_id, "first-1");
	CHECK_INT(killed_after(&rig, until_ms), <, 5000);
	CHECK_INT(end(&rig), ==, 0);
}

TEST(without_a_lease_nothing_runs_out)
{
	struct rig rig = {0};
	struct link_msg msg;

	CHECK(RIG_AGENT(&rig, NULL));
	CHECK(rig_expect(&rig, LINK_HELLO, NULL));
	RIG_LAUNCH(&rig, "first", "exit", "7");
	CHECK(rig_expect(&rig, LINK_STARTED, NULL));
	CHECK(rig_expect(&rig, LINK_EXITED, &msg));
	CHECK_INT(msg.wait_status, ==, 7 << 8);
	CHECK_INT(end(&rig), ==, 0);
}

TEST(a_lease_that_is_put_down_forbids_no_launch)
{
	struct rig rig = {0};
	struct link_msg msg;
	int64_t until_ms;

	launch(&rig, 300, "wait", &until_ms);
	CHECK_INT(killed_after(&rig, until_ms), <, 5000);
	lease(&rig, 0);
	RIG_LAUNCH(&rig, "second-2", "exit", "3");
	CHECK(rig_expect(&rig, LINK_STARTED, &msg));
	CHECK(rig_expect(&rig, LINK_EXITED, &msg));
	CHECK_INT(end(&rig), ==, 0);
}
