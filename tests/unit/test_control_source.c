#include "run/control/control_source.h"

#include <string.h>

#include "base/mem.h"
#include "run/control/control_value.h"
#include "tap.h"

static void wish_of(struct desired *desired, const char *restore)
{
	*desired = (struct desired){0};
	if (restore)
		control_value_set(desired, DESIRED_KEY_RESTORE, restore, strlen(restore));
	control_value_judge(desired);
}

/* One reading; true when the order in it stood there at the first look. */
static bool takes(struct control_source *source, const char *restore, bool absent)
{
	struct desired desired;
	bool standing;

	wish_of(&desired, restore);
	control_source_take(source, &desired, absent);
	standing = control_source_is_standing(source, &source->desired);
	desired_release(&desired);
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
