/*
 * measure - what a process costs while it has nothing to do, and how long drey takes from the death of Flink to the
 * next one. bench/agent/run.sh calls it.
 *
 *   measure sample EVERY_S SECONDS NAME=PID...   one line for each process and moment, until the time is over:
 *                                                seconds NAME PID rss_kb pss_kb private_dirty_kb threads
 *                                                voluntary involuntary cpu_us descriptors
 *   measure kill PID                             SIGKILL; prints the microsecond in which the process had ended
 *   measure stamp FILE COMMAND...                appends the microsecond to FILE and becomes COMMAND
 *
 * Switches and CPU are sums over all threads since the process began; nothing of a thread that has ended is lost as
 * long as the process ends none. Microseconds are those of CLOCK_MONOTONIC.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SUBJECTS 8

struct sample {
	int64_t rss_kb, pss_kb, dirty_kb, threads, voluntary, involuntary, cpu_us, descriptors;
};

static int64_t now_us(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (int64_t)at.tv_sec * 1000000 + at.tv_nsec / 1000;
}

static int read_text(const char *path, char *text, size_t size_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t got = 0;

	if (fd < 0)
		return -1;
	while (len < size_bytes - 1 && (got = read(fd, text + len, size_bytes - 1 - len)) > 0)
		len += (size_t)got;
	close(fd);
	text[len] = '\0';
	return got < 0 || !len ? -1 : 0;
}

static int64_t number_after(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoll(at + strlen(name), NULL, 10) : 0;
}

static int64_t count_entries(const char *path)
{
	DIR *stream = opendir(path);
	int64_t count = 0;

	while (stream && readdir(stream))
		count++;
	if (stream)
		closedir(stream);
	return count > 2 ? count - 2 : 0;
}

static void add_thread(int pid, const char *tid, struct sample *s)
{
	char path[320], text[8192];

	snprintf(path, sizeof(path), "/proc/%d/task/%s/status", pid, tid);
	if (read_text(path, text, sizeof(text)) < 0)
		return;
	s->threads++;
	s->voluntary += number_after(text, "\nvoluntary_ctxt_switches:");
	s->involuntary += number_after(text, "\nnonvoluntary_ctxt_switches:");
	snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", pid, tid);
	if (read_text(path, text, sizeof(text)) == 0)
		s->cpu_us += strtoll(text, NULL, 10) / 1000;
}

/* -1: the process is gone. */
static int take(int pid, struct sample *s)
{
	char path[64], text[8192];
	struct dirent *entry;
	DIR *tasks;

	*s = (struct sample){0};
	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	if (read_text(path, text, sizeof(text)) < 0)
		return -1;
	s->rss_kb = number_after(text, "\nRss:");
	s->pss_kb = number_after(text, "\nPss:");
	s->dirty_kb = number_after(text, "\nPrivate_Dirty:");
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	s->descriptors = count_entries(path);
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			add_thread(pid, entry->d_name, s);
	if (tasks)
		closedir(tasks);
	return s->threads ? 0 : -1;
}

static int sample(int every_s, double seconds, char **subjects, int count)
{
	int64_t start_us = now_us(), at_us = start_us;
	int64_t end_us = start_us + (int64_t)(seconds * 1e6);

	for (;;) {
		for (int i = 0; i < count; i++) {
			const char *equals = strchr(subjects[i], '=');
			int name_len = equals ? (int)(equals - subjects[i]) : 0;
			int pid = equals ? atoi(equals + 1) : 0;
			struct sample s;

			if (pid <= 0 || take(pid, &s) < 0) {
				fprintf(stderr, "measure: process %s is not running\n",
					subjects[i]);
				return 1;
			}
			printf("%.3f %.*s %d %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
			       " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
			       (double)(now_us() - start_us) / 1e6, name_len, subjects[i], pid,
			       s.rss_kb, s.pss_kb, s.dirty_kb, s.threads, s.voluntary,
			       s.involuntary, s.cpu_us, s.descriptors);
		}
		fflush(stdout);
		at_us += (int64_t)every_s * 1000000;
		if (at_us > end_us)
			return 0;
		while (now_us() < at_us)
			usleep((unsigned)(at_us - now_us() > 0 ? at_us - now_us() : 0));
	}
}

/* A pidfd is readable from the moment in which the parent is sent SIGCHLD. */
static int kill_and_wait(int pid)
{
	struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	int64_t asked_us = now_us();

	if (ended.fd < 0 || kill(pid, SIGKILL) < 0 || poll(&ended, 1, 30000) != 1) {
		fprintf(stderr, "measure: cannot end %d: %s\n", pid, strerror(errno));
		return 1;
	}
	printf("%" PRId64 " %" PRId64 "\n", now_us(), asked_us);
	return 0;
}

static int stamp(const char *path, char **command)
{
	char line[32];
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	int len = snprintf(line, sizeof(line), "%" PRId64 "\n", now_us());

	if (fd < 0 || write(fd, line, (size_t)len) != len)
		return 126;
	execvp(command[0], command);
	return 127;
}

int main(int argc, char **argv)
{
	if (argc >= 5 && argc <= 4 + SUBJECTS && !strcmp(argv[1], "sample") && atoi(argv[2]) > 0)
		return sample(atoi(argv[2]), atof(argv[3]), argv + 4, argc - 4);
	if (argc == 3 && !strcmp(argv[1], "kill") && atoi(argv[2]) > 1)
		return kill_and_wait(atoi(argv[2]));
	if (argc >= 4 && !strcmp(argv[1], "stamp"))
		return stamp(argv[2], argv + 3);
	fprintf(stderr, "measure: the head of bench/agent/measure.c tells how it is called\n");
	return 2;
}
