#include "cmd/completion.h"

#include <stdbool.h>
#include <string.h>

#include "cmd/commands.h"
#include "core/report/runbook.h"

/* inside of a text between two */
#define ZSH_APOSTROPHE  "'\\''"
#define FISH_APOSTROPHE "\\'"

/* How much of the text is its first line, without a bracket that only a later line closes. */
static size_t first_line(const char *text)
{
	size_t len = strcspn(text, "\n");
	const char *open = memrchr(text, '(', len);

	if (open && !memchr(open, ')', (size_t)(text + len - open)))
		len = (size_t)(open - text);
	while (len && strchr(" ,;:", text[len - 1]))
		len--;
	return len;
}

/* The first line of a help text between apostrophes, without what the shells take for something else. */
static void add_plain(const char *text, const char *apostrophe, struct buf *to)
{
	size_t len = first_line(text);

	for (size_t i = 0; i < len; i++)
		if (text[i] == '\'')
			buf_addstr(to, apostrophe);
		else if (!strchr("\"`[]\\:$", text[i]))
			buf_addch(to, text[i]);
}

/* What the argument of an option, or of a command, stands for. */
static bool is_file(const char *argument)
{
	return argument && (!strncmp(argument, "FILE", 4) || !strncmp(argument, "PATH", 4) ||
			    !strncmp(argument, "DIR", 3));
}

static void add_causes(struct buf *to)
{
	for (const struct embedded *page = runbook_pages; page->name; page++)
		buf_addf(to, " %s", page->name);
}

/* The words that an argument can be, with a space in front of each; nothing: any. */
static void add_words(const struct cli_command *command, struct buf *to)
{
	const char *arguments = command->arguments ? command->arguments : "";

	if (command == &cmd_explain)
		add_causes(to);
	else if (command == &cmd_completion)
		buf_addstr(to, " bash zsh fish");
	else if (!strcmp(arguments, "on|off"))
		buf_addstr(to, " on off");
}

/* The values of an option that has few. */
static const char *values_of(const struct cli_option *option)
{
	if (!strcmp(option->name, "policy"))
		return "latest savepoint";
	if (!strcmp(option->name, "kind"))
		return "metadata ha-value ha-map completed-checkpoint journal-copy";
	if (strcmp(option->name, "output") != 0)
		return NULL;
	return strcmp(option->help, CLI_OUTPUT_WIDE) ? "json yaml" : "json yaml wide";
}

/* ---- bash ---- */

static void bash_options(const struct cli_command *command, struct buf *to)
{
	buf_addf(to, "\t%s)\n\t\tcase $previous in\n", command->name);
	for (const struct cli_option *option = command->options; option->name; option++) {
		if (!option->argument)
			continue;
		buf_addf(to, "\t\t--%s", option->name);
		if (option->letter)
			buf_addf(to, " | -%c", option->letter);
		if (values_of(option))
			buf_addf(to, ") words='%s' ;;\n", values_of(option));
		else
			buf_addf(to, ") %s ;;\n", is_file(option->argument) ? "files=1" : "return");
	}
	buf_addstr(to, "\t\t*) words='--help");
	for (const struct cli_option *option = command->options; option->name; option++)
		buf_addf(to, " --%s", option->name);
	buf_addstr(to, "' arguments='");
	add_words(command, to);
	buf_addf(to, "' %s;;\n\t\tesac\n\t\t;;\n", is_file(command->arguments) ? "files=1 " : "");
}

static void bash_script(const struct cli_command *const *commands, struct buf *to)
{
	buf_addstr(
		to,
		"# bash completion of drey; made by `drey completion bash`\n"
		"_drey() {\n"
		"\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
		"\tlocal command='' words='' arguments='' files='' i\n"
		"\tCOMPREPLY=()\n"
		"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		"\t\tcase ${COMP_WORDS[i]} in\n"
		"\t\t-c | --config) ((i++)) ;;\n"
		"\t\t-*) ;;\n"
		"\t\t*)\n\t\t\tcommand=${COMP_WORDS[i]}\n\t\t\tbreak\n\t\t\t;;\n"
		"\t\tesac\n\tdone\n\tcase $command in\n\t'')\n"
		"\t\tcase $previous in\n"
		"\t\t-c | --config) files=1 ;;\n"
		"\t\t*) words='--help --version --config' arguments='help");
	for (size_t i = 0; commands[i]; i++)
		buf_addf(to, " %s", commands[i]->name);
	buf_addstr(to, "' ;;\n\t\tesac\n\t\t;;\n\thelp) arguments='");
	for (size_t i = 0; commands[i]; i++)
		buf_addf(to, "%s%s", i ? " " : "", commands[i]->name);
	buf_addstr(to, "' ;;\n");
	for (size_t i = 0; commands[i]; i++)
		bash_options(commands[i], to);
	buf_addstr(to, "\tesac\n"
		       "\t[[ $current == -* ]] || [ -z \"$arguments\" ] || words=$arguments\n"
		       "\tif [ -z \"$files\" ] || [[ $current == -* ]]; then\n"
		       "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
		       "\telse\n"
		       "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
		       "\t\tcompopt -o filenames 2>/dev/null\n"
		       "\tfi\n}\ncomplete -F _drey drey\n");
}

/* ---- zsh ---- */

static void zsh_option(const struct cli_option *option, struct buf *to)
{
	const char *many = option->repeat ? "*" : "";
	const char *values = values_of(option);

	for (int i = option->letter ? 0 : 1; i < 2; i++) {
		if (i)
			buf_addf(to, "\t\t'%s--%s[", many, option->name);
		else
			buf_addf(to, "\t\t'%s-%c[", many, option->letter);
		add_plain(option->help, ZSH_APOSTROPHE, to);
		buf_addch(to, ']');
		if (option->argument)
			buf_addf(to, ":%s:", option->argument);
		if (values)
			buf_addf(to, "(%s)", values);
		else if (is_file(option->argument))
			buf_addstr(to, "_files");
		buf_addstr(to, "' \\\n");
	}
}

static void zsh_command(const struct cli_command *command, struct buf *to)
{
	cleanup_buf struct buf words = BUF_INIT;

	add_words(command, &words);
	buf_addf(to, "\t%s)\n\t\t_arguments \\\n", command->name);
	for (const struct cli_option *option = command->options; option->name; option++)
		zsh_option(option, to);
	buf_addstr(to, "\t\t'(-h --help)'{-h,--help}'[print this help]'");
	if (words.len_bytes)
		buf_addf(to, " \\\n\t\t'*:argument:(%s)'", buf_str(&words) + 1);
	else if (is_file(command->arguments))
		buf_addstr(to, " \\\n\t\t'*:file:_files'");
	buf_addstr(to, "\n\t\t;;\n");
}

static void zsh_script(const struct cli_command *const *commands, struct buf *to)
{
	buf_addstr(to,
		   "#compdef drey\n"
		   "# zsh completion of drey; made by `drey completion zsh`\n"
		   "_drey() {\n"
		   "\tlocal context state state_descr line\n"
		   "\ttypeset -A opt_args\n"
		   "\t_arguments -C '(-c --config)'{-c,--config}'[configuration file]:FILE:_files' "
		   "'1:command:->command' '*::argument:->argument'\n"
		   "\tif [[ $state == command ]]; then\n"
		   "\t\tlocal -a commands=(\n");
	for (size_t i = 0; commands[i]; i++) {
		buf_addf(to, "\t\t\t'%s:", commands[i]->name);
		add_plain(commands[i]->summary, ZSH_APOSTROPHE, to);
		buf_addstr(to, "'\n");
	}
	buf_addstr(to, "\t\t)\n\t\t_describe command commands\n\t\treturn\n\tfi\n"
		       "\tcase $words[1] in\n");
	for (size_t i = 0; commands[i]; i++)
		zsh_command(commands[i], to);
	buf_addstr(to, "\tesac\n}\n"
		       "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n\t_drey \"$@\"\n"
		       "else\n\tcompdef _drey drey\nfi\n");
}

/* ---- fish ---- */

static void fish_command(const struct cli_command *command, struct buf *to)
{
	cleanup_buf struct buf words = BUF_INIT;

	add_words(command, &words);
	buf_addf(to, "complete -c drey -n __drey_command -a %s -d '", command->name);
	add_plain(command->summary, FISH_APOSTROPHE, to);
	buf_addstr(to, "'\n");
	for (const struct cli_option *option = command->options; option->name; option++) {
		buf_addf(to, "complete -c drey -n '__drey_command %s' -l %s", command->name,
			 option->name);
		if (option->letter)
			buf_addf(to, " -s %c", option->letter);
		if (values_of(option))
			buf_addf(to, " -xa '%s'", values_of(option));
		else if (option->argument)
			buf_addstr(to, is_file(option->argument) ? " -rF" : " -x");
		buf_addstr(to, " -d '");
		add_plain(option->help, FISH_APOSTROPHE, to);
		buf_addstr(to, "'\n");
	}
	if (words.len_bytes)
		buf_addf(to, "complete -c drey -n '__drey_command %s' -a '%s'\n", command->name,
			 buf_str(&words) + 1);
	else if (is_file(command->arguments))
		buf_addf(to, "complete -c drey -n '__drey_command %s' -F\n", command->name);
}

static void fish_script(const struct cli_command *const *commands, struct buf *to)
{
	buf_addstr(to, "# fish completion of drey; made by `drey completion fish`\n"
		       "function __drey_command\n"
		       "\tset -l words (commandline -opc)\n"
		       "\tset -e words[1]\n"
		       "\twhile set -q words[1]\n"
		       "\t\tswitch $words[1]\n"
		       "\t\t\tcase -c --config\n"
		       "\t\t\t\tset -e words[1]\n"
		       "\t\t\tcase '-*'\n"
		       "\t\t\tcase '*'\n"
		       "\t\t\t\tif set -q argv[1]\n"
		       "\t\t\t\t\ttest $words[1] = $argv[1]\n"
		       "\t\t\t\t\treturn\n"
		       "\t\t\t\tend\n"
		       "\t\t\t\treturn 1\n"
		       "\t\tend\n"
		       "\t\tset -e words[1]\n"
		       "\tend\n"
		       "\tnot set -q argv[1]\n"
		       "end\n"
		       "complete -c drey -f\n"
		       "complete -c drey -s h -l help -d 'print help'\n"
		       "complete -c drey -n __drey_command -s c -l config -rF "
		       "-d 'configuration file'\n");
	for (size_t i = 0; commands[i]; i++)
		fish_command(commands[i], to);
}

int completion_script(const struct cli_command *const *commands, const char *shell,
		      struct buf *ret_script)
{
	if (!strcmp(shell, "bash"))
		bash_script(commands, ret_script);
	else if (!strcmp(shell, "zsh"))
		zsh_script(commands, ret_script);
	else if (!strcmp(shell, "fish"))
		fish_script(commands, ret_script);
	else
		return -1;
	return 0;
}
