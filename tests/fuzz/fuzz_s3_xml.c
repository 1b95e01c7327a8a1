/* Any bytes as a page of a listing and as an error: a page that was read says how it goes on. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/s3_xml.h"
#include "must.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes);

static int on_entry(void *ctx, const struct s3_xml_entry *entry, struct err *err)
{
	size_t *count = ctx;

	(void)err;
	must(entry->key[0] && strlen(entry->key) <= S3_XML_MAX_TEXT_BYTES);
	must(entry->size_bytes >= 0 && (!entry->is_prefix || !entry->size_bytes));
	return ++*count == 1000;
}

static void as_list(const char *xml, size_t len_bytes)
{
	struct s3_xml_page page = {0};
	struct err err = {0};
	size_t count = 0;

	if (s3_xml_list(xml, len_bytes, on_entry, &count, &page, &err)) {
		must(err.kind == ERR_FORMAT && err.msg[0]);
		must(!page.truncated && !page.next_token);
		return;
	}
	must(page.truncated == (page.next_token != NULL));
	must(!page.next_token || page.next_token[0]);
	s3_xml_page_release(&page);
}

static void as_error(const char *xml, size_t len_bytes)
{
	struct s3_xml_error said = {.code = ""};
	struct err err = {0};

	if (s3_xml_error(xml, len_bytes, &said, &err))
		must(err.kind == ERR_FORMAT && !said.code[0]);
	else
		must(said.code[0] && !strpbrk(said.message, "\r\n"));
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes)
{
	as_list((const char *)data, len_bytes);
	as_error((const char *)data, len_bytes);
	return 0;
}
