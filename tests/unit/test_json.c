#include "base/json.h"

#include <string.h>

#include "base/mem.h"
#include "tap.h"

#define CAP 100000

static struct json *parse(const char *text, struct err *err)
{
	return json_parse(text, strlen(text), CAP, err);
}

/* Checks that the text is refused and why. */
static void refused(const char *text, const char *why)
{
	struct err err = {0};
	cleanup_json struct json *doc = parse(text, &err);

	CHECK(!doc);
	CHECK_HAS(err.msg, why);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
}

/* Checks that the text parses and prints as `want`. */
static void prints(const char *text, const char *want)
{
	struct err err = {0};
	cleanup_json struct json *doc = parse(text, &err);
	cleanup_buf struct buf out = BUF_INIT;

	CHECK_STR(err.msg, "");
	if (doc)
		json_print(doc, &out);
	CHECK_STR(buf_str(&out), want);
}

TEST(refuses_what_is_not_json)
{
	refused("", "byte 0: the text ends too early");
	refused("{", "byte 1: expected a string");
	refused("[1", "the text ends too early");
	refused("{\"a\":1,}", "expected a string");
	refused("[1,]", "expected a value");
	refused("{'a':1}", "expected a string");
	refused("{\"a\" 1}", "expected ':'");
	refused("[1 2]", "expected ',' or ']'");
	refused("nul", "expected a value");
	refused("NaN", "expected a value");
	refused("// c\n1", "expected a value");
	refused("\xEF\xBB\xBF{}", "expected a value");
	refused("\"a\nb\"", "a control byte");
	refused("\"abc", "the text ends inside a string");
	refused("\"\\x\"", "an unknown escape");
	refused("\"\\u12g4\"", "a hex digit");
}

TEST(refuses_bytes_behind_the_document)
{
	refused("{} x", "byte 3: more bytes after");
	refused("1 2", "more bytes after");
	prints(" {} \n", "{}");
}

TEST(refuses_a_nul_byte_behind_or_inside)
{
	struct err err = {0};

	CHECK(!json_parse("{}\0", 3, CAP, &err));
	CHECK_HAS(err.msg, "more bytes after");
	CHECK(!json_parse("\"a\0b\"", 5, CAP, &err));
	CHECK_HAS(err.msg, "a control byte");
	refused("\"a\\u0000b\"", "\\u0000");
}

TEST(refuses_bad_numbers)
{
	refused("01", "leading zero");
	refused("-01", "leading zero");
	refused("+1", "expected a value");
	refused("-", "expected a digit");
	refused("1.", "after the point");
	refused(".5", "expected a value");
	refused("1e", "in the exponent");
	refused("0x10", "more bytes after");
	refused("1111111111111111111111111111111111111111111111111111111111111",
		"a number that is too long");
}

TEST(refuses_duplicate_names_at_any_depth)
{
	refused("{\"a\":1,\"b\":2,\"a\":3}", "duplicate name 'a'");
	refused("[{\"x\":{\"a\":1,\"\\u0061\":2}}]", "duplicate name 'a'");
	prints("{\"a\":1,\"A\":2}", "{\"a\":1,\"A\":2}");
}

TEST(refuses_invalid_utf8_and_lone_surrogates)
{
	refused("\"\xff\"", "invalid UTF-8");
	refused("\"\xc0\x80\"", "invalid UTF-8");
	refused("\"\xe0\x80\x80\"", "invalid UTF-8");
	refused("\"\xed\xa0\x80\"", "invalid UTF-8");
	refused("\"\xf4\x90\x80\x80\"", "invalid UTF-8");
	refused("\"\xe2\x82\"", "invalid UTF-8");
	refused("\"\\ud800\"", "a lone surrogate");
	refused("\"\\ud800\\u0041\"", "a lone surrogate");
	refused("\"\\udc00\"", "a lone surrogate");
	prints("\"\\ud83d\\ude00 \xe2\x82\xac \xf4\x8f\xbf\xbf\"",
	       "\"\xf0\x9f\x98\x80 \xe2\x82\xac \xf4\x8f\xbf\xbf\"");
}

TEST(refuses_deep_nesting_and_large_documents)
{
	char text[2 * JSON_MAX_DEPTH + 4];
	struct err err = {0};

	memset(text, '[', JSON_MAX_DEPTH + 1);
	memset(text + JSON_MAX_DEPTH + 1, ']', JSON_MAX_DEPTH + 1);
	CHECK(!json_parse(text, 2 * JSON_MAX_DEPTH + 2, CAP, &err));
	CHECK_HAS(err.msg, "nested too deep");
	cleanup_json struct json *doc = json_parse(text + 1, (size_t)2 * JSON_MAX_DEPTH, CAP, NULL);
	CHECK(doc);
	CHECK(!json_parse("[1,2]", 5, 4, &err));
	CHECK_HAS(err.msg, "5 bytes of JSON, more than the limit of 4");
}

TEST(keeps_64_bit_integers_exactly)
{
	cleanup_json struct json *doc = parse("{\"max\":9223372036854775807,"
					      "\"min\":-9223372036854775808,"
					      "\"odd\":9007199254740993,\"zero\":-0}",
					      NULL);
	int64_t value = 0;

	CHECK_INT(json_need_i64(doc, "max", &value, NULL), ==, 0);
	CHECK_INT(value, ==, INT64_MAX);
	CHECK_INT(json_need_i64(doc, "min", &value, NULL), ==, 0);
	CHECK_INT(value, ==, INT64_MIN);
	CHECK_INT(json_need_i64(doc, "odd", &value, NULL), ==, 0);
	CHECK_INT(value, ==, 9007199254740993);
	CHECK_INT(json_i64_or(doc, "zero", 7), ==, 0);
	prints("[9223372036854775808,1.10,1E+2,-0,1e999]",
	       "[9223372036854775808,1.10,1E+2,-0,1e999]");
}

TEST(refuses_to_read_other_numbers_as_integers)
{
	cleanup_json struct json *doc =
		parse("{\"big\":9223372036854775808,\"frac\":1.0,\"exp\":1e3,\"s\":\"1\"}", NULL);
	int64_t value = 5;
	struct err err = {0};

	CHECK_INT(json_need_i64(doc, "big", &value, &err), ==, -1);
	CHECK_STR(err.msg, "'big': 9223372036854775808 does not fit into 64 bits");
	CHECK_INT(json_opt_i64(doc, "frac", &value, &err), ==, -1);
	CHECK_STR(err.msg, "'frac': expected a whole number, got 1.0");
	CHECK_INT(json_need_i64(doc, "exp", &value, &err), ==, -1);
	CHECK_INT(json_need_i64(doc, "s", &value, &err), ==, -1);
	CHECK_STR(err.msg, "'s': expected a number, got a string");
	CHECK_INT(value, ==, 5);
}

TEST(tells_absent_from_wrong_type)
{
	cleanup_json struct json *doc =
		parse("{\"s\":\"x\",\"n\":null,\"b\":true,\"o\":{},\"a\":[1],\"d\":2.5}", NULL);
	const struct json *node = NULL;
	const char *text = "before";
	struct err err = {0};
	bool flag = false;

	CHECK_INT(json_opt_str(doc, "none", &text, &err), ==, 0);
	CHECK_INT(json_opt_str(doc, "n", &text, &err), ==, 0);
	CHECK_INT(json_opt_str(doc, "b", &text, &err), ==, -1);
	CHECK_STR(err.msg, "'b': expected a string, got true or false");
	CHECK_STR(text, "before");
	CHECK_INT(json_opt_str(doc, "s", &text, &err), ==, 1);
	CHECK_STR(text, "x");
	CHECK_INT(json_need_str(doc, "none", &text, &err), ==, -1);
	CHECK_STR(err.msg, "'none' is missing");
	CHECK_INT(json_need_str(doc, "n", &text, &err), ==, -1);
	CHECK_STR(err.msg, "'n': expected a string, got null");
	CHECK_INT(json_need_str(NULL, "s", &text, &err), ==, -1);
	CHECK_STR(err.msg, "'s': expected inside an object, got null");
	CHECK_INT(json_need_bool(doc, "b", &flag, &err), ==, 0);
	CHECK(flag);
	CHECK_INT(json_opt_bool(doc, "s", &flag, &err), ==, -1);
	CHECK_INT(json_need_object(doc, "o", &node, &err), ==, 0);
	CHECK_INT(json_opt_object(doc, "a", &node, &err), ==, -1);
	CHECK_INT(json_need_array(doc, "a", &node, &err), ==, 0);
	CHECK_INT(json_len(node), ==, 1);
	CHECK_INT(json_opt_array(doc, "zz", &node, &err), ==, 0);
}

TEST(looks_up_case_sensitively_and_through_what_is_absent)
{
	cleanup_json struct json *doc = parse("{\"A\":{\"b\":{\"c\":\"deep\"}},\"a\":7}", NULL);

	CHECK_INT(json_i64_or(doc, "a", 0), ==, 7);
	CHECK_INT(json_i64_or(doc, "B", 3), ==, 3);
	CHECK_STR(json_text(json_get(json_get(json_get(doc, "A"), "b"), "c")), "deep");
	CHECK(!json_get(json_get(json_get(doc, "A"), "x"), "c"));
	CHECK(!json_get(json_get(doc, "a"), "x"));
	CHECK(json_bool_or(doc, "a", true));
	CHECK_STR(json_str(doc, "a"), NULL);
}

TEST(walks_members_and_elements_in_order)
{
	cleanup_json struct json *doc = parse("{\"x\":1,\"y\":[10,20,30]}", NULL);
	const struct json *child, *list = json_get(doc, "y");
	cleanup_buf struct buf names = BUF_INIT;
	int64_t value = 0;

	json_each (child, doc)
		buf_addstr(&names, json_name(child));
	CHECK_STR(buf_str(&names), "xy");
	CHECK_INT(json_len(list), ==, 3);
	CHECK_INT(json_to_i64(json_at(list, 2), &value, NULL), ==, 0);
	CHECK_INT(value, ==, 30);
	CHECK(!json_at(list, 3));
	CHECK(!json_first(NULL));
}

TEST(builds_and_prints_documents)
{
	cleanup_json struct json *doc = json_object();
	cleanup_buf struct buf out = BUF_INIT;
	struct json *list;

	json_add_str(doc, "s", "a\"\\\n\x01\x7f/");
	json_add_str(doc, "null", NULL);
	json_add_str_opt(doc, "skipped", NULL);
	json_add_i64(doc, "i", INT64_MIN);
	json_add_bool(doc, "b", false);
	list = json_add_array(doc, "l");
	json_add_i64(list, NULL, 1);
	json_add_object(list, NULL);
	json_add_array(json_add_object(doc, "o"), "e");
	json_print(doc, &out);
	CHECK_STR(buf_str(&out), "{\"s\":\"a\\\"\\\\\\n\\u0001\\u007f/\",\"null\":null,"
				 "\"i\":-9223372036854775808,\"b\":false,"
				 "\"l\":[1,{}],\"o\":{\"e\":[]}}");
	json_remove(doc, "s");
	json_remove(doc, "i");
	json_remove(doc, "absent");
	buf_clear(&out);
	json_print_pretty(doc, &out);
	CHECK_STR(buf_str(&out), "{\n  \"null\": null,\n  \"b\": false,\n  \"l\": [\n    1,\n"
				 "    {}\n  ],\n  \"o\": {\n    \"e\": []\n  }\n}\n");
}

TEST(quotes_invalid_bytes_as_replacement_characters)
{
	cleanup_buf struct buf out = BUF_INIT;

	json_quote(&out, "a\xff\xe2\x82z\0y", 7);
	CHECK_STR(buf_str(&out), "\"a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\\u0000y\"");
}

TEST(copies_deeply_and_without_the_name)
{
	cleanup_json struct json *doc = parse("{\"a\":{\"b\":[1,\"x\"]}}", NULL);
	cleanup_json struct json *copy = json_copy(json_get(doc, "a"));
	cleanup_buf struct buf out = BUF_INIT;

	CHECK_STR(json_name(copy), NULL);
	json_add(doc, "again", json_copy(copy));
	json_print(doc, &out);
	CHECK_STR(buf_str(&out), "{\"a\":{\"b\":[1,\"x\"]},\"again\":{\"b\":[1,\"x\"]}}");
}

TEST(unknown_members_survive_a_rewrite)
{
	cleanup_json struct json *old = parse("{\"v\":1,\"new\":{\"deep\":12345678901234567890},"
					      "\"op\":{\"id\":3,\"extra\":true},\"gone\":5,"
					      "\"list\":[1]}",
					      NULL);
	cleanup_json struct json *doc =
		parse("{\"v\":2,\"op\":{\"id\":4},\"gone\":null,\"list\":[]}", NULL);
	cleanup_buf struct buf out = BUF_INIT;

	json_merge_unknown(doc, old);
	json_print(doc, &out);
	CHECK_STR(buf_str(&out), "{\"v\":2,\"op\":{\"id\":4,\"extra\":true},\"gone\":null,"
				 "\"list\":[],\"new\":{\"deep\":12345678901234567890}}");
}
