#include "base/mem.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#include "tap.h"

TEST(memory_comes_zeroed_and_never_null)
{
	char *some = xcalloc(3, 5);
	char *none = xcalloc(0, 5);
	char zeroes[15] = {0};

	CHECK(!memcmp(some, zeroes, 15));
	CHECK(none);
	free(some);
	free(none);
}

/* The signal that ended a child which asked for this much. */
static int signal_of(size_t count, size_t size_bytes)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		/* the message belongs to the child, and sanitizers would add a report */
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(null, STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		free(xreallocarray(NULL, count, size_bytes));
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(a_size_that_overflows_ends_the_process)
{
	CHECK_INT(signal_of(SIZE_MAX / 2, 3), ==, SIGABRT);
	CHECK_INT(signal_of(10, 10), ==, 0);
}

TEST(copies_of_null_are_null)
{
	char *text = xstrndup("abcdef", 3), *made = xasprintf("%s-%d", "x", 7);

	CHECK(!xstrdup(NULL));
	CHECK_STR(text, "abc");
	CHECK_STR(made, "x-7");
	free(text);
	free(made);
}

TEST(a_slot_is_replaced_by_a_copy_even_of_itself)
{
	char *slot = NULL;

	xstrset(&slot, "first");
	CHECK_STR(slot, "first");
	xstrset(&slot, slot + 1);
	CHECK_STR(slot, "irst");
	xstrset(&slot, NULL);
	CHECK(!slot);
}

static int open_and_leave(void)
{
	cleanup_close int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	cleanup_close int none = -1;
	cleanup_free char *text = xstrdup("freed");
	cleanup_fclose FILE *file = NULL;

	(void)none;
	(void)text;
	(void)file;
	return fd;
}

TEST(locals_release_themselves)
{
	int fd = open_and_leave();

	CHECK_INT(fd, >=, 0);
	CHECK_INT(fcntl(fd, F_GETFD), ==, -1);
}

TEST(no_text_is_nothing_that_xstris_knows)
{
	CHECK(xstris("a", "a"));
	CHECK(!xstris("a", "b"));
	CHECK(!xstris("a", NULL));
	CHECK(!xstris(NULL, "a"));
	CHECK(!xstris(NULL, NULL));
	CHECK(xstrsame(NULL, NULL));
}
