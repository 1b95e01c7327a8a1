/* The commands of kubectl drey, in the order of its help. */
#include <stddef.h>

#include "cmd/plugin/plugin.h"
#include "cmd/plugin/plugin_commands.h"

const struct cli_command *const plugin_commands[] = {
	&plugin_list,      &plugin_status,  &plugin_history,     &plugin_explain,
	&plugin_savepoint, &plugin_suspend, &plugin_resume,      &plugin_restart,
	&plugin_promote,   &plugin_abort,   &plugin_acknowledge, &plugin_snapshots,
	&plugin_logs,      &plugin_page,    &plugin_version,     NULL,
};
