/* The first milliseconds: no signal is lost between exec of drey-init and exec of the command. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define TRIES 200

static const char *signal_is_pending(void *arg)
{
	int signo = *(int *)arg;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signo);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(signo);
	return NULL;
}

TEST(a_stop_signal_before_the_fork_means_never_started)
{
	int signos[] = {SIGTERM, SIGINT};

	for (int i = 0; i < 2; i++) {
		struct rig rig = {0};

		CHECK(RIG_START_IN(&rig, signal_is_pending, &signos[i], "--", rig_puppet(),
				   "report"));
		CHECK_INT(rig_wait(&rig), ==, 128 + signos[i]);
		CHECK_STR(rig.text, "");
	}
}

TEST(another_signal_before_the_fork_reaches_the_command)
{
	struct rig rig = {0};
	int signo = SIGHUP;

	/* Pending and blocked, as it was inherited; the command meets it before its first instruction. */
	CHECK(RIG_START_IN(&rig, signal_is_pending, &signo, "--", rig_puppet(), "wait"));
	kill(rig.pid, SIGKILL);
	rig_wait(&rig);
	signo = SIGHUP;
	CHECK(RIG_START_IN(&rig, signal_is_pending, &signo, "--agent", "--", rig_puppet(), "exit",
			   "0"));
	CHECK_INT(rig_wait(&rig), ==, 0);
}

TEST(no_sigterm_is_lost_at_a_random_moment)
{
	const char *const plain[] = {"--", rig_puppet(), "wait", NULL};
	const char *const group[] = {"-g", "--", rig_puppet(), "wait", NULL};

	srandom(7);
	for (int i = 0; i < TRIES; i++) {
		struct rig rig = {0};
		int status;

		rig_start(&rig, NULL, NULL, i % 2 ? plain : group);
		usleep((useconds_t)(random() % 3000));
		kill(rig.pid, SIGTERM);
		status = rig_wait(&rig);
		/* Killed itself only if drey-init had not yet come to its first instruction. */
		CHECK(status == 143 || status == 1000 + SIGTERM);
		free(rig.text);
	}
}

#define TOO_LATE 99 /* the delay was over before the signal was sent: proves nothing */

/* Runs drey-init under strace, delays this system call, and sends SIGTERM inside the delay. */
static int term_in_delay(const char *syscall, int delay_ms, const char *option)
{
	char command[9000], dir[] = "/tmp/drey-trace-XXXXXX";
	int status;

	if (!mkdtemp(dir))
		abort();
	snprintf(command, sizeof(command),
		 "strace -f -qq -o %s/trace -e trace=fork,clone,execve,setpgid -e "
		 "inject=%s:delay_enter=%d000 "
		 "%s/drey-init %s --grace 20 -- %s wait >%s/said 2>&1 & pid=$!; "
		 "for i in $(seq 500); do init=$(pgrep -P $pid); "
		 "  [ -n \"$init\" ] && [ -n \"$(pgrep -P $init)\" ] && break; sleep 0.01; done; "
		 "sleep 0.1; kill -TERM $init; wait $pid; status=$?; "
		 "grep -q ready %s/said && status=%d; rm -r %s; exit $status",
		 dir, syscall, delay_ms, getenv("BUILD") ? getenv("BUILD") : "build", option,
		 rig_puppet(), dir, dir, TOO_LATE, dir);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void term_during(const char *syscall, const char *option)
{
	int delay_ms = 500, status;

	if (system("strace -f true >/dev/null 2>&1")) {
		tap_skip("strace is not installed or may not trace");
		return;
	}
	do /* a busy machine needs longer to get into the delay */
		status = term_in_delay(syscall, delay_ms, option);
	while (status == TOO_LATE && (delay_ms *= 4) < 20000);
	CHECK_INT(status, ==, 143);
}

TEST(no_sigterm_is_lost_between_fork_and_setpgid)
{
	term_during("setpgid", "");
	term_during("setpgid", "-g");
}

TEST(no_sigterm_is_lost_while_exec_is_slow)
{
	/* At the command's execve its mask and dispositions have been restored. */
	term_during("execve", "");
	term_during("execve", "-g");
}

/* ---- no process to be had ---- */

#define ODD_UID 1000780001

static const char *no_process_left(void *arg)
{
	struct rlimit none = {0, 1000};

	(void)arg;
	if (setgid(0) < 0 || setuid(ODD_UID) < 0)
		return "needs root";
	setrlimit(RLIMIT_NPROC, &none);
	return NULL;
}

TEST(waits_for_a_process_to_be_had)
{
	struct rlimit some = {1000, 1000};
	struct rig rig = {0};

	if (!RIG_START_IN(&rig, no_process_left, NULL, "--", "/bin/echo", "at last"))
		return;
	CHECK(rig_says(&rig, "cannot start /bin/echo yet: Resource temporarily unavailable"));
	usleep(100000);
	CHECK_INT(rig_count(&rig, "yet"), ==, 1);
	if (!fork()) /* only the same user may lift it */
		_exit(setgid(0) < 0 || setuid(ODD_UID) < 0 ||
		      prlimit(rig.pid, RLIMIT_NPROC, &some, NULL) < 0);
	CHECK(rig_says(&rig, "at last"));
	CHECK_INT(rig_wait(&rig), ==, 0);
}

static int64_t sigterm_while_waiting(void)
{
	struct rig rig = {0};
	int64_t from_ms;

	if (!RIG_START_IN(&rig, no_process_left, NULL, "--", "/bin/echo", "at last"))
		return 0; /* skipped */
	CHECK(rig_says(&rig, "yet"));
	from_ms = rig_now_ms();
	kill(rig.pid, SIGTERM);
	CHECK_INT(rig_wait(&rig), ==, 143);
	from_ms = rig_now_ms() - from_ms;
	CHECK_INT(rig_count(&rig, "at last"), ==, 0);
	return from_ms;
}

TEST(sigterm_is_answered_while_waiting_for_a_process)
{
	CHECK_INT(rig_best_ms(sigterm_while_waiting, 500), <, 500);
}

TEST(a_command_that_ends_at_once_is_not_missed)
{
	for (int i = 0; i < TRIES; i++) {
		struct rig rig = {0};

		CHECK(RIG_START(&rig, "--", "/bin/true"));
		CHECK_INT(rig_wait(&rig), ==, 0);
		free(rig.text);
	}
}
