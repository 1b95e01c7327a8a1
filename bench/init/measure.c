/*
 * measure - container inits side by side: cost, speed and what they do when things go wrong.
 *
 *   measure PUPPET LOSS_TRIES IDLE_SECONDS NAME=COMMAND...     (COMMAND is split at spaces)
 *
 * Prints one markdown table, a column for each NAME. All of them take turns in every round, so that a
 * noisy moment hits all. Needs root: they run as PID 1 where that matters. bench/init/run.sh calls it.
 */
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

#define SUBJECTS_MAX 12
#define ARGS_MAX     24
#define CELL_BYTES   64
#define STARTS       400
#define HOPS         1000
#define LOST_MS      500

struct subject {
	char name[40];
	char *argv[ARGS_MAX];
	int argc;
};

static struct subject subjects[SUBJECTS_MAX];
static int n_subjects;
static const char *puppet, *self;
static char cells[40][SUBJECTS_MAX][CELL_BYTES];
static const char *labels[40];
static int n_rows;

static double now_us(void)
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

static double quantile(double *v, int n, double q)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[(int)(q * (n - 1))];
}

static int row(const char *label)
{
	labels[n_rows] = label;
	fprintf(stderr, "  %s\n", label);
	return n_rows++;
}

#define CELL(r, s, ...) snprintf(cells[r][s], CELL_BYTES, __VA_ARGS__)

/* ---- running a subject -------------------------------------------------------------------------- */

struct run {
	pid_t pid;
	int out; /* standard output and error of everything below it; end of file = all are gone */
};

static void prepare_nothing(void)
{
}

/* Starts `subject -- command...`, as PID 1 of a namespace if wanted; without a subject the bare command. */
static struct run start(const struct subject *s, int pid1, void (*prepare)(void),
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
#define START(s, pid1, ...)                                                                        \
	start(s, pid1, prepare_nothing, (const char *const[]){__VA_ARGS__, NULL})

/* Waits until the output holds `word`, or ends, or the limit is reached. Returns 1 if it was there. */
static int says(struct run run, const char *word, int limit_ms, char *text, size_t text_bytes)
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

/* The exit status within the limit, 128 + n for a signal, -1: it was still there and has been killed. */
static int wait_for(struct run run, int limit_ms)
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

static long number_after(const char *text, const char *label)
{
	const char *at = strstr(text, label);

	return at ? strtol(at + strlen(label), NULL, 10) : -1;
}

static void read_proc(pid_t pid, const char *file, char *text, size_t text_bytes)
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

/* ---- cost --------------------------------------------------------------------------------------- */

static long wakeups(pid_t pid)
{
	char text[8192];
	long a, b;

	read_proc(pid, "status", text, sizeof(text));
	a = number_after(text, "\nvoluntary_ctxt_switches:");
	b = number_after(text, "nonvoluntary_ctxt_switches:");
	return a + b;
}

static void cost(int idle_seconds)
{
	int size = row("size on disk, bytes"), rss = row("RSS, kB"), pss = row("PSS, kB");
	int dirty = row("private dirty, kB"), idle = row("wakeups a minute, idle");
	struct run runs[SUBJECTS_MAX];
	long before[SUBJECTS_MAX];
	char text[8192];
	struct stat st;

	for (int s = 0; s < n_subjects; s++) {
		*text = '\0';
		CELL(size, s, "%ld", stat(subjects[s].argv[0], &st) ? -1 : (long)st.st_size);
		runs[s] = START(&subjects[s], 1, puppet, "wait");
		says(runs[s], "ready", 5000, text, sizeof(text));
	}
	usleep(500000);
	for (int s = 0; s < n_subjects; s++) {
		read_proc(runs[s].pid, "smaps_rollup", text, sizeof(text));
		CELL(rss, s, "%ld", number_after(text, "\nRss:"));
		CELL(pss, s, "%ld", number_after(text, "\nPss:"));
		CELL(dirty, s, "%ld", number_after(text, "Private_Dirty:"));
		before[s] = wakeups(runs[s].pid);
	}
	sleep((unsigned)idle_seconds);
	for (int s = 0; s < n_subjects; s++) {
		CELL(idle, s, "%.0f",
		     (double)(wakeups(runs[s].pid) - before[s]) * 60 / idle_seconds);
		kill(runs[s].pid, SIGKILL);
		wait_for(runs[s], 5000);
	}
}

/* ---- speed -------------------------------------------------------------------------------------- */

static double one_start_us(const struct subject *s)
{
	double from = now_us();
	struct run run = START(s, 0, self, "--noop");

	waitpid(run.pid, NULL, 0);
	from = now_us() - from;
	close(run.out);
	return from;
}

static void start_overhead(void)
{
	int r = row("start overhead p50, us");
	static double took[SUBJECTS_MAX + 1][STARTS];
	double bare;

	for (int i = 0; i < STARTS; i++)
		for (int s = 0; s <= n_subjects; s++)
			took[s][i] = one_start_us(s < n_subjects ? &subjects[s] : NULL);
	bare = quantile(took[n_subjects], STARTS, 0.5);
	for (int s = 0; s < n_subjects; s++)
		CELL(r, s, "%.0f", quantile(took[s], STARTS, 0.5) - bare);
}

struct shared {
	volatile double sent, got;
	volatile int n;
	volatile pid_t pid;
};

/* The child of the hop: writes down when each SIGTERM has arrived. */
static int hop_child(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct shared *sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (sh == MAP_FAILED)
		return 1;
	sh->pid = getpid();
	if (write(1, "ready\n", 6) < 0)
		return 1;
	for (;;) {
		sigwaitinfo(&set, NULL);
		sh->got = now_us();
		sh->n++;
	}
}

static void hop(void)
{
	int r50 = row("SIGTERM hop p50, us"), r99 = row("SIGTERM hop p99, us");
	char path[] = "/tmp/drey-hop-XXXXXX";
	int fd = mkstemp(path);
	struct shared *sh;
	static double took[HOPS];

	if (fd < 0 || ftruncate(fd, sizeof(*sh)) < 0)
		exit(1);
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int s = 0; s < n_subjects; s++) {
		char text[200] = "";
		struct run run = START(&subjects[s], 0, self, "--hop", path);
		int n = 0;

		says(run, "ready", 5000, text, sizeof(text));
		usleep(20000);
		for (; n < HOPS; n++) {
			int before = sh->n;
			double limit;

			sh->sent = now_us();
			limit = sh->sent + 1e6;
			kill(run.pid, SIGTERM);
			while (sh->n == before && now_us() < limit)
				usleep(50);
			if (sh->n == before)
				break;
			took[n] = sh->got - sh->sent;
			usleep(200);
		}
		CELL(r50, s, n < HOPS ? "lost" : "%.0f", quantile(took, n, 0.5));
		CELL(r99, s, n < HOPS ? "lost" : "%.0f", quantile(took, n, 0.99));
		kill(run.pid, SIGKILL);
		wait_for(run, 2000);
		kill(sh->pid, SIGKILL);
	}
	unlink(path);
	close(fd);
}

static void orphans(void)
{
	int storm = row("10,000 orphans die at once: ms / left");
	int stream = row("10,000 orphans in a row: a second / left");

	for (int s = 0; s < n_subjects; s++) {
		char text[2000] = "";
		struct run run = START(&subjects[s], 1, puppet, "storm", "10000");
		double from;

		says(run, " ms ", 60000, text, sizeof(text));
		CELL(storm, s, "%ld / %ld", number_after(text, " ms "),
		     number_after(text, "left "));
		kill(run.pid, SIGKILL);
		wait_for(run, 5000);
		*text = '\0';
		from = now_us();
		run = START(&subjects[s], 1, puppet, "stream", "10000");
		says(run, "left ", 60000, text, sizeof(text));
		CELL(stream, s, "%.0f / %ld", 1e10 / (now_us() - from),
		     number_after(text, "left "));
		kill(run.pid, SIGKILL);
		wait_for(run, 5000);
	}
}

/* ---- lost signals ------------------------------------------------------------------------------- */

static int one_is_lost(const struct subject *s, long delay_us)
{
	double from = now_us();
	struct run run = START(s, 0, self, "--pause");
	struct pollfd pfd = {.fd = run.out, .events = POLLIN};
	char text[2000];
	size_t len = 0;
	ssize_t n;
	int lost;

	delay_us -= (long)(now_us() - from);
	if (delay_us > 0)
		usleep((useconds_t)delay_us);
	kill(run.pid, SIGTERM);
	while (!(lost = !poll(&pfd, 1, LOST_MS))) {
		n = read(run.out, text + len, sizeof(text) - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	text[len] = '\0';
	if (lost && number_after(text, "pause ") > 0)
		kill((pid_t)number_after(text, "pause "), SIGKILL);
	kill(run.pid, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0) /* what it left behind has become ours */
		;
	close(run.out);
	return lost;
}

static void losses(int tries)
{
	static char label[80];
	int lost[SUBJECTS_MAX] = {0}, r;

	snprintf(label, sizeof(label), "SIGTERM 0-3 ms after the start, %d times: lost", tries);
	r = row(label);
	srandom(42);
	for (int i = 0; i < tries; i++)
		for (int s = 0; s < n_subjects; s++)
			lost[s] += one_is_lost(&subjects[s], random() % 3000);
	for (int s = 0; s < n_subjects; s++)
		CELL(r, s, "%d", lost[s]);
}

/* ---- faults ------------------------------------------------------------------------------------- */

static void status_row(const char *label, const char *command, const char *arg)
{
	int r = row(label);

	for (int s = 0; s < n_subjects; s++) {
		struct run run = START(&subjects[s], 0, command, arg, arg ? "7" : NULL);

		CELL(r, s, "%d", wait_for(run, 5000));
	}
}

/* SIGTERM when the child is ready (and stopped, if wanted): how does it end within the limit? */
static void term_row(const char *label, const char *what, int stop_it, int limit_ms)
{
	int r = row(label);

	for (int s = 0; s < n_subjects; s++) {
		char text[400] = "";
		struct run run = START(&subjects[s], 0, puppet, what);
		int status;
		pid_t child;

		says(run, "ready ", 5000, text, sizeof(text));
		child = (pid_t)number_after(text, "ready ");
		if (stop_it)
			kill(child, SIGSTOP);
		usleep(20000);
		kill(run.pid, SIGTERM);
		status = wait_for(run, limit_ms);
		if (status < 0) {
			CELL(r, s, "hangs");
			kill(child, SIGKILL);
		} else {
			CELL(r, s, "%d", status);
		}
	}
}

static void orphan_row(void)
{
	int r = row("orphan that needs 200 ms to clean up");

	for (int s = 0; s < n_subjects; s++) {
		char text[400] = "";
		struct run run = START(&subjects[s], 1, puppet, "orphan", "clean");

		CELL(r, s, "%s",
		     says(run, "cleaned up", 3000, text, sizeof(text)) ? "may" : "killed");
		wait_for(run, 1000);
	}
}

static void death_row(void)
{
	int r = row("init killed (not PID 1): its command");

	for (int s = 0; s < n_subjects; s++) {
		char text[400] = "";
		struct run run = START(&subjects[s], 0, puppet, "deaf");
		pid_t child;

		says(run, "ready ", 5000, text, sizeof(text));
		child = (pid_t)number_after(text, "ready ");
		kill(run.pid, SIGKILL);
		wait_for(run, 1000);
		usleep(100000);
		while (waitpid(-1, NULL, WNOHANG) > 0) /* what lost its parent has become ours */
			;
		CELL(r, s, "%s", kill(child, 0) ? "dies too" : "lives on");
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

static void inheritance_rows(void)
{
	int ignored = row("inherited SIG_IGN reaches the command"),
	    mask = row("inherited mask reaches it");
	int fd = row("inherited descriptor stays open in init");

	for (int s = 0; s < n_subjects; s++) {
		const char *const report[] = {puppet, "report", NULL}, *const waits[] = {puppet,
											 "wait",
											 NULL};
		char text[4000] = "", path[64], *at;
		struct run run = start(&subjects[s], 0, odd_inheritance, report);

		says(run, "reported", 5000, text, sizeof(text));
		wait_for(run, 2000);
		at = strstr(text, "SigIgn:\t");
		CELL(ignored, s, "%s",
		     at && strtoull(at + 8, NULL, 16) >> (SIGUSR1 - 1) & 1 ? "yes" : "no");
		at = strstr(text, "SigBlk:\t");
		CELL(mask, s, "%s",
		     at && strtoull(at + 8, NULL, 16) >> (SIGUSR2 - 1) & 1 ? "yes" : "no");
		*text = '\0';
		run = start(&subjects[s], 0, odd_inheritance, waits);
		says(run, "ready ", 5000, text, sizeof(text));
		usleep(20000);
		snprintf(path, sizeof(path), "/proc/%d/fd/20", (int)run.pid);
		CELL(fd, s, "%s", access(path, F_OK) && readlink(path, text, 1) < 0 ? "no" : "yes");
		kill(run.pid, SIGTERM);
		wait_for(run, 2000);
	}
}

static void faults(void)
{
	status_row("command exits with 7", puppet, "exit");
	status_row("command not found", "/no/such/command", NULL);
	status_row("command not executable", "/etc/passwd", NULL);
	status_row("command is no program", "/tmp/drey-bench-garbage", NULL);
	term_row("command ignores SIGTERM (limit 6 s; drey-init: --grace 3)", "deaf", 0, 6000);
	term_row("command is stopped, then SIGTERM", "wait", 1, 2000);
	orphan_row();
	death_row();
	inheritance_rows();
}

static void add_subject(char *spec)
{
	struct subject *s = &subjects[n_subjects++];
	char *command = strchr(spec, '=');

	if (!command || n_subjects > SUBJECTS_MAX)
		exit(2);
	*command++ = '\0';
	snprintf(s->name, sizeof(s->name), "%s", spec);
	for (char *word = strtok(command, " "); word && s->argc < ARGS_MAX - 1;
	     word = strtok(NULL, " "))
		s->argv[s->argc++] = word;
}

static void print_table(void)
{
	printf("| |");
	for (int s = 0; s < n_subjects; s++)
		printf(" %s |", subjects[s].name);
	printf("\n|---|");
	for (int s = 0; s < n_subjects; s++)
		printf("---|");
	printf("\n");
	for (int r = 0; r < n_rows; r++) {
		printf("| %s |", labels[r]);
		for (int s = 0; s < n_subjects; s++)
			printf(" %s |", cells[r][s]);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	static char path[4000];
	int garbage;

	if (argc > 1 && !strcmp(argv[1], "--noop"))
		return 0;
	if (argc > 1 && !strcmp(argv[1], "--pause"))
		return dprintf(1, "pause %d\n", (int)getpid()), pause();
	if (argc > 2 && !strcmp(argv[1], "--hop"))
		return hop_child(argv[2]);
	if (argc < 5)
		return fprintf(stderr, "measure: see the head of measure.c\n"), 2;
	self = realpath("/proc/self/exe", path);
	puppet = argv[1];
	for (int i = 4; i < argc; i++)
		add_subject(argv[i]);
	garbage = open("/tmp/drey-bench-garbage", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (write(garbage, "exit 7\n", 7) < 0)
		return 1;
	close(garbage);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (atoi(argv[3]) > 0) {
		cost(atoi(argv[3]));
		start_overhead();
		hop();
		orphans();
		faults();
	}
	losses(atoi(argv[2]));
	print_table();
	unlink("/tmp/drey-bench-garbage");
	return 0;
}
