/*
 * mem - allocation that does not fail, and cleanup attributes.
 *
 * The agent may die of memory exhaustion: drey-init restarts it and Flink is not touched. So the
 * x-functions abort with a message instead of returning NULL, and no caller has an untested path.
 * Sizes that come from outside are capped before they get here.
 */
#ifndef DREY_BASE_MEM_H
#define DREY_BASE_MEM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *xcalloc(size_t count, size_t size_bytes);                  /* zeroed; caller frees */
void *xreallocarray(void *old, size_t count, size_t size_bytes); /* takes ownership of old */
char *xstrdup(const char *text);                                 /* NULL gives NULL; caller frees */
char *xstrndup(const char *text, size_t len_bytes);              /* caller frees */
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* caller frees */
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0))); /* the same */

/* For a process that sleeps for months: one arena for all threads, and no larger reserve after a
 * large allocation. Call it before the first thread. Does nothing if libc is not glibc. */
void mem_keep_little(void);
void mem_give_back(void); /* return free memory to the system; takes well under a millisecond */

/* Replace *slot by a copy of text (NULL clears); frees the old value. */
void xstrset(char **slot, const char *text);

bool xstrsame(const char *a, const char *b); /* the same text, or both are NULL */
bool xstris(const char *a, const char *b);   /* the same text; NULL equals nothing, not even NULL */

static inline void cleanup_freep(void *pointer)
{
	free(*(void **)pointer);
}

static inline void cleanup_closep(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclosep(FILE **file)
{
	if (*file)
		fclose(*file);
}

/* Locals that release themselves: cleanup_free char *p = NULL; cleanup_close int fd = -1; */
#define cleanup_free   __attribute__((cleanup(cleanup_freep)))
#define cleanup_close  __attribute__((cleanup(cleanup_closep)))
#define cleanup_fclose __attribute__((cleanup(cleanup_fclosep)))

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

#endif
