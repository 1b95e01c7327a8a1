/* kubectl drey list: the fleet, from custom resources and journals. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/output.h"
#include "cmd/plugin/fleet.h"
#include "cmd/plugin/plugin.h"
#include "cmd/plugin/plugin_commands.h"
#include "cmd/plugin/plugin_unstarted.h"
#include "cmd/status_offline.h"
#include "core/journal/journal.h"
#include "kube/configmap.h"
#include "kube/flinkapp.h"
#include "kube/kube_list.h"
#include "kube/map_mark.h"
#include "run/journal/journal_map.h"

#define JOURNALS "app.kubernetes.io/name=flink-application,app.kubernetes.io/component=journal"
#define NAME     "app.kubernetes.io/instance"

/* ---- reading ---- */

struct gathering {
	const struct cli *cli;
	struct kube *kube;
	const char *namespace; /* NULL: all */
	struct fleet fleet;
	struct json *unreadable; /* what is missing from the list, and why */
	int lists;               /* how many of the two could be read */
};

static void note_missing(struct gathering *gathering, const char *what, const char *why)
{
	cleanup_free char *text = xasprintf("%s cannot be read: %s", what, why);

	json_add_str(gathering->unreadable, NULL, text);
	cli_fail(gathering->cli, 0, "%s", text);
}

static int take_resource(void *ctx, const struct json *item, struct err *err)
{
	struct gathering *gathering = ctx;

	(void)err;
	fleet_add_resource(&gathering->fleet, item);
	return 0;
}

static void read_resources(struct gathering *gathering)
{
	struct err err = {0};
	bool unknown = false;

	/* without the definition there are none: it is optional */
	if (flinkapp_list(gathering->kube, gathering->namespace, &unknown, take_resource, gathering,
			  &err) == 0 ||
	    err.kind == ERR_ABSENT || unknown)
		gathering->lists++;
	else
		note_missing(gathering, "the custom resources FlinkApplication", err.msg);
}

static int take_journal(void *ctx, const struct json *item, struct err *err)
{
	struct gathering *gathering = ctx;
	const struct json *metadata = json_get(item, "metadata");
	const char *namespace = json_str(metadata, "namespace");
	const char *name = json_str(metadata, "name");
	const char *application = json_str(json_get(metadata, "labels"), NAME);
	const char *text = json_str(json_get(item, "data"), JOURNAL_MAP_KEY);
	cleanup_json struct json *doc = NULL;
	struct journal journal;
	struct err why = {0};

	(void)err;
	/* made by the chart, and nothing was written yet: it has not started */
	if (!text && map_mark_is_fresh(metadata))
		return 0;
	if (text && journal_decode(text, strlen(text), &journal, &why) == 0) {
		doc = status_of_journal(&journal, NULL);
		fleet_add_journal(&gathering->fleet, namespace, doc);
	} else {
		cleanup_free char *what =
			xasprintf("ConfigMap %s/%s", namespace ? namespace : "", name ? name : "");

		note_missing(gathering, what, text ? why.msg : "it has no key " JOURNAL_MAP_KEY);
		fleet_add_broken(&gathering->fleet, namespace, application ? application : name,
				 text ? why.msg : "no key " JOURNAL_MAP_KEY);
	}
	return 0;
}

static bool read_journals(struct gathering *gathering)
{
	cleanup_free char *collection = configmap_collection(gathering->namespace);
	struct kube_list list = {.collection = collection,
				 .kind = "ConfigMapList",
				 .label_selector = JOURNALS,
				 .limit = CONFIGMAP_LIST_LIMIT,
				 .max_items = CONFIGMAP_LIST_MAX,
				 .max_bytes = 4 * (size_t)CONFIGMAP_LIST_MAX_BYTES};
	struct err err = {0};

	if (kube_list(gathering->kube, &list, take_journal, gathering, &err) < 0) {
		note_missing(gathering,
			     "the journals of applications without a custom resource (ConfigMaps)",
			     err.msg);
		return false;
	}
	gathering->lists++;
	return true;
}

/* They have no journal, so this needs to know the journals. */
static void read_unstarted(struct gathering *gathering, const struct kube_target *target)
{
	struct err err = {0};

	if (plugin_unstarted_list(target, gathering->namespace, &gathering->fleet, &err) < 0)
		note_missing(gathering, "applications that have not started (ConfigMaps)", err.msg);
}

/* ---- printing ---- */

static void print_fleet(const struct gathering *gathering)
{
	const struct cli *cli = gathering->cli;
	struct fleet_layout layout = {.term = out_term(cli->out),
				      .now_unix_ms = clock_unix_ms(),
				      .namespaces = !gathering->namespace,
				      .wide = output_wide(cli)};
	cleanup_shown struct shown text = {0};

	if (cli_has(cli, "json")) {
		cleanup_json struct json *doc =
			fleet_document(&gathering->fleet, gathering->unreadable);

		output_document(cli, doc);
		return;
	}
	fleet_text(&gathering->fleet, &layout, &text);
	out_shown(cli->out, &text);
	if (!gathering->fleet.count && !json_len(gathering->unreadable))
		cli_fail(cli, 0, "there is no application%s%s",
			 gathering->namespace ? " in namespace " : "",
			 gathering->namespace ? gathering->namespace : "");
}

static int gather(const struct cli *cli, const struct kube_target *target, struct err *err)
{
	struct gathering gathering = {.cli = cli, .unreadable = json_array()};
	int status;

	gathering.kube = kube_new(target, err);
	if (!gathering.kube) {
		json_free(gathering.unreadable);
		return cli_fail(cli, CLI_USAGE, "%s", err->msg);
	}
	gathering.namespace = cli_has(cli, "all-namespaces") ? NULL : target->namespace;
	read_resources(&gathering);
	if (read_journals(&gathering))
		read_unstarted(&gathering, target);
	fleet_sort(&gathering.fleet);
	if (gathering.lists)
		print_fleet(&gathering);
	status = !gathering.lists                 ? CLI_ABSENT
		 : json_len(gathering.unreadable) ? CLI_FAILED
						  : CLI_OK;
	kube_free(gathering.kube);
	fleet_release(&gathering.fleet);
	json_free(gathering.unreadable);
	return status;
}

static int list_run(const struct cli *cli)
{
	cleanup_kube_target struct kube_target target = {0};
	struct err err = {0};

	if (cli_has(cli, "all-namespaces") && cli_has(cli, "namespace"))
		return cli_fail(cli, CLI_USAGE,
				"--all-namespaces and --namespace exclude each other");
	if (plugin_target(cli, &target, &err) < 0)
		return cli_fail(cli, CLI_USAGE, "%s", err.msg);
	return gather(cli, &target, &err);
}

static const struct cli_option options[] = {
	{"all-namespaces", 'A', NULL, "those of all namespaces", false},
	PLUGIN_WHERE,
	CLI_JSON_WIDE,
	CLI_END,
};

const struct cli_command plugin_list = {
	.program = PLUGIN_PROGRAM,
	.name = "list",
	.summary = "list the applications of a namespace, or of all",
	.description =
		"One line for each application: its phase, for how long (AGE), how old its newest savepoint is,\n"
		"and the cause if it does not run as desired. Reads the custom resources FlinkApplication, and\n"
		"the ConfigMaps of the journals for applications that have none; executes nothing in a Pod.\n"
		"What may not be read is said, and the status is 1: then the list is incomplete.\n",
	.options = options,
	.statuses = "0  all were listed\n"
		    "1  the list is incomplete: something could not be read\n"
		    "2  wrong usage or configuration\n"
		    "5  nothing could be read\n",
	.example =
		"kubectl drey list -A\n"
		"kubectl drey list -A -o json | jq '.applications[] | select(.phase == \"Holding\")'\n",
	.run = list_run,
};
