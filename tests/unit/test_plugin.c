#include "cmd/plugin/plugin.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/plugin/app.h"
#include "cmd/plugin/kubectl.h"
#include "tap.h"

/* ---- the name of the program ---- */

TEST(the_name_of_the_program_decides)
{
	CHECK(plugin_is_called("kubectl-drey"));
	CHECK(plugin_is_called("/opt/krew/bin/kubectl-drey"));
	CHECK(!plugin_is_called("drey"));
	CHECK(!plugin_is_called("/opt/kubectl-drey/drey"));
	CHECK(!plugin_is_called("kubectl-drey2"));
	CHECK(!plugin_is_called(NULL));
}

TEST(every_command_says_whose_it_is_and_leads_to_a_cluster)
{
	for (size_t i = 0; plugin_commands[i]; i++) {
		const struct cli_command *command = plugin_commands[i];
		bool where = false;

		CHECK_STR(command->program, PLUGIN_PROGRAM);
		CHECK(strstr(command->example, PLUGIN_PROGRAM) != NULL);
		for (int k = 0; command->options[k].name; k++) {
			where |= !strcmp(command->options[k].name, "kubeconfig");
			CHECK(strcmp(command->options[k].name, "config") != 0);
			CHECK(strcmp(command->options[k].name, "remote") != 0);
		}
		CHECK(where == (command->config || !strcmp(command->name, "list")));
		/* the name of the application */
		CHECK_INT(command->min_args, ==, command->config ? 1 : 0);
	}
}

static char *run(const char *const *words, int *ret_status)
{
	char *argv[16], *text = NULL;
	size_t size;
	int argc = 0;
	FILE *out = open_memstream(&text, &size);

	for (; words[argc]; argc++)
		argv[argc] = (char *)words[argc];
	argv[argc] = NULL;
	*ret_status = cli_main(plugin_commands, argc, argv, out, out);
	fclose(out);
	return text;
}

#define RUN(...) run((const char *const[]){PLUGIN_NAME, __VA_ARGS__, NULL}, &status)

TEST(messages_and_help_name_the_plugin)
{
	cleanup_free char *overview = NULL, *help = NULL, *slip = NULL, *option = NULL;
	int status;

	overview = RUN("--help");
	CHECK_INT(status, ==, CLI_OK);
	CHECK_HAS(overview, "Usage: kubectl drey COMMAND");
	help = RUN("help", "suspend");
	CHECK_HAS(help, "Usage: kubectl drey suspend [--namespace NAMESPACE]");
	slip = RUN("lisst");
	CHECK_INT(status, ==, CLI_USAGE);
	CHECK_STR(slip, "kubectl drey: unknown command 'lisst'; did you mean 'list'?\n");
	option = RUN("status", "orders", "--nope");
	CHECK_STR(option,
		  "kubectl drey status: unknown option --nope; see `kubectl drey status --help`\n");
}

TEST(options_of_kubectl_may_stand_in_front)
{
	static const char *const fronts[][3] = {{"-n", "a b"},
						{"-na b"},
						{"--namespace=a b"},
						{"--context=c", "--namespace", "a b"}};
	char file[] = "/tmp/test_plugin.XXXXXX";
	int status;

	close(mkstemp(file));
	for (size_t i = 0; i < ARRAY_LEN(fronts); i++) {
		const char *words[8] = {PLUGIN_NAME};
		cleanup_free char *text = NULL;
		int at = 1;

		for (int k = 0; k < 3 && fronts[i][k]; k++)
			words[at++] = fronts[i][k];
		words[at++] = "status";
		words[at] = "orders";
		text = run(words, &status);
		CHECK_INT(status, ==, CLI_USAGE);
		CHECK_STR(text, "kubectl drey status: --namespace: 'a b' is not a namespace\n");
	}
	unlink(file);
}

TEST(a_path_on_this_machine_is_not_resumed_from)
{
	cleanup_free char *text = NULL, *both = NULL;
	int status;

	text = RUN("resume", "orders", "--from", "savepoints/1");
	CHECK_INT(status, ==, CLI_USAGE);
	CHECK_HAS(text, "give a URI, or an absolute path in the Pod");
	both = RUN("resume", "orders", "--from", "/sp/1", "--empty");
	CHECK_INT(status, ==, CLI_USAGE);
	CHECK_HAS(both, "exclude each other");
}

/* ---- the objects of an application ---- */

TEST(the_names_come_from_the_drey_yaml_of_the_chart)
{
	struct config config;

	/* also what this drey does not know */
	CHECK_INT(
		app_read(
			"application: orders\nfuture: {key: [1]}\nhttp: {port: 9000}\n"
			"kubernetes:\n  journal: j\n  control: c\n  resource: none\n  owner: job/orders-jobmanager\n",
			&config, NULL),
		==, 0);
	CHECK_STR(config.application, "orders");
	CHECK_STR(config.kubernetes.journal, "j");
	CHECK_STR(config.kubernetes.control, "c");
	CHECK_STR(config.kubernetes.resource, "none");
	CHECK_STR(config.kubernetes.owner, "job/orders-jobmanager");
	CHECK_INT(config.http.port, ==, 9000);
	CHECK_INT(config.kubernetes.enabled, ==, KUBERNETES_TRUE);
	config_release(&config);
	CHECK_INT(app_read("application: orders\n", &config, NULL), ==, 0);
	CHECK(!config.kubernetes.journal && !config.kubernetes.owner);
	CHECK_INT(config.http.port, ==, 8085);
	config_release(&config);
}

TEST(a_drey_yaml_that_is_none_is_refused)
{
	struct err err = {0};
	struct config config;

	CHECK_INT(app_read("a: [", &config, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_INT(app_read("kubernetes: {journal: j}\n", &config, &err), ==, -1);
	CHECK_HAS(err.msg, "no application");
}

static struct configmap map_of(const char *name, const char *release, const char *yaml)
{
	struct configmap map = {
		.name = xstrdup(name), .data = json_object(), .labels = json_object()};

	json_add_str_opt(map.data, APP_KEY, yaml);
	json_add_str_opt(map.labels, "app.kubernetes.io/instance", release);
	return map;
}

TEST(of_several_config_maps_the_one_that_is_meant_is_chosen)
{
	struct configmap maps[] = {
		map_of("orders-drey", "shop", "application: orders\n"),
		map_of("clicks-drey", "shop", "application: clicks\n"),
		map_of("bids-drey", "ads", "application: bids\n"),
		map_of("bids-flink", "ads", NULL),
	};
	static const struct {
		const char *name;
		int found;
		const char *text; /* the map, or of the message */
	} cases[] = {
		{"ads", 1, "bids-drey"},        {"bids", 1, "bids-drey"},
		{"clicks", 1, "clicks-drey"},   {"nobody", 0, NULL},
		{"shop", -1, "orders, clicks"}, {"bids-drey", 0, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct configmap *map = NULL;
		struct err err = {0};

		CHECK_INT(app_choose(maps, ARRAY_LEN(maps), cases[i].name, &map, &err), ==,
			  cases[i].found);
		if (cases[i].found > 0)
			CHECK_STR(map ? map->name : "", cases[i].text);
		if (cases[i].found < 0)
			CHECK_HAS(err.msg, cases[i].text);
	}
	for (size_t i = 0; i < ARRAY_LEN(maps); i++)
		configmap_release(&maps[i]);
}

TEST(the_workload_is_the_owner_and_never_an_option)
{
	static const struct {
		const char *application, *owner, *want; /* NULL: refused */
	} rows[] = {
		{"orders", NULL, "deployment/orders-jobmanager"},
		{"orders", "job/x", "job/x"},
		{"orders", "deployment/a.b-c", "deployment/a.b-c"},
		{"orders", "none", NULL},
		{"orders", "--server=https://evil", NULL},
		{"orders", "deployment/", NULL},
		{"orders", "deployment/a/b", NULL},
		{"orders", "deployment/A", NULL},
		{"orders", "pod/x", NULL},
		{"orders", "x", NULL},
		{"orders", "job/x y", NULL},
		{"../x", NULL, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *workload = NULL;
		struct config config;
		struct err err = {0};

		app_default(rows[i].application, &config);
		xstrset(&config.kubernetes.owner, rows[i].owner);
		CHECK_INT(app_workload(&config, &workload, &err), ==, rows[i].want ? 0 : -1);
		CHECK_STR(workload, rows[i].want);
		if (!rows[i].want)
			CHECK_HAS(err.msg, "kubernetes.owner");
		config_release(&config);
	}
}

/* ---- kubectl ---- */

TEST(kubectl_gets_the_same_cluster)
{
	static const char *const want[] = {
		"kubectl", "--kubeconfig=k", "--context=c", "--namespace",
		"shop",    "logs",           "--",          "-x"};
	struct kubectl kubectl;
	struct cli cli;
	char *words[] = {"orders", "--context", "c", "--kubeconfig", "k"};
	const struct cli_command *logs = plugin_commands[12];

	CHECK_STR(logs->name, "logs");
	CHECK_INT(cli_parse(logs, 5, words, out_of(stdout), out_of(stderr), &cli), ==, CLI_OK);
	unsetenv(KUBECTL_ENV);
	kubectl_begin(&kubectl, &cli, "shop");
	kubectl_add(&kubectl, "logs");
	kubectl_add(&kubectl, NULL);
	kubectl_add_names(&kubectl, "-x", NULL);
	CHECK_INT(kubectl.count, ==, ARRAY_LEN(want));
	for (size_t i = 0; i < kubectl.count; i++)
		CHECK_STR(kubectl.words[i], want[i]);
	kubectl_release(&kubectl);
	setenv(KUBECTL_ENV, "/opt/oc", 1);
	kubectl_begin(&kubectl, &cli, "shop");
	CHECK_STR(kubectl.words[0], "/opt/oc");
	kubectl_release(&kubectl);
}

TEST(the_port_is_in_the_line_that_kubectl_prints)
{
	CHECK_INT(kubectl_forwarded_port("Forwarding from 127.0.0.1:43211 -> 8085\n"), ==, 43211);
	CHECK_INT(kubectl_forwarded_port("Forwarding from [::1]:43211 -> 8085\n"), ==, 0);
	CHECK_INT(kubectl_forwarded_port("Handling connection for 43211\n"), ==, 0);
	CHECK_INT(kubectl_forwarded_port("Forwarding from 127.0.0.1:0 -> 8085\n"), ==, 0);
	CHECK_INT(kubectl_forwarded_port("Forwarding from 127.0.0.1:70000 -> 8085\n"), ==, 0);
	CHECK_INT(kubectl_forwarded_port("Forwarding from 127.0.0.1:12x -> 8085\n"), ==, 0);
}
