/*
 * sock - socket handling for servers on the loop: accept connections, and send answers.
 *
 * A process without free descriptors cannot accept, and the socket stays readable: a loop that only
 * retried would spin. So the server closes one of its connections for the new one, or, without any,
 * the listener pauses for SOCK_RETRY_MS.
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

/* A connection, non-blocking and close-on-exec; the callee owns it. */
typedef void sock_accept_fn(void *arg, int fd);

/* Out of descriptors: close a connection that is worth less than a new one. False: there is
 * none. */
typedef bool sock_spare_fn(void *arg);

/* `fd` listens; on success the listener owns it. `spare` may be NULL. NULL on failure. */
struct sock_listener *sock_listener_new(struct loop *loop, int fd, sock_accept_fn *accepted,
					sock_spare_fn *spare, void *arg, struct err *err);
void sock_listener_free(struct sock_listener *listener); /* closes; NULL is allowed */

/* Send as much of `out` from *sent_bytes on as the socket accepts. 1: everything is sent; 0: it is
 * full, send the rest when it is writable; -1: the peer has disconnected. */
int sock_send(int fd, const struct buf *out, size_t *sent_bytes);

#endif
