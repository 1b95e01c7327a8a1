/* `drey verify PATH`: is a snapshot complete? Returns the exit status. */
#ifndef DREY_CMD_VERIFY_H
#define DREY_CMD_VERIFY_H

int cmd_verify(int argc, char **argv);

#endif
