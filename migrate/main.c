/*
 * drey-migrate: a FlinkDeployment of the operator as values of the chart. `drey migrate` starts it, with the same words; what it
 * is called, its options and its help are that command's (agent/cmd/migrate.c).
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "base/yaml_json.h"
#include "cmd/commands.h"
#include "cmd/text.h"
#include "migrate/migrate.h"

#define MAX_BYTES (256 << 10) /* an object of Kubernetes has a few kilobytes */

/* First what a person must do, last what needs nothing. */
static const struct {
	enum migrate_outcome outcome;
	const char *heading;
} groups[] = {
	{MIGRATE_DECIDE, "To decide"},
	{MIGRATE_NO_COUNTERPART, "No counterpart"},
	{MIGRATE_MAPPED, "Mapped"},
	{MIGRATE_NOT_NEEDED, "Not needed"},
};

static const char *input_name(const char *name)
{
	return strcmp(name, "-") != 0 ? name : "standard input";
}

static int read_documents(const char *name, struct json **ret_documents, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_yaml struct yaml_node *root = NULL;
	const char *shown = input_name(name);

	if (shown != name ? fs_read_fd(STDIN_FILENO, shown, MAX_BYTES, &text, err)
			  : fs_read(name, MAX_BYTES, &text, err))
		return -1;
	root = yaml_parse_all(buf_str(&text), text.len_bytes, MAX_BYTES, err);
	*ret_documents = root ? yaml_json_read(root, err) : NULL;
	return *ret_documents ? 0 : err_wrap(err, "%s", shown);
}

static void print_entry(const struct migrate_entry *entry, struct out out)
{
	out_put(out, "  %s", entry->path);
	if (entry->to)
		out_put(out, " -> %s", entry->to);
	if (*entry->text) {
		out_put(out, ": %s", entry->text);
	}
	out_put(out, "\n");
}

static void print_entries(const struct migration *migration, struct out out)
{
	for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
		bool any = false;

		for (size_t n = 0; n < migration->entry_count; n++) {
			if (migration->entries[n].outcome != groups[i].outcome)
				continue;
			if (!any)
				out_put(out, "%s:\n", groups[i].heading);
			any = true;
			print_entry(&migration->entries[n], out);
		}
	}
}

static void print_values(const struct migration *migration, struct out out)
{
	cleanup_buf struct buf text = BUF_INIT;

	out_put(out, "# Values of the chart flink-application, from the %s %s\n", migration->kind,
		migration->name);
	yaml_json_print(migration->values, &text);
	out_lines(out, buf_str(&text));
}

static void print_document(const struct migration *migration, struct out out)
{
	cleanup_json struct json *doc = json_object();
	cleanup_buf struct buf text = BUF_INIT;
	struct json *list;

	json_add_str(doc, "kind", migration->kind);
	json_add_str(doc, "name", migration->name);
	json_add_str(doc, "namespace", migration->namespace);
	json_add(doc, "values", json_copy(migration->values));
	list = json_add_array(doc, "fields");
	for (size_t i = 0; i < migration->entry_count; i++) {
		const struct migrate_entry *entry = &migration->entries[i];
		struct json *to = json_object();

		json_add_str(to, "path", entry->path);
		json_add_str(to, "outcome", migrate_outcome_name(entry->outcome));
		json_add_str(to, "to", entry->to);
		json_add_str(to, "text", entry->text);
		json_add(list, NULL, to);
	}
	json_print_pretty(doc, &text);
	out_lines(out, buf_str(&text));
}

static int migrate_run(const struct cli *cli)
{
	struct migrate_wish wish = {cli_value(cli, "name"), cli_value(cli, "state-uri")};
	cleanup_json struct json *documents = NULL;
	struct migration migration = {0};
	struct err err = {0};

	if (read_documents(cli->args[0], &documents, &err))
		return cli_fail(cli,
				err.kind == ERR_CONFIG || err.kind == ERR_FORMAT ? CLI_USAGE
										 : CLI_FAILED,
				"%s", err.msg);
	if (migrate(documents, &wish, &migration, &err))
		return cli_fail(cli, CLI_USAGE, "%s: %s", input_name(cli->args[0]), err.msg);
	if (cli_has(cli, "json")) {
		print_document(&migration, cli->out);
	} else {
		print_values(&migration, cli->out);
		print_entries(&migration, cli->err);
	}
	migration_release(&migration);
	return CLI_OK;
}

int main(int argc, char **argv)
{
	struct cli_command command = cmd_migrate; /* its options, its help, and what is done here */
	const struct cli_command *const commands[] = {&command, NULL};
	cleanup_free char **words = xcalloc((size_t)argc + 2, sizeof(*words));

	command.run = migrate_run;
	words[0] = "drey";
	words[1] = "migrate";
	for (int i = 1; i < argc; i++)
		words[i + 1] = argv[i];
	/* If the reader closes the pipe, the write fails; the process must not die silently. */
	signal(SIGPIPE, SIG_IGN);
	return cli_main(commands, argc + 1, words, stdout, stderr);
}
