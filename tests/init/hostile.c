/* Places that do not want programs: seccomp, no /proc, read-only, odd users, few descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rig.h"

/* Everything that a healthy run has in common: start, a signal, an orphan, the status. */
static void works(rig_prepare *prepare, void *arg)
{
	struct rig rig = {0};

	if (!RIG_START_IN(&rig, prepare, arg, "--", rig_puppet(), "log"))
		return;
	CHECK(rig_says(&rig, "ready "));
	kill(rig.pid, SIGTERM);
	CHECK(rig_says(&rig, "got 15\n"));
	kill(rig.pid, SIGUSR2);
	CHECK_INT(rig_wait(&rig), ==, 0);

	CHECK(RIG_START_IN(&rig, prepare, arg, "--", rig_puppet(), "orphan-in-group", "clean"));
	CHECK_INT(rig_wait(&rig), ==, 5);
	CHECK_INT(rig_count(&rig, "orphan cleaned up"), ==, 1);

	CHECK(RIG_START_IN(&rig, prepare, arg, "--", "/no/such/program"));
	CHECK_INT(rig_wait(&rig), ==, 127);
}

static void works_with_an_agent(rig_prepare *prepare, void *arg)
{
	struct rig rig = {0};

	if (!rig_agent(&rig, prepare, arg, false, NULL))
		return;
	CHECK(rig_expect(&rig, LINK_HELLO, NULL));
	RIG_LAUNCH(&rig, "first", "wait");
	CHECK(rig_expect(&rig, LINK_STARTED, NULL));
	rig_send(&rig, LINK_SIGNAL, SIGTERM, 0, LINK_GROUP);
	CHECK(rig_expect(&rig, LINK_EXITED, NULL));
	rig_send(&rig, LINK_EXIT, 0, 6, 0);
	rig_tell_agent(&rig, "exit 0");
	CHECK_INT(rig_wait(&rig), ==, 6);
}

struct denied {
	int syscall, error;
};

/* A filter like a container runtime's: this one system call fails, for drey-init and its children. */
static const char *deny(void *arg)
{
	const struct denied *denied = arg;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)denied->syscall, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)denied->error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return "no seccomp filters";
	return NULL;
}

TEST(works_when_newer_system_calls_are_denied)
{
	static const int calls[] = {SYS_close_range,   SYS_pidfd_open, SYS_clone3,  SYS_signalfd4,
				    SYS_epoll_create1, SYS_waitid,     SYS_setpgid, SYS_prctl,
				    SYS_setsockopt,    SYS_fchdir,     SYS_openat2, SYS_statx};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		for (int j = 0; j < 2; j++) {
			struct denied denied = {calls[i], j ? EPERM : ENOSYS};

			/* Without waitid there is no telling what is left in a group, nor subreaping
			 * without prctl: only the rest is asked for. */
			if (calls[i] != SYS_waitid && calls[i] != SYS_prctl &&
			    calls[i] != SYS_setpgid)
				works(deny, &denied);
			works_with_an_agent(deny, &denied);
		}
}

static const char *inherit_and_deny(void *arg)
{
	for (int fd = 20; fd < 30; fd++)
		dup2(1, fd);
	return deny(arg);
}

TEST(closes_descriptors_without_close_range_too)
{
	struct denied denied = {SYS_close_range, ENOSYS};
	struct rig rig = {0};

	if (!RIG_START_IN(&rig, inherit_and_deny, &denied, "--", rig_puppet(), "report"))
		return;
	CHECK_INT(rig_wait(&rig), ==, 0);
	CHECK_INT(rig_count(&rig, "open "), ==, 0);
}

static const char *no_proc(void *arg)
{
	(void)arg;
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/proc", "tmpfs", 0, NULL) < 0)
		return "hiding /proc needs root";
	return NULL;
}

TEST(works_without_proc)
{
	works(no_proc, NULL);
	works_with_an_agent(no_proc, NULL);
}

static const char *read_only(void *arg)
{
	(void)arg;
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) < 0)
		return "a read-only root needs root";
	return NULL;
}

TEST(works_on_a_read_only_root)
{
	works(read_only, NULL);
	works_with_an_agent(read_only, NULL);
}

static const char *odd_user(void *arg)
{
	(void)arg;
	unsetenv("HOME");
	unsetenv("USER");
	if (setgid(0) < 0 || setuid(1000780000) < 0)
		return "another user needs root";
	return NULL;
}

TEST(works_as_a_user_nobody_has_heard_of)
{
	works(odd_user, NULL);
	works_with_an_agent(odd_user, NULL);
}

static const char *no_dev(void *arg)
{
	(void)arg;
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/dev", "tmpfs", 0, NULL) < 0)
		return "hiding /dev needs root";
	return NULL;
}

TEST(works_without_dev)
{
	works(no_dev, NULL);
	works_with_an_agent(no_dev, NULL);
}

static const char *few_files(void *arg)
{
	struct rlimit few = {16, 16};

	(void)arg;
	setrlimit(RLIMIT_NOFILE, &few);
	return NULL;
}

TEST(works_with_few_descriptors)
{
	works(few_files, NULL);
	works_with_an_agent(few_files, NULL);
}

static const char *unreadable_cwd(void *arg)
{
	(void)arg;
	if (chdir("/root") < 0 || setgid(65534) < 0 || setuid(1000780000) < 0)
		return "needs root";
	return NULL;
}

TEST(works_in_a_directory_it_may_not_enter)
{
	works(unreadable_cwd, NULL);
}

static const char *no_env(void *arg)
{
	(void)arg;
	clearenv();
	return NULL;
}

TEST(works_with_an_empty_environment)
{
	struct rig rig = {0};

	CHECK(RIG_START_IN(&rig, no_env, NULL, "--", "true"));
	CHECK_INT(rig_wait(&rig), ==, 0);
	works_with_an_agent(no_env, NULL);
}

TEST(works_as_pid_1_with_an_agent)
{
	struct rig rig = {0};

	if (!rig_agent(&rig, NULL, NULL, true, NULL))
		return;
	CHECK(rig_expect(&rig, LINK_HELLO, NULL));
	RIG_LAUNCH(&rig, "first", "orphan", "clean");
	CHECK(rig_expect(&rig, LINK_STARTED, NULL));
	CHECK(rig_expect(&rig, LINK_EXITED, NULL));
	CHECK_INT(rig_count(&rig, "orphan cleaned up"), ==, 0); /* it has a session of its own */
	kill(rig.pid, SIGTERM);
	CHECK(rig_expect(&rig, LINK_STOPPING, NULL));
	rig_send(&rig, LINK_STOP_ACK, 0, 0, 0);
	CHECK(rig_says(&rig, "orphan cleaned up")); /* while the agent is spared */
	rig_send(&rig, LINK_EXIT, 0, 3, 0);
	rig_tell_agent(&rig, "exit 0");
	CHECK_INT(rig_wait(&rig), ==, 3);
}
