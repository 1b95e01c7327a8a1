/*
 * sock - what servers on the loop do with their sockets: take connections, and send what was
 * answered.
 *
 * A process without free descriptors cannot accept, and the socket stays readable all the while: a
 * loop that only tried again would spin. So one connection of the server's own is given up for the
 * new one, or, without any, the listener pauses for SOCK_RETRY_MS.
 *
 * Life cycle: sock_listener_new() -> the callbacks -> sock_listener_free().
 */
#ifndef DREY_BASE_SOCK_H
#define DREY_BASE_SOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/loop.h"

#define SOCK_RETRY_MS 5000

struct sock_listener; /* opaque */

/* A connection, non-blocking and close-on-exec: the callee's. */
typedef void sock_accept_fn(void *arg, int fd);

/* Out of descriptors: close a connection that is less worth than a new one. False: there is none. */
typedef bool sock_spare_fn(void *arg);

/* `fd` listens; after success it is the listener's. `spare` may be NULL. NULL on failure. */
struct sock_listener *sock_listener_new(struct loop *loop, int fd, sock_accept_fn *accepted,
					sock_spare_fn *spare, void *arg, struct err *err);
void sock_listener_free(struct sock_listener *listener); /* closes; NULL is allowed */

/* Send what the socket takes of `out` from *sent_bytes on. 1: all is sent; 0: it is full, send the
 * rest when it can be written to; -1: the peer has gone. */
int sock_send(int fd, const struct buf *out, size_t *sent_bytes);

#endif
