/*
 * puppet - the child, orphan or agent that a test needs:
 *
 *   exit N                 exit with N
 *   raise N                die of signal N
 *   report                 print what was inherited, then exit
 *   wait                   say "ready PID" and wait for a signal with its default action
 *   log                    say "ready PID", then "got N" for every signal; SIGUSR2 ends it
 *   deaf                   ignore SIGTERM and SIGINT for ever
 *   deaf-group             the same with a second process in the group ("second PID")
 *   linger MS N            on SIGTERM exit with N after MS
 *   orphan clean|deaf      leave an orphan in a session of its own; clean: it says "orphan cleaned up" 200 ms
 *                          after SIGTERM. "orphan-in-group" leaves it in the group,
 *                          "orphan-chain" as the child of another, each with its own session
 *   storm N                N orphans die at the same moment; "left 0" when all of them have been reaped
 *   stream N               N orphans one after the other
 *   burst                  20 orphans and the puppet itself die together; exit 3
 *   run CMD...             exec with everything as it is
 *   job LOCK COUNTER       hold COUNTER alone and add a byte to it; exit 0 if descriptor 3 is what LOCK is
 *                          locked through, 80 if not, 81 if another job runs
 *   spare STEP...          a spare that does, in this order, what the steps say: "nap MS", "ready", "say TEXT",
 *                          "close", "args" (read them; an exit with 70 if they are not complete), "go", "exit N",
 *                          "keep" (leave a process in the group), "loop" (use the processor for ever), "stop" (with
 *                          SIGSTOP), "show" (print the arguments), "main" (do what the arguments say)
 *   agent SOCKET           pass the link on to the test and do what it says
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "entrypoint/link.h"

static volatile sig_atomic_t got_term;

static void nap(long ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	while (nanosleep(&ts, &ts) < 0 && errno == EINTR)
		;
}

static void on_signal(int signo)
{
	char line[20];
	int n = 0, saved = errno;

	memcpy(line, "got ", 4);
	n = 4;
	if (signo >= 10)
		line[n++] = (char)('0' + signo / 10);
	line[n++] = (char)('0' + signo % 10);
	line[n++] = '\n';
	if (write(1, line, (size_t)n) < 0)
		_exit(97);
	if (signo == SIGUSR2)
		_exit(0);
	errno = saved;
}

static void on_term(int signo)
{
	(void)signo;
	got_term = 1;
}

static void ready(void)
{
	dprintf(1, "ready %d\n", (int)getpid());
}

static void report(void)
{
	char line[400], cwd[1000] = "";
	FILE *status = NULL;
	int death = 0;

	/* beside a storm of processes the kernel may have no file to give for a moment */
	for (int tries = 0; tries < 1000 && !(status = fopen("/proc/self/status", "r")); tries++)
		usleep(1000);
	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, "SigBlk:", 7) || !strncmp(line, "SigIgn:", 7))
			printf("%s", line);
	if (status)
		fclose(status);
	prctl(PR_GET_PDEATHSIG, &death);
	printf("pid %d\nppid %d\ngroup %d\nsession %d\n", (int)getpid(), (int)getppid(),
	       (int)getpgrp(), (int)getsid(0));
	printf("cwd %s\ndeathsig %d\nforeground %d\nmark %s\n",
	       getcwd(cwd, sizeof(cwd)) ? cwd : "?", death, (int)tcgetpgrp(0),
	       getenv("MARK") ? getenv("MARK") : "none");
	printf("link %s\nuid %d\n", getenv(LINK_ENV) ? getenv(LINK_ENV) : "none", (int)getuid());
	for (int fd = 3; fd < 256; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("open %d\n", fd);
	printf("reported\n");
}

static void log_signals(void)
{
	struct sigaction act = {.sa_handler = on_signal};

	sigfillset(&act.sa_mask);
	for (int signo = 1; signo <= 64; signo++)
		if (signo != SIGSEGV && signo != SIGBUS && signo != SIGILL && signo != SIGFPE)
			sigaction(signo, &act, NULL);
	ready();
	for (;;)
		pause();
}

static void be_deaf(void)
{
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
}

static void orphan(const char *how, int sessions)
{
	int told[2];
	char byte;

	if (pipe(told) < 0)
		exit(96);
	if (!fork()) {
		if (fork())
			_exit(0);
		if (sessions)
			setsid();
		if (sessions == 2 && fork()) {
			close(told[0]);
			close(told[1]);
			pause();
		}
		if (sessions == 2)
			setsid();
		if (!strcmp(how, "clean"))
			signal(SIGTERM, on_term);
		else
			be_deaf();
		dprintf(1, "orphan %d\n", (int)getpid());
		close(told[0]);
		close(told[1]);
		while (!got_term)
			nap(5);
		nap(200);
		dprintf(1, "orphan cleaned up\n");
		_exit(0);
	}
	close(told[1]);
	if (read(told[0], &byte, 1) != 0)
		exit(96);
}

static void storm(int n)
{
	static pid_t pids[20000];
	int hold[2], names[2];
	struct timespec from, to;
	long ms = 0;

	if (pipe(hold) < 0 || pipe(names) < 0)
		exit(96);
	if (!fork()) {
		for (int i = 0; i < n; i++) {
			pid_t pid = fork();
			char byte;

			if (!pid) {
				close(hold[1]);
				_exit(read(hold[0], &byte, 1) ? 1 : 0);
			}
			if (pid < 0 || write(names[1], &pid, sizeof(pid)) != sizeof(pid))
				_exit(1);
		}
		_exit(0);
	}
	for (int i = 0; i < n; i++)
		if (read(names[0], &pids[i], sizeof(pids[i])) != sizeof(pids[i]))
			exit(95);
	wait(NULL); /* the parent of all of them is gone now */
	close(hold[0]);
	clock_gettime(CLOCK_MONOTONIC, &from);
	close(hold[1]);
	for (int i = 0; i < n && ms < 20000; i++)
		while (!kill(pids[i], 0) && ms < 20000) {
			nap(1);
			clock_gettime(CLOCK_MONOTONIC, &to);
			ms = (to.tv_sec - from.tv_sec) * 1000 +
			     (to.tv_nsec - from.tv_nsec) / 1000000;
		}
	clock_gettime(CLOCK_MONOTONIC, &to);
	ms = (to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000;
	int left = 0;
	for (int i = 0; i < n; i++)
		left += !kill(pids[i], 0);
	printf("left %d ms %ld\n", left, ms);
}

static void stream(int n)
{
	static pid_t pids[20000];
	int names[2], left = 0;
	pid_t pid;

	if (pipe(names) < 0)
		exit(96);
	for (int i = 0; i < n; i++) {
		if (!fork()) {
			pid = fork();
			if (!pid)
				_exit(0);
			_exit(write(names[1], &pid, sizeof(pid)) != sizeof(pid));
		}
		wait(NULL);
		if (read(names[0], &pids[i], sizeof(pid)) != sizeof(pid))
			exit(95);
	}
	for (int tries = 0; tries < 2000; tries++) {
		left = 0;
		for (int i = 0; i < n; i++)
			left += !kill(pids[i], 0);
		if (!left)
			break;
		nap(5);
	}
	printf("left %d\n", left);
}

static void burst(void)
{
	int hold[2];
	char byte;

	if (pipe(hold) < 0)
		exit(96);
	if (!fork()) {
		for (int i = 0; i < 20; i++)
			if (!fork()) {
				close(hold[1]);
				_exit(read(hold[0], &byte, 1) ? 1 : 0);
			}
		_exit(0);
	}
	wait(NULL);
	_exit(3); /* closes the pipe: all die at once */
}

static int agent(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int link = atoi(getenv(LINK_ENV) ? getenv(LINK_ENV) : "-1");
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {.align = {.cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS,
			       .cmsg_len = CMSG_LEN(sizeof(int))}};
	struct iovec iov = {"x", 1};
	struct msghdr hdr = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	char order[200];

	strncpy(addr.sun_path, path, sizeof(addr.sun_path) - 1);
	memcpy(CMSG_DATA(&control.align), &link, sizeof(int));
	if (connect(sock, (struct sockaddr *)&addr, sizeof(addr)) < 0 || sendmsg(sock, &hdr, 0) < 0)
		return 94;
	while (recv(sock, order, sizeof(order), 0) > 0) {
		if (!strncmp(order, "exit ", 5))
			return atoi(order + 5);
		if (!strcmp(order, "close"))
			close(link);
		if (!strcmp(order, "ignore")) {
			signal(SIGTERM, SIG_IGN);
			send(sock, "done", 5, 0);
		}
	}
	for (;;)
		pause();
}

/* Two jobs at once, or one without the lock, is what must never be. */
static int job(const char *lock, const char *counter)
{
	int again = open(lock, O_RDWR), alone = open(counter, O_WRONLY | O_APPEND);

	if (again < 0 || alone < 0)
		return 82;
	if (flock(alone, LOCK_EX | LOCK_NB) < 0)
		return 81;
	/* locked, because another description cannot get it; and by ours, because ours can */
	if (!flock(again, LOCK_EX | LOCK_NB) || flock(3, LOCK_EX | LOCK_NB) < 0)
		return 80;
	if (write(alone, ".", 1) != 1)
		return 82;
	nap(1);
	return 0;
}

/* The arguments of the launch: their number in argv[0], read from standard input. */
static int read_args(char **argv, int room)
{
	static char text[LINK_PACKET_MAX_BYTES + 64];
	size_t len = 0;
	ssize_t n;
	int argc = 0;

	while ((n = read(0, text + len, sizeof(text) - len)) > 0)
		len += (size_t)n;
	if (n < 0 || !len || text[len - 1])
		exit(70);
	for (size_t at = 0; at < len && argc < room; at += strlen(text + at) + 1)
		argv[argc++] = text + at;
	if (argc - 1 != atoi(argv[0]))
		exit(70);
	return argc;
}

static int play(int argc, char **argv);

static int spare(char **steps)
{
	static char *args[LINK_STRINGS_MAX];
	int count = 0;

	for (; *steps; steps++) {
		const char *step = *steps;

		if (!strncmp(step, "nap ", 4))
			nap(atol(step + 4));
		if (!strcmp(step, "ready") && write(0, "ready\n", 6) < 0)
			return 71;
		if (!strncmp(step, "say ", 4) && write(0, step + 4, strlen(step + 4)) < 0)
			return 71;
		if (!strcmp(step, "close"))
			close(0);
		if (!strcmp(step, "args")) {
			count = read_args(args, LINK_STRINGS_MAX);
			dprintf(1, "arguments %d\n", count - 1);
		}
		if (!strcmp(step, "go") && write(0, "go\n", 3) < 0)
			return 71;
		if (!strncmp(step, "exit ", 5))
			return atoi(step + 5);
		if (!strcmp(step, "keep") && !fork())
			for (;;)
				pause();
		while (!strcmp(step, "loop"))
			;
		if (!strcmp(step, "stop"))
			raise(SIGSTOP);
		for (int i = 1; i < count && !strcmp(step, "show"); i++)
			dprintf(1, "<%s>%s", args[i], i == count - 1 ? "\n" : "");
		if (!strcmp(step, "main"))
			return play(count, args);
	}
	for (;;)
		pause();
}

static int play(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *arg = argc > 2 ? argv[2] : "";

	if (!strcmp(what, "exit"))
		return atoi(arg);
	if (!strcmp(what, "raise")) {
		raise(atoi(arg));
		return 99;
	}
	if (!strcmp(what, "report"))
		return report(), 0;
	if (!strcmp(what, "wait"))
		ready();
	if (!strcmp(what, "log"))
		log_signals();
	if (!strcmp(what, "deaf") || !strcmp(what, "deaf-group")) {
		be_deaf();
		if (what[4] && !fork())
			dprintf(1, "second %d\n", (int)getpid());
		else
			ready();
	}
	if (!strcmp(what, "linger")) {
		signal(SIGTERM, on_term);
		ready();
		while (!got_term)
			nap(2);
		nap(atoi(arg));
		return argc > 3 ? atoi(argv[3]) : 0;
	}
	if (!strcmp(what, "orphan-chain"))
		return orphan(arg, 2), 5;
	if (!strcmp(what, "orphan") || !strcmp(what, "orphan-in-group"))
		return orphan(arg, !what[6]), 5;
	if (!strcmp(what, "storm"))
		return storm(atoi(arg)), 0;
	if (!strcmp(what, "stream"))
		return stream(atoi(arg)), 0;
	if (!strcmp(what, "burst"))
		burst();
	if (!strcmp(what, "run"))
		return execvp(argv[2], argv + 2), 93;
	if (!strcmp(what, "job"))
		return job(arg, argc > 3 ? argv[3] : "");
	if (!strcmp(what, "spare"))
		return spare(argv + 2);
	if (!strcmp(what, "agent"))
		return agent(arg);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	return play(argc, argv);
}
