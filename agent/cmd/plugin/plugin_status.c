#include "cmd/plugin/plugin_status.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/output.h"
#include "cmd/plugin/plugin.h"
#include "cmd/plugin/plugin_commands.h"
#include "cmd/plugin/plugin_unstarted.h"
#include "cmd/rows.h"
#include "cmd/status_offline.h"
#include "cmd/status_text.h"
#include "kube/flinkapp.h"
#include "run/config/setup_kube.h"
#include "run/journal/journal_store.h"

/* ---- reading ---- */

/* One of the two sources. */
struct source {
	struct json *doc; /* NULL: there is none, or it cannot be read */
	char *place, *writer;
	struct err err;
	bool absent;
};

static void source_release(struct source *source)
{
	json_free(source->doc);
	free(source->place);
	free(source->writer);
}

static void read_from_journal(const struct config *config, const struct setup_kube *setup,
			      struct source *ret)
{
	struct journal_store *store = journal_store_open(config, setup);
	struct journal journal;

	ret->place = xstrdup(journal_store_place(store));
	if (journal_store_read(store, &journal, &ret->err) == 0) {
		ret->writer = xstrdup(journal.writer);
		ret->doc = status_of_journal(&journal, NULL);
	}
	ret->absent = ret->err.kind == ERR_ABSENT;
	journal_store_free(store);
}

static void read_from_resource(const struct setup_kube *setup, struct source *ret)
{
	cleanup_kube_answer struct kube_answer answer = {0};
	struct kube *kube;

	ret->absent = !setup->resource;
	if (ret->absent)
		return;
	kube = kube_open(setup->client);
	ret->place = xasprintf(FLINKAPP_KIND " %s/%s", setup->config.namespace, setup->resource);
	if (flinkapp_get_status(kube, setup->resource, &ret->doc, &answer, &ret->err) < 0)
		ret->absent = ret->err.kind == ERR_ABSENT || answer.path_unknown;
	else
		ret->absent = !ret->doc;
	kube_free(kube);
}

static int64_t changed(const struct source *source)
{
	struct status_view view;

	status_view_read(source->doc, &view);
	return source->doc ? status_view_changed(&view) : -1;
}

/* There is no journal: the Deployment or Job and its Pods say more. */
static void tell_why_unstarted(const struct cli *cli, const struct config *config,
			       const struct setup_kube *setup)
{
	struct unstarted unstarted = {0};
	struct err err = {0};

	if (plugin_unstarted_read(&setup->config, config, &unstarted, &err) < 0)
		cli_fail(cli, 0, "why cannot be read: %s", err.msg);
	else
		cli_fail(cli, 0, "%s", unstarted.text);
	unstarted_release(&unstarted);
}

/* CLI_OK: it is taken out of the source. */
static int choose(const struct cli *cli, const struct config *config,
		  const struct setup_kube *setup, struct source *journal, struct source *resource,
		  struct plugin_status *ret)
{
	bool use_resource = changed(resource) >= changed(journal);
	struct source *from = use_resource ? resource : journal;

	if (!resource->absent && !resource->doc)
		cli_fail(cli, 0, "%s cannot be read: %s", resource->place, resource->err.msg);
	if (!journal->absent && !journal->doc)
		cli_fail(cli, 0, "%s cannot be read: %s", journal->place, journal->err.msg);
	if (!from->doc && (!journal->absent || !resource->absent))
		return CLI_ABSENT;
	if (!from->doc && !plugin_unstarted_can_tell(config))
		return cli_fail(
			cli, CLI_ABSENT,
			"the journal of %s is a file in its Pod (kubernetes.journal: none), and it has no FlinkApplication with a status; use `drey status` in the Pod",
			config->application);
	if (!from->doc) {
		cli_fail(cli, 0, "there is no journal in %s: drey has not run for %s yet",
			 journal->place, config->application);
		tell_why_unstarted(cli, config, setup);
		return CLI_ABSENT;
	}
	*ret = (struct plugin_status){.doc = from->doc,
				      .place = xstrdup(from->place),
				      .writer = xstrdup(from->writer),
				      .resource = use_resource};
	from->doc = NULL;
	return CLI_OK;
}

int plugin_status_read(const struct cli *cli, struct plugin_status *ret)
{
	struct source journal = {0}, resource = {0};
	cleanup_setup_kube struct setup_kube setup = {0};
	cleanup_config struct config config = {0};
	struct err err = {0};
	int status;

	if (cli_config(cli, &config, &err) < 0)
		return cli_config_fail(cli, &err);
	if (setup_kube(&config, &setup, &err) < 0) {
		status = cli_config_fail(cli, &err);
	} else {
		read_from_journal(&config, &setup, &journal);
		read_from_resource(&setup, &resource);
		status = choose(cli, &config, &setup, &journal, &resource, ret);
	}
	source_release(&journal);
	source_release(&resource);
	return status;
}

void plugin_status_release(struct plugin_status *status)
{
	json_free(status->doc);
	free(status->place);
	free(status->writer);
}

/* ---- the command ---- */

static void print_status(const struct cli *cli, const struct plugin_status *status,
			 const struct status_view *view)
{
	struct status_layout layout = {.term = out_term(cli->out),
				       .wide = output_wide(cli),
				       .now_unix_ms = clock_unix_ms(),
				       .program = PLUGIN_PROGRAM};
	cleanup_shown struct shown text = {0};
	struct rows rows = {.term = &layout.term, .now_unix_ms = layout.now_unix_ms, .to = &text};

	status_text(view, &layout, &text);
	rows_begin(&rows, "read from");
	rows_add(&rows, "%s%s%s", status->place, status->writer ? ", written by " : "",
		 status->writer ? status->writer : "");
	rows_end(&rows);
	out_shown(cli->out, &text);
}

static int status_run(const struct cli *cli)
{
	struct plugin_status status = {0};
	struct status_view view;
	int end = plugin_status_read(cli, &status);

	if (end != CLI_OK)
		return end;
	status_view_read(status.doc, &view);
	/* a journal does not tell whether all tasks run now */
	if (!status.resource && status_view_is(&view, "Running"))
		view.ready = true;
	end = status_view_exit(&view);
	if (cli_has(cli, "json"))
		output_document(cli, status.doc);
	else
		print_status(cli, &status, &view);
	plugin_status_release(&status);
	return end;
}

static const struct cli_option options[] = {PLUGIN_WHERE, CLI_JSON_WIDE, CLI_END};

const struct cli_command plugin_status = {
	.program = PLUGIN_PROGRAM,
	.name = "status",
	.arguments = "NAME",
	.min_args = 1,
	.max_args = 1,
	.summary = "show an application's state, and what it was started from",
	.description =
		"Reads the status of the FlinkApplication, if there is one, and the ConfigMap of the journal,\n"
		"and shows the one with the later transition: it works whether or not a Pod is there. It is\n"
		"the state at the last write; the last line says of what. --json prints the document that\n"
		"docs/reference/status.md describes.\n",
	.options = options,
	.statuses = "0  Running; with a FlinkApplication: and ready, all tasks are running\n"
		    "1  between two phases, or not ready\n"
		    "2  wrong usage or configuration\n"
		    "3  parked: Suspended, Cancelled, Finished, Failed\n"
		    "4  Holding\n"
		    "5  there is no such application, or it cannot be read\n",
	.example = "kubectl drey status orders -n shop\n",
	.run = status_run,
	.config = plugin_config,
};
