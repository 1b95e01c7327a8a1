#include "init.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "signals.h"
#include "status.h"
#include "util.h"

#define LAUNCH_GIVE_UP_MS 5000 /* for the fork of a LAUNCH; then the agent decides */
#define LEASE_AGAIN_MS    1000
#define REAPS_PER_PASS    1000 /* then signals are handled */
#define PACKETS_PER_PASS  16

/* ---- messages to the agent ---- */

static struct link_msg about_child(const struct init *in, enum link_type type)
{
	struct link_msg msg = {
		.type = type,
		.pid = in->child.pid,
		.since_unix_ms = in->child.since_unix_ms,
	};

	memcpy(msg.launch_id, in->child.launch_id, sizeof(msg.launch_id));
	return msg;
}

struct link_msg init_hello(const struct init *in)
{
	const struct child *c = &in->child;
	struct link_msg msg = {0};

	if (child_alive(c)) {
		msg = about_child(in, LINK_HELLO);
		msg.flags |= LINK_RUNNING;
	}
	if (c->last_pid) {
		msg.flags |= LINK_LAST_EXIT | (c->last_oom ? LINK_OOM_KILLED : 0);
		msg.last_pid = c->last_pid;
		msg.last_wait_status = c->last_wait_status;
		msg.last_ended_unix_ms = c->last_ended_unix_ms;
		memcpy(msg.last_launch_id, c->last_launch_id, sizeof(msg.last_launch_id));
	}
	msg.flags |= LINK_TAKES_LEASE | LINK_TAKES_SPARE;
	msg.grace_left_ms = stop_grace_left_ms(&in->stop, 0);
	return msg;
}

static void send_launch_failed(struct init *in, const char *launch_id, int error, int64_t now_ms)
{
	struct link_msg msg = {.type = LINK_LAUNCH_FAILED, .sys_errno = error};

	memcpy(msg.launch_id, launch_id, sizeof(msg.launch_id));
	agent_send(&in->agent, &msg, now_ms);
}

void init_send_launch_failed(struct init *in, int launch_errno, int64_t now_ms)
{
	send_launch_failed(in, in->child.launch_id, launch_errno, now_ms);
}

void init_send_started(struct init *in, uint32_t flags, int64_t now_ms)
{
	struct link_msg msg = about_child(in, LINK_STARTED);

	msg.flags = flags;
	agent_send(&in->agent, &msg, now_ms);
}

static void send_exited(struct init *in, int64_t now_ms)
{
	const struct child *c = &in->child;
	struct link_msg msg = about_child(in, LINK_EXITED);

	msg.pid = c->last_pid;
	msg.wait_status = c->last_wait_status;
	msg.ended_unix_ms = c->last_ended_unix_ms;
	msg.flags = c->last_oom ? LINK_OOM_KILLED : 0;
	agent_send(&in->agent, &msg, now_ms);
}

/* ---- requests of the agent ---- */

void init_release_launch_fd(struct init *in)
{
	if (in->launch.fd >= 0)
		close(in->launch.fd);
	in->launch.fd = -1;
}

bool init_launch_in_use(const struct init *in)
{
	return in->child.state == CHILD_WANTED || in->waits_for_spare;
}

static bool is_ending(const struct init *in)
{
	return in->stop.asked_ms != STOP_NEVER || in->stop.exit_asked;
}

/* The command of the launch, with fork and exec. */
static void want_launched(struct init *in, int64_t now_ms)
{
	struct spawn spawn = {
		.argv = in->launch.argv,
		.envp = in->launch.envp,
		.fd3 = in->launch.fd,
		.cwd_fd = in->cwd_fd,
		.null_stdin = true,
	};

	child_want(&in->child, &spawn, now_ms + LAUNCH_GIVE_UP_MS);
}

/* False: the spare is of no use for this launch, and has not been touched. */
static bool ask_spare(struct init *in, const struct link_msg *msg, int64_t now_ms)
{
	const struct agent_launch *l = &in->launch;
	struct spare_call call = {.id = msg->spare_id, .args = l->text, .lock_fd = l->fd};

	if (!(msg->flags & LINK_INTO_SPARE) || msg->spare_argc > msg->argc)
		return false;
	call.count = msg->argc - msg->spare_argc;
	if (call.count) {
		const char *last = l->argv[msg->argc - 1];

		call.args = l->argv[msg->spare_argc];
		call.args_bytes = (size_t)(last + strlen(last) + 1 - call.args);
	}
	if (in->spare.state == SPARE_READY)
		child_kill_group(&in->child, now_ms, true);
	return spare_ask(&in->spare, &call, now_ms);
}

static void on_launch(struct init *in, const struct link_msg *msg, int64_t now_ms)
{
	int error = msg->sys_errno;

	if (init_launch_in_use(in)) { /* nothing of the packet was read */
		send_launch_failed(in, msg->launch_id, EBUSY, now_ms);
		return;
	}
	/* a spare that had the arguments and is not proven dead counts as running */
	if (in->child.state != CHILD_NONE || in->spare.asked)
		error = EBUSY;
	else if (is_ending(in))
		error = ECANCELED;
	else if (in->lease_ms && now_ms >= in->lease_ms)
		error = ETIME;
	if (error) {
		say("launch %s refused: %s", msg->launch_id, strerror(error));
		init_release_launch_fd(in);
		send_launch_failed(in, msg->launch_id, error, now_ms);
		return;
	}
	memcpy(in->child.launch_id, msg->launch_id, sizeof(in->child.launch_id));
	if (ask_spare(in, msg, now_ms)) {
		in->waits_for_spare = true;
		in->spare_give_up_ms = now_ms + LAUNCH_GIVE_UP_MS;
		return;
	}
	spare_end(&in->spare, msg->flags & LINK_INTO_SPARE ? ESTALE : ECANCELED);
	want_launched(in, now_ms);
}

/* ---- the spare ---- */

static void on_spare(struct init *in, const struct link_msg *msg, int64_t now_ms)
{
	struct link_msg gone = {.type = LINK_SPARE_GONE, .sys_errno = msg->sys_errno};
	struct spawn spawn = {
		.argv = in->launch.argv,
		.envp = in->launch.envp,
		.cwd_fd = in->cwd_fd,
	};
	bool busy = init_launch_in_use(in); /* nothing of the packet was read */

	if (busy || in->spare.state != SPARE_NONE)
		gone.sys_errno = EBUSY;
	else if (is_ending(in))
		gone.sys_errno = ECANCELED;
	else if (!gone.sys_errno && in->launch.fd < 0)
		gone.sys_errno = EINVAL;
	if (!busy)
		spare_end(&in->spare, ECANCELED);
	if (!gone.sys_errno)
		gone.sys_errno = spare_start(&in->spare, msg->launch_id, &spawn, &in->launch.fd,
					     msg->until_ms, now_ms);
	if (!busy)
		init_release_launch_fd(in);
	if (!gone.sys_errno)
		return;
	say("spare %s refused: %s", msg->launch_id, strerror(gone.sys_errno));
	memcpy(gone.launch_id, msg->launch_id, sizeof(gone.launch_id));
	agent_send(&in->agent, &gone, now_ms);
}

void init_read_spare(struct init *in, int64_t now_ms)
{
	struct link_msg ready = {.type = LINK_SPARE_READY, .pid = in->spare.pid};

	switch (spare_read(&in->spare)) {
	case SPARE_NOTHING:
		break;
	case SPARE_IS_READY:
		memcpy(ready.launch_id, in->spare.id, sizeof(ready.launch_id));
		agent_send(&in->agent, &ready, now_ms);
		break;
	case SPARE_GOES:
		in->waits_for_spare = false;
		init_release_launch_fd(in);
		child_adopt(&in->child, spare_hand_over(&in->spare), in->child.launch_id);
		init_send_started(in, LINK_FROM_SPARE, now_ms);
		break;
	}
}

/* The launch goes on without the spare; another process may have got the lock in between. */
static void launch_after_all(struct init *in, int64_t now_ms)
{
	in->waits_for_spare = false;
	if (flock(in->launch.fd, LOCK_EX | LOCK_NB) == 0) {
		want_launched(in, now_ms);
		return;
	}
	say("launch %s failed: cannot lock its file again: %s", in->child.launch_id,
	    strerror(errno));
	init_send_launch_failed(in, errno, now_ms);
	init_release_launch_fd(in);
}

static void on_spare_gone(struct init *in, int wait_status, int64_t now_ms)
{
	struct link_msg gone;

	spare_reaped(&in->spare, wait_status, &gone);
	if (gone.flags & LINK_OOM_KILLED)
		in->child.oom_before++; /* it was not for the main child */
	agent_send(&in->agent, &gone, now_ms);
	if (in->waits_for_spare)
		launch_after_all(in, now_ms);
}

int64_t init_spare(struct init *in, int64_t now_ms)
{
	bool asked = in->spare.state == SPARE_ASKED;

	if (in->stop.asked_ms != STOP_NEVER || (!asked && (in->stop.exit_asked || !in->agent.pid)))
		spare_end(&in->spare, ECANCELED);
	spare_tick(&in->spare, now_ms);
	if (!in->waits_for_spare)
		return spare_wake_ms(&in->spare);
	if (in->spare.state == SPARE_ASKED)
		return spare_wake_ms(&in->spare);
	if (now_ms < in->spare_give_up_ms)
		return in->spare_give_up_ms;
	in->waits_for_spare = false;
	say("launch %s failed: the spare (process %d) does not end", in->child.launch_id,
	    (int)in->spare.pid);
	init_send_launch_failed(in, ETIMEDOUT, now_ms);
	init_release_launch_fd(in);
	return STOP_NEVER;
}

static void on_message(struct init *in, const struct link_msg *msg, int64_t now_ms)
{
	switch (msg->type) {
	case LINK_LAUNCH:
		on_launch(in, msg, now_ms);
		break;
	case LINK_SIGNAL:
		if (msg->signo >= 1 && msg->signo <= SIGNALS_MAX)
			child_signal(&in->child, msg->signo, msg->flags & LINK_GROUP);
		break;
	case LINK_STOP_ACK:
		in->stop.acked = in->stop.asked_ms != STOP_NEVER;
		break;
	case LINK_SPARE:
		on_spare(in, msg, now_ms);
		break;
	case LINK_SPARE_END:
		if (in->spare.state != SPARE_ASKED)
			spare_end(&in->spare, ECANCELED);
		break;
	case LINK_LEASE:
		in->lease_ms = msg->until_ms;
		break;
	case LINK_EXIT:
		if (!in->stop.exit_asked)
			in->stop.exit_ms = now_ms;
		in->stop.exit_asked = true;
		in->exit_status = msg->exit_status & 255;
		break;
	default:
		break;
	}
}

void init_receive(struct init *in, int64_t now_ms)
{
	struct link_msg msg;

	for (int i = 0; i < PACKETS_PER_PASS && in->agent.link >= 0; i++) {
		bool busy = init_launch_in_use(in);

		if (agent_receive(&in->agent, &msg, busy ? NULL : &in->launch, now_ms) ==
		    AGENT_NOTHING)
			break;
		on_message(in, &msg, now_ms);
	}
}

/* ---- the lease ---- */

int64_t init_lease(struct init *in, int64_t now_ms)
{
	if (!in->lease_ms || in->child.state == CHILD_NONE)
		return STOP_NEVER;
	if (now_ms < in->lease_ms)
		return in->lease_ms;
	if (in->child.state == CHILD_WANTED)
		return STOP_NEVER; /* checked again once the process exists */
	if (in->lease_killed != in->child.pid)
		say("the lease has expired without being renewed: SIGKILL to process %d",
		    (int)in->child.pid);
	in->lease_killed = in->child.pid;
	child_signal(&in->child, SIGKILL, true);
	return now_ms + LEASE_AGAIN_MS;
}

/* ---- processes that have exited ---- */

static void explain(struct init *in, const char *what, int wait_status)
{
	const struct child *c = &in->child;

	if (WIFEXITED(wait_status)) {
		say_more("%s exited with status %d", what, WEXITSTATUS(wait_status));
		return;
	}
	snprintf(in->reason, sizeof(in->reason), "%.80s was killed by signal %d%s%s", what,
		 WTERMSIG(wait_status), WCOREDUMP(wait_status) ? ", core dumped" : "",
		 c->last_oom ? ", and its cgroup ran out of memory" : "");
	say("%s", in->reason);
}

static void on_child_gone(struct init *in, int wait_status, int64_t now_ms)
{
	struct child *c = &in->child;

	if (child_check(c))
		init_send_started(in, 0, now_ms);
	child_reaped(c, wait_status);
	if (c->exec_errno) {
		snprintf(in->reason, sizeof(in->reason), "cannot execute %.120s: %s",
			 in->opt->agent ? "the command of the agent's launch" : in->opt->argv[0],
			 strerror(c->exec_errno));
		say("%s", in->reason);
		if (!in->opt->agent)
			in->exit_status = spawn_exit_status(c->exec_errno);
		init_send_launch_failed(in, c->exec_errno, now_ms);
		return;
	}
	explain(in, in->opt->agent ? "the main child" : in->opt->argv[0], wait_status);
	send_exited(in, now_ms);
	if (in->opt->agent && in->stop.asked_ms == STOP_NEVER && !in->stop.exit_asked)
		child_term_group(c, now_ms);
}

/* Decides whether to restart an agent that has exited. */
static void on_agent_gone(struct init *in, int wait_status, int64_t now_ms)
{
	struct agent *a = &in->agent;
	pid_t pid = a->pid;
	int error;

	init_receive(in, now_ms); /* messages that it sent before it exited */
	agent_reaped(a, now_ms, &error);
	in->stop.acked = false;
	if (!in->child.ever && (error || a->wrong_version)) {
		in->agent_status = STATUS_NO_AGENT;
		snprintf(in->reason, sizeof(in->reason), "cannot use the agent %.120s: %s",
			 in->opt->argv[0],
			 error ? strerror(error) : "it uses another version of the link protocol");
		say("%s", in->reason);
	} else if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == STATUS_CONFIG &&
		   !in->child.ever) {
		in->agent_status = STATUS_CONFIG;
	} else if (WIFEXITED(wait_status) && !WEXITSTATUS(wait_status) &&
		   in->child.state == CHILD_NONE) {
		in->agent_status = 0;
	}
	if (in->agent_status >= 0 || in->stop.asked_ms != STOP_NEVER ||
	    in->stop.ending_ms != STOP_NEVER) {
		a->start_ms = STOP_NEVER;
		return;
	}
	say("the agent (process %d) %s %d; restarting it in %lld ms", (int)pid,
	    WIFEXITED(wait_status) ? "exited with status" : "was killed by signal",
	    WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : WTERMSIG(wait_status),
	    (long long)(a->start_ms - now_ms));
}

/* The only place that waits for children. */
void init_reap(struct init *in, int64_t now_ms)
{
	in->more_to_reap = false;
	for (int i = 0; i < REAPS_PER_PASS; i++) {
		int wait_status;
		pid_t pid = waitpid(-1, &wait_status, WNOHANG);

		if (pid <= 0) {
			in->stop.left = !pid;
			return;
		}
		if (pid == in->spare.pid) /* its last word may make it the main child */
			init_read_spare(in, now_ms);
		if (pid == in->child.pid)
			on_child_gone(in, wait_status, now_ms);
		else if (pid == in->agent.pid)
			on_agent_gone(in, wait_status, now_ms);
		else if (pid == in->spare.pid)
			on_spare_gone(in, wait_status, now_ms);
		else
			say_more("reaped process %d", (int)pid);
	}
	in->more_to_reap = true;
}

/* ---- signals ---- */

static void on_stop_signal(struct init *in, int signo, int64_t now_ms)
{
	if (in->stop.asked_ms == STOP_NEVER) {
		in->stop.asked_ms = now_ms;
		in->stop_signo = signo;
		say_more("signal %d: stopping", signo);
		return;
	}
	if (signo == SIGINT && signals_int_was_typed()) {
		say("interrupted again: killing everything");
		in->stop.forced = true;
	} else if (!in->opt->agent) {
		child_signal(&in->child, signo, in->opt->group);
	}
}

void init_on_signals(struct init *in, int64_t now_ms)
{
	bool died = in->more_to_reap;

	while (signals_take(SIGCHLD))
		died = true;
	if (died)
		init_reap(in, now_ms);
	while (signals_take(SIGTERM))
		on_stop_signal(in, SIGTERM, now_ms);
	while (signals_take(SIGINT))
		on_stop_signal(in, SIGINT, now_ms);
	if (in->child.state == CHILD_WANTED && !in->opt->agent)
		return; /* the other signals wait until there is a process to receive them */
	for (int signo = 1; signo <= SIGNALS_MAX; signo++)
		while (signals_take(signo)) {
			say_more("forwarding signal %d", signo);
			child_signal(&in->child, signo, in->opt->group && !in->opt->agent);
		}
}
