/*
 * flink_ask - Flink's REST API, asked by a command itself instead of by the agent.
 *
 * Life cycle: flink_ask_open() -> ask by setup->rest -> setup_release().
 */
#ifndef DREY_CMD_FLINK_ASK_H
#define DREY_CMD_FLINK_ASK_H

#include "cmd/cli.h"
#include "run/config/setup.h"

/* -1: the configuration, or the keys of Flink's REST API, cannot be read. */
int flink_ask_open(const struct cli *cli, struct setup *ret_setup, struct err *err);

#endif
