/*
 * tap - the Test Anything Protocol, as prove(1) reads it. One program per module: tests/unit/test_x.c.
 *
 *   TEST(wraps_outermost_first)
 *   {
 *           CHECK_STR(outermost(), "a");
 *   }
 *
 * The name of a test is a sentence about behaviour. Tests run in the order in which they are written: all of them, or
 * those whose names contain an argument of the command line. A failed check prints both sides, and the test continues;
 * a test without a check fails. Every thread of a test may check. A program that needs a set-up has its own main(), which
 * calls tap_main().
 */
#ifndef DREY_TESTS_TAP_H
#define DREY_TESTS_TAP_H

#include <stdbool.h>
#include <stdint.h>

#define TEST(name)                                                                                 \
	static void name(void);                                                                    \
	__attribute__((constructor)) static void tap_add_##name(void)                              \
	{                                                                                          \
		tap_add(#name, name, __LINE__);                                                    \
	}                                                                                          \
	static void name(void)

/*
 * A test with a world of its own: `var` points to a struct of this type, set up by begin(var) and
 * released by end(var). A file that has such a world names it once:
 *
 *   #define LIFE_TEST(name) TEST_WITH(name, struct life, l, life_begin, life_end)
 */
#define TEST_WITH(name, type, var, begin, end)                                                     \
	static void in_##name(type *var);                                                          \
	TEST(name)                                                                                 \
	{                                                                                          \
		type fixture;                                                                      \
                                                                                                   \
		begin(&fixture);                                                                   \
		in_##name(&fixture);                                                               \
		end(&fixture);                                                                     \
	}                                                                                          \
	static void in_##name(type *var)

#define CHECK(cond) tap_check((cond), #cond, __FILE__, __LINE__)
/* each side is evaluated once */
#define CHECK_INT(a, op, b)                                                                        \
	({                                                                                         \
		intmax_t tap_a = (intmax_t)(a), tap_b = (intmax_t)(b);                             \
		tap_check_int(tap_a, #op, tap_b, tap_a op tap_b, #a, #b, __FILE__, __LINE__);      \
	})
#define CHECK_STR(a, b)       tap_check_str((a), (b), #a, __FILE__, __LINE__)
#define CHECK_HAS(text, part) tap_check_has((text), (part), #text, __FILE__, __LINE__)

/* Called by TEST(), before main(). */
void tap_add(const char *name, void (*test)(void), int line);
bool tap_check(bool ok, const char *what, const char *file, int line);
bool tap_check_int(intmax_t a, const char *op, intmax_t b, bool ok, const char *a_text,
		   const char *b_text, const char *file, int line);
bool tap_check_str(const char *got, const char *want, const char *what, const char *file, int line);
bool tap_check_has(const char *text, const char *part, const char *what, const char *file,
		   int line);

/* Leave the running test as skipped, with the reason. */
void tap_skip(const char *why);

/* This program runs under valgrind, which behaves differently in some respects. */
bool tap_valgrind(void);

/* One line of comment that prove -v shows. */
void tap_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Run the tests, print the plan; the status for main(). */
int tap_main(int argc, char **argv);

#endif
