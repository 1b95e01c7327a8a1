/*
 * gc_names - state files are named by UUIDs: tests write "shared/aa" for "shared/000000aa-0000-...-0000000000aa": no two have
 * a half in common.
 */
#ifndef DREY_TESTS_GC_NAMES_H
#define DREY_TESTS_GC_NAMES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GC_NAME_BYTES 200
#define GC_UUID(x)    "000000" x "-0000-4000-8000-0000000000" x /* of two digits */

/* A last name of one to eight hexadecimal digits becomes a UUID; others stay. */
static inline const char *gc_full_name(const char *name, char ret[GC_NAME_BYTES])
{
	const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
	size_t len = strlen(last);

	if (!len || len > 8 || strspn(last, "0123456789abcdef") != len)
		snprintf(ret, GC_NAME_BYTES, "%s", name);
	else
		snprintf(ret, GC_NAME_BYTES, "%.*s%0*d%s-0000-4000-8000-%0*d%s", (int)(last - name),
			 name, (int)(8 - len), 0, last, (int)(12 - len), 0, last);
	return ret;
}

#endif
