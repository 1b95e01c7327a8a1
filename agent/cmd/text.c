#include "cmd/text.h"

#include <inttypes.h>
#include <string.h>

#define SHELL_SAFE "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_"

static void print_char(unsigned char ch, FILE *out)
{
	if (ch < ' ' || ch == 0x7f)
		fprintf(out, "\\x%02x", ch);
	else
		fputc(ch, out);
}

void text_print(const char *text, FILE *out)
{
	for (; text && *text; text++)
		print_char((unsigned char)*text, out);
}

void text_print_lines(const char *text, const char *indent, FILE *out)
{
	while (*text) {
		fputs(indent, out);
		for (; *text && *text != '\n'; text++)
			print_char((unsigned char)*text, out);
		fputc('\n', out);
		text += *text == '\n';
	}
}

void text_print_shell(const char *word, FILE *out)
{
	if (*word && strspn(word, SHELL_SAFE) == strlen(word)) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			print_char((unsigned char)*word, out);
	}
	fputc('\'', out);
}

const char *text_size(int64_t size_bytes, char text[TEXT_SIZE_BYTES])
{
	static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
	double value = (double)size_bytes;
	int unit = -1;

	while (value >= 999.95 && unit < 5) {
		value /= 1000;
		unit++;
	}
	if (unit < 0)
		snprintf(text, TEXT_SIZE_BYTES, "%" PRId64 " B", size_bytes);
	else
		snprintf(text, TEXT_SIZE_BYTES, "%.1f %s", value, units[unit]);
	return text;
}
