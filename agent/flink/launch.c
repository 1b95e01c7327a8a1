#include "flink/launch.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "flink/command.h"
#include "flink/reserved.h"

static const char job_result_path[] = "job-result-store.storage-path";
static const char job_result_keep[] = "job-result-store.delete-on-commit";
static const char archive_dir[] = "jobmanager.archive.fs.dir";
static const char application_id_key[] = "$internal.application.id";
static const char application_result_path[] = "application-result-store.storage-path";
static const char shutdown_on_finish[] = "execution.shutdown-on-application-finish";
static const char submit_failed_job[] = "execution.submit-failed-job-on-application-error";
static const char retention_key[] = "execution.checkpointing.externalized-checkpoint-retention";
#define JVM_ARGS "JVM_ARGS="
static const char *const cluster_id_keys[] = {"kubernetes.cluster-id",
					      "high-availability.cluster-id"};
static const char side_key[] = "drey.side", gate_key[] = "drey.gate.directory";
static const char metrics_age_key[] = "metrics.fetcher.update-interval";
static const char statistics_age_key[] = "rest.cache.checkpoint-statistics.timeout";

/* ---- checks ---- */

static int check_property(const struct flink_property *property, struct err *err)
{
	const char *why;

	if (!property->key || !property->key[0] || strpbrk(property->key, "= \t\r\n"))
		return err_set(err, ERR_CONFIG, 0, "property '%s': not a property name",
			       property->key ? property->key : "");
	why = flink_reserved(property->key);
	/* MUT: a property may name a restore path */
	if (why)
		return err_set(err, ERR_CONFIG, 0, "property %s: %s", property->key, why);
	if (flink_key_is_secret(property->key))
		return err_set(
			err, ERR_CONFIG, 0,
			"property %s: do not put a secret on a command line, where every user of the machine can read it; put it into Flink's configuration file",
			property->key);
	if (!property->value)
		return err_set(err, ERR_CONFIG, 0, "property %s: no value", property->key);
	return 0;
}

/* Those of Flink's own configuration are overridden: they name the first of the two. */
static int check_cluster_id(const struct flink_launch *launch, struct err *err)
{
	for (size_t i = 0; launch->cluster_id && i < ARRAY_LEN(cluster_id_keys); i++)
		if (flink_launch_user_sets(launch, cluster_id_keys[i]))
			return err_set(
				err, ERR_CONFIG, 0,
				"property %s: drey passes the cluster id of the side that it uses (handover.clusterIds); remove it from flink.properties and flink.command",
				cluster_id_keys[i]);
	return 0;
}

static int check_ours(const struct flink_launch *launch, const char *key, struct err *err)
{
	if (!flink_launch_user_sets(launch, key))
		return 0;
	return err_set(
		err, ERR_CONFIG, 0,
		"property %s: drey passes it to the job (handover.mode: blueGreen); remove it from flink.properties and flink.command",
		key);
}

/* A job that takes itself for the other side writes what that one writes. */
static int check_side(const struct flink_launch *launch, struct err *err)
{
	if (launch->side &&
	    (check_ours(launch, side_key, err) < 0 || check_ours(launch, gate_key, err) < 0))
		return -1;
	for (size_t i = 0; i < launch->gate_property_count; i++)
		if (check_ours(launch, launch->gate_properties[i].key, err) < 0)
			return -1;
	return 0;
}

int flink_launch_check(const struct flink_launch *launch, struct err *err)
{
	char text[FLINK_VERSION_TEXT_BYTES];

	if (command_check(launch->command, launch->version, err) < 0)
		return -1;
	for (size_t i = 0; i < launch->property_count; i++)
		if (check_property(&launch->properties[i], err) < 0)
			return -1;
	if (check_cluster_id(launch, err) < 0 || check_side(launch, err) < 0)
		return -1;
	for (size_t i = 0; launch->jars && launch->jars[i]; i++)
		if (!launch->jars[i][0] || strchr(launch->jars[i], ','))
			return err_set(err, ERR_CONFIG, 0,
				       "jars: '%s' is not a single path (a comma separates jars)",
				       launch->jars[i]);
	if (launch->jars && launch->jars[0] && !flink_version_has_jars_option(launch->version))
		return err_set(
			err, ERR_CONFIG, 0,
			"jars: Flink %s does not accept jars (1.19 and later do); put them into usrlib/",
			flink_version_print(launch->version, text));
	return 0;
}

bool flink_is_id(const char *text)
{
	size_t len = strspn(text, "0123456789abcdef");

	return len == FLINK_ID_CHARS && text[len] == '\0';
}

/* As PackagedProgramUtils.isPython() of Flink. */
static bool is_python(const struct flink_launch *launch)
{
	static const char *const options[] = {"-py", "--python", "-pym", "--pyModule"};
	static const char package[] = "org.apache.flink.client.python.";

	if (launch->job_class && !strncmp(launch->job_class, package, sizeof(package) - 1))
		return true;
	for (size_t i = 0; launch->program_args && launch->program_args[i]; i++)
		for (size_t j = 0; j < ARRAY_LEN(options); j++)
			if (strcmp(launch->program_args[i], options[j]) == 0)
				return true;
	return false;
}

static bool command_names_class(const char *const *command)
{
	size_t at = command_options_begin(command);
	struct command_word word;

	while (at && command_next_option(command, &at, &word))
		if (word.option == COMMAND_JOB_CLASS)
			return true;
	return false;
}

const char *flink_launch_cannot_hold(const struct flink_launch *launch)
{
	/* MUT: a program in Python may be held */
	if (is_python(launch))
		return "the program is in Python";
	/* MUT: a command with a class may be held */
	if (command_names_class(launch->command))
		return "flink.command has a --job-classname; use flink.jobClass";
	if (!flink_version_at_least(launch->version, 1, 20))
		return "Flink is older than 1.20, or its version is unknown";
	return NULL;
}

static int check_held(const struct flink_launch *launch, struct err *err)
{
	const char *why;

	if (!launch->held_file)
		return 0;
	if (launch->held_file[0] != '/')
		return err_set(err, ERR_CONFIG, 0, "the go file '%s' is not an absolute path",
			       launch->held_file);
	why = flink_launch_cannot_hold(launch);
	return why ? err_set(err, ERR_CONFIG, 0, "main() cannot be held: %s", why) : 0;
}

/* What drey itself passes; a mistake here is drey's, not the user's. */
static int check_identity(const struct flink_launch *launch, struct err *err)
{
	if (!launch->job_id || !flink_is_id(launch->job_id))
		return err_set(err, ERR_CONFIG, 0, "job id '%s' is not 32 hex digits",
			       launch->job_id ? launch->job_id : "");
	if (launch->application_id && !flink_is_id(launch->application_id))
		return err_set(err, ERR_CONFIG, 0, "application id '%s' is not 32 hex digits",
			       launch->application_id);
	/* with HA, Flink >= 2.3 would derive the same id for every launch from the cluster's
	 * name */
	if (launch->ha && flink_version_has_applications(launch->version) &&
	    !launch->application_id)
		return err_set(err, ERR_CONFIG, 0, "Flink with HA needs an application id");
	if (launch->restore_path && !launch->restore_path[0])
		return err_set(err, ERR_CONFIG, 0, "the restore path is empty");
	return 0;
}

/* ---- building ---- */

static void add(struct flink_exec *exec, const char *text)
{
	exec->argv = xreallocarray(exec->argv, exec->argc + 2, sizeof(*exec->argv));
	exec->argv[exec->argc++] = xstrdup(text);
	exec->argv[exec->argc] = NULL;
	exec->packed_bytes += strlen(text) + 1;
}

static void add_property(struct flink_exec *exec, const char *key, const char *value)
{
	cleanup_free char *text = NULL;

	if (!value)
		return;
	text = xasprintf("%s=%s", key, value);
	add(exec, "-D");
	add(exec, text);
}

static void add_number(struct flink_exec *exec, const char *key, int value)
{
	char text[16];

	if (value <= 0)
		return;
	snprintf(text, sizeof(text), "%d", value);
	add_property(exec, key, text);
}

bool flink_launch_user_sets(const struct flink_launch *launch, const char *key)
{
	size_t at = command_options_begin(launch->command), len = strlen(key);
	struct command_word word;

	for (size_t i = 0; i < launch->property_count; i++)
		if (strcmp(launch->properties[i].key, key) == 0)
			return true;
	while (at && command_next_option(launch->command, &at, &word))
		if (word.option == COMMAND_PROPERTY && word.value &&
		    strncmp(word.value, key, len) == 0 && word.value[len] == '=')
			return true;
	return false;
}

/* Defaults that the user may override. */
static void add_defaults(struct flink_exec *exec, const struct flink_launch *launch)
{
	if (!flink_launch_user_sets(launch, retention_key))
		add_property(exec, retention_key, "RETAIN_ON_CANCELLATION");
	if (!flink_launch_user_sets(launch, statistics_age_key))
		add_property(exec, statistics_age_key, "0 ms");
	if (launch->gate_property_count && !flink_launch_user_sets(launch, metrics_age_key))
		add_property(exec, metrics_age_key, "1000");
	if (launch->ha) {
		if (!flink_launch_user_sets(launch, "high-availability.jobmanager.port"))
			add_number(exec, "high-availability.jobmanager.port", launch->ha_rpc_port);
		return;
	}
	if (!flink_launch_user_sets(launch, "heartbeat.interval"))
		add_number(exec, "heartbeat.interval", launch->heartbeat_interval_ms);
	if (!flink_launch_user_sets(launch, "heartbeat.timeout"))
		add_number(exec, "heartbeat.timeout", launch->heartbeat_timeout_ms);
}

/* Paths known to drey and to Flink; drey's configuration overrides Flink's, because drey searches
 * there. */
static void add_places(struct flink_exec *exec, const struct flink_launch *launch)
{
	if (flink_version_new_dir_keys(launch->version)) {
		add_property(exec, "execution.checkpointing.dir", launch->checkpoint_dir);
		add_property(exec, "execution.checkpointing.savepoint-dir", launch->savepoint_dir);
	}
	if (flink_version_old_dir_keys(launch->version)) {
		add_property(exec, "state.checkpoints.dir", launch->checkpoint_dir);
		add_property(exec, "state.savepoints.dir", launch->savepoint_dir);
	}
	add_property(exec, "rest.address", launch->rest_address);
	add_number(exec, "rest.port", launch->rest_port);
	add_number(exec, "rest.bind-port", launch->rest_port);
	add_property(exec, "jobmanager.rpc.address", launch->rpc_address);
	add_property(exec, "io.tmp.dirs", launch->tmp_dirs);
	for (size_t i = 0; i < ARRAY_LEN(cluster_id_keys); i++)
		add_property(exec, cluster_id_keys[i], launch->cluster_id);
	add_property(exec, side_key, launch->side);
	add_property(exec, gate_key, launch->gate_directory);
	for (size_t i = 0; i < launch->gate_property_count; i++)
		add_property(exec, launch->gate_properties[i].key,
			     launch->gate_properties[i].value);
}

static void add_identity(struct flink_exec *exec, const struct flink_launch *launch)
{
	if (launch->job_result_store) {
		add_property(exec, job_result_path, launch->job_result_store);
		add_property(exec, job_result_keep, "false");
		if (!flink_launch_user_sets(launch, archive_dir) && !launch->has_archive)
			add_property(exec, archive_dir, launch->job_result_store);
	}
	if (flink_version_has_applications(launch->version)) {
		add_property(exec, application_id_key, launch->application_id);
		add_property(exec, application_result_path, launch->application_result_store);
	}
	add_property(exec, shutdown_on_finish, "false");
	add_property(exec, submit_failed_job, "true");
}

static void add_restore(struct flink_exec *exec, const struct flink_launch *launch)
{
	if (!launch->restore_path)
		return;
	/* MUT: Flink gets a restore path although main() is held */
	if (launch->held_file)
		return;
	add(exec, "--fromSavepoint");
	add(exec, launch->restore_path);
	/* MUT: non-restored state is always allowed */
	if (launch->allow_non_restored_state)
		add(exec, "--allowNonRestoredState");
}

static void add_program(struct flink_exec *exec, const struct flink_launch *launch)
{
	const char *class = launch->held_file ? FLINK_HELD_CLASS : launch->job_class;
	cleanup_free char *jars = NULL;

	add(exec, "--job-id");
	add(exec, launch->job_id);
	add_restore(exec, launch);
	if (class) {
		add(exec, "--job-classname");
		add(exec, class);
	}
	for (size_t i = 0; launch->jars && launch->jars[i]; i++) {
		char *more =
			jars ? xasprintf("%s,%s", jars, launch->jars[i]) : xstrdup(launch->jars[i]);
		free(jars);
		jars = more;
	}
	if (jars) {
		add(exec, "--jars");
		add(exec, jars);
	}
	if (launch->program_args && launch->program_args[0])
		add(exec, "--");
	for (size_t i = 0; launch->program_args && launch->program_args[i]; i++)
		add(exec, launch->program_args[i]);
}

static void add_variable(struct flink_exec *exec, const char *entry)
{
	exec->env = xreallocarray(exec->env, exec->envc + 2, sizeof(*exec->env));
	exec->env[exec->envc++] = xstrdup(entry);
	exec->env[exec->envc] = NULL;
	exec->packed_bytes += strlen(entry) + 1;
}

static void set_variable(struct flink_exec *exec, const char *name, const char *value)
{
	cleanup_free char *entry = xasprintf("%s=%s", name, value ? value : "");

	add_variable(exec, entry);
}

char *flink_jvm_args(const char *const *options, const char *more)
{
	struct buf text = BUF_INIT;

	for (size_t i = 0; options[i]; i++)
		buf_addf(&text, "%s%s", i ? " " : "", options[i]);
	if (more)
		buf_addf(&text, " %s", more);
	return buf_steal(&text);
}

/* The variable for Flink's scripts. */
static char *jvm_args(const struct flink_launch *launch)
{
	cleanup_free char *text =
		flink_jvm_args(launch->jvm_options, command_env(launch->env, "JVM_ARGS"));

	return xasprintf("%s%s", JVM_ARGS, text);
}

static void add_env(struct flink_exec *exec, const struct flink_launch *launch)
{
	bool by_script = launch->jvm_options && !command_java(launch->command);
	cleanup_free char *options = by_script ? jvm_args(launch) : NULL;

	exec->env = xcalloc(1, sizeof(*exec->env));
	for (size_t i = 0; launch->env && launch->env[i]; i++)
		if (flink_env_passes(launch->env[i]) &&
		    !(options && !strncmp(launch->env[i], JVM_ARGS, strlen(JVM_ARGS))))
			add_variable(exec, launch->env[i]);
	if (options)
		add_variable(exec, options);
	/* a job that Flink recovers was built with the path of the pod before */
	if (launch->gate_directory)
		set_variable(exec, "DREY_GATE_DIRECTORY", launch->gate_directory);
	if (launch->held_file) {
		set_variable(exec, "DREY_HELD_CLASS", launch->job_class);
		set_variable(exec, "DREY_HELD_FILE", launch->held_file);
		if (launch->rehearse)
			set_variable(exec, FLINK_REHEARSE, "1");
	}
}

static void add_command(struct flink_exec *exec, const struct flink_launch *launch)
{
	size_t java = launch->jvm_options ? command_java(launch->command) : 0;

	for (size_t i = 0; launch->command[i]; i++) {
		add(exec, launch->command[i]);
		for (size_t j = 0; i + 1 == java && launch->jvm_options[j]; j++)
			add(exec, launch->jvm_options[j]);
	}
}

int flink_launch_build(const struct flink_launch *launch, struct flink_exec *ret_exec,
		       struct err *err)
{
	struct flink_exec exec = {0};

	if (flink_launch_check(launch, err) < 0 || check_identity(launch, err) < 0 ||
	    check_held(launch, err) < 0)
		return err_wrap(err, "build Flink's command line");
	add_command(&exec, launch);
	exec.command_argc = exec.argc;
	for (size_t i = 0; i < launch->property_count; i++)
		add_property(&exec, launch->properties[i].key, launch->properties[i].value);
	add_defaults(&exec, launch);
	/* Flink takes the last of several values of a key: ours */
	add_places(&exec, launch);
	add_identity(&exec, launch);
	add_program(&exec, launch);
	add_env(&exec, launch);
	*ret_exec = exec;
	return 0;
}

void flink_exec_release(struct flink_exec *exec)
{
	if (!exec)
		return;
	for (size_t i = 0; i < exec->argc; i++)
		free(exec->argv[i]);
	for (size_t i = 0; i < exec->envc; i++)
		free(exec->env[i]);
	free(exec->argv);
	free(exec->env);
	*exec = (struct flink_exec){0};
}
