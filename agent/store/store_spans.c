#include "store/store_spans.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Names are compared as numbers of so many digits. */
#define DIGITS      12
#define HEX_MAX     ((UINT64_C(1) << 48) - 1)
#define DECIMAL_MAX (UINT64_C(1000000000000) - 1)
#define MAX_BEFORE  8 /* digits of a number that all names so far have in common */

/* Pages that must be expected before a span is cut: the first time, and later. */
#define WORTH_FIRST 3
#define WORTH_AGAIN 10

/* Each part should have at least two pages: its last page is half empty on average. */
#define PART_PAGES  2
#define LATER_PARTS 4

/* More than these are not believed, and decimal digits are counters: such names are close together,
 * at the low end of what their digits could express. Then parts of a few pages are cut off, more the
 * next time. */
#define MANY_PAGES 256
#define FEW_PARTS  4
#define FIRST_PART 4
#define LATER_PART 8

void store_spans_init(struct store_spans *spans)
{
	*spans = (struct store_spans){.count = 1};
}

static void span_release(struct store_span *span)
{
	buf_release(&span->after);
	buf_release(&span->first);
	buf_release(&span->reached);
	buf_release(&span->before);
	buf_release(&span->expects);
	buf_release(&span->from);
	buf_release(&span->least);
	buf_release(&span->beyond);
	buf_release(&span->last_file);
	buf_release(&span->last_dir);
	free(span->until);
	free(span->token);
	free(span->asked);
	*span = (struct store_span){0};
}

void store_spans_release(struct store_spans *spans)
{
	for (size_t i = 0; i < spans->count; i++)
		span_release(&spans->list[i]);
	spans->count = 0;
}

/* ---- names as numbers ---- */

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The digits at `at`; what follows a name that ends early, or has something else there, is below or
 * above all digits. */
static uint64_t number_at(const char *at, unsigned base)
{
	uint64_t number = 0;
	int rest = -1;

	for (int i = 0; i < DIGITS; i++) {
		int value = rest >= 0 ? rest : digit(at[i]);

		if (value < 0 || value >= (int)base)
			value = rest = value > 0 || (unsigned char)at[i] > 'f' ? (int)base - 1 : 0;
		number = number * base + (unsigned)value;
	}
	return number;
}

/* None of the digits at `at` is a letter. */
static bool is_decimal(const char *at)
{
	size_t digits = strspn(at, "0123456789");

	return digits >= DIGITS || digit(at[digits]) < 0;
}

/* How the names of a span have grown so far, and how far they can still grow. */
struct growth {
	size_t start;  /* of the digits that count, in `last` */
	unsigned base; /* of these digits: 16, or 10 */
	uint64_t from, to, end;
	double pages; /* expected */
};

/* False: `last` has no digit where the names differ, or that is inside a directory. */
static bool find_growth(const struct store_span *span, const char *last, struct growth *ret)
{
	const char *first = buf_str(&span->first);
	size_t differ = 0, start;

	while (first[differ] && first[differ] == last[differ])
		differ++;
	if (memchr(last, '/', differ) || digit(last[differ]) < 0)
		return false;
	start = differ;
	ret->base = is_decimal(first + differ) && is_decimal(last + differ) ? 10 : 16;
	while (start && differ - start < MAX_BEFORE && digit(last[start - 1]) >= 0 &&
	       digit(last[start - 1]) < (int)ret->base)
		start--;
	ret->start = start;
	ret->from = number_at(first + start, ret->base);
	ret->to = number_at(last + start, ret->base);
	ret->end = ret->base == 10 ? DECIMAL_MAX : HEX_MAX;
	if (span->until && !strncmp(span->until, last, start))
		ret->end = number_at(span->until + start, ret->base);
	if (ret->to <= ret->from || ret->end <= ret->to)
		return false;
	ret->pages = (double)(ret->end - ret->to) / (double)(ret->to - ret->from) * span->pages;
	return true;
}

/* ---- cuts ---- */

/* Into how many parts, and how large the first ones are. */
static size_t plan_parts(const struct store_span *span, const struct growth *growth,
			 uint64_t *ret_part)
{
	uint64_t left = growth->end - growth->to;
	uint64_t page = (growth->to - growth->from) / span->pages;
	size_t parts, most = span->generation ? LATER_PARTS : STORE_SPANS_CUTS + 1;

	if (growth->base == 10 || growth->pages > MANY_PAGES) {
		*ret_part = page * (span->generation ? LATER_PART : FIRST_PART);
		return span->generation ? STORE_SPANS_CUTS + 1 : FEW_PARTS;
	}
	if (growth->pages < (span->generation ? WORTH_AGAIN : WORTH_FIRST))
		return 1;
	parts = (size_t)growth->pages / PART_PAGES + 1;
	if (parts > most)
		parts = most;
	*ret_part = left / parts;
	return parts;
}

/* The caller frees it. */
static char *name_of(const char *last, const struct growth *growth, uint64_t number)
{
	int start = (int)growth->start;
	char *name = growth->base == 10 ? xasprintf("%.*s%0*" PRIu64, start, last, DIGITS, number)
					: xasprintf("%.*s%0*" PRIx64, start, last, DIGITS, number);
	size_t len = strlen(name);

	while (len > growth->start + 1 && name[len - 1] == '0')
		name[--len] = '\0';
	return name;
}

/* What comes after `name`, which is handed over, goes into a new span. */
static void cut_at(struct store_spans *spans, struct store_span *lower, char *name)
{
	struct store_span *upper = &spans->list[spans->count++];

	*upper = (struct store_span){
		.until = lower->until, .generation = lower->generation, .is_cut = true};
	buf_addstr(&upper->after, name);
	buf_addstr(&upper->first, name);
	lower->until = name;
}

void store_spans_cut(struct store_spans *spans, size_t index, const char *last)
{
	struct store_span *span = &spans->list[index];
	struct growth growth;
	uint64_t part = 0;
	size_t parts;

	if (spans->whole || spans->begin || !span->pages || !find_growth(span, last, &growth))
		return;
	parts = plan_parts(span, &growth, &part);
	if (parts < 2 || !part || spans->count + parts - 1 > STORE_SPANS_MAX)
		return;
	span->generation++;
	for (size_t i = 1; i < parts && growth.to + part * i < growth.end; i++) {
		char *name = name_of(last, &growth, growth.to + part * i);

		if (strcmp(name, last) <= 0 || (span->until && strcmp(name, span->until) >= 0)) {
			free(name);
			continue;
		}
		cut_at(spans, span, name);
		span = &spans->list[spans->count - 1];
	}
}

void store_spans_undo(struct store_spans *spans)
{
	struct store_span *all = &spans->list[0];

	for (size_t i = 1; i < spans->count; i++)
		span_release(&spans->list[i]);
	spans->count = 1;
	spans->whole = true;
	free(all->until);
	free(all->token);
	all->until = all->token = NULL;
	buf_clear(&all->beyond);
	all->done = false;
}

/* ---- what comes after a cut ---- */

/* As far as both are known: a folded directory stands for all that is in it. */
static bool is_same_name(const char *a, const char *b)
{
	size_t len = strcspn(a, "/");

	if (!strcmp(a, b))
		return true;
	return a[len] && !strncmp(a, b, len + 1) && (!a[len + 1] || !b[len + 1]);
}

static const struct store_span *span_below(const struct store_spans *spans, const char *cut)
{
	for (size_t i = 0; i < spans->count; i++)
		if (spans->list[i].until && !strcmp(spans->list[i].until, cut))
			return &spans->list[i];
	return NULL;
}

/* Is what comes after a cut what the span below it has seen there? */
static int check_cut(const struct store_span *lower, const struct store_span *upper,
		     struct err *err)
{
	const char *seen = buf_str(&lower->beyond);
	const char *begins = buf_str(upper->least.len_bytes ? &upper->least : &upper->beyond);
	const char *cut = upper->first.data;

	/* MUT: nothing is left out behind a cut */
	if (is_same_name(seen, begins))
		return 0;
	if (*begins && (!*seen || strcmp(begins, seen) < 0))
		return err_set(err, ERR_CONTRADICTED, 0,
			       "'%.200s' is listed after '%.200s', but not after '%.200s'", begins,
			       cut, buf_str(&lower->before));
	return err_set(err, ERR_CONTRADICTED, 0,
		       "'%.200s' was listed, but is left out of what comes after '%.200s'", seen,
		       cut);
}

int store_spans_check(const struct store_spans *spans, size_t *ret_span, struct err *err)
{
	for (size_t i = 1; i < spans->count; i++) {
		const struct store_span *lower = span_below(spans, spans->list[i].first.data);

		*ret_span = i;
		if (lower && check_cut(lower, &spans->list[i], err))
			return -1;
	}
	return 0;
}
