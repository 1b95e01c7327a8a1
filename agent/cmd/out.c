#include "cmd/out.h"

#include <string.h>
#include <unistd.h>

#include "base/visible.h"
#include "cmd/wrap.h"

struct out out_of(FILE *stream)
{
	return (struct out){.raw = stream};
}

void out_put(struct out out, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	out_vput(out, fmt, args);
	va_end(args);
}

void out_vput(struct out out, const char *fmt, va_list args)
{
	cleanup_buf struct buf text = BUF_INIT;

	visible_addvf(&text, fmt, args);
	fwrite(buf_str(&text), 1, text.len_bytes, out.raw);
}

void out_shown(struct out out, const struct shown *text)
{
	fputs(shown_str(text), out.raw);
}

void out_row(struct out out, const char *label, size_t indent, const char *text)
{
	struct term term = out_term(out);
	cleanup_shown struct shown row = {0};

	shown_addf(&row, "%-*s", (int)indent, label);
	wrap_add(text, indent, indent, (size_t)term.width, &row);
	shown_addf(&row, "\n");
	out_shown(out, &row);
}

void out_lines(struct out out, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n\t");

		out_put(out, "%.*s", (int)len, text);
		if (text[len])
			fputc(text[len], out.raw);
		text += len + (text[len] != '\0');
	}
}

int out_flush(struct out out)
{
	return fflush(out.raw) != 0 || ferror(out.raw) ? -1 : 0;
}

int out_fd(struct out out)
{
	return fileno(out.raw);
}

bool out_is_terminal(struct out out)
{
	int fd = out_fd(out);

	return fd >= 0 && isatty(fd);
}

struct term out_term(struct out out)
{
	return term_of(out_fd(out));
}
