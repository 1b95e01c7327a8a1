/* `drey inspect FILE`: print what a file of Flink says. Returns the exit status. */
#ifndef DREY_CMD_INSPECT_H
#define DREY_CMD_INSPECT_H

int cmd_inspect(int argc, char **argv);

#endif
