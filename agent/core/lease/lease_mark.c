#include "core/lease/lease_mark.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

#define FORMAT 1

void lease_mark_add(struct lease_mark *mark, const char *write)
{
	memmove(mark->writes[1], mark->writes[0], sizeof(mark->writes) - sizeof(mark->writes[0]));
	snprintf(mark->writes[0], sizeof(mark->writes[0]), "%s", write);
}

void lease_mark_saw(struct lease_mark *mark, int64_t sequence)
{
	if (sequence > mark->sequence)
		mark->sequence = sequence;
}

void lease_mark_forget(struct lease_mark *mark)
{
	memset(mark->writes, 0, sizeof(mark->writes));
}

bool lease_mark_has(const struct lease_mark *mark, const char *write)
{
	for (size_t i = 0; i < LEASE_MARK_WRITES && *write; i++)
		if (!strcmp(mark->writes[i], write))
			return true;
	return false;
}

/* ---- as text ---- */

static int mark_write(const struct json *element, char ret_write[LEASE_ID_BYTES], struct err *err)
{
	const char *text = json_text(element);

	if (!text || strlen(text) != LEASE_ID_BYTES - 1 ||
	    strspn(text, "0123456789abcdef") != LEASE_ID_BYTES - 1)
		return err_set(err, ERR_FORMAT, 0, "'writes' has something that is not an id");
	memcpy(ret_write, text, LEASE_ID_BYTES);
	return 0;
}

static int mark_uri(const struct json *doc, char ret_uri[LEASE_URI_BYTES], struct err *err)
{
	const char *uri = "";

	if (json_opt_str(doc, "uri", &uri, err) < 0)
		return -1;
	if (strlen(uri) >= LEASE_URI_BYTES)
		return err_set(err, ERR_FORMAT, 0, "'uri' is too long");
	snprintf(ret_uri, LEASE_URI_BYTES, "%s", uri);
	return 0;
}

static int mark_members(const struct json *doc, const char *place, struct lease_mark *mark,
			struct err *err)
{
	const struct json *writes = json_get(doc, "writes");
	const char *made_at;
	int64_t format;

	if (json_need_i64(doc, "format", &format, err) < 0 ||
	    json_need_str(doc, "place", &made_at, err) < 0 ||
	    json_need_i64(doc, "sequence", &mark->sequence, err) < 0 ||
	    mark_uri(doc, mark->uri, err) < 0)
		return -1;
	if (format != FORMAT || mark->sequence < 0 || mark->sequence > LEASE_SEQUENCE_MAX)
		return err_set(err, ERR_FORMAT, 0,
			       "'format' is %" PRId64 ", 'sequence' is %" PRId64, format,
			       mark->sequence);
	/* MUT: a copied state directory proves a claim */
	if (!*place || strcmp(place, made_at) != 0)
		return err_set(err, ERR_CONFIG, 0, "it was made at another place");
	if (json_len(writes) > LEASE_MARK_WRITES)
		return err_set(err, ERR_FORMAT, 0, "'writes' is too long");
	for (size_t i = 0; i < json_len(writes); i++)
		if (mark_write(json_at(writes, i), mark->writes[i], err) < 0)
			return -1;
	return 0;
}

int lease_mark_parse(const char *text, size_t len_bytes, const char *place,
		     struct lease_mark *ret_mark, struct err *err)
{
	struct lease_mark mark = {0};
	cleanup_json struct json *doc = json_parse(text, len_bytes, LEASE_MARK_MAX_BYTES, err);

	if (!doc || mark_members(doc, place, &mark, err) < 0)
		return -1;
	*ret_mark = mark;
	return 0;
}

void lease_mark_print(const struct lease_mark *mark, const char *place, struct buf *text)
{
	cleanup_json struct json *doc = json_object();
	struct json *writes;

	json_add_i64(doc, "format", FORMAT);
	json_add_str(doc, "place", place);
	json_add_i64(doc, "sequence", mark->sequence);
	if (mark->uri[0])
		json_add_str(doc, "uri", mark->uri);
	writes = json_add_array(doc, "writes");
	for (size_t i = 0; i < LEASE_MARK_WRITES && mark->writes[i][0]; i++)
		json_add_str(writes, NULL, mark->writes[i]);
	json_print_pretty(doc, text);
}
