/*
 * desired_texts - one reading of a control input, as text: "state=running", "restore={kind: empty, token: t1}".
 */
#ifndef DREY_TESTS_DESIRED_TEXTS_H
#define DREY_TESTS_DESIRED_TEXTS_H

#include <string.h>

#include "base/mem.h"
#include "run/inputs/control_value.h"
#include "tap.h"

#define TEXTS 9 /* at most; the last is NULL */

/* Release *ret_desired. */
static inline void desired_of(struct desired *ret_desired, const char *const texts[TEXTS])
{
	*ret_desired = (struct desired){0};
	for (int i = 0; texts[i]; i++) {
		cleanup_free char *name = xstrndup(texts[i], strcspn(texts[i], "="));
		const char *value = texts[i] + strlen(name) + 1;
		int key = desired_key_find(name);

		if (CHECK(key >= 0))
			control_value_set(ret_desired, (enum desired_key)key, value, strlen(value));
	}
	control_value_judge(ret_desired);
}

#endif
