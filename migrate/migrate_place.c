/*
 * What decides where a Pod may run and which image it may pull. In the chart these are values of their own, and not part of a
 * podTemplate, because its Jobs (the check before an upgrade, savepoints, uninstall, tests) inherit them: a Job without
 * the pull secret cannot start, and an upgrade waits for it.
 */
#include "base/mem.h"
#include "migrate/migrate_internal.h"

struct move {
	const char *member;
	const char *to[PART_COUNT];
};

static const struct move moves[] = {
	{"nodeSelector", {"jobManager.nodeSelector", "taskManager.nodeSelector"}},
	{"tolerations", {"jobManager.tolerations", "taskManager.tolerations"}},
	{"priorityClassName", {"jobManager.priorityClassName", "taskManager.priorityClassName"}},
};

/* Of the template of the part that has it, which counts more, or of both. */
static void note_moved(struct migrator *m, enum migrate_part part, const char *member,
		       const char *to)
{
	static const char *const own[] = {"jobManager.podTemplate.spec",
					  "taskManager.podTemplate.spec"};
	bool is_own = json_get(json_get(m->parts[part].pod_template, "spec"), member);
	char spec[MIGRATE_PATH_BYTES], path[MIGRATE_PATH_BYTES];

	migrate_join(spec, m->spec_path, is_own ? own[part] : "podTemplate.spec");
	migrate_join(path, spec, member);
	migrate_note(m, MIGRATE_MAPPED, path, to, "%s",
		     part == PART_JOBMANAGER ? "the Jobs of the chart have it as well" : "");
}

static void move_values(struct migrator *m, enum migrate_part part, struct json *spec)
{
	for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
		const struct json *value = json_get(spec, moves[i].member);

		if (json_kind(value) == JSON_NULL)
			continue;
		note_moved(m, part, moves[i].member, moves[i].to[part]);
		migrate_put(m, moves[i].to[part], json_copy(value));
		json_remove(spec, moves[i].member);
	}
}

/* ---- pull secrets ---- */

static bool has_name(const struct json *names, const char *name)
{
	const struct json *each;

	json_each (each, names)
		if (xstris(json_text(each), name))
			return true;
	return false;
}

/* Those of the JobManager are for all Pods, beside those of Flink's configuration; of the TaskManager those that are there already. */
static void move_secrets(struct migrator *m, enum migrate_part part, struct json *spec)
{
	const struct json *all = json_get(migrate_section(m, "image"), "pullSecrets"), *item;
	const struct json *list = json_get(spec, "imagePullSecrets");
	struct json *names, *rest;
	bool moved = false;

	/* what is no list stays where it is: the chart refuses it by its path */
	if (json_kind(list) != JSON_ARRAY)
		return;
	names = all ? json_copy(all) : json_array();
	rest = json_array();
	json_each (item, list) {
		const char *name = json_str(item, "name");

		if (!name || (part != PART_JOBMANAGER && !has_name(names, name))) {
			json_add(rest, NULL, json_copy(item));
			continue;
		}
		moved = true;
		if (!has_name(names, name))
			json_add_str(names, NULL, name);
	}
	json_remove(spec, "imagePullSecrets");
	if (json_len(rest))
		json_add(spec, "imagePullSecrets", rest);
	else
		json_free(rest);
	if (!moved || part != PART_JOBMANAGER) {
		json_free(names);
		return;
	}
	note_moved(m, part, "imagePullSecrets", "image.pullSecrets");
	migrate_put(m, "image.pullSecrets", names);
}

/* ---- affinity ---- */

/* The Jobs do not inherit it, because it may say what is true of a JobManager only. The nodes hold for them as well. */
static void share_node_affinity(struct migrator *m, const struct json *spec)
{
	const struct json *nodes = json_get(json_get(spec, "affinity"), "nodeAffinity");
	struct json *template;

	if (json_kind(nodes) == JSON_NULL)
		return;
	template = json_object();
	json_add(json_add_object(json_add_object(template, "spec"), "affinity"), "nodeAffinity",
		 json_copy(nodes));
	note_moved(m, PART_JOBMANAGER, "affinity", "jobManager.podTemplate, jobs.podTemplate");
	migrate_put(m, "jobs.podTemplate", template);
}

void migrate_place(struct migrator *m, enum migrate_part part, struct json *template)
{
	struct json *spec = json_copy(json_get(template, "spec"));

	json_remove(template, "spec");
	move_values(m, part, spec);
	move_secrets(m, part, spec);
	if (part == PART_JOBMANAGER)
		share_node_affinity(m, spec);
	if (json_len(spec))
		json_add(template, "spec", spec);
	else
		json_free(spec);
}
