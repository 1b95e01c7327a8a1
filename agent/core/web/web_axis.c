#include "core/web/web_axis.h"

#include <stdlib.h>

#define LOG_UNIT 64 /* of a doubling */

void web_axis_add(struct web_axis *axis, int64_t unix_ms)
{
	if (unix_ms > 0 && axis->count < AXIS_TIMES)
		axis->times[axis->count++] = unix_ms;
}

static int by_time(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return left < right ? -1 : left > right;
}

/* Between two powers of 2 it is a straight line. */
static int64_t logarithm(uint64_t value)
{
	unsigned power = 63 - (unsigned)__builtin_clzll(value);
	uint64_t base = UINT64_C(1) << power;

	return (int64_t)(power * LOG_UNIT +
			 (uint64_t)((double)(value - base) / (double)base * LOG_UNIT));
}

static int64_t width_of(int64_t from_ms, int64_t to_ms)
{
	uint64_t seconds = (uint64_t)(to_ms - from_ms) / 1000;

	return to_ms == from_ms ? 0 : LOG_UNIT / 2 + logarithm(seconds + 1);
}

void web_axis_scale(struct web_axis *axis, int from_x, int to_x)
{
	int64_t whole = 0;

	qsort(axis->times, axis->count, sizeof(axis->times[0]), by_time);
	for (size_t i = 0; i < axis->count; i++) {
		whole += i ? width_of(axis->times[i - 1], axis->times[i]) : 0;
		axis->x[i] = whole;
	}
	for (size_t i = 0; i < axis->count; i++)
		axis->x[i] = from_x + (whole ? axis->x[i] * (to_x - from_x) / whole : 0);
}

int web_axis_x(const struct web_axis *axis, int64_t unix_ms)
{
	size_t low = 0, high = axis->count;
	double part;

	if (!axis->count)
		return 0;
	while (low < high) { /* the first that is not before it */
		size_t middle = low + (high - low) / 2;

		if (axis->times[middle] < unix_ms)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == axis->count)
		return (int)axis->x[axis->count - 1];
	if (!low || axis->times[low] == unix_ms)
		return (int)axis->x[low];
	part = (double)(unix_ms - axis->times[low - 1]) /
	       (double)(axis->times[low] - axis->times[low - 1]);
	return (int)((double)axis->x[low - 1] + part * (double)(axis->x[low] - axis->x[low - 1]));
}
