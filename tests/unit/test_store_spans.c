/* store_spans: whatever the names, the spans cover all of them once; and what that costs. */
#include "store/store_spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

enum { MANY = 100000, PAGE = 1000, AT_ONCE = 16 };

/* ---- names ---- */

struct names {
	char (*list)[64];
	size_t count;
	uint64_t state;
};

static uint64_t draw(struct names *names)
{
	uint64_t x = names->state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

typedef void (*name_fn)(struct names *names, size_t i, char *ret, size_t size);

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void names_make(struct names *names, size_t count, uint64_t seed, name_fn fn)
{
	size_t kept = 0;

	*names = (struct names){xcalloc(count + 1, sizeof(*names->list)), count, seed};
	for (size_t i = 0; i < count; i++)
		fn(names, i, names->list[i], sizeof(*names->list));
	qsort(names->list, count, sizeof(*names->list), by_name);
	for (size_t i = 0; i < count; i++)
		if (!kept || strcmp(names->list[kept - 1], names->list[i]) != 0)
			memmove(names->list[kept++], names->list[i], sizeof(*names->list));
	names->count = kept;
}

static void one_job(struct names *names, size_t i, char *ret, size_t size)
{
	(void)i;
	snprintf(ret, size, "savepoint-5b2c01-%012" PRIx64 "/_metadata", draw(names) >> 16);
}

static void job_each(struct names *names, size_t i, char *ret, size_t size)
{
	(void)i;
	snprintf(ret, size, "savepoint-%06" PRIx64 "-%012" PRIx64 "/_metadata", draw(names) >> 40,
		 draw(names) >> 16);
}

/* 50 jobs. */
static void few_jobs(struct names *names, size_t i, char *ret, size_t size)
{
	uint64_t job = (i % 50 + 1) * UINT64_C(0x9e3779b97f4a7c15);

	snprintf(ret, size, "savepoint-%06" PRIx64 "-%012" PRIx64 "/_metadata", job >> 40,
		 draw(names) >> 16);
}

static void counted(struct names *names, size_t i, char *ret, size_t size)
{
	(void)names;
	snprintf(ret, size, "savepoint-%06zx-%012zx/_metadata", i, i * 7 + 1);
}

static void decimal(struct names *names, size_t i, char *ret, size_t size)
{
	(void)names;
	snprintf(ret, size, "chk-%zu/_metadata", i + 1);
}

static void uuid(struct names *names, size_t i, char *ret, size_t size)
{
	(void)i;
	snprintf(ret, size, "%08" PRIx64 "-%04" PRIx64 "-4%03" PRIx64 "-9%03" PRIx64 "-%012" PRIx64,
		 draw(names) >> 32, draw(names) >> 48, draw(names) >> 52, draw(names) >> 52,
		 draw(names) >> 16);
}

static void same_beginning(struct names *names, size_t i, char *ret, size_t size)
{
	(void)names;
	snprintf(ret, size, "5f2b0c1e-8a41-4a7e-9d53-%012zx", i);
}

static void in_one_directory(struct names *names, size_t i, char *ret, size_t size)
{
	(void)i;
	snprintf(ret, size, "savepoint-5b2c01-000000000000/%016" PRIx64, draw(names));
}

/* Any bytes, mostly digits and what surrounds them. */
static void anything(struct names *names, size_t i, char *ret, size_t size)
{
	static const char bytes[] = "0123456789abcdefg/-.AZz~\xC3\xFF";
	size_t len = 1 + draw(names) % 12;

	(void)i;
	(void)size;
	for (size_t k = 0; k < len; k++)
		ret[k] = bytes[draw(names) % (sizeof(bytes) - 1)];
	ret[len] = '\0';
}

/* ---- a store with these names ---- */

struct cost {
	size_t requests, rounds, wrong;
};

static size_t first_after(const struct names *names, const char *after)
{
	size_t low = 0, high = names->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(names->list[middle], after) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void read_page(const struct names *names, struct store_spans *spans, size_t index,
		      size_t page, char *times)
{
	struct store_span *span = &spans->list[index];
	size_t i = first_after(names, buf_str(&span->after)), end = i + page;

	span->pages++;
	for (; i < names->count && i < end; i++) {
		if (span->until && strcmp(names->list[i], span->until) > 0)
			break;
		times[i]++;
		if (!span->first.len_bytes)
			buf_addstr(&span->first, names->list[i]);
		buf_clear(&span->after);
		buf_addstr(&span->after, names->list[i]);
	}
	span->done = i < end || end >= names->count;
	if (!span->done)
		store_spans_cut(spans, index, buf_str(&span->after));
}

static struct cost list_all(const struct names *names, size_t page)
{
	struct store_spans *spans = xcalloc(1, sizeof(*spans));
	char *times = xcalloc(names->count + 1, 1);
	struct cost cost = {0};
	bool more = true;

	store_spans_init(spans);
	while (more) {
		size_t left = AT_ONCE, count = spans->count;

		more = false;
		for (size_t i = 0; i < count && left; i++) {
			if (spans->list[i].done)
				continue;
			read_page(names, spans, i, page, times);
			cost.requests++;
			left--;
			more = true;
		}
		cost.rounds += more;
	}
	for (size_t i = 0; i < names->count; i++)
		cost.wrong += times[i] != 1;
	store_spans_release(spans);
	free(spans);
	free(times);
	return cost;
}

static const struct shape {
	const char *name;
	name_fn fn;
	size_t count, requests, rounds; /* at most */
} shapes[] = {
	{"100,000 savepoints of one job", one_job, MANY, 116, 9},
	{"100,000 savepoints of as many jobs", job_each, MANY, 116, 14},
	{"100,000 savepoints of 50 jobs", few_jobs, MANY, 160, 16},
	{"100,000 savepoints with numbers", counted, MANY, 125, 14},
	{"10,000 savepoints of one job", one_job, 10000, 14, 4},
	{"2,500 savepoints of one job", one_job, 2500, 3, 3},
	{"1,001 savepoints of one job", one_job, 1001, 2, 2},
	{"1,000 savepoints of one job", one_job, 1000, 1, 1},
	{"100,000 state files", uuid, MANY, 116, 9},
	{"100,000 state files with numbers", same_beginning, MANY, 125, 14},
	{"100,000 files in one directory", in_one_directory, MANY, 100, 100},
	{"10,000 checkpoints", decimal, 10000, 30, 11},
	{"3,000 checkpoints", decimal, 3000, 10, 3},
};

TEST(each_name_once_and_few_requests)
{
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		for (uint64_t seed = 1; seed <= 3; seed++) {
			struct names names;
			struct cost cost;

			names_make(&names, shapes[i].count, seed, shapes[i].fn);
			cost = list_all(&names, PAGE);
			CHECK_INT(cost.wrong, ==, 0);
			if (!CHECK_INT(cost.requests, <=, shapes[i].requests) ||
			    !CHECK_INT(cost.rounds, <=, shapes[i].rounds))
				tap_note("%s: %zu requests, %zu rounds", shapes[i].name,
					 cost.requests, cost.rounds);
			free(names.list);
		}
}

TEST(any_names_and_any_pages)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct names names;

		names_make(&names, 1 + seed * 7, seed, seed % 3 ? anything : one_job);
		CHECK_INT(list_all(&names, 1 + seed % 20).wrong, ==, 0);
		free(names.list);
	}
}

TEST(a_cut_is_undone_completely)
{
	struct store_spans *spans = xcalloc(1, sizeof(*spans));

	store_spans_init(spans);
	spans->list[0].pages = 1;
	buf_addstr(&spans->list[0].first, "savepoint-5b2c01-000123456789");
	store_spans_cut(spans, 0, "savepoint-5b2c01-028f00000000");
	CHECK_INT(spans->count, ==, STORE_SPANS_CUTS + 1);
	CHECK(spans->list[0].until && spans->list[1].is_cut);
	CHECK(!spans->list[spans->count - 1].until);
	store_spans_undo(spans);
	CHECK_INT(spans->count, ==, 1);
	CHECK(!spans->list[0].until && !spans->list[0].done);
	store_spans_cut(spans, 0, "savepoint-5b2c01-028f00000000");
	CHECK_INT(spans->count, ==, 1);
	store_spans_release(spans);
	free(spans);
}
