#include "child.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stop.h"
#include "util.h"

#define RETRY_MIN_MS 10
#define RETRY_MAX_MS 1000
/* Grace for processes left in the child's group, between SIGTERM and SIGKILL. */
#define GROUP_TERM_MS 5000

void child_want(struct child *c, const struct spawn *spawn, int64_t give_up_ms)
{
	c->state = CHILD_WANTED;
	c->spawn = *spawn;
	c->retry_ms = 0;
	c->retries = 0;
	c->exec_errno = 0;
	c->give_up_ms = give_up_ms;
}

static int64_t retry_delay_ms(int retries)
{
	int64_t delay_ms = retries < 10 ? (int64_t)RETRY_MIN_MS << retries : RETRY_MAX_MS;

	return delay_ms < RETRY_MAX_MS ? delay_ms : RETRY_MAX_MS;
}

int child_try(struct child *c, int64_t now_ms)
{
	int report;
	pid_t pid;

	if (c->state != CHILD_WANTED || now_ms < c->retry_ms)
		return 0;
	child_kill_group(c, now_ms, true);
	pid = spawn(&c->spawn, &report);
	if (pid < 0) {
		if (now_ms < c->give_up_ms) {
			if (!c->retries)
				say("cannot start %s yet: %s", c->spawn.argv[0], strerror(errno));
			c->retry_ms = now_ms + retry_delay_ms(c->retries++);
			return 0;
		}
		say("cannot start %s: %s", c->spawn.argv[0], strerror(errno));
		c->state = CHILD_NONE;
		return -1;
	}
	c->state = CHILD_STARTING;
	c->pid = pid;
	c->report = report;
	c->since_unix_ms = clock_unix_ms();
	c->ever = true;
	c->oom_before = oom_kills(); /* after the fork, because this takes a while */
	say_more("started %s as process %d", c->spawn.argv[0], (int)pid);
	return 0;
}

void child_adopt(struct child *c, pid_t pid, const char *launch_id)
{
	c->state = CHILD_RUNNING;
	c->pid = pid;
	c->report = -1;
	c->exec_errno = 0;
	c->since_unix_ms = clock_unix_ms();
	c->ever = true;
	c->oom_before = oom_kills();
	memmove(c->launch_id, launch_id, sizeof(c->launch_id));
}

bool child_check(struct child *c)
{
	enum spawn_state state;

	if (c->state != CHILD_STARTING || c->report < 0)
		return false;
	state = spawn_report(c->report, &c->exec_errno);
	if (state == SPAWN_PENDING)
		return false;
	close(c->report);
	c->report = -1;
	if (state == SPAWN_FAILED)
		return false;
	c->state = CHILD_RUNNING;
	return true;
}

void child_reaped(struct child *c, int wait_status)
{
	int64_t ooms = oom_kills();

	if (!c->exec_errno) {
		c->last_pid = c->pid;
		c->last_wait_status = wait_status;
		c->last_oom = c->oom_before >= 0 && ooms > c->oom_before;
		c->last_since_unix_ms = c->since_unix_ms;
		c->last_ended_unix_ms = clock_unix_ms();
		memcpy(c->last_launch_id, c->launch_id, sizeof(c->last_launch_id));
	}
	if (group_is_ours(c->pid)) {
		c->group = c->pid;
		c->group_kill_ms = STOP_NEVER;
	}
	if (c->report >= 0)
		close(c->report);
	c->report = -1;
	c->pid = 0;
	c->state = CHILD_NONE;
}

void child_signal(const struct child *c, int signo, bool group)
{
	pid_t to = group ? -c->pid : c->pid;

	if (!child_alive(c))
		return;
	if (kill(to, signo) < 0) {
		/* Without its own group (setpgid failed) only the child itself can be reached. */
		to = c->pid;
		if (!group || kill(to, signo) < 0)
			say("cannot send signal %d to process %d: %s", signo, (int)c->pid,
			    strerror(errno));
	}
	if (signo == SIGTERM || signo == SIGINT)
		kill(to, SIGCONT);
}

bool child_alive(const struct child *c)
{
	return c->state == CHILD_STARTING || c->state == CHILD_RUNNING;
}

void child_term_group(struct child *c, int64_t now_ms)
{
	if (!c->group || !group_is_ours(c->group))
		return;
	kill(-c->group, SIGTERM);
	kill(-c->group, SIGCONT);
	c->group_kill_ms = now_ms + GROUP_TERM_MS;
}

void child_kill_group(struct child *c, int64_t now_ms, bool at_once)
{
	if (!c->group || (!at_once && now_ms < c->group_kill_ms))
		return;
	if (group_is_ours(c->group)) {
		say("killing the processes that the last child left in process group %d",
		    (int)c->group);
		kill(-c->group, SIGKILL);
	}
	c->group = 0;
}
