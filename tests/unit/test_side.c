#include "core/handover/side.h"

#include "base/mem.h"
#include "tap.h"

TEST(a_side_is_read_from_its_name)
{
	for (int i = 0; i < SIDES; i++) {
		enum side side = SIDES;

		CHECK(side_parse(side_name((enum side)i), &side));
		CHECK_INT(side, ==, i);
	}
	CHECK_STR(side_name(SIDE_BLUE), "blue");
	CHECK_STR(side_name(SIDE_GREEN), "green");
}

TEST(what_is_no_side_changes_nothing)
{
	static const char *const names[] = {NULL, "", "Blue", "green ", "red", "unknown"};
	enum side side = SIDE_GREEN;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		CHECK(!side_parse(names[i], &side));
	CHECK_INT(side, ==, SIDE_GREEN);
	CHECK_STR(side_name(SIDES), "unknown");
}

TEST(each_side_is_the_other_one_of_its_other_one)
{
	CHECK_INT(side_other(SIDE_BLUE), ==, SIDE_GREEN);
	CHECK_INT(side_other(SIDE_GREEN), ==, SIDE_BLUE);
}
