#include <string.h>

#include "base/mem.h"
#include "migrate/migrate_internal.h"
#include "migrate/migrate_size.h"

void migrate_join(char ret_path[MIGRATE_PATH_BYTES], const char *path, const char *name)
{
	char joined[MIGRATE_PATH_BYTES];

	snprintf(joined, sizeof(joined), "%.*s%s%.*s", MIGRATE_PATH_BYTES / 2, path,
		 *path ? "." : "", MIGRATE_PATH_BYTES / 2 - 2, name);
	memcpy(ret_path, joined, sizeof(joined));
}

const struct migrate_field *migrate_find(const struct migrate_field *fields, const char *path)
{
	for (; fields->path; fields++) {
		size_t len = strlen(fields->path);

		if (fields->path[len - 1] == '*' ? !strncmp(fields->path, path, len - 1)
						 : !strcmp(fields->path, path))
			return fields;
	}
	return NULL;
}

/* Some row is below this path. */
static bool is_outer(const struct migrate_field *fields, const char *path)
{
	size_t len = strlen(path);

	for (; fields->path; fields++)
		if (!strncmp(fields->path, path, len) && fields->path[len] == '.')
			return true;
	return false;
}

/* A name with a point in it is one member, and not those that a row has between points. */
static bool is_star_of(const struct migrate_field *field, const char *relative)
{
	size_t len = strlen(relative);

	return !strncmp(field->path, relative, len) && !strcmp(field->path + len, ".*");
}

int migrate_walk(struct migrator *m, const struct migrate_field *fields, const struct json *node,
		 const char *path, const char *relative)
{
	const struct json *child;

	if (migrate_want(m, node, JSON_OBJECT, path))
		return -1;
	json_each (child, node) {
		char at[MIGRATE_PATH_BYTES], inner[MIGRATE_PATH_BYTES];
		const struct migrate_field *field;
		int result = 0;

		migrate_join(at, path, json_name(child));
		migrate_join(inner, relative, json_name(child));
		field = migrate_find(fields, inner);
		if (strchr(json_name(child), '.') && field && !is_star_of(field, relative))
			field = NULL;
		if (json_kind(child) == JSON_NULL)
			continue;
		if (field && field->map)
			result = field->map(m, child, field, at);
		else if (field)
			result = migrate_note_field(m, field, at);
		else if (!strchr(json_name(child), '.') && is_outer(fields, inner))
			result = migrate_walk(m, fields, child, at, inner);
		else
			migrate_note(m, MIGRATE_NO_COUNTERPART, at, NULL,
				     "unknown field: the operator's API does not have it");
		if (result)
			return result;
	}
	return 0;
}

int migrate_want(struct migrator *m, const struct json *value, enum json_kind kind,
		 const char *path)
{
	if (json_kind(value) == kind)
		return 0;
	return err_set(m->err, ERR_CONFIG, 0, "%s: must be %s, got %s", path, json_kind_name(kind),
		       json_kind_name(json_kind(value)));
}

int migrate_text(struct migrator *m, const struct json *value, const char *path,
		 const char **ret_text)
{
	switch (json_kind(value)) {
	case JSON_STRING:
		*ret_text = json_text(value);
		return 0;
	case JSON_NUMBER:
		*ret_text = json_number(value);
		return 0;
	case JSON_BOOL:
		*ret_text = json_is_true(value) ? "true" : "false";
		return 0;
	case JSON_NULL:
	case JSON_ARRAY:
	case JSON_OBJECT:
		break;
	}
	return migrate_want(m, value, JSON_STRING, path);
}

int migrate_whole(struct migrator *m, const struct json *value, const char *path, int64_t least,
		  int64_t most, int64_t *ret_number)
{
	int64_t number;

	if (migrate_want(m, value, JSON_NUMBER, path))
		return -1;
	if (json_to_i64(value, &number, NULL) || number < least || number > most)
		return err_set(m->err, ERR_CONFIG, 0,
			       "%s: must be a whole number from %lld to %lld, got %.40s", path,
			       (long long)least, (long long)most, json_number(value));
	*ret_number = number;
	return 0;
}

bool migrate_is_name(const char *text)
{
	size_t len = strlen(text);

	return len && len <= 200 && !strchr("-.", text[0]) && !strchr("-.", text[len - 1]) &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.") == len;
}

/* Blanks of Unicode are not in names of files, either. */
bool migrate_is_path(const char *text)
{
	if (text[0] != '/' || !text[1])
		return false;
	for (const char *at = text; *at; at++)
		if (*at <= ' ' || *at > '~' || strchr("\"'\\", *at))
			return false;
	return true;
}

const char *migrate_file_path(const char *uri)
{
	const char *path;

	if (uri[0] == '/')
		return uri;
	if (strncmp(uri, "file:/", 6) != 0)
		return NULL;
	path = uri + 5;
	if (!strncmp(path, "//", 2))
		path += 2;
	return *path == '/' ? path : NULL;
}

bool migrate_is_uri(const char *text)
{
	size_t scheme = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789+.-");
	const char *host = text + scheme + 3;

	if (text[0] == '/')
		return migrate_is_path(text);
	if (text[0] < 'a' || text[0] > 'z' || text[scheme] != ':' || text[scheme + 1] != '/' ||
	    !migrate_is_path(text + scheme + 1))
		return false;
	if (!strncmp(text, "file:", 5))
		return migrate_file_path(text) != NULL;
	return text[scheme + 2] == '/' && *host && *host != '/' &&
	       !memchr(host, '@', strcspn(host, "/"));
}

int migrate_copy_text(struct migrator *m, const struct json *value,
		      const struct migrate_field *field, const char *path)
{
	const char *text = NULL;

	if (migrate_text(m, value, path, &text))
		return -1;
	migrate_put_str(m, field->to, text);
	return migrate_note_field(m, field, path);
}

int migrate_copy_duration(struct migrator *m, const struct json *value,
			  const struct migrate_field *field, const char *path)
{
	char duration[MIGRATE_TEXT_BYTES];
	const char *text = NULL;
	int64_t ms;

	if (migrate_text(m, value, path, &text))
		return -1;
	if (!migrate_duration(text, duration, &ms)) {
		migrate_note(m, MIGRATE_DECIDE, path, field->to,
			     "not a duration such as 90s, 5min or 6h; write it as one");
		return 0;
	}
	migrate_put_str(m, field->to, duration);
	return migrate_note_field(m, field, path);
}

int migrate_copy_count(struct migrator *m, const struct json *value,
		       const struct migrate_field *field, const char *path)
{
	const char *text = NULL;
	int64_t number;

	if (migrate_text(m, value, path, &text))
		return -1;
	if (!migrate_number(text, &number) || number > 100) {
		migrate_note(m, MIGRATE_DECIDE, path, field->to,
			     "not a whole number from 0 to 100; choose one");
		return 0;
	}
	migrate_put_i64(m, field->to, number);
	return migrate_note_field(m, field, path);
}

/* ---- labels and annotations ---- */

#define ALNUM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* Letters and digits at both ends, else `inner`, too. */
static bool is_label_word(const char *text, size_t len, const char *inner)
{
	if (!len || !strchr(ALNUM, text[0]) || !strchr(ALNUM, text[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!strchr(inner, text[i]))
			return false;
	return true;
}

static bool is_label_key(const char *key)
{
	const char *slash = strchr(key, '/');

	if (slash &&
	    !is_label_word(key, (size_t)(slash - key), "abcdefghijklmnopqrstuvwxyz0123456789-."))
		return false;
	if (strlen(key) > 253 + 1 + 63)
		return false;
	key = slash ? slash + 1 : key;
	return is_label_word(key, strlen(key), ALNUM "-_.");
}

/* The chart, or Helm, sets it. */
static bool is_reserved(const char *key)
{
	static const char *const prefixes[] = {"app.kubernetes.io/", "helm.sh/", "drey.dev/",
					       "checksum/", "meta.helm.sh/"};

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (!strncmp(key, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* kubectl's own annotations, and those of others who keep notes in the cluster. */
static bool is_note_of_a_tool(const char *key)
{
	return !strncmp(key, "kubectl.kubernetes.io/", 22) ||
	       !strncmp(key, "argocd.argoproj.io/", 19) || !strncmp(key, "kustomize.toolkit.", 18);
}

static const char *why_not(const char *key, const char *text, bool annotations)
{
	if (annotations && is_note_of_a_tool(key))
		return "a tool keeps its notes there";
	if (is_reserved(key))
		return "the chart has its own labels and annotations of this prefix";
	if (!is_label_key(key))
		return "Kubernetes does not take this key";
	if (!annotations && *text &&
	    (strlen(text) > 63 || !is_label_word(text, strlen(text), ALNUM "-_.")))
		return "Kubernetes does not take this value of a label";
	return NULL;
}

struct json *migrate_labels(struct migrator *m, const struct json *value, const char *path,
			    bool annotations)
{
	struct json *map = json_object();
	const struct json *child;

	json_each (child, value) {
		char at[MIGRATE_PATH_BYTES];
		const char *text = NULL, *why;

		migrate_join(at, path, json_name(child));
		if (json_kind(child) == JSON_NULL)
			continue;
		if (migrate_text(m, child, at, &text)) {
			json_free(map);
			return NULL;
		}
		why = why_not(json_name(child), text, annotations);
		if (why)
			migrate_note(m, MIGRATE_NOT_NEEDED, at, NULL, "%s", why);
		else
			json_add_str(map, json_name(child), text);
	}
	return map;
}

static int copy_map(struct migrator *m, const struct json *value, const struct migrate_field *field,
		    const char *path, bool annotations)
{
	struct json *map;

	if (migrate_want(m, value, JSON_OBJECT, path))
		return -1;
	map = migrate_labels(m, value, path, annotations);
	if (!map)
		return -1;
	if (!json_len(map)) {
		json_free(map);
		return 0;
	}
	migrate_put(m, field->to, map);
	return migrate_note_field(m, field, path);
}

int migrate_copy_labels(struct migrator *m, const struct json *value,
			const struct migrate_field *field, const char *path)
{
	return copy_map(m, value, field, path, false);
}

int migrate_copy_annotations(struct migrator *m, const struct json *value,
			     const struct migrate_field *field, const char *path)
{
	return copy_map(m, value, field, path, true);
}
