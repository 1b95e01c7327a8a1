#include "base/visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

#define SPEC_BYTES   32
#define NUMBER_BYTES 400 /* DBL_MAX with %f has 316 */

/* C0 and DEL; C1 controls; soft hyphen; marks of direction; fillers and other characters without a width;
 * separators; invisible operators; byte order mark; tags */
static const struct utf8_range harmful[] = {
	{0, 0x1f},          {0x7f, 0x9f},       {0xad, 0xad},     {0x34f, 0x34f},
	{0x61c, 0x61c},     {0x115f, 0x1160},   {0x17b4, 0x17b5}, {0x180b, 0x180f},
	{0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f}, {0x3164, 0x3164},
	{0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3},
	{0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};
static const struct utf8_range combining[] = {
	{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
	{0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};
static const struct utf8_range wide[] = {
	{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xac00, 0xd7a3},
	{0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
	{0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

bool visible_is_harmful(uint32_t code_point)
{
	return utf8_is_in(harmful, ARRAY_LEN(harmful), code_point);
}

static void visible_add_bytes(const char *text, size_t left, struct buf *ret_text)
{
	while (left) {
		size_t bytes = utf8_char_bytes(text, left);
		uint32_t ch = bytes ? utf8_code_point(text, bytes) : 0;

		if (bytes < 2 && (!bytes || visible_is_harmful(ch))) {
			buf_addf(ret_text, "\\x%02x", (unsigned char)*text);
			bytes = 1;
		} else if (visible_is_harmful(ch)) {
			buf_addf(ret_text, "\\u{%x}", ch);
		} else {
			buf_add(ret_text, text, bytes);
		}
		text += bytes;
		left -= bytes;
	}
}

void visible_add(const char *text, struct buf *ret_text)
{
	visible_add_bytes(text, text ? strlen(text) : 0, ret_text);
}

size_t visible_columns(const char *text, size_t len_bytes)
{
	size_t columns = 0;

	while (len_bytes) {
		size_t bytes = utf8_char_bytes(text, len_bytes);
		uint32_t ch = bytes ? utf8_code_point(text, bytes) : 0;

		if (!bytes)
			bytes = 1;
		if (!utf8_is_in(combining, ARRAY_LEN(combining), ch))
			columns += utf8_is_in(wide, ARRAY_LEN(wide), ch) ? 2 : 1;
		text += bytes;
		len_bytes -= bytes;
	}
	return columns;
}

/* ---- as printf() does ---- */

/* One conversion, as it was written; * is resolved. */
struct conversion {
	char flags[8];
	int width, precision; /* 0, -1: none */
	char length[3], kind;
};

/* So that a va_list can be passed on by its address. */
struct arguments {
	va_list list;
};

static int take_number(const char **fmt, struct arguments *args)
{
	int number = 0;

	if (**fmt == '*') {
		(*fmt)++;
		return va_arg(args->list, int);
	}
	for (; **fmt >= '0' && **fmt <= '9' && number < 10000; (*fmt)++)
		number = 10 * number + (**fmt - '0');
	return number;
}

static size_t take_set(const char **fmt, const char *set, char *ret, size_t size)
{
	size_t len = strspn(*fmt, set);

	if (len >= size)
		abort();
	memcpy(ret, *fmt, len);
	ret[len] = '\0';
	*fmt += len;
	return len;
}

static struct conversion take_conversion(const char **fmt, struct arguments *args)
{
	struct conversion ret = {.precision = -1};
	size_t flags = take_set(fmt, "-+ #0", ret.flags, sizeof(ret.flags) - 1);

	ret.width = take_number(fmt, args);
	if (ret.width < 0) {
		ret.flags[flags] = '-';
		ret.width = -ret.width;
	}
	if (**fmt == '.') {
		(*fmt)++;
		ret.precision = take_number(fmt, args);
	}
	(void)take_set(fmt, "hljzt", ret.length, sizeof(ret.length));
	ret.kind = **fmt;
	if (!ret.kind || !strchr("cdiuxXoefgsp%", ret.kind))
		abort();
	(*fmt)++;
	return ret;
}

/* The signed and the unsigned of one size are passed alike. */
static long long take_integer(const struct conversion *as, struct arguments *args)
{
	bool is_signed = as->kind == 'd' || as->kind == 'i';

	if (!strcmp(as->length, "ll"))
		return va_arg(args->list, long long);
	if (!strcmp(as->length, "l") || !strcmp(as->length, "j") || !strcmp(as->length, "z") ||
	    !strcmp(as->length, "t"))
		return is_signed ? (long long)va_arg(args->list, long)
				 : (long long)va_arg(args->list, unsigned long);
	return is_signed ? (long long)va_arg(args->list, int)
			 : (long long)va_arg(args->list, unsigned);
}

static void add_conversion(const struct conversion *as, struct arguments *args, struct buf *to)
{
	char spec[SPEC_BYTES], text[NUMBER_BYTES];
	const char *length = strchr("efgp", as->kind) ? "" : "ll";
	int width = as->width < NUMBER_BYTES / 2 ? as->width : NUMBER_BYTES / 2;
	int precision = as->precision < 60 ? as->precision : 60;

	snprintf(spec, sizeof(spec), "%%%s*.*%s%c", as->flags, length, as->kind);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (as->kind == 'p')
		snprintf(text, sizeof(text), "%p", va_arg(args->list, void *));
	else if (!*length)
		snprintf(text, sizeof(text), spec, width, precision, va_arg(args->list, double));
	else
		snprintf(text, sizeof(text), spec, width, precision, take_integer(as, args));
#pragma GCC diagnostic pop
	buf_addstr(to, text);
}

static void add_string(const struct conversion *as, const char *text, size_t len, struct buf *to)
{
	size_t columns;
	bool left = strchr(as->flags, '-') != NULL;
	cleanup_buf struct buf visible = BUF_INIT;

	visible_add_bytes(text, len, &visible);
	columns = visible_columns(buf_str(&visible), visible.len_bytes);
	if (!left && columns < (size_t)as->width)
		buf_addf(to, "%*s", (int)((size_t)as->width - columns), "");
	buf_add(to, buf_str(&visible), visible.len_bytes);
	if (left && columns < (size_t)as->width)
		buf_addf(to, "%*s", (int)((size_t)as->width - columns), "");
}

void visible_addvf(struct buf *ret_text, const char *fmt, va_list list)
{
	struct arguments args;

	va_copy(args.list, list);
	while (*fmt) {
		size_t plain = strcspn(fmt, "%");
		struct conversion as;
		const char *text;
		char ch;

		buf_add(ret_text, fmt, plain);
		fmt += plain;
		if (!*fmt)
			break;
		fmt++;
		as = take_conversion(&fmt, &args);
		if (as.kind == '%') {
			buf_addch(ret_text, '%');
		} else if (as.kind == 's') {
			text = va_arg(args.list, const char *);
			text = text ? text : "";
			add_string(&as, text,
				   as.precision < 0 ? strlen(text)
						    : strnlen(text, (size_t)as.precision),
				   ret_text);
		} else if (as.kind == 'c') {
			ch = (char)va_arg(args.list, int);
			add_string(&as, &ch, 1, ret_text);
		} else {
			add_conversion(&as, &args, ret_text);
		}
	}
	va_end(args.list);
}

void visible_addf(struct buf *ret_text, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	visible_addvf(ret_text, fmt, args);
	va_end(args);
}
