/*
 * log - one event, one line, one write(2). Only main, run/ and cmd/ use it.
 *
 * Life cycle: log_new() -> log_debug/info/warn/error() -> log_free(). Not thread-safe: the main
 * thread's. There is no global log; it is passed down.
 *
 *   log_info(log, "savepoint completed", LOG_STR("path", path), LOG_I64("size_bytes", size));
 *
 * JSON: {"time":"2026-03-01T12:00:00.123Z","level":"info","msg":"...","path":"...",...}
 * text: 12:00:00.123 info  savepoint completed  path=... size_bytes=...
 *
 * The message is a constant sentence; what varies goes into fields. Control characters and what else
 * is harmful (base/visible.h) are escaped, so a line can neither be forged nor move a cursor. A line longer than LOG_LINE_BYTES loses the end of
 * its longest texts (and has "cut":true), because only writes of up to PIPE_BUF are not
 * interleaved.
 *
 * Logging never waits: if the reader does not keep up, the line is dropped, and the next line that
 * gets through has "dropped":N. The process must ignore SIGPIPE.
 */
#ifndef DREY_BASE_LOG_H
#define DREY_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define LOG_LINE_BYTES 4096 /* with the newline; PIPE_BUF of Linux */

enum log_level {
	LOG_DEBUG,
	LOG_INFO,
	LOG_WARN,
	LOG_ERROR,
};

enum log_format {
	LOG_AUTO, /* text if the fd is a terminal, else JSON */
	LOG_JSON,
	LOG_TEXT,
};

struct log;

struct log_field {
	const char *key;
	enum { LOG_FIELD_NONE, LOG_FIELD_STR, LOG_FIELD_I64, LOG_FIELD_BOOL } kind;
	const char *text;
	int64_t number;
};

#define LOG_STR(name, value)                                                                       \
	((struct log_field){(name), LOG_FIELD_STR, (value), 0}) /* NULL: null */
#define LOG_I64(name, value)  ((struct log_field){(name), LOG_FIELD_I64, NULL, (value)})
#define LOG_BOOL(name, value) ((struct log_field){(name), LOG_FIELD_BOOL, NULL, (value)})
/* "error": the message, "error_kind": the kind's name. */
#define LOG_ERR(err) LOG_STR("error", (err)->msg), LOG_STR("error_kind", err_kind_name((err)->kind))

/* Writes to fd, which stays the caller's. Lines below `level` are not written. */
struct log *log_new(int fd, enum log_format format, enum log_level level);
void log_free(struct log *log); /* NULL is allowed */

/* Add a field to every line from now on, as a JSON member ("app", "launch"); NULL text removes
 * it. */
void log_set_context(struct log *log, const char *key, const char *text);

/* `log` may be NULL: nothing happens. */
void log_event(struct log *log, enum log_level level, const char *msg,
	       const struct log_field *fields, size_t count);

#define log_any(log, level, msg, ...)                                                              \
	log_event((log), (level), (msg),                                                           \
		  (const struct log_field[]){{NULL, LOG_FIELD_NONE, NULL, 0}, ##__VA_ARGS__},      \
		  sizeof((const struct log_field[]){{NULL, LOG_FIELD_NONE, NULL, 0},               \
						    ##__VA_ARGS__}) /                              \
			  sizeof(struct log_field))
#define log_debug(log, msg, ...) log_any(log, LOG_DEBUG, msg, ##__VA_ARGS__)
#define log_info(log, msg, ...)  log_any(log, LOG_INFO, msg, ##__VA_ARGS__)
#define log_warn(log, msg, ...)  log_any(log, LOG_WARN, msg, ##__VA_ARGS__)
#define log_error(log, msg, ...) log_any(log, LOG_ERROR, msg, ##__VA_ARGS__)

#endif
