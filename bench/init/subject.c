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

double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double quantile(double *v, int n, double q)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[(int)(q * (n - 1))];
}

int row(struct bench *b, const char *label)
{
	b->labels[b->rows] = label;
	fprintf(stderr, "  %s\n", label);
	return b->rows++;
}

void add_subject(struct bench *b, char *spec)
{
	struct subject *s = &b->subjects[b->n++];
	char *command = strchr(spec, '=');

	if (!command || b->n > SUBJECTS_MAX)
		exit(2);
	*command++ = '\0';
	snprintf(s->name, sizeof(s->name), "%s", spec);
	for (char *word = strtok(command, " "); word && s->argc < ARGS_MAX - 1;
	     word = strtok(NULL, " "))
		s->argv[s->argc++] = word;
}

void print_table(const struct bench *b)
{
	printf("| |");
	for (int s = 0; s < b->n; s++)
		printf(" %s |", b->subjects[s].name);
	printf("\n|---|");
	for (int s = 0; s < b->n; s++)
		printf("---|");
	printf("\n");
	for (int r = 0; r < b->rows; r++) {
		printf("| %s |", b->labels[r]);
		for (int s = 0; s < b->n; s++)
			printf(" %s |", b->cells[r][s]);
		printf("\n");
	}
}

struct run start(const struct subject *s, int pid1, void (*prepare)(void),
		 const char *const *command)
{
	const char *argv[ARGS_MAX + 10];
	struct run run;
	int n = 0, ends[2];

	if (s)
		for (; n < s->argc; n++)
			argv[n] = s->argv[n];
	if (s)
		argv[n++] = "--";
	while (*command)
		argv[n++] = *command++;
	argv[n] = NULL;
	if (pipe2(ends, O_CLOEXEC) < 0)
		exit(1);
	run.pid = (pid_t)syscall(SYS_clone, (pid1 ? CLONE_NEWPID | CLONE_NEWNS : 0) | SIGCHLD, 0, 0,
				 0, 0);
	if (!run.pid) {
		if (pid1 && (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
			     mount("proc", "/proc", "proc", 0, NULL) < 0))
			_exit(90);
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		if (prepare)
			prepare();
		execv(argv[0], (char *const *)argv);
		_exit(91);
	}
	if (run.pid < 0) {
		perror("clone");
		exit(1);
	}
	close(ends[1]);
	run.out = ends[0];
	return run;
}

int says(struct run run, const char *word, int limit_ms, char *text, size_t text_bytes)
{
	double limit_us = now_us() + limit_ms * 1e3;
	size_t len = strlen(text);

	while (!strstr(text, word)) {
		struct pollfd pfd = {.fd = run.out, .events = POLLIN};
		int left_ms = (int)((limit_us - now_us()) / 1e3);
		ssize_t n;

		if (left_ms <= 0 || poll(&pfd, 1, left_ms) != 1)
			return 0;
		n = read(run.out, text + len, text_bytes - 1 - len);
		if (n <= 0)
			return 0;
		len += (size_t)n;
		text[len] = '\0';
	}
	return 1;
}

int wait_for(struct run run, int limit_ms)
{
	double limit_us = now_us() + limit_ms * 1e3;
	int status = 0, late = 0;

	while (!waitpid(run.pid, &status, WNOHANG)) {
		if (now_us() > limit_us) {
			late = 1;
			kill(run.pid, SIGKILL);
			waitpid(run.pid, &status, 0);
			break;
		}
		usleep(500);
	}
	close(run.out);
	return late ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

long number_after(const char *text, const char *label)
{
	const char *at = strstr(text, label);

	return at ? strtol(at + strlen(label), NULL, 10) : -1;
}

void read_proc(pid_t pid, const char *file, char *text, size_t text_bytes)
{
	char path[64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, text_bytes - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
}
