/* A program that is run to its end. */
#include "base/child_output.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "process_gone.h"
#include "tap.h"

static struct err err;
static int status;

static int ran(const char *script, int64_t timeout_ms, struct buf *output)
{
	char *argv[] = {"sh", "-c", (char *)(uintptr_t)script, NULL};
	const struct child_call call = {
		.path = "sh", .argv = argv, .timeout_ms = timeout_ms, .keep_bytes = 1000};

	err = (struct err){0};
	buf_clear(output);
	return child_output(&call, output, &status, &err);
}

TEST(its_output_and_its_status_are_known)
{
	cleanup_buf struct buf output = BUF_INIT;

	CHECK_INT(ran("echo out; echo err >&2; exit 7", 20000, &output), ==, 0);
	CHECK_STR(buf_str(&output), "out\nerr\n");
	CHECK_INT(status, ==, 7);
	CHECK_INT(ran("kill -15 $$", 20000, &output), ==, 0);
	CHECK_INT(status, ==, 143);
	CHECK_INT(ran("cat", 20000, &output), ==, 0); /* reads nothing */
	CHECK_INT(status, ==, 0);
}

TEST(a_program_that_is_not_there_has_the_status_of_a_shell)
{
	char *argv[] = {"drey-no-such-program", NULL};
	const struct child_call call = {
		.path = argv[0], .argv = argv, .timeout_ms = 20000, .keep_bytes = 10};
	cleanup_buf struct buf output = BUF_INIT;

	CHECK_INT(child_output(&call, &output, &status, &err), ==, 0);
	CHECK_INT(status, ==, 127);
}

TEST(of_much_output_the_end_is_kept)
{
	cleanup_buf struct buf output = BUF_INIT;

	CHECK_INT(ran("i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done", 20000,
		      &output),
		  ==, 0);
	CHECK(output.len_bytes <= 2000);
	CHECK_HAS(buf_str(&output), "line 4999\n");
	CHECK(!strstr(buf_str(&output), "line 100\n"));
}

TEST(one_that_takes_too_long_is_killed_with_its_children)
{
	cleanup_buf struct buf output = BUF_INIT;
	int64_t begin_ms = clock_mono_ms();

	/* the child of the child holds the output open */
	CHECK_INT(ran("echo begun; sleep 60 & wait", 300, &output), ==, -1);
	CHECK_INT(err.kind, ==, ERR_RETRY);
	CHECK_STR(buf_str(&output), "begun\n");
	CHECK(clock_mono_ms() - begin_ms < 30000);
}

/* With a limit, and with errors apart. */
static int ran_apart(const char *script, struct buf *output, struct buf *errors)
{
	char *argv[] = {"sh", "-c", (char *)(uintptr_t)script, NULL};
	const struct child_call call = {.path = "sh",
					.argv = argv,
					.timeout_ms = 20000,
					.keep_bytes = 100,
					.max_bytes = 1000,
					.errors = errors};

	err = (struct err){0};
	buf_clear(output);
	buf_clear(errors);
	return child_output(&call, output, &status, &err);
}

TEST(errors_can_have_a_stream_of_their_own)
{
	cleanup_buf struct buf output = BUF_INIT, errors = BUF_INIT;

	CHECK_INT(ran_apart("echo err >&2; exec 2>&-; echo out; exit 3", &output, &errors), ==, 0);
	CHECK_STR(buf_str(&output), "out\n");
	CHECK_STR(buf_str(&errors), "err\n");
	CHECK_INT(status, ==, 3);
	/* neither stream waits for the other, and of errors the end is kept */
	CHECK_INT(
		ran_apart(
			"i=0; while [ $i -lt 20000 ]; do echo err $i >&2; i=$((i+1)); done; echo out",
			&output, &errors),
		==, 0);
	CHECK_STR(buf_str(&output), "out\n");
	CHECK(errors.len_bytes <= 200);
	CHECK_HAS(buf_str(&errors), "err 19999\n");
}

TEST(more_output_than_allowed_ends_it)
{
	cleanup_buf struct buf output = BUF_INIT, errors = BUF_INIT;

	CHECK_INT(ran_apart("head -c 1000 /dev/zero | tr '\\0' x", &output, &errors), ==, 0);
	CHECK_INT(output.len_bytes, ==, 1000);
	CHECK_INT(ran_apart("yes & wait", &output, &errors), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_HAS(err.msg, "more than 1000 bytes");
	CHECK(output.len_bytes <= 1000);
}

TEST(what_it_leaves_behind_ends_with_the_call)
{
	cleanup_buf struct buf output = BUF_INIT;

	CHECK_INT(ran("sleep 600 >/dev/null 2>&1 & echo $!", 20000, &output), ==, 0);
	CHECK(atol(buf_str(&output)) > 0);
	CHECK(is_gone(atol(buf_str(&output))));
}

TEST(it_and_its_children_end_with_the_caller)
{
	cleanup_buf struct buf output = BUF_INIT, pids = BUF_INIT;
	char path[] = "/tmp/drey-child-XXXXXX", script[200];
	int fd = mkstemp(path);
	pid_t caller;
	char *end;

	CHECK(fd >= 0);
	snprintf(script, sizeof(script), "sleep 600 & echo $$ $! >%s.new; mv %s.new %s; wait", path,
		 path, path);
	caller = fork();
	if (caller == 0) {
		ran(script, 60000, &output);
		_exit(0);
	}
	for (int i = 0; i < 1000 && !pids.len_bytes; i++) {
		usleep(10000);
		CHECK_INT(fs_read(path, 1000, &pids, NULL), ==, 0);
	}
	kill(caller, SIGKILL);
	waitpid(caller, NULL, 0);
	CHECK(is_gone(strtol(buf_str(&pids), &end, 10)));
	CHECK(is_gone(strtol(end, NULL, 10)));
	CHECK(end > buf_str(&pids));
	close(fd);
	unlink(path);
}

TEST(the_last_line_is_found)
{
	CHECK_STR(child_last_line(""), "");
	CHECK_STR(child_last_line("a"), "a");
	CHECK_STR(child_last_line("a\nb"), "b");
	CHECK_STR(child_last_line("a\nb\n\n"), "b\n\n");
}
