#include <stdint.h>
#include <string.h>

#include "base/distance.h"
#include "base/mem.h"
#include "tests/unit/tap.h"

TEST(the_distance_counts_letters)
{
	static const struct {
		const char *a, *b;
		size_t distance;
	} rows[] = {
		{"", "", 0},
		{"", "abc", 3},
		{"status", "status", 0},
		{"status", "STATUS", 0},
		{"statsu", "status", 2},
		{"statu", "status", 1},
		{"kitten", "sitting", 3},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CHECK_INT(distance_of(rows[i].a, rows[i].b), ==, rows[i].distance);
		CHECK_INT(distance_of(rows[i].b, rows[i].a), ==, rows[i].distance);
	}
	CHECK(distance_of("x",
			  "0123456789012345678901234567890123456789012345678901234567890123") ==
	      SIZE_MAX);
}

TEST(the_nearest_word_is_suggested_or_none)
{
	static const char *const words[] = {"status",  "suspend", "resume", "restart",
					    "rescale", "gc",      NULL};
	static const struct {
		const char *word, *nearest;
	} rows[] = {
		{"statsu", "status"}, {"Status", "status"}, {"restrat", "restart"},
		{"resum", "resume"},  {"explode", NULL},    {"x", NULL},
		{"g", "gc"},          {"", NULL},           {"cg", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *nearest = distance_nearest(rows[i].word, words);

		tap_note("%s", rows[i].word);
		CHECK_STR(nearest ? nearest : "", rows[i].nearest ? rows[i].nearest : "");
	}
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
