/* hop.c - from SIGTERM at the init to SIGTERM at its command: when all is quiet, when orphans come, when the agent hangs. */
#include "subject.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "entrypoint/link.h"

#define HOPS_MAX    1000
#define STREAM_HOPS 100 /* all within the grace period, which begins with the first */
#define HUNG_HOPS   5   /* each with an init of its own */
#define LIMIT_MS    5000

/* What the command writes down for the one that has sent the signal. */
struct shared {
	volatile double got;
	volatile int n;
	volatile pid_t pid;
};

/* ---- the command and the agent ---- */

/* Each loses its parent and dies at once, and so on without end. */
static void make_orphans(void)
{
	for (;;) {
		pid_t pid = fork();

		if (!pid) {
			fork();
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

int hop_child(const char *path, int with_orphans)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct shared *sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (sh == MAP_FAILED)
		return 1;
	if (with_orphans && !fork())
		make_orphans();
	sh->pid = getpid();
	if (write(1, "ready\n", 6) < 0)
		return 1;
	for (;;) {
		sigwaitinfo(&set, NULL);
		sh->got = now_us();
		sh->n++;
	}
}

int hop_agent(const char *self, const char *path)
{
	const char *const argv[] = {self, "--hop", path};
	const char *link = getenv(LINK_ENV);
	struct link_msg msg = {.version = LINK_VERSION, .type = LINK_LAUNCH, .argc = 3};
	char packet[sizeof(msg) + 3 * 4096];
	size_t bytes = sizeof(msg);

	snprintf(msg.launch_id, sizeof(msg.launch_id), "hop");
	memcpy(packet, &msg, sizeof(msg));
	for (int i = 0; i < 3; i++) {
		size_t more = strlen(argv[i]) + 1;

		if (more > 4096)
			return 2;
		memcpy(packet + bytes, argv[i], more);
		bytes += more;
	}
	if (!link || send(atoi(link), packet, bytes, 0) < 0)
		return 2;
	for (;;)
		pause(); /* and reads nothing of what it is told */
}

/* ---- measuring ---- */

/* The us of one hop; -1: it did not arrive. */
static double one_hop(const struct shared *sh, pid_t init)
{
	int before = sh->n;
	double sent = now_us();

	kill(init, SIGTERM);
	while (sh->n == before && now_us() < sent + LIMIT_MS * 1e3)
		usleep(50);
	return sh->n == before ? -1 : sh->got - sent;
}

/* How many of them arrived, one after another, at the command of one init; their us. */
static int hops_of(const struct shared *sh, struct run run, int hops, double *took)
{
	char text[2000] = "";
	int n = 0;

	if (!says(run, "ready", 5000, text, sizeof(text)))
		return 0;
	usleep(20000);
	for (; n < hops; n++) {
		took[n] = one_hop(sh, run.pid);
		if (took[n] < 0)
			break;
		usleep(200);
	}
	return n;
}

static void idle_rows(struct bench *b, struct shared *sh, const char *path, int hops)
{
	int r50 = row(b, "SIGTERM hop p50, us"), r99 = row(b, "SIGTERM hop p99, us");
	static double took[HOPS_MAX];

	for (int s = 0; s < b->n; s++) {
		struct run run = START(&b->subjects[s], 0, b->self, "--hop", path);
		int n = hops_of(sh, run, hops, took);

		CELL(b, r50, s, n < hops ? "lost" : "%.0f", quantile(took, n, 0.5));
		CELL(b, r99, s, n < hops ? "lost" : "%.0f", quantile(took, n, 0.99));
		kill(run.pid, SIGKILL);
		wait_for(run, 2000);
		kill(sh->pid, SIGKILL);
	}
}

static void stream_row(struct bench *b, struct shared *sh, const char *path)
{
	int r = row(b, "the same under a stream of orphans, p50 / p99");
	double took[STREAM_HOPS];

	for (int s = 0; s < b->n; s++) {
		struct run run = START(&b->subjects[s], 1, b->self, "--hop-orphans", path);
		int n = hops_of(sh, run, STREAM_HOPS, took);

		CELL(b, r, s, n < STREAM_HOPS ? "lost" : "%.0f / %.0f", quantile(took, n, 0.5),
		     quantile(took, n, 0.99));
		kill(run.pid, SIGKILL);
		wait_for(run, 5000);
	}
}

/* Only drey-init has an agent. It is given its time first, a tenth of the grace period, but no more than 2 s. */
static void hung_row(struct bench *b, struct shared *sh, const char *path)
{
	int r = row(b, "the same with a hung agent, which is given 300 ms (--grace 3)");
	double took[HUNG_HOPS];

	for (int s = 0; s < b->n; s++) {
		struct subject with_agent = b->subjects[s];
		int n = 0;

		CELL(b, r, s, "-");
		if (strncmp(with_agent.name, "drey-init", 9))
			continue;
		with_agent.argv[with_agent.argc++] = "--agent";
		for (int ok = 1; ok && n < HUNG_HOPS; n += ok) {
			struct run run = START(&with_agent, 1, b->self, "--hung", path);

			ok = hops_of(sh, run, 1, &took[n]);
			kill(run.pid, SIGKILL);
			wait_for(run, 2000);
		}
		CELL(b, r, s, n < HUNG_HOPS ? "lost" : "%.0f", quantile(took, n, 0.5));
	}
}

void hop(struct bench *b, int hops)
{
	char path[] = "/tmp/drey-hop-XXXXXX";
	int fd = mkstemp(path);
	struct shared *sh;

	if (fd < 0 || ftruncate(fd, sizeof(*sh)) < 0 || hops > HOPS_MAX)
		exit(1);
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (sh == MAP_FAILED)
		exit(1);
	idle_rows(b, sh, path, hops);
	stream_row(b, sh, path);
	hung_row(b, sh, path);
	unlink(path);
	close(fd);
}
