#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cmd/output.h"
#include "tests/unit/tap.h"

TEST(yaml_has_the_members_of_the_document)
{
	static const struct {
		const char *json, *yaml;
	} rows[] = {
		{"{\"phase\":\"Running\",\"cause\":null,\"count\":12,\"ok\":true}",
		 "phase: Running\ncause: null\ncount: 12\nok: true\n"},
		{"{\"a\":{\"b\":{\"c\":1},\"d\":{}},\"e\":[]}",
		 "a:\n  b:\n    c: 1\n  d: {}\ne: []\n"},
		{"{\"list\":[1,{\"x\":1,\"z\":[2,3]},[4,5],{}]}",
		 "list:\n- 1\n- x: 1\n  z:\n  - 2\n  - 3\n- - 4\n  - 5\n- {}\n"},
		{"[{\"a\":1},\"b\"]", "- a: 1\n- b\n"},
		{"{}", "{}\n"},
		{"\"x\"", "x\n"},
		/* what YAML would read as something else */
		{"{\"a\":\"true\",\"b\":\"No\",\"c\":\"12\",\"d\":\"1e3\",\"e\":\"\",\"f\":\"~\"}",
		 "a: \"true\"\nb: \"No\"\nc: \"12\"\nd: \"1e3\"\ne: \"\"\nf: \"~\"\n"},
		{"{\"a\":\"x: y\",\"b\":\"s3://a/b\",\"c\":\"- x\",\"d\":\"two\\nlines\"}",
		 "a: \"x: y\"\nb: \"s3://a/b\"\nc: \"- x\"\nd: \"two\\nlines\"\n"},
		{"{\"a b\":1,\"y\":2}", "\"a b\": 1\n\"y\": 2\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_json struct json *doc =
			json_parse(rows[i].json, strlen(rows[i].json), 4096, NULL);
		cleanup_buf struct buf yaml = BUF_INIT;

		output_yaml(doc, &yaml);
		CHECK_STR(buf_str(&yaml), rows[i].yaml);
	}
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
