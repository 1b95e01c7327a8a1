/*
 * The operator's Pod templates as those of the chart. That of the spec holds for both parts, and the
 * part's own is merged over it; the chart merges the result over the Pod that it makes.
 */
#include <string.h>

#include "base/mem.h"
#include "migrate/migrate_internal.h"

static const struct migrate_rule pod_rules[] = {
	{"restartPolicy", "the chart sets it"},
	{"activeDeadlineSeconds", "it would end the job"},
	{"serviceAccountName", "the chart makes accounts with fewer rights: set serviceAccount"},
	{"serviceAccount", "the chart makes accounts with fewer rights: set serviceAccount"},
	{"automountServiceAccountToken", "the chart sets it"},
	{"shareProcessNamespace", "drey-init must be process 1 of its container"},
	{"hostPID", "drey-init must be process 1 of its container"},
	{"terminationGracePeriodSeconds",
	 "it is the time for a savepoint: set jobManager.terminationGracePeriodSeconds"},
	{NULL, NULL},
};

static int convert_volume(struct migrate_pass *pass, const struct json *volume, const char *path,
			  struct json *list)
{
	cleanup_free char *renamed = NULL;
	struct json *copy;
	const struct json *child;
	const char *name = json_str(volume, "name");

	if (migrate_want(pass->m, volume, JSON_OBJECT, path))
		return -1;
	if (!name)
		return err_set(pass->m->err, ERR_CONFIG, 0, "%s: it has no name", path);
	if (pass->m->claim_volume && !strcmp(name, pass->m->claim_volume)) {
		migrate_note_pass(pass, MIGRATE_MAPPED, path, "persistentVolumeClaim", "");
		return 0;
	}
	renamed = migrate_volume_name(pass->m, name);
	copy = json_object();
	json_add_str(copy, "name", renamed);
	json_each (child, volume)
		if (strcmp(json_name(child), "name") != 0)
			json_add(copy, json_name(child), json_copy(child));
	json_add(list, NULL, copy);
	return 0;
}

/* The lists of the spec whose items are looked at. */
static int convert_list(struct migrate_pass *pass, const struct json *value, const char *path,
			struct json *to)
{
	bool are_volumes = !strcmp(json_name(value), "volumes");
	bool is_init = !strcmp(json_name(value), "initContainers");
	struct json *list = json_array();
	const struct json *item;
	int number = 0, result = migrate_want(pass->m, value, JSON_ARRAY, path);

	json_each (item, value) {
		char at[MIGRATE_PATH_BYTES];

		snprintf(at, sizeof(at), "%.400s[%d]", path, number++);
		if (!result)
			result = are_volumes ? convert_volume(pass, item, at, list)
					     : migrate_container(pass, item, at, is_init, list);
	}
	if (!result && json_len(list))
		json_add(to, json_name(value), list);
	else
		json_free(list);
	return result;
}

static bool is_list(const char *name)
{
	return !strcmp(name, "containers") || !strcmp(name, "initContainers") ||
	       !strcmp(name, "volumes");
}

static int convert_spec(struct migrate_pass *pass, const struct json *spec, const char *path,
			struct json *to)
{
	const struct json *child;

	if (migrate_want(pass->m, spec, JSON_OBJECT, path))
		return -1;
	json_each (child, spec) {
		const struct migrate_rule *rule = migrate_find_rule(pod_rules, json_name(child));
		char at[MIGRATE_PATH_BYTES];

		migrate_join(at, path, json_name(child));
		if (json_kind(child) == JSON_NULL)
			continue;
		if (is_list(json_name(child))) {
			if (convert_list(pass, child, at, to))
				return -1;
		} else if (rule || json_name(child)[0] == '$') {
			migrate_note_pass(
				pass, MIGRATE_NO_COUNTERPART, at, NULL,
				rule ? rule->why
				     : "a directive of a patch, which the chart does not take");
		} else {
			json_add(to, json_name(child), json_copy(child));
		}
	}
	return 0;
}

static int convert_metadata(struct migrate_pass *pass, const struct json *metadata,
			    const char *path, struct json *to)
{
	size_t before = pass->m->out->entry_count;
	const struct json *child;

	if (migrate_want(pass->m, metadata, JSON_OBJECT, path))
		return -1;
	json_each (child, metadata) {
		bool annotations = !strcmp(json_name(child), "annotations");
		char at[MIGRATE_PATH_BYTES];
		struct json *map;

		migrate_join(at, path, json_name(child));
		if (json_kind(child) == JSON_NULL)
			continue;
		if (!annotations && strcmp(json_name(child), "labels") != 0) {
			migrate_note_pass(pass, MIGRATE_NOT_NEEDED, at, NULL,
					  "Kubernetes names the Pods");
			continue;
		}
		if (migrate_want(pass->m, child, JSON_OBJECT, at))
			return -1;
		map = migrate_labels(pass->m, child, at, annotations);
		if (!map)
			return -1;
		json_add(to, json_name(child), map);
	}
	while (pass->silent && pass->m->out->entry_count > before) {
		struct migrate_entry *last = &pass->m->out->entries[--pass->m->out->entry_count];

		free(last->path);
		free(last->to);
		free(last->text);
	}
	return 0;
}

/* The template as the chart takes it; NULL on failure. The caller frees. */
static struct json *convert_template(struct migrate_pass *pass, const struct json *template,
				     const char *path)
{
	struct json *to = json_object();
	const struct json *child;

	json_each (child, template) {
		char at[MIGRATE_PATH_BYTES];
		struct json *inner;
		int result = 0;

		migrate_join(at, path, json_name(child));
		if (json_kind(child) == JSON_NULL)
			continue;
		if (strcmp(json_name(child), "spec") != 0 &&
		    strcmp(json_name(child), "metadata") != 0) {
			migrate_note_pass(pass, MIGRATE_NOT_NEEDED, at, NULL,
					  "a Pod template has no such field");
			continue;
		}
		inner = json_add_object(to, json_name(child));
		result = *json_name(child) == 's' ? convert_spec(pass, child, at, inner)
						  : convert_metadata(pass, child, at, inner);
		if (!json_len(inner))
			json_remove(to, json_name(child));
		if (result) {
			json_free(to);
			return NULL;
		}
	}
	return to;
}

/* ---- two templates ---- */

/* The key of the items of a list; NULL: a list is replaced as a whole. */
static const char *list_key(const char *name)
{
	static const char *const named[] = {"containers", "initContainers", "env", "volumes",
					    "imagePullSecrets"};

	for (size_t i = 0; name && i < ARRAY_LEN(named); i++)
		if (!strcmp(named[i], name))
			return "name";
	return name && !strcmp(name, "volumeMounts") ? "mountPath" : NULL;
}

static const struct json *find_item(const struct json *list, const char *key,
				    const struct json *like)
{
	const struct json *item;

	json_each (item, list)
		if (xstris(json_str(item, key), json_str(like, key)))
			return item;
	return NULL;
}

static struct json *merge(struct migrator *m, const struct json *base, const struct json *over,
			  const char *path);

static struct json *merge_lists(struct migrator *m, const struct json *base,
				const struct json *over, const char *key, const char *path)
{
	struct json *list = json_array();
	const struct json *item;

	json_each (item, base) {
		const struct json *other = find_item(over, key, item);

		json_add(list, NULL, other ? merge(m, item, other, path) : json_copy(item));
	}
	json_each (item, over)
		if (!find_item(base, key, item))
			json_add(list, NULL, json_copy(item));
	return list;
}

static struct json *merge(struct migrator *m, const struct json *base, const struct json *over,
			  const char *path)
{
	const char *key = list_key(json_name(over));
	const struct json *child;
	struct json *map;

	if (json_kind(base) != json_kind(over) || json_kind(base) < JSON_ARRAY)
		return json_copy(over);
	if (json_kind(base) == JSON_ARRAY && key)
		return merge_lists(m, base, over, key, path);
	if (json_kind(base) == JSON_ARRAY) {
		migrate_note(
			m, MIGRATE_DECIDE, path, NULL,
			"both Pod templates have this list; that of the spec is not in the values");
		return json_copy(over);
	}
	map = json_object();
	json_each (child, base)
		if (!json_get(over, json_name(child)))
			json_add(map, json_name(child), json_copy(child));
	json_each (child, over) {
		const struct json *old = json_get(base, json_name(child));
		char at[MIGRATE_PATH_BYTES];

		migrate_join(at, path, json_name(child));
		json_add(map, json_name(child), old ? merge(m, old, child, at) : json_copy(child));
	}
	return map;
}

/* ---- volumes ---- */

static void look_for_mount(const struct json *template, const char *directory,
			   struct migrate_mount *found)
{
	const struct json *containers = json_get(json_get(template, "spec"), "containers");
	const struct json *container, *mount;

	json_each (container, containers) {
		if (!xstris(json_str(container, "name"), MIGRATE_MAIN_CONTAINER))
			continue;
		json_each (mount, json_get(container, "volumeMounts")) {
			const char *path = json_str(mount, "mountPath");

			if (!path || path[0] != '/' || !path[1] || !json_str(mount, "name") ||
			    json_get(mount, "subPath") || json_get(mount, "subPathExpr") ||
			    !migrate_is_below(directory, path))
				continue;
			found->path = path;
			found->volume = json_str(mount, "name");
		}
	}
}

static const char *claim_of(const struct json *template, const char *volume)
{
	const struct json *volumes = json_get(json_get(template, "spec"), "volumes");
	const struct json *item;

	json_each (item, volumes)
		if (xstris(json_str(item, "name"), volume))
			return json_str(json_get(item, "persistentVolumeClaim"), "claimName");
	return NULL;
}

bool migrate_find_mount(const struct migrator *m, const char *directory,
			struct migrate_mount *ret_mount)
{
	const struct json *own = m->parts[PART_JOBMANAGER].pod_template;
	struct migrate_mount found = {0};

	look_for_mount(m->pod_template, directory, &found);
	look_for_mount(own, directory, &found);
	if (!found.volume)
		return false;
	found.claim = claim_of(own, found.volume);
	if (!found.claim)
		found.claim = claim_of(m->pod_template, found.volume);
	*ret_mount = found;
	return true;
}

/* ---- both parts ---- */

static const char *const part_keys[] = {"jobManager.podTemplate", "taskManager.podTemplate"};

/* The template of one part, of two; NULL on failure. */
static struct json *part_template(struct migrator *m, enum migrate_part part)
{
	struct migrate_pass pass = {m, part, part == PART_TASKMANAGER};
	cleanup_json struct json *base = NULL, *own = NULL;
	char path[MIGRATE_PATH_BYTES];

	migrate_join(path, m->spec_path, "podTemplate");
	base = convert_template(&pass, m->pod_template, path);
	if (!base)
		return NULL;
	pass.silent = false;
	migrate_join(path, m->spec_path, part_keys[part]);
	own = convert_template(&pass, m->parts[part].pod_template, path);
	return own ? merge(m, base, own, path) : NULL;
}

/* The Job that checks an upgrade has a Pod of its own. */
static void note_init_containers(struct migrator *m, const struct json *template, const char *path)
{
	if (json_len(json_get(json_get(template, "spec"), "initContainers")))
		migrate_note(
			m, MIGRATE_DECIDE, path, "jobs.podTemplate",
			"if an init container fetches the job, the check before an upgrade needs it, "
			"too, as in the chart's examples/fetched.yaml; or set drey.check.graph: false");
}

int migrate_pods(struct migrator *m)
{
	char path[MIGRATE_PATH_BYTES];

	migrate_join(path, m->spec_path, "podTemplate");
	note_init_containers(m, m->pod_template, path);
	if (m->pod_template)
		migrate_note(m, MIGRATE_MAPPED, path,
			     "jobManager.podTemplate, taskManager.podTemplate", "%s", "");
	for (int i = 0; i < PART_COUNT; i++) {
		struct json *template = part_template(m, (enum migrate_part)i);

		if (!template)
			return -1;
		migrate_join(path, m->spec_path, part_keys[i]);
		if (i == PART_JOBMANAGER)
			note_init_containers(m, m->parts[i].pod_template, path);
		if (m->parts[i].pod_template)
			migrate_note(m, MIGRATE_MAPPED, path, part_keys[i], "%s", "");
		migrate_place(m, (enum migrate_part)i, template);
		if (json_len(template))
			migrate_put(m, part_keys[i], template);
		else
			json_free(template);
	}
	return 0;
}
