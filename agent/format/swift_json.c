#include "format/swift_json.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"

/* ---- a page of a listing ---- */

/* Swift writes UTC without a time zone: "2026-11-21T15:13:36.355440". Ceph adds the Z. */
static int read_time(const char *text, int64_t *ret_unix_ms, struct err *err)
{
	size_t len = strlen(text);
	char zoned[CLOCK_TEXT_BYTES];
	bool has_zone = len && (text[len - 1] == 'Z' || text[len - 1] == 'z');

	if (len < 10 || len + 2 > sizeof(zoned))
		return err_set(err, ERR_FORMAT, 0, "'last_modified': not a time: %.60s", text);
	/* the sign of an offset would come after the date's two dashes */
	has_zone = has_zone || strpbrk(text + 10, "+-");
	snprintf(zoned, sizeof(zoned), "%s%s", text, has_zone ? "" : "Z");
	if (clock_parse_rfc3339(zoned, ret_unix_ms, err))
		return err_wrap(err, "'last_modified'");
	return 0;
}

/* What clients use in place of a directory: python-swiftclient, Hadoop, Horizon. */
bool swift_json_is_directory(const char *content_type)
{
	static const char *const types[] = {"application/directory", "application/x-directory",
					    "text/directory"};
	size_t len = strcspn(content_type, "; \t");

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strlen(types[i]) == len && !strncasecmp(content_type, types[i], len))
			return true;
	return false;
}

static int read_object(const struct json *node, struct swift_json_entry *ret, struct err *err)
{
	const char *name, *time, *type = "", *hash = NULL;

	if (json_need_str(node, "name", &name, err) ||
	    json_need_i64(node, "bytes", &ret->size_bytes, err) ||
	    json_need_str(node, "last_modified", &time, err) ||
	    read_time(time, &ret->mtime_unix_ms, err) ||
	    json_opt_str(node, "content_type", &type, err) < 0 ||
	    json_opt_str(node, "hash", &hash, err) < 0)
		return -1;
	if (!name[0])
		return err_set(err, ERR_FORMAT, 0, "'name' is empty");
	if (ret->size_bytes < 0)
		return err_set(err, ERR_FORMAT, 0, "'bytes' is negative");
	ret->name = name;
	ret->hash = hash;
	ret->is_directory = !ret->size_bytes && swift_json_is_directory(type);
	ret->size_in_doubt = !ret->size_bytes && !ret->is_directory;
	return 0;
}

static int read_entry(const struct json *node, struct swift_json_entry *ret, struct err *err)
{
	const char *subdir = NULL;
	int has;

	if (json_kind(node) != JSON_OBJECT)
		return err_set(err, ERR_FORMAT, 0, "is %s, not an object",
			       json_kind_name(json_kind(node)));
	has = json_opt_str(node, "subdir", &subdir, err);
	if (has < 0)
		return -1;
	if (!has)
		return read_object(node, ret, err);
	if (!subdir[0] || json_get(node, "name"))
		return err_set(err, ERR_FORMAT, 0, "'subdir' is empty or beside 'name'");
	ret->name = subdir;
	ret->is_subdir = true;
	return 0;
}

int swift_json_listing(const char *text, size_t len_bytes, swift_json_entry_fn fn, void *ctx,
		       struct err *err)
{
	cleanup_json struct json *doc = json_parse(text, len_bytes, SWIFT_JSON_LIST_MAX_BYTES, err);
	const struct json *node;
	int count = 0, rc = 0;

	if (!doc)
		return err_wrap(err, "the listing");
	if (json_kind(doc) != JSON_ARRAY)
		return err_set(err, ERR_FORMAT, 0, "the listing is %s, not an array",
			       json_kind_name(json_kind(doc)));
	json_each (node, doc) {
		struct swift_json_entry entry = {.size_bytes = -1, .mtime_unix_ms = -1};

		if (read_entry(node, &entry, err))
			return err_wrap(err, "entry %d of the listing", count);
		if (!rc)
			rc = fn(ctx, &entry, err);
		if (rc < 0)
			return -1;
		count++;
	}
	return count;
}

/* ---- Keystone ---- */

/* What was found in a catalog. */
struct endpoints {
	const char *region, *url; /* of the chosen one */
	struct buf regions;       /* of all that have one, for the message */
	int count;
};

static void add_region(struct buf *regions, const char *name)
{
	buf_addf(regions, "%s%.64s", regions->len_bytes ? ", " : "", name);
}

/* "region_id" is the current name, "region" the older one; both have the same text. */
static int read_endpoint(const struct json *node, const char *wanted, struct endpoints *found,
			 struct err *err)
{
	const char *interface, *url, *region = "", *region_id = "";

	if (json_need_str(node, "interface", &interface, err) ||
	    json_need_str(node, "url", &url, err) ||
	    json_opt_str(node, "region", &region, err) < 0 ||
	    json_opt_str(node, "region_id", &region_id, err) < 0)
		return err_wrap(err, "an endpoint of the object store");
	if (strcmp(interface, "public") != 0)
		return 0;
	region = region_id[0] ? region_id : region;
	add_region(&found->regions, region);
	if (wanted && strcmp(region, wanted) != 0)
		return 0;
	/* the same address twice counts once */
	if (!found->count || strcmp(found->url, url) != 0)
		found->count++;
	found->region = region;
	found->url = url;
	return 0;
}

static int read_catalog(const struct json *catalog, const char *region, struct endpoints *found,
			struct err *err)
{
	const struct json *service, *endpoints, *endpoint;

	json_each (service, catalog) {
		const char *type;

		if (json_need_str(service, "type", &type, err))
			return err_wrap(err, "a service of the catalog");
		if (strcmp(type, "object-store") != 0)
			continue;
		if (json_need_array(service, "endpoints", &endpoints, err))
			return -1;
		json_each (endpoint, endpoints)
			if (read_endpoint(endpoint, region, found, err))
				return -1;
	}
	return 0;
}

static int choose_endpoint(const struct endpoints *found, const char *region, struct err *err)
{
	if (!found->regions.len_bytes)
		return err_set(err, ERR_CONFIG, 0,
			       "the catalog has no object store with a public address");
	if (!found->count)
		return err_set(err, ERR_CONFIG, 0,
			       "no object store in the region '%s', only in: %s", region,
			       buf_str(&found->regions));
	if (found->count > 1 && region)
		return err_set(err, ERR_CONFIG, 0, "several object stores in the region '%s'",
			       region);
	if (found->count > 1)
		return err_set(err, ERR_CONFIG, 0,
			       "object stores in several regions, set one of them: %s",
			       buf_str(&found->regions));
	return 0;
}

static int find_store(const struct json *catalog, const char *region, char **ret_url,
		      struct err *err)
{
	struct endpoints found = {0};
	int rc = read_catalog(catalog, region, &found, err);

	if (!rc)
		rc = choose_endpoint(&found, region, err);
	if (!rc) {
		size_t len = strlen(found.url);

		while (len && found.url[len - 1] == '/')
			len--;
		*ret_url = xstrndup(found.url, len);
	}
	buf_release(&found.regions);
	return rc;
}

int swift_json_token(const char *text, size_t len_bytes, const char *region,
		     struct swift_json_token *ret, struct err *err)
{
	cleanup_json struct json *doc = json_parse(text, len_bytes, SWIFT_JSON_AUTH_MAX_BYTES, err);
	const struct json *token, *catalog;
	const char *expires = NULL;
	int64_t expires_ms = -1;

	if (!doc || json_need_object(doc, "token", &token, err) ||
	    json_opt_str(token, "expires_at", &expires, err) < 0)
		return err_wrap(err, "the answer to the sign-in");
	if (expires && clock_parse_rfc3339(expires, &expires_ms, err))
		return err_wrap(err, "the answer to the sign-in: 'expires_at'");
	if (!json_get(token, "catalog"))
		return err_set(err, ERR_CONFIG, 0,
			       "the token is for no project, so it has no catalog: set a project");
	if (json_need_array(token, "catalog", &catalog, err) ||
	    find_store(catalog, region, &ret->storage_url, err))
		return err_wrap(err, "the answer to the sign-in");
	ret->expires_unix_ms = expires_ms;
	return 0;
}
