#include "base/base64.h"

#include <stdint.h>

static int sextet(char ch)
{
	if (ch >= 'A' && ch <= 'Z')
		return ch - 'A';
	if (ch >= 'a' && ch <= 'z')
		return ch - 'a' + 26;
	if (ch >= '0' && ch <= '9')
		return ch - '0' + 52;
	return ch == '+' ? 62 : ch == '/' ? 63 : -1;
}

int base64_decode(const char *text, size_t len, size_t max_bytes, struct buf *to, struct err *err)
{
	size_t pad = 0;

	if (!len || len % 4)
		return err_set(err, ERR_FORMAT, 0, "Base64: %zu characters are not a multiple of 4",
			       len);
	if (len / 4 * 3 > max_bytes)
		return err_set(err, ERR_FORMAT, 0,
			       "Base64: %zu characters are more than the limit of %zu", len,
			       max_bytes / 3 * 4);
	while (pad < 2 && text[len - 1 - pad] == '=')
		pad++;
	for (size_t i = 0; i < len; i += 4) {
		size_t digits = i + 4 == len ? 4 - pad : 4;
		uint32_t bits = 0;

		for (size_t j = 0; j < 4; j++) {
			int value = j < digits ? sextet(text[i + j]) : 0;

			if (value < 0)
				return err_set(err, ERR_FORMAT, 0,
					       "Base64: unexpected character at %zu", i + j);
			bits = bits << 6 | (uint32_t)value;
		}
		if (bits & ((1u << 8 * (4 - digits)) - 1))
			return err_set(err, ERR_FORMAT, 0, "Base64: stray bits at the end");
		for (size_t j = 0; j + 1 < digits; j++)
			buf_addch(to, (char)(bits >> (16 - 8 * j)));
	}
	return 0;
}

void base64_encode(const void *bytes, size_t len, struct buf *to)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *from = bytes;

	for (size_t i = 0; i < len; i += 3) {
		uint32_t bits = (uint32_t)from[i] << 16;

		bits |= i + 1 < len ? (uint32_t)from[i + 1] << 8 : 0;
		bits |= i + 2 < len ? from[i + 2] : 0;
		buf_addch(to, digits[bits >> 18]);
		buf_addch(to, digits[bits >> 12 & 63]);
		buf_addch(to, i + 1 < len ? digits[bits >> 6 & 63] : '=');
		buf_addch(to, i + 2 < len ? digits[bits & 63] : '=');
	}
}
