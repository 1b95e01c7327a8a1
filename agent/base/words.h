/*
 * words - the word of each value of an enum.
 *
 *   WORDS(source_state_name, enum source_state, "unknown", "notConfigured", "present", "absent", "unreadable");
 *
 * defines `const char *source_state_name(enum source_state value)`. The words stand in the order of the values,
 * which begin at 0, or as `[SOURCE_ABSENT] = "absent"`. A value without a word has the one that stands
 * before them.
 */
#ifndef DREY_BASE_WORDS_H
#define DREY_BASE_WORDS_H

#include <stddef.h>
#include <string.h>

#include "base/mem.h"

/* The word of the value `at` in a table of `count`; `otherwise` if it has none. */
static inline const char *words_at(const char *const *words, size_t count, size_t at,
				   const char *otherwise)
{
	return at < count && words[at] ? words[at] : otherwise;
}

/* Which of the words this is; -1: none of them. NULL at the end. */
static inline int words_find(const char *const *words, const char *text)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], text))
			return i;
	return -1;
}

/* The same function over a table that others use, too; a NULL at its end is no word. */
#define WORDS_OF(table, function, type, otherwise)                                                 \
	const char *function(type value)                                                           \
	{                                                                                          \
		return words_at(table, ARRAY_LEN(table), (size_t)value, otherwise);                \
	}                                                                                          \
	_Static_assert(1, "for the semicolon")

#define WORDS(function, type, otherwise, ...)                                                      \
	const char *function(type value)                                                           \
	{                                                                                          \
		static const char *const words[] = {__VA_ARGS__};                                  \
                                                                                                   \
		return words_at(words, ARRAY_LEN(words), (size_t)value, otherwise);                \
	}                                                                                          \
	_Static_assert(1, "for the semicolon")

#endif
