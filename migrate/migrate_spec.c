/* The fields of a FlinkDeployment but its configuration and its Pod templates. */
#include <string.h>

#include "base/mem.h"
#include "migrate/migrate_internal.h"
#include "migrate/migrate_size.h"

/* ---- image ---- */

static const char lower_case[] = "abcdefghijklmnopqrstuvwxyz0123456789";

static bool consists_of(const char *text, size_t len, const char *letters)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr(letters, text[i]))
			return false;
	return len > 0;
}

/* The tag is behind a colon after the last slash: before it there may be a port. */
static bool put_image(struct migrator *m, const char *image)
{
	const char *at = strchr(image, '@');
	size_t len = at ? (size_t)(at - image) : strlen(image);
	cleanup_free char *name = xstrndup(image, len);
	const char *slash = strrchr(name, '/');
	char *colon = strchr(slash ? slash : name, ':');

	if (at && (strncmp(at, "@sha256:", 8) != 0 || strlen(at) != 8 + 64 ||
		   !consists_of(at + 8, 64, "0123456789abcdef")))
		return false;
	if (colon)
		*colon = '\0';
	if (!*name || !strchr(lower_case, *name) ||
	    !consists_of(name, strlen(name),
			 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/-"))
		return false;
	if (colon &&
	    (strlen(colon + 1) > 128 || strchr(".-", colon[1]) ||
	     !consists_of(colon + 1, strlen(colon + 1),
			  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")))
		return false;
	migrate_put_str(m, "image.repository", name);
	if (colon || !at)
		migrate_put_str(m, "image.tag", colon ? colon + 1 : "latest");
	if (at)
		migrate_put_str(m, "image.digest", at + 1);
	return true;
}

static int map_image(struct migrator *m, const struct json *value,
		     const struct migrate_field *field, const char *path)
{
	const char *image;

	if (migrate_text(m, value, path, &image))
		return -1;
	if (!put_image(m, image))
		return err_set(m->err, ERR_CONFIG, 0, "%s: '%.120s' is not the name of an image",
			       path, image);
	m->has_image = true;
	return migrate_note_field(m, field, path);
}

/* ---- words of the operator ---- */

static int map_pull_policy(struct migrator *m, const struct json *value,
			   const struct migrate_field *field, const char *path)
{
	const char *text;

	if (migrate_text(m, value, path, &text))
		return -1;
	if (strcmp(text, "Always") != 0 && strcmp(text, "Never") != 0 &&
	    strcmp(text, "IfNotPresent") != 0)
		return err_set(m->err, ERR_CONFIG, 0,
			       "%s: must be Always, IfNotPresent or Never, got '%.40s'", path,
			       text);
	migrate_put_str(m, field->to, text);
	return migrate_note_field(m, field, path);
}

static int map_version(struct migrator *m, const struct json *value,
		       const struct migrate_field *field, const char *path)
{
	const char *text;

	if (migrate_text(m, value, path, &text))
		return -1;
	if (strcmp(text, "v1_19") != 0 && strcmp(text, "v1_20") != 0 &&
	    strncmp(text, "v2_", 3) != 0) {
		migrate_note(
			m, MIGRATE_DECIDE, path, NULL,
			"drey runs Flink 1.19 and later; upgrade the job with the operator first");
		return 0;
	}
	return migrate_note_field(m, field, path);
}

static int map_upgrade_mode(struct migrator *m, const struct json *value,
			    const struct migrate_field *field, const char *path)
{
	const char *text;

	if (migrate_text(m, value, path, &text))
		return -1;
	if (strcmp(text, "savepoint") != 0 && strcmp(text, "last-state") != 0 &&
	    strcmp(text, "stateless") != 0)
		return err_set(m->err, ERR_CONFIG, 0,
			       "%s: must be savepoint, last-state or stateless, got '%.40s'", path,
			       text);
	migrate_put_str(m, field->to, text);
	return migrate_note_field(m, field, path);
}

static int map_job_state(struct migrator *m, const struct json *value,
			 const struct migrate_field *field, const char *path)
{
	const char *text;

	if (migrate_text(m, value, path, &text))
		return -1;
	if (!strcmp(text, "suspended")) {
		migrate_put_str(m, field->to, text);
		migrate_note(
			m, MIGRATE_DECIDE, path, field->to,
			"the job stays suspended after the installation; remove the key to start it");
		return 0;
	}
	if (strcmp(text, "running") != 0)
		return err_set(m->err, ERR_CONFIG, 0,
			       "%s: must be running or suspended, got '%.40s'", path, text);
	migrate_note(m, MIGRATE_NOT_NEEDED, path, field->to, "running is the default");
	return 0;
}

static int map_mode(struct migrator *m, const struct json *value, const struct migrate_field *field,
		    const char *path)
{
	const char *text;

	if (migrate_text(m, value, path, &text))
		return -1;
	if (strcmp(text, "native") != 0 && strcmp(text, "standalone") != 0)
		return err_set(m->err, ERR_CONFIG, 0,
			       "%s: must be native or standalone, got '%.40s'", path, text);
	return migrate_note_field(m, field, path);
}

static int map_log(struct migrator *m, const struct json *value, const struct migrate_field *field,
		   const char *path)
{
	const char *text;

	if (migrate_text(m, value, path, &text))
		return -1;
	if (!strcmp(json_name(value), "log4j-console.properties")) {
		migrate_put_str(m, field->to, text);
		return migrate_note_field(m, field, path);
	}
	migrate_note(m, MIGRATE_NO_COUNTERPART, path, NULL,
		     "the chart has log4j-console.properties only, in flink.log4j");
	return 0;
}

/* ---- the job ---- */

static int map_class(struct migrator *m, const struct json *value,
		     const struct migrate_field *field, const char *path)
{
	const char *text;

	if (migrate_text(m, value, path, &text))
		return -1;
	if (!*text || strpbrk(text, " \t\r\n/\\:;\"") || text[0] == '.' ||
	    text[strlen(text) - 1] == '.' || strstr(text, ".."))
		return err_set(m->err, ERR_CONFIG, 0, "%s: '%.80s' is not the name of a class",
			       path, text);
	/* the check of an upgrade runs main() in a JVM, which has no Python */
	if (!strcmp(text, "org.apache.flink.client.python.PythonDriver"))
		migrate_put_bool(m, "drey.check.graph", false);
	migrate_put_str(m, field->to, text);
	return migrate_note_field(m, field, path);
}

static int map_args(struct migrator *m, const struct json *value, const struct migrate_field *field,
		    const char *path)
{
	const struct json *child;
	struct json *list;
	int number = 0;

	if (migrate_want(m, value, JSON_ARRAY, path))
		return -1;
	list = json_array();
	json_each (child, value) {
		char at[MIGRATE_PATH_BYTES];
		const char *text;

		snprintf(at, sizeof(at), "%.400s[%d]", path, number++);
		if (migrate_text(m, child, at, &text)) {
			json_free(list);
			return -1;
		}
		json_add_str(list, NULL, text);
	}
	migrate_put(m, field->to, list);
	return migrate_note_field(m, field, path);
}

/* Flink itself uses what is in usrlib; every other jar has to be named. */
static int map_jar(struct migrator *m, const struct json *value, const struct migrate_field *field,
		   const char *path)
{
	static const char usrlib[] = "/opt/flink/usrlib/";
	cleanup_free char *jar = NULL;
	const char *uri, *file;
	struct json *list;

	if (migrate_text(m, value, path, &uri))
		return -1;
	file = !strncmp(uri, "local:///", 9)  ? uri + 8
	       : !strncmp(uri, "file:///", 8) ? uri + 7
	       : *uri == '/'                  ? uri
					      : NULL;
	if (!file || !migrate_is_path(file)) {
		migrate_note(
			m, MIGRATE_DECIDE, path, field->to,
			"not a file of the image: put the jar into /opt/flink/usrlib of the image, or let "
			"an init container fetch it, as in the chart's examples/fetched.yaml");
		return 0;
	}
	if (!strncmp(file, usrlib, strlen(usrlib)) && !strchr(file + strlen(usrlib), '/')) {
		migrate_note(
			m, MIGRATE_MAPPED, path, field->to,
			"Flink uses the jars in /opt/flink/usrlib; it must be the only one with a job");
		return 0;
	}
	jar = xasprintf("file://%s", file);
	list = json_array();
	json_add_str(list, NULL, jar);
	migrate_put(m, field->to, list);
	return migrate_note_field(m, field, path);
}

/* migrate_finish() has the entry. */
static int map_parallelism(struct migrator *m, const struct json *value,
			   const struct migrate_field *field, const char *path)
{
	(void)field;
	return migrate_whole(m, value, path, 0, 32768, &m->parallelism);
}

static int map_initial_savepoint(struct migrator *m, const struct json *value,
				 const struct migrate_field *field, const char *path)
{
	const char *text;

	if (migrate_text(m, value, path, &text))
		return -1;
	if (!migrate_is_uri(text))
		return err_set(m->err, ERR_CONFIG, 0, "%s: '%.120s' is not a path or a URI", path,
			       text);
	migrate_put_str(m, field->to, text);
	return migrate_note_field(m, field, path);
}

static int map_allow_non_restored(struct migrator *m, const struct json *value,
				  const struct migrate_field *field, const char *path)
{
	if (migrate_want(m, value, JSON_BOOL, path))
		return -1;
	if (!json_is_true(value))
		migrate_note(m, MIGRATE_NOT_NEEDED, path, NULL, "false is the default");
	else
		migrate_note_field(m, field, path);
	return 0;
}

/* ---- resources ---- */

static struct migrate_part_facts *part_of(struct migrator *m, const struct migrate_field *field,
					  const char **ret_section)
{
	bool is_task = !strncmp(field->path, "taskManager", 11);

	*ret_section = is_task ? "taskManager" : "jobManager";
	return &m->parts[is_task ? PART_TASKMANAGER : PART_JOBMANAGER];
}

/* The operator takes no notice of `resource` where `resources` is set. */
static bool is_ignored(struct migrator *m, const struct migrate_field *field, const char *path)
{
	const char *section;

	if (!strstr(field->path, ".resource.") || !part_of(m, field, &section)->has_resources)
		return false;
	migrate_note(m, MIGRATE_NOT_NEEDED, path, NULL,
		     "the operator ignores it, because resources is set, too");
	return true;
}

static int map_memory(struct migrator *m, const struct json *value,
		      const struct migrate_field *field, const char *path)
{
	const char *text, *section;
	struct migrate_part_facts *part = part_of(m, field, &section);
	bool is_limit = strstr(field->path, ".limits.") != NULL;
	int64_t mib;

	if (is_ignored(m, field, path))
		return 0;
	if (migrate_text(m, value, path, &text))
		return -1;
	if (!migrate_mib(text, &mib))
		return err_set(
			m->err, ERR_CONFIG, 0,
			"%s: '%.40s' is not an amount of memory; write for example 2048m or 2Gi",
			path, text);
	if (mib < 256 || mib > 1048576)
		return err_set(m->err, ERR_CONFIG, 0,
			       "%s: must be from 256 MiB to 1 TiB, got %lld MiB", path,
			       (long long)mib);
	*(is_limit ? &part->limit_mib : &part->memory_mib) = mib;
	return migrate_note_field(m, field, path);
}

static int map_cpu(struct migrator *m, const struct json *value, const struct migrate_field *field,
		   const char *path)
{
	char cpu[MIGRATE_TEXT_BYTES];
	const char *text, *section;
	struct migrate_part_facts *part = part_of(m, field, &section);

	if (is_ignored(m, field, path))
		return 0;
	if (migrate_text(m, value, path, &text))
		return -1;
	if (!migrate_cpu(text, cpu))
		return err_set(m->err, ERR_CONFIG, 0,
			       "%s: '%.40s' is not a number of CPUs; write for example 0.5 or 500m",
			       path, text);
	if (!strstr(field->path, ".limits."))
		part->has_cpu = true;
	migrate_put_str(m, field->to, cpu);
	return migrate_note_field(m, field, path);
}

static bool is_quantity(const char *text)
{
	size_t digits = strspn(text, "0123456789.");

	return digits && digits < 20 &&
	       strspn(text + digits, "EPTGMkKinum") == strlen(text + digits) &&
	       strlen(text + digits) <= 2;
}

/* "resource.ephemeralStorage" is both a request and a limit. */
static int map_storage(struct migrator *m, const struct json *value,
		       const struct migrate_field *field, const char *path)
{
	static const char *const kinds[] = {"requests", "limits"};
	const char *text, *section;

	part_of(m, field, &section);
	if (is_ignored(m, field, path))
		return 0;
	if (migrate_text(m, value, path, &text))
		return -1;
	if (!is_quantity(text))
		return err_set(m->err, ERR_CONFIG, 0,
			       "%s: '%.40s' is not a size; write for example 2Gi", path, text);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		cleanup_free char *key =
			xasprintf("%s.resources.%s.ephemeral-storage", section, kinds[i]);

		migrate_put_str(m, key, text);
	}
	return migrate_note_field(m, field, path);
}

/* Any other resource of Kubernetes: "resources.requests.X". */
static int map_resource(struct migrator *m, const struct json *value,
			const struct migrate_field *field, const char *path)
{
	const char *text;
	/* what the star of the row stands for */
	const char *name = path + strlen(m->spec_path) + strlen(field->path);

	if (migrate_text(m, value, path, &text))
		return -1;
	if (!consists_of(name, strlen(name), "abcdefghijklmnopqrstuvwxyz0123456789-./") ||
	    strchr("0123456789-./", name[0]) || strchr("-./", name[strlen(name) - 1]))
		return err_set(m->err, ERR_CONFIG, 0, "%s: not the name of a resource", path);
	if (!is_quantity(text))
		return err_set(m->err, ERR_CONFIG, 0, "%s: '%.40s' is not a quantity", path, text);
	json_remove(migrate_section(m, field->to), name);
	json_add_str(migrate_section(m, field->to), name, text);
	return migrate_note_field(m, field, path);
}

static int map_replicas(struct migrator *m, const struct json *value,
			const struct migrate_field *field, const char *path)
{
	int64_t number;

	if (migrate_whole(m, value, path, 0, 10000, &number))
		return -1;
	if (!strncmp(field->path, "taskManager", 11)) {
		m->replicas = number;
		return migrate_note_field(m, field, path);
	}
	if (number > 1)
		return migrate_note_field(m, field, path);
	migrate_note(m, MIGRATE_NOT_NEEDED, path, NULL, "one JobManager is the default");
	return 0;
}

static int map_pod_template(struct migrator *m, const struct json *value,
			    const struct migrate_field *field, const char *path)
{
	if (migrate_want(m, value, JSON_OBJECT, path))
		return -1;
	if (!strncmp(field->path, "jobManager", 10))
		m->parts[PART_JOBMANAGER].pod_template = value;
	else if (!strncmp(field->path, "taskManager", 11))
		m->parts[PART_TASKMANAGER].pod_template = value;
	else
		m->pod_template = value;
	return 0; /* migrate_pods() has the entries */
}

#define NONE  MIGRATE_NO_COUNTERPART
#define OK    MIGRATE_MAPPED
#define LESS  MIGRATE_NOT_NEEDED
#define CHECK MIGRATE_DECIDE

#define RESOURCES(part)                                                                            \
	{part ".resources.requests.memory", OK, part ".memoryMiB", NULL, map_memory},              \
		{part ".resources.requests.cpu", OK, part ".cpu", NULL, map_cpu},                  \
		{part ".resources.requests.*", OK, part ".resources.requests", NULL,               \
		 map_resource},                                                                    \
		{part ".resources.limits.memory", OK, part ".resources.limits.memory",             \
		 "the limit is memoryMiB, unless it was higher", map_memory},                      \
		{part ".resources.limits.cpu", OK, part ".cpuLimit", NULL, map_cpu},               \
		{part ".resources.limits.*", OK, part ".resources.limits", NULL, map_resource},    \
		{part ".resources.claims", NONE, NULL,                                             \
		 "name the claims in " part ".podTemplate.spec.resourceClaims", NULL},             \
		{part ".resource.memory", OK, part ".memoryMiB", NULL, map_memory},                \
		{part ".resource.cpu", OK, part ".cpu", NULL, map_cpu},                            \
	{                                                                                          \
		part ".resource.ephemeralStorage", OK, part ".resources", NULL, map_storage        \
	}

const struct migrate_field migrate_spec_fields[] = {
	{"image", CHECK, "image",
	 "build an image from it that contains drey and drey-init, and set it: docs/tasks/image.md",
	 map_image},
	{"imagePullPolicy", OK, "image.pullPolicy", NULL, map_pull_policy},
	{"flinkVersion", LESS, NULL, "drey reads the version of Flink in the image", map_version},
	{"flinkConfiguration", OK, "flink.configuration", NULL, migrate_flink_configuration},
	{"serviceAccount", CHECK, "serviceAccount",
	 "the chart makes accounts with fewer rights; copy annotations of a cloud identity to "
	 "serviceAccount.annotations",
	 NULL},
	{"mode", LESS, NULL, "the chart always runs a standalone application cluster", map_mode},
	{"restartNonce", LESS, "control.restartNonce",
	 "each new value is one request; set it when you want one", NULL},
	{"ingress", OK, "ingress", NULL, migrate_ingress},
	{"logConfiguration.*", OK, "flink.log4j", NULL, map_log},
	{"podTemplate", OK, NULL, NULL, map_pod_template},
	{"job.jarURI", OK, "job.jars", NULL, map_jar},
	{"job.entryClass", OK, "job.class", NULL, map_class},
	{"job.args", OK, "job.args", NULL, map_args},
	{"job.parallelism", OK, "job.parallelism", NULL, map_parallelism},
	{"job.state", OK, "control.state", NULL, map_job_state},
	{"job.upgradeMode", OK, "drey.upgrade", NULL, map_upgrade_mode},
	{"job.initialSavepointPath", CHECK, "drey.restore.initialSavepoint",
	 "for the first launch only: replace it by the savepoint of the suspension, or remove it",
	 map_initial_savepoint},
	{"job.allowNonRestoredState", NONE, "control.restore",
	 "part of one restore request, never a permanent setting", map_allow_non_restored},
	{"job.savepointTriggerNonce", LESS, "control.savepointNonce",
	 "each new value is one request; set it when you want one", NULL},
	{"job.checkpointTriggerNonce", LESS, "control.checkpointNonce",
	 "each new value is one request; set it when you want one", NULL},
	{"job.savepointRedeployNonce", LESS, "control.restore",
	 "one restore request for each token; make one when you want one", NULL},
	{"job.autoscalerResetNonce", NONE, NULL, "there is no autoscaler: docs/tasks/elasticity.md",
	 NULL},
	{"jobManager.replicas", NONE, "jobManager.spare.enabled",
	 "the chart has one JobManager; a spare JVM makes its failure short", map_replicas},
	{"jobManager.podTemplate", OK, NULL, NULL, map_pod_template},
	RESOURCES("jobManager"),
	{"taskManager.replicas", OK, "taskManager.replicas", NULL, map_replicas},
	{"taskManager.podTemplate", OK, NULL, NULL, map_pod_template},
	RESOURCES("taskManager"),
	{NULL, OK, NULL, NULL, NULL},
};
