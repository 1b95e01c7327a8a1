#include "base/utf8.h"

#include <string.h>

static int is_tail(unsigned char byte)
{
	return (byte & 0xC0) == 0x80;
}

size_t utf8_char_bytes(const char *text, size_t left_bytes)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t need;

	if (!left_bytes)
		return 0;
	if (p[0] < 0x80)
		return 1;
	need = p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : p[0] < 0xF5 ? 4 : 0;
	if (!need || need > left_bytes)
		return 0;
	for (size_t i = 1; i < need; i++)
		if (!is_tail(p[i]))
			return 0;
	/* the second byte decides about overlong forms, surrogates and the upper end */
	if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
	    (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))
		return 0;
	return need;
}

size_t utf8_cut(const char *text, size_t max_bytes)
{
	size_t len = strnlen(text, max_bytes);

	while (text[len] && len && is_tail((unsigned char)text[len]))
		len--;
	return len;
}

uint32_t utf8_code_point(const char *text, size_t bytes)
{
	static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t code_point = (unsigned char)text[0] & first_bits[bytes];

	for (size_t i = 1; i < bytes; i++)
		code_point = code_point << 6 | ((unsigned char)text[i] & 0x3f);
	return code_point;
}

bool utf8_is_in(const struct utf8_range *ranges, size_t count, uint32_t code_point)
{
	for (size_t i = 0; i < count; i++)
		if (code_point >= ranges[i].first && code_point <= ranges[i].last)
			return true;
	return false;
}
