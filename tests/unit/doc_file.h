/*
 * doc_file - a page of the documentation that must have what the code says: read, compared, rewritten. Header-only.
 * Paths are those from the top of the tree, where the tests run.
 */
#ifndef DREY_TESTS_DOC_FILE_H
#define DREY_TESTS_DOC_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "tap.h"

#define DOC_FN static inline __attribute__((unused))

DOC_FN bool doc_read(const char *path, struct buf *ret)
{
	FILE *file = fopen(path, "r");
	char chunk[4096];
	size_t got;

	if (!CHECK(file != NULL))
		return false;
	while ((got = fread(chunk, 1, sizeof(chunk), file)))
		buf_add(ret, chunk, got);
	fclose(file);
	return true;
}

DOC_FN void doc_renew(const char *path, const char *doc, const char *begin, const char *end,
		      const struct buf *tables)
{
	FILE *file = fopen(path, "w");

	if (!CHECK(file != NULL))
		return;
	fprintf(file, "%.*s%s%s", (int)(begin - doc), doc, buf_str(tables), end);
	CHECK_INT(fclose(file), ==, 0);
	tap_note("%s was rewritten", path);
}

DOC_FN void doc_tell_difference(const char *path, const char *is, const char *should)
{
	int line = 1;

	for (; *is && *is == *should; is++, should++)
		line += *is == '\n';
	while (is[-1] != '\n') {
		is--;
		should--;
	}
	tap_note("line %d of the table in %s is: %.*s", line, path, (int)strcspn(is, "\n"), is);
	tap_note("the code does: %.*s", (int)strcspn(should, "\n"), should);
	tap_note("`make docs-lifecycle` rewrites it; review the difference");
}

/* Between the two marks is `tables`, and nothing else. With DREY_RENEW_DOCS it is put there. */
DOC_FN void doc_check_tables(const char *path, const char *begin_mark, const char *end_mark,
			     const struct buf *tables)
{
	cleanup_buf struct buf doc = BUF_INIT;
	const char *begin, *end;

	if (!doc_read(path, &doc))
		return;
	begin = strstr(buf_str(&doc), begin_mark);
	end = strstr(buf_str(&doc), end_mark);
	if (!CHECK(begin && end && begin < end))
		return;
	begin += strlen(begin_mark);
	if (getenv("DREY_RENEW_DOCS")) {
		doc_renew(path, buf_str(&doc), begin, end, tables);
		return;
	}
	if (!CHECK((size_t)(end - begin) == tables->len_bytes &&
		   !memcmp(begin, buf_str(tables), tables->len_bytes)))
		doc_tell_difference(path, begin, buf_str(tables));
}

#endif
