#include "base/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

/* The value of "g"; "(none)" without one, "(refused)" for an error. Static, until the next call. */
static const char *value_of(const char *query)
{
	static char text[QUERY_VALUE_BYTES];
	cleanup_free char *value = NULL;
	struct err err = {0};
	int found = query_get(query, "g", &value, &err);

	if (found < 0) {
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		CHECK(!value);
		return "(refused)";
	}
	snprintf(text, sizeof(text), "%s", found ? value : "(none)");
	return text;
}

TEST(finds_the_value_among_others)
{
	CHECK_STR(value_of("g=7"), "7");
	CHECK_STR(value_of("a=1&g=7&b=2"), "7");
	CHECK_STR(value_of("gg=1&g=7&xg=2"), "7");
	CHECK_STR(value_of("&&g=7&"), "7");
	CHECK_STR(value_of("%67=7"), "7");
}

TEST(no_parameter_is_not_an_empty_one)
{
	CHECK_STR(value_of(NULL), "(none)");
	CHECK_STR(value_of(""), "(none)");
	CHECK_STR(value_of("a=1"), "(none)");
	CHECK_STR(value_of("=7"), "(none)");
	CHECK_STR(value_of("g="), "");
	CHECK_STR(value_of("g"), "");
	CHECK_STR(value_of("g&a=1"), "");
}

TEST(decodes_percent_and_leaves_plus_alone)
{
	CHECK_STR(value_of("g=a%20b%2Bc%26d%3De"), "a b+c&d=e");
	CHECK_STR(value_of("g=1.2+build"), "1.2+build");
	CHECK_STR(value_of("g=a=b"), "a=b");
	CHECK_STR(value_of("g=%C3%A9"), "\xc3\xa9");
}

TEST(refuses_what_is_no_text)
{
	CHECK_STR(value_of("g=%"), "(refused)");
	CHECK_STR(value_of("g=%4"), "(refused)");
	CHECK_STR(value_of("g=%zz"), "(refused)");
	CHECK_STR(value_of("g=a%00b"), "(refused)");
	CHECK_STR(value_of("g=a%0Ab"), "(refused)");
	CHECK_STR(value_of("g=%7f"), "(refused)");
	CHECK_STR(value_of("g=%ff"), "(refused)");
	CHECK_STR(value_of("g=%C3"), "(refused)");
	CHECK_STR(value_of("g=\xff"), "(refused)");
}

TEST(refuses_two_values_in_whatever_encoding)
{
	CHECK_STR(value_of("g=7&g=7"), "(refused)");
	CHECK_STR(value_of("g=7&%67=8"), "(refused)");
	CHECK_STR(value_of("g&a&g"), "(refused)");
}

TEST(malformed_parameters_that_nobody_asked_for_are_ignored)
{
	CHECK_STR(value_of("%=%&%zz=1&g=7&\xff=%00"), "7");
}

TEST(a_value_has_a_limit_and_is_never_cut)
{
	char query[4 * QUERY_VALUE_BYTES] = "g=";

	memset(query + 2, 'a', QUERY_VALUE_BYTES - 1);
	CHECK_INT(strlen(value_of(query)), ==, QUERY_VALUE_BYTES - 1);
	query[2 + QUERY_VALUE_BYTES - 1] = 'a';
	CHECK_STR(value_of(query), "(refused)");
	memset(query + 2, 'a', sizeof(query) - 3);
	CHECK_STR(value_of(query), "(refused)");
}
