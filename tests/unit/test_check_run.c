/* Why a check has failed, from what it has printed. */
#include "run/handover/check_run.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tap.h"

TEST(the_line_of_the_command_is_the_reason_wherever_it_stands)
{
	static const struct {
		const char *output, *reason;
	} rows[] = {
		{"drey check: the new job cannot be built: no\n  checked        generation g2\n  slots          enough\n",
		 "the new job cannot be built: no"},
		{"  checked        g2\ndrey check: drey would hold: no\nsources:\n  the journal\n",
		 "drey would hold: no"},
		{"WARNING: a library\ndrey check: no", "no"},
		{"a drey check: yes\nsegmentation fault\n", "segmentation fault"},
		{"drey check: \n", NULL},
		{"", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *got = check_reason(rows[i].output);

		CHECK_STR(got, rows[i].reason);
	}
}
