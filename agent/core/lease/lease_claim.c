#include "core/lease/lease_claim.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

#define FORMAT 1

static int claim_id(const struct json *doc, const char *key, char ret_id[LEASE_ID_BYTES],
		    struct err *err)
{
	const char *text;

	if (json_need_str(doc, key, &text, err) < 0)
		return -1;
	if (strlen(text) != LEASE_ID_BYTES - 1 ||
	    strspn(text, "0123456789abcdef") != LEASE_ID_BYTES - 1)
		return err_set(err, ERR_FORMAT, 0, "'%s' is not an id", key);
	memcpy(ret_id, text, LEASE_ID_BYTES);
	return 0;
}

/* Earlier versions have written none. */
static int claim_write(const struct json *doc, char ret_id[LEASE_ID_BYTES], struct err *err)
{
	return json_get(doc, "write") ? claim_id(doc, "write", ret_id, err) : 0;
}

/* The same. A copy of the object has that of the original. */
static int claim_uri(const struct json *doc, char ret_uri[LEASE_URI_BYTES], struct err *err)
{
	const char *uri;

	if (!json_get(doc, "uri"))
		return 0;
	if (json_need_str(doc, "uri", &uri, err) < 0)
		return -1;
	if (!*uri || strlen(uri) >= LEASE_URI_BYTES)
		return err_set(err, ERR_FORMAT, 0, "'uri' has %zu bytes, of 1 to %d", strlen(uri),
			       LEASE_URI_BYTES - 1);
	snprintf(ret_uri, LEASE_URI_BYTES, "%s", uri);
	return 0;
}

static int claim_number(const struct json *doc, const char *key, int64_t least, int64_t most,
			int64_t *ret_value, struct err *err)
{
	int64_t value;

	if (json_need_i64(doc, key, &value, err) < 0)
		return -1;
	if (value < least || value > most)
		return err_set(err, ERR_FORMAT, 0, "'%s' is %" PRId64, key, value);
	*ret_value = value;
	return 0;
}

static int check_application(const struct json *doc, const char *application, struct err *err)
{
	const char *name;

	if (json_need_str(doc, "application", &name, err) < 0)
		return -1;
	if (strcmp(name, application) != 0)
		return err_set(
			err, ERR_CONFIG, 0,
			"it belongs to the application '%.100s'; give each application a lease of its own",
			name);
	return 0;
}

static int read_members(const struct json *doc, const char *application, struct lease_claim *claim,
			struct err *err)
{
	const char *name = "";
	int64_t format;

	if (claim_number(doc, "format", 1, INT64_MAX, &format, err) < 0)
		return -1;
	if (format > FORMAT)
		return err_set(err, ERR_FORMAT, 0,
			       "it has the format %" PRId64 ", and this drey reads %d", format,
			       FORMAT);
	if (check_application(doc, application, err) < 0 ||
	    claim_id(doc, "holder", claim->holder, err) < 0 ||
	    claim_id(doc, "session", claim->session, err) < 0 ||
	    claim_write(doc, claim->write, err) < 0 || claim_uri(doc, claim->uri, err) < 0 ||
	    claim_number(doc, "sequence", 1, LEASE_SEQUENCE_MAX, &claim->sequence, err) < 0 ||
	    claim_number(doc, "durationMs", LEASE_MIN_MS, LEASE_MAX_MS, &claim->duration_ms, err) <
		    0 ||
	    json_need_bool(doc, "parked", &claim->parked, err) < 0 ||
	    json_opt_bool(doc, "ended", &claim->ended, err) < 0 ||
	    json_opt_str(doc, "name", &name, err) < 0 ||
	    json_opt_i64(doc, "writtenUnixMs", &claim->written_unix_ms, err) < 0)
		return -1;
	/* MUT: the name of a claim is cut */
	if (strlen(name) >= sizeof(claim->name))
		return err_set(err, ERR_FORMAT, 0, "'name' is longer than %d bytes",
			       LEASE_NAME_BYTES - 1);
	snprintf(claim->name, sizeof(claim->name), "%s", name);
	return 0;
}

int lease_claim_parse(const char *text, size_t len_bytes, const char *application,
		      struct lease_claim *ret_claim, struct err *err)
{
	struct lease_claim claim = {0};
	cleanup_json struct json *doc = json_parse(text, len_bytes, LEASE_CLAIM_MAX_BYTES, err);

	if (!doc || read_members(doc, application, &claim, err) < 0)
		return -1;
	*ret_claim = claim;
	return 0;
}

void lease_claim_print(const struct lease_claim *claim, const char *application, struct buf *text)
{
	cleanup_json struct json *doc = json_object();

	json_add_i64(doc, "format", FORMAT);
	json_add_str(doc, "application", application);
	json_add_str(doc, "holder", claim->holder);
	json_add_str(doc, "session", claim->session);
	if (claim->write[0])
		json_add_str(doc, "write", claim->write);
	json_add_i64(doc, "sequence", claim->sequence);
	json_add_i64(doc, "durationMs", claim->duration_ms);
	json_add_bool(doc, "parked", claim->parked);
	json_add_bool(doc, "ended", claim->ended);
	json_add_str(doc, "name", claim->name);
	if (claim->uri[0])
		json_add_str(doc, "uri", claim->uri);
	json_add_i64(doc, "writtenUnixMs", claim->written_unix_ms);
	json_print_pretty(doc, text);
}
