/*
 * A heap for one thread, in place of malloc() and related functions: a history allocates and frees some 100,000
 * small blocks, most of them for the text of the journal, and a quarter of the time was spent in the C library's
 * allocator. Each kind of block has one size and a list of free blocks; nothing is returned before the end.
 * Aligned blocks (posix_memalign) are not available; the simulator needs none. The sanitizers and valgrind have
 * heaps of their own, which detect mistakes: with them this one is left out (SAN=1, or
 * `make CFLAGS=-DSIM_LIBC_HEAP`).
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_LIBC_HEAP
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SIM_LIBC_HEAP
#endif

#ifndef SIM_LIBC_HEAP
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* for the C library, too: its strdup() takes blocks that are freed here */
#pragma GCC visibility push(default)

#define STEP_BYTES  16 /* also the alignment */
#define SMALL_BYTES 1024
#define SMALL_COUNT (SMALL_BYTES / STEP_BYTES)
#define KIND_COUNT  (SMALL_COUNT + 30) /* above, each is twice the one before */
#define MOST_BYTES  ((size_t)1 << 30)
#define CHUNK_BYTES ((size_t)4 << 20)

union block {
	size_t kind;       /* while it is used */
	union block *next; /* while it is free */
	char align[STEP_BYTES];
};

static union block *unused[KIND_COUNT];
static char *chunk, *chunk_end;

static size_t kind_of(size_t bytes)
{
	size_t kind = SMALL_COUNT, most = 2 * SMALL_BYTES;

	if (bytes <= SMALL_BYTES)
		return bytes ? (bytes - 1) / STEP_BYTES : 0;
	for (; most < bytes; most *= 2)
		kind++;
	return kind;
}

static size_t bytes_of(size_t kind)
{
	return kind < SMALL_COUNT ? (kind + 1) * STEP_BYTES
				  : (size_t)2 * SMALL_BYTES << (kind - SMALL_COUNT);
}

static union block *cut(size_t kind)
{
	size_t bytes = sizeof(union block) + bytes_of(kind);
	size_t more = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
	union block *block;

	if ((size_t)(chunk_end - chunk) < bytes) {
		chunk = mmap(NULL, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
		if (chunk == MAP_FAILED)
			abort();
		chunk_end = chunk + more;
	}
	block = (union block *)(void *)chunk;
	chunk += bytes;
	return block;
}

static void *take(size_t bytes)
{
	union block *block;
	size_t kind;

	if (bytes > MOST_BYTES) {
		errno = ENOMEM;
		return NULL;
	}
	kind = kind_of(bytes);
	block = unused[kind];
	if (block)
		unused[kind] = block->next;
	else
		block = cut(kind);
	block->kind = kind;
	return block + 1;
}

void *malloc(size_t bytes)
{
	return take(bytes);
}

void free(void *at)
{
	union block *block = (union block *)at - 1;
	size_t kind;

	if (!at)
		return;
	kind = block->kind;
	block->next = unused[kind];
	unused[kind] = block;
}

void *calloc(size_t count, size_t bytes)
{
	size_t all;
	void *at = __builtin_mul_overflow(count, bytes, &all) ? NULL : take(all);

	return at ? memset(at, 0, all) : NULL;
}

void *realloc(void *at, size_t bytes)
{
	size_t had = at ? bytes_of(((union block *)at - 1)->kind) : 0;
	void *now;

	if (at && bytes <= had)
		return at;
	now = take(bytes);
	if (now && at) {
		memcpy(now, at, had);
		free(at);
	}
	return now;
}
#pragma GCC visibility pop
#endif
