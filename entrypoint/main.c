/*
 * drey-init - the first process of a container: start, the one loop, and the end.
 *
 * Reading order: stop.h (how it ends), link.h (what the agent may request), this file, init.c, then
 * the parts: spawn, child, spare, agent, signals, util, options. Nothing is allocated; everything
 * drey-init knows is in one struct init.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"
#include "signals.h"
#include "status.h"
#include "util.h"

/* For a plain command: long enough for a pids limit to have room again. */
#define FORK_GIVE_UP_MS 60000
#define SWEEP_MS        100 /* between searches for new orphans while drey-init is ending */

static void start_what_is_due(struct init *in, int64_t now_ms)
{
	struct child *c = &in->child;
	bool stopping = in->stop.asked_ms != STOP_NEVER;

	if (c->state == CHILD_WANTED && stopping) {
		c->state = CHILD_NONE;
		init_release_launch_fd(in);
		init_send_launch_failed(in, ECANCELED, now_ms);
	}
	if (child_try(c, now_ms) < 0) {
		if (in->opt->agent)
			init_send_launch_failed(in, errno, now_ms);
		else
			in->exit_status = STATUS_SYSTEM;
	}
	if (!init_launch_in_use(in))
		init_release_launch_fd(in);
	if (c->state != CHILD_WANTED && !in->opt->agent && in->cwd_fd >= 0) {
		close(in->cwd_fd); /* it would keep a file system busy; nothing more is started */
		in->cwd_fd = -1;
	}
	child_kill_group(c, now_ms, false);
	if (in->opt->agent) {
		struct link_msg first = init_hello(in);

		if (!in->agent.pid && (stopping || in->stop.exit_asked))
			in->agent.start_ms = STOP_NEVER;
		agent_tick(&in->agent, &first, now_ms);
	}
}

static void act(struct init *in, unsigned due, int64_t now_ms)
{
	struct link_msg stopping = {
		.type = LINK_STOPPING,
		.signo = in->stop_signo,
		.grace_left_ms = stop_grace_left_ms(&in->stop, now_ms),
	};
	pid_t agent = in->agent.pid;

	if (due & STOP_TELL_AGENT)
		agent_send(&in->agent, &stopping, now_ms);
	if (due & STOP_TERM_CHILD)
		child_signal(&in->child, in->opt->agent ? SIGTERM : in->stop_signo, in->opt->group);
	if (due & STOP_KILL_CHILD) {
		say("process %d did not exit in time: SIGKILL", (int)in->child.pid);
		child_signal(&in->child, SIGKILL, true);
	}
	if (due & STOP_TERM_ORPHANS)
		orphans_signal(SIGTERM, in->child.group, agent, true);
	if (due & STOP_KILL_ORPHANS)
		orphans_signal(SIGKILL, in->child.group, agent, true);
	if (due & STOP_TERM_AGENT && agent) {
		kill(agent, SIGTERM);
		kill(agent, SIGCONT);
	}
	if (due & STOP_KILL_AGENT && agent) {
		say("the agent (process %d) did not exit in time: SIGKILL", (int)agent);
		kill(agent, SIGKILL);
	}
	/* the children of an agent that was killed become ours only now */
	if (due & STOP_FINISH && in->opt->agent)
		orphans_signal(SIGKILL, in->child.group, 0, true);
}

/* Does what is due by now; the time of the next thing, or -1 when it is time to exit. */
static int64_t step(struct init *in, int64_t now_ms)
{
	struct stop *s = &in->stop;
	int64_t next_ms, lease_ms, spare_ms;
	unsigned due;

	spare_ms = init_spare(in, now_ms);
	start_what_is_due(in, now_ms);
	s->child = child_alive(&in->child);
	s->agent = in->agent.pid;
	s->link = in->agent.pid && in->agent.link >= 0;
	if (s->ending_ms == STOP_NEVER && in->child.state == CHILD_NONE && !in->waits_for_spare &&
	    (!in->opt->agent || s->asked_ms != STOP_NEVER || s->exit_asked ||
	     in->agent_status >= 0)) {
		s->ending_ms = now_ms;
		s->left = true; /* until waitpid(2) reports otherwise */
		init_reap(in, now_ms);
		s->agent = in->agent.pid;
		s->link = s->link && in->agent.link >= 0;
	}
	due = stop_due(s, in->done, now_ms, &next_ms);
	in->done |= due;
	act(in, due, now_ms);
	if (due & STOP_FINISH)
		return -1;
	if (in->done & STOP_TERM_ORPHANS) {
		bool kill_them = in->done & STOP_KILL_ORPHANS;

		orphans_signal(kill_them ? SIGKILL : SIGTERM, in->child.group, in->agent.pid,
			       false);
		next_ms = next_ms < now_ms + SWEEP_MS ? next_ms : now_ms + SWEEP_MS;
	}
	if (in->child.state == CHILD_WANTED && in->child.retry_ms < next_ms)
		next_ms = in->child.retry_ms;
	if (in->child.group && in->child.group_kill_ms < next_ms)
		next_ms = in->child.group_kill_ms;
	if (in->opt->agent && agent_wake_ms(&in->agent) < next_ms)
		next_ms = agent_wake_ms(&in->agent);
	lease_ms = init_lease(in, now_ms);
	if (lease_ms < next_ms)
		next_ms = lease_ms;
	if (spare_ms < next_ms)
		next_ms = spare_ms;
	return in->more_to_reap ? now_ms : next_ms;
}

static void wait_for_news(struct init *in, int64_t next_ms)
{
	struct pollfd fds[3] = {
		{.fd = in->agent.link, .events = POLLIN},
		{.fd = in->child.report, .events = POLLIN}, /* negative ones are ignored */
		{.fd = in->spare.socket, .events = POLLIN},
	};
	int64_t now_ms = clock_ms();

	signals_wait(fds, 3, next_ms == STOP_NEVER ? -1 : next_ms > now_ms ? next_ms - now_ms : 0);
	now_ms = clock_ms();
	init_on_signals(in, now_ms);
	if (child_check(&in->child))
		init_send_started(in, 0, now_ms);
	if (fds[2].revents)
		init_read_spare(in, now_ms);
	if (fds[0].revents)
		init_receive(in, now_ms);
}

static int map_status(const struct init *in, int wait_status)
{
	int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status)
					    : STATUS_SIGNAL + WTERMSIG(wait_status);

	return in->opt->remap[status & 255] ? 0 : status;
}

static int exit_status(const struct init *in)
{
	if (in->exit_status >= 0)
		return in->exit_status;
	if (in->agent_status >= 0)
		return in->agent_status;
	if (child_alive(&in->child))
		return STATUS_SIGNAL + SIGKILL; /* SIGKILL has not ended it */
	if (in->child.last_pid)
		return map_status(in, in->child.last_wait_status);
	return STATUS_SIGNAL + in->stop_signo;
}

static int run(struct init *in)
{
	int64_t next_ms = 0;
	int status;

	/* A stop signal that arrived since main() began must prevent the start of the command. */
	do {
		wait_for_news(in, next_ms);
		next_ms = step(in, clock_ms());
	} while (next_ms >= 0);
	status = exit_status(in);
	if (status && *in->reason)
		termination_message(in->reason);
	return status;
}

/* drey-init itself keeps no directory busy; its children start where it was started. -1: stay
 * there. */
static int leave_cwd(void)
{
	int fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && (fchdir(fd) < 0 || chdir("/") < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The environment without a stale DREY_INIT_FD; for an agent with ours. Room for 2
 * more than count, and NULL. */
static void fill_environment(char **env, char **envp, bool agent)
{
	bool tuned = false;
	size_t kept = 0;

	for (; *envp; envp++) {
		if (strncmp(*envp, LINK_ENV "=", strlen(LINK_ENV "=")))
			env[kept++] = *envp;
		tuned |= !strncmp(*envp, LINK_MALLOC_ENV "=", strlen(LINK_MALLOC_ENV "="));
	}
	if (agent)
		env[kept++] = LINK_ENV "=3";
	if (agent && !tuned)
		env[kept++] = LINK_MALLOC_ENV "=" LINK_MALLOC;
	env[kept] = NULL;
}

int main(int argc, char **argv, char **envp)
{
	static struct init in; /* all zero: its big buffers cost nothing until they are used */
	struct options opt;
	size_t n = 0;
	int status;

	signals_block();
	signals_catch();
	status = options_parse(argc, argv, &opt);
	if (status >= 0)
		_exit(status);
	fds_tidy();
	say_open(opt.verbose);
	if (getpid() != 1 && prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		say("cannot become a subreaper, orphans will not be reaped: %s", strerror(errno));
	in.opt = &opt;
	in.exit_status = in.agent_status = -1;
	in.cwd_fd = leave_cwd();
	in.launch.fd = -1;
	in.child.report = -1;
	spare_init(&in.spare);
	in.child.group_kill_ms = STOP_NEVER;
	in.stop = (struct stop){
		.grace_ms = opt.grace_ms, .asked_ms = STOP_NEVER, .ending_ms = STOP_NEVER};

	while (envp[n])
		n++;
	{
		char *env[n + 3];

		fill_environment(env, envp, opt.agent);
		agent_init(&in.agent, opt.argv, env, in.cwd_fd);
		if (!opt.agent) {
			in.agent.start_ms = STOP_NEVER;
			child_want(&in.child,
				   &(struct spawn){.argv = opt.argv,
						   .envp = env,
						   .fd3 = -1,
						   .cwd_fd = in.cwd_fd,
						   .foreground = true},
				   clock_ms() + FORK_GIVE_UP_MS);
		}
		_exit(run(&in));
	}
}
