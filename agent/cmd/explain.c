#include <string.h>
#include <strings.h>

#include "base/distance.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/page.h"
#include "cmd/term.h"
#include "cmd/wrap.h"
#include "core/report/cause.h"
#include "core/report/runbook.h"

#define READABLE_COLUMNS 100
#define NAME_COLUMNS     26
#define BEGUN_LEAST      4 /* letters of a word that is only begun */

static const struct cli_option options[] = {
	{"markdown", 0, NULL, "print the page as it is in docs/runbook", false},
	CLI_END,
};

/* A page is prose: lines of a whole wide screen are hard to read, and a file has no width at all. */
static struct term readable(struct out out)
{
	struct term term = out_term(out);

	if (!term.width)
		term.width = TERM_DEFAULT_WIDTH;
	if (term.width > READABLE_COLUMNS)
		term.width = READABLE_COLUMNS;
	return term;
}

static void print_list(struct out out)
{
	struct term term = readable(out);

	for (const struct embedded *page = runbook_pages; page->name; page++) {
		cleanup_shown struct shown line = {0};
		size_t len;
		const char *sentence = runbook_sentence(page, &len);
		cleanup_free char *text = xstrndup(sentence, len);

		shown_begin(&line, &term, TERM_BOLD);
		shown_addf(&line, "%s", page->name);
		shown_end(&line, &term, TERM_BOLD);
		shown_addf(&line, "%*s", (int)(NAME_COLUMNS - strlen(page->name)), "");
		wrap_add(text, NAME_COLUMNS, NAME_COLUMNS, (size_t)term.width, &line);
		shown_addf(&line, "\n");
		out_shown(out, &line);
	}
}

static int unknown(const struct cli *cli, const char *word)
{
	const char *causes[CAUSE_COUNT + 1] = {NULL}, *nearest;
	cleanup_buf struct buf begun = BUF_INIT;

	for (size_t i = 0; i < CAUSE_COUNT && runbook_pages[i].name; i++) {
		causes[i] = runbook_pages[i].name;
		if (strlen(word) >= BEGUN_LEAST && !strncasecmp(causes[i], word, strlen(word)))
			buf_addf(&begun, "%s%s", begun.len_bytes ? ", " : "", causes[i]);
	}
	if (begun.len_bytes)
		return cli_fail(cli, CLI_USAGE, "no cause '%s'; these begin like it: %s", word,
				buf_str(&begun));
	nearest = distance_nearest(word, causes);
	if (nearest)
		return cli_fail(cli, CLI_USAGE, "no cause '%s'; did you mean '%s'?", word, nearest);
	return cli_fail(cli, CLI_USAGE, "no cause '%s'; `drey explain` lists them all", word);
}

static int explain_run(const struct cli *cli)
{
	const struct embedded *page;
	cleanup_shown struct shown text = {0};
	struct term term = readable(cli->out);

	if (!cli->arg_count) {
		print_list(cli->out);
		return CLI_OK;
	}
	page = runbook_find(cli->args[0]);
	if (!page)
		return unknown(cli, cli->args[0]);
	if (cli_has(cli, "markdown")) {
		out_lines(cli->out, page->text);
		return CLI_OK;
	}
	page_add(page->text, &term, &text);
	out_shown(cli->out, &text);
	return CLI_OK;
}

const struct cli_command cmd_explain = {
	.name = "explain",
	.arguments = "[CAUSE]",
	.max_args = 1,
	.summary = "explain a cause: what it means, and the ways out",
	.description =
		"Prints the page of the runbook for a cause, the word that `drey status` shows when drey\n"
		"holds or does not reach the desired state. The pages are part of this program, so it needs\n"
		"no configuration, no network and no running drey. Without a cause it lists all of them.\n",
	.options = options,
	.statuses = "0  the page or the list was printed\n"
		    "2  wrong usage, or no such cause\n",
	.example = "drey explain NewestStateMissing\n",
	.run = explain_run,
};
