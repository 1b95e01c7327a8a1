/* The ingress of the operator, which is one template, as host and path. */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "migrate/migrate_internal.h"

/* The template with its two variables; NULL if one is unknown. The caller frees. */
static char *expand(const struct migrator *m, const char *template)
{
	cleanup_buf struct buf text = BUF_INIT;

	while (*template) {
		const char *application = json_str(m->sections[0], "application");

		if (!strncmp(template, "{{name}}", 8)) {
			buf_addstr(&text, application ? application : m->out->name);
			template += 8;
		} else if (!strncmp(template, "{{namespace}}", 13)) {
			if (!m->out->namespace)
				return NULL;
			buf_addstr(&text, m->out->namespace);
			template += 13;
		} else {
			buf_addch(&text, *template ++);
		}
	}
	return buf_steal(&text);
}

static bool is_host(const char *text, size_t len)
{
	return len && len <= 253 && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.") >= len &&
	       text[0] != '-' && text[0] != '.' && text[len - 1] != '-' && text[len - 1] != '.';
}

static int map_template(struct migrator *m, const struct json *value,
			const struct migrate_field *field, const char *path)
{
	cleanup_free char *expanded = NULL, *host = NULL;
	const char *text, *slash;

	if (migrate_text(m, value, path, &text))
		return -1;
	if (!*text || strpbrk(text, "()|$*\\ \t\r\n") || *text == '/') {
		migrate_note(
			m, MIGRATE_DECIDE, path, field->to,
			"the chart needs a host, and its path is a prefix, no regular expression: set "
			"ingress.enabled, host and path");
		return 0;
	}
	expanded = expand(m, text);
	slash = expanded ? strchr(expanded, '/') : NULL;
	if (!expanded ||
	    !is_host(expanded, slash ? (size_t)(slash - expanded) : strlen(expanded))) {
		migrate_note(
			m, MIGRATE_DECIDE, path, field->to,
			"the host is not known without the namespace: set ingress.enabled and host");
		return 0;
	}
	host = xstrndup(expanded, slash ? (size_t)(slash - expanded) : strlen(expanded));
	migrate_put_bool(m, "ingress.enabled", true);
	migrate_put_str(m, "ingress.host", host);
	if (slash)
		migrate_put_str(m, "ingress.path", slash);
	return migrate_note_field(m, field, path);
}

/* The chart has one host, and so one Secret. */
static int map_tls(struct migrator *m, const struct json *value, const struct migrate_field *field,
		   const char *path)
{
	const char *name = json_str(json_at(value, 0), "secretName");

	if (migrate_want(m, value, JSON_ARRAY, path))
		return -1;
	if (json_len(value) != 1 || !name || !migrate_is_name(name)) {
		migrate_note(m, MIGRATE_DECIDE, path, field->to,
			     "the chart has one host with one Secret: name it");
		return 0;
	}
	migrate_put_str(m, field->to, name);
	return migrate_note_field(m, field, path);
}

static int map_class_name(struct migrator *m, const struct json *value,
			  const struct migrate_field *field, const char *path)
{
	const char *name;

	if (migrate_text(m, value, path, &name))
		return -1;
	if (*name && !migrate_is_name(name))
		return err_set(m->err, ERR_CONFIG, 0,
			       "%s: '%.80s' is not the name of an IngressClass", path, name);
	migrate_put_str(m, field->to, name);
	return migrate_note_field(m, field, path);
}

const struct migrate_field migrate_ingress_fields[] = {
	{"template", MIGRATE_MAPPED, "ingress.host", "with the new name", map_template},
	{"className", MIGRATE_MAPPED, "ingress.className", NULL, map_class_name},
	{"annotations", MIGRATE_MAPPED, "ingress.annotations", NULL, migrate_copy_annotations},
	{"labels", MIGRATE_NO_COUNTERPART, "commonLabels",
	 "the Ingress has the labels of all objects: set commonLabels", NULL},
	{"tls", MIGRATE_MAPPED, "ingress.tlsSecret", NULL, map_tls},
	{NULL, MIGRATE_MAPPED, NULL, NULL, NULL},
};

int migrate_ingress(struct migrator *m, const struct json *value, const struct migrate_field *field,
		    const char *path)
{
	(void)field;
	return migrate_walk(m, migrate_ingress_fields, value, path, "");
}
