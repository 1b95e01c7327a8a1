/*
 * measure - container inits side by side: cost, speed and what they do when things go wrong.
 *
 *   measure PUPPET LOSS_TRIES IDLE_SECONDS STARTS NAME=COMMAND...     (COMMAND is split at spaces)
 *
 * IDLE_SECONDS 0: only the losses. STARTS: how many of them, and of hops; 25 times as many orphans.
 *
 * Prints one markdown table, a column for each NAME. All of them take turns in every round, so that a
 * noisy moment hits all. Needs root: they run as PID 1 where that matters. bench/init/run.sh calls it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "subject.h"

#define STARTS_MAX 1000
#define LOST_MS    50   /* that much later it is looked at whether it can still come ... */
#define LATE_MS    5000 /* ... and the first few are given this long, whatever it looks like */
#define SAY_EVERY  2000 /* tries */

/* ---- cost ---- */

static long wakeups(pid_t pid)
{
	char text[8192];
	long a, b;

	read_proc(pid, "status", text, sizeof(text));
	a = number_after(text, "\nvoluntary_ctxt_switches:");
	b = number_after(text, "nonvoluntary_ctxt_switches:");
	return a + b;
}

static void cost(struct bench *b, int idle_seconds)
{
	int size = row(b, "size on disk, bytes"), rss = row(b, "RSS, kB"), pss = row(b, "PSS, kB");
	int dirty = row(b, "private dirty, kB"), idle = row(b, "wakeups a minute, idle");
	struct run runs[SUBJECTS_MAX];
	long before[SUBJECTS_MAX];
	char text[8192];
	struct stat st;

	for (int s = 0; s < b->n; s++) {
		*text = '\0';
		CELL(b, size, s, "%ld", stat(b->subjects[s].argv[0], &st) ? -1 : (long)st.st_size);
		runs[s] = START(&b->subjects[s], 1, b->puppet, "wait");
		says(runs[s], "ready", 5000, text, sizeof(text));
	}
	usleep(500000);
	for (int s = 0; s < b->n; s++) {
		read_proc(runs[s].pid, "smaps_rollup", text, sizeof(text));
		CELL(b, rss, s, "%ld", number_after(text, "\nRss:"));
		CELL(b, pss, s, "%ld", number_after(text, "\nPss:"));
		CELL(b, dirty, s, "%ld", number_after(text, "Private_Dirty:"));
		before[s] = wakeups(runs[s].pid);
	}
	sleep((unsigned)idle_seconds);
	for (int s = 0; s < b->n; s++) {
		CELL(b, idle, s, "%.0f",
		     (double)(wakeups(runs[s].pid) - before[s]) * 60 / idle_seconds);
		kill(runs[s].pid, SIGKILL);
		wait_for(runs[s], 5000);
	}
}

/* ---- speed ---- */

static double one_start_us(const struct bench *b, const struct subject *s)
{
	double from = now_us();
	struct run run = START(s, 0, b->self, "--noop");

	waitpid(run.pid, NULL, 0);
	from = now_us() - from;
	close(run.out);
	return from;
}

static void start_overhead(struct bench *b, int starts)
{
	int r = row(b, "start overhead p50, us");
	static double took[SUBJECTS_MAX + 1][STARTS_MAX];
	double bare;

	for (int i = 0; i < starts; i++)
		for (int s = 0; s <= b->n; s++)
			took[s][i] = one_start_us(b, s < b->n ? &b->subjects[s] : NULL);
	bare = quantile(took[b->n], starts, 0.5);
	for (int s = 0; s < b->n; s++)
		CELL(b, r, s, "%.0f", quantile(took[s], starts, 0.5) - bare);
}

static void orphans(struct bench *b, int count)
{
	static char labels[2][80];
	char number[16];
	int storm, stream;

	snprintf(number, sizeof(number), "%d", count);
	snprintf(labels[0], sizeof(labels[0]), "%d orphans die at once: ms / left", count);
	snprintf(labels[1], sizeof(labels[1]), "%d orphans in a row: a second / left", count);
	storm = row(b, labels[0]);
	stream = row(b, labels[1]);
	for (int s = 0; s < b->n; s++) {
		char text[2000] = "";
		struct run run = START(&b->subjects[s], 1, b->puppet, "storm", number);
		double from;

		says(run, " ms ", 60000, text, sizeof(text));
		CELL(b, storm, s, "%ld / %ld", number_after(text, " ms "),
		     number_after(text, "left "));
		kill(run.pid, SIGKILL);
		wait_for(run, 5000);
		*text = '\0';
		from = now_us();
		run = START(&b->subjects[s], 1, b->puppet, "stream", number);
		says(run, "left ", 60000, text, sizeof(text));
		CELL(b, stream, s, "%.0f / %ld", count * 1e6 / (now_us() - from),
		     number_after(text, "left "));
		kill(run.pid, SIGKILL);
		wait_for(run, 5000);
	}
}

/* ---- lost signals ---- */

/* Asleep (or dead) and no SIGTERM waits for it: by itself it will not do anything. */
static int is_idle(pid_t pid)
{
	static const char *const labels[] = {"\nSigPnd:\t", "\nShdPnd:\t"};
	char text[8192], *at;

	read_proc(pid, "status", text, sizeof(text));
	at = strstr(text, "\nState:\t");
	if (!at || !strchr("SZ", at[8]))
		return 0;
	for (int i = 0; i < 2; i++) {
		at = strstr(text, labels[i]);
		if (!at || strtoull(at + strlen(labels[i]), NULL, 16) >> (SIGTERM - 1) & 1)
			return 0;
	}
	return 1;
}

/* The signal is neither on its way nor waiting: the init and its command sleep, and so on the way back. */
static int is_lost(pid_t init, const char *text)
{
	long command = number_after(text, "pause ");

	return command > 0 && is_idle(init) && is_idle((pid_t)command) && is_idle(init);
}

/* *ret_began: whether the command had begun before the end. */
static int one_is_lost(const struct bench *b, const struct subject *s, long delay_us, int limit_ms,
		       int *ret_began)
{
	double from = now_us(), limit_us;
	struct run run = START(s, 0, b->self, "--pause");
	struct pollfd pfd = {.fd = run.out, .events = POLLIN};
	char text[2000] = "";
	size_t len = 0;
	ssize_t n;
	int lost = 0;

	delay_us -= (long)(now_us() - from);
	if (delay_us > 0)
		usleep((useconds_t)delay_us);
	kill(run.pid, SIGTERM);
	limit_us = now_us() + limit_ms * 1e3;
	while (!lost) {
		if (!poll(&pfd, 1, LOST_MS)) {
			lost = now_us() > limit_us &&
			       (is_lost(run.pid, text) || now_us() > limit_us + 60e6);
			continue;
		}
		n = read(run.out, text + len, sizeof(text) - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
		text[len] = '\0';
	}
	if (lost && number_after(text, "pause ") > 0)
		kill((pid_t)number_after(text, "pause "), SIGKILL);
	kill(run.pid, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0) /* what it left behind has become ours */
		;
	close(run.out);
	*ret_began = number_after(text, "pause ") > 0;
	return lost;
}

static void losses(struct bench *b, int tries)
{
	static char label[80];
	int lost[SUBJECTS_MAX] = {0}, began[SUBJECTS_MAX] = {0}, lost_row, began_row;
	double from = now_us();
	int late_tries = tries < 1000 ? 1 : 3;

	snprintf(label, sizeof(label), "SIGTERM 0-3 ms after the start, %d times: lost", tries);
	lost_row = row(b, label);
	began_row = row(b, "of these times the command had begun, %");
	srandom(42);
	for (int i = 0; i < tries; i++) {
		if (i && i % SAY_EVERY == 0)
			fprintf(stderr, "    %d tries after %.0f s\n", i, (now_us() - from) / 1e6);
		for (int s = 0; s < b->n; s++) {
			int limit_ms = lost[s] < late_tries ? LATE_MS : LOST_MS, has_begun;

			lost[s] += one_is_lost(b, &b->subjects[s], random() % 3000, limit_ms,
					       &has_begun);
			began[s] += has_begun;
		}
	}
	for (int s = 0; s < b->n; s++) {
		CELL(b, lost_row, s, "%d", lost[s]);
		CELL(b, began_row, s, "%.0f", 100.0 * began[s] / tries);
	}
}

int main(int argc, char **argv)
{
	static struct bench bench;
	static char path[4000];
	int garbage;

	if (argc > 1 && !strcmp(argv[1], "--noop"))
		return 0;
	if (argc > 1 && !strcmp(argv[1], "--pause"))
		return dprintf(1, "pause %d\n", (int)getpid()), pause();
	if (argc > 2 && !strncmp(argv[1], "--hop", 5))
		return hop_child(argv[2], !strcmp(argv[1], "--hop-orphans"));
	if (argc > 2 && !strcmp(argv[1], "--hung"))
		return hop_agent(argv[0], argv[2]);
	if (argc < 6 || atoi(argv[4]) < 1 || atoi(argv[4]) > STARTS_MAX)
		return fprintf(stderr, "measure: see the head of measure.c\n"), 2;
	bench.self = realpath("/proc/self/exe", path);
	bench.puppet = argv[1];
	for (int i = 5; i < argc; i++)
		add_subject(&bench, argv[i]);
	garbage = open("/tmp/drey-bench-garbage", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (write(garbage, "exit 7\n", 7) < 0)
		return 1;
	close(garbage);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (atoi(argv[3]) > 0) {
		cost(&bench, atoi(argv[3]));
		start_overhead(&bench, atoi(argv[4]));
		hop(&bench, atoi(argv[4]));
		orphans(&bench, 25 * atoi(argv[4]));
		faults(&bench);
	}
	losses(&bench, atoi(argv[2]));
	print_table(&bench);
	unlink("/tmp/drey-bench-garbage");
	return 0;
}
