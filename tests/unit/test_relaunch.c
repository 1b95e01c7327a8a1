/* When a launch may leave Flink's scripts out. */
#include "core/relaunch.h"

#include <string.h>

#include "tap.h"

static const struct relaunch_outside well = {.configured = true, .has_script = true, .now = "abc"};

static struct relaunch known(void)
{
	struct relaunch relaunch = {0};

	relaunch_learns(&relaunch, "abc");
	return relaunch;
}

TEST(an_unchanged_configuration_needs_no_scripts)
{
	struct relaunch relaunch = known();

	CHECK_INT(relaunch_why(&relaunch, &well), ==, RELAUNCH_WELL);
}

TEST(any_doubt_is_a_start_by_the_scripts)
{
	struct relaunch relaunch = known(), nothing = {0};
	struct relaunch_outside outside = well;

	CHECK_INT(relaunch_why(&nothing, &well), ==, RELAUNCH_UNKNOWN);
	outside.now = "abd";
	CHECK_INT(relaunch_why(&relaunch, &outside), ==, RELAUNCH_CHANGED);
	outside.now = NULL;
	CHECK_INT(relaunch_why(&relaunch, &outside), ==, RELAUNCH_UNREAD);
	outside = well;
	outside.configured = false;
	CHECK_INT(relaunch_why(&relaunch, &outside), ==, RELAUNCH_OFF);
	outside = well;
	outside.has_script = false;
	CHECK_INT(relaunch_why(&relaunch, &outside), ==, RELAUNCH_OWN_SCRIPT);
	relaunch_learns(&relaunch, NULL);
	CHECK_INT(relaunch_why(&relaunch, &well), ==, RELAUNCH_UNKNOWN);
}

TEST(a_command_that_is_java_itself_has_no_scripts_to_leave_out)
{
	struct relaunch_outside outside = {.configured = true, .has_java = true, .now = "abc"};
	struct relaunch relaunch = known();

	CHECK_INT(relaunch_why(&relaunch, &outside), ==, RELAUNCH_NO_SCRIPTS);
	outside.now = "abd";
	CHECK_INT(relaunch_why(&relaunch, &outside), ==, RELAUNCH_CHANGED);
	outside.now = "abc";
	relaunch_begins(&relaunch, true); /* into a spare JVM */
	CHECK(relaunch_ends(&relaunch));
	CHECK_INT(relaunch_why(&relaunch, &outside), ==, RELAUNCH_DISTRUSTED);
}

TEST(a_start_without_scripts_that_fails_is_followed_by_one_with_them)
{
	struct relaunch relaunch = known();

	relaunch_begins(&relaunch, true);
	CHECK(relaunch_ends(&relaunch));
	CHECK(!relaunch_ends(&relaunch));
	CHECK_INT(relaunch_why(&relaunch, &well), ==, RELAUNCH_DISTRUSTED);
	/* one by the scripts that fails as well proves nothing */
	relaunch_begins(&relaunch, false);
	CHECK(!relaunch_ends(&relaunch));
	CHECK_INT(relaunch_why(&relaunch, &well), ==, RELAUNCH_DISTRUSTED);
	/* until one runs */
	relaunch_begins(&relaunch, false);
	relaunch_learns(&relaunch, "abc");
	CHECK_INT(relaunch_why(&relaunch, &well), ==, RELAUNCH_WELL);
}

TEST(a_start_whose_rest_api_was_up_may_be_repeated)
{
	struct relaunch relaunch = known();

	relaunch_begins(&relaunch, true);
	relaunch_answers(&relaunch);
	CHECK(!relaunch_ends(&relaunch));
	CHECK_INT(relaunch_why(&relaunch, &well), ==, RELAUNCH_WELL);
	relaunch_begins(&relaunch, true);
	CHECK(relaunch_ends(&relaunch));
}

TEST(reasons_that_people_should_know_have_a_sentence)
{
	for (int why = 0; why < RELAUNCH_WHYS; why++) {
		const char *sentence = relaunch_why_sentence((enum relaunch_why)why);
		bool said = why == RELAUNCH_DISTRUSTED || why == RELAUNCH_UNREAD ||
			    why == RELAUNCH_CHANGED;

		CHECK_INT(sentence != NULL, ==, said);
	}
}
