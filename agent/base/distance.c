#include "base/distance.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

size_t distance_of(const char *a, const char *b)
{
	size_t row[64], len_b = strlen(b);

	if (len_b >= ARRAY_LEN(row) || strlen(a) >= ARRAY_LEN(row))
		return SIZE_MAX;
	for (size_t j = 0; j <= len_b; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= len_b; j++) {
			bool same = tolower((unsigned char)a[i - 1]) ==
				    tolower((unsigned char)b[j - 1]);
			size_t cost = diagonal + !same;

			diagonal = row[j];
			if (row[j] + 1 < cost)
				cost = row[j] + 1;
			if (row[j - 1] + 1 < cost)
				cost = row[j - 1] + 1;
			row[j] = cost;
		}
	}
	return row[len_b];
}

size_t distance_near(const char *word)
{
	return strlen(word) / 3 + 1;
}

const char *distance_nearest(const char *word, const char *const *list)
{
	size_t least = distance_near(word) + 1;
	const char *nearest = NULL;

	for (; *list; list++) {
		size_t distance = distance_of(word, *list);

		/* nothing in common: a word of one or two letters */
		if (distance < least && distance < strlen(*list)) {
			least = distance;
			nearest = *list;
		}
	}
	return nearest;
}
