/* What follows from several fields, and what the chart requires although no field says it. */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "migrate/migrate_internal.h"
#include "migrate/migrate_size.h"

#define DREY_MIB       128 /* jobManager.dreyMemoryMiB, which the limit has to have room for */
#define MAX_NAME_BYTES 40
#define SUFFIX         "-drey"

static void note_spec(struct migrator *m, enum migrate_outcome outcome, const char *field,
		      const char *to, const char *text)
{
	char path[MIGRATE_PATH_BYTES];

	migrate_join(path, m->spec_path, field);
	migrate_note(m, outcome, path, to, "%s", text);
}

/* ---- name, image ---- */

void migrate_name(struct migrator *m)
{
	cleanup_free char *name = xasprintf("%s" SUFFIX, m->out->name);

	if (strlen(name) > MAX_NAME_BYTES || *name < 'a' || *name > 'z' ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(name)) {
		migrate_note(
			m, MIGRATE_DECIDE, "metadata.name", "application",
			"set a name of at most %d characters a-z, 0-9 and '-', other than this one",
			MAX_NAME_BYTES);
		return;
	}
	migrate_put_str(m, "application", name);
	migrate_note(m, MIGRATE_MAPPED, "metadata.name", "application",
		     "another name, because both have Services and a cluster-id of their name");
}

static void finish_image(struct migrator *m)
{
	cleanup_free char *image = NULL;

	if (m->has_image)
		return;
	image = xasprintf(MIGRATE_NO_IMAGE "%.40s", m->out->name);
	migrate_put_str(m, "image.repository", image);
	migrate_put_str(m, "image.tag", "unset");
	note_spec(
		m, MIGRATE_DECIDE, "image", "image",
		"not set: name an image that contains the job, drey and drey-init: docs/tasks/image.md");
}

/* ---- sizes ---- */

/* With a number of TaskManagers the operator takes no notice of the job's parallelism. */
static void finish_parallelism(struct migrator *m)
{
	static const char field[] = "job.parallelism";
	int64_t slots = m->slots ? m->slots : 1;
	int64_t parallelism = m->replicas ? m->replicas * slots : m->parallelism;

	if (parallelism < 1 || parallelism > 32768) {
		note_spec(m, MIGRATE_DECIDE, field, field,
			  parallelism < 1 ? "not set: it is 1" : "more than 32768: set it");
		parallelism = 1;
	} else if (m->replicas) {
		note_spec(m, MIGRATE_MAPPED, field, field,
			  "as the operator computes it: taskManager.replicas times the slots");
	} else {
		note_spec(m, MIGRATE_MAPPED, field, "job.parallelism, taskManager.replicas", "");
	}
	migrate_put_i64(m, field, parallelism);
	migrate_put_i64(m, "taskManager.replicas",
			m->replicas ? m->replicas : (parallelism + slots - 1) / slots);
	migrate_put_i64(m, "taskManager.slots", slots);
}

static void finish_part(struct migrator *m, enum migrate_part part)
{
	static const char *const names[] = {"jobManager", "taskManager"};
	const struct migrate_part_facts *facts = &m->parts[part];
	int64_t mib = facts->memory_mib  ? facts->memory_mib
		      : facts->limit_mib ? facts->limit_mib
					 : facts->config_mib;
	int64_t least = mib + (part == PART_JOBMANAGER ? DREY_MIB : 0);
	const char *limit = json_str(migrate_section(m, names[part]), "cpuLimit");
	cleanup_free char *cpu_limit = xstrdup(limit);
	char key[64], text[MIGRATE_TEXT_BYTES];

	if (mib) {
		snprintf(key, sizeof(key), "%s.memoryMiB", names[part]);
		migrate_put_i64(m, key, mib);
	}
	if (mib && facts->limit_mib > least) {
		snprintf(key, sizeof(key), "%s.resources.limits.memory", names[part]);
		snprintf(text, sizeof(text), "%lldMi", (long long)facts->limit_mib);
		migrate_put_str(m, key, text);
	}
	/* Kubernetes takes a limit for the request, too, where there is none */
	snprintf(key, sizeof(key), "%s.cpu", names[part]);
	if (!facts->has_cpu && cpu_limit)
		migrate_put_str(m, key, cpu_limit);
	else if (!facts->has_cpu && facts->config_cpu && migrate_cpu(facts->config_cpu, text))
		migrate_put_str(m, key, text);
}

static void finish_java(struct migrator *m)
{
	cleanup_free char *both = NULL;

	if (!m->java_options)
		return;
	both = m->more_java_options ? xasprintf("%s %s", m->java_options, m->more_java_options)
				    : xstrdup(m->java_options);
	migrate_put_str(m, "flink.javaOptions", both);
}

/* ---- state ---- */

/* The directory that `directory` is in; a bucket is its own. The caller frees. */
static char *parent_of(const char *directory)
{
	cleanup_free char *text = xstrdup(directory);
	size_t len = strlen(text), root = strcspn(strstr(text, "://") + 3, "/");
	char *slash;

	root += (size_t)(strstr(text, "://") + 3 - text);
	while (len > root && text[len - 1] == '/')
		text[--len] = '\0';
	slash = strrchr(text + root, '/');
	if (slash && slash > text + root)
		*slash = '\0';
	else if (slash && root > (size_t)(strstr(text, "://") + 3 - text))
		*slash = '\0';
	return xstrdup(text);
}

static void put_claim(struct migrator *m, const struct migrate_mount *mount)
{
	m->claim_volume = mount->volume;
	migrate_put_bool(m, "persistentVolumeClaim.enabled", true);
	migrate_put_str(m, "persistentVolumeClaim.existing", mount->claim);
	migrate_put_str(m, "persistentVolumeClaim.mountPath", mount->path);
}

/* A directory on a volume: the base of the new one. The caller frees. */
static char *volume_base(struct migrator *m, const char *path)
{
	struct migrate_mount mount;
	cleanup_free char *uri = xasprintf("file://%s", path);

	if (!migrate_find_mount(m, path, &mount)) {
		note_spec(m, MIGRATE_DECIDE, "flinkConfiguration", "persistentVolumeClaim",
			  "no volume of the Pod template has the state: name the claim");
		return parent_of(uri);
	}
	if (mount.claim && migrate_is_name(mount.claim) && migrate_is_path(mount.path))
		put_claim(m, &mount);
	else
		note_spec(
			m, MIGRATE_DECIDE, "podTemplate", "persistentVolumeClaim",
			"the volume with the state is not a claim: use one that all Pods share, or make "
			"the directories checkpoints and savepoints of state.uri on it");
	return xasprintf("file://%s", mount.path);
}

static char *derive_state(struct migrator *m)
{
	const char *directory = m->checkpoints  ? m->checkpoints
				: m->savepoints ? m->savepoints
						: m->ha_storage;
	cleanup_free char *base = NULL;

	if (!directory || !migrate_is_uri(directory)) {
		note_spec(
			m, MIGRATE_DECIDE, "flinkConfiguration", "state.uri",
			directory
				? "no directory that drey could read: set state.uri, or --state-uri"
				: "no directory for checkpoints: set state.uri, or --state-uri");
		return xasprintf(MIGRATE_NO_STATE "%s", m->out->name);
	}
	base = migrate_file_path(directory) ? volume_base(m, migrate_file_path(directory))
					    : parent_of(directory);
	while (*base && base[strlen(base) - 1] == '/')
		base[strlen(base) - 1] = '\0';
	return xasprintf("%s/%s" SUFFIX, base, m->out->name);
}

static int finish_state(struct migrator *m)
{
	const char *wish = m->wish->state_uri;
	cleanup_free char *uri = NULL;

	if (wish && !migrate_is_uri(wish))
		return err_set(m->err, ERR_CONFIG, 0, "'%.120s' is not a URI for the state", wish);
	if (wish && migrate_file_path(wish))
		free(volume_base(m, migrate_file_path(wish)));
	uri = wish ? xstrdup(wish) : derive_state(m);
	migrate_put_str(m, "state.uri", uri);
	return 0;
}

static void finish_job(struct migrator *m)
{
	if (!json_get(migrate_section(m, "drey"), "upgrade"))
		note_spec(
			m, MIGRATE_DECIDE, "job.upgradeMode", "drey.upgrade",
			"not set: the operator then starts each version empty (stateless), drey takes a "
			"savepoint");
}

int migrate_finish(struct migrator *m)
{
	finish_image(m);
	finish_parallelism(m);
	finish_part(m, PART_JOBMANAGER);
	finish_part(m, PART_TASKMANAGER);
	finish_java(m);
	finish_job(m);
	if (finish_state(m))
		return -1;
	return migrate_pods(m);
}
