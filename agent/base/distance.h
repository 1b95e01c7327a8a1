/* distance - how different two words are: for "did you mean ...?". Pure. */
#ifndef DREY_BASE_DISTANCE_H
#define DREY_BASE_DISTANCE_H

#include <stddef.h>

/* How many letters have to be added, removed or replaced (Levenshtein), whatever their case; SIZE_MAX
 * for words of 64 letters and more. */
size_t distance_of(const char *a, const char *b);

/* The largest distance at which a word may be a slip of the pen. */
size_t distance_near(const char *word);

/* The nearest word of a NULL-terminated list, NULL: none is near. Borrowed. */
const char *distance_nearest(const char *word, const char *const *list);

#endif
