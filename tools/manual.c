/*
 * manual - the manual pages of drey, made by the build from the tables of the commands: drey.1, and
 * drey-COMMAND.1 for each of them.
 *
 *   manual DIR
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/commands.h"

/* Text for roff: nothing in it is a request or an escape, and "-" is that of the command line. */
static void put(FILE *out, const char *text)
{
	bool at_begin = true;

	for (; *text; text++) {
		if (at_begin && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			fputc(*text, out);
		at_begin = *text == '\n';
	}
}

/* Lines as they are. */
static void put_block(FILE *out, const char *section, const char *text)
{
	fprintf(out, ".SH %s\n.nf\n", section);
	put(out, text);
	fputs(".fi\n", out);
}

/* Paragraphs: an empty line is a request of its own. */
static void put_paragraphs(FILE *out, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		cleanup_free char *line = xstrndup(text, len);

		if (len)
			put(out, line);
		else
			fputs(".PP", out);
		fputc('\n', out);
		text += len + (text[len] == '\n');
	}
}

static void put_options(FILE *out, const struct cli_command *command)
{
	fputs(".SH OPTIONS\n", out);
	for (const struct cli_option *option = command->options; option->name; option++) {
		fputs(".TP\n", out);
		if (option->letter)
			fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
		fputs("\\fB\\-\\-", out);
		put(out, option->name);
		fputs("\\fR", out);
		if (option->argument)
			fprintf(out, " \\fI%s\\fR", option->argument);
		fputc('\n', out);
		put(out, option->help);
		fputc('\n', out);
	}
	fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nprint a shorter form of this page\n", out);
}

static FILE *begin(const char *dir, const char *name, const char *summary)
{
	cleanup_free char *path = xasprintf("%s/%s.1", dir, name);
	FILE *out = fopen(path, "w");

	if (!out) {
		perror(path);
		return NULL;
	}
	fprintf(out, ".TH \"%s\" 1 \"\" \"drey " DREY_VERSION "\" \"drey\"\n.SH NAME\n", name);
	put(out, name);
	fputs(" \\- ", out);
	put(out, summary);
	fputc('\n', out);
	return out;
}

static int page_of(const char *dir, const struct cli_command *command)
{
	cleanup_free char *name = xasprintf("drey-%s", command->name);
	FILE *out = begin(dir, name, command->summary);

	if (!out)
		return -1;
	fputs(".SH SYNOPSIS\n\\fBdrey ", out);
	put(out, command->name);
	fputs("\\fR [\\fIOPTIONS\\fR]", out);
	if (command->arguments) {
		fputs(" \\fI", out);
		put(out, command->arguments);
		fputs("\\fR", out);
	}
	fputs("\n.SH DESCRIPTION\n", out);
	put_paragraphs(out, command->description);
	put_options(out, command);
	put_block(out, "EXIT STATUS", command->statuses);
	if (command->example)
		put_block(out, "EXAMPLES", command->example);
	fputs(".SH SEE ALSO\n\\fBdrey\\fR(1)\n", out);
	return fclose(out);
}

static int overview(const char *dir)
{
	FILE *out = begin(dir, "drey", "supervise an Apache Flink application");

	if (!out)
		return -1;
	fputs(".SH SYNOPSIS\n\\fBdrey\\fR [\\fB\\-c\\fR \\fIFILE\\fR] \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n"
	      ".SH DESCRIPTION\n"
	      "drey decides which state a Flink job starts from, starts Flink with it, verifies that Flink\n"
	      "restored it, takes savepoints, stops the job safely, and reports.\n.SH COMMANDS\n",
	      out);
	for (size_t i = 0; commands_all[i]; i++) {
		fputs(".TP\n\\fBdrey\\-", out);
		put(out, commands_all[i]->name);
		fputs("\\fR(1)\n", out);
		put(out, commands_all[i]->summary);
		fputc('\n', out);
	}
	fputs(".SH ENVIRONMENT\n.TP\n\\fBDREY_CONFIG\\fR\nthe configuration file, if there is no "
	      "\\fB\\-\\-config\\fR\n.TP\n\\fBNO_COLOR\\fR\nno colours, also on a terminal\n",
	      out);
	return fclose(out);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: manual DIR\n", stderr);
		return 2;
	}
	if (overview(argv[1]) != 0)
		return 1;
	for (size_t i = 0; commands_all[i]; i++)
		if (page_of(argv[1], commands_all[i]) != 0)
			return 1;
	return 0;
}
