#include "flink/command.h"

#include <string.h>

#include "base/mem.h"
#include "flink/launch.h"
#include "flink/reserved.h"

static const char entry_class[] = "StandaloneApplicationClusterEntryPoint";
static const char taskmanager_class[] = "TaskManagerRunner";

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static bool is_entry_point(const char *word)
{
	return strcmp(word, "standalone-job") == 0 || strcmp(word, "start-foreground") == 0 ||
	       ends_in(word, entry_class) || ends_in(word, taskmanager_class);
}

size_t command_options_begin(const char *const *command)
{
	size_t at = 0;

	while (command && command[at] && !is_entry_point(command[at]))
		at++;
	if (!command || !command[at])
		return 0;
	while (command[at] && is_entry_point(command[at]))
		at++;
	return at;
}

const char *command_class_path(const char *const *command)
{
	static const char with_value[] = "--class-path=";

	for (size_t i = 0; command && command[i]; i++) {
		const char *word = command[i];

		if (strncmp(word, with_value, sizeof(with_value) - 1) == 0)
			return word + sizeof(with_value) - 1;
		if (strcmp(word, "-cp") == 0 || strcmp(word, "-classpath") == 0 ||
		    strcmp(word, "--class-path") == 0)
			return command[i + 1];
	}
	return NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

size_t command_java(const char *const *command)
{
	size_t end = command_options_begin(command);

	for (size_t i = 0; i + 1 < end; i++)
		if (strcmp(base_name(command[i]), "java") == 0)
			return i + 1;
	return 0;
}

bool command_is_docker(const char *const *command)
{
	for (size_t i = 0; command && command[i]; i++)
		if (strcmp(base_name(command[i]), "docker-entrypoint.sh") == 0)
			return true;
	return false;
}

static const char *const scripts[] = {"standalone-job.sh", "jobmanager.sh", "flink-console.sh"};

bool command_is_script(const char *const *command)
{
	const char *name;

	if (!command || !command[0])
		return false;
	name = base_name(command[0]);
	if (command[1] && (strcmp(name, "bash") == 0 || strcmp(name, "sh") == 0))
		name = base_name(command[1]);
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
		if (strcmp(name, scripts[i]) == 0)
			return true;
	return strcmp(name, "docker-entrypoint.sh") == 0;
}

bool command_keeps_user(const char *const *command, bool root)
{
	return command_java(command) == 1 || (command_is_script(command) && !root);
}

char *command_script_home(const char *const *command)
{
	for (size_t i = 0; command && command[i]; i++) {
		const char *name = base_name(command[i]);
		size_t dir_len = (size_t)(name - command[i]);

		for (size_t k = 0; k < ARRAY_LEN(scripts); k++) {
			if (strcmp(name, scripts[k]) != 0)
				continue;
			if (dir_len >= 5 && strncmp(name - 5, "/bin/", 5) == 0)
				return xstrndup(command[i], dir_len - 5);
			if (dir_len == 4 && strncmp(command[i], "bin/", 4) == 0)
				return xstrdup(".");
		}
	}
	return command_is_docker(command) ? xstrdup("/opt/flink") : NULL;
}

bool command_has_script(const char *const *command)
{
	cleanup_free char *home = command_script_home(command);

	return home && !command_java(command);
}

char *command_flink_home(const char *const *command, const char *const *env)
{
	const char *home = command_env(env, "FLINK_HOME");

	if (command_has_script(command) && !(home && command_is_docker(command)))
		return command_script_home(command);
	return xstrdup(home);
}

const char *command_env(const char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; env && env[i]; i++)
		if (strncmp(env[i], name, len) == 0 && env[i][len] == '=')
			return env[i][len + 1] ? env[i] + len + 1 : NULL;
	return NULL;
}

static const struct known_option {
	const char *name; /* without dashes */
	enum command_option option;
	bool has_value;
} known_options[] = {
	{"configDir", COMMAND_CONFIG_DIR, true},
	{"c", COMMAND_CONFIG_DIR, true},
	{"D", COMMAND_PROPERTY, true},
	{"job-classname", COMMAND_JOB_CLASS, true},
	{"j", COMMAND_JOB_CLASS, true},
	{"job-id", COMMAND_JOB_ID, true},
	{"jid", COMMAND_JOB_ID, true},
	{"jars", COMMAND_JARS, true},
	{"fromSavepoint", COMMAND_RESTORE, true},
	{"s", COMMAND_RESTORE, true},
	{"allowNonRestoredState", COMMAND_NON_RESTORED, false},
	{"n", COMMAND_NON_RESTORED, false},
	{"host", COMMAND_HOST, true},
	{"h", COMMAND_HOST, true},
	{"webui-port", COMMAND_WEB_PORT, true},
	{"r", COMMAND_WEB_PORT, true},
};

bool command_next_option(const char *const *command, size_t *index, struct command_word *ret_word)
{
	const char *word = command[*index], *name, *value;
	size_t name_len;

	if (!word)
		return false;
	*ret_word = (struct command_word){COMMAND_UNKNOWN, word, NULL};
	(*index)++;
	if (word[0] != '-')
		return true;
	name = word + (word[1] == '-' ? 2 : 1);
	if (word[1] == 'D' && word[2] != '\0') {
		*ret_word = (struct command_word){COMMAND_PROPERTY, word, word + 2};
		return true;
	}
	value = strchr(name, '=');
	name_len = value ? (size_t)(value - name) : strlen(name);
	for (size_t i = 0; i < ARRAY_LEN(known_options); i++) {
		const struct known_option *known = &known_options[i];

		if (strlen(known->name) != name_len || strncmp(known->name, name, name_len) != 0)
			continue;
		ret_word->option = known->option;
		if (value)
			ret_word->value = value + 1;
		else if (known->has_value && command[*index])
			ret_word->value = command[(*index)++];
		break;
	}
	return true;
}

/* "-D key=value": may the user set this key? */
static int check_property(const char *property, struct err *err)
{
	const char *equals = property ? strchr(property, '=') : NULL;
	cleanup_free char *key = NULL;
	const char *why;

	if (!equals || equals == property)
		return err_set(err, ERR_CONFIG, 0, "command: -D '%s' is not key=value",
			       property ? property : "");
	key = xstrndup(property, (size_t)(equals - property));
	why = flink_reserved(key);
	if (why)
		return err_set(err, ERR_CONFIG, 0, "command: -D %s: %s", key, why);
	if (flink_key_is_secret(key))
		return err_set(
			err, ERR_CONFIG, 0,
			"command: -D %s: do not put a secret on a command line, where every user of the machine can read it; put it into Flink's configuration file",
			key);
	return 0;
}

static int check_word(const struct command_word *word, struct flink_version version,
		      struct err *err)
{
	char text[FLINK_VERSION_TEXT_BYTES];

	switch (word->option) {
	case COMMAND_PROPERTY:
		return check_property(word->value, err);
	case COMMAND_CONFIG_DIR:
	case COMMAND_JOB_CLASS:
		break;
	case COMMAND_JARS:
		if (!flink_version_has_jars_option(version))
			return err_set(err, ERR_CONFIG, 0,
				       "command: Flink %s has no option %s (1.19 and later)",
				       flink_version_print(version, text), word->word);
		break;
	case COMMAND_JOB_ID:
	case COMMAND_RESTORE:
	case COMMAND_NON_RESTORED:
		return err_set(
			err, ERR_CONFIG, 0,
			"command: drey sets %s itself: it decides the id and what the job starts from",
			word->word);
	case COMMAND_HOST:
	case COMMAND_WEB_PORT:
		if (!flink_version_has_host_option(version))
			return err_set(
				err, ERR_CONFIG, 0,
				"command: Flink %s has no option %s; use -D jobmanager.rpc.address=... or -D rest.port=...",
				flink_version_print(version, text), word->word);
		break;
	case COMMAND_UNKNOWN:
		return err_set(
			err, ERR_CONFIG, 0,
			"command: '%s' is not an option of Flink's entry point; arguments of the program go to 'args'",
			word->word);
	}
	if (!word->value)
		return err_set(err, ERR_CONFIG, 0, "command: %s needs a value", word->word);
	return 0;
}

int command_check(const char *const *command, struct flink_version version, struct err *err)
{
	size_t at = command_options_begin(command);
	struct command_word word;

	if (!command || !command[0] || !command[0][0])
		return err_set(err, ERR_CONFIG, 0, "command: empty; it starts Flink's JobManager");
	if (at == 0)
		return 0;
	while (command_next_option(command, &at, &word))
		if (check_word(&word, version, err) < 0)
			return -1;
	return 0;
}
