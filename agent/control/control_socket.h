/*
 * control_socket - <stateDirectory>/drey.sock: how `drey status`, `drey savepoint` ... reach the
 * running drey.
 *
 * A connection carries one request and one answer, each one line of JSON (requests: see
 * control_request.h), and is then closed. Only the same user and root get in: the socket has mode
 * 0600 and the server checks the peer's uid. Bounded: CONTROL_MAX_CLIENTS connections at a
 * time (the next one gets an error), CONTROL_CLIENT_MS to send the request and again to take the
 * answer, sizes below.
 *
 * Server (the driver's): control_server_new() -> handler per request -> control_server_free().
 * Client (the commands'): control_ask(), synchronous.
 */
#ifndef DREY_RUN_CONTROL_SOCKET_H
#define DREY_RUN_CONTROL_SOCKET_H

#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"

struct json;

#define CONTROL_SOCKET_NAME       "drey.sock"
#define CONTROL_MAX_CLIENTS       16
#define CONTROL_CLIENT_MS         5000
#define CONTROL_MAX_REQUEST_BYTES (64 * 1024)
#define CONTROL_MAX_ANSWER_BYTES  (1024 * 1024)

/* ---- server; everything on the loop's thread ---- */

struct control_server; /* opaque */
struct control_call;   /* a request that waits for its answer */

/*
 * Called for every request that is well-formed JSON. `request` is borrowed for the call. The
 * handler owns `call` and must hand it to control_reply() exactly once, now or at any later time,
 * even after the client has disconnected or the server was freed.
 */
typedef void control_fn(void *arg, struct control_call *call, const struct json *request);

/*
 * Listen. The caller holds the lock of the state directory. A stale socket without a listener is
 * replaced; one that answers is ERR_BUSY. ERR_CONFIG: the path is too long for a socket. NULL on
 * failure.
 */
struct control_server *control_server_new(struct loop *loop, const char *state_directory,
					  control_fn *fn, void *arg, struct err *err);

/* Close everything and remove the socket. Unanswered calls stay valid. NULL is allowed. */
void control_server_free(struct control_server *server);

/* Send the answer (borrowed) and release `call`. */
void control_reply(struct control_call *call, const struct json *answer);

/* ---- client ---- */

/*
 * Ask and wait for the answer at most timeout_ms; the caller frees *ret_answer with json_free(). An
 * answer {"ok":false} is an answer. ERR_ABSENT: no drey is running for this state directory (the
 * message names the remedy); ERR_DENIED: another user's; ERR_RETRY: no answer in time; ERR_FORMAT:
 * the answer is not JSON.
 */
int control_ask(const char *state_directory, const struct json *request, int64_t timeout_ms,
		struct json **ret_answer, struct err *err);

#endif
