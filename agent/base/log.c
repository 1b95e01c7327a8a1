#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"

#define CONTEXT_MAX 8
#define MIN_TEXT    32 /* a text is shortened to this before the line is dropped */

struct log {
	int fd;     /* the caller's */
	int own_fd; /* a non-blocking description of the same pipe, or -1 */
	bool socket, json;
	enum log_level level;
	struct {
		char *key, *text;
	} context[CONTEXT_MAX];
	uint64_t unreported; /* lines lost since the last written one */
	struct buf line;
};

static const char *const level_names[] = {"debug", "info", "warn", "error"};

struct log *log_new(int fd, enum log_format format, enum log_level level)
{
	struct log *log = xcalloc(1, sizeof(*log));
	char path[40];
	struct stat st;

	log->fd = fd;
	log->own_fd = -1;
	log->level = level;
	log->json = format == LOG_JSON || (format == LOG_AUTO && !isatty(fd));
	if (fstat(fd, &st))
		return log;
	log->socket = S_ISSOCK(st.st_mode);
	/* O_NONBLOCK belongs to the open file description, which Flink shares: so open a separate
	 * one */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (S_ISFIFO(st.st_mode))
		log->own_fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	return log;
}

void log_free(struct log *log)
{
	if (!log)
		return;
	for (int i = 0; i < CONTEXT_MAX; i++) {
		free(log->context[i].key);
		free(log->context[i].text);
	}
	if (log->own_fd >= 0)
		close(log->own_fd);
	buf_release(&log->line);
	free(log);
}

void log_set_context(struct log *log, const char *key, const char *text)
{
	int slot = -1;

	for (int i = CONTEXT_MAX - 1; i >= 0; i--)
		if (!log->context[i].key)
			slot = i;
	for (int i = 0; i < CONTEXT_MAX; i++)
		if (log->context[i].key && !strcmp(log->context[i].key, key))
			slot = i;
	if (slot < 0)
		return;
	xstrset(&log->context[slot].key, text ? key : NULL);
	xstrset(&log->context[slot].text, text);
}

/* ---- one line ---- */

static bool plain_word(const char *text, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes; i++)
		if (text[i] <= ' ' || text[i] > '~' || strchr("\"\\=", text[i]))
			return false;
	return len_bytes > 0;
}

static void add_text(struct log *log, const char *text, size_t max_bytes, bool *cut)
{
	size_t len = utf8_cut(text, max_bytes);

	if (text[len])
		*cut = true;
	if (!log->json && plain_word(text, len))
		buf_add(&log->line, text, len);
	else
		json_quote(&log->line, text, len);
}

static void add_key(struct log *log, const char *key)
{
	if (log->json) {
		buf_addch(&log->line, ',');
		json_quote(&log->line, key, strlen(key));
		buf_addch(&log->line, ':');
	} else {
		buf_addf(&log->line, " %s=", key);
	}
}

static void add_field(struct log *log, const struct log_field *field, size_t max_bytes, bool *cut)
{
	if (field->kind == LOG_FIELD_NONE)
		return;
	add_key(log, field->key);
	if (field->kind == LOG_FIELD_I64)
		buf_addf(&log->line, "%" PRId64, field->number);
	else if (field->kind == LOG_FIELD_BOOL)
		buf_addstr(&log->line, field->number ? "true" : "false");
	else if (field->text)
		add_text(log, field->text, max_bytes, cut);
	else
		buf_addstr(&log->line, "null");
}

/* The message in text form: unchanged, except for bytes that could move a cursor. */
static void add_message(struct log *log, const char *msg, size_t max_bytes, bool *cut)
{
	size_t len = utf8_cut(msg, max_bytes);
	size_t start = log->line.len_bytes;

	if (msg[len])
		*cut = true;
	json_quote(&log->line, msg, len);
	if (log->json)
		return;
	/* without the quotes */
	log->line.len_bytes--;
	memmove(log->line.data + start, log->line.data + start + 1, log->line.len_bytes - start);
	log->line.len_bytes--;
	log->line.data[log->line.len_bytes] = '\0';
}

static void build_line(struct log *log, enum log_level level, const char *msg,
		       const struct log_field *fields, size_t count, size_t max_bytes)
{
	struct buf *line = &log->line;
	char now[CLOCK_TEXT_BYTES];
	bool cut = false;

	buf_clear(line);
	clock_rfc3339(clock_unix_ms(), now);
	if (log->json)
		buf_addf(line, "{\"time\":\"%s\",\"level\":\"%s\",\"msg\":", now,
			 level_names[level]);
	else
		buf_addf(line, "%.12s %-5s ", now + 11, level_names[level]);
	add_message(log, msg, max_bytes, &cut);
	for (size_t i = 0; i < count; i++)
		add_field(log, &fields[i], max_bytes, &cut);
	/* the context is noise on a terminal */
	for (int i = 0; log->json && i < CONTEXT_MAX; i++)
		if (log->context[i].key)
			add_field(log, &LOG_STR(log->context[i].key, log->context[i].text),
				  max_bytes, &cut);
	if (log->unreported)
		add_field(log, &LOG_I64("dropped", (int64_t)log->unreported), max_bytes, &cut);
	if (cut)
		add_field(log, &LOG_BOOL("cut", true), max_bytes, &cut);
	buf_addstr(line, log->json ? "}\n" : "\n");
}

/* One write that does not block; false when the line was not written completely. */
static bool put_line(struct log *log)
{
	const struct buf *line = &log->line;
	struct pollfd ready = {log->fd, POLLOUT, 0};
	ssize_t put;

	do {
		if (log->socket) {
			put = send(log->fd, line->data, line->len_bytes,
				   MSG_DONTWAIT | MSG_NOSIGNAL);
		} else if (log->own_fd >= 0) {
			put = write(log->own_fd, line->data, line->len_bytes);
		} else {
			/* writable means room for PIPE_BUF bytes, so this does not block either,
			 * except in a race with another writer of the same pipe */
			if (poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT))
				return false;
			put = write(log->fd, line->data, line->len_bytes);
		}
	} while (put < 0 && errno == EINTR);
	return put == (ssize_t)line->len_bytes;
}

void log_event(struct log *log, enum log_level level, const char *msg,
	       const struct log_field *fields, size_t count)
{
	size_t max_bytes = LOG_LINE_BYTES;

	if (!log || level < log->level)
		return;
	do {
		build_line(log, level, msg, fields, count, max_bytes);
		max_bytes /= 2;
	} while (log->line.len_bytes > LOG_LINE_BYTES && max_bytes >= MIN_TEXT);
	if (log->line.len_bytes <= LOG_LINE_BYTES && put_line(log)) {
		log->unreported = 0;
		return;
	}
	log->unreported++;
}
