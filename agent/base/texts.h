/*
 * texts - a set of strings as a plain array and its length, in the order in which they were added.
 */
#ifndef DREY_BASE_TEXTS_H
#define DREY_BASE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

bool texts_have(char *const *texts, size_t count, const char *text);

/* Add a copy, unless it is there already. */
void texts_add(char ***texts, size_t *count, const char *text);

/* Free the first ones, so that at most max stay. */
void texts_trim(char **texts, size_t *count, size_t max);

void texts_free(char **texts, size_t count); /* all of them, and the array */

#endif
