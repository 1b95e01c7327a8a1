#include "core/record.h"

#include <string.h>

#include "base/mem.h"
#include "base/texts.h"
#include "core/snapshot.h"
#include "tap.h"

struct leaf {
	char *text;
	int64_t number;
};

struct tree {
	char *name, *none;
	char id[JOB_ID_BYTES];
	struct leaf leaf, *leaves, *no_leaves;
	size_t leaf_count, no_leaf_count;
	char **words;
	size_t word_count;
};

static const struct field leaf_fields[] = {FIELD("text", TEXT, struct leaf, text),
					   FIELD("number", NUMBER, struct leaf, number)};
static const struct record leaf_table = RECORD(struct leaf, leaf_fields);

static const struct field tree_fields[] = {
	FIELD("name", TEXT, struct tree, name),
	FIELD("none", TEXT, struct tree, none),
	FIELD("id", ID, struct tree, id),
	FIELD("leaf", RECORD, struct tree, leaf, .record = &leaf_table),
	FIELDS("leaves", LIST, struct tree, leaves, leaf_count, .record = &leaf_table),
	FIELDS("noLeaves", LIST, struct tree, no_leaves, no_leaf_count, .record = &leaf_table),
	FIELDS("words", TEXTS, struct tree, words, word_count),
};
static const struct record tree_table = RECORD(struct tree, tree_fields);

static void grow(struct tree *tree)
{
	*tree = (struct tree){.name = xstrdup("oak"), .leaf = {xstrdup("first"), 1}};
	memcpy(tree->id, "0123456789abcdef0123456789abcdef", JOB_ID_BYTES);
	tree->leaves = xcalloc(2, sizeof(*tree->leaves));
	tree->leaves[0] = (struct leaf){xstrdup("second"), 2};
	tree->leaves[1] = (struct leaf){NULL, 3};
	tree->leaf_count = 2;
	tree->words = xcalloc(2, sizeof(*tree->words));
	tree->words[0] = xstrdup("a");
	tree->words[1] = xstrdup("b");
	tree->word_count = 2;
}

/* A pointer that both had would be used after it was freed, or freed twice: SAN=1 sees that. */
TEST(a_copy_outlives_what_it_was_made_of)
{
	struct tree tree, copy;

	memset(&copy, 0x55, sizeof(copy));
	grow(&tree);
	record_copy(&tree_table, &tree, &copy);
	CHECK(copy.name != tree.name && copy.leaves != tree.leaves && copy.words != tree.words);
	CHECK(copy.leaves[0].text != tree.leaves[0].text && copy.words[1] != tree.words[1]);
	record_release(&tree_table, &tree);
	CHECK_STR(copy.name, "oak");
	CHECK_STR(copy.none, NULL);
	CHECK_STR(copy.id, "0123456789abcdef0123456789abcdef");
	CHECK_STR(copy.leaf.text, "first");
	CHECK_INT(copy.leaf.number, ==, 1);
	CHECK_INT(copy.leaf_count, ==, 2);
	CHECK_STR(copy.leaves[0].text, "second");
	CHECK_STR(copy.leaves[1].text, NULL);
	CHECK_INT(copy.leaves[1].number, ==, 3);
	CHECK(copy.no_leaves == NULL);
	CHECK_STR(copy.words[1], "b");
	record_release(&tree_table, &copy);
	CHECK(copy.name == NULL);
}

TEST(a_copy_of_nothing_is_nothing)
{
	struct tree tree = {0}, copy;

	record_copy(&tree_table, &tree, &copy);
	CHECK(copy.name == NULL && copy.leaves == NULL && copy.words == NULL);
	record_release(&tree_table, &copy);
}
