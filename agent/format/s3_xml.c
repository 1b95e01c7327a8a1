#include "format/s3_xml.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/percent.h"

#define MAX_DEPTH 16

/* The elements that are read; each has its parent, so the same name elsewhere means nothing. */
enum element {
	ELEMENT_NONE, /* anything else */
	ELEMENT_LIST,
	ELEMENT_ENCODING,
	ELEMENT_TRUNCATED,
	ELEMENT_TOKEN,
	ELEMENT_CONTENTS,
	ELEMENT_KEY,
	ELEMENT_MODIFIED,
	ELEMENT_SIZE,
	ELEMENT_PREFIXES,
	ELEMENT_PREFIX,
	ELEMENT_CLASS,
	ELEMENT_ASKED_PREFIX,
	ELEMENT_ASKED_DELIMITER,
	ELEMENT_ASKED_AFTER,
	ELEMENT_ASKED_TOKEN,
	ELEMENT_KEY_COUNT,
	ELEMENT_ERROR,
	ELEMENT_CODE,
	ELEMENT_MESSAGE,
	ELEMENT_REGION,
	ELEMENT_ENDPOINT,
	ELEMENT_ERROR_KEY,
	ELEMENT_COUNT,
};

static const struct rule {
	enum element parent; /* ELEMENT_NONE: it is the root */
	const char *name;
	bool has_text;
	bool repeats;
} rules[ELEMENT_COUNT] = {
	[ELEMENT_LIST] = {ELEMENT_NONE, "ListBucketResult", false, false},
	[ELEMENT_ENCODING] = {ELEMENT_LIST, "EncodingType", true, false},
	[ELEMENT_TRUNCATED] = {ELEMENT_LIST, "IsTruncated", true, false},
	[ELEMENT_TOKEN] = {ELEMENT_LIST, "NextContinuationToken", true, false},
	[ELEMENT_CONTENTS] = {ELEMENT_LIST, "Contents", false, true},
	[ELEMENT_KEY] = {ELEMENT_CONTENTS, "Key", true, false},
	[ELEMENT_MODIFIED] = {ELEMENT_CONTENTS, "LastModified", true, false},
	[ELEMENT_SIZE] = {ELEMENT_CONTENTS, "Size", true, false},
	[ELEMENT_PREFIXES] = {ELEMENT_LIST, "CommonPrefixes", false, true},
	/* older servers put several into one CommonPrefixes */
	[ELEMENT_PREFIX] = {ELEMENT_PREFIXES, "Prefix", true, true},
	[ELEMENT_CLASS] = {ELEMENT_CONTENTS, "StorageClass", true, false},
	[ELEMENT_ASKED_PREFIX] = {ELEMENT_LIST, "Prefix", true, false},
	[ELEMENT_ASKED_DELIMITER] = {ELEMENT_LIST, "Delimiter", true, false},
	[ELEMENT_ASKED_AFTER] = {ELEMENT_LIST, "StartAfter", true, false},
	[ELEMENT_ASKED_TOKEN] = {ELEMENT_LIST, "ContinuationToken", true, false},
	[ELEMENT_KEY_COUNT] = {ELEMENT_LIST, "KeyCount", true, false},
	[ELEMENT_ERROR] = {ELEMENT_NONE, "Error", false, false},
	[ELEMENT_CODE] = {ELEMENT_ERROR, "Code", true, false},
	[ELEMENT_MESSAGE] = {ELEMENT_ERROR, "Message", true, false},
	[ELEMENT_REGION] = {ELEMENT_ERROR, "Region", true, false},
	[ELEMENT_ENDPOINT] = {ELEMENT_ERROR, "Endpoint", true, false},
	[ELEMENT_ERROR_KEY] = {ELEMENT_ERROR, "Key", true, false},
};

struct reader {
	XML_Parser parser;
	enum element root; /* the expected one */
	enum element stack[MAX_DEPTH];
	int depth;
	uint32_t seen; /* elements of this document or of this Contents, a bit each */
	struct buf text;
	bool failed, skip;
	struct err why; /* of the failure */

	/* a listing */
	s3_xml_entry_fn fn;
	void *ctx;
	bool encoded;   /* as the document declares, known beforehand */
	struct buf key; /* of the current Contents */
	struct s3_xml_entry entry;
	struct s3_xml_page page;
	int64_t key_count; /* as it says; -1: it does not */

	struct s3_xml_error *error;
};

static void stop(struct reader *reader)
{
	reader->failed = true;
	XML_StopParser(reader->parser, XML_FALSE);
}

#define FAIL(reader, ...)                                                                          \
	do {                                                                                       \
		err_set(&(reader)->why, ERR_FORMAT, 0, __VA_ARGS__);                               \
		stop(reader);                                                                      \
	} while (0)

/* ---- texts ---- */

/* In place; false when it is not an encoded text, or contains a NUL. */
static bool url_decode(struct buf *text)
{
	for (size_t i = 0; i < text->len_bytes; i++)
		if (text->data[i] == '+')
			text->data[i] = ' ';
	if (!text->data)
		return true;
	if (percent_decode(text->data))
		return false;
	text->len_bytes = strlen(text->data);
	return true;
}

static bool read_size(const char *text, int64_t *ret)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 18 || text[digits])
		return false;
	*ret = strtoll(text, NULL, 10);
	return true;
}

/* For people: one line, cut. */
static void copy_line(const char *from, char *to, size_t size_bytes)
{
	size_t len = 0;

	for (; *from && len + 1 < size_bytes; from++)
		to[len++] = (unsigned char)*from < ' ' || *from == 0x7F ? ' ' : *from;
	to[len] = '\0';
}

/* ---- elements ---- */

static bool has_seen(const struct reader *reader, enum element element)
{
	return reader->seen & UINT32_C(1) << element;
}

static void forget(struct reader *reader, enum element element)
{
	reader->seen &= ~(UINT32_C(1) << element);
}

static enum element find(enum element parent, const char *name)
{
	for (int i = ELEMENT_NONE + 1; i < ELEMENT_COUNT; i++)
		if (rules[i].parent == parent && !strcmp(rules[i].name, name))
			return (enum element)i;
	return ELEMENT_NONE;
}

static void on_start(void *ctx, const char *name, const char **attributes)
{
	struct reader *reader = ctx;
	const char *colon = strrchr(name, ':');
	enum element element = ELEMENT_NONE, parent = ELEMENT_NONE;

	(void)attributes;
	if (colon)
		name = colon + 1;
	if (reader->depth)
		parent = reader->stack[reader->depth - 1];
	if (reader->depth == MAX_DEPTH) {
		FAIL(reader, "more than %d elements inside each other", MAX_DEPTH);
		return;
	}
	if (rules[parent].has_text) {
		FAIL(reader, "%s contains an element", rules[parent].name);
		return;
	}
	if (!reader->depth || parent != ELEMENT_NONE)
		element = find(parent, name);
	if (!reader->depth && element != reader->root) {
		FAIL(reader, "expected the root %s, found %.40s", rules[reader->root].name, name);
		return;
	}
	if (element != ELEMENT_NONE && !rules[element].repeats && has_seen(reader, element)) {
		FAIL(reader, "%s twice", name);
		return;
	}
	reader->seen |= UINT32_C(1) << element;
	reader->stack[reader->depth++] = element;
	buf_clear(&reader->text);
	if (element == ELEMENT_CONTENTS) {
		reader->entry = (struct s3_xml_entry){0};
		forget(reader, ELEMENT_KEY);
		forget(reader, ELEMENT_SIZE);
		forget(reader, ELEMENT_MODIFIED);
		forget(reader, ELEMENT_CLASS);
	} else if (element == ELEMENT_PREFIXES) {
		forget(reader, ELEMENT_PREFIX);
	}
}

static void on_text(void *ctx, const char *text, int len)
{
	struct reader *reader = ctx;
	enum element element = reader->depth ? reader->stack[reader->depth - 1] : ELEMENT_NONE;

	if (!rules[element].has_text)
		return;
	if ((size_t)len > S3_XML_MAX_TEXT_BYTES - reader->text.len_bytes)
		FAIL(reader, "%s is longer than %d bytes", rules[element].name,
		     S3_XML_MAX_TEXT_BYTES);
	else
		buf_add(&reader->text, text, (size_t)len);
}

static void hand_out_entry(struct reader *reader)
{
	int rc = reader->skip ? 0 : reader->fn(reader->ctx, &reader->entry, &reader->why);

	reader->page.count++;
	if (rc < 0)
		stop(reader);
	else if (rc)
		reader->skip = true;
}

static void end_contents(struct reader *reader)
{
	if (!has_seen(reader, ELEMENT_KEY) || !has_seen(reader, ELEMENT_SIZE) ||
	    !has_seen(reader, ELEMENT_MODIFIED)) {
		FAIL(reader, "Contents without Key, Size or LastModified");
		return;
	}
	reader->entry.key = buf_str(&reader->key);
	hand_out_entry(reader);
}

static void end_prefixes(struct reader *reader)
{
	if (!has_seen(reader, ELEMENT_PREFIX))
		FAIL(reader, "CommonPrefixes without Prefix");
}

/* A name: not empty, decoded where the document is encoded. */
static bool read_name(struct reader *reader, enum element element)
{
	if (reader->text.len_bytes && (!reader->encoded || url_decode(&reader->text)))
		return true;
	FAIL(reader, "%s is %s", rules[element].name,
	     reader->text.len_bytes ? "not percent-encoded as declared" : "empty");
	return false;
}

static void end_prefix(struct reader *reader)
{
	if (!read_name(reader, ELEMENT_PREFIX))
		return;
	reader->entry = (struct s3_xml_entry){.key = reader->text.data, .is_prefix = true};
	hand_out_entry(reader);
}

static void end_key(struct reader *reader)
{
	if (!read_name(reader, ELEMENT_KEY))
		return;
	buf_clear(&reader->key);
	buf_add(&reader->key, reader->text.data, reader->text.len_bytes);
}

/* Source: "Storage classes" of Amazon S3. GLACIER_IR is read at once; of INTELLIGENT_TIERING only the answer
 * to HEAD says whether it is archived. */
static bool is_archive(const char *class)
{
	return !strcmp(class, "GLACIER") || !strcmp(class, "DEEP_ARCHIVE");
}

static void end_asked(struct reader *reader, char **ret, char **ret_decoded)
{
	*ret = xstrdup(buf_str(&reader->text));
	if (ret_decoded && reader->encoded && url_decode(&reader->text))
		*ret_decoded = xstrdup(buf_str(&reader->text));
}

/* False: it is none of these. */
static bool end_echo(struct reader *reader, enum element element)
{
	struct s3_xml_page *page = &reader->page;

	if (element == ELEMENT_ASKED_PREFIX)
		end_asked(reader, &page->prefix, &page->prefix_decoded);
	else if (element == ELEMENT_ASKED_DELIMITER)
		end_asked(reader, &page->delimiter, &page->delimiter_decoded);
	else if (element == ELEMENT_ASKED_AFTER)
		end_asked(reader, &page->start_after, &page->start_after_decoded);
	else if (element == ELEMENT_ASKED_TOKEN)
		end_asked(reader, &page->token, NULL);
	else
		return false;
	return true;
}

static void end_truncated(struct reader *reader)
{
	const char *text = buf_str(&reader->text);

	reader->page.truncated = !strcmp(text, "true");
	if (!reader->page.truncated && strcmp(text, "false") != 0)
		FAIL(reader, "IsTruncated is neither true nor false");
}

static void on_end(void *ctx, const char *name)
{
	struct reader *reader = ctx;
	const char *text = buf_str(&reader->text);
	enum element element;

	(void)name;
	if (reader->failed) /* expat still ends an empty element that was rejected */
		return;
	element = reader->stack[--reader->depth];
	if (end_echo(reader, element)) {
		buf_clear(&reader->text);
		return;
	}
	switch (element) {
	case ELEMENT_TRUNCATED:
		end_truncated(reader);
		break;
	case ELEMENT_TOKEN:
		reader->page.next_token = xstrdup(text);
		break;
	case ELEMENT_ENCODING:
		/* against a name that only looked like it in the search */
		if (!strcmp(text, "url") != reader->encoded)
			FAIL(reader, "EncodingType differs from the expected one");
		break;
	case ELEMENT_CONTENTS:
		end_contents(reader);
		break;
	case ELEMENT_KEY:
		end_key(reader);
		break;
	case ELEMENT_SIZE:
		if (!read_size(text, &reader->entry.size_bytes))
			FAIL(reader, "Size is not a number of bytes");
		break;
	case ELEMENT_MODIFIED:
		if (clock_parse_rfc3339(text, &reader->entry.mtime_unix_ms, NULL))
			FAIL(reader, "LastModified is not a time");
		break;
	case ELEMENT_PREFIXES:
		end_prefixes(reader);
		break;
	case ELEMENT_PREFIX:
		end_prefix(reader);
		break;
	case ELEMENT_CLASS:
		reader->entry.archived = is_archive(text);
		break;
	case ELEMENT_KEY_COUNT:
		if (!read_size(text, &reader->key_count))
			FAIL(reader, "KeyCount is not a number");
		break;
	case ELEMENT_ERROR_KEY:
		copy_line(text, reader->error->key, sizeof(reader->error->key));
		break;
	case ELEMENT_CODE:
		copy_line(text, reader->error->code, sizeof(reader->error->code));
		break;
	case ELEMENT_MESSAGE:
		copy_line(text, reader->error->message, sizeof(reader->error->message));
		break;
	case ELEMENT_REGION:
		copy_line(text, reader->error->region, sizeof(reader->error->region));
		break;
	case ELEMENT_ENDPOINT:
		copy_line(text, reader->error->endpoint, sizeof(reader->error->endpoint));
		break;
	case ELEMENT_NONE:
	case ELEMENT_LIST:
	case ELEMENT_ASKED_PREFIX:
	case ELEMENT_ASKED_DELIMITER:
	case ELEMENT_ASKED_AFTER:
	case ELEMENT_ASKED_TOKEN:
	case ELEMENT_ERROR:
	case ELEMENT_COUNT:
		break;
	}
	/* text after a child element is not part of this one */
	buf_clear(&reader->text);
}

static void on_doctype(void *ctx, const char *name, const char *system, const char *public,
		       int has_subset)
{
	struct reader *reader = ctx;

	(void)name;
	(void)system;
	(void)public;
	(void)has_subset;
	FAIL(reader, "it has a DTD");
}

/* ---- documents ---- */

static int parse(struct reader *reader, const char *xml, size_t len_bytes, struct err *err)
{
	enum XML_Status status;

	if (len_bytes > INT32_MAX)
		return err_set(err, ERR_FORMAT, 0, "larger than 2 GiB");
	reader->parser = XML_ParserCreate("UTF-8");
	if (!reader->parser)
		abort();
	XML_SetUserData(reader->parser, reader);
	XML_SetElementHandler(reader->parser, on_start, on_end);
	XML_SetCharacterDataHandler(reader->parser, on_text);
	XML_SetStartDoctypeDeclHandler(reader->parser, on_doctype);
	status = XML_Parse(reader->parser, len_bytes ? xml : "", (int)len_bytes, XML_TRUE);
	if (status != XML_STATUS_OK && !reader->failed)
		err_set(&reader->why, ERR_FORMAT, 0, "line %lu: %s",
			(unsigned long)XML_GetCurrentLineNumber(reader->parser),
			XML_ErrorString(XML_GetErrorCode(reader->parser)));
	XML_ParserFree(reader->parser);
	if (status == XML_STATUS_OK)
		return 0;
	return err_pass(err, &reader->why);
}

/* Texts cannot contain '<', so this is the element wherever it is in the document; on_end()
 * checks. */
static bool announces_encoding(const char *xml, size_t len_bytes)
{
	static const char mark[] = "EncodingType>url</";

	return len_bytes && memmem(xml, len_bytes, mark, sizeof(mark) - 1);
}

static int check_page(const struct reader *reader, struct err *err)
{
	const char *token = reader->page.next_token ? reader->page.next_token : "";

	if (!has_seen(reader, ELEMENT_TRUNCATED))
		return err_set(err, ERR_FORMAT, 0, "IsTruncated is missing");
	if (reader->encoded && !has_seen(reader, ELEMENT_ENCODING))
		return err_set(err, ERR_FORMAT, 0, "EncodingType is in the wrong place");
	if (reader->page.truncated && !*token)
		return err_set(err, ERR_FORMAT, 0, "truncated, but without a token for the rest");
	if (!reader->page.truncated && *token)
		return err_set(err, ERR_FORMAT, 0, "not truncated, but with a token for the rest");
	if (reader->key_count > reader->page.count)
		return err_set(err, ERR_FORMAT, 0, "it has %jd names, but says %jd",
			       (intmax_t)reader->page.count, (intmax_t)reader->key_count);
	return 0;
}

void s3_xml_page_release(struct s3_xml_page *page)
{
	char **const texts[] = {&page->next_token,          &page->prefix,
				&page->prefix_decoded,      &page->delimiter,
				&page->delimiter_decoded,   &page->start_after,
				&page->start_after_decoded, &page->token};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		free(*texts[i]);
		*texts[i] = NULL;
	}
}

bool s3_xml_says(const char *written, const char *decoded, const char *asked)
{
	return !written || !*written || !strcmp(written, asked) ||
	       (decoded && !strcmp(decoded, asked));
}

int s3_xml_list(const char *xml, size_t len_bytes, s3_xml_entry_fn fn, void *ctx,
		struct s3_xml_page *ret_page, struct err *err)
{
	struct reader reader = {
		.root = ELEMENT_LIST,
		.fn = fn,
		.ctx = ctx,
		.encoded = announces_encoding(xml, len_bytes),
		.key_count = -1,
	};
	int rc = parse(&reader, xml, len_bytes, err);

	if (!rc)
		rc = check_page(&reader, err);
	if (!rc && ret_page) {
		*ret_page = reader.page;
		if (!reader.page.truncated)
			xstrset(&ret_page->next_token, NULL);
	} else {
		s3_xml_page_release(&reader.page);
	}
	buf_release(&reader.text);
	buf_release(&reader.key);
	return rc;
}

int s3_xml_error(const char *xml, size_t len_bytes, struct s3_xml_error *ret, struct err *err)
{
	struct s3_xml_error error = {0};
	struct reader reader = {.root = ELEMENT_ERROR, .error = &error};
	int rc = parse(&reader, xml, len_bytes, err);

	buf_release(&reader.text);
	if (rc)
		return -1;
	if (!error.code[0])
		return err_set(err, ERR_FORMAT, 0, "an error without a code");
	*ret = error;
	return 0;
}
