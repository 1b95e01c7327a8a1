/* Memory that had a secret does not have it when it is given back. */
#include "base/secret.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

#define SECRET "a-key-that-is-longer-than-what-malloc-writes-into-free-memory"

static const char zeroes[sizeof(SECRET)];
static char seen[sizeof(SECRET)];
static void *watched;

void __real_free(void *pointer);
void __wrap_free(void *pointer);

/* What is in the memory when it is given back. */
void __wrap_free(void *pointer)
{
	if (pointer && pointer == watched)
		memcpy(seen, pointer, sizeof(seen));
	__real_free(pointer);
}

TEST(a_text_is_overwritten_before_it_is_freed)
{
	char *text = xstrdup(SECRET);

	watched = text;
	memset(seen, 'x', sizeof(seen));
	secret_free(text);
	CHECK(!memcmp(seen, zeroes, sizeof(seen)));
	secret_free(NULL);
}

TEST(and_so_is_all_of_a_buffer)
{
	struct buf buf = BUF_INIT;

	buf_addstr(&buf, SECRET);
	buf_clear(&buf); /* the rest is still there */
	watched = buf.data;
	memset(seen, 'x', sizeof(seen));
	secret_release(&buf);
	CHECK(!memcmp(seen, zeroes, sizeof(seen)));
	CHECK(!buf.data);
}
