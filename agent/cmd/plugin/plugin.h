/*
 * plugin - `kubectl drey`: the same program under the name kubectl-drey, for people outside of the Pods. It reads
 * ConfigMaps and custom resources as the user of the kubeconfig, and requests by the control ConfigMap; docs/reference/kubectl.md
 * has the rights that each command needs.
 *
 * Every command has PLUGIN_WHERE in its table, .program = PLUGIN_PROGRAM, and for one application
 * .config = plugin_config: so what `drey COMMAND` does with a configuration works here, too.
 */
#ifndef DREY_CMD_PLUGIN_H
#define DREY_CMD_PLUGIN_H

#include <stdbool.h>

#include "cmd/cli.h"
#include "kube/kube_target.h"

#define PLUGIN_NAME    "kubectl-drey"
#define PLUGIN_PROGRAM "kubectl drey"

#define PLUGIN_CLUSTER                                                                             \
	{"as", 0, "USER", "act as this user, if you may impersonate", false},                      \
		{"as-group", 0, "GROUP", "and as a member of this group; may be repeated", true},  \
		{"context", 0, "NAME", "context of the kubeconfig (default: the current one)",     \
		 false},                                                                           \
	{                                                                                          \
		"kubeconfig", 0, "FILE", "kubeconfig (default $KUBECONFIG, then ~/.kube/config)",  \
			false                                                                      \
	}
#define PLUGIN_WHERE                                                                               \
	{"namespace", 'n', "NAMESPACE", "namespace (default: that of the context)", false},        \
		PLUGIN_CLUSTER

/* Labels of the ConfigMaps of the chart that have a drey.yaml. */
#define PLUGIN_CHART_MAPS "app.kubernetes.io/name=flink-application,!app.kubernetes.io/component"

struct config;

/* All of them, in the order of `kubectl drey --help`; NULL-terminated. */
extern const struct cli_command *const plugin_commands[];

/* The name under which this process was started is that of the plugin. */
bool plugin_is_called(const char *argv0);

/* The API server and the user that the options name; its namespace is set. A kubeconfig may log in with a program, and a
 * warning is printed if the server's certificate is not checked. ERR_CONFIG and the errors of kube_find(). The caller releases. */
int plugin_target(const struct cli *cli, struct kube_target *ret_target, struct err *err);

/*
 * The configuration of the application that the first argument names, for setup_kube(). Its ConfigMap is NAME-drey, or
 * one with the labels of the chart whose release or application is NAME; else, if there is a journal NAME-drey-journal
 * or a custom resource NAME, the default names count. ERR_ABSENT: none of these; ERR_DENIED: not for this user; else as
 * plugin_target() and app.h.
 */
int plugin_config(const struct cli *cli, struct config *ret_config, struct err *err);

#endif
