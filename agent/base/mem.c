#include "base/mem.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

static void *or_die(void *pointer)
{
	static const char text[] = "drey: out of memory\n";

	if (!pointer) {
		/* no stdio: it may allocate */
		if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
			abort();
		abort();
	}
	return pointer;
}

void *xcalloc(size_t count, size_t size_bytes)
{
	return or_die(calloc(count ? count : 1, size_bytes ? size_bytes : 1));
}

void *xreallocarray(void *old, size_t count, size_t size_bytes)
{
	if (size_bytes && count > SIZE_MAX / size_bytes)
		return or_die(NULL);
	size_bytes *= count;
	return or_die(realloc(old, size_bytes ? size_bytes : 1));
}

char *xstrdup(const char *text)
{
	return text ? or_die(strdup(text)) : NULL;
}

char *xstrndup(const char *text, size_t len_bytes)
{
	return or_die(strndup(text, len_bytes));
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *text = NULL;
	int len = vasprintf(&text, fmt, ap);

	return or_die(len < 0 ? NULL : text);
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	return text;
}

void xstrset(char **slot, const char *text)
{
	char *copy = xstrdup(text);

	free(*slot);
	*slot = copy;
}

bool xstrsame(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool xstris(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* Both limits are malloc()'s defaults; set explicitly, they do not grow after a large block. */
void mem_keep_little(void)
{
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	mallopt(M_TRIM_THRESHOLD, 128 * 1024);
#endif
}

void mem_give_back(void)
{
#ifdef M_ARENA_MAX
	malloc_trim(0);
#endif
}
