#include "base/err.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

TEST(wraps_outermost_first)
{
	struct err err = {0};

	CHECK_INT(err_set(&err, ERR_ABSENT, ENOENT, "open %s", "a"), ==, -1);
	CHECK_INT(err_wrap(&err, "load %s", "b"), ==, -1);
	CHECK_STR(err.msg, "load b: open a: No such file or directory");
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	CHECK_INT(err.sys, ==, ENOENT);
}

TEST(cuts_a_long_message_and_never_overruns)
{
	struct err err = {0};
	char text[2 * ERR_MSG_BYTES];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	err_set(&err, ERR_SYS, EIO, "%s", text);
	err_wrap(&err, "%s", text);
	CHECK_INT(strlen(err.msg), ==, ERR_MSG_BYTES - 1);
}

TEST(a_null_err_is_allowed)
{
	CHECK_INT(err_set(NULL, ERR_SYS, 0, "x"), ==, -1);
	CHECK_INT(err_wrap(NULL, "x"), ==, -1);
}

TEST(only_enoent_and_enotdir_mean_absence)
{
	for (int sys = 1; sys < 134; sys++)
		if (sys != ENOENT && sys != ENOTDIR)
			CHECK_INT(err_kind_of_errno(sys), !=, ERR_ABSENT);
	CHECK_INT(err_kind_of_errno(ENOENT), ==, ERR_ABSENT);
}
