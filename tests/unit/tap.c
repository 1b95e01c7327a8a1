#include "tap.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test {
	const char *name;
	void (*run)(void);
	int line;
};

static struct {
	struct test *tests;
	size_t test_count;
	int count, failed;       /* tests */
	_Atomic int checks, bad; /* in the running test, on whatever thread */
	const char *skip;
} tap;

void tap_add(const char *name, void (*run)(void), int line)
{
	tap.tests = realloc(tap.tests, (tap.test_count + 1) * sizeof(*tap.tests));
	if (!tap.tests)
		abort();
	tap.tests[tap.test_count++] = (struct test){name, run, line};
}

/* Relaxed: a check that ordered the threads would hide their races from the sanitizer. */
static void count_check(bool ok)
{
	atomic_fetch_add_explicit(&tap.checks, 1, memory_order_relaxed);
	if (!ok)
		atomic_fetch_add_explicit(&tap.bad, 1, memory_order_relaxed);
}

static void run_test(const char *name, void (*test)(void))
{
	char title[200];

	tap.checks = tap.bad = 0;
	tap.skip = NULL;
	snprintf(title, sizeof(title), "%s", name);
	for (char *p = title; *p; p++)
		if (*p == '_')
			*p = ' ';
	test();
	tap.count++;
	if (!tap.checks && !tap.skip) {
		printf("# the test checked nothing\n");
		tap.bad++;
	}
	if (tap.bad)
		tap.failed++;
	printf("%s %d - %s", tap.bad ? "not ok" : "ok", tap.count, title);
	if (tap.skip)
		printf(" # SKIP %s", tap.skip);
	printf("\n");
	fflush(stdout);
}

bool tap_check(bool ok, const char *what, const char *file, int line)
{
	count_check(ok);
	if (!ok)
		printf("# %s:%d: not true: %s\n", file, line, what);
	return ok;
}

bool tap_check_int(intmax_t a, const char *op, intmax_t b, bool ok, const char *a_text,
		   const char *b_text, const char *file, int line)
{
	count_check(ok);
	if (!ok)
		printf("# %s:%d: %s %s %s: left is %jd, right is %jd\n", file, line, a_text, op,
		       b_text, a, b);
	return ok;
}

bool tap_check_str(const char *got, const char *want, const char *what, const char *file, int line)
{
	bool ok = got && want ? !strcmp(got, want) : got == want;

	count_check(ok);
	if (!ok)
		printf("# %s:%d: %s\n#  got: %s\n# want: %s\n", file, line, what,
		       got ? got : "(null)", want ? want : "(null)");
	return ok;
}

bool tap_check_has(const char *text, const char *part, const char *what, const char *file, int line)
{
	bool ok = text && strstr(text, part);

	count_check(ok);
	if (!ok)
		printf("# %s:%d: %s does not contain \"%s\"\n#  got: %s\n", file, line, what, part,
		       text ? text : "(null)");
	return ok;
}

void tap_skip(const char *why)
{
	tap.skip = why;
}

bool tap_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload");
}

void tap_note(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

static int compare_lines(const void *a, const void *b)
{
	return ((const struct test *)a)->line - ((const struct test *)b)->line;
}

static bool is_chosen(const struct test *test, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strstr(test->name, argv[i]))
			return true;
	return argc <= 1;
}

int tap_main(int argc, char **argv)
{
	/* a compiler may put constructors into another order than that of the file */
	qsort(tap.tests, tap.test_count, sizeof(*tap.tests), compare_lines);
	for (size_t i = 0; i < tap.test_count; i++)
		if (is_chosen(&tap.tests[i], argc, argv))
			run_test(tap.tests[i].name, tap.tests[i].run);
	free(tap.tests);
	tap.tests = NULL;
	printf("1..%d\n", tap.count);
	return tap.failed || !tap.count ? 1 : 0;
}

/* For the programs that have nothing to prepare. */
__attribute__((weak)) int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
