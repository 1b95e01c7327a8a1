#include "subject.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void status_row(struct bench *b, const char *label, const char *command, const char *arg)
{
	int r = row(b, label);

	for (int s = 0; s < b->n; s++) {
		struct run run = START(&b->subjects[s], 0, command, arg, arg ? "7" : NULL);

		CELL(b, r, s, "%d", wait_for(run, 5000));
	}
}

/* SIGTERM when the child is ready (and stopped, if wanted): how does it end within the limit? All at once. */
static void term_row(struct bench *b, const char *label, const char *what, int stop_it,
		     int limit_ms)
{
	int r = row(b, label);
	struct run runs[SUBJECTS_MAX];
	pid_t children[SUBJECTS_MAX];
	double until_us;

	for (int s = 0; s < b->n; s++) {
		char text[400] = "";

		runs[s] = START(&b->subjects[s], 0, b->puppet, what);
		says(runs[s], "ready ", 5000, text, sizeof(text));
		children[s] = (pid_t)number_after(text, "ready ");
		if (stop_it)
			kill(children[s], SIGSTOP);
	}
	usleep(20000);
	for (int s = 0; s < b->n; s++)
		kill(runs[s].pid, SIGTERM);
	until_us = now_us() + limit_ms * 1e3;
	for (int s = 0; s < b->n; s++) {
		double left_us = until_us - now_us();
		int status = wait_for(runs[s], left_us > 0 ? (int)(left_us / 1e3) : 0);

		if (status < 0) {
			CELL(b, r, s, "hangs");
			kill(children[s], SIGKILL);
		} else {
			CELL(b, r, s, "%d", status);
		}
	}
}

static void orphan_row(struct bench *b)
{
	int r = row(b, "orphan that needs 200 ms to clean up");

	for (int s = 0; s < b->n; s++) {
		char text[400] = "";
		struct run run = START(&b->subjects[s], 1, b->puppet, "orphan", "clean");

		CELL(b, r, s, "%s",
		     says(run, "cleaned up", 3000, text, sizeof(text)) ? "may" : "killed");
		wait_for(run, 1000);
	}
}

static void death_row(struct bench *b)
{
	int r = row(b, "init killed (not PID 1): its command");

	for (int s = 0; s < b->n; s++) {
		char text[400] = "";
		struct run run = START(&b->subjects[s], 0, b->puppet, "deaf");
		pid_t child;

		says(run, "ready ", 5000, text, sizeof(text));
		child = (pid_t)number_after(text, "ready ");
		kill(run.pid, SIGKILL);
		wait_for(run, 1000);
		usleep(100000);
		while (waitpid(-1, NULL, WNOHANG) > 0) /* what lost its parent has become ours */
			;
		CELL(b, r, s, "%s", kill(child, 0) ? "dies too" : "lives on");
		kill(child, SIGKILL);
	}
}

static void odd_inheritance(void)
{
	sigset_t set;

	signal(SIGUSR1, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_SETMASK, &set, NULL);
	dup2(1, 20);
}

static void inheritance_rows(struct bench *b)
{
	int ignored = row(b, "inherited SIG_IGN reaches the command"),
	    mask = row(b, "inherited mask reaches it");
	int fd = row(b, "inherited descriptor stays open in init");

	for (int s = 0; s < b->n; s++) {
		const char *const report[] = {b->puppet, "report", NULL}, *const waits[] = {
										  b->puppet, "wait",
										  NULL};
		char text[4000] = "", path[64], *at;
		struct run run = start(&b->subjects[s], 0, odd_inheritance, report);

		says(run, "reported", 5000, text, sizeof(text));
		wait_for(run, 2000);
		at = strstr(text, "SigIgn:\t");
		CELL(b, ignored, s, "%s",
		     at && strtoull(at + 8, NULL, 16) >> (SIGUSR1 - 1) & 1 ? "yes" : "no");
		at = strstr(text, "SigBlk:\t");
		CELL(b, mask, s, "%s",
		     at && strtoull(at + 8, NULL, 16) >> (SIGUSR2 - 1) & 1 ? "yes" : "no");
		*text = '\0';
		run = start(&b->subjects[s], 0, odd_inheritance, waits);
		says(run, "ready ", 5000, text, sizeof(text));
		usleep(20000);
		snprintf(path, sizeof(path), "/proc/%d/fd/20", (int)run.pid);
		CELL(b, fd, s, "%s",
		     access(path, F_OK) && readlink(path, text, 1) < 0 ? "no" : "yes");
		kill(run.pid, SIGTERM);
		wait_for(run, 2000);
	}
}

void faults(struct bench *b)
{
	status_row(b, "command exits with 7", b->puppet, "exit");
	status_row(b, "command not found", "/no/such/command", NULL);
	status_row(b, "command not executable", "/etc/passwd", NULL);
	status_row(b, "command is no program", "/tmp/drey-bench-garbage", NULL);
	term_row(b, "command ignores SIGTERM (limit 6 s; drey-init: --grace 3)", "deaf", 0, 6000);
	term_row(b, "command is stopped, then SIGTERM", "wait", 1, 2000);
	orphan_row(b);
	death_row(b);
	inheritance_rows(b);
}
