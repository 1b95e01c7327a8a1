#include "base/yaml.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tap.h"

#define CAP 10000

static struct yaml_node *parse(const char *text, struct err *err)
{
	return yaml_parse(text, strlen(text), CAP, err);
}

static void refused(const char *text, const char *why)
{
	struct err err = {0};
	cleanup_yaml struct yaml_node *root = parse(text, &err);

	CHECK(!root);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, why);
}

TEST(every_node_knows_its_place)
{
	cleanup_yaml struct yaml_node *root = parse(
		"# comment\nname: orders\nflink:\n  home: \"/opt/flink\"\n  args: [a, b]\n", NULL);
	const struct yaml_node *flink = yaml_get(root, "flink");
	const struct yaml_node *args = yaml_get(flink, "args");

	CHECK_INT(root->kind, ==, YAML_MAPPING);
	CHECK_STR(yaml_get(root, "name")->text, "orders");
	CHECK(!yaml_get(root, "name")->quoted);
	CHECK_INT(yaml_get(root, "name")->line, ==, 2);
	CHECK_INT(yaml_get(root, "name")->column, ==, 7);
	CHECK_INT(flink->key_line, ==, 3);
	CHECK_INT(flink->key_column, ==, 1);
	CHECK(yaml_get(flink, "home")->quoted);
	CHECK_INT(args->kind, ==, YAML_SEQUENCE);
	CHECK_STR(args->first->next->text, "b");
	CHECK_INT(args->first->next->column, ==, 13);
	CHECK(!args->first->key);
	CHECK(!args->first->next->next);
	CHECK(!yaml_get(args, "a"));
	CHECK(!yaml_get(root, "Name"));
	CHECK(!yaml_get(NULL, "a"));
}

TEST(members_come_in_order)
{
	cleanup_yaml struct yaml_node *root = parse("b: 1\na: 2\nc:\n", NULL);
	cleanup_buf struct buf keys = BUF_INIT;
	const struct yaml_node *child;

	yaml_each(child, root) buf_addstr(&keys, child->key);
	CHECK_STR(buf_str(&keys), "bac");
}

TEST(an_empty_document_is_an_empty_mapping)
{
	static const char *const texts[] = {"", "# only a comment\n", "---\n...\n"};

	for (size_t i = 0; i < 2; i++) {
		cleanup_yaml struct yaml_node *root = parse(texts[i], NULL);

		CHECK(root && root->kind == YAML_MAPPING && !root->first);
	}
	cleanup_yaml struct yaml_node *nothing = parse(texts[2], NULL);
	CHECK(nothing && yaml_is_null(nothing));
}

TEST(scalars_stay_text)
{
	cleanup_yaml struct yaml_node *root =
		parse("a: no\nb: 0123\nc: ~\nd: '~'\ne: |\n  x\n", NULL);

	CHECK_STR(yaml_get(root, "a")->text, "no");
	CHECK_STR(yaml_get(root, "b")->text, "0123");
	CHECK(yaml_is_null(yaml_get(root, "c")));
	CHECK(!yaml_is_null(yaml_get(root, "d")));
	CHECK_STR(yaml_get(root, "e")->text, "x\n");
	CHECK(yaml_get(root, "e")->quoted);
}

TEST(refuses_what_two_readers_could_read_differently)
{
	refused("a: 1\nb: 2\na: 3\n", "line 3, column 1: duplicate key 'a', first in line 1");
	refused("x:\n  a: 1\n  'a': 2\n", "line 3, column 3: duplicate key 'a'");
	refused("a: &x 1\n", "line 1, column 4: anchors are not supported");
	refused("a: *x\n", "aliases are not supported");
	refused("a: &x {b: 1}\n", "anchors are not supported");
	refused("a: !!str 1\n", "line 1, column 4: tags are not supported");
	refused("a: !mine [1]\n", "tags are not supported");
	refused("a: 1\n---\nb: 2\n", "line 2, column 1: a second document");
	refused("[a]: 1\n", "line 1, column 1: a key must be a text");
	refused("? {a: 1}\n: 1\n", "a key must be a text");
	refused("*x : 1\n", "aliases are not supported");
}

TEST(says_where_it_is_not_yaml)
{
	refused("a: 1\n b: 2\n", "line 2, column 3: mapping values are not allowed");
	refused("a: [1\n", "line 2, column 1:");
	refused("a:\n\t- b\n", "line 2, column 1:");
	refused("a: \xff\n", "byte 3: ");
	refused("a: \"x\\0y\"\n", "line 1, column 4: a text contains a NUL byte");
	refused("a: \x01\n", "control characters");
}

TEST(refuses_deep_and_large_documents)
{
	char text[200];
	struct err err = {0};

	memset(text, '[', 100);
	memset(text + 100, ']', 100);
	CHECK(!yaml_parse(text, 200, CAP, &err));
	CHECK_STR(err.msg, "line 1, column 33: nested too deep");
	cleanup_yaml struct yaml_node *root =
		yaml_parse(text + 100 - YAML_MAX_DEPTH, (size_t)2 * YAML_MAX_DEPTH, CAP, NULL);
	CHECK(root);
	CHECK(!yaml_parse("a: 1", 4, 3, &err));
	CHECK_HAS(err.msg, "4 bytes, more than the limit of 3");
}

TEST(typed_readers_take_one_form_only)
{
	cleanup_yaml struct yaml_node *root =
		parse("n: -42\noct: 010\nbig: 9223372036854775808\ntext: '5'\nyes: yes\nt: true\n"
		      "d: 5 min\nnil:\nlist: [x]\nmax: 9223372036854775807\n",
		      NULL);
	const char *text = NULL;
	struct err err = {0};
	int64_t value = 0;
	bool flag = false;

	CHECK_INT(yaml_to_i64(yaml_get(root, "n"), &value, &err), ==, 0);
	CHECK_INT(value, ==, -42);
	CHECK_INT(yaml_to_i64(yaml_get(root, "max"), &value, &err), ==, 0);
	CHECK_INT(value, ==, INT64_MAX);
	CHECK_INT(yaml_to_i64(yaml_get(root, "oct"), &value, &err), ==, -1);
	CHECK_STR(err.msg, "line 2, column 6: 'oct' must be a whole number, got '010'");
	CHECK_INT(yaml_to_i64(yaml_get(root, "big"), &value, &err), ==, -1);
	CHECK_INT(yaml_to_i64(yaml_get(root, "text"), &value, &err), ==, -1);
	CHECK_HAS(err.msg, "got the text '5'");
	CHECK_INT(value, ==, INT64_MAX);
	CHECK_INT(yaml_to_bool(yaml_get(root, "yes"), &flag, &err), ==, -1);
	CHECK_STR(err.msg, "line 5, column 6: 'yes' must be true or false, got 'yes'");
	CHECK_INT(yaml_to_bool(yaml_get(root, "t"), &flag, &err), ==, 0);
	CHECK(flag);
	CHECK_INT(yaml_to_duration(yaml_get(root, "d"), &value, &err), ==, 0);
	CHECK_INT(value, ==, 300000);
	CHECK_INT(yaml_to_duration(yaml_get(root, "n"), &value, &err), ==, -1);
	CHECK_HAS(err.msg, "'n' must be a duration such as");
	CHECK_INT(yaml_to_str(yaml_get(root, "nil"), &text, &err), ==, -1);
	CHECK_HAS(err.msg, "'nil' must be a text, got nothing");
	CHECK_INT(yaml_to_str(yaml_get(root, "text"), &text, &err), ==, 0);
	CHECK_STR(text, "5");
	CHECK_INT(yaml_want(yaml_get(root, "list"), YAML_MAPPING, &err), ==, -1);
	CHECK_HAS(err.msg, "'list' must be a mapping, got a list");
	CHECK_INT(yaml_want(yaml_get(root, "list"), YAML_SEQUENCE, &err), ==, 0);
}

TEST(a_caller_can_point_at_key_and_value)
{
	cleanup_yaml struct yaml_node *root = parse("a:\n  interval: 5\n", NULL);
	const struct yaml_node *node = yaml_get(root, "a")->first;
	struct err err = {0};

	CHECK_INT(yaml_err(node, &err, "too %s", "small"), ==, -1);
	CHECK_STR(err.msg, "line 2, column 13: too small");
	CHECK_INT(yaml_err_key(node, &err, "unknown key '%s'", node->key), ==, -1);
	CHECK_STR(err.msg, "line 2, column 3: unknown key 'interval'");
	CHECK_INT(err.kind, ==, ERR_CONFIG);
}

TEST(a_message_is_one_line_whatever_it_quotes)
{
	cleanup_yaml struct yaml_node *root = parse("a: \"x\\ny\\t\"\n", NULL);
	struct err err = {0};

	CHECK_INT(yaml_want(yaml_get(root, "a"), YAML_MAPPING, &err), ==, -1);
	CHECK_STR(err.msg, "line 1, column 4: 'a' must be a mapping, got the text 'x?y?'");
	CHECK_INT(yaml_want(yaml_get(root, "a"), YAML_MAPPING, NULL), ==, -1);
	refused("\"x\\ny\": 1\n\"x\\ny\": 2\n", "x?y");
}

TEST(a_stream_is_a_list_of_its_documents)
{
	static const char text[] = "a: 1\n---\n---\n- b\n...\n---\nc: 2\n";
	cleanup_yaml struct yaml_node *list = yaml_parse_all(text, strlen(text), CAP, NULL);
	const struct yaml_node *document = list ? list->first : NULL;

	CHECK(list && list->kind == YAML_SEQUENCE && document);
	CHECK(yaml_get(document, "a") && !document->key);
	document = document->next;
	CHECK(document && yaml_is_null(document));
	document = document->next;
	CHECK(document && document->kind == YAML_SEQUENCE);
	document = document->next;
	CHECK(document && !document->next);
	CHECK_INT(yaml_get(document, "c")->line, ==, 6 + 1);
}

TEST(one_bad_document_voids_the_stream)
{
	static const char text[] = "a: 1\n---\nb: &c 2\n";
	struct err err = {0};
	cleanup_yaml struct yaml_node *empty = yaml_parse_all("", 0, CAP, NULL);

	CHECK(!yaml_parse_all(text, strlen(text), CAP, &err));
	CHECK_HAS(err.msg, "line 3, column 4: anchors are not supported");
	CHECK(!yaml_parse_all(text, strlen(text), 5, &err));
	CHECK(empty && empty->kind == YAML_SEQUENCE && !empty->first);
}
