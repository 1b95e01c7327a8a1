/* plugin_commands - every command of `kubectl drey`. */
#ifndef DREY_CMD_PLUGIN_COMMANDS_H
#define DREY_CMD_PLUGIN_COMMANDS_H

#include "cmd/cli.h"

extern const struct cli_command plugin_list;
extern const struct cli_command plugin_status;
extern const struct cli_command plugin_history;
extern const struct cli_command plugin_explain;
extern const struct cli_command plugin_savepoint;
extern const struct cli_command plugin_suspend;
extern const struct cli_command plugin_resume;
extern const struct cli_command plugin_restart;
extern const struct cli_command plugin_promote;
extern const struct cli_command plugin_abort;
extern const struct cli_command plugin_acknowledge;
extern const struct cli_command plugin_snapshots;
extern const struct cli_command plugin_logs;
extern const struct cli_command plugin_page;
extern const struct cli_command plugin_version;

#endif
