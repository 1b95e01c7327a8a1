#include "base/utf8.h"

#include <stdint.h>

#include "tap.h"

/* Encode any number in `bytes` bytes, whether that is allowed or not. */
static void encode(char *text, uint32_t code, int bytes)
{
	static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};

	for (int i = bytes - 1; i > 0; i--, code >>= 6)
		text[i] = (char)(0x80 | (code & 0x3F));
	text[0] = (char)(bytes == 1 ? code : (lead[bytes] | code));
}

TEST(accepts_each_code_point_in_its_one_form_only)
{
	static const uint32_t limits[] = {0x80, 0x800, 0x10000, 0x110000};
	static const uint32_t capacity[] = {0x80, 0x800, 0x10000, 0x200000};
	int wrong = 0;

	for (int bytes = 1; bytes <= 4; bytes++) {
		for (uint32_t code = 0; code < capacity[bytes - 1]; code++) {
			uint32_t low = bytes == 1 ? 0 : limits[bytes - 2];
			int legal = code >= low && code < limits[bytes - 1] &&
				    (code < 0xD800 || code > 0xDFFF);
			char text[4];

			encode(text, code, bytes);
			wrong += utf8_char_bytes(text, 4) != (size_t)(legal ? bytes : 0);
		}
	}
	CHECK_INT(wrong, ==, 0);
}

TEST(refuses_what_is_cut_or_out_of_place)
{
	CHECK_INT(utf8_char_bytes("", 0), ==, 0);
	CHECK_INT(utf8_char_bytes("\xe2\x82\xac", 2), ==, 0);
	CHECK_INT(utf8_char_bytes("\xe2\x82\xac", 3), ==, 3);
	CHECK_INT(utf8_char_bytes("\x80", 1), ==, 0);
	CHECK_INT(utf8_char_bytes("\xc3(", 2), ==, 0);
	CHECK_INT(utf8_char_bytes("\xff\xff\xff\xff", 4), ==, 0);
	CHECK_INT(utf8_char_bytes("\xf8\x88\x80\x80", 4), ==, 0);
}

TEST(is_cut_between_characters)
{
	CHECK_INT(utf8_cut("abc", 5), ==, 3);
	CHECK_INT(utf8_cut("abc", 2), ==, 2);
	CHECK_INT(utf8_cut("a\xe2\x82\xac", 4), ==, 4);
	CHECK_INT(utf8_cut("a\xe2\x82\xac", 3), ==, 1);
	CHECK_INT(utf8_cut("\x80\x80", 1), ==, 0);
}
