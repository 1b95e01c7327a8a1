/* The process that reads Flink's file systems: what the kernel thinks of it. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/flinkfs/flinkfs_process.h"
#include "tap.h"

#define NOBODY 65534

static int score_of(pid_t pid)
{
	cleanup_free char *path = xasprintf("/proc/%d/oom_score_adj", (int)pid);
	cleanup_fclose FILE *file = fopen(path, "re");
	int score = -1;

	return file && fscanf(file, "%d", &score) == 1 ? score : -1;
}

/* As the agent does: not as root, and not dumpable (run/sandbox.h). Exits with 0 if the child goes first. */
static void start_one(void)
{
	char *argv[] = {(char *)"/bin/sleep", (char *)"60", NULL};
	char *env[] = {NULL};
	struct flinkfs_process process = {.in_fd = -1, .out_fd = -1, .err_fd = -1};
	int64_t end_ms = clock_mono_ms() + 20000;
	int score = -1;

	if ((getuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) < 0) ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		_exit(2);
	if (flinkfs_process_start(&process, argv, env, NULL) < 0)
		_exit(3);
	while (score != 1000 && clock_mono_ms() < end_ms) {
		score = score_of(process.pid);
		usleep(5000);
	}
	flinkfs_process_end(&process);
	_exit(score == 1000 ? 0 : 1);
}

TEST(it_goes_first_when_memory_runs_out)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		start_one();
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, ==, 0);
}
