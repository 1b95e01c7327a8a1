/*
 * signals - every signal is blocked except inside signals_wait(), so nothing is ever half handled.
 *
 * A handler only counts. ppoll(2) lets signals in for exactly the time of the wait, which needs
 * neither signalfd(2) nor epoll(7) and so works under any seccomp profile. The counters are the one
 * piece of file-scope state in drey-init: a handler has no other way to report.
 *
 * Life cycle: signals_block() is the first thing main() does -> signals_catch() -> signals_wait()
 * and signals_take() in a loop; signals_restore() in each forked child before exec.
 *
 * How each signal is handled:
 *   SEGV BUS FPE ILL TRAP SYS ABRT  left alone: a fault of our own must kill us
 *   KILL STOP, libc's own (32..34)  cannot be caught
 *   TTIN TTOU                       ignored: drey-init writes to its terminal from the background
 *   CHLD                            reaping
 *   all others                      handed to the loop
 */
#ifndef DREY_ENTRYPOINT_SIGNALS_H
#define DREY_ENTRYPOINT_SIGNALS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#define SIGNALS_MAX 64

void signals_block(void);
void signals_catch(void);

/*
 * Wait for a descriptor or a signal; timeout_ms < 0 is without limit. Afterwards every signal that
 * has arrived is counted. Returns the number of descriptors that are ready.
 */
int signals_wait(struct pollfd *fds, unsigned nfds, int64_t timeout_ms);

/* Remove one arrival of signo from the count; false if there was none. */
bool signals_take(int signo);

/* True if the last SIGINT was typed at a terminal (the kernel sent it, not a process). */
bool signals_int_was_typed(void);

/*
 * In the child: the mask and the ignored signals that drey-init itself was started with. SIGCHLD
 * and SIGPIPE are always reset to default: a program hardly ever expects to inherit them as
 * ignored.
 */
void signals_restore(void);

#endif
