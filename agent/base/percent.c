#include "base/percent.h"

#include <string.h>

void percent_encode(struct buf *to, const char *text, bool keep_slash)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789-._~";

	for (; *text; text++)
		if (strchr(plain, *text) || (keep_slash && *text == '/'))
			buf_addch(to, *text);
		else
			buf_addf(to, "%%%02X", (unsigned char)*text);
}

int hex_digit(int ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	if (ch >= 'a' && ch <= 'f')
		return ch - 'a' + 10;
	return ch >= 'A' && ch <= 'F' ? ch - 'A' + 10 : -1;
}

int percent_decode(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		int high, low;

		if (*from != '%') {
			*to++ = *from;
			continue;
		}
		high = hex_digit(from[1]);
		low = high < 0 ? -1 : hex_digit(from[2]);
		if (low < 0 || !(high | low))
			return -1;
		*to++ = (char)(high << 4 | low);
		from += 2;
	}
	*to = '\0';
	return 0;
}
