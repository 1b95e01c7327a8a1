#include "base/yaml_json.h"

#include <string.h>

#include "base/mem.h"
#include "tap.h"
#include "tests/unit/migrate_cover.h"

static struct json *read_yaml(const char *text, struct err *err)
{
	cleanup_yaml struct yaml_node *root = yaml_parse(text, strlen(text), 100000, err);

	return root ? yaml_json_read(root, err) : NULL;
}

/* The YAML as JSON on one line. */
static void reads(const char *text, const char *want)
{
	struct err err = {0};
	cleanup_json struct json *doc = read_yaml(text, &err);
	cleanup_buf struct buf got = BUF_INIT;

	CHECK(doc);
	CHECK_STR(err.msg, "");
	json_print(doc, &got);
	CHECK_STR(buf_str(&got), want);
}

static void rejects(const char *text, const char *why)
{
	struct err err = {0};
	cleanup_json struct json *doc = read_yaml(text, &err);

	CHECK(!doc);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, why);
}

/* The JSON as YAML; and it is read back as the same. */
static void prints(const char *json, const char *want)
{
	cleanup_json struct json *doc = json_parse(json, strlen(json), 100000, NULL);
	cleanup_buf struct buf got = BUF_INIT;

	CHECK(doc);
	yaml_json_print(doc, &got);
	CHECK_STR(buf_str(&got), want);
	CHECK(cover_reads_back(doc));
}

TEST(plain_scalars_have_the_types_that_kubectl_gives_them)
{
	reads("a: true\nb: FALSE\nc: 12\nd: -0.50\ne: 1e3\nf: ~\ng:\nh: null\n",
	      "{\"a\":true,\"b\":false,\"c\":12,\"d\":-0.50,\"e\":1e3,\"f\":null,\"g\":null,\"h\":null}");
	reads("[2048m, 1.4.0, 10.0.0.1, v1_20, 5min, 12:30, -, y, a1, 0xz, 1e, 2026-01-02]",
	      "[\"2048m\",\"1.4.0\",\"10.0.0.1\",\"v1_20\",\"5min\",\"12:30\",\"-\",\"y\",\"a1\",\"0xz\",\"1e\","
	      "\"2026-01-02\"]");
}

TEST(a_scalar_in_quotes_is_a_text)
{
	reads("['true', \"12\", '~', '', \"yes\"]", "[\"true\",\"12\",\"~\",\"\",\"yes\"]");
	reads("a: |\n  12\n", "{\"a\":\"12\\n\"}");
}

TEST(what_two_readers_take_differently_is_rejected)
{
	static const char *const texts[] = {"yes",  "No",  "ON", "off",  "0123",    "0x1F",
					    "0o17", "1_0", ".5", ".inf", "-.INF",   ".NaN",
					    "+5",   "5.",  "1.", "0b11", "1.5e+3_", "Null"};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		char yaml[64], why[64];

		if (!strcmp(texts[i], "1.5e+3_")) /* a text to all */
			continue;
		snprintf(yaml, sizeof(yaml), "a:\n  b: [%s]\n", texts[i]);
		snprintf(why, sizeof(why), "line 2, column 7: '%s' is not the same", texts[i]);
		rejects(yaml, why);
	}
}

TEST(keys_that_could_not_be_printed_are_rejected)
{
	char yaml[400] = "a: 1\n? \"";

	memset(yaml + strlen(yaml), 'x', 330);
	strcat(yaml, "\"\n: 1\n");
	rejects(yaml, "line 2, column 3: a key is too long");
	rejects("\"a\\nb\": 1", "line 1, column 1: a key is too long, or has control characters");
}

TEST(maps_and_lists_are_printed_as_blocks)
{
	prints("{\"a\":{\"b\":[1,{\"c\":\"d\",\"e\":[]},[\"f\",[{}]]]},\"g\":null,\"h\":true}",
	       "a:\n  b:\n    - 1\n    - c: d\n      e: []\n    - - f\n      - - {}\ng: null\nh: true\n");
	prints("[]", "[]\n");
	prints("{}", "{}\n");
	prints("[{\"a\":1,\"b\":2},3]", "- a: 1\n  b: 2\n- 3\n");
}

TEST(a_text_that_could_be_something_else_is_in_quotes)
{
	static const char *const quoted[] = {
		"",    "true", "No",   "null", "y",  "12", "1.50", "0x1", "~",
		"- a", "a: b", "a:",   "a #b", "#a", "*a", "&a",   "!a",  "{a}",
		"[a",  "a ",   " a",   "'a",   "|",  "%a", "@a",   "`a",  "2048m",
		".5",  "--a",  "a\tb", "?",    "=",  "<<", "off",  "é",   "a\"b"};

	for (size_t i = 0; i < ARRAY_LEN(quoted); i++) {
		cleanup_json struct json *doc = json_object();
		cleanup_buf struct buf got = BUF_INIT;

		json_add_str(doc, "k", quoted[i]);
		yaml_json_print(doc, &got);
		CHECK(!strncmp(buf_str(&got), "k: \"", 4));
		CHECK(cover_reads_back(doc));
	}
	prints("{\"k\":\"s3://flink/a\",\"l\":\"/opt/flink\",\"m\":\"a b=c,d\",\"12\":1,\"a.b\":1,\"on\":1}",
	       "k: s3://flink/a\nl: /opt/flink\nm: a b=c,d\n\"12\": 1\na.b: 1\n\"on\": 1\n");
}

TEST(what_yaml_takes_for_an_end_of_line_is_escaped)
{
	prints("[\"a\\u2028b\",\"\\u0085\",\"\\ufeff\",\"\\uffff\",\"\\ud83d\\ude00\",\"\\u20ac\"]",
	       "- \"a\\u2028b\"\n- \"\\u0085\"\n- \"\\ufeff\"\n- \"\\uffff\"\n- \"\xF0\x9F\x98\x80\"\n- \"\xE2\x82\xAC\"\n");
}

TEST(lines_are_printed_as_a_block)
{
	prints("{\"a\":{\"b\":\"x = 1\\n\\n  y: 2\\n\"}}", "a:\n  b: |\n    x = 1\n\n      y: 2\n");
	prints("[\"x\\ny\"]", "- |-\n  x\n  y\n");
	prints("{\"a\":\"x\\n\\n\",\"b\":\" x\\ny\",\"c\":\"x\\r\\ny\",\"d\":\"\\n\"}",
	       "a: \"x\\n\\n\"\nb: \" x\\ny\"\nc: \"x\\r\\ny\"\nd: \"\\n\"\n");
}
