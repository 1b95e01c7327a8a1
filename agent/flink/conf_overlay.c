#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "flink/command.h"
#include "flink/conf.h"

static const char command_overlay[] = "-D of flink.command";
static const char properties_overlay[] = "flink.properties";
static const char image_overlay[] = "docker-entrypoint.sh";
static const char variable_overlay[] = "FLINK_PROPERTIES";

/* ---- the path of the file ---- */

/* The --configDir of the command; borrowed; NULL: none. */
static const char *config_dir_option(const char *const *command)
{
	size_t at = command_options_begin(command);
	struct command_word word;

	while (at && command_next_option(command, &at, &word))
		if (word.option == COMMAND_CONFIG_DIR && word.value)
			return word.value;
	return NULL;
}

/* Flink's scripts put their own --configDir in front, and Flink takes the first. */
char *flink_conf_find_dir(const char *const *command, const char *const *env)
{
	const char *option = command_has_script(command) ? NULL : config_dir_option(command);
	const char *conf_dir = command_env(env, "FLINK_CONF_DIR");
	cleanup_free char *home = command_flink_home(command, env);

	if (option || conf_dir)
		return xstrdup(option ? option : conf_dir);
	return home ? xasprintf("%s/conf", home) : NULL;
}

static bool same_place(const char *one, const char *other)
{
	cleanup_free char *real_one = realpath(one, NULL), *real_other = realpath(other, NULL);

	return strcmp(real_one ? real_one : one, real_other ? real_other : other) == 0;
}

static int flink_conf_check_dir(const struct flink_conf_sources *sources, struct err *err)
{
	const char *option = config_dir_option(sources->command);
	cleanup_free char *found = flink_conf_find_dir(sources->command, sources->env);

	if (option && found && !same_place(option, found))
		return err_set(
			err, ERR_CONFIG, 0,
			"flink.command: --configDir %s has no effect, because Flink's script passes %s; set FLINK_CONF_DIR in flink.environment instead",
			option, found);
	if (sources->directory && found && !same_place(sources->directory, found))
		return err_set(
			err, ERR_CONFIG, 0,
			"flink.configDirectory is %s, but Flink reads %s; correct flink.configDirectory, or %s",
			sources->directory, found,
			option ? "--configDir of flink.command"
			       : "FLINK_CONF_DIR of flink.environment");
	return 0;
}

/* ---- how Flink's image changes the file ---- */

static size_t name_len(const char *text)
{
	size_t len = 0;

	while (isalnum((unsigned char)text[len]) || text[len] == '_')
		len++;
	return len;
}

/* $NAME and ${NAME} as envsubst(1) replaces them. */
static void add_substituted(struct buf *buf, const char *text, const char *const *env)
{
	while (*text) {
		bool braces = text[0] == '$' && text[1] == '{';
		const char *name = text + (braces ? 2 : 1);
		size_t len = text[0] == '$' ? name_len(name) : 0;
		cleanup_free char *copy = NULL;

		if (len == 0 || isdigit((unsigned char)*name) || (braces && name[len] != '}')) {
			buf_addch(buf, *text++);
			continue;
		}
		copy = xstrndup(name, len);
		if (command_env(env, copy))
			buf_addstr(buf, command_env(env, copy));
		text = name + len + (braces ? 1 : 0);
	}
}

/* As `tr -d [:space:]`, in place. */
static void remove_space(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (!isspace((unsigned char)*text))
			*to++ = *text;
	*to = '\0';
}

/* As `IFS=: read -r key value`: the key ends at the first colon, if there is one; a colon at the
 * end of the rest is dropped if the rest has no other. Returns the value, which points into the
 * line. */
static char *split_property(char *line)
{
	char *value = line + strcspn(line, ":"), *colon;

	if (*value)
		*value++ = '\0';
	colon = strchr(value, ':');
	if (colon && colon[1] == '\0')
		*colon = '\0';
	return value;
}

void flink_conf_add_properties(struct flink_conf *conf, const char *text, const char *const *env)
{
	cleanup_free char *copy = xstrdup(text);
	char *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		cleanup_buf struct buf value = BUF_INIT;
		cleanup_free char *word = NULL;
		char *template;

		remove_space(line);
		template = split_property(line);
		if (*line == '\0')
			continue;
		add_substituted(&value, template, env);
		/* Flink's script passes it on without quotes: only the first word arrives */
		word = xstrndup(buf_str(&value), strcspn(buf_str(&value), " \t\n"));
		flink_conf_set_from(conf, line, word, variable_overlay);
	}
}

/* Up to 1.18 the lines are appended to the file, and the whole file passes through envsubst. */
static void add_legacy_properties(struct flink_conf *conf, const char *text, const char *const *env)
{
	cleanup_flink_conf struct flink_conf added = {0};

	flink_conf_add_lines(&added, text, strlen(text));
	for (size_t i = 0; i < added.count; i++)
		flink_conf_set_from(conf, added.entries[i].key, added.entries[i].value,
				    variable_overlay);
	for (size_t i = 0; i < conf->count; i++) {
		cleanup_buf struct buf value = BUF_INIT;

		add_substituted(&value, conf->entries[i].value, env);
		xstrset(&conf->entries[i].value, buf_str(&value));
	}
}

/* Can the entry point of the image write the file that Flink reads? With a read-only mount it
 * reports an error and continues, and Flink gets the file unchanged. */
static bool image_writes(const struct flink_conf *conf, const struct flink_conf_sources *sources,
			 const char *dir)
{
	cleanup_free char *home = command_flink_home(sources->command, sources->env);
	cleanup_free char *written = xasprintf("%s/conf", home ? home : "");

	return command_is_docker(sources->command) && same_place(dir, written) &&
	       access(conf->file ? conf->file : written, W_OK) == 0;
}

static void add_image(struct flink_conf *conf, const struct flink_conf_sources *sources)
{
	const char *address = command_env(sources->env, "JOB_MANAGER_RPC_ADDRESS");
	const char *slots = command_env(sources->env, "TASK_MANAGER_NUMBER_OF_TASK_SLOTS");
	const char *properties = command_env(sources->env, "FLINK_PROPERTIES");
	char host[256] = "localhost";

	if (gethostname(host, sizeof(host) - 1) < 0)
		address = address ? address : "localhost";
	flink_conf_set_from(conf, "jobmanager.rpc.address", address ? address : host,
			    image_overlay);
	flink_conf_set_from(conf, "blob.server.port", "6124", image_overlay);
	flink_conf_set_from(conf, "query.server.port", "6125", image_overlay);
	if (slots)
		flink_conf_set_from(conf, "taskmanager.numberOfTaskSlots", slots, image_overlay);
	if (flink_version_known(sources->version) &&
	    !flink_version_at_least(sources->version, 1, 19))
		add_legacy_properties(conf, properties ? properties : "", sources->env);
	else if (properties)
		flink_conf_add_properties(conf, properties, sources->env);
}

/* ---- the command line ---- */

/* Options that set keys under another name; in Flink up to 1.20 they override every -D. */
static void add_old_options(struct flink_conf *conf, const char *const *command)
{
	size_t at = command_options_begin(command);
	struct command_word word;

	while (at && command_next_option(command, &at, &word)) {
		if (word.option == COMMAND_HOST && word.value)
			flink_conf_set_from(conf, "jobmanager.rpc.address", word.value,
					    "--host of flink.command");
		if (word.option == COMMAND_WEB_PORT && word.value)
			flink_conf_set_from(conf, "rest.port", word.value,
					    "--webui-port of flink.command");
	}
}

void flink_conf_add_command(struct flink_conf *conf, const char *const *command)
{
	size_t at = command_options_begin(command);
	struct command_word word;

	while (at && command_next_option(command, &at, &word)) {
		const char *equals = word.value ? strchr(word.value, '=') : NULL;
		cleanup_free char *key = NULL;

		if (word.option != COMMAND_PROPERTY || !equals)
			continue;
		key = xstrndup(word.value, (size_t)(equals - word.value));
		flink_conf_set_from(conf, key, equals + 1, command_overlay);
	}
}

/* ---- all of it ---- */

int flink_conf_read(const struct flink_conf_sources *sources, struct flink_conf *ret_conf,
		    struct err *err)
{
	cleanup_free char *dir = sources->directory
					 ? xstrdup(sources->directory)
					 : flink_conf_find_dir(sources->command, sources->env);
	struct flink_conf conf = {0};
	struct err why = {0};

	if (flink_conf_check_dir(sources, err) < 0)
		return -1;
	/* a directory that was only guessed need not exist */
	if (dir && flink_conf_load(dir, sources->version, &conf, &why) < 0 &&
	    (sources->directory || why.kind != ERR_ABSENT)) {
		err_pass(err, &why);
		return err_wrap(err, "Flink's configuration in %s", dir);
	}
	if (dir && image_writes(&conf, sources, dir))
		add_image(&conf, sources);
	flink_conf_add_command(&conf, sources->command);
	for (size_t i = 0; i < sources->property_count; i++)
		flink_conf_set_from(&conf, sources->properties[i].key, sources->properties[i].value,
				    properties_overlay);
	add_old_options(&conf, sources->command);
	*ret_conf = conf;
	return 0;
}
