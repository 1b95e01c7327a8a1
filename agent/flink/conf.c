#include "flink/conf.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "flink/conf_scalar.h"

static const char legacy_name[] = "flink-conf.yaml";
static const char standard_name[] = "config.yaml";

/* ---- the map ---- */

void flink_conf_set_from(struct flink_conf *conf, const char *key, const char *value,
			 const char *overlay)
{
	struct flink_conf_entry *entry = NULL;

	for (size_t i = 0; i < conf->count && !entry; i++)
		if (strcmp(conf->entries[i].key, key) == 0)
			entry = &conf->entries[i];
	if (!entry) {
		conf->entries =
			xreallocarray(conf->entries, conf->count + 1, sizeof(*conf->entries));
		entry = &conf->entries[conf->count++];
		*entry = (struct flink_conf_entry){xstrdup(key), NULL, NULL};
	}
	xstrset(&entry->value, value);
	entry->overlay = overlay;
}

void flink_conf_set(struct flink_conf *conf, const char *key, const char *value)
{
	flink_conf_set_from(conf, key, value, NULL);
}

const struct flink_conf_entry *flink_conf_find(const struct flink_conf *conf, const char *key)
{
	for (size_t i = 0; i < conf->count; i++)
		if (strcmp(conf->entries[i].key, key) == 0)
			return &conf->entries[i];
	return NULL;
}

const char *flink_conf_get(const struct flink_conf *conf, const char *key)
{
	const struct flink_conf_entry *entry = flink_conf_find(conf, key);

	return entry ? entry->value : NULL;
}

void flink_conf_release(struct flink_conf *conf)
{
	if (!conf)
		return;
	for (size_t i = 0; i < conf->count; i++) {
		free(conf->entries[i].key);
		free(conf->entries[i].value);
	}
	free(conf->entries);
	free(conf->file);
	*conf = (struct flink_conf){0};
}

/* ---- formats ---- */

/* Trim white space at both ends, in place. */
static char *trim(char *text)
{
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	return text;
}

/* As Flink's legacy reader does: cut at '#', split at the first ": ", ignore lines without a key or
 * a value. */
static void add_line(struct flink_conf *conf, char *line)
{
	char *colon, *key, *value;

	line[strcspn(line, "#")] = '\0';
	line = trim(line);
	colon = strstr(line, ": ");
	if (!colon)
		return;
	*colon = '\0';
	key = trim(line);
	value = trim(colon + 2);
	if (*key && *value)
		flink_conf_set(conf, key, value);
}

void flink_conf_add_lines(struct flink_conf *conf, const char *text, size_t len_bytes)
{
	const char *end = text + len_bytes;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((newline ? newline : end) - text);
		cleanup_free char *line = xstrndup(text, len);

		add_line(conf, line);
		text += len + 1;
	}
}

static void flatten(struct flink_conf *conf, const struct yaml_node *node, const char *prefix);

/* readers of text see ["a", "b"] as "[a, b]" */
static void add_list(struct flink_conf *conf, const struct yaml_node *list, const char *key)
{
	cleanup_buf struct buf buf = BUF_INIT;
	const struct yaml_node *node;

	yaml_each(node, list)
	{
		cleanup_free char *text = NULL;

		if (node->kind != YAML_SCALAR)
			return; /* a list of maps: drey reads none of them */
		text = conf_scalar_text(node);
		buf_addf(&buf, "%s%s", buf.len_bytes ? ", " : "[", text);
	}
	buf_addstr(&buf, buf.len_bytes ? "]" : "[]");
	flink_conf_set(conf, key, buf_str(&buf));
}

static void flatten(struct flink_conf *conf, const struct yaml_node *node, const char *prefix)
{
	const struct yaml_node *child;

	yaml_each(child, node)
	{
		cleanup_free char *key =
			*prefix ? xasprintf("%s.%s", prefix, child->key) : xstrdup(child->key);
		cleanup_free char *text = NULL;

		if (child->kind == YAML_MAPPING) {
			flatten(conf, child, key);
		} else if (child->kind == YAML_SEQUENCE) {
			add_list(conf, child, key);
		} else if (!yaml_is_null(child)) {
			text = conf_scalar_text(child);
			flink_conf_set(conf, key, text);
		}
	}
}

int flink_conf_add_yaml(struct flink_conf *conf, const char *text, size_t len_bytes,
			struct err *err)
{
	cleanup_yaml struct yaml_node *root =
		yaml_parse(text, len_bytes, FLINK_CONF_MAX_BYTES, err);

	if (!root || yaml_want(root, YAML_MAPPING, err) < 0)
		return -1;
	flatten(conf, root, "");
	return 0;
}

/* ---- files ---- */

/* Read one of the two files. 1: read, 0: not found, -1: *err. */
static int read_file(const char *dir, const char *name, struct buf *buf, char **ret_path,
		     struct err *err)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name);
	struct err local = {0};

	if (fs_read(path, FLINK_CONF_MAX_BYTES, buf, &local) < 0) {
		if (local.kind == ERR_ABSENT)
			return 0;
		return err_pass(err, &local);
	}
	*ret_path = path;
	path = NULL;
	return 1;
}

/* Which of the two Flink reads. ERR_CONFIG if only its version could tell. */
static int choose_file(const char *dir, struct flink_version version, bool legacy_there,
		       bool standard_there, bool *ret_legacy, struct err *err)
{
	bool legacy_read = !flink_version_at_least(version, 2, 0);
	bool standard_read =
		!flink_version_known(version) || flink_version_at_least(version, 1, 19);

	if (legacy_there && standard_there && !flink_version_known(version))
		return err_set(
			err, ERR_CONFIG, 0,
			"%s has %s and %s: which one Flink reads depends on its version, which is unknown",
			dir, legacy_name, standard_name);
	if (legacy_there && legacy_read) {
		*ret_legacy = true;
		return 0;
	}
	if (standard_there && standard_read) {
		*ret_legacy = false;
		return 0;
	}
	return err_set(err, ERR_ABSENT, 0, "no %s in %s",
		       standard_read ? standard_name : legacy_name, dir);
}

int flink_conf_load(const char *dir, struct flink_version version, struct flink_conf *ret_conf,
		    struct err *err)
{
	cleanup_buf struct buf legacy = BUF_INIT, standard = BUF_INIT;
	cleanup_free char *legacy_path = NULL, *standard_path = NULL;
	struct flink_conf conf = {0};
	bool use_legacy = false;

	int has_legacy = read_file(dir, legacy_name, &legacy, &legacy_path, err);
	int has_standard =
		has_legacy < 0 ? -1 : read_file(dir, standard_name, &standard, &standard_path, err);

	if (has_legacy < 0 || has_standard < 0 ||
	    choose_file(dir, version, has_legacy, has_standard, &use_legacy, err) < 0)
		return err_wrap(err, "read Flink's configuration");
	if (use_legacy) {
		flink_conf_add_lines(&conf, buf_str(&legacy), legacy.len_bytes);
	} else if (flink_conf_add_yaml(&conf, buf_str(&standard), standard.len_bytes, err) < 0) {
		flink_conf_release(&conf);
		return err_wrap(err, "%s", standard_path);
	}
	conf.file = use_legacy ? legacy_path : standard_path;
	*(use_legacy ? &legacy_path : &standard_path) = NULL;
	*ret_conf = conf;
	return 0;
}
