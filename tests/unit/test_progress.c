#include "base/mem.h"
#include "cmd/progress.h"
#include "tests/unit/tap.h"

TEST(the_line_has_what_is_known_and_fits)
{
	static const struct {
		struct progress_facts facts;
		size_t width;
		const char *line;
	} rows[] = {
		{{"suspend", "phase Suspended", "Stopping: stop (suspend) in progress", 12900, 8,
		  12, 1230000000},
		 0,
		 "suspend: 12 s, 8 of 12 subtasks, 1.2 GB, waiting for phase Suspended: Stopping: stop (suspend) in progress"},
		{{"resume", "phase Running", "Launching: 0 of 12 tasks run", 83000, 0, 0, 0},
		 0,
		 "resume: 1 min, waiting for phase Running: Launching: 0 of 12 tasks run"},
		{{"resume", "phase Running", "Launching", 0, 0, 0, 0}, 20, "resume: 0 s, wait..."},
		{{"resume", "phase Running",
		  "Launching: job c54a15b93012ddd7aaaf0000deadbeef: 0 of 2 tasks run", 23000, 0, 0,
		  0},
		 79,
		 "resume: 23 s, waiting for phase Running: Launching: job c54a15b9: 0 of 2 tas..."},
		{{"resume", "x",
		  "xc54a15b93012ddd7aaaf0000deadbeef c54a15b93012ddd7aaaf0000deadbeefg c54a15b93012ddd7aaaf0000deadbee c54a15b93012ddd7aaaf0000deadbeef0 ck/c54a15b93012ddd7aaaf0000deadbeef/chk-1",
		  0, 0, 0, 0},
		 0,
		 "resume: 0 s, waiting for x: xc54a15b93012ddd7aaaf0000deadbeef c54a15b93012ddd7aaaf0000deadbeefg c54a15b93012ddd7aaaf0000deadbee c54a15b93012ddd7aaaf0000deadbeef0 ck/c54a15b9/chk-1"},
		{{"resume", "x", "\x1b[2J\n\xe2\x80\xae", 0, 0, 0, 0},
		 0,
		 "resume: 0 s, waiting for x: \\x1b[2J\\x0a\\u{202e}"},
		{{"resume", "x", "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 0, 0, 0, 0},
		 33,
		 "resume: 0 s, waiting for x: \xe6\xbc\xa2..."},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_shown struct shown line = {0};

		progress_line(&rows[i].facts, rows[i].width, &line);
		CHECK_STR(shown_str(&line), rows[i].line);
	}
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
