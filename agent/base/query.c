#include "base/query.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/percent.h"
#include "base/utf8.h"

static bool is_text(const char *value)
{
	size_t left_bytes = strlen(value), bytes;

	for (; left_bytes; value += bytes, left_bytes -= bytes) {
		bytes = utf8_char_bytes(value, left_bytes);
		if (!bytes || (unsigned char)*value < ' ' || *value == 0x7f)
			return false;
	}
	return true;
}

/* Is this the name, in whatever encoding? */
static bool is_named(const char *encoded, size_t len, const char *name)
{
	cleanup_free char *decoded = NULL;

	if (len > 3 * strlen(name))
		return false;
	decoded = xstrndup(encoded, len);
	return percent_decode(decoded) == 0 && !strcmp(decoded, name);
}

static int take_value(const char *encoded, size_t len, const char *name, char **ret_value,
		      struct err *err)
{
	cleanup_free char *value = NULL;

	if (len >= 3 * (size_t)QUERY_VALUE_BYTES)
		return err_set(err, ERR_FORMAT, 0, "the parameter %s is too long", name);
	value = xstrndup(encoded, len);
	if (percent_decode(value) < 0 || !is_text(value))
		return err_set(err, ERR_FORMAT, 0, "the parameter %s is not percent-encoded text",
			       name);
	if (strlen(value) >= QUERY_VALUE_BYTES)
		return err_set(err, ERR_FORMAT, 0, "the parameter %s is too long", name);
	*ret_value = value;
	value = NULL;
	return 0;
}

int query_get(const char *query, const char *name, char **ret_value, struct err *err)
{
	const char *found = NULL, *part = query;
	size_t found_len = 0;

	while (part && *part) {
		size_t len = strcspn(part, "&"), name_len = strcspn(part, "=&");

		if (is_named(part, name_len, name)) {
			if (found)
				return err_set(err, ERR_FORMAT, 0,
					       "the parameter %s is given twice", name);
			found = part + name_len + (name_len < len);
			found_len = (size_t)(part + len - found);
		}
		part += len + (part[len] == '&');
	}
	if (!found)
		return 0;
	return take_value(found, found_len, name, ret_value, err) < 0 ? -1 : 1;
}
