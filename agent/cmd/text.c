#include "cmd/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define ID_DIGITS 32
#define ID_SHORT  8

#define SHELL_SAFE "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_"

void text_print_lines(const char *text, const char *indent, struct out out)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		out_put(out, "%s%.*s\n", indent, (int)len, text);
		text += len + (text[len] == '\n');
	}
}

void text_print_shell(const char *word, struct out out)
{
	if (*word && strspn(word, SHELL_SAFE) == strlen(word)) {
		out_put(out, "%s", word);
		return;
	}
	out_put(out, "'");
	while (*word) {
		size_t len = strcspn(word, "'");

		out_put(out, "%.*s%s", (int)len, word, word[len] ? "'\\''" : "");
		word += len + (word[len] != '\0');
	}
	out_put(out, "'");
}

void text_short_ids(const char *text, struct buf *to)
{
	static const char hex[] = "0123456789abcdef";
	bool inside = false; /* a word that began with another character */

	while (*text) {
		size_t digits = strspn(text, hex);
		bool alone =
			!inside && digits == ID_DIGITS && !isalnum((unsigned char)text[digits]);
		size_t taken = digits ? digits : 1;

		buf_add(to, text, alone ? ID_SHORT : taken);
		inside = isalnum((unsigned char)text[taken - 1]);
		text += taken;
	}
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
