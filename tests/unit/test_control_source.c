#include "run/control/control_source.h"

#include <string.h>

#include "base/mem.h"
#include "tap.h"

static void wish_of(struct control_wish *wish, const char *restore)
{
	*wish = (struct control_wish){0};
	if (restore)
		control_wish_set(wish, CONTROL_KEY_RESTORE, restore, strlen(restore));
	control_wish_judge(wish);
}

/* One reading; true when the order in it stood there at the first look. */
static bool takes(struct control_source *source, const char *restore, bool absent)
{
	struct control_wish wish;
	bool standing;

	wish_of(&wish, restore);
	control_source_take(source, &wish, absent);
	standing = control_source_is_standing(source, &source->wish);
	control_wish_release(&wish);
	return standing;
}

#define OLD "{kind: empty, token: old}"
#define NEW "{kind: empty, token: new}"

TEST(an_order_that_stood_there_at_the_first_look_is_of_unknown_age)
{
	struct control_source source = {0};

	CHECK(takes(&source, OLD, false));
	CHECK(takes(&source, OLD, false));
	CHECK(!takes(&source, NEW, false));
	CHECK(takes(&source, OLD, false)); /* put back: it is no younger for that */
	control_source_release(&source);

	CHECK(!takes(&source, NULL, false));
	CHECK(!takes(&source, NEW, false));
	control_source_release(&source);
}

/* A cluster is rebuilt: drey is there before the ConfigMap, and that comes from a backup. */
TEST(an_object_that_comes_later_is_looked_at_for_the_first_time)
{
	struct control_source source = {0};

	CHECK(!takes(&source, NULL, true));
	CHECK(source.known && source.absent);
	CHECK(takes(&source, OLD, false));
	CHECK(!source.absent);
	CHECK(!takes(&source, NEW, false));
	CHECK(!takes(&source, NULL, true));
	CHECK(takes(&source, NEW, false));
	control_source_release(&source);
}

TEST(nonsense_is_no_first_look)
{
	struct control_source source = {0};

	CHECK(!takes(&source, "{kind: empty}", false));
	CHECK(takes(&source, OLD, false));
	control_source_release(&source);
}

TEST(an_object_says_which_orders_were_carried_out)
{
	struct control_wish wish, over;

	CHECK(!control_used_has(NULL, "a"));
	CHECK(!control_used_has("", "a"));
	CHECK(control_used_has("a", "a"));
	CHECK(control_used_has(" ab  a ", "a"));
	CHECK(!control_used_has("ab", "a"));
	CHECK(!control_used_has("a", "ab"));

	wish_of(&wish, OLD);
	CHECK(!control_wish_is_used(&wish));
	wish.used = xstrdup("older old");
	CHECK(control_wish_is_used(&wish));
	/* the list goes with the order */
	wish_of(&over, NEW);
	over.used = xstrdup("new");
	control_wish_overlay(&wish, &over);
	CHECK_STR(wish.restore.token, "new");
	CHECK_STR(wish.used, "new");
	control_wish_release(&over);
	wish_of(&over, NULL);
	control_wish_overlay(&wish, &over);
	CHECK(control_wish_is_used(&wish));
	control_wish_release(&over);
	control_wish_release(&wish);
}

TEST(the_list_of_used_tokens_keeps_the_newest)
{
	char *used = control_used_add(NULL, "t0");

	CHECK_STR(used, "t0");
	for (int i = 1; i <= CONTROL_USED_MAX; i++) {
		cleanup_free char *token = xasprintf("t%d", i);
		char *longer = control_used_add(used, token);

		free(used);
		used = longer;
	}
	CHECK(!control_used_has(used, "t0"));
	CHECK(control_used_has(used, "t1") && control_used_has(used, "t16"));
	free(used);
}

/* It comes with another version, in the same step: the drey of the version before leaves it alone. */
TEST(an_order_may_be_for_one_generation_alone)
{
	struct control_wish wish, copy;

	wish_of(&wish, "{kind: empty, token: t1, generation: g2}");
	CHECK_INT(wish.bad.kind, ==, ERR_NONE);
	CHECK(control_wish_is_for_other(&wish, "g1"));
	CHECK(!control_wish_is_for_other(&wish, "g2"));
	CHECK(!control_wish_is_for_other(&wish, NULL)); /* nobody knows what runs */
	control_wish_copy(&copy, &wish);
	control_wish_drop_restore(&wish);
	CHECK_INT(wish.restore.kind, ==, RESTORE_NONE);
	CHECK(!wish.text[CONTROL_KEY_RESTORE] && !control_wish_is_for_other(&wish, "g1"));
	control_wish_overlay(&wish, &copy);
	CHECK(control_wish_is_for_other(&wish, "g1"));
	control_wish_release(&wish);
	control_wish_release(&copy);

	wish_of(&wish, NEW);
	CHECK(!control_wish_is_for_other(&wish, "g1"));
	control_wish_release(&wish);
	wish_of(&wish, "{kind: empty, token: t1, generation: {}}");
	CHECK_INT(wish.bad.kind, !=, ERR_NONE);
	control_wish_release(&wish);
}
