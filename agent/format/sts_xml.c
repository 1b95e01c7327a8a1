#include "format/sts_xml.h"

#include <expat.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

static const struct field {
	const char *name;
	bool in_error; /* else in <Credentials> */
	size_t offset;
} fields[] = {
	{"AccessKeyId", false, offsetof(struct sts_answer, access_key)},
	{"SecretAccessKey", false, offsetof(struct sts_answer, secret_key)},
	{"SessionToken", false, offsetof(struct sts_answer, session_token)},
	{"Expiration", false, offsetof(struct sts_answer, expiration)},
	{"Code", true, offsetof(struct sts_answer, code)},
	{"Message", true, offsetof(struct sts_answer, message)},
};

struct reader {
	XML_Parser parser;
	struct sts_answer *answer;
	const char *why; /* NULL: no error */
	char **into;     /* where the text of this element goes; NULL: nowhere */
	struct buf text;
	int depth;
	int credentials, error; /* the depth of that element while inside it, else 0 */
};

static void stop(struct reader *reader, const char *why)
{
	if (!reader->why)
		reader->why = why;
	XML_StopParser(reader->parser, XML_FALSE);
}

/* Servers that imitate STS do not all use its namespace, or use a prefix. */
static const char *local_name(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon ? colon + 1 : name;
}

static void on_start(void *arg, const XML_Char *name, const XML_Char **attributes)
{
	struct reader *reader = arg;

	(void)attributes;
	name = local_name(name);
	if (++reader->depth > STS_XML_MAX_DEPTH)
		stop(reader, "nested too deeply");
	reader->into = NULL;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		int parent = fields[i].in_error ? reader->error : reader->credentials;

		if (parent && parent == reader->depth - 1 && strcmp(name, fields[i].name) == 0)
			reader->into = (char **)((char *)reader->answer + fields[i].offset);
	}
	if (reader->into && *reader->into) {
		stop(reader, "an element occurs twice");
		reader->into = NULL;
	}
	buf_clear(&reader->text);
	if (!reader->credentials && strcmp(name, "Credentials") == 0)
		reader->credentials = reader->depth;
	if (!reader->error && strcmp(name, "Error") == 0)
		reader->error = reader->depth;
}

static void on_end(void *arg, const XML_Char *name)
{
	struct reader *reader = arg;

	(void)name;
	if (reader->into)
		*reader->into = xstrdup(buf_str(&reader->text));
	reader->into = NULL;
	if (reader->credentials == reader->depth)
		reader->credentials = 0;
	if (reader->error == reader->depth)
		reader->error = 0;
	reader->depth--;
}

static void on_text(void *arg, const XML_Char *text, int len)
{
	struct reader *reader = arg;

	if (!reader->into)
		return;
	if ((size_t)len > STS_XML_MAX_BYTES - reader->text.len_bytes)
		stop(reader, "a text is too long");
	else
		buf_add(&reader->text, text, (size_t)len);
}

static void on_doctype(void *arg, const XML_Char *name, const XML_Char *system_id,
		       const XML_Char *public_id, int has_subset)
{
	(void)name, (void)system_id, (void)public_id, (void)has_subset;
	stop(arg, "it has a document type");
}

int sts_xml_parse(const char *text, size_t len_bytes, struct sts_answer *ret_answer,
		  struct err *err)
{
	struct sts_answer answer = {0};
	struct reader reader = {.parser = XML_ParserCreate("UTF-8"), .answer = &answer};
	const char *why = NULL;

	if (!reader.parser)
		abort();
	XML_SetUserData(reader.parser, &reader);
	XML_SetElementHandler(reader.parser, on_start, on_end);
	XML_SetCharacterDataHandler(reader.parser, on_text);
	XML_SetStartDoctypeDeclHandler(reader.parser, on_doctype);
	if (len_bytes > INT_MAX)
		why = "too large";
	else if (XML_Parse(reader.parser, text, (int)len_bytes, XML_TRUE) != XML_STATUS_OK)
		why = reader.why ? reader.why : XML_ErrorString(XML_GetErrorCode(reader.parser));
	XML_ParserFree(reader.parser);
	if (reader.text.data)
		explicit_bzero(reader.text.data, reader.text.cap_bytes);
	buf_release(&reader.text);
	if (why) {
		sts_answer_release(&answer);
		return err_set(err, ERR_FORMAT, 0, "not an XML answer: %s", why);
	}
	*ret_answer = answer;
	return 0;
}

void sts_answer_release(struct sts_answer *answer)
{
	char **const slots[] = {&answer->access_key, &answer->secret_key, &answer->session_token,
				&answer->expiration, &answer->code,       &answer->message};

	for (size_t i = 0; i < ARRAY_LEN(slots); i++) {
		if (*slots[i])
			explicit_bzero(*slots[i], strlen(*slots[i]));
		free(*slots[i]);
	}
	*answer = (struct sts_answer){0};
}
