#include "flink/conf_scalar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static size_t count_digits(const char *text)
{
	return strspn(text, "0123456789");
}

static bool is_sign(char c)
{
	return c == '-' || c == '+';
}

/* [-+]?[0-9]+; NULL: not one. */
static char *decimal_text(const char *text)
{
	const char *digits = text + is_sign(*text);
	size_t len = count_digits(digits), zeros = strspn(digits, "0");

	if (!len || digits[len] != '\0')
		return NULL;
	if (zeros == len)
		return xstrdup("0");
	return xasprintf("%s%s", *text == '-' ? "-" : "", digits + zeros);
}

/* 0o[0-7]+, 0x[0-9a-fA-F]+; NULL: not one. */
static char *radix_text(const char *text)
{
	bool octal = strncmp(text, "0o", 2) == 0;
	const char *digits = octal ? "01234567" : "0123456789abcdefABCDEF";
	size_t most = octal ? 21 : 16; /* of them fit into 64 bits */
	size_t len;

	if (!octal && strncmp(text, "0x", 2) != 0)
		return NULL;
	len = strspn(text + 2, digits);
	if (!len || text[2 + len] != '\0' || len > most)
		return NULL;
	return xasprintf("%llu", strtoull(text + 2, NULL, octal ? 8 : 16));
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool is_floating(const char *text)
{
	const char *at = text + is_sign(*text);
	size_t whole = count_digits(at), part = 0, exponent;

	at += whole;
	if (*at == '.') {
		part = count_digits(at + 1);
		at += 1 + part;
	}
	if (!whole && !part)
		return false;
	if (*at == 'e' || *at == 'E') {
		at += 1 + is_sign(at[1]);
		exponent = count_digits(at);
		if (!exponent)
			return false;
		at += exponent;
	}
	return *at == '\0';
}

/* Double.toString(): the shortest digits that identify this number, with a power of ten from 10^7
 * on and below 10^-3. */
static char *floating_text(double number)
{
	char text[40], *e;
	int digits = 0, power, places;

	do
		snprintf(text, sizeof(text), "%.*e", digits++, number);
	while (strtod(text, NULL) != number && digits < 17);
	e = strchr(text, 'e');
	power = atoi(e + 1);
	places = digits - 1 > power ? digits - 1 - power : 1;
	if (number == 0 || (power >= -3 && power < 7))
		return xasprintf("%.*f", number == 0 ? 1 : places, number);
	*e = '\0';
	return xasprintf("%s%sE%d", text, digits == 1 ? ".0" : "", power);
}

char *conf_scalar_text(const struct yaml_node *node)
{
	static const char *const bools[] = {"true", "True", "TRUE", "false", "False", "FALSE"};
	const char *text = node->text;
	char *number = NULL;

	if (node->quoted)
		return xstrdup(text);
	for (size_t i = 0; i < ARRAY_LEN(bools); i++)
		if (strcmp(text, bools[i]) == 0)
			return xstrdup(bools[i / 3 * 3]);
	number = decimal_text(text);
	if (!number)
		number = radix_text(text);
	if (!number && is_floating(text) && isfinite(strtod(text, NULL)))
		number = floating_text(strtod(text, NULL));
	return number ? number : xstrdup(text);
}
