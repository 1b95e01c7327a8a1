#include "migrate/migrate.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "migrate/migrate_internal.h"

#define API_VERSION "flink.apache.org/v1beta1"

const char *migrate_outcome_name(enum migrate_outcome outcome)
{
	static const char *const names[] = {"decide", "mapped", "no-counterpart", "not-needed"};

	return (size_t)outcome < ARRAY_LEN(names) ? names[outcome] : "unknown";
}

void migration_release(struct migration *migration)
{
	for (size_t i = 0; i < migration->entry_count; i++) {
		free(migration->entries[i].path);
		free(migration->entries[i].to);
		free(migration->entries[i].text);
	}
	free(migration->entries);
	free(migration->kind);
	free(migration->name);
	free(migration->namespace);
	json_free(migration->values);
	*migration = (struct migration){0};
}

/* ---- one object ---- */

/* migrate_name() has the entry. */
static int skip_name(struct migrator *m, const struct json *value,
		     const struct migrate_field *field, const char *path)
{
	(void)m, (void)value, (void)field, (void)path;
	return 0;
}

static const struct migrate_field object_fields[] = {
	{"apiVersion", MIGRATE_NOT_NEEDED, NULL, "of the operator", NULL},
	{"kind", MIGRATE_NOT_NEEDED, NULL, "of the operator", NULL},
	{"metadata.name", MIGRATE_MAPPED, "application", NULL, skip_name},
	{"metadata.namespace", MIGRATE_NOT_NEEDED, NULL, "give it to helm: --namespace", NULL},
	{"metadata.labels", MIGRATE_MAPPED, "commonLabels", NULL, migrate_copy_labels},
	{"metadata.annotations", MIGRATE_MAPPED, "commonAnnotations", NULL,
	 migrate_copy_annotations},
	{"metadata.*", MIGRATE_NOT_NEEDED, NULL, "of the object in the cluster", NULL},
	{"status", MIGRATE_NOT_NEEDED, NULL,
	 "of the object in the cluster; after a suspension jobStatus.upgradeSavepointPath is the savepoint to "
	 "start from",
	 NULL},
	{NULL, MIGRATE_MAPPED, NULL, NULL, NULL},
};

static const struct migrate_field bluegreen_fields[] = {
	{"ingress", MIGRATE_MAPPED, "ingress", NULL, migrate_ingress},
	{"configuration", MIGRATE_NOT_NEEDED, "upgrade.strategy",
	 "of a blue/green deployment; surge has settings of its own", NULL},
	{"template.metadata", MIGRATE_NOT_NEEDED, NULL, "the metadata of the object are taken",
	 NULL},
	{NULL, MIGRATE_MAPPED, NULL, NULL, NULL},
};

static bool is_bluegreen(const struct json *object)
{
	return xstris(json_str(object, "kind"), "FlinkBlueGreenDeployment");
}

static const struct json *spec_of(const struct json *object)
{
	const struct json *spec = json_get(object, "spec");

	return is_bluegreen(object) ? json_get(json_get(spec, "template"), "spec") : spec;
}

static void find_resources(struct migrator *m, const struct json *spec)
{
	static const char *const names[] = {"jobManager", "taskManager"};

	for (int i = 0; i < PART_COUNT; i++) {
		const struct json *resources = json_get(json_get(spec, names[i]), "resources");

		m->parts[i].has_resources = json_len(json_get(resources, "requests")) ||
					    json_len(json_get(resources, "limits"));
	}
}

/* The members of `spec` beside the template of a blue/green deployment. */
static int walk_bluegreen(struct migrator *m, const struct json *spec)
{
	cleanup_json struct json *rest = json_object();
	cleanup_json struct json *template = json_object();
	const struct json *child;

	json_each (child, json_get(spec, "template"))
		if (strcmp(json_name(child), "spec") != 0)
			json_add(template, json_name(child), json_copy(child));
	json_each (child, spec)
		if (strcmp(json_name(child), "template") != 0)
			json_add(rest, json_name(child), json_copy(child));
	json_add(rest, "template", json_copy(template));
	migrate_note(
		m, MIGRATE_DECIDE, "kind", "upgrade.strategy",
		"for an upgrade with two versions side by side set surge: docs/tasks/chart.md");
	return migrate_walk(m, bluegreen_fields, rest, "spec", "");
}

static int walk_object(struct migrator *m, const struct json *object)
{
	const struct json *child;

	json_each (child, object) {
		cleanup_json struct json *one = NULL;
		int result;

		if (!strcmp(json_name(child), "spec")) {
			find_resources(m, spec_of(object));
			result = is_bluegreen(object) ? walk_bluegreen(m, child) : 0;
			if (!result)
				result = migrate_walk(m, migrate_spec_fields, spec_of(object),
						      m->spec_path, "");
		} else {
			one = json_object();
			json_add(one, json_name(child), json_copy(child));
			result = migrate_walk(m, object_fields, one, "", "");
		}
		if (result)
			return result;
	}
	return 0;
}

/* What some reader of YAML takes for the end of a line, or does not take: C1, U+2028, U+2029, U+FEFF. */
static bool has_odd_character(const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; at && *at; at++)
		if ((at[0] == 0xC2 && at[1] < 0xA0) ||
		    (at[0] == 0xE2 && at[1] == 0x80 && (at[2] == 0xA8 || at[2] == 0xA9)) ||
		    (at[0] == 0xEF &&
		     ((at[1] == 0xBB && at[2] == 0xBF) || (at[1] == 0xBF && at[2] >= 0xBE))))
			return true;
	return false;
}

/* Helm could not render such a value. */
static int check_texts(struct migrator *m, const struct json *node, const char *path)
{
	const struct json *child;

	if (has_odd_character(json_text(node)) || has_odd_character(json_name(node)))
		return err_set(
			m->err, ERR_CONFIG, 0,
			"%s: has a character that ends a line in YAML, or is not printable; remove it",
			path);
	json_each (child, node) {
		char at[MIGRATE_PATH_BYTES];

		migrate_join(at, path, json_name(child) ? json_name(child) : "[]");
		if (check_texts(m, child, at))
			return -1;
	}
	return 0;
}

/* ---- which object ---- */

static const char *object_name(const struct json *object)
{
	const char *name = json_str(json_get(object, "metadata"), "name");

	return name ? name : "";
}

static const char *namespace_of(const struct json *object)
{
	return json_str(json_get(object, "metadata"), "namespace");
}

static bool is_deployment(const struct json *object)
{
	return xstris(json_str(object, "kind"), "FlinkDeployment") || is_bluegreen(object);
}

static bool is_application(const struct json *object)
{
	return is_deployment(object) && json_kind(json_get(spec_of(object), "job")) != JSON_NULL;
}

static bool is_chosen(const struct json *object, const struct migrate_wish *wish)
{
	const char *slash = wish->name ? strchr(wish->name, '/') : NULL;
	const char *namespace = namespace_of(object);

	if (!wish->name)
		return is_application(object);
	if (!is_deployment(object) ||
	    strcmp(slash ? slash + 1 : wish->name, object_name(object)) != 0)
		return false;
	return !slash || (namespace && strlen(namespace) == (size_t)(slash - wish->name) &&
			  !strncmp(namespace, wish->name, strlen(namespace)));
}

/* "NAMESPACE/NAME, NAME" of all that are chosen. */
static int refuse_several(const struct json *objects, const struct migrate_wish *wish,
			  struct err *err)
{
	cleanup_buf struct buf names = BUF_INIT;
	const struct json *object;

	json_each (object, objects) {
		if (!is_chosen(object, wish))
			continue;
		buf_addf(&names, "%s%s%s%s", names.len_bytes ? ", " : "",
			 namespace_of(object) ? namespace_of(object) : "",
			 namespace_of(object) ? "/" : "", object_name(object));
	}
	return err_set(err, ERR_CONFIG, 0, "several have a job: %.300s; choose one by --name",
		       buf_str(&names));
}

static int refuse_none(const struct json *objects, const struct migrate_wish *wish, struct err *err)
{
	const struct json *object, *session = NULL;
	cleanup_buf struct buf kinds = BUF_INIT;

	json_each (object, objects) {
		const char *kind = json_str(object, "kind");

		if (is_deployment(object) || xstris(kind, "FlinkSessionJob"))
			session = session && is_deployment(session) ? session : object;
		buf_addf(&kinds, "%s%s", kinds.len_bytes ? ", " : "", kind);
	}
	if (wish->name)
		return err_set(err, ERR_CONFIG, 0, "there is no FlinkDeployment %.120s in it",
			       wish->name);
	if (session && !spec_of(session))
		return err_set(err, ERR_CONFIG, 0, "%.120s: spec is missing", object_name(session));
	if (session)
		return err_set(
			err, ERR_CONFIG, 0,
			"%.120s: %s of a session cluster; drey runs one application for each job, so "
			"put the job into an image of its own: docs/tasks/migration.md",
			object_name(session),
			is_deployment(session) ? "spec.job is missing, it is" : "a job");
	if (!kinds.len_bytes)
		return err_set(err, ERR_CONFIG, 0, "there is no object of Kubernetes in it");
	return err_set(err, ERR_CONFIG, 0, "there is no FlinkDeployment in it, only %.200s",
		       buf_str(&kinds));
}

static int choose(const struct json *objects, const struct migrate_wish *wish,
		  const struct json **ret_object, struct err *err)
{
	const struct json *object, *chosen = NULL;

	json_each (object, objects) {
		if (!is_chosen(object, wish))
			continue;
		if (chosen)
			return refuse_several(objects, wish, err);
		chosen = object;
	}
	if (!chosen || !is_application(chosen))
		return refuse_none(objects,
				   &(struct migrate_wish){.name = chosen ? NULL : wish->name}, err);
	if (!xstris(json_str(chosen, "apiVersion"), API_VERSION))
		return err_set(err, ERR_CONFIG, 0, "%.120s: apiVersion must be " API_VERSION,
			       object_name(chosen));
	if (!*object_name(chosen))
		return err_set(err, ERR_CONFIG, 0, "metadata.name is missing");
	*ret_object = chosen;
	return 0;
}

/* ---- the others ---- */

static void note_other(struct migrator *m, const struct json *object)
{
	const char *kind = json_str(object, "kind");
	cleanup_free char *path = xasprintf("%s/%s", kind, object_name(object));
	enum migrate_outcome outcome = MIGRATE_NOT_NEEDED;
	const char *text = "not of the operator: it stays as it is";

	if (is_application(object)) {
		text = "another application: choose it by --name";
	} else if (is_deployment(object) || !strcmp(kind, "FlinkSessionJob")) {
		outcome = MIGRATE_NO_COUNTERPART;
		text = "of a session cluster; drey runs one application for each job";
	} else if (!strcmp(kind, "FlinkStateSnapshot")) {
		outcome = MIGRATE_NO_COUNTERPART;
		text = "`drey savepoint` and control.savepointNonce take savepoints; one that exists is for "
		       "drey.restore.initialSavepoint";
	} else if (!strcmp(kind, "HorizontalPodAutoscaler")) {
		outcome = MIGRATE_DECIDE;
		text = "let it scale the Deployment APPLICATION-taskmanager, with taskManager.replicas: null: "
		       "docs/tasks/elasticity.md";
	}
	migrate_note(m, outcome, path, NULL, "%s", text);
}

/* All objects of all documents, without empty ones; NULL on failure. The caller frees. */
static struct json *collect_objects(const struct json *documents, struct err *err)
{
	struct json *objects = json_array();
	const struct json *document, *item;
	int number = 0;

	json_each (document, documents) {
		const struct json *items = json_get(document, "items");

		number++;
		if (json_kind(document) == JSON_NULL)
			continue;
		if (json_kind(document) != JSON_OBJECT || !json_str(document, "kind")) {
			err_set(err, ERR_CONFIG, 0,
				"document %d: not an object of Kubernetes: it has no kind", number);
			json_free(objects);
			return NULL;
		}
		if (strcmp(json_str(document, "kind"), "List") != 0) {
			json_add(objects, NULL, json_copy(document));
			continue;
		}
		json_each (item, items)
			if (json_str(item, "kind"))
				json_add(objects, NULL, json_copy(item));
	}
	return objects;
}

int migrate(const struct json *documents, const struct migrate_wish *wish,
	    struct migration *ret_migration, struct err *err)
{
	struct migration out = {0};
	struct migrator m = {.out = &out, .wish = wish, .err = err};
	cleanup_json struct json *objects = collect_objects(documents, err);
	const struct json *chosen = NULL, *object;
	int result = objects ? choose(objects, wish, &chosen, err) : -1;

	if (result)
		return -1;
	out.kind = xstrdup(json_str(chosen, "kind"));
	out.name = xstrdup(object_name(chosen));
	out.namespace = xstrdup(namespace_of(chosen));
	m.spec_path = is_bluegreen(chosen) ? "spec.template.spec" : "spec";
	m.flat = json_object();
	migrate_name(&m);
	result = check_texts(&m, chosen, "");
	if (!result)
		result = walk_object(&m, chosen);
	if (!result)
		result = migrate_finish(&m);
	json_each (object, objects)
		if (!result && object != chosen)
			note_other(&m, object);
	migrate_assemble(&m);
	json_free(m.flat);
	if (result)
		migration_release(&out);
	else
		*ret_migration = out;
	return result;
}
