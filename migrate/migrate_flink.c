/* flinkConfiguration: each key of it, nested or flat. */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "migrate/migrate_internal.h"
#include "migrate/migrate_size.h"

/* ---- flat ---- */

/* As the operator writes a list: its texts with semicolons in between. */
static int join_list(struct migrator *m, const struct json *list, const char *path, struct buf *ret)
{
	const struct json *child;

	json_each (child, list) {
		const char *text;

		if (json_kind(child) == JSON_NULL)
			continue;
		if (migrate_text(m, child, path, &text))
			return -1;
		if (ret->len_bytes)
			buf_addch(ret, ';');
		buf_addstr(ret, text);
	}
	return 0;
}

static bool is_key(const char *key)
{
	for (const char *at = key; *at; at++)
		if (*at <= ' ' || *at > '~')
			return false;
	return *key != '\0';
}

/* `key` is that of `node`; "" for all. */
static int flatten(struct migrator *m, const struct json *node, const char *key, const char *path)
{
	cleanup_buf struct buf joined = BUF_INIT;
	const char *text = NULL;

	if (json_kind(node) == JSON_NULL)
		return 0;
	if (json_kind(node) == JSON_OBJECT) {
		const struct json *child;

		json_each (child, node) {
			char inner[MIGRATE_PATH_BYTES];

			if (strlen(key) + strlen(json_name(child)) > MIGRATE_PATH_BYTES / 2 - 40)
				return err_set(m->err, ERR_CONFIG, 0, "%s: a key is too long",
					       path);
			migrate_join(inner, key, json_name(child));
			if (flatten(m, child, inner, path))
				return -1;
		}
		return 0;
	}
	if (json_kind(node) == JSON_ARRAY) {
		if (join_list(m, node, path, &joined))
			return -1;
		text = buf_str(&joined);
	} else if (migrate_text(m, node, path, &text)) {
		return -1;
	}
	if (!is_key(key))
		return err_set(m->err, ERR_CONFIG, 0, "%s: '%.80s' is not a key of Flink", path,
			       key);
	if (json_get(m->flat, key))
		return err_set(m->err, ERR_CONFIG, 0, "%s.%s: the key is there twice", path, key);
	json_add_str(m->flat, key, text);
	return 0;
}

/* ---- what becomes of a key ---- */

static int map_slots(struct migrator *m, const struct json *value,
		     const struct migrate_field *field, const char *path)
{
	if (!migrate_number(json_text(value), &m->slots) || m->slots < 1 || m->slots > 1024)
		return err_set(m->err, ERR_CONFIG, 0,
			       "%s: must be a whole number from 1 to 1024, got '%.40s'", path,
			       json_text(value));
	return migrate_note_field(m, field, path);
}

static struct migrate_part_facts *part_of_key(struct migrator *m, const struct json *value)
{
	return &m->parts[strstr(json_name(value), "taskmanager") ? PART_TASKMANAGER
								 : PART_JOBMANAGER];
}

static int map_process_size(struct migrator *m, const struct json *value,
			    const struct migrate_field *field, const char *path)
{
	int64_t mib;

	if (!migrate_mib(json_text(value), &mib) || mib < 256 || mib > 1048576)
		return err_set(m->err, ERR_CONFIG, 0, "%s: must be from 256m to 1t, got '%.40s'",
			       path, json_text(value));
	part_of_key(m, value)->config_mib = mib;
	return migrate_note_field(m, field, path);
}

static int map_config_cpu(struct migrator *m, const struct json *value,
			  const struct migrate_field *field, const char *path)
{
	char cpu[MIGRATE_TEXT_BYTES];

	if (!migrate_cpu(json_text(value), cpu))
		return err_set(m->err, ERR_CONFIG, 0, "%s: '%.40s' is not a number of CPUs", path,
			       json_text(value));
	part_of_key(m, value)->config_cpu = json_text(value);
	return migrate_note_field(m, field, path);
}

static int map_directory(struct migrator *m, const struct json *value,
			 const struct migrate_field *field, const char *path)
{
	const char *key = json_name(value);

	if (strstr(key, "high-availability"))
		m->ha_storage = json_text(value);
	else if (strstr(key, "savepoint"))
		m->savepoints = json_text(value);
	else
		m->checkpoints = json_text(value);
	return migrate_note_field(m, field, path);
}

static int map_high_availability(struct migrator *m, const struct json *value,
				 const struct migrate_field *field, const char *path)
{
	const char *text = json_text(value);

	if (migrate_same(text, "none")) {
		migrate_put_bool(m, field->to, false);
		return migrate_note_field(m, field, path);
	}
	if (!migrate_same(text, "kubernetes") && !strstr(text, ".KubernetesHaServicesFactory")) {
		migrate_note(
			m, MIGRATE_DECIDE, path, field->to,
			"the chart has Flink's high availability on Kubernetes only, which is on unless "
			"you set false");
		return 0;
	}
	migrate_put_bool(m, field->to, true);
	return migrate_note_field(m, field, path);
}

static int map_java_options(struct migrator *m, const struct json *value,
			    const struct migrate_field *field, const char *path)
{
	if (strpbrk(json_text(value), "\r\n")) {
		migrate_note(m, MIGRATE_DECIDE, path, field->to, "it has several lines; write one");
		return 0;
	}
	*(m->java_options ? &m->more_java_options : &m->java_options) = json_text(value);
	return migrate_note_field(m, field, path);
}

static int map_s3_endpoint(struct migrator *m, const struct json *value,
			   const struct migrate_field *field, const char *path)
{
	const char *text = json_text(value);
	const char *host = !strncmp(text, "https://", 8)  ? text + 8
			   : !strncmp(text, "http://", 7) ? text + 7
							  : NULL;

	if (!host || !*host || strpbrk(host, " @") || *host == '/' ||
	    (strchr(host, '/') && strchr(host, '/')[1])) {
		migrate_note(m, MIGRATE_DECIDE, path, field->to,
			     "write it as https://HOST, without a path and an account");
		return 0;
	}
	migrate_put_str(m, field->to, text);
	return migrate_note_field(m, field, path);
}

static int map_region(struct migrator *m, const struct json *value,
		      const struct migrate_field *field, const char *path)
{
	for (const char *at = json_text(value); *at; at++)
		if (*at <= ' ' || *at > '~')
			return err_set(m->err, ERR_CONFIG, 0, "%s: not the name of a region", path);
	migrate_put_str(m, field->to, json_text(value));
	return migrate_note_field(m, field, path);
}

static int map_boolean(struct migrator *m, const struct json *value,
		       const struct migrate_field *field, const char *path)
{
	migrate_put_bool(m, field->to, migrate_same(json_text(value), "true"));
	return migrate_note_field(m, field, path);
}

static int map_service_type(struct migrator *m, const struct json *value,
			    const struct migrate_field *field, const char *path)
{
	const char *text = json_text(value);

	if (strcmp(text, "ClusterIP") != 0 && strcmp(text, "NodePort") != 0 &&
	    strcmp(text, "LoadBalancer") != 0) {
		migrate_note(m, MIGRATE_NO_COUNTERPART, path, field->to,
			     "the chart has ClusterIP, NodePort and LoadBalancer");
		return 0;
	}
	migrate_put_str(m, field->to, text);
	return migrate_note_field(m, field, path);
}

/* ---- lists of Kubernetes' settings ---- */

static int map_pull_secrets(struct migrator *m, const struct json *value,
			    const struct migrate_field *field, const char *path)
{
	cleanup_free char *text = xstrdup(json_text(value));
	struct json *list = json_array();
	char *rest = NULL;

	for (char *word = strtok_r(text, ";, ", &rest); word; word = strtok_r(NULL, ";, ", &rest)) {
		if (!migrate_is_name(word)) {
			json_free(list);
			return err_set(m->err, ERR_CONFIG, 0, "%s: not names of Secrets", path);
		}
		json_add_str(list, NULL, word);
	}
	migrate_put(m, field->to, list);
	return migrate_note_field(m, field, path);
}

/* "NAME:PATH,NAME:PATH": Secrets that are mounted into all Pods. */
static int map_secrets(struct migrator *m, const struct json *value,
		       const struct migrate_field *field, const char *path)
{
	cleanup_free char *text = xstrdup(json_text(value));
	cleanup_json struct json *volumes = json_array(), *mounts = json_array();
	char *rest = NULL;

	for (char *word = strtok_r(text, ";, ", &rest); word; word = strtok_r(NULL, ";, ", &rest)) {
		char *colon = strchr(word, ':'), name[32];
		struct json *volume, *mount;

		if (colon)
			*colon = '\0';
		if (!colon || !migrate_is_name(word) || !migrate_is_path(colon + 1) ||
		    strchr(colon + 1, ':'))
			return err_set(m->err, ERR_CONFIG, 0,
				       "%s: must be SECRET:PATH, separated by commas", path);
		snprintf(name, sizeof(name), "flink-secret-%zu", json_len(volumes));
		volume = json_object();
		json_add_str(volume, "name", name);
		json_add_str(json_add_object(volume, "secret"), "secretName", word);
		json_add(volumes, NULL, volume);
		mount = json_object();
		json_add_str(mount, "name", name);
		json_add_str(mount, "mountPath", colon + 1);
		json_add_bool(mount, "readOnly", true);
		json_add(mounts, NULL, mount);
	}
	migrate_put(m, "jobManager.extraVolumes", json_copy(volumes));
	migrate_put(m, "jobManager.extraVolumeMounts", json_copy(mounts));
	migrate_put(m, "taskManager.extraVolumes", json_copy(volumes));
	migrate_put(m, "taskManager.extraVolumeMounts", json_copy(mounts));
	return migrate_note_field(m, field, path);
}

static int map_operator(struct migrator *m, const struct json *value,
			const struct migrate_field *field, const char *path)
{
	const struct migrate_field *own = migrate_find(migrate_operator_fields, json_name(value));

	(void)field;
	return own->map ? own->map(m, value, own, path) : migrate_note_field(m, own, path);
}

#define NONE  MIGRATE_NO_COUNTERPART
#define OK    MIGRATE_MAPPED
#define LESS  MIGRATE_NOT_NEEDED
#define CHECK MIGRATE_DECIDE

#define OWN_STATE "replaced by state.uri: the new application needs its own directories"
#define CHART     "the chart sets it"
#define DREY      "drey sets it"
#define DECIDED   "drey decides what the job starts from"
#define NATIVE    "of Flink's native Kubernetes mode; the chart makes the Pods: set "

/* What is in no row is handed on to flink.configuration. */
static const struct migrate_field flink_fields[] = {
	{"kubernetes.operator.*", LESS, NULL, NULL, map_operator},
	{"job.autoscaler.*", NONE, NULL, "there is no autoscaler: docs/tasks/elasticity.md", NULL},
	{"high-availability", OK, "highAvailability.enabled", NULL, map_high_availability},
	{"high-availability.type", OK, "highAvailability.enabled", NULL, map_high_availability},
	{"high-availability.storageDir", LESS, "state.uri", OWN_STATE, map_directory},
	{"high-availability.cluster-id", LESS, "clusterId",
	 "the new application needs its own; the chart sets it", NULL},
	{"high-availability.jobmanager.port", LESS, NULL, CHART, NULL},
	{"high-availability.zookeeper.*", NONE, NULL,
	 "the chart has Flink's high availability on Kubernetes", NULL},
	{"state.checkpoints.dir", LESS, "state.uri", OWN_STATE, map_directory},
	{"execution.checkpointing.dir", LESS, "state.uri", OWN_STATE, map_directory},
	{"state.backend.fs.checkpointdir", LESS, "state.uri", OWN_STATE, map_directory},
	{"state.savepoints.dir", LESS, "state.uri", OWN_STATE, map_directory},
	{"execution.checkpointing.savepoint-dir", LESS, "state.uri", OWN_STATE, map_directory},
	{"job-result-store.*", LESS, NULL, DREY, NULL},
	{"application-result-store.*", LESS, NULL, DREY, NULL},
	{"execution.savepoint.*", LESS, NULL, DECIDED, NULL},
	{"execution.savepoint-restore-mode", NONE, NULL, DECIDED, NULL},
	{"execution.state-recovery.from-local", CHECK, "taskManager.localRecovery.enabled",
	 "set it, so that TaskManagers have a volume for it", NULL},
	{"execution.state-recovery.*", LESS, NULL, DECIDED, NULL},
	{"execution.shutdown-on-application-finish", LESS, NULL, DREY, NULL},
	{"execution.submit-failed-job-on-application-error", LESS, NULL, DREY, NULL},
	{"execution.target", LESS, NULL, "the chart always runs a standalone application cluster",
	 NULL},
	{"$internal.*", LESS, NULL, "an internal setting of Flink", NULL},
	{"pipeline.jars", CHECK, "job.jars",
	 "the operator replaces it by job.jarURI; name further jars", NULL},
	{"parallelism.default", LESS, "job.parallelism",
	 "the operator replaces it by job.parallelism", NULL},
	{"taskmanager.numberOfTaskSlots", OK, "taskManager.slots", NULL, map_slots},
	{"jobmanager.memory.process.size", OK, "jobManager.memoryMiB",
	 "unless jobManager.resources has the memory", map_process_size},
	{"taskmanager.memory.process.size", OK, "taskManager.memoryMiB",
	 "unless taskManager.resources has the memory", map_process_size},
	{"jobmanager.memory.flink.size", CHECK, "jobManager.memoryMiB",
	 "the chart sets the size of the process: choose it so that it fits", NULL},
	{"taskmanager.memory.flink.size", CHECK, "taskManager.memoryMiB",
	 "the chart sets the size of the process: choose it so that it fits", NULL},
	{"env.java.opts.all", OK, "flink.javaOptions", NULL, map_java_options},
	{"env.java.opts", OK, "flink.javaOptions", NULL, map_java_options},
	{"rest.port", LESS, NULL, "Flink's REST API has the port 8081 in the chart", NULL},
	{"rest.bind-port", LESS, NULL, "Flink's REST API has the port 8081 in the chart", NULL},
	{"rest.address", LESS, NULL, CHART, NULL},
	{"rest.bind-address", LESS, NULL, CHART, NULL},
	{"jobmanager.rpc.address", LESS, NULL, CHART, NULL},
	{"jobmanager.rpc.port", LESS, NULL, CHART, NULL},
	{"jobmanager.bind-host", LESS, NULL, CHART, NULL},
	{"taskmanager.bind-host", LESS, NULL, CHART, NULL},
	{"taskmanager.host", LESS, NULL, CHART, NULL},
	{"taskmanager.rpc.port", LESS, NULL, CHART, NULL},
	{"taskmanager.data.port", LESS, NULL, CHART, NULL},
	{"blob.server.port", LESS, NULL, CHART, NULL},
	{"metrics.internal.query-service.port", LESS, NULL, CHART, NULL},
	{"s3.endpoint", OK, "s3.endpoint", NULL, map_s3_endpoint},
	{"s3.endpoint.region", OK, "s3.region", NULL, map_region},
	{"s3.path.style.access", OK, "s3.pathStyle", NULL, map_boolean},
	{"s3.path-style-access", OK, "s3.pathStyle", NULL, map_boolean},
	{"s3.access-key", CHECK, "s3.secret.name", "put the keys into a Secret, and name it", NULL},
	{"s3.secret-key", CHECK, "s3.secret.name", "put the keys into a Secret, and name it", NULL},
	{"security.ssl.enabled", CHECK, "flink.configuration",
	 "the chart has no place yet for the passwords of TLS on Flink's REST API: set security.ssl.internal.enabled instead",
	 NULL},
	{"security.ssl.rest.*", NONE, NULL,
	 "the chart has no place yet for the passwords of TLS on Flink's REST API: end TLS in front of it",
	 NULL},
	{"kubernetes.rest-service.exposed.type", OK, "service.type", NULL, map_service_type},
	{"kubernetes.rest-service.annotations", NONE, "service.annotations",
	 NATIVE "service.annotations", NULL},
	{"kubernetes.secrets", OK, "jobManager.extraVolumes, taskManager.extraVolumes", NULL,
	 map_secrets},
	{"kubernetes.container.image.pull-secrets", OK, "image.pullSecrets", NULL,
	 map_pull_secrets},
	{"kubernetes.container.image.*", LESS, "image",
	 "the operator replaces it by image and imagePullPolicy", NULL},
	{"kubernetes.container.image", LESS, "image", "the operator replaces it by image", NULL},
	{"kubernetes.jobmanager.cpu.amount", OK, "jobManager.cpu",
	 "unless jobManager.resources has it", map_config_cpu},
	{"kubernetes.jobmanager.cpu", OK, "jobManager.cpu", "unless jobManager.resources has it",
	 map_config_cpu},
	{"kubernetes.taskmanager.cpu.amount", OK, "taskManager.cpu",
	 "unless taskManager.resources has it", map_config_cpu},
	{"kubernetes.taskmanager.cpu", OK, "taskManager.cpu", "unless taskManager.resources has it",
	 map_config_cpu},
	{"kubernetes.jobmanager.cpu.limit-factor", NONE, "jobManager.cpuLimit",
	 NATIVE "jobManager.cpuLimit", NULL},
	{"kubernetes.taskmanager.cpu.limit-factor", NONE, "taskManager.cpuLimit",
	 NATIVE "taskManager.cpuLimit", NULL},
	{"kubernetes.jobmanager.labels", NONE, "jobManager.podLabels",
	 NATIVE "jobManager.podLabels", NULL},
	{"kubernetes.taskmanager.labels", NONE, "taskManager.podLabels",
	 NATIVE "taskManager.podLabels", NULL},
	{"kubernetes.jobmanager.annotations", NONE, "jobManager.podAnnotations",
	 NATIVE "jobManager.podAnnotations", NULL},
	{"kubernetes.taskmanager.annotations", NONE, "taskManager.podAnnotations",
	 NATIVE "taskManager.podAnnotations", NULL},
	{"kubernetes.jobmanager.node-selector", NONE, "jobManager.nodeSelector",
	 NATIVE "jobManager.nodeSelector", NULL},
	{"kubernetes.taskmanager.node-selector", NONE, "taskManager.nodeSelector",
	 NATIVE "taskManager.nodeSelector", NULL},
	{"kubernetes.jobmanager.tolerations", NONE, "jobManager.tolerations",
	 NATIVE "jobManager.tolerations", NULL},
	{"kubernetes.taskmanager.tolerations", NONE, "taskManager.tolerations",
	 NATIVE "taskManager.tolerations", NULL},
	{"kubernetes.env.secretKeyRef", NONE, "jobManager.env, taskManager.env",
	 NATIVE "jobManager.env and taskManager.env", NULL},
	{"kubernetes.*", NONE, NULL, "of Flink's native Kubernetes mode; the chart makes the Pods",
	 NULL},
	{NULL, OK, NULL, NULL, NULL},
};

/* What the schema of the chart does not take, and what Flink itself hides in its log. */
static bool is_secret_key(const char *key)
{
	static const char *const words[] = {
		"password",    "passwd",      "secret",      "credential",
		"access-key",  "access.key",  "apikey",      "api-key",
		"private-key", "private.key", "token",       "auth-params",
		"basic-auth",  "jaas.config", "service-key", "fs.azure.account.key",
		"http-headers"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (migrate_contains(key, words[i]) &&
		    (strcmp(words[i], "token") != 0 || !migrate_contains(key, "delegation")))
			return true;
	return false;
}

int migrate_flink_configuration(struct migrator *m, const struct json *value,
				const struct migrate_field *field, const char *path)
{
	const struct json *child;

	if (migrate_want(m, value, JSON_OBJECT, path) || flatten(m, value, "", path))
		return -1;
	json_each (child, m->flat) {
		const struct migrate_field *row = migrate_find(flink_fields, json_name(child));
		char at[MIGRATE_PATH_BYTES];

		migrate_join(at, path, json_name(child));
		if (row && row->map && row->map(m, child, row, at))
			return -1;
		if (row && !row->map)
			migrate_note_field(m, row, at);
		if (row)
			continue;
		if (is_secret_key(json_name(child))) {
			migrate_note(
				m, MIGRATE_DECIDE, at, NULL,
				"the chart takes no secrets here: put it into the environment, from a "
				"Secret");
			continue;
		}
		json_add_str(migrate_section(m, "flink.configuration"), json_name(child),
			     json_text(child));
		migrate_note_field(m, field, at);
	}
	return 0;
}
