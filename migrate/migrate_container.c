/*
 * Containers of the operator's Pod templates. The main one becomes that of the chart, which refuses
 * what drey needs as it is (chart/flink-application/templates/_pod.tpl): it is left out here.
 */
#include <string.h>

#include "base/mem.h"
#include "migrate/migrate_internal.h"

static const char *const own_names[] = {"jobmanager", "taskmanager"};

static const struct migrate_rule container_rules[] = {
	{"name", NULL},
	{"command", "drey needs it as it is"},
	{"args", "drey needs it as it is"},
	{"livenessProbe", "the chart has its own probes"},
	{"readinessProbe", "the chart has its own probes"},
	{"startupProbe", "the chart has its own probes"},
	{"lifecycle", "drey needs it as it is; it has hooks of its own"},
	{"restartPolicy", "the chart sets it"},
	{"terminationMessagePath", "drey writes it"},
	{"image", "set image, from which drey knows an upgrade"},
	{"imagePullPolicy", "set image.pullPolicy"},
	{NULL, NULL},
};

void migrate_note_pass(struct migrate_pass *pass, enum migrate_outcome outcome, const char *path,
		       const char *to, const char *why)
{
	if (!pass->silent)
		migrate_note(pass->m, outcome, path, to, "%s", why);
}

const struct migrate_rule *migrate_find_rule(const struct migrate_rule *rules, const char *name)
{
	for (; rules->name; rules++)
		if (!strcmp(rules->name, name))
			return rules;
	return NULL;
}

static bool is_in(const char *const *words, const char *word)
{
	for (; *words; words++)
		if (!strcmp(*words, word))
			return true;
	return false;
}

/* A volume that the chart has already gets another name, everywhere. */
static bool is_taken_volume(const char *name)
{
	static const char *const taken[] = {"drey", "flink", "control", "run",   "log",
					    "tmp",  "state", "check",   "local", NULL};

	return is_in(taken, name);
}

char *migrate_volume_name(const struct migrator *m, const char *name)
{
	if (m->claim_volume && !strcmp(name, m->claim_volume))
		return xstrdup("state");
	return is_taken_volume(name) ? xasprintf("job-%s", name) : xstrdup(name);
}

bool migrate_is_below(const char *path, const char *directory)
{
	size_t len = strlen(directory);

	while (len > 1 && directory[len - 1] == '/')
		len--;
	return !strncmp(path, directory, len) && (!path[len] || path[len] == '/');
}

/* Why the main container cannot have a mount at this path; NULL if it can. */
static const char *why_no_mount(const char *path)
{
	static const char *const logs[] = {"/opt/flink/log", "/opt/flink/log/", NULL};
	static const char *const exact[] = {"/opt/flink/conf",
					    "/opt/flink/conf/",
					    "/tmp",
					    "/tmp/",
					    "/opt/flink/conf/config.yaml",
					    NULL};
	static const char *const own[] = {"/etc/drey", "/etc/drey-control", "/var/lib/drey", NULL};

	if (is_in(logs, path))
		return "the chart mounts its volume log there: let a sidecar mount that";
	if (is_in(exact, path))
		return "the chart mounts a volume of its own there";
	for (size_t i = 0; own[i]; i++)
		if (migrate_is_below(path, own[i]))
			return "drey has its files there";
	return NULL;
}

static const char *why_no_variable(const char *name)
{
	static const char *const taken[] = {
		"POD_NAME",   "POD_NAMESPACE",  "POD_UID",           "POD_IP",
		"NODE_NAME",  "DREY_CHECKSUM",  "POD_TEMPLATE_HASH", "DREY_GRACE_SECONDS",
		"FLINK_HOME", "FLINK_CONF_DIR", "FLINK_LOG_DIR",     "FLINK_PID_DIR",
		NULL};

	return is_in(taken, name) ? "the chart sets it" : NULL;
}

static const char *why_no_port(const struct json *port)
{
	static const int64_t numbers[] = {6121, 6122, 6123, 6124, 6125, 8081, 8085, 9249};
	static const char *const names[] = {"rpc",  "blob",    "rest",  "drey",
					    "data", "metrics", "query", NULL};
	int64_t number = json_i64_or(port, "containerPort", 0);

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (numbers[i] == number)
			return "the chart has this port";
	return json_str(port, "name") && is_in(names, json_str(port, "name"))
		       ? "the chart has a port of this name"
		       : NULL;
}

/* ---- containers ---- */

/* Of the main container: why this item of one of its lists is left out; NULL if it stays. */
static const char *why_no_item(const struct migrate_pass *pass, const char *list,
			       const struct json *item)
{
	const char *volume = json_str(item, "name");

	if (!strcmp(list, "env"))
		return volume ? why_no_variable(volume) : "it has no name";
	if (!strcmp(list, "ports"))
		return why_no_port(item);
	if (!json_str(item, "mountPath") || !volume)
		return "it has no name or no mountPath";
	if (pass->m->claim_volume && !strcmp(volume, pass->m->claim_volume))
		return "the volume is persistentVolumeClaim";
	return why_no_mount(json_str(item, "mountPath"));
}

static void copy_item(const struct migrate_pass *pass, const char *list, const struct json *item,
		      struct json *to)
{
	const struct json *child;
	struct json *copy = json_object();

	json_each (child, item) {
		cleanup_free char *name = NULL;

		if (strcmp(list, "volumeMounts") != 0 || strcmp(json_name(child), "name") != 0 ||
		    !json_text(child)) {
			json_add(copy, json_name(child), json_copy(child));
			continue;
		}
		name = migrate_volume_name(pass->m, json_text(child));
		json_add_str(copy, "name", name);
	}
	json_add(to, NULL, copy);
}

/* env, ports, volumeMounts. `main`: with what the chart does not take left out. */
static int convert_items(struct migrate_pass *pass, const struct json *value, const char *path,
			 bool is_main, struct json *to)
{
	const struct json *item;
	struct json *list = json_array();
	int number = 0;

	json_each (item, value) {
		char at[MIGRATE_PATH_BYTES];
		const char *why;

		snprintf(at, sizeof(at), "%.400s[%d]", path, number++);
		if (migrate_want(pass->m, item, JSON_OBJECT, at)) {
			json_free(list);
			return -1;
		}
		why = is_main ? why_no_item(pass, json_name(value), item) : NULL;
		if (why)
			migrate_note_pass(
				pass, strstr(why, "sidecar") ? MIGRATE_DECIDE : MIGRATE_NOT_NEEDED,
				at, NULL, why);
		else
			copy_item(pass, json_name(value), item, list);
	}
	if (json_len(list))
		json_add(to, json_name(value), list);
	else
		json_free(list);
	return 0;
}

/* CPU and memory of the main container are those of Flink. */
static int convert_resources(struct migrate_pass *pass, const struct json *value, const char *path,
			     struct json *to)
{
	struct json *copy = json_object();
	const struct json *kind, *child;

	json_each (kind, value) {
		char outer[MIGRATE_PATH_BYTES];
		struct json *map;

		migrate_join(outer, path, json_name(kind));
		if (json_kind(kind) != JSON_OBJECT) {
			json_add(copy, json_name(kind), json_copy(kind));
			continue;
		}
		map = json_object();
		json_each (child, kind) {
			char at[MIGRATE_PATH_BYTES];

			if (strcmp(json_name(child), "cpu") != 0 &&
			    strcmp(json_name(child), "memory") != 0) {
				json_add(map, json_name(child), json_copy(child));
				continue;
			}
			migrate_join(at, outer, json_name(child));
			migrate_note_pass(
				pass, MIGRATE_NOT_NEEDED, at, NULL,
				"the operator replaces it by those of jobManager or taskManager");
		}
		if (json_len(map))
			json_add(copy, json_name(kind), map);
		else
			json_free(map);
	}
	if (json_len(copy))
		json_add(to, "resources", copy);
	else
		json_free(copy);
	return 0;
}

static int convert_main(struct migrate_pass *pass, const struct json *container, const char *path,
			struct json *to)
{
	static const char *const lists[] = {"env", "ports", "volumeMounts", NULL};
	const struct json *child;

	json_add_str(to, "name", own_names[pass->part]);
	json_each (child, container) {
		const struct migrate_rule *rule =
			migrate_find_rule(container_rules, json_name(child));
		char at[MIGRATE_PATH_BYTES];
		int result = 0;

		migrate_join(at, path, json_name(child));
		if (json_kind(child) == JSON_NULL || (rule && !rule->why))
			continue;
		if (rule || json_name(child)[0] == '$')
			migrate_note_pass(
				pass, MIGRATE_NO_COUNTERPART, at, NULL,
				rule ? rule->why
				     : "a directive of a patch, which the chart does not take");
		else if (is_in(lists, json_name(child)))
			result = migrate_want(pass->m, child, JSON_ARRAY, at) ||
				 convert_items(pass, child, at, true, to);
		else if (!strcmp(json_name(child), "resources"))
			result = migrate_want(pass->m, child, JSON_OBJECT, at) ||
				 convert_resources(pass, child, at, to);
		else
			json_add(to, json_name(child), json_copy(child));
		if (result)
			return -1;
	}
	return 0;
}

static int convert_other(struct migrate_pass *pass, const struct json *container, const char *path,
			 struct json *to)
{
	const struct json *child;

	json_each (child, container) {
		char at[MIGRATE_PATH_BYTES];

		migrate_join(at, path, json_name(child));
		if (json_kind(child) == JSON_NULL)
			continue;
		if (strcmp(json_name(child), "volumeMounts") != 0) {
			json_add(to, json_name(child), json_copy(child));
			continue;
		}
		if (migrate_want(pass->m, child, JSON_ARRAY, at) ||
		    convert_items(pass, child, at, false, to))
			return -1;
	}
	return 0;
}

/* Containers of the chart, which a sidecar cannot be called. */
static const char *why_no_container(const struct json *container)
{
	static const char *const taken[] = {"jobmanager", "taskmanager", "directories", NULL};

	if (is_in(taken, json_str(container, "name")))
		return "the chart has a container of this name; choose another one";
	return json_str(container, "image") ? NULL : "it has no image";
}

int migrate_container(struct migrate_pass *pass, const struct json *container, const char *path,
		      bool is_init, struct json *list)
{
	const char *name = json_str(container, "name");
	bool is_main = !is_init && xstris(name, MIGRATE_MAIN_CONTAINER);
	const char *why;
	struct json *to;
	int result;

	if (migrate_want(pass->m, container, JSON_OBJECT, path))
		return -1;
	if (!name)
		return err_set(pass->m->err, ERR_CONFIG, 0, "%s: it has no name", path);
	why = is_main ? NULL : why_no_container(container);
	if (why) {
		migrate_note_pass(pass, MIGRATE_NO_COUNTERPART, path, NULL, why);
		return 0;
	}
	to = json_object();
	result = is_main ? convert_main(pass, container, path, to)
			 : convert_other(pass, container, path, to);
	/* of a main container without more than its name nothing is to be merged */
	if (!result && json_len(to) > 1)
		json_add(list, NULL, to);
	else
		json_free(to);
	return result;
}
