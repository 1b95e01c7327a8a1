#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "run/inputs/control_seen.h"
#include "run/inputs/control_value.h"

#define SEEN_VERSION   1
#define SEEN_MAX_BYTES ((size_t)8 * CONTROL_VALUE_MAX * DESIRED_KEYS) /* escaped */

static int decode_resource(const struct json *doc, struct desired_seen *seen, struct err *err)
{
	const struct json *resource;
	const char *text = NULL;
	int has = json_opt_object(doc, "resource", &resource, err);

	if (has <= 0)
		return has;
	if (json_need_bool(resource, "followed", &seen->resource, err) < 0 ||
	    json_opt_str(resource, "error", &text, err) < 0)
		return err_wrap(err, "resource");
	xstrset(&seen->resource_error, text);
	return 0;
}

static int decode(const struct json *doc, struct desired_seen *seen, struct err *err)
{
	const char *text;
	int64_t version;
	int has;

	if (json_need_i64(doc, "version", &version, err) < 0 ||
	    json_need_bool(doc, "known", &seen->known, err) < 0)
		return -1;
	if (version != SEEN_VERSION)
		return err_set(err, ERR_FORMAT, 0, "unknown version %lld", (long long)version);
	for (int i = 0; i <= DESIRED_KEYS; i++) {
		const char *key = i < DESIRED_KEYS ? desired_keys[i] : "restore-token";

		has = json_opt_str(doc, key, &text, err);
		if (has < 0)
			return -1;
		if (has)
			xstrset(i < DESIRED_KEYS ? &seen->text[i] : &seen->restore_token, text);
	}
	return decode_resource(doc, seen, err);
}

int control_seen_decode(const char *text, size_t len_bytes, struct desired_seen *ret_seen,
			struct err *err)
{
	cleanup_json struct json *doc = json_parse(text, len_bytes, SEEN_MAX_BYTES, err);
	struct desired_seen seen = {0};

	if (!doc || decode(doc, &seen, err) < 0) {
		desired_seen_release(&seen);
		return err_wrap(err, CONTROL_SEEN_NAME);
	}
	*ret_seen = seen;
	return 0;
}

int control_seen_read(const char *state_directory, struct buf *text, struct err *err)
{
	cleanup_free char *path = xasprintf("%s/%s", state_directory, CONTROL_SEEN_NAME);

	return fs_read(path, SEEN_MAX_BYTES, text, err);
}

void control_seen_encode(const struct desired_seen *seen, struct buf *text)
{
	cleanup_json struct json *doc = json_object();
	struct json *resource;

	json_add_i64(doc, "version", SEEN_VERSION);
	json_add_bool(doc, "known", seen->known);
	for (int i = 0; i < DESIRED_KEYS; i++)
		json_add_str_opt(doc, desired_keys[i], seen->text[i]);
	json_add_str_opt(doc, "restore-token", seen->restore_token);
	if (seen->resource || seen->resource_error) {
		resource = json_add_object(doc, "resource");
		json_add_bool(resource, "followed", seen->resource);
		json_add_str_opt(resource, "error", seen->resource_error);
	}
	json_print_pretty(doc, text);
}

int control_seen_save(const char *state_directory, const struct buf *text, struct err *err)
{
	cleanup_free char *path = xasprintf("%s/%s", state_directory, CONTROL_SEEN_NAME);

	return fs_write_atomic(path, text->data, text->len_bytes, 0600, err);
}
